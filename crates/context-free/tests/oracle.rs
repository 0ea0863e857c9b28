//! Small random grammars against slow and obvious oracles.

use context_free::earley::completion::Completion;
use context_free::earley::recognize::{Config, Recognizer};
use context_free::{
    Combine, INFINITE, NtId, Productions, Sym, TerminalId, cheapest, cheapest_productions,
    components, nullable,
};
use proptest::prelude::*;
use std::collections::BTreeSet;

const NONTERMINALS: usize = 4;
const TERMINALS: usize = 2;
/// Words up to this length are looked at.
const LENGTH: usize = 4;

type Word = Vec<u8>;
type Rules = Vec<Vec<Vec<Sym>>>;

fn symbol() -> impl Strategy<Value = Sym> {
    let terminals = (0..TERMINALS as u32).prop_map(|t| Sym::terminal(TerminalId(t)));
    let nonterminals = (0..NONTERMINALS as u32).prop_map(|n| Sym::nonterminal(NtId(n)));
    prop_oneof![terminals, nonterminals]
}

fn rules() -> impl Strategy<Value = Rules> {
    let rhs = prop::collection::vec(symbol(), 0..4);
    prop::collection::vec(prop::collection::vec(rhs, 0..4), NONTERMINALS)
}

fn productions(rules: &Rules) -> Productions {
    let mut productions = Productions::new(TERMINALS);
    for rule in rules {
        productions.add_nonterminal();
        rule.iter().for_each(|rhs| _ = productions.add_production(rhs.iter().copied()));
    }
    productions
}

/// All words up to `LENGTH` of each nonterminal, by repeating every rule until nothing is new.
fn words(rules: &Rules) -> Vec<BTreeSet<Word>> {
    let mut words = vec![BTreeSet::new(); rules.len()];
    loop {
        let before = words.clone();
        for (nt, rule) in rules.iter().enumerate() {
            rule.iter().for_each(|rhs| words[nt].extend(concatenation(rhs, &before)));
        }
        if words == before {
            return words;
        }
    }
}

fn concatenation(rhs: &[Sym], words: &[BTreeSet<Word>]) -> BTreeSet<Word> {
    let mut all = BTreeSet::from([Word::new()]);
    for symbol in rhs {
        let next = match symbol.as_terminal() {
            Some(t) => BTreeSet::from([vec![t.0 as u8]]),
            None => words[symbol.as_nonterminal().unwrap().index()].clone(),
        };
        let pairs = all.iter().flat_map(|a| next.iter().map(move |b| [&a[..], b].concat()));
        all = pairs.filter(|word| word.len() <= LENGTH).collect();
    }
    all
}

/// The least costs, by relaxing every production until nothing changes.
fn least(rules: &Rules, terminal: &[u64], combine: Combine) -> Vec<u64> {
    let mut best = vec![INFINITE; rules.len()];
    loop {
        let before = best.clone();
        for (nt, rhs) in
            rules.iter().enumerate().flat_map(|(nt, rule)| rule.iter().map(move |r| (nt, r)))
        {
            let cost = |s: &Sym| match s.as_terminal() {
                Some(t) => terminal[t.index()],
                None => before[s.as_nonterminal().unwrap().index()],
            };
            let costs: Vec<u64> = rhs.iter().map(cost).collect();
            if costs.iter().all(|cost| *cost < INFINITE) {
                let total = match combine {
                    Combine::Sum => costs.iter().sum(),
                    Combine::HeightAbove => costs.iter().max().unwrap_or(&0) + 1,
                };
                best[nt] = best[nt].min(total);
            }
        }
        if best == before {
            return best;
        }
    }
}

/// All words up to `LENGTH`.
fn all_words() -> Vec<Word> {
    let mut all = vec![Word::new()];
    let mut from = 0;
    for _ in 0..LENGTH {
        let until = all.len();
        for i in from..until {
            (0..TERMINALS as u8).for_each(|t| all.push([&all[i][..], &[t]].concat()));
        }
        from = until;
    }
    all
}

