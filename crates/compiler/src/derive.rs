//! Derives variants of a program from the bitcode that it carries.
//!
//! A variant is made once and kept in a cache, under a key of everything that it depends on: the
//! payload, the kind of variant, the instrumenter and the linker's view of the program.

use crate::additions;
use crate::aside::{self, Aside};
use crate::cache::{Cache, Key};
use crate::called_by_name;
use crate::children;
use crate::libraries::{self, Library};
use crate::models::ModelError;
use crate::payload::{Module, Payload, PayloadError};
use crate::recipe::Item;
use crate::relink::{Relink, RelinkError};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use thiserror::Error;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// Records its path condition when an input is symbolic.
    Traced,
    /// Has the checks of AddressSanitizer and UndefinedBehaviorSanitizer.
    Sanitized,
    /// Records which of its lines run.
    Covered,
    /// Counts the rounds of its loops.
    Counted,
}

impl Variant {
    pub fn name(self) -> &'static str {
        match self {
            Variant::Traced => "traced",
            Variant::Sanitized => "sanitized",
            Variant::Covered => "covered",
            Variant::Counted => "counted",
        }
    }

    /// What it is made of: the sanitized variant of code with the checks of clang's own sanitizers,
    /// where there is any.
    fn bitcode_of(self, module: &Module) -> &[u8] {
        match (self, &module.checked) {
            (Variant::Sanitized, Some(checked)) => checked,
            _ => &module.bitcode,
        }
    }

    /// What the linker's driver must know.
    fn link_options(self) -> &'static [&'static str] {
        match self {
            Variant::Traced | Variant::Covered | Variant::Counted => &[],
            Variant::Sanitized => &["-fsanitize=address,undefined"],
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Derived {
    pub executable: PathBuf,
    /// The table as JSON: of sites for the traced variant, of source lines for the covered one,
    /// of loops for the counted one, none for the sanitized.
    pub sites: PathBuf,
    /// Source files whose code is in it unchanged, each with the reason.
    pub left_out: Vec<String>,
}

#[derive(Clone, Debug)]
pub struct DeriveOptions {
    /// The directory in which variants are kept.
    pub cache: PathBuf,
    /// The program `tarragon-instrument`.
    pub instrument: PathBuf,
    /// Functions of which the traced variant makes tokens.
    pub lexers: Vec<String>,
}

#[derive(Debug, Error)]
pub enum DeriveError {
    #[error(transparent)]
    Payload(#[from] PayloadError),
    #[error(
        "{} was linked by Tarragon but none of its code was compiled by it;\n\
         rebuild its sources with CC=tarragon-cc CXX=tarragon-c++", program.display()
    )]
    NoModules { program: PathBuf },
    #[error("the program tarragon-instrument was not found beside {}; set TARRAGON_INSTRUMENT to \
             its path", near.display())]
    NoInstrument { near: PathBuf },
    #[error("tarragon-instrument failed on {}: {message}", program.display())]
    Instrument { program: PathBuf, message: String },
    #[error("{}: {source}", program.display())]
    Relink { program: PathBuf, source: RelinkError },
    #[error(
        "{}: variants cannot be kept there: {error}; set TARRAGON_CACHE to a directory that you \
         can write", path.display()
    )]
    Cache { path: PathBuf, error: io::Error },
    #[error(transparent)]
    Model(#[from] ModelError),
    #[error("while deriving a variant: {0}")]
    Io(#[from] io::Error),
}

impl DeriveOptions {
    /// `TARRAGON_CACHE`, else `tarragon` in the user's cache directory; `TARRAGON_INSTRUMENT`, else
    /// the program beside this one.
    pub fn from_environment() -> Result<DeriveOptions, DeriveError> {
        Ok(DeriveOptions {
            cache: default_cache(),
            instrument: find_instrument()?,
            lexers: Vec::new(),
        })
    }
}

pub(crate) fn default_cache() -> PathBuf {
    let set = |name| {
        std::env::var_os(name).filter(|value: &OsString| !value.is_empty()).map(PathBuf::from)
    };
    let users = || {
        set("XDG_CACHE_HOME")
            .or_else(|| Some(set("HOME")?.join(".cache")))
            .map(|dir| dir.join("tarragon"))
    };
    let writable = || users().filter(|directory| is_writable(directory));
    set("TARRAGON_CACHE").or_else(writable).unwrap_or_else(temporary_cache)
}

/// Home directories may be read-only, or not there.
fn is_writable(directory: &Path) -> bool {
    std::fs::create_dir_all(directory).is_ok() && tempfile::tempfile_in(directory).is_ok()
}

/// A directory that belongs to this user alone: others may not put programs there that run as this
/// user.
fn temporary_cache() -> PathBuf {
    let user = std::fs::metadata("/proc/self").map_or(0, |own| own.uid());
    let directory = std::env::temp_dir().join(format!("tarragon-cache-{user}"));
    // What cannot be made is reported when it is used.
    let _ = std::fs::DirBuilder::new().mode(0o700).create(&directory);
    let is_own = std::fs::symlink_metadata(&directory)
        .is_ok_and(|made| made.is_dir() && made.uid() == user && made.mode() & 0o022 == 0);
    let process = std::process::id();
    if is_own {
        directory
    } else {
        std::env::temp_dir().join(format!("tarragon-cache-{user}-{process}"))
    }
}

fn find_instrument() -> Result<PathBuf, DeriveError> {
    if let Some(path) = std::env::var_os("TARRAGON_INSTRUMENT") {
        return Ok(path.into());
    }
    let executable = std::env::current_exe()?;
    let near = executable.parent().unwrap_or(Path::new("/"));
    // Test programs live one directory below the programs they test.
    let candidates =
        near.ancestors().take(2).map(|directory| directory.join("tarragon-instrument"));
    candidates
        .into_iter()
        .find(|path| path.is_file())
        .ok_or_else(|| DeriveError::NoInstrument { near: near.to_owned() })
}

/// The variant of `program`, from the cache or made now.
pub fn derive(
    program: &Path,
    variant: Variant,
    options: &DeriveOptions,
) -> Result<Derived, DeriveError> {
    let (program, payload, libraries) = read_program(program)?;
    let called_by_name = called_by_name::names(&program, &payload)?;
    let derivation = Derivation {
        program: &program,
        payload: &payload,
        libraries: &libraries,
        called_by_name,
        variant,
        instrument: &options.instrument,
        lexers: if variant == Variant::Traced { &options.lexers } else { &[] },
    };
    let path = || options.cache.clone();
    let cache =
        Cache::open(&options.cache).map_err(|error| DeriveError::Cache { path: path(), error })?;
    let folder = cache.folder(&derivation.key()?, |folder| derivation.make(folder))?;
    Ok(derivation.derived(&folder))
}

/// What a program carries, with its absolute path; an error if that is no code.
pub(crate) fn read_program(
    program: &Path,
) -> Result<(PathBuf, Payload, Vec<Library>), DeriveError> {
    let program = program
        .canonicalize()
        .map_err(|source| PayloadError::Io { path: program.to_owned(), source })?;
    let mut payload = Payload::read(&program)?;
    let libraries = libraries::absorb(&mut payload);
    if payload.modules.is_empty() && libraries.is_empty() {
        return Err(DeriveError::NoModules { program });
    }
    Ok((program, payload, libraries))
}

/// Like [`derive()`], then copied: the executable to `out`, a site table to `out` with
/// `.sites.json` appended.
pub fn derive_to(
    program: &Path,
    variant: Variant,
    out: &Path,
    options: &DeriveOptions,
) -> Result<Derived, DeriveError> {
    let cached = derive(program, variant, options)?;
    let mut sites = out.as_os_str().to_owned();
    sites.push(".sites.json");
    let derived =
        Derived { executable: out.to_owned(), sites: sites.into(), left_out: cached.left_out };
    std::fs::copy(&cached.executable, &derived.executable)?;
    if cached.sites.exists() {
        std::fs::copy(&cached.sites, &derived.sites)?;
    }
    Ok(derived)
}

/// The file that names functions for the instrumenter.
const CALLED_BY_NAME: &str = "called-by-name";
/// The file that names what a variant has as it was.
const LEFT_OUT: &str = "left-out";

struct Derivation<'a> {
    program: &'a Path,
    payload: &'a Payload,
    /// Shared libraries that become part of the variant.
    libraries: &'a [Library],
    called_by_name: BTreeSet<String>,
    variant: Variant,
    instrument: &'a Path,
    lexers: &'a [String],
}

