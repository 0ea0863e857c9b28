//! Source trees of packages: fetched, unpacked, built and tested in a folder that can be used
//! again.

use super::list::Package;
use crate::build;
use anyhow::{Context as _, Result, ensure};
use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Which compilers build a tree.
#[derive(Clone, Copy)]
pub enum Compilers {
    Clang,
    Tarragon,
    Afl,
}

impl Compilers {
    fn folder(self) -> &'static str {
        match self {
            Compilers::Clang => "clang",
            Compilers::Tarragon => "tarragon",
            Compilers::Afl => "afl",
        }
    }

    fn commands(self) -> Result<[OsString; 2]> {
        Ok(match self {
            Compilers::Clang => ["clang-22".into(), "clang++-22".into()],
            Compilers::Tarragon => [tool("tarragon-cc")?.into(), tool("tarragon-cxx")?.into()],
            Compilers::Afl => ["afl-clang-fast".into(), "afl-clang-fast++".into()],
        })
    }
}

/// A program of this build of Tarragon.
pub fn tool(name: &str) -> Result<PathBuf> {
    let path = std::env::current_exe()?.with_file_name(name);
    ensure!(path.is_file(), "{} is missing: build the whole workspace first", path.display());
    Ok(path)
}

/// A package unpacked and built by one pair of compilers.
pub struct Tree<'a> {
    package: &'a Package,
    compilers: Compilers,
    pub folder: PathBuf,
    log: PathBuf,
}

impl<'a> Tree<'a> {
    /// Builds the package below `work`, unless that was done before.
    pub fn build(package: &'a Package, compilers: Compilers, work: &Path) -> Result<Tree<'a>> {
        let place = work.join(compilers.folder());
        let folder = place.join(package.name);
        let log = place.join(format!("{}.log", package.name));
        let tree = Tree { package, compilers, folder, log };
        let done = place.join(format!("{}.built", package.name));
        if !done.exists() {
            tree.unpack(work)?;
            tree.make()?;
            File::create(done)?;
        }
        Ok(tree)
    }

    fn unpack(&self, work: &Path) -> Result<()> {
        if self.folder.exists() {
            std::fs::remove_dir_all(&self.folder)?;
        }
        std::fs::create_dir_all(&self.folder)?;
        let archives = work.join("archives").join(self.package.name);
        std::fs::create_dir_all(&archives)?;
        let archive = build::debian_archive(self.package.name, &archives)?;
        build::unpack(&archive, &self.folder)
    }

    fn make(&self) -> Result<()> {
        let log = File::create(&self.log)?;
        let mut shell = self.shell(self.package.build)?;
        let status = shell.stdout(log.try_clone()?).stderr(log).status()?;
        ensure!(status.success(), "the build failed; see {}", self.log.display());
        Ok(())
    }

    pub fn has_tests(&self) -> bool {
        !self.package.test.is_empty()
    }

    /// What the package's own tests print, and their exit code.
    pub fn test(&self) -> Result<(String, Option<i32>)> {
        let output = self.shell(self.package.test)?.stderr(Stdio::null()).output()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let text = text.replace(&*self.folder.to_string_lossy(), "FOLDER");
        std::fs::write(self.log.with_extension("tests"), &text)?;
        Ok((text, output.status.code()))
    }

    fn shell(&self, script: &str) -> Result<Command> {
        let [cc, cxx] = self.compilers.commands()?;
        let mut command = Command::new("sh");
        command.args(["-c", script]).current_dir(&self.folder).stdin(Stdio::null());
        command.env("CC", cc).env("CXX", cxx).env_remove("MAKEFLAGS").env("LC_ALL", "C");
        Ok(command)
    }

    /// The program to run. Libtool puts a script in its place as long as it is not installed.
    pub fn program(&self) -> Result<PathBuf> {
        let path = self.folder.join(self.package.program);
        let (folder, name) = path.parent().zip(path.file_name()).context("a program has a name")?;
        let wrapped = folder.join(".libs").join(name);
        Ok(if wrapped.is_file() { wrapped } else { path })
    }
}