fn after(recognizer: &mut Recognizer, start: Config, word: &[u8]) -> Option<Config> {
    let mut read = word.iter().map(|t| TerminalId(u32::from(*t)));
    read.try_fold(start, |config, terminal| recognizer.advance(config, terminal))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn costs_are_the_least(rules in rules(), costs in prop::collection::vec(0..4u64, TERMINALS)) {
        let costs: Vec<u64> = costs.iter().map(|c| if *c == 3 { INFINITE } else { *c }).collect();
        for combine in [Combine::Sum, Combine::HeightAbove] {
            let found = cheapest(&productions(&rules), &costs, combine);
            prop_assert_eq!(found, least(&rules, &costs, combine));
        }
    }

    #[test]
    fn following_the_cheapest_productions_ends(rules in rules()) {
        let productions = productions(&rules);
        let best = cheapest_productions(&productions, &[1; TERMINALS], Combine::Sum);
        for nt in productions.nt_ids() {
            let Some(first) = best[nt.index()].1 else { continue };
            let (mut stack, mut length) = (productions.rhs(first).to_vec(), 0);
            let mut steps = 0;
            while let Some(symbol) = stack.pop() {
                steps += 1;
                prop_assert!(steps < 100_000);
                match symbol.as_nonterminal() {
                    Some(nt) => stack.extend(productions.rhs(best[nt.index()].1.unwrap())),
                    None => length += 1,
                }
            }
            prop_assert_eq!(length, best[nt.index()].0);
        }
    }

    #[test]
    fn nullable_symbols_derive_the_empty_word(rules in rules()) {
        let empty: Vec<bool> = words(&rules).iter().map(|words| words.contains(&vec![])).collect();
        prop_assert_eq!(nullable(&productions(&rules)), empty);
    }

    /// One recogniser for all nonterminals: what it shares between them must not mix them up.
    #[test]
    fn recognisers_accept_the_words(rules in rules()) {
        let (words, mut recognizer) = (words(&rules), Recognizer::new(&productions(&rules)));
        for (nt, words) in words.iter().enumerate() {
            let start = recognizer.start(NtId::from(nt));
            prop_assert_eq!(recognizer.goal(start), Some(NtId::from(nt)));
            for word in all_words() {
                let end = after(&mut recognizer, start, &word);
                let accepted = end.is_some_and(|config| recognizer.accepts(config));
                prop_assert_eq!(accepted, words.contains(&word), "{:?} of {}", word, nt);
            }
        }
    }

    /// Reading one of several terminals is the union of reading each.
    #[test]
    fn letters_stand_for_any_of_their_terminals(rules in rules()) {
        let (words, mut recognizer) = (words(&rules), Recognizer::new(&productions(&rules)));
        let any: Vec<TerminalId> = (0..TERMINALS).map(TerminalId::from).collect();
        for (nt, words) in words.iter().enumerate() {
            let mut config = Some(recognizer.start(NtId::from(nt)));
            for length in 0..=LENGTH {
                let accepted = config.is_some_and(|config| recognizer.accepts(config));
                prop_assert_eq!(accepted, words.iter().any(|word| word.len() == length));
                config = config.and_then(|config| recognizer.advance_any(config, &any));
            }
        }
    }

    #[test]
    fn completions_are_the_shortest(rules in rules()) {
        let (words, productions) = (words(&rules), productions(&rules));
        let mut recognizer = Recognizer::new(&productions);
        let mut completion = Completion::new(&productions, &recognizer, &[1; TERMINALS]);
        for (nt, words) in words.iter().enumerate() {
            let start = recognizer.start(NtId::from(nt));
            for prefix in all_words() {
                let rest = |word: &Word| word.strip_prefix(&prefix[..]).map(<[u8]>::len);
                let shortest = words.iter().filter_map(rest).min();
                let config = after(&mut recognizer, start, &prefix);
                let cost = config.and_then(|config| completion.cost(&recognizer, config));
                // Words beyond `LENGTH` are unknown to the oracle.
                match shortest {
                    Some(shortest) => prop_assert_eq!(cost, Some(shortest as u64)),
                    None => prop_assert!(cost.is_none_or(|cost| prefix.len() as u64 + cost > LENGTH as u64)),
                }
                if let Some(rest) = config.and_then(|config| completion.terminals(&recognizer, config)) {
                    prop_assert_eq!(cost, Some(rest.len() as u64));
                    let rest: Word = rest.iter().map(|t| t.0 as u8).collect();
                    let end = after(&mut recognizer, start, &[prefix, rest].concat());
                    prop_assert!(end.is_some_and(|config| recognizer.accepts(config)));
                }
            }
        }
    }

    #[test]
    fn components_reach_each_other(edges in prop::collection::vec(prop::collection::vec(0..6u32, 0..3), 6)) {
        let edges: Vec<Vec<NtId>> = edges.iter().map(|to| to.iter().copied().map(NtId).collect()).collect();
        let component = components(&edges);
        let reach: Vec<BTreeSet<usize>> = (0..edges.len()).map(|from| reachable(&edges, from)).collect();
        for (a, from) in reach.iter().enumerate() {
            for b in 0..edges.len() {
                let same = from.contains(&b) && reach[b].contains(&a);
                prop_assert_eq!(component[a] == component[b], same);
                prop_assert!(!from.contains(&b) || component[b] <= component[a]);
            }
        }
    }
}

fn reachable(edges: &[Vec<NtId>], from: usize) -> BTreeSet<usize> {
    let (mut seen, mut todo) = (BTreeSet::from([from]), vec![from]);
    while let Some(node) = todo.pop() {
        todo.extend(edges[node].iter().map(|to| to.index()).filter(|to| seen.insert(*to)));
    }
    seen
}

/// Each of 70 rules doubles the next: the shortest word is longer than any number here, but it
/// exists.
#[test]
fn a_very_long_shortest_word_is_a_word() {
    let mut productions = Productions::new(1);
    for i in 1..=70 {
        productions.add_nonterminal();
        productions.add_production([Sym::nonterminal(NtId(i)); 2]);
    }
    productions.add_nonterminal();
    productions.add_production([Sym::terminal(TerminalId(0))]);
    let costs = cheapest(&productions, &[1], Combine::Sum);
    assert!(costs[0] < INFINITE);
    assert_eq!(costs[60], 1 << 10);
    let mut recognizer = Recognizer::for_goal(&productions, NtId(0));
    let mut completion = Completion::new(&productions, &recognizer, &[1]);
    let config = recognizer.advance(recognizer.begin(), TerminalId(0)).unwrap();
    assert!(completion.cost(&recognizer, config).is_some());
}
