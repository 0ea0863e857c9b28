//! Generational search: what it reaches and what it counts.

use search::{Change, Order, Outcome, Sentences, Stop, Strategy, Whitebox, WhiteboxOptions};

use search_testing::harness::{Setup, search};
use search_testing::program::{Fake, Machine};

fn whitebox() -> Whitebox<'static> {
    Whitebox::new(WhiteboxOptions::default())
}

/// Crashes on inputs that start with "abba".
fn magic(machine: &mut Machine<'_>) -> Outcome {
    for (index, &expected) in b"abba".iter().enumerate() {
        let Some(byte) = machine.byte(index) else { return Outcome::Exit(1) };
        let equal = machine.eq(byte, expected);
        if !machine.branch(2 + index as u32, equal) {
            return Outcome::Exit(1);
        }
    }
    Outcome::Signal(6)
}

fn magic_program() -> Fake<'static> {
    Fake::new(&[&[], &[], &[], &[]], magic)
}

#[test]
fn a_magic_word_is_found_byte_by_byte() {
    let mut fake = magic_program();
    let (results, stop) = search(&mut fake, &mut whitebox());
    assert!(matches!(stop, Stop::Complete), "{stop}");
    let bugs = results.bugs.all();
    assert_eq!(bugs.len(), 1);
    assert_eq!(bugs[0].input, b"abba");
    assert_eq!((results.stats.covered, results.stats.outcomes), (8, 8));
    assert_eq!(results.stats.runs, results.stats.paths, "no path is run twice");
    assert_eq!(results.stats.divergences, 0);
}

#[test]
fn only_inputs_that_add_coverage_are_kept() {
    let mut setup = Setup::default();
    let (results, _) = setup.search(&mut magic_program(), &mut whitebox());
    let outcomes: usize = results.corpus.entries().iter().map(|entry| entry.new_outcomes).sum();
    assert_eq!(outcomes, results.stats.covered);
    assert!(results.corpus.entries().iter().all(|entry| entry.new_outcomes > 0));
    assert_eq!(
        setup.notes.entries.len(),
        results.corpus.entries().len(),
        "the observer hears of each"
    );
}

#[test]
fn seeds_on_known_paths_cost_one_run_each() {
    let mut alone = magic_program();
    search(&mut alone, &mut whitebox());
    let mut fake = magic_program();
    let mut setup = Setup { seeds: vec![b"", b"ax", b"ab", b"xxxx", b"xab"], ..Setup::default() };
    setup.search(&mut fake, &mut whitebox());
    assert_eq!(fake.paths, alone.paths);
    assert!(fake.inputs.len() <= fake.paths.len() + 2, "{:?}", fake.inputs);
}

#[test]
fn both_orders_explore_the_same_paths() {
    let mut generational = magic_program();
    search(&mut generational, &mut whitebox());
    let mut depth_first = magic_program();
    let options = WhiteboxOptions { order: Order::DepthFirst, ..WhiteboxOptions::default() };
    search(&mut depth_first, &mut Whitebox::new(options));
    assert_eq!(generational.paths, depth_first.paths);
}

#[test]
fn traces_that_do_not_fit_are_run_again() {
    let mut roomy = magic_program();
    search(&mut roomy, &mut whitebox());
    let mut tight = Fake::new(&[&[], &[], &[], &[]], magic);
    let options = WhiteboxOptions { trace_memory: 0, ..WhiteboxOptions::default() };
    let mut setup = Setup { seeds: vec![b"", b"xbxa"], ..Setup::default() };
    let (results, _) = setup.search(&mut tight, &mut Whitebox::new(options));
    assert!(results.stats.retraces > 0);
    assert_eq!(results.stats.divergences, 0);
    assert_eq!(tight.paths, roomy.paths);
}

#[test]
fn every_case_of_a_switch_is_reached() {
    let cases: &[u64] = &[b'a'.into(), b'b'.into(), 0];
    let mut fake = Fake::new(&[cases], |machine| {
        let Some(byte) = machine.byte(0) else { return Outcome::Exit(9) };
        Outcome::Exit(machine.switch(2, byte) as i32)
    });
    let (results, _) = search(&mut fake, &mut whitebox());
    assert_eq!((results.stats.covered, results.stats.outcomes), (4, 4));
    assert_eq!(
        fake.inputs.len(),
        5,
        "one run a case, one for the default, one for the empty input"
    );
}

