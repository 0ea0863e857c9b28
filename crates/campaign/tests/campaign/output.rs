//! Files of a campaign, and what a second session makes of them.

use std::cell::RefCell;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use campaign::{DirError, Display, DisplayMode, OutputDir};
use search::{Bug, BugKind, Diagnosis, KeepBy, SavedSearch};
use serde_json::Value;
use sites::SiteTable;
use tempfile::TempDir;

use crate::fake::{PROGRAM, Screen, session, session_on, sites};

/// Contents of a directory of inputs, by name.
fn files(dir: &Path, name: &str) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(dir.join(name)).expect("the directory is there");
    let mut files: Vec<_> = entries
        .map(|entry| entry.expect("readable").path())
        .map(|path| {
            (
                path.file_name().expect("a name").to_string_lossy().into_owned(),
                fs::read(path).expect("readable"),
            )
        })
        .collect();
    files.sort();
    files
}

fn json(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).expect("written")).expect("JSON")
}

#[test]
fn results_are_where_they_belong() {
    let dir = TempDir::new().expect("temporary directory");
    let end = session(dir.path(), false, &[b"a", b"!!!", b"?"]).expect("a fresh directory");
    assert!(end.unsaved.is_none() && !end.stop.is_error());
    let corpus = files(dir.path(), "corpus");
    assert_eq!(corpus.len(), end.report.corpus);
    assert_eq!(corpus[0], ("000001-seed-given".to_owned(), b"a".to_vec()));
    assert_eq!(
        files(dir.path(), "crashes"),
        [("000001-sigsegv".to_owned(), b"!".to_vec())],
        "the smallest input"
    );
    assert_eq!(files(dir.path(), "hangs"), [("000002-hang".to_owned(), b"?".to_vec())]);
    let reports = files(dir.path(), "reports");
    assert_eq!(reports.len(), 2);
    assert!(String::from_utf8_lossy(&reports[0].1).contains("something is wrong"));
    assert!(!dir.path().join(".writing").exists(), "no temporary file is left");
}

#[test]
fn statistics_have_their_shape() {
    let dir = TempDir::new().expect("temporary directory");
    session(dir.path(), false, &[b"!"]).expect("a fresh directory");
    let stats = json(&dir.path().join("stats.json"));
    assert_eq!(stats["runs"], 500);
    assert_eq!(stats["coverage"]["total"], 4);
    let growth = stats["growth"].as_array().expect("a list");
    assert_eq!(growth.len(), stats["corpus"]);
    assert_eq!(growth[growth.len() - 1]["covered"], stats["coverage"]["covered"]);
    assert_eq!(stats["bugs"][0]["file"], "crashes/000001-sigsegv");
    assert_eq!(stats["stopped"], "the number of runs was reached");
    for key in
        ["paths", "answers", "solver", "give_ups", "divergences", "seconds", "strategy", "optimism"]
    {
        assert!(!stats[key].is_null(), "{key} is missing");
    }
    let spent = stats["spent"].as_array().expect("a list");
    let sum = |key: &str| spent.iter().filter_map(|of| of[key].as_u64()).sum::<u64>();
    assert_eq!(sum("outcomes"), stats["coverage"]["covered"], "all outcomes are somebody's");
    let seconds: f64 = spent.iter().filter_map(|of| of["seconds"].as_f64()).sum();
    assert!(seconds > 0.0 && Some(seconds * 0.999) < stats["seconds"]["total"].as_f64());
    let summary = fs::read_to_string(dir.path().join("summary.txt")).expect("written");
    assert!(
        summary.contains("SIGSEGV after unknown place: crashes/000001-sigsegv (1 bytes"),
        "{summary}"
    );
}

#[test]
fn a_used_directory_is_not_touched_without_resume() {
    let dir = TempDir::new().expect("temporary directory");
    session(dir.path(), false, &[b"a"]).expect("a fresh directory");
    let before = files(dir.path(), "corpus");
    let Err(error) = session(dir.path(), false, &[b"zzz"]) else { panic!("accepted") };
    assert!(matches!(error, DirError::NotEmpty(_)));
    assert!(error.to_string().contains("--resume"));
    assert_eq!(files(dir.path(), "corpus"), before);
}

