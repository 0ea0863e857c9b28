//! Words that several readers accept, against all words of the window.

use std::rc::Rc;

use proptest::prelude::*;
use strings::{Budget, ByteSet, Cell, Comparison, Languages, Occurrence, Reader, Track, Tracks};

const ALPHABET: &[u8] = b"abB\0";
const LENGTH: usize = 6;

/// A reader in the words of the library, to be decided by looking at the text.
#[derive(Clone, Debug)]
enum Wanted {
    Found {
        pattern: Vec<Vec<u8>>,
        terminated: bool,
        last: bool,
        accepted: u32,
    },
    Order {
        other: Vec<u8>,
        fold: bool,
        terminated: bool,
        accepted: [bool; 3],
    },
    /// As many `a` as other letters, nested.
    Balanced,
    /// Letters, of which the last is an `a`.
    EndsWithA,
}

#[derive(Clone, Debug)]
struct Text {
    wanted: Wanted,
    /// Which positions it has; what stands before each.
    cells: Vec<(bool, Option<u8>, bool)>,
}

fn letter() -> impl Strategy<Value = u8> {
    prop::sample::select(ALPHABET)
}

fn letters(len: std::ops::Range<usize>) -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(letter(), len)
}

fn wanted() -> impl Strategy<Value = Wanted> {
    let pattern = prop::collection::vec(letters(1..3), 1..4);
    let found = (pattern, any::<bool>(), any::<bool>(), any::<u32>()).prop_map(
        |(pattern, terminated, last, accepted)| Wanted::Found {
            pattern,
            terminated,
            last,
            accepted,
        },
    );
    let order = (letters(0..6), any::<bool>(), any::<bool>(), any::<[bool; 3]>()).prop_map(
        |(other, fold, terminated, accepted)| Wanted::Order { other, fold, terminated, accepted },
    );
    prop_oneof![3 => found, 2 => order, 1 => Just(Wanted::Balanced), 1 => Just(Wanted::EndsWithA)]
}

fn text() -> impl Strategy<Value = Text> {
    let cell = (
        prop::bool::weighted(0.8),
        prop::option::weighted(0.2, letter()),
        prop::bool::weighted(0.2),
    );
    let cells =
        prop_oneof![prop::collection::vec(cell, LENGTH), Just(vec![(true, None, false); LENGTH])];
    (wanted(), cells).prop_map(|(wanted, cells)| Text { wanted, cells })
}

fn swapped(byte: u8) -> u8 {
    match byte {
        b'a' => b'b',
        b'b' => b'a',
        other => other,
    }
}

impl Text {
    fn of(&self, word: &[u8]) -> Vec<u8> {
        let mut text = Vec::new();
        for (&byte, &(used, before, swaps)) in word.iter().zip(&self.cells) {
            text.extend(before);
            text.extend(used.then(|| if swaps { swapped(byte) } else { byte }));
        }
        text
    }

    fn len(&self) -> usize {
        self.of(&[0; LENGTH]).len()
    }

    fn cells(&self) -> Vec<Cell> {
        let function: Rc<[u8; 256]> = Rc::new(std::array::from_fn(|byte| swapped(byte as u8)));
        let mut cells = Vec::new();
        for (position, &(used, before, swaps)) in self.cells.iter().enumerate() {
            cells.extend(before.map(Cell::Constant));
            cells.extend(
                used.then(|| Cell::Position(position, swaps.then(|| Rc::clone(&function)))),
            );
        }
        cells
    }

    fn track(&self, languages: &mut Languages) -> Option<Track> {
        let reader = match &self.wanted {
            Wanted::Found { pattern, terminated, last, accepted } => {
                let sets: Vec<ByteSet> =
                    pattern.iter().map(|set| set.iter().copied().collect()).collect();
                let accepted = (0..=self.len()).map(|place| accepted >> place & 1 == 1).collect();
                Reader::Occurrence(Occurrence::new(&sets, *terminated, *last, accepted)?)
            }
            Wanted::Order { other, fold, terminated, accepted } => Reader::Comparison(Comparison {
                other: other.clone(),
                fold: *fold,
                terminated: *terminated,
                accepted: *accepted,
            }),
            Wanted::Balanced => Reader::Language(balanced(languages)),
            Wanted::EndsWithA => {
                let a = languages.literal(b"a");
                Reader::Language(languages.concat(Languages::ALL, a))
            }
        };
        Some(Track { reader, cells: self.cells() })
    }

