//! Disks that are full or broken.

use std::ffi::CString;
use std::fs;
use std::path::Path;

use campaign::{Display, DisplayMode, OutputDir};
use tempfile::TempDir;

use crate::fake::{PROGRAM, session_in};

/// A tiny file system of its own, if this process may mount one.
struct TinyDisk(TempDir);

impl TinyDisk {
    fn mount() -> Option<TinyDisk> {
        let dir = TempDir::new().ok()?;
        let target = CString::new(dir.path().as_os_str().as_encoded_bytes()).ok()?;
        let (kind, options) = (c"tmpfs", c"size=64k");
        // SAFETY: all pointers are to strings that end in zero and live through the call.
        let result =
            unsafe { libc::mount(kind.as_ptr(), target.as_ptr(), kind.as_ptr(), 0, options.as_ptr().cast()) };
        (result == 0).then_some(TinyDisk(dir))
    }

    fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for TinyDisk {
    fn drop(&mut self) {
        if let Ok(target) = CString::new(self.0.path().as_os_str().as_encoded_bytes()) {
            // SAFETY: the pointer is to a string that ends in zero and lives through the call.
            unsafe { libc::umount2(target.as_ptr(), libc::MNT_DETACH) };
        }
    }
}

#[test]
fn a_full_disk_is_said_and_what_was_found_stays() {
    let Some(disk) = TinyDisk::mount() else {
        eprintln!("skipped: this process may not mount a file system");
        return;
    };
    let out = disk.path().join("out");
    let output = OutputDir::open(&out, PROGRAM, false).expect("room for the start");
    fs::write(out.join("corpus/000001-seed-given"), "kept").expect("room for a seed");
    fs::write(disk.path().join("somebody-else"), vec![1; 256 << 10]).expect_err("more than the disk holds");
    let end =
        session_in(output, &[b"a", b"zzzz"], Display::new(DisplayMode::Quiet, Box::new(std::io::sink())));
    assert!(end.stop.is_error() && end.stop.to_string().contains("the disk is full"), "{}", end.stop);
    assert!(end.unsaved.is_some());
    assert_eq!(fs::read(out.join("corpus/000001-seed-given")).expect("kept"), b"kept");
    assert!(!out.join(".writing").exists());
}

#[test]
fn a_directory_that_vanishes_ends_the_campaign() {
    let dir = TempDir::new().expect("temporary directory");
    let output = OutputDir::open(dir.path(), PROGRAM, false).expect("a fresh directory");
    fs::remove_dir_all(dir.path().join("corpus")).expect("removed");
    let error = output.write("corpus/1".into(), b"x").expect_err("no directory to write to");
    assert!(error.to_string().contains("corpus/1"), "{error}");
    assert!(!dir.path().join(".writing").exists());
}
