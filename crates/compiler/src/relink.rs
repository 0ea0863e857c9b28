//! Links a variant's object by a program's recipe.

use crate::children;
use crate::clang::{self, MissingProgram};
use crate::driver::Language;
use crate::payload::Payload;
use crate::recipe::{Item, Member, OutputKind};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use thiserror::Error;

#[derive(Debug, Error)]
pub enum RelinkError {
    #[error(transparent)]
    Missing(#[from] MissingProgram),
    #[error("cannot link the variant again: {0}")]
    Link(String),
    #[error("the recipe refers to a native input that is not embedded; rebuild the program")]
    LostNative,
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

impl RelinkError {
    fn misses_symbols(&self) -> bool {
        matches!(self, RelinkError::Link(message) if message.contains("undefined symbol"))
    }
}

/// The bitcode is not optimised. It may call what the program's own optimiser knew that nobody
/// calls, and what was never linked for that reason.
const IGNORE: &str = "-Wl,--unresolved-symbols=ignore-all";

/// Words that ask for a program without shared libraries.
const STATIC: [&str; 3] = ["-static", "--static", "-static-pie"];

pub struct Relink<'a> {
    pub payload: &'a Payload,
    /// The code of all modules.
    pub objects: &'a [PathBuf],
    /// Options that the variant needs.
    pub options: &'a [&'a str],
    /// Whether the variant cannot be static, whatever the program is.
    pub dynamic: bool,
    /// Where the plain program is: what `$ORIGIN` meant.
    pub origin: &'a Path,
    /// For native inputs.
    pub scratch: &'a Path,
}

impl Relink<'_> {
    /// LLVM's linker is faster; programs that it refuses may still link with the system's.
    pub fn link(&self, out: &Path) -> Result<(), RelinkError> {
        let words = self.words(out)?;
        if !clang::has_lld() {
            return self.run(words);
        }
        let mut with_lld = words.clone();
        with_lld.push("-fuse-ld=lld".into());
        let linked = self.run(with_lld.clone()).or_else(|first| self.run(words).map_err(|_| first));
        linked.or_else(|first| match first.misses_symbols() {
            true => self.run([with_lld, vec![IGNORE.into()]].concat()).map_err(|_| first),
            false => Err(first),
        })
    }

    fn run(&self, words: Vec<OsString>) -> Result<(), RelinkError> {
        let compiler = clang::compiler(self.language())?;
        let mut prepared = clang::prepare(&compiler, &words)?;
        clang::capture(&mut prepared, None).map(drop).map_err(RelinkError::Link)
    }

    /// A program that another linker driver made is linked as C++, which links C as well.
    fn language(&self) -> Language {
        self.payload.recipe.as_ref().map_or(Language::Cxx, |recipe| recipe.language)
    }

    fn words(&self, out: &Path) -> Result<Vec<OsString>, RelinkError> {
        let mut words: Vec<OsString> = vec!["-Qunused-arguments".into(), "-o".into(), out.into()];
        words.extend(self.objects.iter().map(OsString::from));
        words.extend(self.options.iter().map(OsString::from));
        let Some(recipe) = &self.payload.recipe else { return Ok(words) };
        let relocatable = recipe.output == OutputKind::Relocatable;
        let left_out = |item: &&Item| match item {
            Item::Library(_) => relocatable,
            Item::Driver(word) => self.dynamic && STATIC.contains(&word.as_str()),
            _ => false,
        };
        for item in recipe.items.iter().filter(|item| !left_out(item)) {
            self.item(item, &mut words)?;
        }
        Ok(words)
    }

    fn item(&self, item: &Item, words: &mut Vec<OsString>) -> Result<(), RelinkError> {
        match item {
            Item::Driver(word) => words.push(self.with_origin(word)),
            Item::Linker(word) => words.extend(["-Xlinker".into(), self.with_origin(word)]),
            Item::SearchDirectory(directory) => words.push(prefixed("-L", directory)),
            Item::Library(name) => words.push(format!("-l{name}").into()),
            Item::SharedLibrary { path, by_name, .. } => shared_library(path, *by_name, words),
            Item::File(path) => words.push(path.into()),
            Item::Native { name, key } => words.push(self.write_native(name, key)?.into()),
            Item::Archive { name, members } => {
                words.push(self.write_archive(name, members)?.into())
            }
            Item::LinkerFile { option, key } => {
                let file = self.write_native("linker-file", key)?;
                words.extend(["-Xlinker".into(), option.into(), "-Xlinker".into(), file.into()]);
            }
        }
        Ok(())
    }

    fn with_origin(&self, word: &str) -> OsString {
        let origin = self.origin.to_string_lossy();
        word.replace("${ORIGIN}", &origin).replace("$ORIGIN", &origin).into()
    }

    fn write_native(&self, name: &str, key: &str) -> Result<PathBuf, RelinkError> {
        let content = self.payload.natives.get(key).ok_or(RelinkError::LostNative)?;
        let file = self.scratch.join(format!("{key}-{name}"));
        std::fs::write(&file, content)?;
        Ok(file)
    }

    fn write_archive(&self, name: &str, members: &[Member]) -> Result<PathBuf, RelinkError> {
        let archive = self.scratch.join(format!("native-{name}"));
        let files = members.iter().map(|member| self.write_native(&member.name, &member.key));
        let files = files.collect::<Result<Vec<_>, _>>()?;
        let mut command = Command::new(clang::archiver()?);
        let output = children::output(command.arg("qcs").arg(&archive).args(files))?;
        match output.status.success() {
            true => Ok(archive),
            false => Err(RelinkError::Link(String::from_utf8_lossy(&output.stderr).into_owned())),
        }
    }
}

/// By name, so that the variant looks for the library at run time as the plain program does. A
/// library that is no longer where it was when the program was linked is left to the linker's
/// search.
fn shared_library(path: &Path, by_name: bool, words: &mut Vec<OsString>) {
    match (by_name || !path.exists(), path.parent(), path.file_name()) {
        (true, Some(directory), Some(name)) => {
            words.extend([prefixed("-L", directory), prefixed("-l:", Path::new(name))]);
        }
        _ => words.push(path.into()),
    }
}

fn prefixed(prefix: &str, path: &Path) -> OsString {
    let mut word = OsString::from(prefix);
    word.push(path);
    word
}
