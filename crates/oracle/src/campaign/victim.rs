//! The program that campaigns are about, and what it says about inputs.

use std::collections::{BTreeSet, HashMap};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;

use serde_json::Value;
use tempfile::TempDir;

use crate::checks::beside;

const SOURCE: &str = include_str!("victim.c");

/// Time limits of its runs: there is a bug that takes all of it.
pub(super) const TIMEOUT: &str = "200ms";

/// Of runs whose verdict counts, on a machine that has other things to do.
const LONG_TIMEOUT: &str = "2s";

/// The only bug that is a hang.
pub(super) const ENDLESS: &str = "spins";

/// Built once, for all moments.
pub struct Victim {
    folder: TempDir,
    /// The bugs of inputs that were asked about.
    known: Mutex<HashMap<Vec<u8>, BTreeSet<String>>>,
}

impl Victim {
    pub fn build() -> Result<Victim, String> {
        let folder = TempDir::new().map_err(|error| error.to_string())?;
        let victim = Victim { folder, known: Mutex::default() };
        std::fs::write(victim.path("victim.c"), SOURCE).map_err(|error| error.to_string())?;
        victim.compile(Command::new("clang-22").arg("-DTELLING"), "telling")?;
        victim.compile(&mut Command::new(beside("tarragon-cc")?), "victim")?;
        victim.write_seeds()?;
        // Its variants are made here, and later found in the cache.
        let out = victim.path("first");
        let options = ["--quiet", "--lcov", "off", "--max-runs", "1", "--out"];
        let made = run(victim.tarragon("fuzz")?.args(options).arg(out).args(["--", "./victim"]))?;
        made.status.success().then_some(victim).ok_or_else(|| text(&made.stderr))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn compile(&self, command: &mut Command, name: &str) -> Result<(), String> {
        let source = self.path("victim.c");
        let made =
            run(command.args(["-O0", "-g", "-w"]).arg(source).arg("-o").arg(self.path(name)))?;
        made.status.success().then_some(()).ok_or_else(|| text(&made.stderr))
    }

    /// Inputs that are longer than they need to be, so that smaller ones replace them.
    fn write_seeds(&self) -> Result<(), String> {
        let seeds = ["d0 longer", "t~ longer", "r9 longer", "oo longer", "plain"];
        std::fs::create_dir(self.path("seeds")).map_err(|error| error.to_string())?;
        let write = |seed: &&str| std::fs::write(self.path("seeds").join(&seed[..2]), seed);
        seeds.iter().try_for_each(write).map_err(|error| error.to_string())
    }

    /// A command of Tarragon, in the folder of the victim.
    pub(super) fn tarragon(&self, name: &str) -> Result<Command, String> {
        let mut command = Command::new(beside("tarragon")?);
        command
            .arg(name)
            .current_dir(self.folder.path())
            .env("TARRAGON_CACHE", self.path("variants"));
        Ok(command)
    }

    /// The bugs that an input shows.
    pub(super) fn bugs(&self, input: &[u8]) -> Result<BTreeSet<String>, String> {
        let lock = || self.known.lock().map_err(|error| error.to_string());
        if let Some(bugs) = lock()?.get(input) {
            return Ok(bugs.clone());
        }
        let mut child = Command::new(self.path("telling"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| error.to_string())?;
        if let Some(mut stdin) = child.stdin.take() {
            // It reads as much as it wants.
            let _ = stdin.write_all(input);
        }
        let told = child.wait_with_output().map_err(|error| error.to_string())?;
        let bugs: BTreeSet<String> = text(&told.stdout).lines().map(str::to_owned).collect();
        lock()?.insert(input.to_vec(), bugs.clone());
        Ok(bugs)
    }

    /// The bugs and hangs that `tarragon triage` still sees in a campaign.
    /// An error if it fails.
    pub(super) fn triage(&self, out: &Path) -> Result<Result<BTreeSet<String>, String>, String> {
        let options = ["--json", "--timeout", LONG_TIMEOUT];
        let done = run(self.tarragon("triage")?.args(options).arg(out).args(["--", "./victim"]))?;
        let shown = text(&done.stdout);
        let last = shown.lines().last().unwrap_or_default();
        let Ok(last) = serde_json::from_str::<Value>(last) else {
            return Ok(Err(text(&done.stderr)));
        };
        let causes = last["causes"].as_array().into_iter().flatten();
        Ok(Ok(causes.filter_map(|cause| function(cause["cause"].as_str()?)).collect()))
    }
}

/// `divides` of `SIGFPE (FPE) in victim.c:10:7 (divides)`.
pub(super) fn function(text: &str) -> Option<String> {
    Some(text.rsplit_once(" (")?.1.strip_suffix(')')?.to_owned())
}

fn run(command: &mut Command) -> Result<std::process::Output, String> {
    command.stdin(Stdio::null()).output().map_err(|error| error.to_string())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
