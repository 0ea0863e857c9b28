//! Suites that are run again.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use campaign::{NamedInput, replay};

use crate::fake::{Fake, sites};

fn inputs(texts: &[&str]) -> Vec<NamedInput> {
    texts
        .iter()
        .map(|text| NamedInput { path: PathBuf::from(text), bytes: text.as_bytes().to_vec() })
        .collect()
}

#[test]
fn each_input_and_the_total_are_told() {
    let mut seen = Vec::new();
    let suite = inputs(&["a", "zzz", "b", "!"]);
    let stop = AtomicBool::new(false);
    let total =
        replay(&mut Fake, &sites(), &suite, &stop, |one| seen.push((one.outcome.clone(), one.new)))
            .expect("it runs");
    let expected = [("exit 0", 2), ("exit 0", 2), ("exit 0", 0), ("SIGSEGV", 0)];
    assert_eq!(seen, expected.map(|(outcome, new)| (outcome.to_owned(), new)));
    assert_eq!(
        (total.inputs, total.bugs, total.coverage.covered, total.coverage.total),
        (4, 1, 4, 4)
    );
}

#[test]
fn an_interrupt_ends_it() {
    let stop = AtomicBool::new(true);
    let total =
        replay(&mut Fake, &sites(), &inputs(&["a"]), &stop, |_| panic!("ran")).expect("it runs");
    assert!(total.interrupted);
}