    fn accepts(&self, word: &[u8]) -> bool {
        let text = self.of(word);
        match &self.wanted {
            Wanted::Found { pattern, terminated, last, accepted } => {
                let end = text.iter().position(|&byte| byte == 0).filter(|_| *terminated);
                let hit = |&at: &usize| {
                    let window = text.get(at..at + pattern.len());
                    window.is_some_and(|window| {
                        window.iter().zip(pattern).all(|(b, set)| set.contains(b))
                    })
                };
                let found = match (end, *last) {
                    (_, true) => (0..end.unwrap_or(text.len())).rfind(hit),
                    (Some(end), false) => (0..=end).find(hit),
                    (None, false) => (0..text.len()).find(hit),
                };
                accepted >> found.unwrap_or(text.len()) & 1 == 1
            }
            Wanted::Order { other, fold, terminated, accepted } => {
                let common = text.len().min(other.len());
                let [mut a, mut b] = [&text, other].map(|side| side[..common].to_vec());
                if *fold {
                    (a, b) = (a.to_ascii_lowercase(), b.to_ascii_lowercase());
                }
                if *terminated {
                    let zero = (0..common).find(|&i| a[i] == 0 && b[i] == 0).unwrap_or(common);
                    (a, b) = (a[..zero].to_vec(), b[..zero].to_vec());
                }
                accepted[(a.cmp(&b) as i8 + 1) as usize]
            }
            Wanted::Balanced => {
                let half = text.len() / 2;
                text.len().is_multiple_of(2)
                    && text[..half].iter().all(|&b| b == b'a')
                    && text[half..].iter().all(|&b| b == b'b')
            }
            Wanted::EndsWithA => text.last() == Some(&b'a'),
        }
    }
}

/// `S = a S b | `
fn balanced(languages: &mut Languages) -> strings::Language {
    let mut grammar = strings::Grammar::default();
    let start = grammar.add_nonterminal();
    let [a, b] = [b'a', b'b'].map(|byte| grammar.symbol(ByteSet::single(byte)));
    grammar.add_production(start, vec![a, strings::Symbol::Nonterminal(start), b]);
    grammar.add_production(start, vec![]);
    let grammar = languages.add_grammar(grammar);
    languages.context_free(grammar, start)
}

fn all_words(bytes: &[ByteSet]) -> Vec<Vec<u8>> {
    bytes.iter().fold(vec![Vec::new()], |words, set| {
        let longer =
            |word: &Vec<u8>| set.iter().map(|b| [&word[..], &[b]].concat()).collect::<Vec<_>>();
        words.iter().flat_map(longer).collect()
    })
}

fn changes(word: &[u8], near: &[u8]) -> usize {
    word.iter().zip(near).filter(|(a, b)| a != b).count()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn answers_are_exact_and_near(
        texts in prop::collection::vec(text(), 1..4),
        allowed in prop::collection::vec(prop::collection::vec(letter(), 1..5), LENGTH),
        near in letters(LENGTH..LENGTH + 1),
    ) {
        let mut languages = Languages::default();
        let tracks: Option<Vec<Track>> = texts.iter().map(|text| text.track(&mut languages)).collect();
        let Some(tracks) = tracks else { return Ok(()) };
        let bytes: Vec<ByteSet> = allowed.iter().map(|set| set.iter().copied().collect()).collect();
        let problem = Tracks { bytes: &bytes, near: &near, tracks: &tracks };
        let word = problem.find(&mut languages, &mut Budget::default()).expect("a small problem");
        let good = all_words(&bytes).into_iter().filter(|word| texts.iter().all(|text| text.accepts(word)));
        let fewest = good.map(|word| changes(&word, &near)).min();
        // With a grammar answers need not be the nearest.
        let has_grammar = texts.iter().any(|text| matches!(text.wanted, Wanted::Balanced));
        prop_assert_eq!(word.is_some(), fewest.is_some(), "{:?}", word);
        if !has_grammar {
            prop_assert_eq!(word.as_ref().map(|word| changes(word, &near)), fewest, "{:?}", word);
        }
        if let Some(word) = word {
            prop_assert!(texts.iter().all(|text| text.accepts(&word)), "{:?}", word);
            prop_assert!(word.iter().zip(&bytes).all(|(byte, set)| set.contains(*byte)));
        }
    }
}

#[test]
fn a_text_in_another_order_is_refused() {
    let comparison =
        Comparison { other: vec![], fold: false, terminated: false, accepted: [true; 3] };
    let tracks =
        [Track { reader: Reader::Comparison(comparison), cells: vec![Cell::at(1), Cell::at(0)] }];
    let problem = Tracks { bytes: &[ByteSet::FULL; 2], near: b"ab", tracks: &tracks };
    assert!(problem.find(&mut Languages::default(), &mut Budget::default()).is_err());
}

#[test]
fn a_long_text_takes_few_states() {
    let pattern: Vec<ByteSet> = b"tarragon".iter().map(|&byte| ByteSet::single(byte)).collect();
    let far: Vec<bool> = (0..=4000).map(|place| (3000..3010).contains(&place)).collect();
    let tracks: Vec<Track> = [far.clone(), far.iter().map(|accepted| !accepted).collect()]
        .into_iter()
        .map(|accepted| Track {
            reader: Reader::Occurrence(
                Occurrence::new(&pattern, true, false, accepted).expect("short"),
            ),
            cells: (0..4000).map(Cell::at).collect(),
        })
        .collect();
    let near = vec![b'x'; 4000];
    let problem = |tracks| Tracks { bytes: &[ByteSet::FULL; 4000], near: &near, tracks };
    let mut budget = Budget::default().with_limit(200_000);
    let word =
        problem(&tracks[..1]).find(&mut Languages::default(), &mut budget).expect("few states");
    assert_eq!(word.expect("there is room").iter().filter(|&&byte| byte != b'x').count(), 8);
    assert_eq!(problem(&tracks).find(&mut Languages::default(), &mut budget), Ok(None));
}
