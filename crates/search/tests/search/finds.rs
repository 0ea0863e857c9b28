//! What becomes of runs that end badly, by what the program and its variants say about them.

use std::cell::Cell;
use std::time::Duration;

use search::{
    BugKind, Bugs, Clock, Diagnosis, Engine, ExecError, Execution, Executor, Frame, Next, Outcome,
    Ran, Results, Seed, Strategy, World,
};

use shrink::{Bytes, Holds, Shrinker};

use search_testing::harness::{Notes, Setup, Ticks, chain, ended};

/// Answers by the first byte of the input. Nothing is traced, so all last steps are the same.
#[derive(Default)]
struct Scripted {
    traced: Vec<(u8, Outcome)>,
    /// The second time, if that is another outcome.
    patient: Vec<(u8, Outcome)>,
    plain: Option<Vec<(u8, Outcome)>>,
    /// The line at which the sanitized variant objects.
    lines: Vec<(u8, u32)>,
}

fn of<T: Copy>(answers: &[(u8, T)], input: &[u8]) -> Option<T> {
    answers.iter().find(|(byte, _)| input.first() == Some(byte)).map(|(_, answer)| *answer)
}

fn outcome(answers: &[(u8, Outcome)], input: &[u8]) -> Outcome {
    of(answers, input).unwrap_or(Outcome::Exit(0))
}

impl Executor for Scripted {
    fn run(&mut self, input: &[u8], _symbolic: bool) -> Result<Execution, ExecError> {
        Ok(ended(outcome(&self.traced, input)))
    }

    fn run_patiently(&mut self, input: &[u8]) -> Result<Execution, ExecError> {
        Ok(ended(of(&self.patient, input).unwrap_or_else(|| outcome(&self.traced, input))))
    }

    fn run_plain(&mut self, input: &[u8]) -> Result<Option<Outcome>, ExecError> {
        Ok(self.plain.as_ref().map(|plain| outcome(plain, input)))
    }

    fn locate_hang(&mut self, input: &[u8]) -> Result<Vec<Diagnosis>, ExecError> {
        self.examine(input)
    }

    fn can_examine(&self) -> bool {
        true
    }

    fn examine(&mut self, input: &[u8]) -> Result<Vec<Diagnosis>, ExecError> {
        let diagnosis = |line| Diagnosis {
            kind: "overflow".to_owned(),
            fatal: true,
            frames: vec![Frame { function: format!("f{line}"), place: format!("a.c:{line}") }],
            report: Vec::new(),
            hidden: None,
            rounds: None,
        };
        Ok(of(&self.lines, input).map(diagnosis).into_iter().collect())
    }
}

/// Crashes on a letter of each kind, anywhere, at a line of its own.
struct Letters;

impl Executor for Letters {
    fn run(&mut self, input: &[u8], _symbolic: bool) -> Result<Execution, ExecError> {
        let is_bad = |wanted: &[u8]| wanted.iter().all(|byte| input.contains(byte));
        Ok(ended(if is_bad(b"xy") || is_bad(b"pq") { CRASH } else { Outcome::Exit(0) }))
    }

    fn can_examine(&self) -> bool {
        true
    }

    fn examine(&mut self, input: &[u8]) -> Result<Vec<Diagnosis>, ExecError> {
        let line = if input.contains(&b'x') { 1 } else { 2 };
        Scripted { lines: input.iter().map(|byte| (*byte, line)).collect(), ..Default::default() }
            .examine(input)
    }
}

/// Proposes nothing; it may say that it accounts for all paths.
struct SeedsOnly {
    claims: bool,
}

impl Strategy for SeedsOnly {
    fn name(&self) -> &'static str {
        "seeds"
    }

    fn next(&mut self, _context: &mut search::Context<'_>) -> Next {
        Next::Finished
    }

    fn learn(&mut self, _ran: Ran<'_>, _context: &mut search::Context<'_>) {}

    fn accounts_for_all(&self) -> bool {
        self.claims
    }
}

fn search(executor: &mut dyn Executor, claims: bool, bugs: Bugs, seeds: &[&[u8]]) -> Results {
    search_with(executor, claims, bugs, seeds, None)
}

