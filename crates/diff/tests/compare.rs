//! Classes, tolerance, normalisers, stability.

use std::collections::BTreeMap;

use diff::{
    Aspect, Class, Compared, Difference, Kind, Normaliser, Observation, Rules, Side, TokenKind,
    compare,
};
use proptest::prelude::*;
use run::Outcome;

fn run(outcome: Outcome, stdout: &str) -> Observation {
    let (stdout, stderr) = (stdout.into(), Vec::new());
    Observation { outcome, stdout, stderr, files: BTreeMap::new() }
}

fn exit(code: i32, stdout: &str) -> Observation {
    run(Outcome::Exit(code), stdout)
}

fn difference(rules: &Rules, a: &Observation, b: &Observation) -> Option<Difference> {
    match compare(rules, [a, b]) {
        Compared::Different(difference) => Some(difference),
        Compared::Same => None,
        Compared::Unfinished => panic!("unfinished"),
    }
}

fn class(rules: &Rules, a: &Observation, b: &Observation) -> Option<Class> {
    difference(rules, a, b).map(|difference| difference.class)
}

#[test]
fn classes_are_kept_apart() {
    let rules = Rules::default();
    let (good, bad) = (exit(0, "1\n"), exit(1, "error"));
    let crash = run(Outcome::Signal(11), "");
    assert_eq!(class(&rules, &good, &good), None);
    assert_eq!(class(&rules, &bad, &good), Some(Class::Rejects(Side::A)));
    assert_eq!(class(&rules, &good, &bad), Some(Class::Rejects(Side::B)));
    assert_eq!(class(&rules, &crash, &bad), Some(Class::Crashes(Side::A)));
    assert_eq!(class(&rules, &good, &crash), Some(Class::Crashes(Side::B)));
    assert_eq!(class(&rules, &good, &exit(0, "2\n")), Some(Class::BothAccept));
    assert_eq!(class(&rules, &bad, &exit(2, "another message")), None, "both reject");
    assert_eq!(class(&rules, &crash, &run(Outcome::Signal(6), "")), None, "both crash");
}

#[test]
fn limits_say_nothing() {
    let good = exit(0, "");
    for outcome in [Outcome::Timeout, Outcome::OutOfMemory, Outcome::Signal(25)] {
        let ended = run(outcome, "");
        assert_eq!(compare(&Rules::default(), [&good, &ended]), Compared::Unfinished);
        assert_eq!(compare(&Rules::default(), [&ended, &good]), Compared::Unfinished);
    }
}

#[test]
fn codes_that_reject_can_be_named() {
    let rules = Rules { rejects: vec![3], ..Rules::default() };
    assert_eq!(class(&rules, &exit(3, ""), &exit(0, "")), Some(Class::Rejects(Side::A)));
    let other = difference(&rules, &exit(1, ""), &exit(0, "")).expect("other codes are compared");
    assert_eq!(other.class, Class::BothAccept);
    assert_eq!(other.kinds().collect::<Vec<_>>(), [&Kind::Exit]);
}

#[test]
fn aspects_can_be_ignored() {
    let rules = |aspects: &[Aspect]| Rules {
        aspects: aspects.iter().copied().collect(),
        ..Rules::default()
    };
    let (one, other) = (exit(0, "1"), exit(1, "1"));
    assert_eq!(class(&rules(&[Aspect::Stdout]), &one, &other), None);
    assert!(class(&rules(&[Aspect::Exit]), &one, &other).is_some());
    assert_eq!(class(&rules(&[Aspect::Exit]), &one, &exit(0, "2")), None);
    let loud = Observation { stderr: b"warning".into(), ..one.clone() };
    assert_eq!(class(&Rules::default(), &one, &loud), None, "not unless asked for");
    assert!(class(&rules(&[Aspect::Stderr]), &one, &loud).is_some());
}

#[test]
fn files_are_compared_by_name() {
    let with = |files: &[(&str, &str)]| {
        let files = files.iter().map(|(name, text)| ((*name).to_owned(), (*text).into()));
        Observation { files: files.collect(), ..exit(0, "") }
    };
    let kind = |a: &[(&str, &str)], b: &[(&str, &str)]| {
        let found = difference(&Rules::default(), &with(a), &with(b));
        found.map(|found| found.mismatches[0].kind.clone())
    };
    assert_eq!(kind(&[("x", "1")], &[("x", "1")]), None);
    assert_eq!(kind(&[("x", "1")], &[]), Some(Kind::File(Side::A)));
    assert_eq!(kind(&[], &[("x", "1")]), Some(Kind::File(Side::B)));
    let parted = Kind::Content(TokenKind::Number, TokenKind::Word);
    assert_eq!(kind(&[("x", "1")], &[("x", "one")]), Some(parted));
}