#[test]
fn what_the_trace_does_not_show_is_a_divergence() {
    let mut fake = Fake::new(&[&[], &[]], |machine| {
        let Some(byte) = machine.byte(0) else { return Outcome::Exit(0) };
        let hidden = machine.hidden_byte(0) == Some(b'a');
        let less = machine.less(byte, b'b');
        if hidden {
            return Outcome::Exit(2);
        }
        machine.branch(2, less);
        let equal = machine.eq(byte, b'a');
        machine.branch(3, equal);
        Outcome::Exit(1)
    });
    let mut setup = Setup { seeds: vec![b"x"], ..Setup::default() };
    let mut strategy = whitebox();
    let (results, _) = setup.search(&mut fake, &mut strategy);
    assert!(results.stats.divergences > 0);
    assert_eq!(strategy.completeness().divergences, results.stats.divergences);
}

/// Reads through a concretised index, then asks about the index itself.
fn table_user(machine: &mut Machine<'_>) -> Outcome {
    let Some(byte) = machine.byte(0) else { return Outcome::Exit(0) };
    machine.concretise(3, byte);
    let equal = machine.eq(byte, b'b');
    Outcome::Exit(i32::from(machine.branch(2, equal)))
}

#[test]
fn optimism_overcomes_concretisation_and_is_counted_apart() {
    let mut setup = Setup { seeds: vec![b"a"], ..Setup::default() };
    let mut fake = Fake::new(&[&[], &[]], table_user);
    let (results, _) = setup.search(&mut fake, &mut whitebox());
    assert!(fake.inputs.contains(&b"b".to_vec()));
    let optimism = results.stats.optimism;
    assert!(optimism.sat >= 1 && optimism.confirmed >= 1, "{optimism:?}");
    assert_eq!(results.stats.divergences, 0);

    // Without a limit nothing is tried at random.
    setup.limits.runs = None;
    let strict = WhiteboxOptions { optimistic: false, ..WhiteboxOptions::default() };
    let mut fake = Fake::new(&[&[], &[]], table_user);
    setup.search(&mut fake, &mut Whitebox::new(strict));
    assert!(!fake.inputs.contains(&b"b".to_vec()));
}

#[test]
fn fixed_values_let_the_other_side_be_solved_as_in_dart() {
    // obscure(x, y): x == hash(y), where hash is opaque: y is fixed and x solved.
    let mut fake = Fake::new(&[&[], &[]], |machine| {
        let (Some(x), Some(y)) = (machine.byte(0), machine.byte(1)) else {
            return Outcome::Exit(0);
        };
        let hash = if machine.concretise(3, y) == u64::from(b'a') { b'b' } else { b'x' };
        let equal = machine.eq(x, hash);
        if machine.branch(2, equal) { Outcome::Signal(6) } else { Outcome::Exit(0) }
    });
    let mut setup = Setup { seeds: vec![b"aa"], ..Setup::default() };
    let (results, _) = setup.search(&mut fake, &mut whitebox());
    assert_eq!(results.bugs.all()[0].input, b"ba");
}

/// `x == hash(y)`, then `y == 10`, where the trace shows nothing of how `hash` works. With `y`
/// solved for, `hash(y)` is another; the run with the new `y` says which.
#[test]
fn an_imprecise_step_is_followed_by_a_second_one() {
    let bodies = |hidden: bool| {
        move |machine: &mut Machine<'_>| {
            let (Some(x), Some(y)) = (machine.byte(0), machine.byte(1)) else {
                return Outcome::Exit(0);
            };
            // Either the value went into code that is not followed, or it was fixed before.
            if !hidden {
                machine.concretise(4, y);
            }
            let hash = machine.hidden_byte(1).unwrap_or(0).wrapping_mul(59).rotate_left(3) ^ 0x5a;
            let equal = machine.eq(x, hash);
            if !machine.branch(2, equal) {
                return Outcome::Exit(1);
            }
            let equal = machine.eq(y, 10);
            if machine.branch(3, equal) { Outcome::Signal(6) } else { Outcome::Exit(2) }
        }
    };
    for hidden in [true, false] {
        let mut fake = Fake::new(&[&[], &[]], bodies(hidden));
        let mut setup = Setup { seeds: vec![b"aa"], ..Setup::default() };
        // Without a limit nothing is tried at random.
        setup.limits.runs = None;
        let (results, _) = setup.search(&mut fake, &mut whitebox());
        let bugs = results.bugs.all();
        assert_eq!(bugs.len(), 1, "hidden: {hidden}, inputs {:?}", fake.inputs);
        assert_eq!(bugs[0].input[1], 10);
        assert!(results.stats.runs < 20, "{}", results.stats.runs);
    }
}

