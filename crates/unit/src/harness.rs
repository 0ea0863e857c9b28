//! Writes the C program that makes up arguments from its input and calls functions with them.
//!
//! The input is a tape of fixed length, read from its start. Pointers, lengths and members of
//! unions are chosen by branches, so that they are concrete on each path; all other bytes go into
//! the arguments as they are. `tg_make_N` fills memory with a value of type N, `tg_point_N` makes a
//! pointer to one: null, an earlier object, or a new one.
//!
//! Nothing of a type is known to the C text but sizes and offsets; names matter only where a
//! function is called and in the user's own conditions.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use crate::interface::{Length, Role};
use crate::makers::Makers;
use crate::types::*;

/// Limits of what is made up.
#[derive(Clone, Debug)]
pub struct Bounds {
    /// New objects lie at most this many pointers away from an argument.
    pub depth: u32,
    /// Longest text.
    pub text: u64,
    /// Most elements of an array.
    pub array: u64,
    /// Whether pointers may be null.
    pub null: bool,
    /// Whether enumerations have values that they do not name.
    pub any_enum: bool,
    /// Results of a callback or of a stub that are made up; those after them are zero.
    pub calls: u64,
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds { depth: 2, text: 4, array: 4, null: true, any_enum: false, calls: 4 }
    }
}

/// One function to be tested, and what with.
#[derive(Clone, Debug)]
pub struct Subject {
    pub function: Function,
    pub roles: Vec<Role>,
    /// Another function of the same type, which is compared with it.
    pub against: Option<String>,
}

/// Where the code under test comes from.
#[derive(Clone, Debug)]
pub enum Origin {
    /// Sources that become part of the harness, by their absolute paths; `main` has another name.
    Sources(Vec<String>),
    /// Objects that are linked; their types are declared again.
    Objects,
}

/// A harness for several functions: its first argument says which one is called.
#[derive(Clone, Debug)]
pub struct Harness {
    pub origin: Origin,
    pub subjects: Vec<Subject>,
    pub globals: Vec<Global>,
    /// Functions without a body whose results are made up.
    pub stubs: Vec<Function>,
    pub bounds: Bounds,
    /// Expressions over the parameters that must hold before a call.
    pub assume: Vec<String>,
    /// The same, and over `result`, after it.
    pub check: Vec<String>,
    /// By which floats may differ that are compared.
    pub tolerance: f64,
}

/// The name of the source file, by which its own branches are known.
pub const FILE: &str = "tarragon-unit-harness.c";

/// The exit code of a run whose arguments do not meet the preconditions.
pub const UNMET: i32 = 97;

/// What conditions call a parameter that is named like the result.
const RESULT_ARGUMENT: &str = "result_argument";

/// The longest tape: expressions are dropped beyond a kilobyte of input.
const LONGEST: u64 = 768;

/// Most objects of a run, and most earlier objects that a pointer may be equal to.
const OBJECTS: u32 = 64;
const SHARED: u32 = 3;

impl Harness {
    /// The length of the input: what the most demanding function takes.
    pub fn tape(&self, program: &Program) -> u64 {
        let most = self.subjects.iter().map(|subject| self.tape_of(program, subject)).max();
        most.unwrap_or(1)
    }

    fn tape_of(&self, program: &Program, subject: &Subject) -> u64 {
        let makers = Makers::new(program, &self.bounds);
        let arguments = subject.function.signature.parameters.iter().zip(&subject.roles);
        let arguments: u64 = arguments.map(|(p, role)| makers.argument(p.ty, role)).sum();
        let globals: u64 = self.globals.iter().map(|global| makers.value(global.ty, 0)).sum();
        let results = self.stubs.iter().filter_map(|stub| stub.signature.result);
        let results: u64 = results.map(|ty| makers.value(ty, 0) * self.bounds.calls).sum();
        (arguments + globals + results).clamp(1, LONGEST)
    }

    /// The C text.
    pub fn text(&self, program: &Program) -> String {
        self.writer(program).text()
    }

    /// Declarations of what the harness calls, where no source has them.
    pub fn declarations(&self, program: &Program) -> String {
        match self.origin {
            Origin::Sources(_) => String::new(),
            Origin::Objects => self.writer(program).declarations(),
        }
    }

    /// Functions without a body, and callbacks.
    pub fn made_up(&self, program: &Program) -> Vec<MadeUp> {
        let mut writer = self.writer(program);
        // Callbacks are known once all is written that may hand them out.
        writer.text();
        let stubs = self.stubs.iter().map(|stub| MadeUp::new(program, stub, false));
        let callbacks = writer.makers.callbacks();
        stubs.chain(callbacks.map(|function| MadeUp::new(program, function, true))).collect()
    }

