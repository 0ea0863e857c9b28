//! Turns between strategies.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use grammar::language::Language;
use grammar_search::{Auto, Lifting, TreeCorpus, TreeMutate};
use path::{Asker, Word};
use search::{
    Clock, Context, Corpus, Coverage, Mutate, Next, Origin, Outcome, Proposal, Ran, Sentences,
    Stats, Strategy, Whitebox, WhiteboxOptions,
};
use sites::SiteTable;
use solver::{Chain, ChainOptions};

/// A clock that tests move.
#[derive(Default)]
struct Hand(Cell<Duration>);

impl Clock for Hand {
    fn elapsed(&self) -> Duration {
        self.0.get()
    }
}

/// What surrounds a strategy.
struct World {
    sites: SiteTable,
    solver: Chain,
    rng: fastrand::Rng,
    clock: Hand,
    coverage: Coverage,
    corpus: Corpus,
    stats: Stats,
}

impl World {
    fn new() -> World {
        World {
            sites: SiteTable::default(),
            solver: Chain::standard(ChainOptions::default()),
            rng: fastrand::Rng::with_seed(1),
            clock: Hand::default(),
            coverage: Coverage::new(0),
            corpus: Corpus::default(),
            stats: Stats::new(),
        }
    }

    fn context(&mut self) -> Context<'_> {
        Context {
            sites: &self.sites,
            solver: &mut self.solver,
            rng: &mut self.rng,
            clock: &self.clock,
            coverage: &self.coverage,
            corpus: &self.corpus,
            stats: &mut self.stats,
            max_len: 100,
            has_end: true,
            only_runs_end_it: false,
        }
    }
}

/// Proposes its own name, a number of times.
struct Named {
    name: &'static str,
    left: u32,
    learnt: Rc<RefCell<Vec<Vec<u8>>>>,
}

impl Strategy for Named {
    fn name(&self) -> &'static str {
        self.name
    }

    fn next(&mut self, _context: &mut Context<'_>) -> Next {
        let Some(left) = self.left.checked_sub(1) else { return Next::Finished };
        self.left = left;
        Next::Run(Proposal { input: self.name.into(), symbolic: false, origin: Origin::Mutation })
    }

    fn learn(&mut self, ran: Ran<'_>, _context: &mut Context<'_>) {
        self.learnt.borrow_mut().push(ran.input.to_vec());
    }
}

/// Runs two strategies, each run taking 10 ms, and returns how many runs each made and what the
/// first one learnt. `worth` says what a run of an input finds.
fn turns(
    left: [u32; 2],
    runs: u32,
    worth: impl Fn(&[u8]) -> usize,
) -> ([u32; 2], u32, Vec<Vec<u8>>) {
    turns_of(left, runs, worth, 0.06)
}

/// The same, with so much of the time promised to the second.
fn turns_of(
    left: [u32; 2],
    runs: u32,
    worth: impl Fn(&[u8]) -> usize,
    promised: f64,
) -> ([u32; 2], u32, Vec<Vec<u8>>) {
    let learnt = Rc::new(RefCell::new(Vec::new()));
    let part = |name, left, learnt: &Rc<_>| Named { name, left, learnt: Rc::clone(learnt) };
    let first = part("first", left[0], &learnt);
    let second = part("second", left[1], &Rc::default());
    let mut auto = Auto::new().solving(Box::new(first)).blind(Box::new(second)).at_least(promised);
    let mut world = World::new();
    let (mut made, mut traced) = ([0, 0], 0);
    for _ in 0..runs {
        world.clock.0.set(world.clock.0.get() + Duration::from_millis(10));
        let mut context = world.context();
        match auto.next(&mut context) {
            Next::Run(proposal) => {
                made[usize::from(proposal.input == b"second")] += u32::from(!proposal.symbolic);
                traced += u32::from(proposal.symbolic);
                let new_outcomes = if proposal.symbolic { 0 } else { worth(&proposal.input) };
                let (input, origin) = (&proposal.input[..], &proposal.origin);
                let ran = Ran {
                    input,
                    origin,
                    outcome: Outcome::Exit(0),
                    new_outcomes,
                    covered: 0,
                    hits: search::Hits::default(),
                    path: None,
                };
                auto.learn(ran, &mut context);
            }
            Next::Busy => {}
            Next::Finished => break,
        }
    }
    let learnt = learnt.borrow().clone();
    (made, traced, learnt)
}

#[test]
fn what_brings_more_gets_more_turns_and_nothing_is_given_up() {
    let (made, ..) = turns([10_000, 10_000], 5_000, |input| usize::from(input == b"second"));
    assert!(made[1] > 2 * made[0], "{made:?}");
    assert!(made[0] > 100, "{made:?}");
}

#[test]
fn what_others_find_is_traced_for_the_first() {
    let (_, traced, learnt) =
        turns([10_000, 10_000], 5_000, |input| usize::from(input == b"second"));
    assert!(traced > 0);
    assert!(
        learnt.iter().any(|input| input == b"second"),
        "the first learns of what the second found"
    );
}

#[test]
fn it_ends_when_all_have_ended() {
    let (made, ..) = turns([7, 30], 1_000, |_| 0);
    assert_eq!(made, [7, 30]);
}

#[test]
fn each_has_a_turn_before_the_best_one_goes_on() {
    let (made, ..) = turns([10_000, 10_000], 70, |input| if input == b"first" { 5 } else { 0 });
    assert!(made[1] >= 15 && made[0] > made[1], "{made:?}");
}

