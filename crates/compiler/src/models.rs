//! A program with functions of the user's (models) in the place of some of its own or of the C
//! library's.
//!
//! What comes out is a program like any other that was built with Tarragon: it carries bitcode and
//! a recipe, and variants are derived from it. It is compiled from the program's bitcode and kept
//! in the cache. Which names are meant, and what takes whose place, the instrumenter decides.

use crate::aside;
use crate::cache::{Cache, Key};
use crate::clang;
use crate::derive::{
    DeriveError, DeriveOptions, Variant, read_program, run_instrument, write_libraries,
    write_modules,
};
use crate::driver::Language;
use crate::headers;
use crate::libraries::Library;
use crate::payload::{Module, Payload};
use crate::recipe::{Item, Recipe};
use crate::relink::Relink;
use crate::surroundings::Surroundings;
use sites::{ModelFile, Substitution};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use thiserror::Error;

/// A program with models in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Modelled {
    pub program: PathBuf,
    /// Each function that was replaced, with the file of its model.
    pub replaced: Vec<(String, PathBuf)>,
    /// Functions of these files that replace nothing, in words.
    pub notes: Vec<String>,
}

#[derive(Debug, Error)]
pub enum ModelError {
    #[error("the model {} cannot be read: {error}", path.display())]
    Unreadable { path: PathBuf, error: io::Error },
    #[error("the model {} does not compile:\n{message}", path.display())]
    DoesNotCompile { path: PathBuf, message: String },
    #[error(
        "{} has no model: a model is a function that is not static and has the name of a function \
         of the program or one that it calls", path.display()
    )]
    Empty { path: PathBuf },
    #[error("{} replaces nothing in {}: {what}", path.display(), program.display())]
    ReplacesNothing { path: PathBuf, program: PathBuf, what: String },
    #[error(
        "the model of {name} could stand for a static function of each of {}; model a function \
         whose name is unique, such as one that calls it", sources.join(", ")
    )]
    Ambiguous { name: String, sources: Vec<String> },
    #[error(
        "{name} can mean several things: what is static in {}, or what the program knows by that \
         name from elsewhere; give the source to `tarragon unit`", sources.join(", ")
    )]
    SeveralStatic { name: String, sources: Vec<String> },
    #[error(
        "{} has no main of its own (it is a libFuzzer harness?), so that it cannot have input from \
         several sources", program.display()
    )]
    NoMain { program: PathBuf },
    #[error("there are two models of {name}, in {} and in {}", first.display(), second.display())]
    Twice { name: String, first: PathBuf, second: PathBuf },
}

/// `program` with the models in `files`, and between it and its surroundings what stands there,
/// from the cache or made now.
pub fn with_models(
    program: &Path,
    files: &[PathBuf],
    surroundings: Option<&Surroundings>,
    options: &DeriveOptions,
) -> Result<Modelled, DeriveError> {
    let cache = |error| DeriveError::Cache { path: options.cache.clone(), error };
    let own = surroundings.map(|surroundings| surroundings.files(&options.cache)).transpose();
    make(program, files, &own.map_err(cache)?.unwrap_or_default(), None, options)
}

/// `program` with the `main` of a C source instead of its own. The source may use what `opened`
/// names, although it is static in the program.
pub fn with_entry(
    program: &Path,
    source: &Path,
    opened: &[String],
    options: &DeriveOptions,
) -> Result<PathBuf, DeriveError> {
    Ok(make(program, &[source.to_owned()], &[], Some(opened), options)?.program)
}

fn make(
    program: &Path,
    files: &[PathBuf],
    own: &[PathBuf],
    opened: Option<&[String]>,
    options: &DeriveOptions,
) -> Result<Modelled, DeriveError> {
    let (path, payload, libraries) = read_program(program)?;
    let users = files.iter().map(|file| compile(file, LINES));
    let models = users.chain(own.iter().map(|file| compile(file, NO_LINES)));
    let models = models.collect::<Result<Vec<_>, _>>()?;
    let making = Making { program: &path, payload, libraries, files, models, opened, options };
    let cache = |error| DeriveError::Cache { path: options.cache.clone(), error };
    let folder = Cache::open(&options.cache)
        .map_err(cache)?
        .folder(&making.key()?, |folder| making.make(folder))?;
    let report = std::fs::read(folder.join(REPORT))?;
    let report = serde_json::from_slice(&report).map_err(io::Error::from)?;
    Ok(making.modelled(&folder, &report))
}

