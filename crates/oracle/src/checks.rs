//! The oracle of the checks: clang's sanitizers say which planted errors show on which inputs.
//!
//! Inputs with one leaf in the dry build do the same, so that one of them is asked about.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs::File;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::ast::Program;
use crate::batch::Leaves;
use crate::plants::PLANTS;
use crate::{Finding, Kind, Oracle, print};

const MAX_RUNS: &str = "800";

#[derive(Clone, Debug, Default)]
pub struct Summary {
    pub programs: u64,
    /// Inputs that clang's build was asked about.
    pub asked: u64,
    /// Searches that called themselves complete.
    pub complete: u64,
    /// By kind of error: in how many programs it shows, and in how many of these it was reported.
    pub plants: BTreeMap<&'static str, (u64, u64)>,
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Summary { programs, asked, complete, plants } = self;
        write!(
            f,
            "checks: {programs} programs, {asked} inputs in clang's build, {complete} searches \
             complete"
        )?;
        let sum = |part: fn(&(u64, u64)) -> u64| plants.values().map(part).sum::<u64>();
        write!(
            f,
            "\n  {} errors show, {} were reported",
            sum(|counts| counts.0),
            sum(|counts| counts.1)
        )?;
        let missed = plants.iter().filter(|(_, (shows, reported))| reported < shows);
        for (name, (shows, reported)) in missed {
            write!(f, "\n  {name}: {shows} show, {reported} were reported")?;
        }
        Ok(())
    }
}

/// See the module.
pub struct ChecksOracle;

impl Oracle for ChecksOracle {
    const KIND: Kind = Kind::Checks;
    type Summary = Summary;

    fn judge(programs: &[Program], summary: &mut Summary) -> Result<Vec<Vec<Finding>>, String> {
        let builds = Builds::new(programs)?;
        let numbers = 0..programs.len();
        numbers.map(|number| builds.judge(number, programs[number].bytes, summary)).collect()
    }
}

/// A file of programs, built in three ways.
struct Builds {
    directory: TempDir,
}

/// What a campaign said about a program.
struct Campaign {
    complete: bool,
    text: String,
    /// The planted errors that it reported, each with the input that shows it.
    reported: Vec<(Option<usize>, Vec<u8>, String)>,
}

