//! Functions have a version without labels, which runs take in which nothing is symbolic.

use std::path::{Path, PathBuf};

use cases::{Program, Recipe};
use runner::{Runner, TargetOptions, default_capacities};

fn start(name: &str, natives: &[&str]) -> (Program, Runner) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs");
    let natives: Vec<PathBuf> = natives.iter().map(|file| folder.join(file)).collect();
    let recipe = Recipe {
        source: folder.join("versions").join(name),
        natives,
        flags: vec!["-O1".to_owned()],
    };
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("variants");
    let program = Program::build(&recipe, &cache).expect("the program builds");
    let mut options = TargetOptions::new(&program.traced);
    options.capture_stdout = true;
    options.capacities = default_capacities(program.sites.outcomes);
    let runner = Runner::start(options).expect("the program starts");
    (program, runner)
}

/// What a run printed, and how many events it recorded.
fn run(runner: &mut Runner, input: &[u8], symbolic: bool) -> (String, usize) {
    let run = runner.run_shared(input, symbolic).expect("the program runs");
    let printed = String::from_utf8(run.stdout().expect("captured")).expect("text");
    let events = if symbolic { run.trace.expect("a whole trace").events.len() } else { 0 };
    (printed, events)
}

#[test]
fn runs_of_both_kinds_are_in_different_places() {
    let (_program, mut runner) = start("places.c", &["native/place.c"]);
    let places = |runner: &mut Runner, symbolic: bool| -> Vec<i64> {
        let (printed, _) = run(runner, b"a", symbolic);
        printed.split_whitespace().map(|number| number.parse().expect("a number")).collect()
    };
    let [labelled, concrete] = [true, false].map(|symbolic| places(&mut runner, symbolic));
    assert_eq!(labelled.len(), 2);
    for (labelled, concrete) in labelled.iter().zip(&concrete) {
        assert_ne!(labelled, concrete);
    }
    assert_eq!(labelled, places(&mut runner, true));
    assert_eq!(concrete, places(&mut runner, false));
}

#[test]
fn a_loop_over_inputs_has_runs_of_both_kinds() {
    let (_program, mut runner) = start("rounds.c", &[]);
    assert_eq!(run(&mut runner, b"ab", false).0, "yes\n");
    let (printed, events) = run(&mut runner, b"ab", true);
    assert_eq!(printed, "yes\n");
    assert!(events >= 2, "each byte is compared");
    for _ in 0..3 {
        assert_eq!(run(&mut runner, b"ab", false).0, "yes\n");
        assert_eq!(run(&mut runner, b"ac", true).0, "no\n");
        assert_eq!(run(&mut runner, b"ab", true), ("yes\n".to_owned(), events));
    }
}
