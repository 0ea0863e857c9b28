//! Runs a case with plain clang and with Tarragon in twin directories and compares what can be seen
//! from outside.

use crate::cases::{self, Case};
use compiler::payload::{Payload, PayloadError};
use compiler::recipe::OutputKind;
use compiler::{DeriveOptions, Variant};
use libtest_mimic::Failed;
use object::read::elf::ElfFile64;
use object::{LittleEndian, Object, ObjectSection, SectionFlags, elf};
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

pub type Outcome<T = ()> = Result<T, Failed>;

/// Two copies of the sources, the programs under test, and a place for temporary files that must
/// end up empty.
pub struct Twins {
    root: TempDir,
}

impl Twins {
    pub fn new() -> Outcome<Twins> {
        let twins = Twins { root: tempfile::tempdir()? };
        for directory in ["plain", "tarragon", "bin", "tmp"] {
            std::fs::create_dir(twins.path(directory))?;
        }
        for program in ["tarragon-cc", "tarragon-c++", "tarragon-instrument"] {
            symlink(std::env::current_exe()?, twins.path("bin").join(program))?;
        }
        for file in std::fs::read_dir(cases::folder("sources"))? {
            let file = file?;
            std::fs::copy(file.path(), twins.path("plain").join(file.file_name()))?;
            std::fs::copy(file.path(), twins.path("tarragon").join(file.file_name()))?;
        }
        Ok(twins)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    pub fn program(&self, name: &str) -> PathBuf {
        self.path("bin").join(name)
    }

    fn shell(
        &self,
        directory: &str,
        script: &str,
        compilers: [&Path; 2],
        only: &str,
    ) -> Outcome<Output> {
        let mut command = Command::new("sh");
        command.arg("-c").arg(script).current_dir(self.path(directory)).stdin(Stdio::null());
        command.env("CC", compilers[0]).env("CXX", compilers[1]).env("TARRAGON_ONLY", only);
        command.env("TMPDIR", self.path("tmp")).env_remove("MAKEFLAGS");
        Ok(command.output()?)
    }

    fn plain(&self, case: &Case) -> Outcome<Output> {
        self.shell("plain", &case.script, [Path::new("clang-22"), Path::new("clang++-22")], "")
    }

    pub fn tarragon(&self, case: &Case) -> Outcome<Output> {
        let compilers = [self.program("tarragon-cc"), self.program("tarragon-c++")];
        self.shell("tarragon", &case.script, [&compilers[0], &compilers[1]], &case.tarragon_only)
    }

    pub fn options(&self) -> DeriveOptions {
        let instrument = self.program("tarragon-instrument");
        DeriveOptions { cache: self.path("cache"), instrument, lexers: Vec::new() }
    }

    /// Output without what differs by chance: directory and program names, random parts of
    /// temporary names.
    fn text(&self, bytes: &[u8]) -> String {
        let mut text = String::from_utf8_lossy(bytes).into_owned();
        for (name, stands_for) in [
            (self.program("tarragon-cc"), "CC"),
            (self.program("tarragon-c++"), "CXX"),
            (self.path("plain"), "TWIN"),
            (self.path("tarragon"), "TWIN"),
        ] {
            text = text.replace(&*name.to_string_lossy(), stands_for);
        }
        let text = text.replace("make CC=clang-22", "make CC=CC").replace("clang-22 ", "CC ");
        without_random_names(&text, &self.path("tmp").to_string_lossy())
    }
}

/// `TMP/hello-1a2b3c.o` is `TMP` in both twins.
fn without_random_names(text: &str, tmp: &str) -> String {
    let mut pieces = text.split(tmp);
    let mut result = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let end = piece
            .find(|c: char| !(c.is_alphanumeric() || "/-_.".contains(c)))
            .unwrap_or(piece.len());
        result = format!("{result}TMP{}", &piece[end..]);
    }
    result
}

pub fn check(case: &Case) -> Outcome {
    let twins = Twins::new()?;
    let plain = twins.plain(case)?;
    let tarragon = twins.tarragon(case)?;
    check_output(&twins, case, &plain, &tarragon)?;
    check_files(&twins, case)?;
    same("temporary files", &BTreeSet::new(), &files(&twins.path("tmp"))?)?;
    for (file, sources) in &case.carries {
        check_program(&twins, Path::new(file), sources)?;
    }
    Ok(())
}

/// False where a program that the case needs is not installed.
pub fn can_run(case: &Case) -> bool {
    case.needs
        .as_ref()
        .is_none_or(|program| Command::new(program).arg("--version").output().is_ok())
}