#[test]
fn places_are_shown() {
    let found = difference(&Rules::default(), &exit(0, "a\nb 1\n"), &exit(0, "a\nb 2\n"));
    let mismatch = found.expect("a difference").mismatches[0].clone();
    assert_eq!(mismatch.to_string(), "stdout, line 2: A has `1`, B has `2`");
}

#[test]
fn outputs_are_normalised_first() {
    let normalisers = vec![Normaliser::parse("-nan=nan").expect("a normaliser")];
    let rules = Rules { normalisers, ..Rules::default() };
    assert_eq!(class(&rules, &exit(0, "x nan"), &exit(0, "x -nan")), None);
    assert!(class(&rules, &exit(0, "x nan"), &exit(0, "x inf")).is_some());
}

#[test]
fn what_changes_by_itself_is_no_difference() {
    let rules = Rules::default();
    let (a, b, later) = (exit(0, "0x1"), exit(0, "0x2"), exit(0, "0x3"));
    let found = difference(&rules, &a, &b).expect("a difference");
    assert!(found.is_stable(&rules, [&a, &b], [&a, &b]));
    assert!(!found.is_stable(&rules, [&a, &b], [&later, &b]));
    assert!(!found.is_stable(&rules, [&a, &b], [&a, &later]));
    // What a program prints before it rejects is not compared, so that it may change.
    let bad = exit(1, "at 0x1");
    let found = difference(&rules, &bad, &b).expect("a difference");
    assert!(found.is_stable(&rules, [&bad, &b], [&exit(1, "at 0x2"), &b]));
    assert!(!found.is_stable(&rules, [&bad, &b], [&exit(0, "at 0x2"), &b]));
}

fn outcome() -> impl Strategy<Value = Outcome> {
    prop_oneof![
        (0..3).prop_map(Outcome::Exit),
        (6..9).prop_map(Outcome::Signal),
        Just(Outcome::Timeout)
    ]
}

fn observation() -> impl Strategy<Value = Observation> {
    (outcome(), "[a1. \n-]{0,6}", prop::option::of("[a1]{0,2}")).prop_map(|(outcome, out, file)| {
        let files = file.map(|text| ("f".to_owned(), text.into_bytes())).into_iter().collect();
        Observation { outcome, stdout: out.into_bytes(), stderr: Vec::new(), files }
    })
}

fn mirrored(class: Class) -> Class {
    match class {
        Class::Crashes(side) => Class::Crashes(side.other()),
        Class::Rejects(side) => Class::Rejects(side.other()),
        Class::BothAccept => Class::BothAccept,
    }
}

proptest! {
    #[test]
    fn sides_are_treated_alike(a in observation(), b in observation()) {
        let rules = Rules::default();
        match (compare(&rules, [&a, &b]), compare(&rules, [&b, &a])) {
            (Compared::Different(one), Compared::Different(other)) => {
                prop_assert_eq!(one.class, mirrored(other.class));
                prop_assert_eq!(one.mismatches.len(), other.mismatches.len());
            }
            (one, other) => prop_assert_eq!(one, other),
        }
    }

    #[test]
    fn nothing_differs_from_itself(a in observation()) {
        let compared = compare(&Rules::default(), [&a, &a]);
        prop_assert!(!matches!(compared, Compared::Different(_)));
    }

    /// The slow and obvious answer: the same bytes.
    #[test]
    fn without_a_tolerance_bytes_count(a in "[a1.e \n-]{0,8}", b in "[a1.e \n-]{0,8}") {
        let found = class(&Rules::default(), &exit(0, &a), &exit(0, &b));
        prop_assert_eq!(found.is_none(), a == b);
    }

    #[test]
    fn numbers_count_within_the_tolerance(x in -1e6..1e6f64, error in -2e-3..2e-3f64) {
        let rules = Rules { tolerance: Some(1e-3), ..Rules::default() };
        let y = x + error * x.abs().max(1.0);
        let found = class(&rules, &exit(0, &format!("v={x:e};")), &exit(0, &format!("v={y};")));
        let allowed = (x - y).abs() <= 1e-3 * x.abs().max(y.abs()).max(1.0);
        prop_assert_eq!(found.is_none(), allowed, "{} {}", x, y);
    }
}
