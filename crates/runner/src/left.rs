//! The files that a program left in its scratch directory.

use crate::scratch::entries;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, chmodat, openat, readlinkat};
use rustix::io::{Errno, dup};
use std::collections::BTreeMap;
use std::ffi::CStr;
use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;

/// Files beyond these are not looked at.
const MAX_FILES: usize = 256;
/// Bytes of a file beyond these are not looked at.
const MAX_LEN: u64 = 1 << 20;

/// Content by path, in the order of paths. The content of a symbolic link is where it leads, that
/// of anything else that is no file is empty. Directories have a slash at the end.
pub(crate) fn left(directory: &OwnedFd) -> Result<BTreeMap<String, Vec<u8>>, Errno> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![(dup(directory)?, String::new())];
    // Without recursion, because a program may make deep directories.
    while let Some((directory, above)) = waiting.pop() {
        let mut children = entries(&directory)?;
        children.sort_by(|(one, _), (other, _)| one.cmp(other));
        for (name, kind) in children {
            if found.len() >= MAX_FILES {
                return Ok(found);
            }
            let path = format!("{above}{}", name.to_string_lossy());
            if kind == FileType::Directory {
                let inner = open(&directory, &name, OFlags::DIRECTORY)?;
                waiting.push((inner, format!("{path}/")));
                found.insert(format!("{path}/"), Vec::new());
            } else {
                found.insert(path, content(&directory, &name, kind)?);
            }
        }
    }
    Ok(found)
}

fn content(directory: &OwnedFd, name: &CStr, kind: FileType) -> Result<Vec<u8>, Errno> {
    match kind {
        FileType::RegularFile => {
            let file = File::from(open(directory, name, OFlags::empty())?);
            let mut bytes = Vec::new();
            file.take(MAX_LEN).read_to_end(&mut bytes).map_err(|_| Errno::IO)?;
            Ok(bytes)
        }
        FileType::Symlink => Ok(readlinkat(directory, name, Vec::new())?.into_bytes()),
        _ => Ok(Vec::new()),
    }
}

/// Opens what the program may have closed to everybody.
fn open(directory: &OwnedFd, name: &CStr, more: OFlags) -> Result<OwnedFd, Errno> {
    chmodat(directory, name, Mode::from(0o700), AtFlags::empty())?;
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | more;
    openat(directory, name, flags, Mode::empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn everything_that_is_left_is_seen() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        fs::create_dir_all(at("deep/er")).unwrap();
        fs::write(at("deep/er/file"), "inner").unwrap();
        fs::write(at("locked"), "x").unwrap();
        fs::set_permissions(at("locked"), fs::Permissions::from_mode(0o000)).unwrap();
        symlink("/etc", at("link")).unwrap();
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let opened = rustix::fs::open(directory.path(), flags, Mode::empty()).unwrap();
        let seen = left(&opened).unwrap();
        let seen: Vec<(&str, &[u8])> =
            seen.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice())).collect();
        assert_eq!(
            seen,
            [
                ("deep/", &b""[..]),
                ("deep/er/", b""),
                ("deep/er/file", b"inner"),
                ("link", b"/etc"),
                ("locked", b"x"),
            ]
        );
    }

    #[test]
    fn there_is_an_end_to_looking() {
        let directory = tempfile::tempdir().unwrap();
        for number in 0..MAX_FILES + 10 {
            fs::write(directory.path().join(number.to_string()), "").unwrap();
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let opened = rustix::fs::open(directory.path(), flags, Mode::empty()).unwrap();
        assert_eq!(left(&opened).unwrap().len(), MAX_FILES);
    }
}
