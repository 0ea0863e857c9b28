//! Builds subjects: natively with clang, with Tarragon, and their traced variants.

use anyhow::{Context as _, Result, ensure};
use compiler::{DeriveOptions, Derived, Variant};
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
pub fn traced(sources: &[PathBuf], flags: &[&str], out: &Path) -> Result<Derived> {
    let mut words: Vec<_> = flags.iter().map(Into::into).collect();
    words.extend(sources.iter().map(|source| source.clone().into_os_string()));
    words.extend(["-o".into(), out.as_os_str().to_owned()]);
    words.extend(LIBRARIES.map(OsString::from));
    let code = compiler::driver::run(compiler::driver::Language::C, words);
    ensure!(code == 0, "tarragon cc failed on {}", out.display());
    let options = DeriveOptions::from_environment()?;
    Ok(compiler::derive(out, Variant::Traced, &options)?)
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

/// The upstream archive of a Debian package, fetched into `into`. The machine needs a `deb-src` entry.
pub fn debian_archive(name: &str, into: &Path) -> Result<PathBuf> {
    run(Command::new("apt-get")
        .args(["source", "--tar-only", "-qq", name])
        .current_dir(into)
        .stderr(std::process::Stdio::null()))
    .context(
        "no Debian sources: add a deb-src entry beside the deb entry of your mirror, then apt-get update",
    )?;
    std::fs::read_dir(into)?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .find(|path| path.file_name().is_some_and(|n| n.to_string_lossy().starts_with(&format!("{name}_"))))
        .with_context(|| format!("apt-get source left no archive of {name}"))
}

pub fn unpack(archive: &Path, folder: &Path) -> Result<()> {
    run(Command::new("tar").arg("xf").arg(archive).args(["--strip-components=1", "-C"]).arg(folder))
}
