//! Directories in which somebody deleted or damaged something.

use std::fs;
use std::path::Path;

use campaign::{Display, DisplayMode, OutputDir, read_bugs, read_inputs};
use search::Bug;
use tempfile::TempDir;

use crate::fake::{PROGRAM, session, session_in};
use crate::output::{crash, names, overflow, save};

/// The output of a session that found a crash and a hang.
fn used() -> TempDir {
    let dir = TempDir::new().expect("temporary directory");
    session(dir.path(), false, &[b"a", b"!", b"?"]).expect("a fresh directory");
    dir
}

fn fresh(dir: &Path) -> OutputDir {
    OutputDir::open(dir, PROGRAM, false).expect("a fresh directory")
}

fn resumed(dir: &Path) -> OutputDir {
    OutputDir::open(dir, PROGRAM, true).expect("resumed")
}

fn report(kind: &str, place: &str) -> String {
    format!("kind        {kind}\nwhere       {place}\n")
}

#[test]
fn a_campaign_goes_on_without_its_state_and_says_so() {
    for damage in [None, Some(&b""[..]), Some(b"{\"program\":")] {
        let dir = used();
        let state = dir.path().join("campaign.json");
        match damage {
            Some(bytes) => fs::write(&state, bytes).expect("written"),
            None => fs::remove_file(&state).expect("removed"),
        }
        let end = session(dir.path(), true, &[]).expect("resumed");
        assert_eq!((end.report.bugs.len(), end.report.hangs.len()), (1, 1), "from the inputs");
        let notes = &end.report.about.notes;
        assert!(
            notes[0].starts_with("campaign.json is ") && notes[0].contains("goes on"),
            "{notes:?}"
        );
        session(dir.path(), true, &[]).expect("the state is there again");
    }
}

#[test]
fn a_directory_of_which_almost_nothing_is_left_is_taken() {
    let dir = TempDir::new().expect("temporary directory");
    fs::create_dir(dir.path().join("hangs")).expect("made");
    assert!(resumed(dir.path()).notes()[0].starts_with("campaign.json is missing"));
    fs::write(dir.path().join("campaign.json"), "").expect("damaged");
    fs::write(dir.path().join("thesis.tex"), "precious").expect("written");
    resumed(dir.path());
}

#[test]
fn a_first_file_that_was_never_complete_is_nothing() {
    let dir = TempDir::new().expect("temporary directory");
    fs::write(dir.path().join(".writing"), "{").expect("written");
    drop(fresh(dir.path()));
    assert!(!dir.path().join(".writing").exists());
}

#[test]
fn directories_that_vanish_are_made_again() {
    let dir = TempDir::new().expect("temporary directory");
    let mut output = fresh(dir.path());
    for name in ["crashes", "reports"] {
        fs::remove_dir_all(dir.path().join(name)).expect("removed");
    }
    save(&mut output, &crash(1, b"1"), "first");
    assert_eq!(names(dir.path(), "crashes"), ["000001-sigfpe"]);
    fs::remove_dir_all(dir.path()).expect("removed");
    save(&mut output, &overflow(2, b"2"), "second");
    assert_eq!(names(dir.path(), "reports"), ["000002-signed-overflow.txt"]);
    output.save_state(1, 1.0).expect("written");
    drop(output);
    resumed(dir.path());
}

#[test]
fn what_cannot_be_read_is_left_out_and_named() {
    let dir = used();
    fs::create_dir(dir.path().join("crashes/000000-odd")).expect("made");
    let output = resumed(dir.path());
    assert!(
        output.notes()[0].starts_with("crashes/000000-odd cannot be read"),
        "{:?}",
        output.notes()
    );
    let end = session_in(output, &[], Display::new(DisplayMode::Quiet, Box::new(std::io::sink())));
    assert_eq!((end.report.bugs.len(), end.report.hangs.len()), (1, 1), "all others are used");
}

#[test]
fn reports_whose_inputs_are_gone_are_named() {
    let dir = used();
    assert!(resumed(dir.path()).notes().is_empty());
    fs::remove_dir_all(dir.path().join("crashes")).expect("removed");
    let notes = resumed(dir.path()).notes().to_vec();
    assert_eq!(notes, ["the input that reports/000001-sigsegv.txt is about is missing"]);
}

#[test]
fn a_file_that_somebody_removed_is_written_again() {
    let dir = TempDir::new().expect("temporary directory");
    save(&mut fresh(dir.path()), &crash(1, b"1"), "first");
    let mut output = resumed(dir.path());
    fs::remove_file(dir.path().join("crashes/000001-sigfpe")).expect("removed");
    save(&mut output, &crash(2, b"1"), "first");
    assert_eq!(fs::read(dir.path().join("crashes/000001-sigfpe")).expect("there"), b"1");
}

#[test]
fn no_find_takes_the_file_of_another() {
    let dir = TempDir::new().expect("temporary directory");
    let (first, second) = (report("FPE", "a.c:1:1 (f)"), report("FPE", "a.c:2:2 (g)"));
    save(&mut fresh(dir.path()), &crash(1, b"both"), &first);
    let mut output = resumed(dir.path());
    // The same input, kind and title, but another place; then another title.
    save(&mut output, &crash(2, b"both"), &second);
    save(&mut output, &crash(2, b"2"), &second);
    save(&mut output, &overflow(3, b"both"), "kind        signed-overflow");
    let kept = fs::read(dir.path().join("crashes/000001-sigfpe")).expect("still there");
    assert_eq!(kept, b"both");
    // Its own find has it.
    save(&mut output, &crash(4, b"both"), &first);
    assert_eq!(output.bug_file(4).as_deref(), Some("crashes/000001-sigfpe"));
}

#[test]
fn a_find_goes_back_to_its_earlier_file() {
    let dir = TempDir::new().expect("temporary directory");
    let text = report("FPE", "a.c:1:1 (f)");
    let small = |id: u32| -> Bug { crash(id, b"1") };
    save(&mut fresh(dir.path()), &small(1), &text);
    let mut output = resumed(dir.path());
    save(&mut output, &crash(2, b"larger"), &text);
    assert_eq!(names(dir.path(), "crashes"), ["000001-sigfpe", "000002-sigfpe"]);
    save(&mut output, &small(2), &report("FPE", "a.c:7:1 (f)"));
    assert_eq!(names(dir.path(), "crashes"), ["000001-sigfpe"]);
    assert_eq!(names(dir.path(), "reports"), ["000001-sigfpe.txt"]);
}

#[test]
fn a_damaged_campaign_still_stands_for_its_inputs() {
    for lost in ["campaign.json", "corpus"] {
        let dir = used();
        let path = dir.path().join(lost);
        fs::remove_dir_all(&path).or_else(|_| fs::remove_file(&path)).expect("removed");
        let inputs = read_inputs(dir.path()).expect("readable");
        assert!(inputs.iter().all(|input| !input.path.ends_with("stats.json")), "{lost}");
        let bugs = read_bugs(dir.path(), campaign::Hangs::Apart).expect("readable");
        assert_eq!(bugs.len(), 2, "{lost}");
    }
}