#[test]
fn a_property_is_violated_on_purpose() {
    let mut fake = Fake::new(&[], |machine| {
        let (Some(a), Some(b)) = (machine.byte(0), machine.byte(1)) else {
            return Outcome::Exit(0);
        };
        let divisor = machine.xor(a, b);
        if machine.check_divisor(1, divisor) { Outcome::Signal(8) } else { Outcome::Exit(0) }
    });
    let mut setup = Setup { seeds: vec![b"ab"], ..Setup::default() };
    let (results, _) = setup.search(&mut fake, &mut whitebox());
    let bug = &results.bugs.all()[0];
    assert_eq!(bug.input[0], bug.input[1]);
    assert_eq!(results.stats.silent_violations, 0);
}

#[test]
fn the_same_search_twice_runs_the_same_inputs() {
    let inputs = |order| {
        let mut fake = magic_program();
        let mut setup = Setup { seeds: vec![b"", b"xxxx"], ..Setup::default() };
        setup.search(
            &mut fake,
            &mut Whitebox::new(WhiteboxOptions { order, ..WhiteboxOptions::default() }),
        );
        fake.inputs
    };
    for order in [Order::Generational, Order::DepthFirst] {
        assert_eq!(inputs(order), inputs(order));
    }
}

#[test]
fn a_search_that_ends_early_has_a_queue() {
    let mut setup = Setup { seeds: vec![b"xxxx"], ..Setup::default() };
    setup.limits.runs = Some(1);
    let mut strategy = whitebox();
    let (results, stop) = setup.search(&mut magic_program(), &mut strategy);
    assert!(matches!(stop, Stop::RunsUp));
    assert!(strategy.queue() > 0);
    assert_eq!(results.stats.queue, strategy.queue());
    assert!(!strategy.completeness().finished);
}

/// A language of few sentences, each near every other.
struct Few(&'static [&'static [u8]]);

impl Sentences for Few {
    fn keep(&mut self, _input: &[u8]) {}

    fn fresh(&mut self, random: u64) -> Option<Vec<u8>> {
        self.0.get(random as usize % self.0.len()).map(|sentence| sentence.to_vec())
    }

    fn keys(&mut self, input: &[u8]) -> Vec<u64> {
        self.0
            .iter()
            .position(|sentence| *sentence == input)
            .into_iter()
            .map(|place| place as u64)
            .collect()
    }

    fn changes(&mut self, _input: &[u8]) -> Vec<Change> {
        (0..self.0.len() as u32)
            .map(|choice| Change { key: choice.into(), token: 0, choice })
            .collect()
    }

    fn change(&mut self, _input: &[u8], change: Change) -> Option<Vec<u8>> {
        self.0.get(change.choice as usize).map(|sentence| sentence.to_vec())
    }

    fn contains(&mut self, input: &[u8]) -> bool {
        self.0.contains(&input)
    }

    fn token_at(&mut self, input: &[u8], _byte: usize) -> Option<usize> {
        self.contains(input).then_some(0)
    }

    fn neighbours(&mut self, _input: &[u8], _token: usize) -> Vec<Vec<u8>> {
        self.0.iter().map(|sentence| sentence.to_vec()).collect()
    }

    fn with_proposal(&mut self, _input: &[u8], proposal: &[u8]) -> Vec<Vec<u8>> {
        self.0
            .iter()
            .filter(|sentence| sentence.starts_with(proposal))
            .map(|sentence| sentence.to_vec())
            .collect()
    }
}

#[test]
fn within_a_language_only_its_sentences_are_run() {
    let sentences: &[&[u8]] = &[b"", b"x", b"ax", b"aba", b"abba"];
    let mut fake = magic_program();
    let mut setup = Setup { seeds: vec![b"x"], ..Setup::default() };
    let mut strategy = Whitebox::within(WhiteboxOptions::default(), Few(sentences));
    let (results, _) = setup.search(&mut fake, &mut strategy);
    assert!(fake.inputs.iter().all(|input| sentences.contains(&&input[..])), "{:?}", fake.inputs);
    assert_eq!(results.bugs.all().len(), 1, "the bug is a sentence");
    assert!(results.stats.sentences.changed + results.stats.sentences.lifted > 0);
}

#[test]
fn outside_of_the_language_only_for_sides_that_no_sentence_takes() {
    let sentences: &[&[u8]] = &[b"", b"x", b"ax", b"abbx"];
    let strict = WhiteboxOptions::default();
    let lenient = WhiteboxOptions { outside: true, ..WhiteboxOptions::default() };
    let covered = |options: WhiteboxOptions| {
        let mut setup = Setup { seeds: vec![b"x"], ..Setup::default() };
        let (results, _) =
            setup.search(&mut magic_program(), &mut Whitebox::within(options, Few(sentences)));
        (results.stats.covered, results.bugs.all().len())
    };
    assert_eq!(covered(strict).1, 0, "the bug is no sentence");
    assert_eq!(covered(lenient).1, 1, "it is one byte away from one");
}