#[test]
fn only_campaigns_on_the_same_program_are_resumed() {
    let dir = TempDir::new().expect("temporary directory");
    fs::write(dir.path().join("thesis.tex"), "precious").expect("written");
    assert!(matches!(OutputDir::open(dir.path(), PROGRAM, true), Err(DirError::NotACampaign(_))));
    let dir = TempDir::new().expect("temporary directory");
    drop(OutputDir::open(dir.path(), "./other", false).expect("a fresh directory"));
    assert!(matches!(
        OutputDir::open(dir.path(), PROGRAM, true),
        Err(DirError::OtherProgram { .. })
    ));
}

#[test]
fn two_campaigns_do_not_share_a_directory() {
    let dir = TempDir::new().expect("temporary directory");
    let _first = OutputDir::open(dir.path(), PROGRAM, false).expect("a fresh directory");
    assert!(matches!(OutputDir::open(dir.path(), PROGRAM, true), Err(DirError::InUse(_))));
}

#[test]
fn a_resumed_campaign_goes_on_from_its_files() {
    let dir = TempDir::new().expect("temporary directory");
    session(dir.path(), false, &[b"a", b"!x", b"?"]).expect("a fresh directory");
    let before: Vec<_> = ["corpus", "crashes", "hangs"].map(|name| files(dir.path(), name)).into();
    let end = session(dir.path(), true, &[]).expect("resumed");
    let after: Vec<_> = ["corpus", "crashes", "hangs"].map(|name| files(dir.path(), name)).into();
    assert_eq!(before, after, "all that can be found was found; nothing is doubled");
    assert_eq!((end.report.earlier.sessions, end.report.earlier.runs), (1, 500));
    assert_eq!((end.report.bugs.len(), end.report.hangs.len()), (1, 1));
    assert_eq!(end.report.bugs[0].file, "crashes/000001-sigsegv", "known files keep their names");
    let state = json(&dir.path().join("campaign.json"));
    assert_eq!((&state["sessions"], &state["runs"]), (&Value::from(2), &Value::from(1000)));
}

#[test]
fn where_others_have_been_no_session_goes_on_that_keeps_all_paths() {
    let dir = TempDir::new().expect("temporary directory");
    let output = OutputDir::open(dir.path(), PROGRAM, false).expect("a fresh directory");
    let saved = SavedSearch { explored: vec![3], ..SavedSearch::default() };
    output.save_search(&saved, &sites(), KeepBy::Coverage).expect("written");
    let note = output.saved_search(&sites(), KeepBy::Paths).unwrap_err();
    assert!(note.contains("did not keep an input for each path"), "{note}");
    output.save_search(&saved, &sites(), KeepBy::Paths).expect("written");
    for kept_by in [KeepBy::Coverage, KeepBy::Paths] {
        assert_eq!(output.saved_search(&sites(), kept_by), Ok(Some(saved.clone())));
    }
}

#[test]
fn the_state_of_a_search_is_kept_for_the_same_build_only() {
    let dir = TempDir::new().expect("temporary directory");
    let output = OutputDir::open(dir.path(), PROGRAM, false).expect("a fresh directory");
    assert_eq!(output.saved_search(&sites(), KeepBy::Coverage), Ok(None));
    let saved = SavedSearch {
        explored: vec![3, 5],
        waiting: vec![b"x".to_vec()],
        ..SavedSearch::default()
    };
    output.save_search(&saved, &sites(), KeepBy::Coverage).expect("written");
    assert_eq!(output.saved_search(&sites(), KeepBy::Coverage), Ok(Some(saved)));
    let useless = |sites: &SiteTable| output.saved_search(sites, KeepBy::Coverage).unwrap_err();
    assert!(useless(&SiteTable::default()).contains("is about another build of the program"));
    let state = dir.path().join("search.state");
    let bytes = fs::read(&state).expect("written");
    for at in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 4;
        fs::write(&state, damaged).expect("written");
        assert!(useless(&sites()).contains("is damaged"), "byte {at}");
    }
    fs::write(&state, b"none").expect("written");
    assert!(useless(&sites()).contains("is damaged"));
}

