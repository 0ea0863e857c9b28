//! The code under test: its types and functions, and which of them are tested.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use compiler::payload::Payload;
use compiler::recipe::OutputKind;
use unit::interface::roles;
use unit::{Bounds, Function, Harness, Origin, Program, Subject};

use super::{UnitArgs, header};
use crate::args::Switch;

pub(crate) struct Code {
    pub program: Program,
    pub origin: Origin,
    /// Sources by their absolute paths, or the one binary file.
    pub files: Vec<PathBuf>,
    /// The file is a program, whose `main` the harness replaces.
    pub is_linked: bool,
    /// The functions of a header: it declares them, and what stands after `--` defines them.
    pub declared: Option<BTreeSet<String>>,
    /// Sources in C++, of which only functions that are `extern "C"` are known.
    pub cxx: Vec<String>,
}

impl Code {
    pub fn read(args: &UnitArgs) -> Result<Code> {
        let file = args.file.canonicalize();
        let file = file.with_context(|| format!("{}: cannot be read", args.file.display()))?;
        match file.extension().and_then(|extension| extension.to_str()) {
            Some("c" | "i") => Code::of_sources(args, file),
            _ if is_cxx(&file) => bail!(
                "{} is C++; tarragon unit takes C sources, and objects with C functions",
                args.file.display()
            ),
            Some("h") => Code::of_header(args, &file),
            _ => Code::of_binary(args, file),
        }
    }

    fn of_sources(args: &UnitArgs, file: PathBuf) -> Result<Code> {
        let mut files = vec![file];
        if let Some((other, _)) = args.against.as_deref().and_then(|text| text.rsplit_once(':')) {
            let path = Path::new(other).canonicalize();
            let path = path.with_context(|| format!("{other}: cannot be read"))?;
            if !files.contains(&path) {
                files.push(path);
            }
        }
        let include = |file: &PathBuf| format!("#include \"{}\"\n", file.display());
        let sources: String = files.iter().map(include).collect();
        let sources = format!("#define main tg_main_of_program\n{sources}#undef main\n");
        // A name that is not there is an error that says more later on.
        let object = compiler::debug_object(&(sources.clone() + &kept(args)), &args.options)
            .or_else(|_| compiler::debug_object(&sources, &args.options))
            .map_err(|text| anyhow!("the source does not compile:\n{text}"))?;
        let mut program = Program::default();
        unit::dwarf::read(&object, &mut program)?;
        let names = files.iter().map(|file| file.display().to_string()).collect();
        if args.stub_externals {
            learn_what_never_returns(&mut program, &sources, &args.options)?;
        }
        let (origin, is_linked) = (Origin::Sources(names), false);
        Ok(Code { program, origin, files, is_linked, declared: None, cxx: Vec::new() })
    }

    /// Its functions are those of its words before a parenthesis that what stands after `--`
    /// defines.
    fn of_header(args: &UnitArgs, file: &Path) -> Result<Code> {
        let mut program = Program::default();
        for word in args.options.iter().map(Path::new) {
            match word.extension().and_then(|extension| extension.to_str()) {
                _ if word.as_os_str().as_encoded_bytes().starts_with(b"-") => {}
                Some("c" | "i") => read_source(word, &args.options, &mut program)?,
                Some("o" | "a") => read_modules(&Payload::read_any(word)?, &mut program)?,
                _ => {}
            }
        }
        let text = std::fs::read_to_string(file)
            .with_context(|| format!("{}: cannot be read", args.file.display()))?;
        let is_there = |name: &String| {
            program.function(name).is_some_and(|function| {
                function.is_defined && function.is_external && name != "main"
            })
        };
        let declared: BTreeSet<String> = header::called(&text).filter(is_there).collect();
        if declared.is_empty() {
            let header = args.file.display();
            bail!(
                "{header} declares no function that the files after -- define; name the sources, \
                 objects or archives that do: tarragon unit {header} --all -- FILE.c"
            );
        }
        Ok(Code {
            program,
            origin: Origin::Objects,
            files: Vec::new(),
            is_linked: false,
            declared: Some(declared),
            cxx: Vec::new(),
        })
    }

