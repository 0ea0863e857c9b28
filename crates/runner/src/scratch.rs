//! The directories that a target can write in.

use crate::error::RunnerError;
use crate::left::left;
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, chmodat, openat, renameat, seek, unlinkat};
use rustix::io::Errno;
use std::collections::BTreeMap;
use std::ffi::CString;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;

/// The scratch directory and the target's `/tmp`.
pub(crate) struct Scratch {
    directories: Vec<Directory>,
}

impl Scratch {
    /// `exposed` are names that stay; they are those of `/tmp`, and nothing else should be called
    /// so in a scratch directory.
    pub fn new(directories: Vec<OwnedFd>, exposed: Vec<CString>) -> Scratch {
        let own = |descriptor| Directory { descriptor, exposed: exposed.clone() };
        Scratch { directories: directories.into_iter().map(own).collect() }
    }

    /// What a target left in its scratch directory, which is handed over last.
    pub fn files(&self) -> Result<BTreeMap<String, Vec<u8>>, RunnerError> {
        let files = self.directories.last().map(|scratch| left(&scratch.descriptor));
        let files = files.unwrap_or_else(|| Ok(BTreeMap::new()));
        files.map_err(RunnerError::system("read the scratch directory"))
    }

    /// Empties the directories if something is in them.
    pub fn clean(&self) -> Result<(), RunnerError> {
        let cleaned = self.directories.iter().try_for_each(Directory::clean);
        cleaned.map_err(RunnerError::system("empty the scratch directory"))
    }
}

/// A directory, as a descriptor: it may be mounted where only the target sees it.
struct Directory {
    descriptor: OwnedFd,
    /// Mounts, which are not the target's to remove.
    exposed: Vec<CString>,
}

impl Directory {
    fn clean(&self) -> Result<(), Errno> {
        let mut lifted = 0;
        while !self.is_empty()? {
            for (name, kind) in entries(&self.descriptor)? {
                match kind {
                    _ if self.exposed.contains(&name) => {}
                    FileType::Directory => self.dissolve(&name, &mut lifted)?,
                    _ => unlinkat(&self.descriptor, &name, AtFlags::empty())?,
                }
            }
        }
        Ok(())
    }

    /// Two cheap calls, because every run makes them: a listing that begins with nothing but dots
    /// has no more, as any name fits after them.
    fn is_empty(&self) -> Result<bool, Errno> {
        seek(&self.descriptor, rustix::fs::SeekFrom::Start(0))?;
        let mut buffer = [MaybeUninit::uninit(); 1024];
        let mut listing = rustix::fs::RawDir::new(&self.descriptor, &mut buffer);
        while let Some(entry) = listing.next() {
            let entry = entry?;
            let stays = || self.exposed.iter().any(|name| name.as_c_str() == entry.file_name());
            if !is_dots(entry.file_name()) && !stays() {
                return Ok(false);
            }
            if self.exposed.is_empty() && listing.is_buffer_empty() {
                break;
            }
        }
        Ok(true)
    }

    /// Removes a directory without recursion, however deep it is: its own directories are lifted to
    /// the top.
    fn dissolve(&self, name: &CString, lifted: &mut u64) -> Result<(), Errno> {
        chmodat(&self.descriptor, name, Mode::from(0o700), AtFlags::empty())?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let inner = openat(&self.descriptor, name, flags, Mode::empty())?;
        for (entry, kind) in entries(&inner)? {
            if kind == FileType::Directory {
                chmodat(&inner, &entry, Mode::from(0o700), AtFlags::empty())?;
                self.lift(&inner, &entry, lifted)?;
            } else {
                unlinkat(&inner, &entry, AtFlags::empty())?;
            }
        }
        unlinkat(&self.descriptor, name, AtFlags::REMOVEDIR)
    }

    fn lift(&self, from: &OwnedFd, name: &CString, lifted: &mut u64) -> Result<(), Errno> {
        loop {
            *lifted += 1;
            match renameat(from, name, &self.descriptor, format!(".lifted-{lifted}")) {
                // The target had that very idea, too.
                Err(Errno::EXIST | Errno::NOTEMPTY | Errno::NOTDIR) => {}
                other => return other,
            }
        }
    }
}

pub(crate) fn entries(directory: &OwnedFd) -> Result<Vec<(CString, FileType)>, Errno> {
    let mut found = Vec::new();
    for entry in Dir::read_from(directory)? {
        let entry = entry?;
        if !is_dots(entry.file_name()) {
            found.push((entry.file_name().to_owned(), entry.file_type()));
        }
    }
    Ok(found)
}

fn is_dots(name: &std::ffi::CStr) -> bool {
    matches!(name.to_bytes(), b"." | b"..")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn empties_whatever_a_target_leaves() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let open = || rustix::fs::open(directory.path(), flags, Mode::empty()).unwrap();
        let scratch = Scratch::new(vec![open()], Vec::new());
        fs::create_dir_all(at(&"deep/".repeat(300))).unwrap();
        fs::write(at("deep/file"), "x").unwrap();
        fs::create_dir_all(at("locked/inner")).unwrap();
        fs::create_dir_all(at(".lifted-1/full")).unwrap();
        fs::set_permissions(
            at("locked/inner"),
            std::os::unix::fs::PermissionsExt::from_mode(0o000),
        )
        .unwrap();
        std::os::unix::fs::symlink("/", at("link")).unwrap();
        scratch.clean().unwrap();
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
        scratch.clean().unwrap();
        fs::create_dir(at("mounted")).unwrap();
        fs::write(at("left"), "x").unwrap();
        Scratch::new(vec![open()], vec![c"mounted".to_owned()]).clean().unwrap();
        assert!(at("mounted").exists() && !at("left").exists());
    }
}