/// The file that says what was replaced.
const REPORT: &str = "models.json";

/// For what is compiled to run as it is.
const PLAIN_LEVEL: &str = "-O1";

/// Functions of the user's own may be called `strlen`: nothing is known of them by their names.
const TO_BITCODE: &str =
    "-O1 -w -fno-builtin -Xclang -disable-llvm-passes -emit-llvm -c -o - -idirafter";
const CHECKS: &str = "-fsanitize=address,undefined";
const LINES: &str = "-g";
/// What stands between a program and its surroundings is no code of the user's: it counts for no
/// coverage, and is blamed for nothing.
const NO_LINES: &str = "-g0";

fn compile(file: &Path, lines: &str) -> Result<Module, ModelError> {
    let unreadable = |error| ModelError::Unreadable { path: file.to_owned(), error };
    std::fs::File::open(file).map_err(unreadable)?;
    let failed = |message| ModelError::DoesNotCompile { path: file.to_owned(), message };
    let bitcode = to_bitcode(file, &[lines]).map_err(failed)?;
    let checked = to_bitcode(file, &[lines, CHECKS]).ok();
    Ok(Module { source: file.to_string_lossy().into_owned(), bitcode, checked })
}

fn to_bitcode(file: &Path, more: &[&str]) -> Result<Vec<u8>, String> {
    let compiler = clang::compiler(language(file)).map_err(|missing| missing.to_string())?;
    let headers = headers::folder().ok_or("tarragon.h cannot be written to the cache")?;
    let mut words: Vec<OsString> =
        TO_BITCODE.split_whitespace().map(OsString::from).chain([headers.into()]).collect();
    words.extend(more.iter().map(OsString::from));
    words.extend(["--".into(), file.into()]);
    let mut prepared = clang::prepare(&compiler, &words).map_err(|error| error.to_string())?;
    clang::capture(&mut prepared, None)
}

/// As clang's driver would tell from the name.
fn language(file: &Path) -> Language {
    match file.extension().is_none_or(|extension| extension == "c") {
        true => Language::C,
        false => Language::Cxx,
    }
}

struct Making<'a> {
    program: &'a Path,
    payload: Payload,
    /// Shared libraries that become part of the program.
    libraries: Vec<Library>,
    files: &'a [PathBuf],
    /// Of these files, then those of what is between the program and its surroundings.
    models: Vec<Module>,
    /// The model's `main` takes the place of the program's, and it may use what these name.
    opened: Option<&'a [String]>,
    options: &'a DeriveOptions,
}

