//! The paper's claim, on random programs and grammars: CESE explores the paths that executing all
//! sentences does.

use std::collections::BTreeSet;

use grammar::Pattern;
use grammar::language::Language;
use grammar::model::{Alternative, Expr, Grammar, Rule, RuleId, Terminal, TerminalId};
use grammar::parse::Parser;
use grammar::symbolic::{Filling, Measure, Options, Sizes, Symbolic, symbolic};
use grammar_search::{Cese, CeseOptions};
use grammar_testing as common;
use proptest::prelude::*;
use search::{Claim, Executor, Outcome, Results, SizeCounts, Stop, Strategy as _};
use search_testing::harness::Setup;
use search_testing::program::{Fake, Machine};
use search_testing::random;

/// Longest sentences.
const LONGEST: usize = 3;

fn options(measure: Measure, largest: usize) -> CeseOptions {
    let sizes = Sizes { measure, max_lexeme: 2 };
    CeseOptions { sizes, largest: Some(largest), shard: (0, 1), lengths: true }
}

fn run(fake: &mut Fake<'_>, symbolic: &Symbolic, options: &CeseOptions) -> (Results, Stop, Claim) {
    let mut strategy = Cese::new(symbolic, options).expect("a strategy");
    let mut setup = Setup { seeds: Vec::new(), ..Setup::default() };
    let (results, stop) = setup.search(fake, &mut strategy);
    (results, stop, strategy.claim().expect("a claim"))
}

fn abstraction(language: &Language, filling: Filling) -> Symbolic {
    symbolic(language, &Options { filling, ..Options::default() }).expect("a symbolic grammar")
}