#[test]
fn where_runs_are_counted_they_are_shared_whatever_time_they_take() {
    let names = ["slow", "one", "two", "three"];
    let mut auto = names.iter().fold(Auto::new(), |auto, name| {
        auto.blind(Box::new(Named { name, left: 100_000, learnt: Rc::default() }))
    });
    let mut world = World::new();
    let mut made = [0; 4];
    for run in 0..40_000 {
        world.stats.runs = run;
        let mut context = Context { only_runs_end_it: true, ..world.context() };
        let Next::Run(proposal) = auto.next(&mut context) else { panic!("there is more") };
        let number = names.iter().position(|name| name.as_bytes() == proposal.input);
        let number = number.expect("one of them");
        made[number] += 1;
        let time = Duration::from_millis(if number == 0 { 500 } else { 1 });
        world.clock.0.set(world.clock.0.get() + time);
    }
    assert!(made.iter().all(|runs| *runs > 8_000), "{made:?}");
}

/// Works, and never has an input.
struct Idle;

impl Strategy for Idle {
    fn name(&self) -> &'static str {
        "idle"
    }

    fn next(&mut self, _context: &mut Context<'_>) -> Next {
        Next::Busy
    }

    fn learn(&mut self, _ran: Ran<'_>, _context: &mut Context<'_>) {}
}

#[test]
fn where_runs_are_counted_what_makes_none_gives_way() {
    let runs = Named { name: "runs", left: 100_000, learnt: Rc::default() };
    let mut auto = Auto::new().blind(Box::new(Idle)).blind(Box::new(runs));
    let mut world = World::new();
    for _ in 0..100_000 {
        let mut context = Context { only_runs_end_it: true, ..world.context() };
        if let Next::Run(_) = auto.next(&mut context) {
            world.stats.runs += 1;
        }
    }
    assert!(world.stats.runs > 100, "{}", world.stats.runs);
}

#[test]
fn sentences_that_are_all_too_long_end_a_strategy() {
    let read = grammar_formats::read_text("long.tg", "start = 'abcdef';", None);
    let language = Language::new(read.expect("a grammar").grammar).expect("productive");
    let mut strategy = TreeMutate::new(&language).expect("automata");
    let mut world = World::new();
    let mut context = Context { max_len: 3, ..world.context() };
    let ends = (0..100_000).any(|_| matches!(strategy.next(&mut context), Next::Finished));
    assert!(ends);
}

#[test]
fn a_promised_part_is_given() {
    let ([first, second], ..) =
        turns_of([10_000, 10_000], 5_000, |input| usize::from(input == b"first"), 0.4);
    assert!(second > 1900 && first > 1400, "{first} {second}");
}

/// Proposals of a search in which whitebox search has nothing to do, up to a hundred.
fn beside_whitebox(has_end: bool, left_out: u64) -> Vec<Proposal> {
    let mut auto = Auto::new()
        .solving(Box::new(Whitebox::new(WhiteboxOptions::default())))
        .endless(Box::new(Mutate::default()));
    let mut world = World::new();
    world.stats.dropped_flips = left_out;
    let mut proposals = Vec::new();
    for _ in 0..200 {
        world.clock.0.set(world.clock.0.get() + Duration::from_millis(10));
        let mut context = Context { has_end, ..world.context() };
        match auto.next(&mut context) {
            Next::Run(proposal) if proposals.len() < 100 => proposals.push(proposal),
            Next::Finished | Next::Run(_) => break,
            Next::Busy => {}
        }
    }
    proposals
}

#[test]
fn where_everything_was_explored_nobody_goes_on() {
    assert!(beside_whitebox(true, 0).is_empty());
}

#[test]
fn with_a_limit_both_solving_and_mutation_go_on() {
    let proposals = beside_whitebox(true, 1);
    assert_eq!(proposals.len(), 100);
    let traced = proposals.iter().filter(|proposal| proposal.symbolic).count();
    assert!((1..100).contains(&traced), "restarts have traces, mutations have none: {traced}");
}

#[test]
fn without_a_limit_mutation_does_not_go_on_for_ever() {
    assert!(beside_whitebox(false, 1).is_empty());
}

/// Of a hundred proposals of tree mutation, how many have a word that whitebox search learnt of.
fn with_learnt_word(sharing: bool) -> usize {
    let text = r#"token NAME = /[a-z]+/ ; list = NAME | NAME "," list ;"#;
    let read = grammar_formats::read_text("list.tg", text, None).expect("a grammar");
    let language = Language::new(read.grammar).expect("productive");
    let corpus = TreeCorpus::shared(&language).expect("small automata");
    let mut lifting = Lifting::sharing(&language, Rc::clone(&corpus)).expect("small automata");
    let mut mutate = if sharing {
        TreeMutate::sharing(corpus)
    } else {
        TreeMutate::new(&language).expect("small automata")
    };
    let asker = Asker::Function(1);
    let place = Some(0..1);
    let words = [
        Word { asker, text: b"a".to_vec(), place },
        Word { asker, text: b"substring".to_vec(), place: None },
    ];
    lifting.learn_words(b"a,b", &words);
    lifting.keep(b"a,b,c,d");
    let mut world = World::new();
    let proposals = (0..100).filter_map(|_| match mutate.next(&mut world.context()) {
        Next::Run(proposal) => Some(proposal.input),
        _ => None,
    });
    let has_word = |input: &Vec<u8>| input.windows(9).any(|part| part == b"substring");
    proposals.filter(has_word).count()
}

#[test]
fn mutation_has_the_words_of_whitebox_search_if_they_share_a_corpus() {
    assert_eq!(with_learnt_word(false), 0);
    assert!(with_learnt_word(true) > 5);
}
