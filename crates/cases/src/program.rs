//! One source, built with clang and with Tarragon.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use compiler::DeriveOptions;
use compiler::driver::{self, Language};
use executor::Traced;
use sites::SiteTable;
use tempfile::TempDir;

/// What to build.
#[derive(Clone, Debug)]
pub struct Recipe {
    pub source: PathBuf,
    /// Sources that clang alone compiles: to Tarragon they are library code.
    pub natives: Vec<PathBuf>,
    /// Options for the compilation and the link.
    pub flags: Vec<String>,
}

/// The builds of one source. They live as long as this value.
pub struct Program {
    /// By clang.
    pub plain: PathBuf,
    /// By `tarragon cc`.
    pub built: PathBuf,
    /// Derived from `built`.
    pub traced: PathBuf,
    pub sites: SiteTable,
    _directory: TempDir,
}

impl Program {
    /// `cache` keeps variants, so that tests of unchanged programs need not derive them again.
    pub fn build(recipe: &Recipe, cache: &Path) -> Result<Program, String> {
        let directory = TempDir::new().map_err(|error| error.to_string())?;
        let mut words: Vec<OsString> = recipe.flags.iter().map(OsString::from).collect();
        words.extend(["-g".into(), "-w".into(), recipe.source.clone().into()]);
        for (number, native) in recipe.natives.iter().enumerate() {
            let object = directory.path().join(format!("{number}.o"));
            clang(
                recipe.language(),
                &["-c".into(), native.into(), "-o".into(), object.clone().into()],
            )?;
            words.push(object.into());
        }
        let [plain, built] =
            ["plain", "built"].map(|way| directory.path().join(way).join("program"));
        clang(recipe.language(), &output(&words, &plain)?)?;
        if driver::run(recipe.language(), output(&words, &built)?) != 0 {
            return Err("tarragon cc failed".to_owned());
        }
        let options = DeriveOptions::from_environment().map_err(|error| {
            format!("{error}\n(cargo build -p instrument makes it beside the tests)")
        })?;
        let options = DeriveOptions { cache: cache.to_owned(), ..options };
        let traced = Traced::derive(&built, &options).map_err(|error| error.to_string())?;
        let (traced, sites) = (traced.executable, traced.sites);
        Ok(Program { plain, built, traced, sites, _directory: directory })
    }
}

impl Recipe {
    fn language(&self) -> Language {
        match self.source.extension().is_some_and(|extension| extension == "cpp") {
            true => Language::Cxx,
            false => Language::C,
        }
    }
}

/// The words of a command that writes `file`, in a folder of its own: all builds have the same
/// name.
fn output(words: &[OsString], file: &Path) -> Result<Vec<OsString>, String> {
    let folder = file.parent().ok_or("a file in a folder")?;
    fs::create_dir_all(folder).map_err(|error| error.to_string())?;
    Ok([words, &["-o".into(), file.into()]].concat())
}

fn clang(language: Language, words: &[OsString]) -> Result<(), String> {
    let name = match language {
        Language::C => "clang-22",
        Language::Cxx => "clang++-22",
    };
    let output =
        Command::new(name).args(words).output().map_err(|error| format!("{name}: {error}"))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(format!("{name}: {}", String::from_utf8_lossy(&output.stderr))),
    }
}