#[test]
fn json_is_one_object_a_line_and_ends_with_the_report() {
    let dir = TempDir::new().expect("temporary directory");
    let screen = Screen::default();
    let display = Display::new(DisplayMode::Json, Box::new(screen.clone()));
    session_on(dir.path(), false, &[b"!"], display).expect("a fresh directory");
    let text = screen.text();
    let lines: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert!(lines.iter().any(|line| line["event"] == "bug"), "{text}");
    let last = &lines[lines.len() - 1];
    assert_eq!((&last["event"], &last["runs"]), (&Value::from("end"), &Value::from(500)));
}

/// Reads events the moment they are printed, and looks for the files that they name.
struct Reader {
    dir: PathBuf,
    seen: Rc<RefCell<Vec<Value>>>,
}

impl Write for Reader {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let event: Value = serde_json::from_slice(line).expect("one object a line");
        for file in ["file", "report", "was"].iter().filter_map(|key| event[key].as_str()) {
            assert!(self.dir.join(file).is_file(), "{event}");
        }
        if let Some(bytes) = event["bytes"].as_u64() {
            let file = event["file"].as_str().expect("a file");
            assert_eq!(fs::metadata(self.dir.join(file)).expect("a file").len(), bytes, "{event}");
        }
        self.seen.borrow_mut().push(event);
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn events_name_files_that_are_there() {
    let dir = TempDir::new().expect("temporary directory");
    let seen = Rc::default();
    let reader = Reader { dir: dir.path().to_owned(), seen: Rc::clone(&seen) };
    let display = Display::new(DisplayMode::Json, Box::new(reader));
    session_on(dir.path(), false, &[b"a", b"!!!", b"!", b"?"], display).expect("a fresh directory");
    let shown = |event: &Value| {
        let words = ["event", "what", "text", "file", "report"]
            .iter()
            .filter_map(|key| event[key].as_str());
        words.collect::<Vec<_>>().join(" ")
    };
    let all: Vec<String> = seen.borrow().iter().map(shown).collect();
    let crash = "bug SIGSEGV crashes/000001-sigsegv reports/000001-sigsegv.txt";
    let hang = "hang hang hang hangs/000002-hang reports/000002-hang.txt";
    assert_eq!(all[0], "input corpus/000001-seed-given");
    let crashes: Vec<&String> = all.iter().filter(|event| event.contains("crashes/")).collect();
    assert_eq!(crashes, [&format!("bug {crash}"), &format!("smaller {crash}")]);
    assert!(all.iter().any(|event| event == hang), "{all:#?}");
    assert_eq!(all[all.len() - 1], "end");
    let kept = all.iter().filter(|event| event.starts_with("input ")).count();
    assert_eq!(kept, files(dir.path(), "corpus").len());
}

#[test]
fn a_find_that_moves_is_there_until_it_was_told() {
    let dir = TempDir::new().expect("temporary directory");
    let mut output = OutputDir::open(dir.path(), PROGRAM, false).expect("a fresh directory");
    save(&mut output, &crash(1, b"12"), "it crashed");
    let saved = output.save_bug(&overflow(1, b"1"), "it was reported").expect("written");
    let before = saved.replaced.expect("another name");
    assert_eq!(names(dir.path(), "crashes"), ["000001-sigfpe", "000001-signed-overflow"]);
    output.remove(&before, &saved.file);
    assert_eq!(names(dir.path(), "crashes"), ["000001-signed-overflow"]);
}

#[test]
fn a_live_display_cleans_up_after_itself() {
    let dir = TempDir::new().expect("temporary directory");
    let screen = Screen::default();
    let display = Display::new(DisplayMode::Live, Box::new(screen.clone()));
    session_on(dir.path(), false, &[b"a"], display).expect("a fresh directory");
    let text = screen.text();
    assert!(text.contains("coverage  "), "{text}");
    assert!(text.ends_with("\x1b[4A\x1b[J"), "{text:?}");
}

fn bug(id: u32, kind: BugKind, reported: Option<&str>, input: &[u8]) -> Bug {
    let diagnosis = |kind: &str| Diagnosis {
        kind: kind.to_owned(),
        fatal: false,
        frames: Vec::new(),
        report: Vec::new(),
        hidden: None,
        rounds: None,
    };
    let diagnosis = reported.map(diagnosis);
    Bug {
        id,
        kind,
        site: 0,
        input: input.to_vec(),
        stderr: Vec::new(),
        diagnosis,
        plain: None,
        hits: 1,
        run: 1,
    }
}

pub fn overflow(id: u32, input: &[u8]) -> Bug {
    bug(id, BugKind::Reported, Some("signed-overflow"), input)
}

pub fn crash(id: u32, input: &[u8]) -> Bug {
    bug(id, BugKind::Crash(8), None, input)
}

/// What a recorder does, without telling anybody.
pub fn save(output: &mut OutputDir, bug: &Bug, report: &str) {
    let saved = output.save_bug(bug, report).expect("written");
    if let Some(replaced) = saved.replaced {
        output.remove(&replaced, &saved.file);
    }
}

pub fn names(dir: &Path, name: &str) -> Vec<String> {
    files(dir, name).into_iter().map(|(name, _)| name).collect()
}

#[test]
fn bugs_with_one_input_have_a_file_each() {
    let dir = TempDir::new().expect("temporary directory");
    let mut output = OutputDir::open(dir.path(), PROGRAM, false).expect("a fresh directory");
    save(&mut output, &crash(1, b"both"), "first");
    save(&mut output, &overflow(2, b"both"), "second");
    save(&mut output, &crash(1, b"1"), "first, smaller");
    let expected = [
        ("000001-sigfpe".to_owned(), b"1".to_vec()),
        ("000002-signed-overflow".to_owned(), b"both".to_vec()),
    ];
    assert_eq!(files(dir.path(), "crashes"), expected);
    let reports: Vec<_> = files(dir.path(), "reports").into_iter().map(|(_, text)| text).collect();
    assert_eq!(reports, [&b"first, smaller"[..], b"second"]);
    assert_eq!(output.bug_file(2).as_deref(), Some("crashes/000002-signed-overflow"));
}

#[test]
fn they_keep_them_in_later_sessions() {
    let dir = TempDir::new().expect("temporary directory");
    let mut output = OutputDir::open(dir.path(), PROGRAM, false).expect("a fresh directory");
    save(&mut output, &crash(1, b"both"), "first");
    save(&mut output, &overflow(2, b"both"), "second");
    drop(output);
    let mut output = OutputDir::open(dir.path(), PROGRAM, true).expect("resumed");
    let first = output.highest_number();
    // Found in another order this time.
    save(&mut output, &overflow(first + 1, b"both"), "second");
    save(&mut output, &crash(first + 2, b"both"), "first");
    assert_eq!(names(dir.path(), "crashes"), ["000001-sigfpe", "000002-signed-overflow"]);
    assert_eq!(output.bug_file(first + 1).as_deref(), Some("crashes/000002-signed-overflow"));
    save(&mut output, &crash(first + 2, b"1"), "first, smaller");
    let expected = [
        ("000001-sigfpe".to_owned(), b"1".to_vec()),
        ("000002-signed-overflow".to_owned(), b"both".to_vec()),
    ];
    assert_eq!(files(dir.path(), "crashes"), expected);
}

#[test]
fn a_bug_that_shows_itself_in_another_way_keeps_its_number() {
    let dir = TempDir::new().expect("temporary directory");
    let mut output = OutputDir::open(dir.path(), PROGRAM, false).expect("a fresh directory");
    save(&mut output, &crash(1, b"12"), "it crashed");
    save(&mut output, &overflow(1, b"1"), "it was reported");
    assert_eq!(
        files(dir.path(), "crashes"),
        [("000001-signed-overflow".to_owned(), b"1".to_vec())]
    );
    assert_eq!(names(dir.path(), "reports"), ["000001-signed-overflow.txt"]);
}