/// All sentences over a and b.
fn sentences(language: &Language) -> Vec<Vec<u8>> {
    let word =
        |len: usize, bits: usize| (0..len).map(|i| b"ab"[bits >> i & 1]).collect::<Vec<u8>>();
    let words = (0..=LONGEST).flat_map(|len| (0..1 << len).map(move |bits| word(len, bits)));
    let mut parser = Parser::new(&language.grammar).expect("a parser");
    words.filter(|word| parser.check(word).is_ok()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn the_paths_are_those_of_all_sentences(program in random::program(), spec in common::spec()) {
        let Ok(language) = Language::new(common::grammar(&spec)) else { return Ok(()) };
        let sentences = sentences(&language);
        let mut all = random::fake(&program);
        for sentence in &sentences {
            all.run(sentence, false).expect("fakes run");
        }
        let mut valid = random::fake(&program);
        let by_length = options(Measure::Length, LONGEST);
        let (results, stop, claim) = run(&mut valid, &abstraction(&language, Filling::Valid), &by_length);
        prop_assert!(matches!(stop, Stop::Finished), "{}", stop);
        prop_assert!(claim.complete, "{}", claim.text);
        prop_assert_eq!(&valid.whole_paths, &all.whole_paths);
        prop_assert!(valid.inputs.iter().all(|input| sentences.contains(input)), "{:?}", valid.inputs);
        prop_assert_eq!(results.stats.divergences, 0);
        let mut free = random::fake(&program);
        let (_, _, claim) = run(&mut free, &abstraction(&language, Filling::Free), &by_length);
        prop_assert!(claim.complete, "{}", claim.text);
        prop_assert!(free.whole_paths.is_superset(&all.whole_paths));
    }

    #[test]
    fn parts_and_sessions_make_the_whole(program in random::program(), spec in common::spec()) {
        let Ok(language) = Language::new(common::grammar(&spec)) else { return Ok(()) };
        let symbolic = abstraction(&language, Filling::Free);
        let mut whole = random::fake(&program);
        let (_, _, claim) = run(&mut whole, &symbolic, &options(Measure::Length, LONGEST));
        let mut parts = random::fake(&program);
        let mut strings = 0;
        for part in 0..3 {
            let options = CeseOptions { shard: (part, 3), ..options(Measure::Length, LONGEST) };
            let (_, _, claim) = run(&mut parts, &symbolic, &options);
            strings += total(&claim).strings;
        }
        prop_assert_eq!(&parts.whole_paths, &whole.whole_paths);
        prop_assert_eq!(strings, total(&claim).strings);
        let mut sessions = random::fake(&program);
        let resumed = in_sessions(&mut sessions, &symbolic, 3);
        prop_assert_eq!(&sessions.whole_paths, &whole.whole_paths);
        prop_assert!(resumed.complete, "{}", resumed.text);
        prop_assert_eq!((total(&resumed).strings, total(&resumed).inputs), (strings, total(&claim).inputs));
    }
}

fn total(claim: &Claim) -> SizeCounts {
    claim.enumeration.as_ref().expect("an enumeration").total()
}

/// Sessions of a few runs more each, until one of them finishes.
fn in_sessions(fake: &mut Fake<'_>, symbolic: &Symbolic, runs: u64) -> Claim {
    let mut saved = None;
    for session in 1.. {
        let mut strategy =
            Cese::new(symbolic, &options(Measure::Length, LONGEST)).expect("a strategy");
        if let Some(saved) = &saved {
            strategy.restore(saved);
        }
        let mut setup = Setup { seeds: Vec::new(), ..Setup::default() };
        setup.limits.runs = Some(runs * session);
        let (_, stop) = setup.search(fake, &mut strategy);
        if matches!(stop, Stop::Finished) {
            return strategy.claim().expect("a claim");
        }
        saved = strategy.save();
    }
    unreachable!("sessions become as long as is needed")
}

/// `e ::= e + e | e * e | ( e ) | digit`
fn sums() -> Language {
    let mut grammar = Grammar::new("sums");
    for text in ["\\+", "\\*", "\\(", "\\)", "[0-9]"] {
        grammar.terminals.push(Terminal::new(text, Pattern::parse(text).expect("a pattern")));
    }
    let (e, t) = (|| Expr::Rule(RuleId(0)), |t: usize| Expr::Terminal(TerminalId::from(t)));
    let bodies = [vec![e(), t(0), e()], vec![e(), t(1), e()], vec![t(2), e(), t(3)], vec![t(4)]];
    let alternatives = bodies.map(|body| Alternative::new(Expr::seq(body))).to_vec();
    grammar.rules.push(Rule { name: "e".into(), alternatives });
    Language::new(grammar).expect("a language")
}

/// Looks at the digits only, and takes the last for the divisor.
fn digits(machine: &mut Machine<'_>) -> Outcome {
    let mut last = None;
    for place in 0.. {
        let Some(byte) = machine.byte(place) else { break };
        let below = machine.less(byte, b'0');
        if !machine.branch(2, below) {
            last = Some(byte);
        }
    }
    let Some(last) = last else { return Outcome::Exit(1) };
    let zero = machine.eq(last, b'0');
    if machine.branch(3, zero) { Outcome::Signal(8) } else { Outcome::Exit(0) }
}

#[test]
fn what_was_explored_is_said_by_size() {
    let language = sums();
    let symbolic = abstraction(&language, Filling::Valid);
    let mut fake = Fake::new(&[&[], &[]], digits);
    let (results, _, claim) = run(&mut fake, &symbolic, &options(Measure::Length, 3));
    assert_eq!(
        claim.text,
        "all paths of all strings up to length 3 were explored (4 symbolic strings, 8 inputs, 8 \
         paths; 1 did what another one did)"
    );
    let enumeration = claim.enumeration.expect("an enumeration");
    let sizes: Vec<_> =
        enumeration.sizes.iter().map(|s| (s.size, s.strings, s.inputs, s.redundant)).collect();
    assert_eq!(sizes, [(1, 1, 2, 0), (3, 3, 6, 1)], "+ and * make no difference");
    assert_eq!(results.bugs.all().len(), 1);
}

#[test]
fn an_ambiguous_string_is_explored_once_by_height() {
    let language = sums();
    let symbolic = abstraction(&language, Filling::Free);
    let mut fake = Fake::new(&[&[], &[]], digits);
    let (_, _, claim) = run(&mut fake, &symbolic, &options(Measure::Height, 3));
    let (counts, text) = (total(&claim), claim.text);
    assert!(text.starts_with("all paths of all strings up to height 3 were explored"), "{text}");
    let (explored, derivations) = (counts.strings + counts.too_long, 2 * 4 * 4 + 4 + 1);
    assert_eq!(
        (explored, counts.repeated),
        (derivations - 4, 4),
        "e+e+e, e+e*e, …: two derivations each"
    );
}

#[test]
fn a_grammar_without_holes_is_enumerated() {
    let language = sums();
    let concrete =
        symbolic(&language, &Options::concrete(&language.grammar)).expect("a symbolic grammar");
    let mut fake = Fake::new(&[&[], &[]], digits);
    let (results, _, claim) = run(&mut fake, &concrete, &options(Measure::Length, 3));
    assert_eq!(results.stats.symbolic_runs, 2, "a crash of each kind is traced once");
    assert_eq!(claim.text, "all strings up to length 3 were explored (220 strings, 220 inputs)");
    let distinct: BTreeSet<_> = fake.inputs.iter().collect();
    assert_eq!(distinct.len(), 220);
}

#[test]
fn longer_strings_than_inputs_may_be_are_counted() {
    let language = sums();
    let symbolic = abstraction(&language, Filling::Free);
    let mut fake = Fake::new(&[&[], &[]], digits);
    let (_, _, claim) = run(&mut fake, &symbolic, &options(Measure::Length, 5));
    assert_eq!(total(&claim).too_long, 11, "inputs have at most 4 bytes");
}

/// `name ::= [a-z]+ ; [a-z]+ ;`
fn names() -> Language {
    let mut grammar = Grammar::new("names");
    for text in ["[a-z]+", ";"] {
        grammar.terminals.push(Terminal::new(text, Pattern::parse(text).expect("a pattern")));
    }
    let body = [0, 1, 0, 1].map(|t| Expr::Terminal(TerminalId::from(t as usize))).to_vec();
    grammar
        .rules
        .push(Rule { name: "names".into(), alternatives: vec![Alternative::new(Expr::seq(body))] });
    Language::new(grammar).expect("a language")
}

/// Has one way for names of 300 bytes and fails for those of 301 whose first letter is `q`.
fn long_names(machine: &mut Machine<'_>) -> Outcome {
    let Some(first) = machine.byte(0) else { return Outcome::Exit(1) };
    let Some(count) = machine.count() else { return Outcome::Exit(0) };
    let is = |machine: &mut Machine<'_>, number: u64| {
        let wanted = machine.constant(count, number);
        machine.same(count, wanted)
    };
    let [less, same] = [299, 300].map(|number| is(machine, number));
    if machine.branch(2, less) {
        return Outcome::Exit(2);
    }
    let letter = machine.eq(first, b'q');
    if machine.branch(3, same) && machine.branch(4, letter) {
        Outcome::Signal(8)
    } else {
        Outcome::Exit(0)
    }
}

