//! Words in each other's place: what the program asked a hash about, or compared with a word of another length.
//!
//! No change of the bytes of a run makes a name as long as another, and none that a solver finds makes it have the other's hash. So where a word of the input
//! was asked about, the other words that were asked about the same way are put in its place: keywords and functions that the program
//! knows by their hash, names that the input declares.

use std::collections::VecDeque;

use path::{Asker, Word};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Expected, Whitebox, hash_of};
use crate::{Context, Next, Origin, Proposal};

/// Words that are remembered of each function.
const MOST_WORDS: usize = 1024;
/// How often a word is put where a function asks, and how often behind the same bytes.
const MOST_TRIES: u8 = 32;
const SAME_CONTEXT: u8 = 2;
/// Bytes before a word that make its context.
const CONTEXT: usize = 8;
/// Inputs of one run, and of all, that wait.
const OF_ONE_RUN: usize = 512;
const MOST_WAITING: usize = 4096;
/// Runs of a search without a language before each that is for a word.
const OTHERS: u32 = 15;

#[derive(Default)]
pub(super) struct Names {
    /// Of functions, in all runs, in the order in which they were met.
    words: FxHashMap<u32, Words>,
    tries: FxHashMap<u64, u8>,
    waiting: VecDeque<Waiting>,
    /// Runs since the last one that was for a word.
    others: u32,
}

struct Waiting {
    input: Vec<u8>,
    /// What a try counts for: the word, and the word in its context.
    keys: [u64; 2],
}

#[derive(Default)]
struct Words {
    list: Vec<Vec<u8>>,
    known: FxHashSet<Vec<u8>>,
}

impl Names {
    /// Whether it is the turn of these inputs, after other runs.
    pub(super) fn are_due(&self) -> bool {
        self.others >= OTHERS
    }

    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Takes note of the words of a run on `input`.
    pub(super) fn learn(&mut self, input: &[u8], words: &[Word]) {
        self.others = self.others.saturating_add(1);
        let mut compared: FxHashMap<u32, Vec<&Word>> = FxHashMap::default();
        for word in words {
            match word.asker {
                Asker::Function(function) => self.words.entry(function).or_default().add(&word.text),
                Asker::Comparison(number) => compared.entry(number).or_default().push(word),
            }
        }
        let mut room = OF_ONE_RUN.min(MOST_WAITING.saturating_sub(self.waiting.len()));
        for word in words {
            let others: Vec<Vec<u8>> = match word.asker {
                Asker::Function(function) => {
                    self.words.get(&function).map_or(Vec::new(), |all| all.list.clone())
                }
                Asker::Comparison(number) => {
                    compared.get(&number).into_iter().flatten().map(|other| other.text.clone()).collect()
                }
            };
            for other in others {
                if room > 0 && self.put(input, word, &other) {
                    room -= 1;
                }
            }
        }
    }

    /// Lets the input wait that has `other` in the place of a word, unless that was tried often enough.
    fn put(&mut self, input: &[u8], word: &Word, other: &[u8]) -> bool {
        let Some(place) = word.place.clone().filter(|_| word.text != other) else { return false };
        let (Some(before), Some(after)) = (input.get(..place.start), input.get(place.end..)) else {
            return false;
        };
        let key = match word.asker {
            Asker::Function(function) => hash_of(&(function, other)),
            Asker::Comparison(_) => hash_of(&(&word.text, other)),
        };
        let keys = [key, hash_of(&(key, &before[before.len().saturating_sub(CONTEXT)..]))];
        if self.was_tried(keys) {
            return false;
        }
        self.waiting.push_back(Waiting { input: [before, other, after].concat(), keys });
        true
    }

    fn was_tried(&self, keys: [u64; 2]) -> bool {
        let tries = |key: u64| self.tries.get(&key).copied().unwrap_or(0);
        keys.into_iter().zip([MOST_TRIES, SAME_CONTEXT]).any(|(key, most)| tries(key) >= most)
    }

