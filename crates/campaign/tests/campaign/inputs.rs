//! Seeds and suites from disk.

use std::fs;
use std::path::Path;

use campaign::{InputError, built_in_seeds, read_inputs, read_seeds};
use tempfile::TempDir;

use crate::fake::session;

#[test]
fn what_is_wrong_is_said() {
    let dir = TempDir::new().expect("temporary directory");
    assert!(matches!(read_inputs(Path::new("no/such/place")), Err(InputError::Missing(_))));
    let Err(error) = read_seeds(dir.path(), 10) else { panic!("accepted") };
    assert!(matches!(error, InputError::Empty(_)));
    assert!(error.to_string().contains("holds no files"));
}

#[test]
fn long_seeds_are_cut_and_named() {
    let dir = TempDir::new().expect("temporary directory");
    fs::write(dir.path().join("b"), "0123456789").expect("written");
    fs::create_dir(dir.path().join("a")).expect("made");
    fs::write(dir.path().join("a/x"), "01").expect("written");
    let (seeds, truncated) = read_seeds(dir.path(), 4).expect("readable");
    let shown: Vec<_> = seeds.iter().map(|seed| (seed.name.as_str(), &seed.input[..])).collect();
    assert_eq!(shown, [("x", &b"01"[..]), ("b", b"0123")]);
    assert_eq!(truncated.iter().map(|cut| cut.len).collect::<Vec<_>>(), [10]);
}

#[test]
fn an_output_directory_stands_for_its_inputs() {
    let dir = TempDir::new().expect("temporary directory");
    session(dir.path(), false, &[b"a", b"!"]).expect("a fresh directory");
    let inputs = read_inputs(dir.path()).expect("readable");
    assert!(inputs.iter().any(|input| input.bytes == b"!"));
    assert!(inputs.iter().all(|input| !input.path.ends_with("stats.json")));
}

#[test]
fn built_in_seeds_fit() {
    assert_eq!(built_in_seeds(0).len(), 1);
    assert_eq!(built_in_seeds(9).len(), 2);
}