    fn of_binary(args: &UnitArgs, file: PathBuf) -> Result<Code> {
        let payload = Payload::read_any(&file)?;
        let kind = payload.recipe.as_ref().map(|recipe| recipe.output);
        let is_linked = kind == Some(OutputKind::Executable);
        if kind == Some(OutputKind::SharedLibrary) {
            bail!(
                "{} is a shared library; name a program, an object, an archive or a C source",
                file.display()
            );
        }
        if args.against.as_deref().is_some_and(|against| against.contains(':')) {
            bail!("--against takes another function of {}, without a file", file.display());
        }
        if is_linked && !args.options.is_empty() {
            bail!("{} is linked already; it takes no options after --", file.display());
        }
        let mut program = Program::default();
        read_modules(&payload, &mut program)?;
        let sources = payload.modules.iter().map(|module| module.source.clone());
        let cxx = sources.filter(|source| is_cxx(Path::new(source))).collect();
        let origin = Origin::Objects;
        Ok(Code { program, origin, files: vec![file], is_linked, declared: None, cxx })
    }

    /// Whether others than the file that has it can see this only once it is opened.
    pub fn is_static(&self, name: &str) -> bool {
        let function = self.program.function(name).filter(|function| function.is_defined);
        let global = self.program.globals.get(name);
        function.map_or(global.is_some_and(|global| !global.is_external), |f| !f.is_external)
    }

    pub fn has_main(&self) -> bool {
        self.program.function("main").is_some_and(|main| main.is_defined)
    }

    /// The harness without stubs, and the functions that cannot be tested, with the reasons.
    pub fn harness(&self, args: &UnitArgs) -> Result<(Harness, BTreeMap<String, String>)> {
        let mut skipped = BTreeMap::new();
        let mut subjects = Vec::new();
        for function in self.functions(args)? {
            match self.subject(args, function) {
                Ok(subject) => subjects.push(subject),
                Err(error) if args.all => {
                    drop(skipped.insert(function.name.clone(), error.to_string()))
                }
                Err(error) => bail!("{} cannot be tested: {error}", function.name),
            }
        }
        if subjects.is_empty() {
            bail!("{}: there is no function that can be tested", args.file.display());
        }
        let globals = args.globals.iter().map(|name| {
            let global = self.program.globals.get(name).cloned();
            global.ok_or_else(|| anyhow!("there is no global variable {name}"))
        });
        let harness = Harness {
            origin: self.origin.clone(),
            subjects,
            globals: globals.collect::<Result<_>>()?,
            stubs: Vec::new(),
            bounds: Bounds {
                depth: args.depth,
                text: args.text_len,
                array: args.array_len.min(200),
                null: args.null == Switch::On,
                any_enum: args.any_enum,
                ..Bounds::default()
            },
            assume: args.assume.clone(),
            check: args.check.clone(),
            tolerance: args.tolerance,
        };
        Ok((harness, skipped))
    }

    fn functions(&self, args: &UnitArgs) -> Result<Vec<&Function>> {
        if args.all {
            let mut all: Vec<&Function> =
                self.program.functions.iter().filter(|function| self.is_own(function)).collect();
            all.sort_by_key(|function| function.place.line);
            return Ok(all);
        }
        let known = |name: &str| match name {
            "main" => "tg_main_of_program".to_owned(),
            name => name.to_owned(),
        };
        args.functions.iter().map(|name| self.named(&known(name), name)).collect()
    }

    /// Defined in the file itself, not in a header.
    fn is_own(&self, function: &Function) -> bool {
        if let Some(declared) = &self.declared {
            return function.is_defined
                && function.is_external
                && declared.contains(&function.name);
        }
        let is_main = matches!(function.name.as_str(), "tg_main_of_program" | "main");
        let is_here = match self.origin {
            Origin::Sources(_) => {
                self.files.iter().any(|file| Path::new(&function.place.file) == file)
            }
            // A function of a header is in every object that uses it.
            Origin::Objects => function.is_external || !function.place.file.ends_with(".h"),
        };
        function.is_defined && is_here && !is_main
    }

    fn named(&self, known: &str, name: &str) -> Result<&Function> {
        if name == "main" && matches!(self.origin, Origin::Objects) {
            bail!("the harness takes the place of main; name a C source to test it");
        }
        if let Some(declared) = &self.declared
            && !declared.contains(name)
        {
            let all = declared.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
            bail!("the header declares no function {name} that is defined; it declares {all}");
        }
        let found = self.program.function(known).filter(|function| function.is_defined);
        let Some(function) = found else {
            let names = self.program.functions.iter().filter(|function| function.is_defined);
            let near = names
                .map(|function| &function.name)
                .max_by(|a, b| strsim::jaro(a, name).total_cmp(&strsim::jaro(b, name)))
                .filter(|near| strsim::jaro(near, name) > 0.7);
            let meant = near.map_or(String::new(), |near| format!("; did you mean {near}?"));
            let cxx = match self.cxx.first() {
                Some(source) => format!(
                    "; of {source}, which is C++, only functions that are extern \"C\" are known"
                ),
                None => String::new(),
            };
            bail!("no function {name} is defined there{meant}{cxx}");
        };
        Ok(function)
    }

