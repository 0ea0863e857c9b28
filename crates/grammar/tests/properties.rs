//! The engine against slow and obvious answers, on random grammars: empty rules, left recursion,
//! ambiguity and cycles included.

use grammar_testing as common;

use common::*;
use fastrand::Rng;
use grammar::Pattern;
use grammar::ambiguity::count_trees;
use grammar::bounded;
use grammar::complete::Completer;
use grammar::count::{self, Count, Unit};
use grammar::enumerate::Enumerator;
use grammar::language::Language;
use grammar::model::{Alternative, Expr, Grammar, Rule, RuleId, Terminal, TerminalId};
use grammar::mutate::Mutator;
use grammar::parse::Parser;
use grammar::sample::Sampler;
use grammar::shrink::{Shrinker, SideBySide};
use grammar::space::Space;
use grammar::spaces;
use grammar::uniform::{Uniform, UniformError};
use num_bigint::BigUint;
use proptest::prelude::*;
use std::ops::ControlFlow;

const MAX: usize = 5;

fn strings(space: &Space, from: usize, count: Option<usize>) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    let limit = count.map(BigUint::from);
    let _ = Enumerator::new(space).run(&from.into(), limit.as_ref(), |found| {
        all.push(found.text.to_vec());
        ControlFlow::Continue(())
    });
    all
}

fn finite(n: u64) -> Count {
    Count::Finite(n.into())
}