    /// The next input that is still worth a run, if it is `wanted`.
    fn pop(&mut self, mut wanted: impl FnMut(&[u8]) -> bool) -> Option<Vec<u8>> {
        while let Some(Waiting { input, keys }) = self.waiting.pop_front() {
            if !self.was_tried(keys) && wanted(&input) {
                keys.into_iter().for_each(|key| *self.tries.entry(key).or_default() += 1);
                self.others = 0;
                return Some(input);
            }
        }
        None
    }
}

impl Words {
    fn add(&mut self, text: &[u8]) {
        if self.list.len() < MOST_WORDS && self.known.insert(text.to_vec()) {
            self.list.push(text.to_vec());
        }
    }
}

impl Whitebox<'_> {
    /// The next input with a word in the place of another that is new and, within a language, a sentence.
    pub(super) fn attempt_name(&mut self, context: &mut Context<'_>) -> Option<Next> {
        let started = context.clock.elapsed();
        let is_within = self.sentences.is_some();
        let Whitebox { inputs, sentences, .. } = self;
        let found = self.names.pop(|input| {
            let is_new = input.len() <= context.max_len && !inputs.contains(&hash_of(input));
            is_new && sentences.as_mut().is_none_or(|sentences| sentences.contains(input))
        });
        if is_within {
            context.stats.times.grammar += context.clock.elapsed().saturating_sub(started);
        }
        let input = found?;
        self.inputs.insert(hash_of(&input[..]));
        context.stats.sentences.changed += u64::from(is_within);
        self.expected = Some(Expected::Change { run: None, prefix: None });
        Some(Next::Run(Proposal { input, symbolic: !is_within, origin: Origin::Word }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(asker: Asker, text: &str, place: Option<usize>) -> Word {
        Word { asker, text: text.into(), place: place.map(|start| start..start + text.len()) }
    }

    fn inputs(names: &mut Names) -> Vec<String> {
        std::iter::from_fn(|| names.pop(|_| true))
            .map(|input| String::from_utf8_lossy(&input).into_owned())
            .collect()
    }

    #[test]
    fn words_of_a_function_stand_for_each_other_in_all_runs() {
        let mut names = Names::default();
        names.learn(b"", &[word(Asker::Function(1), "sqrt", None), word(Asker::Function(2), "let", None)]);
        assert_eq!(names.len(), 0);
        names.learn(b"call ab;", &[word(Asker::Function(1), "ab", Some(5))]);
        assert_eq!(inputs(&mut names), ["call sqrt;"]);
        names.learn(
            b"x ab;y c",
            &[word(Asker::Function(1), "ab", Some(2)), word(Asker::Function(1), "c", Some(7))],
        );
        assert_eq!(inputs(&mut names), ["x sqrt;y c", "x c;y c", "x ab;y sqrt", "x ab;y ab"]);
    }

    #[test]
    fn compared_words_stand_for_each_other_where_they_are_input() {
        let mut names = Names::default();
        let (first, second) = (Asker::Comparison(0), Asker::Comparison(1));
        let words = [
            word(first, "abc", Some(4)),
            word(first, "x", Some(11)),
            word(second, "long", None),
            word(second, "x", Some(11)),
        ];
        names.learn(b"let abc: u x", &words);
        assert_eq!(inputs(&mut names), ["let x: u x", "let abc: u abc", "let abc: u long"]);
    }

    #[test]
    fn nothing_is_tried_for_ever() {
        let mut names = Names::default();
        names.learn(b"", &[word(Asker::Function(1), "sqrt", None)]);
        let mut tries = |contexts: std::ops::Range<u32>| {
            for round in contexts {
                let input = format!("{round:08} ab {round}");
                names.learn(input.as_bytes(), &[word(Asker::Function(1), "ab", Some(9))]);
            }
            inputs(&mut names).len()
        };
        assert_eq!((0..5).map(|_| tries(0..1)).sum::<usize>(), usize::from(SAME_CONTEXT));
        assert_eq!(tries(1..100), usize::from(MOST_TRIES - SAME_CONTEXT));
        assert_eq!(tries(100..200), 0);
    }
}
