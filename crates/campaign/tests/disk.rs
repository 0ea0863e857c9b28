//! Disks that are full or broken: tiny file systems, which not every process may mount.

#[allow(dead_code, reason = "other tests use the rest")]
#[path = "campaign/fake.rs"]
mod fake;

use std::ffi::{CStr, CString};
use std::fs;
use std::path::Path;

use campaign::{Display, DisplayMode, OutputDir};
use tempfile::TempDir;

use fake::{PROGRAM, session_in};

fn main() {
    needs::run(needs::tests![
        a_full_disk_is_said_and_what_was_found_stays,
        a_disk_without_room_for_the_start_leaves_what_can_be_resumed,
    ]);
}

/// A tiny file system of its own, if this process may mount one.
struct TinyDisk(TempDir);

impl TinyDisk {
    fn mount(options: &CStr) -> Result<TinyDisk, needs::Missing> {
        let dir = TempDir::new().expect("a folder");
        let target = path_of(&dir);
        let kind = c"tmpfs";
        // SAFETY: all pointers are to strings that end in zero and live through the call.
        let result = unsafe {
            libc::mount(kind.as_ptr(), target.as_ptr(), kind.as_ptr(), 0, options.as_ptr().cast())
        };
        needs::feature("right to mount a file system", result == 0)?;
        Ok(TinyDisk(dir))
    }

    fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for TinyDisk {
    fn drop(&mut self) {
        let target = path_of(&self.0);
        // SAFETY: the pointer is to a string that ends in zero and lives through the call.
        unsafe { libc::umount2(target.as_ptr(), libc::MNT_DETACH) };
    }
}

fn path_of(dir: &TempDir) -> CString {
    CString::new(dir.path().as_os_str().as_encoded_bytes()).expect("a path without a zero byte")
}

fn a_full_disk_is_said_and_what_was_found_stays() -> needs::Tested {
    let disk = TinyDisk::mount(c"size=64k")?;
    let out = disk.path().join("out");
    let output = OutputDir::open(&out, PROGRAM, false).expect("room for the start");
    fs::write(out.join("corpus/000001-seed-given"), "kept").expect("room for a seed");
    fs::write(disk.path().join("somebody-else"), vec![1; 256 << 10])
        .expect_err("more than the disk holds");
    let end = session_in(
        output,
        &[b"a", b"zzzz"],
        Display::new(DisplayMode::Quiet, Box::new(std::io::sink())),
    );
    assert!(
        end.stop.is_error() && end.stop.to_string().contains("the disk is full"),
        "{}",
        end.stop
    );
    assert!(end.unsaved.is_some());
    assert_eq!(fs::read(out.join("corpus/000001-seed-given")).expect("kept"), b"kept");
    assert!(!out.join(".writing").exists());
    Ok(())
}

fn a_disk_without_room_for_the_start_leaves_what_can_be_resumed() -> needs::Tested {
    // The disk itself, the directory and one file.
    let disk = TinyDisk::mount(c"nr_inodes=3")?;
    let out = disk.path().join("out");
    for resume in [false, true] {
        let error = OutputDir::open(&out, PROGRAM, resume).expect_err("no room for directories");
        assert!(error.to_string().contains("the disk is full"), "{error}");
        assert!(out.join("campaign.json").is_file());
    }
    Ok(())
}
