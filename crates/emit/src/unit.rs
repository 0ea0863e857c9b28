//! Tests of functions: each [`UnitCase`] is one call of a C function and what came of it.
//!
//! The call and its checks are C in all frameworks, in a file that includes the code under test or
//! declares it and no header of its own, so that it fits any code. Where the framework needs
//! headers, what it is told about the tests is a file of its own.

use minijinja::context;
use serde::Serialize;

use crate::framework::{Framework, plain_word};
use crate::render::{EmitError, OutputFile, environment};

/// The tests of the functions of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitSuite {
    /// Files and groups of tests are named after it.
    pub name: String,
    /// The code under test, for people.
    pub program: String,
    /// The directory that the files will be in, from where the tests are built.
    pub directory: String,
    /// What the tests were made of, for people.
    pub origin: String,
    /// Sources that are included, as seen from the directory of the tests.
    pub sources: Vec<String>,
    /// Declarations of what is linked instead.
    pub declarations: String,
    /// Objects and archives to link, as seen from where the tests are built.
    pub objects: Vec<String>,
    /// The program whose `main` the tests replace, where no test can link the code.
    pub linked: Option<Linked>,
    /// Further words for the compiler.
    pub options: Vec<String>,
    /// A call that takes longer does not end.
    pub seconds: u64,
    pub made_up: Vec<MadeUpFunction>,
    pub cases: Vec<UnitCase>,
}

/// A program that Tarragon links again, with the tests in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Linked {
    /// As seen from where the tests are built.
    pub program: String,
    /// What may be static there, and the tests name.
    pub opened: Vec<String>,
}

/// A function of which the tests say what it returns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MadeUpFunction {
    pub name: String,
    pub prototype: String,
    /// The type of its result.
    pub result: Option<String>,
    pub is_callback: bool,
    pub returns: bool,
}

/// One call. All values are C.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UnitCase {
    /// An identifier that neither another test nor the code under test has.
    pub name: String,
    /// What whoever reviews the test should know, a line each.
    pub remarks: Vec<String>,
    /// Why the test would fail today, where it would.
    pub known_failure: Option<String>,
    /// Only builds with sanitizers see it, so that a run without it says nothing.
    pub is_survived: bool,
    pub objects: Vec<Allocated>,
    /// Global variables that are set before the call.
    pub globals: Vec<Set>,
    /// What functions return that the tests define, for each of them in order.
    pub made: Vec<Queue>,
    pub arguments: Vec<Argument>,
    /// Bytes that are set once all else is.
    pub patches: Vec<Patch>,
    pub call: String,
    /// The declaration of a variable for the result, if there is one.
    pub result: Option<String>,
    /// Statements after the call.
    pub checks: Vec<String>,
    /// Whether the call comes back; otherwise the process exits.
    pub returns: bool,
    /// How the process exits.
    pub exit: i32,
}