impl Derivation<'_> {
    fn derived(&self, folder: &Path) -> Derived {
        let name = self.program.file_name().unwrap_or_default();
        // The name stays what it was: programs print it, and some act by it.
        let executable = folder.join("bin").join(name);
        let left_out = std::fs::read_to_string(folder.join(LEFT_OUT)).unwrap_or_default();
        let left_out = left_out.lines().map(str::to_owned).collect();
        Derived { executable, sites: folder.join("sites.json"), left_out }
    }

    fn make(&self, folder: &Path) -> Result<(), DeriveError> {
        let derived = self.derived(folder);
        let scratch = folder.join("scratch");
        std::fs::create_dir(&scratch)?;
        std::fs::create_dir(folder.join("bin"))?;
        let object = scratch.join("variant.o");
        let modules = write_modules(&self.payload.modules, self.variant, &scratch)?;
        let failed =
            |message| DeriveError::Instrument { program: self.program.to_owned(), message };
        let additions =
            additions::write(self.program, self.payload, self.variant, &scratch).map_err(failed)?;
        let libraries = write_libraries(self.libraries, self.variant, &scratch)?;
        let names: Vec<&str> = self.called_by_name.iter().map(String::as_str).collect();
        std::fs::write(scratch.join(CALLED_BY_NAME), names.join("\n"))?;
        let aside = aside::derive_most(modules.len(), |tried| {
            let chosen: Vec<&Path> = tried
                .iter()
                .map(|&module| &modules[module])
                .chain(&additions)
                .map(|p| &**p)
                .collect();
            self.instrument(&chosen, &libraries, &object, &derived.sites)
        })?;
        let mut objects = vec![object.clone()];
        for Aside { module, .. } in &aside {
            let plain = &self.payload.modules[*module];
            objects.push(aside::compile(plain, *module, &scratch).map_err(failed)?);
        }
        self.note_left_out(&aside, folder)?;
        let origin = self.program.parent().unwrap_or(Path::new("/"));
        let options = self.variant.link_options();
        // The sanitizer's runtime finds functions of the C library at run time.
        let dynamic = self.variant == Variant::Sanitized;
        Relink {
            payload: self.payload,
            objects: &objects,
            options,
            dynamic,
            origin,
            scratch: &scratch,
        }
        .link(&derived.executable)
        .map_err(|source| DeriveError::Relink { program: self.program.to_owned(), source })?;
        Ok(std::fs::remove_dir_all(&scratch)?)
    }

    fn note_left_out(&self, aside: &[Aside], folder: &Path) -> io::Result<()> {
        let line = |aside: &Aside| {
            let why = aside
                .why
                .lines()
                .find_map(|line| line.split_once("error: "))
                .map_or("", |(_, why)| why);
            format!("{}: {why}\n", self.payload.modules[aside.module].source)
        };
        match aside {
            [] => Ok(()),
            _ => std::fs::write(folder.join(LEFT_OUT), aside.iter().map(line).collect::<String>()),
        }
    }

    fn instrument(
        &self,
        modules: &[&Path],
        libraries: &[PathBuf],
        object: &Path,
        sites: &Path,
    ) -> Result<(), DeriveError> {
        let mut words: Vec<OsString> =
            vec!["--variant".into(), self.variant.name().into(), "-o".into(), object.into()];
        if self.variant != Variant::Sanitized {
            words.extend(["--sites".into(), sites.into()]);
        }
        let names = object.with_file_name(CALLED_BY_NAME);
        words.extend(["--called-by-name".into(), names.into()]);
        words.extend(self.lexers.iter().flat_map(|lexer| ["--lexer".into(), lexer.into()]));
        words.extend(libraries.iter().flat_map(|folder| ["--library".into(), folder.into()]));
        words.extend(modules.iter().map(OsString::from));
        run_instrument(self.instrument, self.program, &words).map(drop)
    }

    fn key(&self) -> Result<String, DeriveError> {
        let mut key = Key::new();
        let mut add = |part: &[u8]| key.add(part);
        add(self.variant.name().as_bytes());
        add(self.program.file_name().unwrap_or_default().as_encoded_bytes());
        let instrument = std::fs::read(self.instrument);
        add(&instrument
            .map_err(|_| DeriveError::NoInstrument { near: self.instrument.to_owned() })?);
        let libraries = self.libraries.iter().flat_map(|library| &library.modules);
        for module in self.payload.modules.iter().chain(libraries) {
            add(module.source.as_bytes());
            add(self.variant.bitcode_of(module));
        }
        additions::TEXTS.iter().for_each(|text| add(text.as_bytes()));
        self.lexers.iter().for_each(|lexer| add(lexer.as_bytes()));
        self.called_by_name.iter().for_each(|name| add(name.as_bytes()));
        self.libraries.iter().for_each(|library| add(library.exports.join("\n").as_bytes()));
        add(&serde_json::to_vec(&self.payload.recipe).map_err(io::Error::from)?);
        self.payload.natives.keys().for_each(|key| add(key.as_bytes()));
        if self.depends_on_origin() {
            add(self.program.as_os_str().as_encoded_bytes());
        }
        Ok(key.finish())
    }

    fn depends_on_origin(&self) -> bool {
        let items = self.payload.recipe.iter().flat_map(|recipe| &recipe.items);
        items
            .into_iter()
            .any(|item| matches!(item, Item::Driver(word) | Item::Linker(word) if word.contains("ORIGIN")))
    }
}