    fn subject(&self, args: &UnitArgs, function: &Function) -> Result<Subject> {
        if args.all && matches!(self.origin, Origin::Objects) && self.is_ambiguous(function) {
            bail!("several of the files have a static function of that name");
        }
        let roles = roles(&self.program, function, &args.lengths)?;
        let against = args.against.as_deref().map(|text| {
            let name = text.rsplit_once(':').map_or(text, |(_, name)| name);
            self.counterpart(function, name)
        });
        Ok(Subject { function: function.clone(), roles, against: against.transpose()? })
    }

    fn is_ambiguous(&self, function: &Function) -> bool {
        let all = self.program.functions.iter();
        let named = all.filter(|other| other.is_defined && other.name == function.name);
        !function.is_external && named.count() > 1
    }

    /// The function to compare with, whose type must be the same.
    fn counterpart(&self, function: &Function, name: &str) -> Result<String> {
        let other = self.named(name, name)?;
        let spelled = |function: &Function| {
            let types = function.signature.parameters.iter().map(|parameter| parameter.ty);
            let all = types.chain(function.signature.result);
            all.map(|ty| self.program.spell(self.program.unqualified(ty))).collect::<Vec<_>>()
        };
        if spelled(function) != spelled(other) {
            bail!(
                "{name} has another type:\n  {}\n  {}",
                self.program.prototype(function),
                self.program.prototype(other)
            );
        }
        Ok(name.to_owned())
    }
}

fn is_cxx(file: &Path) -> bool {
    let extension = file.extension().and_then(|extension| extension.to_str());
    matches!(extension, Some("cc" | "cpp" | "cxx" | "C" | "c++"))
}

fn read_modules(payload: &Payload, program: &mut Program) -> Result<()> {
    for module in &payload.modules {
        let object = compiler::debug_object_of(&module.bitcode)
            .map_err(|text| anyhow!("{}: {text}", module.source))?;
        unit::dwarf::read(&object, program)?;
    }
    Ok(())
}

fn read_source(file: &Path, options: &[OsString], program: &mut Program) -> Result<()> {
    let path = file.canonicalize();
    let path = path.with_context(|| format!("{}: cannot be read", file.display()))?;
    let object = compiler::debug_object(&format!("#include \"{}\"\n", path.display()), options)
        .map_err(|text| anyhow!("the source does not compile:\n{text}"))?;
    Ok(unit::dwarf::read(&object, program)?)
}

/// Clang does not describe a function without a body that never returns. Without that promise it
/// does, and those that are new are the ones.
fn learn_what_never_returns(
    program: &mut Program,
    sources: &str,
    options: &[OsString],
) -> Result<()> {
    let mut options = options.to_vec();
    options.extend(NO_PROMISES.map(OsString::from));
    // Where a source takes another meaning with that, it is not asked.
    let Ok(object) = compiler::debug_object(sources, &options) else { return Ok(()) };
    let mut all = program.clone();
    all.functions.clear();
    unit::dwarf::read(&object, &mut all)?;
    let functions = std::mem::take(&mut program.functions);
    let known: BTreeSet<&String> = functions.iter().map(|function| &function.name).collect();
    let new = all.functions.iter().filter(|function| !known.contains(&function.name));
    let new: Vec<Function> =
        new.map(|function| Function { returns: false, ..function.clone() }).collect();
    (program.types, program.functions) = (all.types, functions);
    program.functions.extend(new);
    Ok(())
}

const NO_PROMISES: [&str; 3] = ["-Dnoreturn=unused", "-D__noreturn__=unused", "-D_Noreturn="];

/// A static function that nobody calls is described only if something refers to it.
fn kept(args: &UnitArgs) -> String {
    let other =
        args.against.as_deref().map(|text| text.rsplit_once(':').map_or(text, |(_, name)| name));
    let names = args.functions.iter().map(String::as_str).chain(other);
    let keep = |(number, name)| {
        format!("__attribute__((used)) static void *tg_kept_{number} = (void *){name};\n")
    };
    names.filter(|name| *name != "main").enumerate().map(keep).collect()
}
