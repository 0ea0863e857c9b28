//! The one directory that a target can write in.

use crate::error::RunnerError;
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, chmodat, openat, renameat, seek, unlinkat};
use rustix::io::Errno;
use std::ffi::CString;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;

/// The scratch directory, as a descriptor: it may be mounted where only the target sees it.
pub(crate) struct Scratch {
    directory: OwnedFd,
}

impl Scratch {
    pub fn new(directory: OwnedFd) -> Scratch {
        Scratch { directory }
    }

    /// Empties the directory if something is in it.
    pub fn clean(&self) -> Result<(), RunnerError> {
        self.try_clean().map_err(RunnerError::system("empty the scratch directory"))
    }

    fn try_clean(&self) -> Result<(), Errno> {
        let mut lifted = 0;
        while !self.is_empty()? {
            for (name, kind) in entries(&self.directory)? {
                match kind {
                    FileType::Directory => self.dissolve(&name, &mut lifted)?,
                    _ => unlinkat(&self.directory, &name, AtFlags::empty())?,
                }
            }
        }
        Ok(())
    }

    /// Two cheap calls, because every run makes them: a listing that begins with nothing but dots has no more, as any name fits behind them.
    fn is_empty(&self) -> Result<bool, Errno> {
        seek(&self.directory, rustix::fs::SeekFrom::Start(0))?;
        let mut buffer = [MaybeUninit::uninit(); 1024];
        let mut listing = rustix::fs::RawDir::new(&self.directory, &mut buffer);
        while let Some(entry) = listing.next() {
            if !is_dots(entry?.file_name()) {
                return Ok(false);
            }
            if listing.is_buffer_empty() {
                break;
            }
        }
        Ok(true)
    }

    /// Removes a directory without recursion, however deep it is: its own directories are lifted to the top.
    fn dissolve(&self, name: &CString, lifted: &mut u64) -> Result<(), Errno> {
        chmodat(&self.directory, name, Mode::from(0o700), AtFlags::empty())?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let inner = openat(&self.directory, name, flags, Mode::empty())?;
        for (entry, kind) in entries(&inner)? {
            if kind == FileType::Directory {
                chmodat(&inner, &entry, Mode::from(0o700), AtFlags::empty())?;
                self.lift(&inner, &entry, lifted)?;
            } else {
                unlinkat(&inner, &entry, AtFlags::empty())?;
            }
        }
        unlinkat(&self.directory, name, AtFlags::REMOVEDIR)
    }

    fn lift(&self, from: &OwnedFd, name: &CString, lifted: &mut u64) -> Result<(), Errno> {
        loop {
            *lifted += 1;
            match renameat(from, name, &self.directory, format!(".lifted-{lifted}")) {
                // The target had that very idea, too.
                Err(Errno::EXIST | Errno::NOTEMPTY | Errno::NOTDIR) => {}
                other => return other,
            }
        }
    }
}

fn entries(directory: &OwnedFd) -> Result<Vec<(CString, FileType)>, Errno> {
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
        let scratch = Scratch::new(rustix::fs::open(directory.path(), flags, Mode::empty()).unwrap());
        fs::create_dir_all(at(&"deep/".repeat(300))).unwrap();
        fs::write(at("deep/file"), "x").unwrap();
        fs::create_dir_all(at("locked/inner")).unwrap();
        fs::create_dir_all(at(".lifted-1/full")).unwrap();
        fs::set_permissions(at("locked/inner"), std::os::unix::fs::PermissionsExt::from_mode(0o000)).unwrap();
        std::os::unix::fs::symlink("/", at("link")).unwrap();
        scratch.clean().unwrap();
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
        scratch.clean().unwrap();
    }
}