proptest! {
    #![proptest_config(ProptestConfig::default())]

    #[test]
    fn parsing_agrees_with_brute_force(spec in spec()) {
        let (grammar, oracle) = (grammar(&spec), oracle(&spec, MAX));
        let parsers = || Parser::new(&grammar).unwrap();
        let language = Language::unchecked(grammar.clone()).unwrap();
        for mut parser in [parsers(), parsers().dense_from(0)] {
            for text in all_strings(MAX) {
                let expected = oracle.derivations().contains_key(&text);
                let shown = String::from_utf8_lossy(&text);
                prop_assert_eq!(parser.check(&text).is_ok(), expected, "check {:?}", shown);
                match parser.parse(&text) {
                    Ok(tree) => {
                        prop_assert!(expected);
                        assert_tree(parser.core(), &language, &tree);
                        prop_assert_eq!(text_of(&tree), text);
                    }
                    Err(_) => prop_assert!(!expected),
                }
            }
        }
    }

    #[test]
    fn numbers_of_trees_agree(spec in spec()) {
        let (grammar, oracle) = (grammar(&spec), oracle(&spec, 4));
        for (text, n) in oracle.derivations() {
            let found = count_trees(&grammar, text).unwrap().unwrap();
            let expected = if oracle.is_infinite(text) { Count::Infinite } else { finite(*n) };
            prop_assert_eq!(found, expected, "{:?}", String::from_utf8_lossy(text));
        }
    }

    #[test]
    fn counts_by_length_and_height_agree(spec in spec()) {
        let oracle = oracle(&spec, MAX);
        let language = Language::unchecked(grammar(&spec)).unwrap();
        let counts = count::by_length(&language, MAX, Unit::Bytes);
        for (length, count) in counts.iter().enumerate() {
            let mine = || oracle.derivations().iter().filter(|(t, _)| t.len() == length);
            let infinite = mine().any(|(t, _)| oracle.is_infinite(t));
            let sum = mine().fold(0u64, |sum, (_, n)| sum.saturating_add(*n));
            let expected = if infinite { Count::Infinite } else { finite(sum) };
            prop_assert_eq!(count, &expected, "length {}", length);
        }
        let heights = count::by_height(&language, 2, None);
        let low = oracle_by_height(&spec, 2);
        prop_assert_eq!(heights, low.into_iter().map(finite).collect::<Vec<_>>());
    }

    #[test]
    fn enumeration_is_all_strings_that_parse(spec in spec()) {
        let oracle = oracle(&spec, MAX);
        let language = Language::unchecked(grammar(&spec)).unwrap();
        let space = spaces::distinct(&language, MAX).unwrap();
        let found = strings(&space, 0, None);
        let mut expected: Vec<Vec<u8>> = oracle.derivations().keys().cloned().collect();
        expected.sort_by_key(|t| (t.len(), t.clone()));
        prop_assert!(found.is_sorted_by_key(|t| t.len()));
        let mut sorted = found.clone();
        sorted.sort_by_key(|t| (t.len(), t.clone()));
        prop_assert_eq!(&sorted, &expected);
        let counted: BigUint = space.total();
        prop_assert_eq!(counted, BigUint::from(expected.len()));
        // Any part of it can be had by itself.
        let half = found.len() / 2;
        let parts = [strings(&space, 0, Some(half)), strings(&space, half, None)].concat();
        prop_assert_eq!(parts, found);
    }

    #[test]
    fn derivations_are_enumerated_as_often_as_they_are(spec in spec()) {
        let oracle = oracle(&spec, 4);
        let language = Language::unchecked(grammar(&spec)).unwrap();
        let Ok(space) = spaces::by_length(&language, 4) else {
            prop_assert!(!oracle.growing.is_empty());
            return Ok(());
        };
        prop_assume!(oracle.derivations().values().sum::<u64>() < 20_000);
        let mut found = Derivations::new();
        strings(&space, 0, None).into_iter().for_each(|t| *found.entry(t).or_default() += 1);
        prop_assert_eq!(&found, oracle.derivations());
    }

    #[test]
    fn derivations_by_height_are_enumerated(spec in spec()) {
        let language = Language::unchecked(grammar(&spec)).unwrap();
        let counts = count::by_height(&language, 3, None);
        let total = count::total(&counts);
        prop_assume!(total.finite().is_some_and(|n| *n < BigUint::from(20_000u32)));
        let space = spaces::by_height(&language, 3, None).unwrap();
        prop_assert_eq!(BigUint::from(strings(&space, 0, None).len()), total.finite().unwrap().clone());
    }

    #[test]
    fn distinct_strings_by_height_are_those_of_the_derivations(spec in spec()) {
        let language = Language::unchecked(grammar(&spec)).unwrap();
        let total = count::total(&count::by_height(&language, 3, None));
        prop_assume!(total.finite().is_some_and(|n| *n < BigUint::from(5_000u32)));
        let mut expected = strings(&spaces::by_height(&language, 3, None).unwrap(), 0, None);
        expected.sort();
        expected.dedup();
        let mut found = strings(&bounded::distinct(&language, 3, None).unwrap(), 0, None);
        prop_assert!(found.is_sorted_by_key(|t| t.len()));
        found.sort();
        prop_assert_eq!(&found, &expected);
        let counts = bounded::count_distinct(&language, 3, None).unwrap();
        prop_assert_eq!(count::total(&counts), finite(expected.len() as u64));
    }

    /// Cutting lexemes short is the same as leaving the longer ones out.
    #[test]
    fn lexemes_can_be_bounded(spec in spec()) {
        let language = Language::unchecked(grammar(&spec)).unwrap();
        let total = count::total(&count::by_height(&language, 3, Some(1)));
        prop_assume!(total.finite().is_some_and(|n| *n < BigUint::from(5_000u32)));
        let mut expected = strings(&spaces::by_height(&language, 3, Some(1)).unwrap(), 0, None);
        expected.sort();
        expected.dedup();
        let mut found = strings(&bounded::distinct(&language, 3, Some(1)).unwrap(), 0, None);
        found.sort();
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn completions_parse_and_are_minimal(spec in spec()) {
        let oracle = oracle(&spec, MAX);
        let Ok(language) = Language::new(grammar(&spec)) else { return Ok(()) };
        let mut completer = Completer::new(&language).unwrap();
        let mut parser = Parser::new(&language.grammar).unwrap();
        for prefix in all_strings(3) {
            let best = oracle.derivations().keys().filter(|t| t.starts_with(&prefix)).map(|t| t.len()).min();
            match completer.complete(&prefix) {
                Ok(rest) => {
                    let whole = [&prefix[..], &rest].concat();
                    prop_assert!(parser.check(&whole).is_ok());
                    prop_assert!(best.is_none_or(|b| b == whole.len()));
                    prop_assert!(best.is_some() || whole.len() > MAX);
                }
                Err(_) => prop_assert_eq!(best, None),
            }
        }
    }

    #[test]
    fn samples_and_mutants_parse(spec in spec(), seed in 0u64..1000) {
        let Ok(language) = Language::new(grammar(&spec)) else { return Ok(()) };
        let mut parser = Parser::new(&language.grammar).unwrap();
        let mut sampler = Sampler::new(&language).unwrap();
        let mut mutator = Mutator::new(&language, 8).unwrap();
        let mut rng = Rng::with_seed(seed);
        let least = language.analysis.min_len[language.core.start.index()] as usize;
        let mut pool = Vec::new();
        for size in 0..12 {
            let mut text = Vec::new();
            sampler.sample(&mut rng, size, &mut text);
            prop_assert!(text.len() <= size.max(least));
            prop_assert!(parser.check(&text).is_ok());
            let tree = sampler.tree(language.core.start, &mut rng, size);
            assert_tree(&language.core, &language, &tree);
            pool.push(tree);
        }
        for _ in 0..12 {
            let mutant = mutator.mutate(&pool[rng.usize(..pool.len())], &pool, &mut rng);
            assert_tree(&language.core, &language, &mutant);
            prop_assert!(parser.check(&mutator.spell(&mutant)).is_ok());
        }
    }

    #[test]
    fn uniform_samples_have_the_length(spec in spec()) {
        let oracle = oracle(&spec, MAX);
        let Ok(language) = Language::new(grammar(&spec)) else { return Ok(()) };
        let mut rng = Rng::with_seed(1);
        for len in 0..=MAX {
            let mine = || oracle.derivations().keys().filter(|t| t.len() == len);
            match Uniform::new(&language, len) {
                Err(UniformError::NoSentence(_)) => prop_assert_eq!(mine().count(), 0),
                Err(UniformError::Infinite(_)) => prop_assert!(mine().any(|t| oracle.is_infinite(t))),
                Err(e) => prop_assert!(false, "{}", e),
                Ok(mut uniform) => for _ in 0..5 {
                    let mut text = Vec::new();
                    uniform.sample(&mut rng, &mut text);
                    prop_assert!(oracle.derivations().contains_key(&text) && text.len() == len);
                }
            }
        }
    }

    #[test]
    fn shrinking_keeps_what_is_interesting(spec in spec(), seed in 0u64..1000) {
        let Ok(language) = Language::new(grammar(&spec)) else { return Ok(()) };
        let mut text = Vec::new();
        Sampler::new(&language).unwrap().sample(&mut Rng::with_seed(seed), 30, &mut text);
        let mut parser = Parser::new(&language.grammar).unwrap();
        let wanted = text.iter().filter(|b| **b == b'b').count().min(2);
        let interesting = |t: &[u8]| t.iter().filter(|b| **b == b'b').count() >= wanted;
        let tree = parser.parse(&text).unwrap();
        let mut side_by_side = SideBySide { holds: interesting, jobs: 2 };
        let small =
            Shrinker::new(&mut side_by_side).shrink(&language, &text, Some(tree)).unwrap();
        prop_assert!(interesting(&small));
        prop_assert_eq!(small.len(), wanted);
    }
}

/// Derivations by height, with no bound on length.
fn oracle_by_height(spec: &Spec, max: usize) -> Vec<u64> {
    let mut upto = vec![[0u64; RULES]];
    for h in 1..=max {
        let symbol = |s: &usize| if *s < RULES { upto[h - 1][*s] } else { [1, 1, 4][*s - RULES] };
        let product = |a: &Vec<usize>| a.iter().map(symbol).fold(1, u64::saturating_mul);
        let rule = |r: usize| spec[r].iter().map(product).fold(0, u64::saturating_add);
        let row = std::array::from_fn(rule);
        upto.push(row);
    }
    (0..=max).map(|h| if h == 0 { 0 } else { upto[h][0] - upto[h - 1][0] }).collect()
}

#[test]
fn uniform_samples_are_uniform() {
    // S ::= S S | a | b: 5 shapes times 16 texts of length 4.
    let spec: Spec = vec![vec![vec![0, 0], vec![3], vec![4]], vec![vec![]], vec![vec![]]];
    let language = Language::new(grammar(&spec)).unwrap();
    let mut uniform = Uniform::new(&language, 4).unwrap();
    let mut rng = Rng::with_seed(7);
    let mut seen = std::collections::BTreeMap::<Vec<u8>, u32>::new();
    let n = 32_000;
    for _ in 0..n {
        let mut text = Vec::new();
        uniform.sample(&mut rng, &mut text);
        *seen.entry(text).or_default() += 1;
    }
    assert_eq!(seen.len(), 16);
    let expected = f64::from(n) / 16.0;
    let chi: f64 = seen.values().map(|c| (f64::from(*c) - expected).powi(2) / expected).sum();
    // 15 degrees of freedom: 37.7 is passed by chance once in a thousand; the seed is fixed.
    assert!(chi < 37.7, "chi-squared {chi}");
}

/// Numbers of derivations that floating point cannot hold, whatever power of two they are scaled
/// by.
#[test]
fn long_samples_are_uniform() {
    let mut grammar = Grammar::new("long");
    for pattern in ["[a-c]", "de"] {
        grammar.terminals.push(Terminal::new(pattern, Pattern::parse(pattern).unwrap()));
    }
    let and_more =
        |t: usize| Expr::seq(vec![Expr::Terminal(TerminalId::from(t)), Expr::Rule(RuleId(0))]);
    let alternatives = [Expr::Empty, and_more(0), and_more(1)].map(Alternative::new).to_vec();
    grammar.rules.push(Rule { name: "s".into(), alternatives });
    let language = Language::new(grammar).unwrap();
    let mut text = Vec::new();
    Uniform::new(&language, 6000).unwrap().sample(&mut Rng::with_seed(1), &mut text);
    // A token is `de` with probability 1/r², where r² = 3r + 1 is how fast derivations multiply.
    let (pairs, first) = (|t: &[u8]| t.iter().filter(|b| **b == b'd').count(), &text[..3000]);
    assert_eq!(text.len(), 6000);
    assert!((190..320).contains(&pairs(first)), "{} of 252 in the first half", pairs(first));
    assert!(
        (190..320).contains(&pairs(&text[3000..])),
        "{} of 252 in the second",
        pairs(&text[3000..])
    );
}

/// Unequal numbers of derivations per string: uniform is over derivations, not over strings.
#[test]
fn uniform_is_over_derivations() {
    // S ::= a S | S a | a: 2^(n-1) derivations of the one string of length n; b from another rule
    // has one.
    let spec: Spec =
        vec![vec![vec![1], vec![2]], vec![vec![3, 1], vec![1, 3], vec![3]], vec![vec![4, 4, 4]]];
    let language = Language::new(grammar(&spec)).unwrap();
    let mut uniform = Uniform::new(&language, 3).unwrap();
    let mut rng = Rng::with_seed(3);
    let mut bs = 0;
    for _ in 0..10_000 {
        let mut text = Vec::new();
        uniform.sample(&mut rng, &mut text);
        bs += u32::from(text == b"bbb");
    }
    // One of five derivations; four standard deviations are 160.
    assert!((2_000 - 160..2_000 + 160).contains(&bs), "{bs}");
}