impl Making<'_> {
    fn key(&self) -> io::Result<String> {
        let mut key = Key::new();
        key.add(if self.opened.is_some() { b"entry" } else { b"models" });
        self.opened.unwrap_or_default().iter().for_each(|name| key.add(name.as_bytes()));
        key.add(self.program.as_os_str().as_encoded_bytes());
        key.add(&std::fs::read(self.program)?);
        key.add(&std::fs::read(&self.options.instrument)?);
        let libraries = self.libraries.iter().flat_map(|library| &library.modules);
        for module in libraries.chain(&self.models) {
            key.add(module.source.as_bytes());
            key.add(&module.bitcode);
            key.add(module.checked.as_deref().unwrap_or_default());
        }
        Ok(key.finish())
    }

    fn executable(&self, folder: &Path) -> PathBuf {
        folder.join("bin").join(self.program.file_name().unwrap_or_default())
    }

    fn make(&self, folder: &Path) -> Result<(), DeriveError> {
        let scratch = folder.join("scratch");
        std::fs::create_dir(&scratch)?;
        std::fs::create_dir(folder.join("bin"))?;
        let (report, modules) = self.substitute(&scratch)?;
        std::fs::write(folder.join(REPORT), serde_json::to_vec(&report).map_err(io::Error::from)?)?;
        let payload = Payload {
            modules,
            recipe: self.payload.recipe.clone().map(|recipe| self.recipe(recipe)),
            natives: self.payload.natives.clone(),
        };
        self.link(&payload, &scratch, &self.executable(folder))?;
        let embedded = payload.append_to(&self.executable(folder));
        embedded.map_err(|error| DeriveError::Io(io::Error::other(error)))?;
        Ok(std::fs::remove_dir_all(&scratch)?)
    }

    /// What was linked beside the program is found from another place, too.
    fn recipe(&self, mut recipe: Recipe) -> Recipe {
        let origin = self.program.parent().unwrap_or(Path::new("/")).to_string_lossy();
        for item in &mut recipe.items {
            if let Item::Driver(word) | Item::Linker(word) = item {
                *word = word.replace("${ORIGIN}", &origin).replace("$ORIGIN", &origin);
            }
        }
        if self.files.iter().any(|file| language(file) == Language::Cxx) {
            recipe.language = Language::Cxx;
        }
        if self.opened.is_some() {
            recipe.is_harness = false;
            recipe.items.push(Item::Library("m".to_owned()));
        }
        recipe
    }

    /// The modules with the models in their places: those of the program, and models as they are.
    fn substitute(&self, scratch: &Path) -> Result<(Substitution, Vec<Module>), DeriveError> {
        let (report, plain) = self.substitute_in(Variant::Traced, &scratch.join("plain"))?;
        self.check(&report)?;
        let (_, checked) = self.substitute_in(Variant::Sanitized, &scratch.join("checked"))?;
        let of_libraries = self.libraries.iter().filter_map(|library| library.modules.first());
        let all = of_libraries.chain(&self.payload.modules).chain(&self.models);
        let module = |((module, bitcode), checked): ((&Module, Vec<u8>), Vec<u8>)| Module {
            source: module.source.clone(),
            bitcode,
            checked: Some(checked),
        };
        Ok((report, all.zip(plain).zip(checked).map(module).collect()))
    }

    fn substitute_in(
        &self,
        variant: Variant,
        folder: &Path,
    ) -> Result<(Substitution, Vec<Vec<u8>>), DeriveError> {
        let [program, models, out] = ["program", "models", "out"].map(|name| folder.join(name));
        [&program, &models, &out].into_iter().try_for_each(std::fs::create_dir_all)?;
        let mut words: Vec<OsString> = vec!["--substitute".into(), out.clone().into()];
        for library in write_libraries(&self.libraries, variant, &program)? {
            words.extend(["--library".into(), library.into()]);
        }
        if let Some(names) = self.opened {
            words.push("--entry".into());
            words.extend(names.iter().flat_map(|name| ["--open".into(), name.into()]));
        }
        for (number, model) in
            write_modules(&self.models, variant, &models)?.into_iter().enumerate()
        {
            let option = if number < self.files.len() { "--model" } else { "--surroundings" };
            words.extend([option.into(), model.into()]);
        }
        let modules = write_modules(&self.payload.modules, variant, &program)?;
        words.extend(modules.into_iter().map(OsString::from));
        let answer = run_instrument(&self.options.instrument, self.program, &words)?;
        let report = serde_json::from_slice(&answer).map_err(io::Error::from)?;
        let count = self.libraries.len() + self.payload.modules.len() + self.models.len();
        let read = |number: usize| std::fs::read(out.join(format!("{number:04}.bc")));
        Ok((report, (0..count).map(read).collect::<io::Result<_>>()?))
    }

    fn link(&self, payload: &Payload, scratch: &Path, out: &Path) -> Result<(), DeriveError> {
        let failed =
            |message| DeriveError::Instrument { program: self.program.to_owned(), message };
        let objects = compile_all(&payload.modules, scratch).map_err(failed)?;
        let is_harness = self.opened.is_none()
            && payload.recipe.as_ref().is_some_and(|recipe| recipe.is_harness);
        let options: &[&str] = if is_harness { &["-fsanitize=fuzzer"] } else { &[] };
        let origin = self.program.parent().unwrap_or(Path::new("/"));
        let relink =
            Relink { payload, objects: &objects, options, dynamic: false, origin, scratch };
        let linked = relink.link(out);
        linked.map_err(|source| DeriveError::Relink { program: self.program.to_owned(), source })
    }

    /// A model without effect would be a quiet mistake.
    fn check(&self, report: &Substitution) -> Result<(), ModelError> {
        if let Some((name, sources)) = report.ambiguous.iter().next() {
            let (name, sources) = (name.clone(), sources.clone());
            return Err(match self.opened {
                Some(_) => ModelError::SeveralStatic { name, sources },
                None => ModelError::Ambiguous { name, sources },
            });
        }
        if self.opened.is_some() {
            return Ok(());
        }
        let is_main = |file: &ModelFile| file.replaced.iter().any(|name| name == "main");
        if self.files.len() < report.files.len() && !report.files.iter().any(is_main) {
            return Err(ModelError::NoMain { program: self.program.to_owned() });
        }
        let mut seen: BTreeMap<&str, &Path> = BTreeMap::new();
        for (path, file) in self.files.iter().zip(&report.files) {
            self.check_file(path, file, report)?;
            for name in &file.replaced {
                if let Some(first) = seen.insert(name, path) {
                    let (first, second) = (first.to_owned(), path.clone());
                    return Err(ModelError::Twice { name: name.clone(), first, second });
                }
            }
        }
        Ok(())
    }

    fn check_file(
        &self,
        path: &Path,
        file: &ModelFile,
        report: &Substitution,
    ) -> Result<(), ModelError> {
        let path = path.to_owned();
        match (file.replaced.as_slice(), file.unused.as_slice()) {
            ([], []) => Err(ModelError::Empty { path }),
            ([], unused) => {
                let what = unused.iter().map(|name| unknown(name, &report.functions));
                let what = format!("{}{}", what.collect::<Vec<_>>().join("; "), listed(report));
                Err(ModelError::ReplacesNothing { path, program: self.program.to_owned(), what })
            }
            _ => Ok(()),
        }
    }

    fn modelled(&self, folder: &Path, report: &Substitution) -> Modelled {
        let files = || self.files.iter().zip(&report.files);
        let replaced = files().flat_map(|(path, file)| {
            file.replaced.iter().map(move |name| (name.clone(), path.clone()))
        });
        let notes = files().flat_map(|(path, file)| {
            let path = path.display();
            let unused = file.unused.iter().map(|name| unknown(name, &report.functions));
            unused.map(move |what| format!("{path}: {what}"))
        });
        Modelled {
            program: self.executable(folder),
            replaced: replaced.collect(),
            notes: notes.collect(),
        }
    }
}

