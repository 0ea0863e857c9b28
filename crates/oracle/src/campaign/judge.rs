//! What must hold after a session.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::Value;

use super::announced::{Announced, Plant};
use super::harm::{self, Harm};
use super::session::Ended;
use super::victim::{Victim, function};
use crate::Finding;

fn finding(class: &str, detail: impl Into<String>) -> Finding {
    Finding { class: class.to_owned(), detail: detail.into() }
}

/// Files that the next session must say something about, because they are damaged.
pub(super) fn expected_notes(out: &Path, announced: &Announced) -> Vec<&'static str> {
    let state: Option<Value> = fs::read(out.join("campaign.json"))
        .ok()
        .and_then(|state| serde_json::from_slice(&state).ok());
    let has_others = harm::files(out).iter().any(|file| file != "campaign.json");
    let search = fs::read(out.join(harm::STATE)).ok();
    let campaign = (state.is_none() && has_others).then_some("campaign.json");
    let search =
        (search.is_some() && search.as_ref() == announced.damaged_state()).then_some(harm::STATE);
    campaign.into_iter().chain(search).collect()
}

/// How a session may end.
pub(super) fn ending(
    ended: &Ended,
    harm: Option<&Harm>,
    disk_is_small: bool,
    notes: &[&str],
) -> Vec<Finding> {
    let mut findings = Vec::new();
    let Ended { errors, status, .. } = ended;
    if errors.contains("panicked") {
        findings.push(finding("panic", errors));
    }
    let denied = ["the disk is full", "ulimit -f"].iter().any(|text| errors.contains(text));
    let may_be_denied = disk_is_small || harm.is_some_and(Harm::denies_writing);
    let is_good = match status.as_ref().map(std::process::ExitStatus::code) {
        None => false,
        Some(Some(0 | 1)) => true,
        Some(Some(2)) => may_be_denied && denied || matches!(harm, Some(Harm::InterruptTwice)),
        Some(_) => harm.is_some_and(Harm::may_kill),
    };
    if !is_good {
        findings.push(finding("bad end", format!("{status:?}: {errors}")));
    }
    let said = ended.notes();
    let unsaid = notes.iter().filter(|name| !said.iter().any(|note| note.contains(**name)));
    // A session that was cut short may not have come to it.
    let unsaid = unsaid.filter(|_| ended.report().is_some());
    findings.extend(unsaid.map(|name| finding("damage not said", *name)));
    findings
}

/// Everything that was announced is there, and nothing is half there.
pub(super) fn files(
    victim: &Victim,
    out: &Path,
    announced: &Announced,
) -> Result<Vec<Finding>, String> {
    let mut findings = Vec::new();
    for (file, find) in announced.finds() {
        let Ok(input) = fs::read(out.join(file)) else {
            findings.push(finding("find lost", format!("{file}: {}", find.text)));
            continue;
        };
        if !find.is_accident() && !victim.bugs(&input)?.contains(&find.plant.1) {
            let detail = format!("{file}: {}: \"{}\"", find.text, input.escape_ascii());
            findings.push(finding("find does not show", detail));
        }
        let report = fs::read_to_string(out.join(&find.report)).unwrap_or_default();
        let is_about = if find.is_accident() {
            is_report(&report)
        } else {
            report.contains(&format!("({})", find.plant.1))
        };
        if !announced.is_harmed(&find.report) && !is_about {
            findings.push(finding("no report", format!("{}: {}", find.report, find.text)));
        }
    }
    for plant in announced.plants() {
        if !announced.finds().any(|(_, find)| find.plant == plant) {
            findings.push(finding("bug lost", format!("{plant:?}")));
        }
    }
    for (file, bytes) in announced.inputs() {
        if fs::read(out.join(file)).ok().as_ref() != Some(bytes) {
            findings.push(finding("input lost", file));
        }
    }
    findings.extend(half_files(victim, out, announced)?);
    Ok(findings)
}

/// Files of finds that make no sense.
fn half_files(victim: &Victim, out: &Path, announced: &Announced) -> Result<Vec<Finding>, String> {
    let mut findings = Vec::new();
    for file in harm::files(out).into_iter().filter(|file| !announced.is_harmed(file)) {
        let (folder, name) = file.split_once('/').unwrap_or(("", &file));
        let bytes = fs::read(out.join(&file)).unwrap_or_default();
        let makes_sense = match folder {
            "crashes" | "violations" => !victim.bugs(&bytes)?.is_empty(),
            "reports" => is_report(&String::from_utf8_lossy(&bytes)),
            _ => true,
        };
        if name.starts_with('.') || !makes_sense {
            findings.push(finding("half a file", &file));
        }
    }
    Ok(findings)
}

fn is_report(text: &str) -> bool {
    ["kind ", "property "].iter().any(|key| text.starts_with(key))
        && text.contains("\ninput, escaped:\n")
}

/// The report of the last session knows what all sessions announced.
pub(super) fn report(ended: &Ended, known: &BTreeSet<Plant>, out: &Path) -> Vec<Finding> {
    let Some(report) = ended.report() else { return Vec::new() };
    let list = |name: &str| report[name].as_array().cloned().unwrap_or_default();
    let [bugs, hangs, violations] = ["bugs", "hangs", "violations"].map(list);
    let frame = |bug: &Value| function(bug["stack"][0].as_str().or(bug["place"].as_str())?);
    let is_in =
        |list: &[Value], bug: &str| list.iter().filter_map(frame).any(|function| function == bug);
    let is_told = |(what, bug): &&Plant| match what.as_str() {
        "bug" => is_in(&bugs, bug),
        "hang" => is_in(&hangs, bug),
        // Where there is a bug, the violation is not told again.
        _ => is_in(&violations, bug) || is_in(&bugs, bug),
    };
    let untold = known.iter().filter(|plant| !is_told(plant));
    let mut findings: Vec<Finding> =
        untold.map(|plant| finding("not in the summary", format!("{plant:?}"))).collect();
    for find in bugs.iter().chain(&hangs).chain(&violations) {
        let file = find["file"].as_str().unwrap_or_default();
        if !out.join(file).is_file() {
            findings.push(finding("the summary names a file that is not there", file));
        }
    }
    findings
}

/// `tarragon triage` sees what was announced.
pub(super) fn triage(
    shown: Result<BTreeSet<String>, String>,
    announced: &Announced,
) -> Vec<Finding> {
    let shown = match shown {
        Ok(shown) => shown,
        Err(error) => return vec![finding("triage fails", error)],
    };
    let finds = announced.finds().filter(|(_, find)| find.plant.0 != "violation");
    let missing = finds.filter(|(_, find)| !find.is_accident() && !shown.contains(&find.plant.1));
    missing.map(|(file, find)| finding("not in triage", format!("{file}: {}", find.text))).collect()
}