/// Memory on the heap.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Allocated {
    pub name: String,
    /// Its declaration as a pointer to so many elements.
    pub pointer: String,
    pub count: u64,
    pub c: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Set {
    pub name: String,
    pub c: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Queue {
    pub name: String,
    pub result: String,
    pub values: Vec<String>,
}

/// Bytes that no initialiser can say.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Patch {
    /// A pointer to the value.
    pub to: String,
    /// How many bytes from its start.
    pub at: usize,
    /// A string literal.
    pub c: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Argument {
    pub declaration: String,
    pub c: String,
}

/// The exit code of a call that ends in a function that never returns.
pub const STOPPED: i32 = 96;
/// The exit code of a test that fails.
const FAILED: i32 = 97;

impl Framework {
    /// Those that can call a C function.
    pub const FOR_FUNCTIONS: [Framework; 3] =
        [Framework::C, Framework::Gtest, Framework::Criterion];

    /// How to build and run tests of functions, from where their code is found.
    pub fn unit_commands(self, suite: &UnitSuite) -> Vec<String> {
        let path = |file: String| plain_word(&format!("{}/{file}", suite.directory));
        let (tests, cases) = (path(self.file(&suite.name)), path(cases_file(&suite.name)));
        let words = |all: &[String]| all.iter().map(|word| plain_word(word)).collect::<Vec<_>>();
        let linked = [words(&suite.objects), words(&suite.options)].concat();
        let code = [linked, vec!["-lm".to_owned()]].concat().join(" ");
        let name = format!("{}_test", suite.name);
        let run = format!("./{name}");
        if let Some(linked) = &suite.linked {
            return vec![format!("{} && {run}", linked.command(&tests, &name))];
        }
        match self {
            Framework::Gtest => {
                // A compiler for C++ would take C sources for C++.
                let is_flag = |word: &&String| !is_source(word) && !is_linked(word);
                let of = |is: &dyn Fn(&&String) -> bool| {
                    let chosen = suite.options.iter().filter(is);
                    chosen.map(|word| plain_word(word)).collect::<Vec<_>>()
                };
                let sources = [vec![cases], of(&|word| is_source(word))].concat();
                let objects: Vec<String> = sources.iter().map(|source| object_of(source)).collect();
                let compiled = [sources, of(&is_flag)].concat().join(" ");
                let is_of_both = |word: &&String| !is_source(word) && !word.starts_with("-std=");
                let linked = [objects, words(&suite.objects), of(&is_of_both)].concat().join(" ");
                vec![
                    format!("cc -c -w {compiled}"),
                    format!(
                        "c++ -std=c++17 -w -o {name} {tests} {linked} -lm -lgtest -lgtest_main \
                         -pthread && {run}"
                    ),
                ]
            }
            Framework::Criterion => {
                vec![format!("cc -w -o {name} {tests} {cases} {code} -lcriterion && {run}")]
            }
            _ => vec![format!("cc -w -o {name} {tests} {code} && {run}")],
        }
    }
}

impl Linked {
    /// Links the program again with the tests for its `main`.
    fn command(&self, tests: &str, out: &str) -> String {
        let opened = self.opened.iter().map(|name| format!("--open {name} "));
        let program = plain_word(&self.program);
        format!(
            "tarragon variant plain {program} --main {tests} {}-o {out}",
            opened.collect::<String>()
        )
    }
}

fn is_source(word: &str) -> bool {
    !word.starts_with('-') && word.ends_with(".c")
}

fn is_linked(word: &str) -> bool {
    !word.starts_with('-') && [".o", ".a", ".so"].iter().any(|end| word.ends_with(end))
}

/// What `cc -c` makes of a source, where it is started.
fn object_of(source: &str) -> String {
    let file = source.trim_matches('\'').rsplit('/').next().unwrap_or_default();
    plain_word(&format!("{}o", file.strip_suffix('c').unwrap_or(file)))
}

fn cases_file(name: &str) -> String {
    format!("{name}_cases.c")
}

/// The tests; the first file is the one to start reading at.
pub fn render_units(suite: &UnitSuite, framework: Framework) -> Result<Vec<OutputFile>, EmitError> {
    let (file, cases_file) = (framework.file(&suite.name), cases_file(&suite.name));
    let UnitSuite { name, program, origin, sources, declarations, seconds, .. } = suite;
    let context = context! {
        name, program, origin, sources, declarations, seconds, file, cases_file,
        made_up => suite.made_up, cases => suite.cases, failed => FAILED, stopped => STOPPED,
        commands => framework.unit_commands(suite),
    };
    let rendered = |template: &str, path: &str| {
        let failed = |error| EmitError { framework: framework.name(), error };
        let mut environment = environment(framework).map_err(failed)?;
        for (name, text) in PARTS {
            environment.add_template(name, text).map_err(failed)?;
        }
        let text = environment.get_template(template).and_then(|all| all.render(&context));
        Ok(OutputFile { path: path.to_owned(), bytes: text.map_err(failed)?.into_bytes() })
    };
    match framework {
        Framework::Gtest => {
            Ok(vec![rendered("unit_gtest", &file)?, rendered("unit_half", &cases_file)?])
        }
        Framework::Criterion => {
            Ok(vec![rendered("unit_criterion", &file)?, rendered("unit_half", &cases_file)?])
        }
        _ => Ok(vec![rendered("unit_c", &file)?]),
    }
}

const PARTS: [(&str, &str); 7] = [
    ("unit_head", include_str!("templates/unit_head.j2")),
    ("unit_code", include_str!("templates/unit_code.j2")),
    ("unit_cases.c", include_str!("templates/unit_cases.c.j2")),
    ("unit_c", include_str!("templates/unit_c.j2")),
    ("unit_half", include_str!("templates/unit_half.j2")),
    ("unit_gtest", include_str!("templates/unit_gtest.j2")),
    ("unit_criterion", include_str!("templates/unit_criterion.j2")),
];