/// Objects of the modules, made side by side.
fn compile_all(modules: &[Module], folder: &Path) -> Result<Vec<PathBuf>, String> {
    let made: Mutex<BTreeMap<usize, Result<PathBuf, String>>> = Mutex::default();
    let waiting = Mutex::new(modules.iter().enumerate());
    let next = || waiting.lock().ok().and_then(|mut waiting| waiting.next());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some((number, module)) = next() {
                    let object = aside::compile_at(PLAIN_LEVEL, module, number, folder);
                    if let Ok(mut made) = made.lock() {
                        made.insert(number, object);
                    }
                }
            });
        }
    });
    made.into_inner().map_err(|error| error.to_string())?.into_values().collect()
}

/// Further apart, a name is not a mistyped one.
const FARTHEST: usize = 3;

fn unknown(name: &str, functions: &[String]) -> String {
    if name == "main" {
        return "main cannot be replaced".to_owned();
    }
    let distance = |known: &&String| strsim::osa_distance(name, known);
    let nearest = functions.iter().min_by_key(distance);
    let nearest = nearest.filter(|known| distance(known) <= FARTHEST.min(name.len() / 2));
    let meant = nearest.map_or(String::new(), |known| format!(" (is {known} meant?)"));
    format!("the program neither defines nor calls {name}{meant}")
}

/// Names of the program's functions that are listed.
const MAX_LISTED: usize = 30;

fn listed(report: &Substitution) -> String {
    let names: BTreeSet<&str> = report.functions.iter().map(String::as_str).collect();
    let shown: Vec<&str> = names.iter().copied().take(MAX_LISTED).collect();
    let more = if names.len() > MAX_LISTED { ", …" } else { "" };
    format!("; its functions and those that it calls: {}{more}", shown.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistyped_name_is_recognised() {
        let functions = ["accept", "recv", "send"].map(str::to_owned);
        let meant = "the program neither defines nor calls recieve (is recv meant?)";
        assert_eq!(unknown("recieve", &functions), meant);
        assert!(!unknown("frobnicate", &functions).contains("meant"));
        assert_eq!(unknown("main", &functions), "main cannot be replaced");
    }
}
