//! Disks that are full or broken.

use std::ffi::{CStr, CString};
use std::fs;
use std::path::Path;

use campaign::{Display, DisplayMode, OutputDir};
use tempfile::TempDir;

use crate::fake::{PROGRAM, session_in};

/// A tiny file system of its own, if this process may mount one.
struct TinyDisk(TempDir);

impl TinyDisk {
    fn mount(options: &CStr) -> Option<TinyDisk> {
        let dir = TempDir::new().ok()?;
        let target = CString::new(dir.path().as_os_str().as_encoded_bytes()).ok()?;
        let kind = c"tmpfs";
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
    let Some(disk) = TinyDisk::mount(c"size=64k") else {
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
fn a_disk_without_room_for_the_start_leaves_what_can_be_resumed() {
    // The disk itself, the directory and one file.
    let Some(disk) = TinyDisk::mount(c"nr_inodes=3") else {
        eprintln!("skipped: this process may not mount a file system");
        return;
    };
    let out = disk.path().join("out");
    for resume in [false, true] {
        let error = OutputDir::open(&out, PROGRAM, resume).expect_err("no room for directories");
        assert!(error.to_string().contains("the disk is full"), "{error}");
        assert!(out.join("campaign.json").is_file());
    }
}