    fn writer<'h>(&'h self, program: &'h Program) -> Writer<'h> {
        Writer { harness: self, program, makers: Makers::new(program, &self.bounds) }
    }
}

/// A function whose results are made up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MadeUp {
    pub name: String,
    /// With names for all parameters.
    pub prototype: String,
    /// The type of its result as C spells it, if it has one.
    pub result: Option<String>,
    /// The harness hands it out; otherwise it is a function without a body.
    pub is_callback: bool,
    pub returns: bool,
}

impl MadeUp {
    fn new(program: &Program, function: &Function, is_callback: bool) -> MadeUp {
        let signature = named(&function.signature);
        MadeUp {
            name: function.name.clone(),
            result: signature.result.map(|ty| program.spell(program.unqualified(ty))),
            prototype: program.prototype(&Function { signature, ..function.clone() }),
            is_callback,
            returns: function.returns,
        }
    }
}

struct Writer<'h> {
    harness: &'h Harness,
    program: &'h Program,
    makers: Makers<'h>,
}

impl Writer<'_> {
    fn text(&mut self) -> String {
        let mut functions = String::new();
        for (number, subject) in self.harness.subjects.iter().enumerate() {
            functions += &self.subject(number, subject);
        }
        let stubs: String = self.harness.stubs.iter().map(|stub| self.stub(stub)).collect();
        let compares = self.harness.subjects.iter().any(|subject| subject.against.is_some());
        let globals = self.globals();
        let mut text = self.head();
        text += &self.makers.text(compares);
        text += &(stubs + &globals);
        if compares {
            text += &self.comparison();
        }
        text + &functions + &self.main()
    }

    fn head(&self) -> String {
        let bounds = &self.harness.bounds;
        let constants = [
            ("TAPE", self.harness.tape(self.program).to_string()),
            ("TEXT", bounds.text.max(1).to_string()),
            ("OBJECTS", OBJECTS.to_string()),
            ("SHARED", SHARED.to_string()),
            ("UNMET", UNMET.to_string()),
            ("TOLERANCE", format!("{:?}", self.harness.tolerance)),
        ];
        let mut text = String::from("/* Written by tarragon unit. */\n");
        text += &self.code_under_test();
        for (name, value) in constants {
            let _ = writeln!(text, "#define TG_{name} {value}");
        }
        text + include_str!("harness.c")
    }

    fn code_under_test(&self) -> String {
        match &self.harness.origin {
            Origin::Sources(sources) => {
                let include = |source: &String| format!("#include \"{source}\"\n");
                let includes: String = sources.iter().map(include).collect();
                // Optimised code has no branch for `c ? 1 : 2`, so it would be one path.
                format!(
                    "#define main tg_main_of_program\n#pragma clang optimize \
                        off\n{includes}#pragma \
                     clang optimize on\n#undef main\n"
                )
            }
            Origin::Objects => self.declarations(),
        }
    }

    fn declarations(&self) -> String {
        let Harness { subjects, globals, stubs, .. } = self.harness;
        let functions = subjects.iter().map(|subject| &subject.function).chain(stubs);
        let types = functions.flat_map(|function| {
            let parameters = function.signature.parameters.iter().map(|parameter| parameter.ty);
            parameters.chain(function.signature.result)
        });
        let types = types.chain(globals.iter().map(|global| global.ty));
        let mut text = self.program.declarations(types);
        for Subject { function, against, .. } in subjects {
            let _ = writeln!(text, "extern {};", self.program.prototype(function));
            let other =
                against.iter().map(|name| Function { name: name.clone(), ..function.clone() });
            for other in other {
                let _ = writeln!(text, "extern {};", self.program.prototype(&other));
            }
        }
        for Global { name, ty, .. } in globals {
            let _ = writeln!(text, "extern {};", self.program.declare(*ty, name));
        }
        text
    }

    fn globals(&mut self) -> String {
        let mut body = String::new();
        for Global { name, ty, .. } in &self.harness.globals {
            let (id, size) = (self.makers.need(*ty), self.program.size(*ty));
            let _ = writeln!(body, "    tg_register((void *)&{name}, {id}, {size}, 1, 'g');");
            let _ = writeln!(body, "    tg_make_{id}((tg_byte *)&{name}, 0);");
            let _ = writeln!(body, "    tg_say(\"global {name}\");\n    tg_end();");
        }
        format!("static void tg_globals(void)\n{{\n{body}}}\n")
    }

    /// A function without a body: its results are input.
    fn stub(&mut self, stub: &Function) -> String {
        let name = &stub.name;
        let body = match stub.signature.result {
            _ if !stub.returns => {
                format!("    tg_say(\"stopped {name}\");\n    tg_end();\n    tg_sys_exit(0);\n")
            }
            None => String::new(),
            Some(ty) => self.makers.result(ty, name),
        };
        let signature = named(&stub.signature);
        let declared = self.program.prototype(&Function { signature, ..stub.clone() });
        format!("{declared}\n{{\n{body}}}\n")
    }

    fn subject(&mut self, number: usize, subject: &Subject) -> String {
        let signature = named(&subject.function.signature);
        let parameters = &signature.parameters;
        let mut text = format!("\n/* {} */\n", self.program.prototype(&subject.function));
        text += &self.parameters(number, parameters);
        text += &self.conditions(number, &signature);
        text += &self.make(number, parameters, &subject.roles);
        text += &self.call(number, 0, &subject.function.name, &signature);
        if let Some(other) = &subject.against {
            text += &self.call(number, 1, other, &signature);
        }
        text + &self.run(number, subject)
    }

    /// What a call gets and what comes of it, once for each of two functions.
    fn parameters(&self, number: usize, parameters: &[Parameter]) -> String {
        let field = |(at, parameter): (usize, &Parameter)| {
            let ty = self.program.unqualified(parameter.ty);
            format!("    {};\n", self.program.declare(ty, &format!("p{at}")))
        };
        let fields: String = parameters.iter().enumerate().map(field).collect();
        format!("static struct {{\n    char tg_none;\n{fields}}} tg_parameters_{number}[2];\n")
    }

    fn conditions(&self, number: usize, signature: &Signature) -> String {
        let has_check = !self.harness.check.is_empty();
        let declare = |parameter: &Parameter| {
            let name = match parameter.name.as_deref() {
                Some("result") if has_check => RESULT_ARGUMENT,
                name => name.unwrap_or_default(),
            };
            self.program.declare(parameter.ty, name)
        };
        let mut list: Vec<String> = signature.parameters.iter().map(declare).collect();
        let condition = |name: &str, list: &[String], expressions: &[String]| {
            let list = if list.is_empty() { "void".to_owned() } else { list.join(", ") };
            let all: Vec<String> = expressions.iter().map(|text| format!("({text})")).collect();
            format!(
                "static int tg_{name}_{number}({list})\n{{\n    return {};\n}}\n",
                all.join(" && ")
            )
        };
        let mut text = String::new();
        if !self.harness.assume.is_empty() {
            text += &condition("assume", &list, &self.harness.assume);
        }
        if !self.harness.check.is_empty() {
            // A parameter may have the name of the type.
            let result = signature.result.map(|ty| self.program.declare(ty, "result"));
            list.splice(0..0, result);
            text += &condition("check", &list, &self.harness.check);
        }
        text
    }

    fn make(&mut self, number: usize, parameters: &[Parameter], roles: &[Role]) -> String {
        let place = |at: usize| format!("tg_parameters_{number}[tg_side].p{at}");
        let mut body = String::new();
        for (at, parameter) in parameters.iter().enumerate() {
            let (id, size) = (self.makers.need(parameter.ty), self.program.size(parameter.ty));
            let _ =
                writeln!(body, "    tg_register((void *)&{}, {id}, {size}, 1, 'p');", place(at));
        }
        let lengths: BTreeSet<usize> = (0..roles.len())
            .filter(|&at| matches!(roles[at], Role::Length | Role::LengthBehind))
            .collect();
        for at in &lengths {
            let _ =
                writeln!(body, "    tg_size n{at} = tg_choose({});", self.harness.bounds.array + 1);
        }
        for (at, parameter) in parameters.iter().enumerate() {
            body += &self.argument(at, parameter.ty, &roles[at], &place(at));
        }
        if !self.harness.assume.is_empty() {
            let list: Vec<String> = (0..parameters.len()).map(place).collect();
            let _ = writeln!(
                body,
                "    if (!tg_assume_{number}({}))\n        tg_unmet();",
                list.join(", ")
            );
        }
        format!(
            "static void tg_arguments_{number}(void)\n{{\n    tg_begin(tg_side);\n{}    \
                tg_globals();\n}}\n",
            declarations_first(&body)
        )
    }

    fn argument(&mut self, at: usize, ty: TypeId, role: &Role, place: &str) -> String {
        match role {
            Role::Value => {
                let id = self.makers.need(ty);
                format!("    tg_make_{id}((tg_byte *)&{place}, 0);\n")
            }
            Role::Length => format!("    {place} = n{at};\n"),
            Role::LengthBehind => {
                let to = self.program.pointee(ty).unwrap_or(VOID);
                let (id, size) = (self.makers.need(to), self.program.size(to));
                let ty = self.program.spell(self.program.unqualified(to));
                format!("    {place} = tg_new({id}, {size}, 1);\n    *({ty} *){place} = n{at};\n")
            }
            Role::Array(length) => {
                let count = match length {
                    Length::Parameter(at) | Length::Behind(at) => format!("n{at}"),
                    Length::Fixed(count) => count.to_string(),
                };
                let array = self.makers.need_array(self.program.pointee(ty).unwrap_or(VOID));
                format!("    {place} = tg_array_{array}({count});\n")
            }
        }
    }

    fn call(&self, number: usize, side: usize, name: &str, signature: &Signature) -> String {
        let arguments: Vec<String> = (0..signature.parameters.len())
            .map(|at| format!("tg_parameters_{number}[{side}].p{at}"))
            .collect();
        let list = arguments.join(", ");
        let result = signature.result.map(|ty| self.program.unqualified(ty));
        let declared = result.filter(|_| side == 0).map_or(String::new(), |ty| {
            format!("static {};\n", self.program.declare(ty, &format!("tg_result_{number}[2]")))
        });
        let (call, say) = match result {
            None => (format!("{name}({list})"), String::new()),
            Some(ty) => (
                format!("tg_result_{number}[{side}] = {name}({list})"),
                format!(
                    "    tg_say_value(\"result\", \"{}\", &tg_result_{number}[{side}], {});\n",
                    ty.0,
                    self.program.size(ty)
                ),
            ),
        };
        let behind = result.map_or(String::new(), |ty| self.behind(number, side, ty));
        let mut check = String::new();
        if !self.harness.check.is_empty() {
            let result = result.map(|_| format!("tg_result_{number}[{side}]"));
            let list = result.into_iter().chain(arguments).collect::<Vec<_>>().join(", ");
            check = format!("    if (!tg_check_{number}({list}))\n        tg_violated();\n");
        }
        format!(
            "{declared}static void tg_call_{number}_{side}(void)\n{{\n    \
                tg_say_objects(\"before\");\n    \
             {call};\n    tg_say_objects(\"after\");\n{say}    tg_say(\"returned\");\n    \
             tg_end();\n\
             {check}{behind}}}\n"
        )
    }

    /// Looks at what a predicate says, and describes what a result points to. That is the last
    /// thing, as it may point anywhere.
    fn behind(&self, number: usize, side: usize, ty: TypeId) -> String {
        if self.program.is_integer(ty) || matches!(self.program.resolved(ty), Type::Enum { .. }) {
            return format!("    tg_look_at((unsigned long)tg_result_{number}[{side}]);\n");
        }
        let Some(to) = self.program.pointee(ty).map(|to| self.program.bare(to)) else {
            return String::new();
        };
        let (size, id) = (self.program.size(to), to.0);
        let result = format!("(const void *)tg_result_{number}[{side}]");
        let size = match self.program.get(to) {
            Type::Base { size: 1, encoding, .. } if encoding.is_char() => {
                format!("__builtin_strlen((const char *){result})")
            }
            _ if size > 0 => size.to_string(),
            _ => return String::new(),
        };
        format!(
            "    if (tg_describes && {result} && tg_object_of(tg_side, {result}) == \
                TG_OBJECTS)\n        \
             tg_say_value(\"behind\", \"{id}\", {result}, {size});\n"
        )
    }

    /// Both functions run in a search; a description is of one of them.
    fn run(&mut self, number: usize, subject: &Subject) -> String {
        let result = subject.function.signature.result;
        let other = match (&subject.against, result) {
            (None, _) => String::new(),
            (Some(_), result) => {
                let same = result.map_or(String::new(), |ty| {
                    let id = self.makers.need_same(self.program.unqualified(ty));
                    format!(
                        "        if (!tg_same_{id}((tg_byte *)&tg_result_{number}[0], (tg_byte \
                         *)&tg_result_{number}[1]))\n            tg_differ_in_result();\n"
                    )
                });
                format!(
                    "    if (side == 2)\n        tg_keep_globals();\n    if (side != 0) \
                        {{\n        \
                     tg_side = 1;\n        tg_arguments_{number}();\n        \
                     tg_call_{number}_1();\n    }}\n    \
                     if (side == 2) {{\n{same}        tg_compare_memory();\n    }}\n"
                )
            }
        };
        format!(
            "static void tg_run_{number}(int side)\n{{\n    if (side != 1) {{\n        tg_side = \
                0;\n        \
             tg_arguments_{number}();\n        tg_call_{number}_0();\n    }}\n{other}}}\n"
        )
    }

    /// Objects of both functions correspond by their numbers, as they were made from the same
    /// input.
    fn comparison(&mut self) -> String {
        let globals = &self.harness.globals;
        let keep: String = globals
            .iter()
            .map(|global| {
                format!("    tg_keep(&{}, {});\n", global.name, self.program.size(global.ty))
            })
            .collect();
        let arms: String = self
            .makers
            .compared()
            .iter()
            .map(|id| format!("    case {id}:\n        return tg_same_{id}(one, other);\n"))
            .collect();
        format!(
            "static int tg_same(unsigned type, const tg_byte *one, const tg_byte *other)\n{{\n    \
             switch (type) {{\n{arms}    }}\n    return 1;\n}}\n{COMPARE}static void \
             tg_keep_globals(void)\n{{\n{keep}}}\n"
        )
    }

    fn main(&self) -> String {
        let pairs = self.harness.subjects.iter().map(|subject| subject.against.is_some());
        let arms: String = pairs
            .enumerate()
            .map(|(number, pair)| {
                let side = if pair { "side" } else { "0" };
                format!("    case {number}:\n        tg_run_{number}({side});\n        break;\n")
            })
            .collect();
        format!("{MAIN_HEAD}{arms}    }}\n    return 0;\n}}\n")
    }
}

