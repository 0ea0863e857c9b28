//! Short campaigns for programs that a test writes.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// Builds `source` in `dir` and returns the statistics of a short campaign.
#[allow(dead_code, reason = "not every test binary has one campaign for each program")]
pub fn fuzz(
    dir: &Path,
    source: &str,
    flags: &[&str],
    options: &[&str],
    arguments: &[&str],
) -> Value {
    let tarragon = || tarragon(dir);
    std::fs::write(dir.join("program.c"), source).expect("written");
    let built = tarragon().args(["cc", "-g", "program.c", "-o", "program"]).args(flags).status();
    assert!(built.expect("starts").success());
    let runs = if options.contains(&"--max-runs") { &[][..] } else { &["--max-runs", "1000"][..] };
    campaign(dir, &[runs, options].concat(), arguments)
}

/// The statistics of another session of that campaign.
#[allow(dead_code, reason = "not every test binary resumes")]
pub fn resume(dir: &Path, options: &[&str]) -> Value {
    campaign(dir, &[&["--max-runs", "1000", "--resume"], options].concat(), &[])
}

pub fn tarragon(dir: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tarragon"));
    command.current_dir(dir).env("TARRAGON_CACHE", dir.join("cache"));
    command
}

#[allow(dead_code, reason = "as said")]
fn campaign(dir: &Path, options: &[&str], arguments: &[&str]) -> Value {
    let mut command = tarragon(dir);
    command.args(["fuzz", "--quiet", "--out", "out"]).args(options).args(["--", "./program"]);
    command.args(arguments).status().expect("starts");
    let stats = std::fs::read(dir.join("out/stats.json")).expect("statistics");
    serde_json::from_slice(&stats).expect("JSON")
}

/// Kinds and innermost frames, with paths cut to the file's name.
#[allow(dead_code, reason = "not every test binary looks for bugs")]
pub fn bugs(stats: &Value) -> Vec<String> {
    let list = stats["bugs"].as_array().expect("a list");
    let text = |bug: &Value| {
        let frame = bug["stack"][0].as_str().unwrap_or("no stack");
        let kind = bug["kind"].as_str().unwrap_or_default();
        format!("{kind} in {}", frame.rsplit('/').next().unwrap_or(frame))
    };
    let mut bugs: Vec<String> = list.iter().map(text).collect();
    bugs.sort();
    bugs
}
