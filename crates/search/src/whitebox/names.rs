//! Words in each other's place: what the program asked a hash about, or compared with a word of
//! another length.
//!
//! No change of the bytes of a run makes a name as long as another, and none that a solver finds
//! makes it have the other's hash. So where a word of the input was asked about, the other words
//! that were asked about the same way are put in its place: keywords and functions that the program
//! knows by their hash, names that the input declares.

use std::collections::VecDeque;

use path::{Asker, Word};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Expected, Whitebox, hash_of};
use crate::{Context, Next, Origin, Proposal};

/// Words that are remembered of each function.
const MAX_WORDS: usize = 1024;
/// How often a word is put where a function asks, and how often after the same bytes, sentences or
/// not.
const MAX_TRIES: u8 = 64;
const SAME_CONTEXT: u8 = 2;
/// Bytes before a word that make its context.
const CONTEXT: usize = 8;
/// Inputs of one run, and of all, that wait.
const OF_ONE_RUN: usize = 512;
const MAX_WAITING: usize = 4096;
const MAX_BYTES: usize = 16 << 20;
/// Functions that are told apart.
const MAX_FUNCTIONS: usize = 256;
/// Runs before each that is for a word: one that was hashed, or one that was compared. A comparison
/// tells the solver much itself, and programs that look names up compare all the time.
const BEFORE_HASHED: u32 = 3;
const BEFORE_COMPARED: u32 = 31;

