//! Builds subjects: natively with clang, with Tarragon, and their traced variants.

use anyhow::{Context as _, Result, ensure};
use compiler::DeriveOptions;
use executor::Traced;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A library that is not used would cost every run.
const LIBRARIES: [&str; 2] = ["-Wl,--as-needed", "-lm"];

/// The folder that the benchmarks' own sources are in.
pub fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Compiles sources to a program with plain clang.
pub fn native(sources: &[PathBuf], flags: &[&str], out: &Path) -> Result<()> {
    run(Command::new("clang-22").args(flags).args(sources).arg("-o").arg(out).args(LIBRARIES))
}

/// Compiles sources with Tarragon and derives the traced variant.
pub fn traced(sources: &[PathBuf], flags: &[&str], out: &Path) -> Result<Traced> {
    let mut words: Vec<_> = flags.iter().map(Into::into).collect();
    words.extend(sources.iter().map(|source| source.clone().into_os_string()));
    words.extend(["-o".into(), out.as_os_str().to_owned()]);
    words.extend(LIBRARIES.map(OsString::from));
    let code = compiler::driver::run(compiler::driver::Language::C, words);
    ensure!(code == 0, "tarragon cc failed on {}", out.display());
    Ok(Traced::derive(out, &DeriveOptions::from_environment()?)?)
}

pub fn run(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("cannot start {command:?}"))?;
    ensure!(status.success(), "{command:?} failed: {status}");
    Ok(())
}

/// Sources of a Debian package, unpacked below `into`.
pub fn debian_source(name: &str, into: &Path) -> Result<PathBuf> {
    let archive = debian_archive(name, into)?;
    let folder = into.join(name);
    std::fs::create_dir_all(&folder)?;
    unpack(&archive, &folder)?;
    Ok(folder)
}

/// The upstream archive of a Debian package, fetched into `into`. The machine needs a `deb-src`
/// entry. Mirrors lack files of single versions, so others are tried, too.
pub fn debian_archive(name: &str, into: &Path) -> Result<PathBuf> {
    let fetch = |wanted: &str| {
        let mut command = Command::new("apt-get");
        command.args(["source", "--tar-only", "-qq", wanted]).current_dir(into);
        run(command.stderr(std::process::Stdio::null()))
    };
    let others = || {
        debian_versions(name).into_iter().any(|version| fetch(&format!("{name}={version}")).is_ok())
    };
    if let Err(error) = fetch(name)
        && !others()
    {
        return Err(error.context(
            "no Debian sources: add a deb-src entry beside the deb entry of your mirror, then \
             apt-get update",
        ));
    }
    std::fs::read_dir(into)?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .find(|path| {
            path.file_name().is_some_and(|n| n.to_string_lossy().starts_with(&format!("{name}_")))
        })
        .with_context(|| format!("apt-get source left no archive of {name}"))
}

/// The versions of a source package that the mirror lists.
fn debian_versions(name: &str) -> Vec<String> {
    let output = Command::new("apt-cache").args(["showsrc", "--only-source", name]).output();
    let text = output
        .map(|output| String::from_utf8_lossy(&output.stdout).into_owned())
        .unwrap_or_default();
    text.lines().filter_map(|line| line.strip_prefix("Version: ")).map(str::to_owned).collect()
}

pub fn unpack(archive: &Path, folder: &Path) -> Result<()> {
    run(Command::new("tar").arg("xf").arg(archive).args(["--strip-components=1", "-C"]).arg(folder))
}