fn search_with(
    executor: &mut dyn Executor,
    claims: bool,
    bugs: Bugs,
    seeds: &[&[u8]],
    shrinker: Option<Box<dyn Shrinker>>,
) -> Results {
    search_by(&Ticks::default(), executor, claims, bugs, seeds, shrinker)
}

fn search_by(
    clock: &dyn Clock,
    executor: &mut dyn Executor,
    claims: bool,
    bugs: Bugs,
    seeds: &[&[u8]],
    shrinker: Option<Box<dyn Shrinker>>,
) -> Results {
    let sites = Default::default();
    let setup = Setup::default();
    let world = World {
        executor,
        solver: &mut chain(),
        sites: &sites,
        clock,
        observer: &mut Notes::default(),
        stop: &setup.stop,
    };
    let results = Results { bugs, ..Results::new(&sites) };
    let seeds = seeds.iter().map(|seed| Seed { name: "test".to_owned(), input: seed.to_vec() });
    Engine::new(world, setup.limits, 1, results)
        .with_shrinker(shrinker)
        .search(&mut SeedsOnly { claims }, seeds.collect())
        .0
}

fn kinds(results: &Results) -> Vec<BugKind> {
    results.bugs.all().iter().map(|bug| bug.kind).collect()
}

const CRASH: Outcome = Outcome::Signal(6);

#[test]
fn a_crash_after_a_known_last_step_may_have_another_cause() {
    for claims in [true, false] {
        let traced = vec![(b'a', CRASH), (b'b', CRASH), (b'c', CRASH)];
        let lines = vec![(b'a', 1), (b'b', 2), (b'c', 1)];
        let mut executor = Scripted { traced, lines, ..Scripted::default() };
        let results = search(&mut executor, claims, Bugs::default(), &[b"a", b"b", b"c"]);
        assert_eq!(kinds(&results), [BugKind::Crash(6); 2], "claims {claims}");
    }
}

#[test]
fn a_mistake_before_an_endless_loop_is_reported() {
    let hang = vec![(b'a', Outcome::Timeout)];
    let lines = vec![(b'a', 1)];
    let mut executor = Scripted { traced: hang.clone(), lines, ..Scripted::default() };
    executor.plain = Some(hang);
    let results = search(&mut executor, false, Bugs::default(), &[b"a"]);
    assert_eq!(kinds(&results), [BugKind::Hang, BugKind::Reported]);
    let results = search(&mut executor, false, Bugs::default().without_hangs(), &[b"a"]);
    assert_eq!(kinds(&results), [BugKind::Reported]);
}

#[test]
fn a_run_that_is_slow_in_the_variant_is_examined() {
    let (traced, lines) = (vec![(b'a', Outcome::Timeout)], vec![(b'a', 1)]);
    let mut executor = Scripted { traced, lines, plain: Some(Vec::new()), ..Scripted::default() };
    let results = search(&mut executor, false, Bugs::default(), &[b"a"]);
    assert_eq!((kinds(&results), results.stats.slow_in_variant), (vec![BugKind::Reported], 1));
}

#[test]
fn a_slow_run_that_crashes_is_a_crash_whatever_becomes_of_hangs() {
    let traced = vec![(b'a', Outcome::Timeout)];
    let crash = vec![(b'a', CRASH)];
    for (patient, plain) in [(crash.clone(), None), (Vec::new(), Some(crash))] {
        let mut executor =
            Scripted { traced: traced.clone(), patient, plain, ..Scripted::default() };
        for bugs in [Bugs::default(), Bugs::default().without_hangs()] {
            let results = search(&mut executor, false, bugs, &[b"a"]);
            assert_eq!(kinds(&results), [BugKind::Crash(6)], "plain {:?}", executor.plain);
            assert_eq!(results.stats.flaky_timeouts, 0);
        }
    }
}