impl Builds {
    fn new(programs: &[Program]) -> Result<Builds, String> {
        let directory = TempDir::new().map_err(|error| error.to_string())?;
        let builds = Builds { directory };
        let source = builds.path("random.c");
        std::fs::write(&source, print::file(programs)).map_err(|error| error.to_string())?;
        let clang = || Command::new("clang-22");
        builds.compile(clang().arg("-DDRY"), "dry")?;
        builds.compile(clang().args(["-DTELLING", "-fsanitize=address,undefined"]), "clang")?;
        builds.compile(&mut Command::new(beside("tarragon-cc")?), "built")?;
        Ok(builds)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn compile(&self, command: &mut Command, name: &str) -> Result<(), String> {
        let command = command
            .args(["-O0", "-g", "-w"])
            .arg(self.path("random.c"))
            .arg("-o")
            .arg(self.path(name));
        let output = command.output().map_err(|error| error.to_string())?;
        match output.status.success() {
            true => Ok(()),
            false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        }
    }

    fn judge(
        &self,
        number: usize,
        bytes: usize,
        summary: &mut Summary,
    ) -> Result<Vec<Finding>, String> {
        let campaign = self.campaign(number, bytes)?;
        summary.programs += 1;
        summary.complete += u64::from(campaign.complete);
        let shown = self.errors_that_show(number, bytes, summary)?;
        let mut findings = Vec::new();
        for (plant, input) in shown {
            let name = PLANTS[plant].name;
            let is_reported =
                campaign.reported.iter().any(|(reported, ..)| *reported == Some(plant));
            let (shows, reported) = summary.plants.entry(name).or_default();
            (*shows, *reported) = (*shows + 1, *reported + u64::from(is_reported));
            if !is_reported {
                let how = if campaign.complete { "missed" } else { "missed, not complete" };
                let detail = format!("shows on \"{}\"; {}", input.escape_ascii(), campaign.text);
                findings.push(Finding { class: format!("{how}: {name}"), detail });
            }
        }
        for (plant, input, title) in &campaign.reported {
            let confirmed = self.ask(number, input)?;
            if !plant.is_some_and(|plant| confirmed.contains(&plant)) {
                let name = plant.map_or("no planted error", |plant| PLANTS[plant].name);
                let detail = format!("{title} on \"{}\"", input.escape_ascii());
                findings.push(Finding { class: format!("unconfirmed: {name}"), detail });
            }
        }
        Ok(findings)
    }

    /// The planted errors that show, each with an input.
    fn errors_that_show(
        &self,
        number: usize,
        bytes: usize,
        summary: &mut Summary,
    ) -> Result<BTreeMap<usize, Vec<u8>>, String> {
        let leaves = Leaves::enumerate(&self.path("dry"), number, bytes)?;
        let inputs = leaves.representatives(bytes..=bytes);
        summary.asked += inputs.len() as u64;
        let mut shown = BTreeMap::new();
        for input in inputs.into_values() {
            for plant in self.ask(number, &input)? {
                shown.entry(plant).or_insert_with(|| input.clone());
            }
        }
        Ok(shown)
    }

    /// The planted errors that clang's sanitizers find on an input.
    fn ask(&self, number: usize, input: &[u8]) -> Result<BTreeSet<usize>, String> {
        let file = self.path("input");
        std::fs::write(&file, input).map_err(|error| error.to_string())?;
        let output = Command::new(self.path("clang"))
            .arg(number.to_string())
            .env("ASAN_OPTIONS", "symbolize=0:detect_leaks=0")
            .env("UBSAN_OPTIONS", "symbolize=0")
            .stdin(Stdio::from(File::open(&file).map_err(|error| error.to_string())?))
            .output()
            .map_err(|error| error.to_string())?;
        let (mut plant, mut found) = (None, BTreeSet::new());
        for line in String::from_utf8_lossy(&output.stderr).lines() {
            if let Some(number) = line.strip_prefix("plant ") {
                plant = number.parse().ok();
            } else if line.contains("ERROR: AddressSanitizer") || line.contains("runtime error:") {
                found.insert(
                    plant.ok_or_else(|| format!("a program with an error of its own: {line}"))?,
                );
            }
        }
        found.extend(plant.filter(|_| output.status.signal().is_some()));
        Ok(found)
    }

    fn campaign(&self, number: usize, bytes: usize) -> Result<Campaign, String> {
        let out = self.path(&format!("out-{number}"));
        let output = Command::new(beside("tarragon")?)
            .args(["fuzz", "--exhaustive", "--quiet", "--lcov", "off", "--max-runs", MAX_RUNS])
            .args(["--fixed-len", &bytes.to_string(), "--out"])
            .arg(&out)
            .arg("--")
            .arg(self.path("built"))
            .arg(number.to_string())
            .current_dir(self.directory.path())
            .env("TARRAGON_CACHE", self.path("variants"))
            .output()
            .map_err(|error| error.to_string())?;
        if output.status.code().is_none_or(|code| code > 1) {
            return Err(format!("tarragon fuzz: {}", String::from_utf8_lossy(&output.stderr)));
        }
        read_campaign(&out, number)
    }
}

fn read_campaign(out: &Path, number: usize) -> Result<Campaign, String> {
    let stats = std::fs::read(out.join("stats.json")).map_err(|error| error.to_string())?;
    let stats: Value = serde_json::from_slice(&stats).map_err(|error| error.to_string())?;
    let claim = &stats["completeness"];
    let mut reported = Vec::new();
    for bug in stats["bugs"].as_array().into_iter().flatten() {
        let file = out.join(bug["file"].as_str().unwrap_or_default());
        let input = std::fs::read(&file).map_err(|error| format!("{}: {error}", file.display()))?;
        let plant = (0..PLANTS.len()).find(|plant| {
            let name = format!("(plant_{number}_{plant})");
            bug["stack"]
                .as_array()
                .into_iter()
                .flatten()
                .any(|f| f.as_str().is_some_and(|f| f.ends_with(&name)))
        });
        reported.push((plant, input, bug["kind"].as_str().unwrap_or_default().to_owned()));
    }
    let text = claim["text"].as_str().unwrap_or_default().to_owned();
    Ok(Campaign { complete: claim["complete"] == true, text, reported })
}

/// A program of this workspace, which lies beside the one that runs, or beside its folder if that
/// is a test.
pub(crate) fn beside(name: &str) -> Result<PathBuf, String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let found =
        own.ancestors().skip(1).take(2).map(|folder| folder.join(name)).find(|file| file.is_file());
    found.ok_or_else(|| format!("{name} is missing: cargo build --workspace --bins makes it"))
}