/// Runs the instrumenter on a program; what it printed.
pub(crate) fn run_instrument(
    instrument: &Path,
    program: &Path,
    words: &[OsString],
) -> Result<Vec<u8>, DeriveError> {
    let failed = |message| DeriveError::Instrument { program: program.to_owned(), message };
    let output = children::output(Command::new(instrument).args(words));
    let output = output.map_err(|error| failed(format!("{}: {error}", instrument.display())))?;
    match output.status.success() {
        true => Ok(output.stdout),
        false => {
            Err(failed(format!("{}{}", String::from_utf8_lossy(&output.stderr), output.status)))
        }
    }
}

/// One folder a library, as the instrumenter takes them.
pub(crate) fn write_libraries(
    libraries: &[Library],
    variant: Variant,
    folder: &Path,
) -> io::Result<Vec<PathBuf>> {
    let write = |(number, library): (usize, &Library)| {
        let folder = folder.join(format!("library-{number}"));
        std::fs::create_dir(&folder)?;
        write_modules(&library.modules, variant, &folder)?;
        std::fs::write(folder.join("exports"), library.exports.join("\n")).map(|()| folder)
    };
    libraries.iter().enumerate().map(write).collect()
}

pub(crate) fn write_modules(
    modules: &[Module],
    variant: Variant,
    folder: &Path,
) -> io::Result<Vec<PathBuf>> {
    let write = |(number, module): (usize, &Module)| {
        let name = Path::new(&module.source).file_name().unwrap_or_default().to_string_lossy();
        let file = folder.join(format!("{number:04}-{name}.bc"));
        std::fs::write(&file, variant.bitcode_of(module)).map(|()| file)
    };
    modules.iter().enumerate().map(write).collect()
}