#[test]
fn two_hangs_at_one_last_step_are_two_where_all_paths_count() {
    let hangs = vec![(b'a', Outcome::Timeout), (b'b', Outcome::Timeout)];
    let mut executor =
        Scripted { traced: hangs.clone(), plain: Some(hangs), ..Scripted::default() };
    executor.lines = vec![(b'a', 1), (b'b', 2)];
    let results = search(&mut executor, true, Bugs::default(), &[b"a", b"b"]);
    let reported = kinds(&results).iter().filter(|kind| **kind == BugKind::Reported).count();
    assert_eq!(reported, 2, "{:?}", kinds(&results));
}

#[test]
fn a_smaller_input_that_shows_less_does_not_take_the_place_of_a_crash() {
    let mut executor = Scripted { traced: vec![(b'b', CRASH)], ..Scripted::default() };
    executor.lines = vec![(b'a', 1), (b'b', 1)];
    let seeds: [&[u8]; 3] = [b"a", b"bb", b"a"];
    let results = search(&mut executor, true, Bugs::default(), &seeds);
    let shown: Vec<_> = results.bugs.all().iter().map(|bug| (bug.kind, &bug.input[..])).collect();
    assert_eq!(shown, [(BugKind::Crash(6), &b"bb"[..])]);
}

#[test]
fn inputs_of_bugs_become_small_and_their_runs_do_not_count() {
    let seeds: [&[u8]; 2] = [b"aaxbbbbycc", b"aaqqqpppp"];
    let results = search_with(&mut Letters, false, Bugs::default(), &seeds, Some(Box::new(Bytes)));
    let shown: Vec<_> = results.bugs.all().iter().map(|bug| &bug.input[..]).collect();
    assert_eq!(shown, [&b"xy"[..], b"qp"]);
    let found = search(&mut Letters, false, Bugs::default(), &seeds);
    assert_eq!(results.stats.runs, found.stats.runs);
    assert!(results.stats.shrinking > 0);
}

/// Goes wrong on an `x`, and covers another outcome with each length.
struct Lengths;

impl Executor for Lengths {
    fn run(&mut self, input: &[u8], _symbolic: bool) -> Result<Execution, ExecError> {
        let outcome = match (input.contains(&b'x'), input.ends_with(b"y")) {
            (true, true) => CRASH,
            (true, false) => Outcome::OutOfMemory,
            _ => Outcome::Exit(0),
        };
        Ok(Execution { covered: vec![input.len() as u32], ..ended(outcome) })
    }
}

/// How far inputs are made smaller hangs on the clock; how many runs the search has does not.
#[test]
fn what_is_run_to_make_inputs_smaller_leaves_the_books_alone() {
    let seeds: [&[u8]; 2] = [b"aaaaxaay", b"xay"];
    let small = search_with(&mut Lengths, false, Bugs::default(), &seeds, Some(Box::new(Bytes)));
    let found = search(&mut Lengths, false, Bugs::default(), &seeds);
    assert!(small.stats.shrinking > 0);
    assert_eq!(small.stats.runs, found.stats.runs);
    assert_eq!(small.stats.shortfalls(), found.stats.shortfalls());
}

/// Makes nothing smaller that does not hold itself, as shrinkers on trees do.
struct Cautious;

impl Shrinker for Cautious {
    fn shrink(&mut self, input: &[u8], holds: &mut Holds<'_>) -> Vec<u8> {
        if holds(input) == Some(true) { Bytes.shrink(input, holds) } else { input.to_vec() }
    }
}

/// Moves a tenth of a second each time somebody looks.
#[derive(Default)]
struct Tenths(Cell<u64>);

impl Clock for Tenths {
    fn elapsed(&self) -> Duration {
        self.0.set(self.0.get() + 100);
        Duration::from_millis(self.0.get())
    }
}

#[test]
fn shrinkers_go_on_where_they_were_cut_off() {
    let mut seeds: Vec<&[u8]> = vec![b"aaxbbbbycc"];
    seeds.resize(3000, b"");
    let (clock, shrinker) = (Tenths::default(), Some(Box::new(Cautious) as Box<dyn Shrinker>));
    let results = search_by(&clock, &mut Letters, false, Bugs::default(), &seeds, shrinker);
    assert_eq!(results.bugs.all()[0].input, b"xy");
}