fn check_output(twins: &Twins, case: &Case, plain: &Output, tarragon: &Output) -> Outcome {
    same("exit code", &plain.status, &tarragon.status)?;
    same("stdout", &twins.text(&plain.stdout), &twins.text(&tarragon.stdout))?;
    let stderr = twins.text(&tarragon.stderr);
    let (own, clangs): (Vec<&str>, Vec<&str>) =
        stderr.lines().partition(|line| line.starts_with("tarragon "));
    same("stderr", &twins.text(&plain.stderr).lines().collect::<Vec<_>>(), &clangs)?;
    let unexpected = own.iter().filter(|line| !case.says.iter().any(|said| line.starts_with(said)));
    same("messages", &Vec::<&&str>::new(), &unexpected.collect())?;
    let missing =
        case.says.iter().filter(|said| !own.iter().any(|line| line.starts_with(said.as_str())));
    same("missing messages", &Vec::<&String>::new(), &missing.collect())
}

fn check_files(twins: &Twins, case: &Case) -> Outcome {
    let stays =
        |file: &String| !case.volatile.iter().any(|volatile| Path::new(file).starts_with(volatile));
    let plain: BTreeSet<String> = files(&twins.path("plain"))?;
    same("files", &plain, &files(&twins.path("tarragon"))?)?;
    for file in &plain {
        if stays(file) {
            check_file(twins, file)?;
        }
        if stays(file) || case.carries.contains_key(file) {
            let carried = carried(twins, file)?;
            same(
                &format!("modules in {file}"),
                case.carries.get(file).unwrap_or(&Vec::new()),
                &carried,
            )?;
        }
    }
    Ok(())
}

/// All files below `directory`, relative to it.
fn files(directory: &Path) -> Outcome<BTreeSet<String>> {
    let mut found = BTreeSet::new();
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        match entry.file_type()?.is_dir() {
            true => found
                .extend(files(&entry.path())?.into_iter().map(|below| format!("{name}/{below}"))),
            false => drop(found.insert(name)),
        }
    }
    Ok(found)
}

/// Loaded sections of ELF files and the whole text of others are the same.
fn check_file(twins: &Twins, file: &str) -> Outcome {
    let plain = std::fs::read(twins.path("plain").join(file))?;
    let tarragon = std::fs::read(twins.path("tarragon").join(file))?;
    match (loaded_sections(&plain), loaded_sections(&tarragon)) {
        (Some(plain), Some(tarragon)) => {
            same(&format!("loaded sections of {file}"), &plain, &tarragon)
        }
        _ if plain.starts_with(b"!<") => same(file, &plain[..7], &tarragon[..7]),
        _ => same(file, &twins.text(&plain), &twins.text(&tarragon)),
    }
}

fn loaded_sections(data: &[u8]) -> Option<BTreeMap<String, Vec<Vec<u8>>>> {
    let file = ElfFile64::<LittleEndian>::parse(data).ok()?;
    let mut sections: BTreeMap<String, Vec<Vec<u8>>> = BTreeMap::new();
    for section in file.sections() {
        let SectionFlags::Elf { sh_flags } = section.flags() else { continue };
        let name = section.name().unwrap_or_default();
        if sh_flags & u64::from(elf::SHF_ALLOC) != 0 && name != ".note.gnu.build-id" {
            sections
                .entry(name.to_owned())
                .or_default()
                .push(section.data().unwrap_or_default().to_vec());
        }
    }
    Some(sections)
}

fn carried(twins: &Twins, file: &str) -> Outcome<Vec<String>> {
    match Payload::read(&twins.path("tarragon").join(file)) {
        Ok(payload) => {
            Ok(payload.modules.iter().map(|module| twins.text(module.source.as_bytes())).collect())
        }
        Err(PayloadError::NotElf { .. } | PayloadError::NotBuiltWithTarragon { .. }) => {
            Ok(Vec::new())
        }
        Err(error) => Err(error.to_string().into()),
    }
}

/// A program behaves like the plain one, and so does the variant that the stand-in for the
/// instrumenter makes.
fn check_program(twins: &Twins, file: &Path, sources: &[String]) -> Outcome {
    let program = twins.path("tarragon").join(file);
    let payload = Payload::read(&program)?;
    let is_program = payload.recipe.is_some_and(|recipe| recipe.output == OutputKind::Executable);
    if !is_program || sources.is_empty() {
        return Ok(());
    }
    let run =
        |twin: &str, program: &Path| Command::new(program).current_dir(twins.path(twin)).output();
    let plain = run("plain", &twins.path("plain").join(file))?;
    same(&format!("behaviour of {}", file.display()), &plain, &run("tarragon", &program)?)?;
    let derived = compiler::derive(&program, Variant::Traced, &twins.options())?;
    same(
        &format!("behaviour of the variant of {}", file.display()),
        &plain,
        &run("tarragon", &derived.executable)?,
    )?;
    same("site table", &true, &derived.sites.is_file())
}

pub fn same<T: PartialEq + std::fmt::Debug + ?Sized>(
    what: &str,
    plain: &T,
    tarragon: &T,
) -> Outcome {
    if plain == tarragon {
        return Ok(());
    }
    let shown = |value: &T| format!("{value:#?}").chars().take(4000).collect::<String>();
    Err(format!("{what}: clang gives\n{}\nTarragon gives\n{}", shown(plain), shown(tarragon))
        .into())
}
