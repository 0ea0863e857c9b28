//! Words within windows, against all words of the window.

use proptest::prelude::*;
use strings::{Budget, ByteSet, Finder, Grammar, Language, Languages, Symbol, Window};

/// Every word within the window.
fn all_words(bytes: &[ByteSet], least: usize) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    let mut longest = vec![Vec::new()];
    for length in 0..=bytes.len() {
        if length >= least {
            all.extend(longest.iter().cloned());
        }
        let Some(set) = bytes.get(length) else { break };
        longest = longest
            .iter()
            .flat_map(|word: &Vec<u8>| set.iter().map(move |byte| [&word[..], &[byte]].concat()))
            .collect();
    }
    all
}

fn changes(word: &[u8], near: &[u8]) -> usize {
    word.iter().zip(near).filter(|(a, b)| a != b).count() + word.len().abs_diff(near.len())
}

fn find(languages: &mut Languages, language: Language, window: &Window<'_>) -> Option<Vec<u8>> {
    Finder::new(languages, language).find(languages, window, &mut Budget::default()).unwrap()
}

#[derive(Clone, Debug)]
enum Regex {
    Bytes(Vec<u8>),
    Concat(Box<Regex>, Box<Regex>),
    Or(Box<Regex>, Box<Regex>),
    Star(Box<Regex>),
    Not(Box<Regex>),
}

fn build(languages: &mut Languages, regex: &Regex) -> Language {
    match regex {
        Regex::Bytes(bytes) => languages.bytes(bytes.iter().copied().collect()),
        Regex::Concat(a, b) => {
            let (a, b) = (build(languages, a), build(languages, b));
            languages.concat(a, b)
        }
        Regex::Or(a, b) => {
            let (a, b) = (build(languages, a), build(languages, b));
            languages.or([a, b])
        }
        Regex::Star(inner) => {
            let inner = build(languages, inner);
            languages.star(inner)
        }
        Regex::Not(inner) => {
            let inner = build(languages, inner);
            languages.not(inner)
        }
    }
}

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    prop::sample::subsequence(b"abc".to_vec(), 0..=3)
}

fn regex() -> impl Strategy<Value = Regex> {
    bytes().prop_map(Regex::Bytes).prop_recursive(4, 12, 2, |inner| {
        let two = (inner.clone(), inner.clone());
        prop_oneof![
            two.clone().prop_map(|(a, b)| Regex::Concat(a.into(), b.into())),
            two.prop_map(|(a, b)| Regex::Or(a.into(), b.into())),
            inner.clone().prop_map(|a| Regex::Star(a.into())),
            inner.prop_map(|a| Regex::Not(a.into())),
        ]
    })
}

fn window() -> impl Strategy<Value = (Vec<ByteSet>, usize, Vec<u8>)> {
    let near = prop::collection::vec(prop::sample::select(b"abcd".to_vec()), 0..6);
    let sets = prop::collection::vec(bytes(), 0..5);
    (sets, 0usize..5, near).prop_map(|(sets, least, near)| {
        (sets.into_iter().map(|set| set.into_iter().collect()).collect(), least, near)
    })
}

/// `S := "a" S "b" | S S | "c" | ""`
fn nested(languages: &mut Languages) -> Language {
    let mut grammar = Grammar::default();
    let s = grammar.add_nonterminal();
    let [a, b, c] = [b'a', b'b', b'c'].map(|byte| grammar.symbol(ByteSet::single(byte)));
    let again = Symbol::Nonterminal(s);
    for right in [vec![a, again, b], vec![again, again], vec![c], vec![]] {
        grammar.add_production(s, right);
    }
    let grammar = languages.add_grammar(grammar);
    languages.context_free(grammar, s)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn regular_languages_give_a_closest_word(regex in regex(), (bytes, least, near) in window()) {
        let mut languages = Languages::default();
        let language = build(&mut languages, &regex);
        let found = find(&mut languages, language, &Window { bytes: &bytes, least, near: &near });
        let words = all_words(&bytes, least);
        let closest = words.iter().filter(|word| languages.contains(language, word)).map(|word| changes(word, &near)).min();
        prop_assert_eq!(found.as_ref().map(|word| changes(word, &near)), closest);
        if let Some(word) = found {
            prop_assert!(words.contains(&word) && languages.contains(language, &word));
        }
    }

    #[test]
    fn context_free_languages_give_a_shortest_word((bytes, least, near) in window()) {
        let mut languages = Languages::default();
        let language = nested(&mut languages);
        let found = find(&mut languages, language, &Window { bytes: &bytes, least, near: &near });
        let words = all_words(&bytes, least);
        let shortest = words.iter().filter(|word| languages.contains(language, word)).map(Vec::len).min();
        prop_assert_eq!(found.as_ref().map(Vec::len), shortest);
        if let Some(word) = found {
            prop_assert!(words.contains(&word) && languages.contains(language, &word));
        }
    }
}

#[test]
fn automata_are_languages_too() {
    let mut languages = Languages::default();
    let set = ByteSet::single;
    // An even number of `a`, then one `b`; the last move leads nowhere.
    let moves =
        vec![vec![(set(b'a'), 1), (set(b'b'), 2)], vec![(set(b'a'), 0)], vec![(set(b'c'), 9)]];
    let language = languages.automaton(moves, [2], 0);
    let words = [ByteSet::from([u64::MAX; 4]); 4];
    let window = Window { bytes: &words, least: 2, near: b"xxb" };
    assert_eq!(find(&mut languages, language, &window), Some(b"aab".to_vec()));
    assert_eq!(find(&mut languages, language, &Window { bytes: &words[..2], ..window }), None);
}