/// C before 1999 wants declarations first; compilers take both, but not after a label.
fn declarations_first(body: &str) -> String {
    let is_declaration = |line: &&str| line.starts_with("    tg_size ");
    let (first, rest): (Vec<&str>, Vec<&str>) = body.lines().partition(is_declaration);
    first.iter().chain(&rest).map(|line| format!("{line}\n")).collect()
}

/// Parameters without a name get one.
fn named(signature: &Signature) -> Signature {
    let mut signature = signature.clone();
    for (at, parameter) in signature.parameters.iter_mut().enumerate() {
        parameter.name.get_or_insert_with(|| format!("p{at}"));
    }
    signature
}

const COMPARE: &str = r#"static __attribute__((noinline)) void tg_differ_in_result(void)
{
    tg_sys_abort();
}

static __attribute__((noinline)) void tg_differ_in_memory(void)
{
    tg_sys_abort();
}

static void tg_compare_memory(void)
{
    unsigned i;
    tg_size j;
    for (i = 0; i < tg_count[0] && i < tg_count[1]; i++) {
        struct tg_object *one = &tg_objects[0][i], *other = &tg_objects[1][i];
        if (one->count == 0 || tg_is_freed(one) || tg_is_freed(other))
            continue;
        for (j = 0; j < one->count; j++)
            if (!tg_same(one->type, one->address + j * one->size, other->address + j * one->size))
                tg_differ_in_memory();
    }
}

/* What the first function left in a global, before the second one gets its own. */
static void tg_keep(void *global, tg_size size)
{
    unsigned i;
    for (i = 0; i < tg_count[0]; i++)
        if (tg_objects[0][i].address == (tg_byte *)global) {
            tg_objects[0][i].address = tg_sys_malloc(size);
            __builtin_memcpy(tg_objects[0][i].address, global, size);
            return;
        }
}

"#;

const MAIN_HEAD: &str = r#"
/* HARNESS NUMBER [a|b]: with a letter, the run of the first or the second function is described. */
int main(int argc, char **argv)
{
    const char *digit = argc > 1 ? argv[1] : "0";
    unsigned number = 0;
    tg_size got = 0;
    int side = 2;
    while (*digit)
        number = number * 10 + (unsigned)(*digit++ - '0');
    if (argc > 2) {
        tg_describes = 1;
        side = argv[2][0] == 'b';
        tg_say_functions();
    }
    while (got < TG_TAPE) {
        long count = tg_sys_read(0, tg_tape + got, TG_TAPE - got);
        if (count <= 0)
            break;
        got += (tg_size)count;
    }
    switch (number) {
"#;
