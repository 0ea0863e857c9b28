//! Bad things that happen to a campaign.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use fastrand::Rng;
use rustix::process::{Pid, Resource, Rlimit, Signal, prlimit};

#[derive(Clone, Debug)]
pub(super) enum Harm {
    Kill,
    /// The programs that it runs, too.
    KillAll,
    StopAndKill,
    Interrupt(Signal),
    InterruptTwice,
    /// The disk has little room, and maybe somebody else takes it.
    Disk {
        options: String,
        fill: bool,
    },
    /// No file may be longer from now on.
    FileLimit(u64),
    /// Files are deleted or damaged, and maybe it is killed a little later.
    Spoil {
        kills: bool,
    },
}

impl Harm {
    pub fn random(rng: &mut Rng) -> Harm {
        match rng.u32(..16) {
            0..3 => Harm::Kill,
            3 => Harm::KillAll,
            4 => Harm::StopAndKill,
            5 => Harm::Interrupt([Signal::TERM, Signal::INT, Signal::HUP][rng.usize(..3)]),
            6 => Harm::InterruptTwice,
            7..10 => Harm::Disk { options: disk_options(rng), fill: rng.bool() },
            10 => Harm::FileLimit(rng.u64(..3000)),
            _ => Harm::Spoil { kills: rng.bool() },
        }
    }

    /// How the disk that it needs is mounted.
    pub fn disk(&self) -> Option<&str> {
        match self {
            Harm::Disk { options, .. } => Some(options),
            _ => None,
        }
    }

    pub fn may_kill(&self) -> bool {
        use Harm::{Interrupt, InterruptTwice, Kill, KillAll, Spoil, StopAndKill};
        // Before a campaign listens to signals, they end it.
        matches!(
            self,
            Kill | KillAll | StopAndKill | Interrupt(_) | InterruptTwice | Spoil { kills: true }
        )
    }

    /// Whether something cannot be written.
    pub fn denies_writing(&self) -> bool {
        matches!(self, Harm::Disk { .. } | Harm::FileLimit(_))
    }
}

/// From almost nothing to enough for a whole campaign, in bytes or in files.
fn disk_options(rng: &mut Rng) -> String {
    match rng.bool() {
        true => format!("size={}k", rng.u32(1..100) * 4),
        false => format!("nr_inodes={}", rng.u32(2..80)),
    }
}

/// A file system of its own, which goes with the value.
pub(super) struct Disk(PathBuf);

const FILLER: &str = "filler";

impl Disk {
    /// `None` if this process may not mount one.
    pub fn mount(at: &Path, options: &str) -> Option<Disk> {
        fs::create_dir(at).ok()?;
        let mounted = command("mount", &["-t", "tmpfs", "-o", options, "tarragon-oracle"], at);
        mounted.then(|| Disk(at.to_owned()))
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Somebody else takes all of the room.
    pub fn fill(&self) {
        let file = fs::File::create(self.0.join(FILLER));
        let _ = file.and_then(|mut file| {
            loop {
                file.write_all(&[1; 1024])?;
                // A disk that is limited in files only takes more than there is memory for.
                if file.metadata()?.len() > MAX_FILLED {
                    return Ok(());
                }
            }
        });
    }

    pub fn make_room(&self) -> Result<(), String> {
        let _ = fs::remove_file(self.0.join(FILLER));
        let done = command("mount", &["-o", "remount,size=64m,nr_inodes=100000"], &self.0);
        done.then_some(()).ok_or_else(|| "cannot make room on a disk".to_owned())
    }
}

const MAX_FILLED: u64 = 1 << 20;

impl Drop for Disk {
    fn drop(&mut self) {
        command("umount", &["-l"], &self.0);
    }
}

fn command(name: &str, words: &[&str], at: &Path) -> bool {
    Command::new(name).args(words).arg(at).output().is_ok_and(|done| done.status.success())
}

/// What was touched.
#[derive(Debug, Default)]
pub(super) struct Spoilt {
    /// Relative to the output directory.
    pub files: Vec<String>,
    /// The state of the search, if that was damaged.
    pub state: Option<Vec<u8>>,
}

pub(super) const STATE: &str = "search.state";

/// Deletes or damages something.
pub(super) fn spoil(out: &Path, rng: &mut Rng) -> Spoilt {
    let all = files(out);
    let top = |file: &&String| !file.contains('/');
    let folder = |file: &String| file.split_once('/').map(|(folder, _)| folder.to_owned());
    let mut folders: Vec<String> = all.iter().filter_map(folder).collect();
    folders.dedup();
    let chosen = match rng.u32(..12) {
        0 => all.clone(),
        1..4 if !folders.is_empty() => {
            let folder = format!("{}/", folders[rng.usize(..folders.len())]);
            all.into_iter().filter(|file| file.starts_with(&folder)).collect()
        }
        4..7 => some(all.iter().filter(top).cloned().collect(), rng),
        _ => some(all, rng),
    };
    let deletes = rng.bool();
    match deletes {
        true => delete(out, &chosen),
        false => chosen.iter().for_each(|file| damage(&out.join(file), rng)),
    }
    let damaged = chosen.iter().any(|file| file == STATE) && !deletes;
    let state = if damaged { fs::read(out.join(STATE)).ok() } else { None };
    Spoilt { files: chosen, state }
}

fn some(mut files: Vec<String>, rng: &mut Rng) -> Vec<String> {
    rng.shuffle(&mut files);
    files.truncate(rng.usize(1..=3));
    files
}

/// Files, and folders that have none any more.
fn delete(out: &Path, files: &[String]) {
    for file in files {
        let path = out.join(file);
        let _ = fs::remove_file(&path);
        let _ = path.parent().map(fs::remove_dir);
    }
}

/// Another number of bytes, other bytes, or one other bit.
fn damage(path: &Path, rng: &mut Rng) {
    let Ok(mut bytes) = fs::read(path) else { return };
    match rng.u32(..4) {
        0 => bytes.truncate(rng.usize(..=bytes.len())),
        1 => bytes.clear(),
        2 => {
            bytes.resize(rng.usize(1..200), 0);
            rng.fill(&mut bytes);
        }
        _ if !bytes.is_empty() => {
            let at = rng.usize(..bytes.len());
            bytes[at] ^= 1 << rng.u32(..8);
        }
        _ => bytes.push(rng.u8(..)),
    }
    let _ = fs::write(path, bytes);
}

/// All files of a campaign but the one that is about to appear, in a fixed order.
pub(super) fn files(out: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let entries =
        |dir: &Path| fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path());
    for path in entries(out) {
        if path.is_dir() {
            found.extend(entries(&path));
        } else {
            found.push(path);
        }
    }
    let relative = |path: PathBuf| Some(path.strip_prefix(out).ok()?.to_str()?.to_owned());
    let mut files: Vec<String> = found.into_iter().filter_map(relative).collect();
    files.retain(|file| file != ".writing");
    files.sort();
    files
}

pub(super) fn limit_files(pid: Option<Pid>, bytes: u64) {
    // A process that has ended has no limits.
    let _ = prlimit(pid, Resource::Fsize, Rlimit { current: Some(bytes), maximum: None });
}
