//! Runs a second of the strategy `mutate` against AFL++: against its fork server on programs, and
//! against its persistent mode on harnesses. Target: at least as many.

use crate::packages::list::{HARNESSES, PACKAGES, Package};
use crate::packages::tree::{Compilers, Tree, tool};
use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Programs that are measured if none is named.
const PROGRAMS: [&str; 8] = ["bc", "cmark", "cuetools", "expat", "mawk", "mujs", "yajl", "zlib"];

/// Which programs, where, and for how long each.
#[derive(clap::Args)]
pub struct Options {
    /// Packages to measure (eight programs and all harnesses if none is named)
    names: Vec<String>,
    /// Folder for sources and builds, used again by the next call
    #[arg(long, default_value = "target/packages")]
    work: PathBuf,
    /// Seconds of each of three campaigns of a fuzzer
    #[arg(long, default_value_t = 5)]
    seconds: u32,
}

/// The fuzzers take turns, and the best of this many campaigns counts: other load on the machine
/// only takes from it.
const ROUNDS: usize = 3;

pub fn run(options: &Options) -> Result<()> {
    std::fs::create_dir_all(&options.work)?;
    let work = options.work.canonicalize()?;
    println!("Runs a second: `mutate`, AFL++, ratio");
    for (package, mode) in subjects(&options.names) {
        match compare(package, &work, options.seconds) {
            Ok([ours, afl]) => {
                println!("  {} ({mode}): {ours:.0}, {afl:.0}, {:.1} x", package.name, ours / afl)
            }
            Err(error) => println!("  {}: {error:#}", package.name),
        }
    }
    Ok(())
}

/// Each with how AFL++ runs it.
fn subjects(names: &[String]) -> impl Iterator<Item = (&'static Package, &'static str)> {
    let programs = PACKAGES.iter().map(|package| (package, "fork server"));
    let harnesses = HARNESSES.iter().map(|package| (package, "persistent mode"));
    let is_usual =
        |name| PROGRAMS.contains(&name) || HARNESSES.iter().any(|harness| harness.name == name);
    programs.chain(harnesses).filter(move |(package, _)| match names.is_empty() {
        true => is_usual(package.name),
        false => names.iter().any(|name| name == package.name),
    })
}

fn compare(package: &Package, work: &Path, seconds: u32) -> Result<[f64; 2]> {
    let [ours, peer] = [Compilers::Tarragon, Compilers::Afl]
        .map(|compilers| Tree::build(package, compilers, work)?.program());
    let (ours, peer) = (ours?, peer?);
    let mut best = [0.0_f64; 2];
    for _ in 0..ROUNDS {
        let scratch = Scratch::new(package.seed)?;
        best[0] = best[0].max(scratch.tarragon(&ours, package.arguments, seconds)?);
        best[1] = best[1].max(scratch.afl(&peer, package.arguments, seconds)?);
    }
    Ok(best)
}

/// A folder with a seed, for one campaign of each.
struct Scratch {
    folder: tempfile::TempDir,
}

impl Scratch {
    /// Programs run here as somebody who may write nowhere else.
    fn new(seed: &str) -> Result<Scratch> {
        let folder = tempfile::tempdir()?;
        let everyone = std::fs::Permissions::from_mode(0o777);
        std::fs::set_permissions(folder.path(), everyone)?;
        std::fs::create_dir(folder.path().join("seeds"))?;
        std::fs::write(folder.path().join("seeds/seed"), seed)?;
        Ok(Scratch { folder })
    }

    fn tarragon(&self, program: &Path, arguments: &[&str], seconds: u32) -> Result<f64> {
        let mut command = Command::new(tool("tarragon")?);
        command.args(["fuzz", "--quiet", "--strategy", "mutate", "--seeds", "seeds"]);
        command.args(["--sanitizer", "off", "--lcov", "off", "--out", "tarragon", "--time"]);
        command.arg(format!("{seconds}s")).arg("--").arg(program).args(arguments);
        self.finish(command)?;
        let statistics = std::fs::read(self.folder.path().join("tarragon/stats.json"))?;
        let Statistics { runs, times } = serde_json::from_slice(&statistics)?;
        Ok(runs as f64 / times.total)
    }

    fn afl(&self, program: &Path, arguments: &[&str], seconds: u32) -> Result<f64> {
        // SAFETY: the call has no conditions.
        let is_root = unsafe { libc::geteuid() } == 0;
        let mut command = Command::new(if is_root { "setpriv" } else { "env" });
        if is_root {
            command.args(["--reuid=65534", "--clear-groups"]);
        }
        command.args(["afl-fuzz", "-i", "seeds", "-o", "afl", "-t", "1000", "-V"]);
        command.arg(seconds.to_string()).arg("--").arg(program).args(arguments);
        let settings =
            ["NO_UI", "SKIP_CPUFREQ", "NO_AFFINITY", "I_DONT_CARE_ABOUT_MISSING_CRASHES"];
        command.envs(settings.map(|setting| (format!("AFL_{setting}"), "1")));
        self.finish(command)?;
        let statistics =
            std::fs::read_to_string(self.folder.path().join("afl/default/fuzzer_stats"))?;
        let value = |name: &str| {
            let mut fields = statistics.lines().filter_map(|line| line.split_once(':'));
            let field = fields.find(|(field, _)| field.trim() == name);
            let number = field.and_then(|(_, value)| value.trim().parse::<f64>().ok());
            number.with_context(|| format!("no {name} in AFL++'s statistics"))
        };
        Ok(value("execs_done")? / value("run_time")?)
    }

    fn finish(&self, mut command: Command) -> Result<()> {
        let command = command.current_dir(self.folder.path()).stdin(Stdio::null());
        let output = command.output().with_context(|| format!("cannot start {command:?}"))?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "{command:?} failed: {said}");
        Ok(())
    }
}

#[derive(Deserialize)]
struct Statistics {
    runs: u64,
    times: Times,
}

#[derive(Deserialize)]
struct Times {
    total: f64,
}
