//! The directory of derived variants: one folder per key, complete or absent.
//!
//! A folder is made beside its final place and renamed, under a lock that lets concurrent
//! derivations of one key wait for the first. A folder that a killed derivation left half-made is
//! removed by the next.

use sha2::{Digest, Sha256};
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::children;

pub struct Cache {
    directory: PathBuf,
}

/// The name of a folder: a hash of everything that what is in it depends on.
pub struct Key(Sha256);

impl Key {
    pub fn new() -> Key {
        let mut key = Key(Sha256::new());
        key.add(env!("CARGO_PKG_VERSION").as_bytes());
        key
    }

    pub fn add(&mut self, part: &[u8]) {
        self.0.update((part.len() as u64).to_le_bytes());
        self.0.update(part);
    }

    pub fn finish(self) -> String {
        self.0.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
    }
}

impl Cache {
    pub fn open(directory: &Path) -> io::Result<Cache> {
        fs::create_dir_all(directory)?;
        Ok(Cache { directory: directory.to_owned() })
    }

    /// The folder for `key`. `make` fills it if it is not there yet.
    pub fn folder<E: From<io::Error>>(
        &self,
        key: &str,
        make: impl FnOnce(&Path) -> Result<(), E>,
    ) -> Result<PathBuf, E> {
        let folder = self.directory.join(key);
        if folder.is_dir() {
            return Ok(folder);
        }
        let lock_path = self.directory.join(format!("{key}.lock"));
        let lock = File::create(&lock_path)?;
        wait_for(&lock)?;
        let made = if folder.is_dir() { Ok(()) } else { self.make(key, &folder, make) };
        // Whoever waits for this lock holds the file open; another may have removed its name
        // already.
        let _ = fs::remove_file(&lock_path);
        made.map(|()| folder)
    }

    fn make<E: From<io::Error>>(
        &self,
        key: &str,
        folder: &Path,
        make: impl FnOnce(&Path) -> Result<(), E>,
    ) -> Result<(), E> {
        let partial = self.directory.join(format!("{key}.partial"));
        if partial.exists() {
            fs::remove_dir_all(&partial)?;
        }
        fs::create_dir(&partial)?;
        let made = make(&partial).and_then(|()| Ok(fs::rename(&partial, folder)?));
        if made.is_err() {
            fs::remove_dir_all(&partial)?;
        }
        made
    }
}

/// Another process may take long to make the same.
fn wait_for(lock: &File) -> io::Result<()> {
    const LOOK: Duration = Duration::from_millis(20);
    loop {
        match lock.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) if children::is_interrupted() => {
                return Err(children::interrupted());
            }
            Err(TryLockError::WouldBlock) => std::thread::sleep(LOOK),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    #[test]
    fn concurrent_makers_make_once() {
        let directory = tempfile::tempdir().unwrap();
        let cache = Cache::open(directory.path()).unwrap();
        let made = AtomicU32::new(0);
        let make = |folder: &Path| {
            made.fetch_add(1, Ordering::Relaxed);
            fs::write(folder.join("file"), "content")
        };
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let folder = cache.folder("key", make).unwrap();
                    assert_eq!(fs::read_to_string(folder.join("file")).unwrap(), "content");
                });
            }
        });
        assert_eq!(made.into_inner(), 1);
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
    }

    #[test]
    fn failure_leaves_nothing_and_remains_of_a_killed_maker_do_not_hinder() {
        let directory = tempfile::tempdir().unwrap();
        let cache = Cache::open(directory.path()).unwrap();
        let failed = cache.folder("key", |_| Err(io::Error::other("no")));
        assert_eq!(failed.unwrap_err().to_string(), "no");
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
        fs::create_dir(directory.path().join("key.partial")).unwrap();
        fs::write(directory.path().join("key.lock"), "").unwrap();
        assert!(cache.folder("key", |_| Ok::<(), io::Error>(())).unwrap().is_dir());
    }
}