#[test]
fn the_solver_chooses_lengths() {
    let language = names();
    let run = |options: CeseOptions, runs: Option<u64>, saved: Option<&search::SavedSearch>| {
        let symbolic = abstraction(&language, Filling::Valid);
        let mut strategy = Cese::new(&symbolic, &options).expect("a strategy");
        saved.into_iter().for_each(|saved| strategy.restore(saved));
        let mut setup = Setup { seeds: Vec::new(), ..Setup::default() };
        (setup.limits.max_len, setup.limits.runs) = (400, runs);
        let mut fake = Fake::new(&[&[], &[], &[]], long_names);
        let (results, stop) = setup.search(&mut fake, &mut strategy);
        (fake.inputs, results, stop, strategy.claim().expect("a claim"), strategy.save())
    };
    let options = options(Measure::Length, 5);
    let (inputs, results, stop, claim, _) = run(options.clone(), None, None);
    assert!(matches!(stop, Stop::Finished));
    assert!(claim.complete, "{}", claim.text);
    assert_eq!(results.stats.divergences, 0);
    assert_eq!(results.bugs.all().len(), 1, "one way to fail");
    let longest = |input: &[u8]| input.split(|byte| *byte == b';').map(<[u8]>::len).max();
    assert!(
        inputs.iter().any(|input| input[0] == b'q' && longest(input) == Some(301)),
        "{}",
        claim.text
    );
    let counts = total(&claim);
    assert_eq!((counts.strings, counts.redundant, counts.lengthened), (3, 2, 2), "{}", claim.text);
    let none = run(CeseOptions { lengths: false, ..options.clone() }, None, None);
    assert!(none.1.bugs.all().is_empty() && total(&none.3).lengthened == 0, "{}", none.3.text);
    let mut saved = None;
    for runs in 2.. {
        let (_, _, stop, resumed, state) = run(options.clone(), Some(runs), saved.as_ref());
        saved = state;
        if matches!(stop, Stop::Finished) {
            let again = total(&resumed);
            // What strings did is not saved, so that none is redundant.
            assert_eq!((again.strings, again.redundant, again.lengthened), (counts.strings, 0, 6));
            break;
        }
    }
}