#[derive(Default)]
pub(super) struct Names {
    /// Of functions, in all runs, in the order in which they were met.
    words: FxHashMap<u32, Words>,
    tries: FxHashMap<u64, u8>,
    hashed: VecDeque<Waiting>,
    compared: VecDeque<Waiting>,
    /// Bytes of all that waits.
    bytes: usize,
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
        self.others >= if self.hashed.is_empty() { BEFORE_COMPARED } else { BEFORE_HASHED }
    }

    pub(super) fn len(&self) -> usize {
        self.hashed.len() + self.compared.len()
    }

    /// Takes note of the words of a run on `input`.
    pub(super) fn learn(&mut self, input: &[u8], words: &[Word]) {
        self.others = self.others.saturating_add(1);
        let mut compared: FxHashMap<u32, Vec<&Word>> = FxHashMap::default();
        for word in words {
            match word.asker {
                Asker::Function(function) => self.add(function, &word.text),
                Asker::Comparison(number) => compared.entry(number).or_default().push(word),
            }
        }
        let room = OF_ONE_RUN.min(MAX_WAITING.saturating_sub(self.len()));
        let mut found: Vec<(Asker, Waiting)> = Vec::new();
        for word in words.iter().filter(|word| word.place.is_some()) {
            let of_function =
                |function| self.words.get(function).into_iter().flat_map(|words| &words.list);
            let of_comparison =
                |number| compared.get(number).into_iter().flatten().map(|word| &word.text);
            let others: Vec<&Vec<u8>> = match &word.asker {
                Asker::Function(function) => of_function(function).collect(),
                Asker::Comparison(number) => of_comparison(number).collect(),
            };
            let inputs = others.into_iter().filter_map(|other| self.with(input, word, other));
            found.extend(inputs.take(room - found.len()).map(|waiting| (word.asker, waiting)));
        }
        for (asker, waiting) in found {
            if self.bytes + waiting.input.len() > MAX_BYTES {
                return;
            }
            self.bytes += waiting.input.len();
            match asker {
                Asker::Function(_) => self.hashed.push_back(waiting),
                Asker::Comparison(_) => self.compared.push_back(waiting),
            }
        }
    }

    fn add(&mut self, function: u32, text: &[u8]) {
        if self.words.len() < MAX_FUNCTIONS || self.words.contains_key(&function) {
            self.words.entry(function).or_default().add(text);
        }
    }

    /// The input with `other` in the place of a word, unless that was tried often enough.
    fn with(&self, input: &[u8], word: &Word, other: &[u8]) -> Option<Waiting> {
        let place = word.place.clone().filter(|_| word.text != other)?;
        let (before, after) = (input.get(..place.start)?, input.get(place.end..)?);
        let key = match word.asker {
            Asker::Function(function) => hash_of(&(function, other)),
            Asker::Comparison(_) => hash_of(&(&word.text, other)),
        };
        let keys = [key, hash_of(&(key, &before[before.len().saturating_sub(CONTEXT)..]))];
        let is_news = !self.was_tried(keys);
        is_news.then(|| Waiting { input: [before, other, after].concat(), keys })
    }

    fn was_tried(&self, keys: [u64; 2]) -> bool {
        let tries = |key: u64| self.tries.get(&key).copied().unwrap_or(0);
        keys.into_iter().zip([MAX_TRIES, SAME_CONTEXT]).any(|(key, most)| tries(key) >= most)
    }

    /// The next input that is still worth a look, which counts as a try.
    fn pop(&mut self) -> Option<Vec<u8>> {
        while let Some(Waiting { input, keys }) =
            self.hashed.pop_front().or_else(|| self.compared.pop_front())
        {
            self.bytes -= input.len();
            if !self.was_tried(keys) {
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
        if self.list.len() < MAX_WORDS && self.known.insert(text.to_vec()) {
            self.list.push(text.to_vec());
        }
    }
}

impl Whitebox<'_> {
    pub(super) fn learn_words(&mut self, input: &[u8], words: &[Word], context: &mut Context<'_>) {
        let words: Vec<Word> =
            words.iter().filter(|word| stands_in(input, word)).cloned().collect();
        let words = &words[..];
        self.names.learn(input, words);
        let Some(sentences) = &mut self.sentences else { return };
        let started = context.clock.elapsed();
        sentences.learn_words(input, words);
        context.stats.times.grammar += context.clock.elapsed().saturating_sub(started);
    }

    /// The next input with a word in the place of another that is new and, within a language, a
    /// sentence.
    pub(super) fn attempt_name(&mut self, context: &mut Context<'_>) -> Option<Next> {
        let started = context.clock.elapsed();
        let is_within = self.sentences.is_some();
        let input = self.names.pop()?;
        let is_new = input.len() <= context.max_len && !self.inputs.contains(&hash_of(&input[..]));
        let is_wanted =
            is_new && self.sentences.as_mut().is_none_or(|sentences| sentences.contains(&input));
        if is_within {
            context.stats.times.grammar += context.clock.elapsed().saturating_sub(started);
        }
        if !is_wanted {
            return Some(Next::Busy);
        }
        self.inputs.insert(hash_of(&input[..]));
        context.stats.sentences.changed += u64::from(is_within);
        self.expected = Some(Expected::Change { run: None, prefix: None });
        Some(Next::Run(Proposal { input, symbolic: !is_within, origin: Origin::Word }))
    }
}

/// Whether a word is in the input as the program sees it, or is no part of the input.
fn stands_in(input: &[u8], word: &Word) -> bool {
    word.place.as_ref().is_none_or(|place| input.get(place.clone()) == Some(&word.text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(asker: Asker, text: &str, place: Option<usize>) -> Word {
        Word { asker, text: text.into(), place: place.map(|start| start..start + text.len()) }
    }

    fn inputs(names: &mut Names) -> Vec<String> {
        std::iter::from_fn(|| names.pop())
            .map(|input| String::from_utf8_lossy(&input).into_owned())
            .collect()
    }

    #[test]
    fn words_of_a_function_stand_for_each_other_in_all_runs() {
        let mut names = Names::default();
        names.learn(
            b"",
            &[word(Asker::Function(1), "sqrt", None), word(Asker::Function(2), "let", None)],
        );
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
        assert_eq!(tries(1..100), usize::from(MAX_TRIES - SAME_CONTEXT));
        assert_eq!(tries(100..200), 0);
    }
}
