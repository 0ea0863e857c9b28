//! Which files a target may read: its own, its libraries', and what programs usually need of the
//! system. The secrets of a machine (`/etc/shadow`, keys and histories in home directories) are
//! none of these: what a target reads, it can print, and what it prints gets into reports.

use crate::options::{TargetOptions, WorkingDirectory};
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Programs, libraries and their data, and what describes the machine and says nothing about its
/// users.
const SYSTEM: &[&str] = &[
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/usr",
    "/nix/store",
    "/gnu/store",
    "/etc/alternatives",
    "/etc/ca-certificates",
    "/etc/debian_version",
    "/etc/fonts",
    "/etc/gai.conf",
    "/etc/group",
    "/etc/host.conf",
    "/etc/hosts",
    "/etc/inputrc",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/ld.so.preload",
    "/etc/locale.alias",
    "/etc/locale.conf",
    "/etc/localtime",
    "/etc/magic",
    "/etc/magic.mime",
    "/etc/mime.types",
    "/etc/networks",
    "/etc/nsswitch.conf",
    "/etc/os-release",
    "/etc/passwd",
    "/etc/protocols",
    "/etc/resolv.conf",
    "/etc/rpc",
    "/etc/services",
    "/etc/shells",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
    "/etc/terminfo",
    "/etc/timezone",
    "/sys/devices/system",
    "/sys/kernel/mm",
    "/var/cache/fontconfig",
];

/// Everything that a target may read, apart from its scratch directory, `/proc` and devices.
pub(crate) fn visible(options: &TargetOptions, program: &Path, input: &Path) -> Vec<PathBuf> {
    let mut paths: BTreeSet<PathBuf> = SYSTEM.iter().map(PathBuf::from).collect();
    paths.insert(program.to_owned());
    paths.extend(program.parent().filter(|directory| !is_wide(directory)).map(Path::to_owned));
    paths.insert(input.to_owned());
    paths.extend(options.readable.iter().cloned());
    paths.extend(options.arguments.iter().flat_map(|argument| named(argument)));
    paths.extend(options.environment.iter().flat_map(|(_, value)| named(value)));
    let search = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    paths.extend(std::env::split_paths(&search).filter(|path| path.is_absolute()));
    match &options.working_directory {
        WorkingDirectory::Scratch => {}
        WorkingDirectory::Keep => paths.extend(std::env::current_dir()),
        WorkingDirectory::At(path) => paths.extend([path.clone()]),
    }
    paths.extend(libraries(program));
    paths.into_iter().filter(|path| path.is_absolute() && path.exists()).collect()
}

/// Whether a directory holds more than one program's own files: the root, home directories, and
/// what contains them.
pub(crate) fn is_wide(directory: &Path) -> bool {
    const SHARED: [&str; 8] = ["/", "/etc", "/home", "/mnt", "/root", "/tmp", "/var", "/var/tmp"];
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let real = directory.canonicalize().unwrap_or_else(|_| directory.to_owned());
    let holds = |path: &Path| path.canonicalize().is_ok_and(|path| path.starts_with(&real));
    SHARED.iter().any(|path| real == Path::new(path)) || home.is_some_and(|home| holds(&home))
}

/// Paths in a word on a command line: `/a`, `--file=/a`, `-I/a`, `/a:/b`. Directories that hold
/// everything are not meant.
fn named(word: &OsStr) -> Vec<PathBuf> {
    let bytes = word.as_bytes();
    let Some(first) = memchr::memchr(b'/', bytes) else { return Vec::new() };
    let rest = &bytes[first..];
    let whole = std::iter::once(rest);
    let parts =
        rest.split(|byte| matches!(byte, b':' | b',' | b';')).filter(|part| part.starts_with(b"/"));
    let paths = whole.chain(parts).map(|path| PathBuf::from(OsStr::from_bytes(path)));
    let mut found: Vec<_> =
        paths.filter(|path| path.exists() && !(path.is_dir() && is_wide(path))).collect();
    found.dedup();
    found
}

/// Shared libraries of a program that lie elsewhere, as the dynamic linker finds them; none of
/// their code runs.
fn libraries(program: &Path) -> Vec<PathBuf> {
    const LINKER: &str = "/lib64/ld-linux-x86-64.so.2";
    let listed = Command::new(LINKER)
        .arg("--list")
        .arg(program)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output();
    let text = listed.map(|output| output.stdout).unwrap_or_default();
    text.split(|byte| *byte == b'\n').filter_map(library).collect()
}

/// `libname.so => /path (0x7f...)`
fn library(line: &[u8]) -> Option<PathBuf> {
    let start = memchr::memmem::find(line, b" => /")? + b" => ".len();
    let end = memchr::memmem::rfind(line, b" (0x")?;
    Some(PathBuf::from(OsStr::from_bytes(line.get(start..end)?)))
}

/// Variables of the driver's that say where and in which language a target runs, and which it needs
/// to start. All others stay with the driver: tokens and passwords are among them.
pub(crate) fn environment() -> Vec<(OsString, OsString)> {
    const SHOWN: [&str; 11] = [
        "COLUMNS",
        "LANG",
        "LANGUAGE",
        "LD_LIBRARY_PATH",
        "LINES",
        "LOGNAME",
        "PATH",
        "TERM",
        "TERMINFO",
        "TZ",
        "USER",
    ];
    let is_shown = |name: &OsStr| {
        let name = name.as_bytes();
        name.starts_with(b"LC_") || SHOWN.iter().any(|shown| shown.as_bytes() == name)
    };
    let shown = std::env::vars_os().filter(|(name, _)| is_shown(name));
    shown.chain([("SHELL".into(), "/bin/sh".into())]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_found_in_words() {
        let named = |word: &str| named(OsStr::new(word));
        assert_eq!(named("-I/usr/include"), [PathBuf::from("/usr/include")]);
        assert_eq!(named("--path=/usr:/bin"), [PathBuf::from("/usr"), PathBuf::from("/bin")]);
        assert_eq!(named("/"), [""; 0].map(PathBuf::from), "the root is everything");
        assert_eq!(named("/no/such/file"), [""; 0].map(PathBuf::from));
        assert_eq!(named("s/a/b/"), [""; 0].map(PathBuf::from));
    }

    #[test]
    fn libraries_are_read_off_the_dynamic_linker() {
        assert_eq!(
            library(b"\tlibm.so.6 => /lib/libm.so.6 (0x00007f)"),
            Some("/lib/libm.so.6".into())
        );
        assert_eq!(library(b"\tlinux-vdso.so.1 (0x00007f)"), None);
        assert_eq!(library(b"\tlibgone.so => not found"), None);
        assert!(libraries(Path::new("/bin/sh")).iter().any(|path| path.ends_with("libc.so.6")));
    }

    #[test]
    fn home_directories_are_not_shown_as_a_whole() {
        let home = std::env::home_dir().unwrap();
        assert!(is_wide(Path::new("/")) && is_wide(Path::new("/etc")) && is_wide(&home));
        assert!(!is_wide(Path::new("/usr/bin")));
    }
}
