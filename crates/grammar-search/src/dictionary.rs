//! Lexemes that mean something to the program: words that it asks about where the input has tokens.
//!
//! No program knows a random name. But traces tell what a program compares names with and which
//! words it looks up by their hash ([`Word`]): its functions, properties, formats. Each is a lexeme
//! of the terminals whose tokens were asked about the same way. New sentences get some of them in
//! place of random lexemes, and some tokens once more that they have already: a name means
//! something where it is used only because it was declared.
//!
//! Most words mean something in some places only: few names are functions, and others are
//! properties. So words that stood after a terminal in a short sentence whose run ended well, with
//! status 0, are put there more often.

use fastrand::Rng;
use grammar::TerminalId;
use grammar::automaton::Automaton;
use grammar::lift::Token;
use path::{Asker, Word};
use rustc_hash::{FxHashMap, FxHashSet};

/// Words of a function, and lexemes of a terminal, that are remembered.
const MAX_WORDS: usize = 1024;
/// Functions that are told apart.
const MAX_FUNCTIONS: usize = 256;
/// Bytes of a token on either side of a word: quotes.
const MAX_BESIDE: usize = 1;

/// Tokens of a sentence that is short: of the words in a long one, many were never reached.
const SHORT: usize = 16;

/// A token as it will be written.
pub(crate) type Spelt = (TerminalId, Vec<u8>);

pub(crate) struct Dictionary<'l> {
    automata: &'l [Automaton],
    /// Of each terminal.
    lexemes: Vec<Set>,
    /// Of all runs.
    functions: FxHashMap<u32, Asked>,
    /// Those of `lexemes` that served, by the terminal before them, if any, and their own.
    served: FxHashMap<Place, Set>,
}

type Place = (Option<TerminalId>, TerminalId);

/// In the order in which they came.
#[derive(Default)]
struct Set {
    list: Vec<Vec<u8>>,
    known: FxHashSet<Vec<u8>>,
}

/// What was asked about the same way.
#[derive(Default)]
struct Asked {
    words: Set,
    slots: Vec<Slot>,
}

/// Where in a token a word stands.
#[derive(Clone, PartialEq, Eq)]
struct Slot {
    terminal: TerminalId,
    before: Vec<u8>,
    after: Vec<u8>,
}

impl Set {
    fn add(&mut self, text: &[u8]) -> bool {
        let is_new = self.list.len() < MAX_WORDS && self.known.insert(text.to_vec());
        if is_new {
            self.list.push(text.to_vec());
        }
        is_new
    }

    fn any(&self, rng: &mut Rng) -> Option<Vec<u8>> {
        self.list.get(rng.usize(..self.list.len().max(1))).cloned()
    }
}

impl Slot {
    fn of(input: &[u8], tokens: &[Token], word: &Word) -> Option<Slot> {
        let place = word.place.clone()?;
        let token = tokens.get(tokens.partition_point(|token| token.end < place.end))?;
        let (before, after) =
            (input.get(token.start..place.start)?, input.get(place.end..token.end)?);
        let is_near = before.len().max(after.len()) <= MAX_BESIDE;
        is_near.then(|| Slot {
            terminal: token.terminal,
            before: before.to_vec(),
            after: after.to_vec(),
        })
    }

    fn lexeme(&self, word: &[u8]) -> Vec<u8> {
        [&self.before, word, &self.after].concat()
    }
}

impl Asked {
    /// Takes note of a word and of where in a token it stands, and returns what may be lexemes by
    /// that. A word of the input is none of the program's.
    fn add(&mut self, word: &Word, slot: Option<Slot>) -> Vec<Spelt> {
        if word.place.is_none() && self.words.add(&word.text) {
            return self
                .slots
                .iter()
                .map(|slot| (slot.terminal, slot.lexeme(&word.text)))
                .collect();
        }
        let Some(slot) = slot.filter(|slot| !self.slots.contains(slot)) else { return Vec::new() };
        let lexemes =
            self.words.list.iter().map(|word| (slot.terminal, slot.lexeme(word))).collect();
        self.slots.push(slot);
        lexemes
    }
}

impl<'l> Dictionary<'l> {
    /// `automata` accept the lexemes of each terminal.
    pub(crate) fn new(automata: &'l [Automaton]) -> Dictionary<'l> {
        let lexemes = automata.iter().map(|_| Set::default()).collect();
        Dictionary {
            automata,
            lexemes,
            functions: FxHashMap::default(),
            served: FxHashMap::default(),
        }
    }

    /// Takes note of the words that were asked about in a run on a sentence with these tokens.
    pub(crate) fn learn(&mut self, input: &[u8], tokens: &[Token], words: &[Word]) {
        let mut comparisons: FxHashMap<u32, Asked> = FxHashMap::default();
        for word in words {
            let is_full = self.functions.len() >= MAX_FUNCTIONS;
            let asked = match word.asker {
                Asker::Comparison(number) => comparisons.entry(number).or_default(),
                Asker::Function(function) if is_full && !self.functions.contains_key(&function) => {
                    continue;
                }
                Asker::Function(function) => self.functions.entry(function).or_default(),
            };
            for (terminal, lexeme) in asked.add(word, Slot::of(input, tokens, word)) {
                if self.automata[terminal.index()].matches(&lexeme) {
                    self.lexemes[terminal.index()].add(&lexeme);
                }
            }
        }
    }

    /// Takes note of a sentence whose run ended well.
    pub(crate) fn serve(&mut self, input: &[u8], tokens: &[Token]) {
        if tokens.len() > SHORT {
            return;
        }
        let before = std::iter::once(None).chain(tokens.iter().map(|token| Some(token.terminal)));
        for (token, before) in tokens.iter().zip(before) {
            let lexeme = &input[token.start..token.end];
            if self.lexemes[token.terminal.index()].known.contains(lexeme) {
                self.served.entry((before, token.terminal)).or_default().add(lexeme);
            }
        }
    }

    /// Puts what is known in the place of one in so many tokens that can be spelt in several ways.
    pub(crate) fn enrich(&self, tokens: &mut [Spelt], one_in: u32, rng: &mut Rng) {
        for at in 0..tokens.len() {
            if self.automata[tokens[at].0.index()].single().is_some() || rng.u32(..one_in) != 0 {
                continue;
            }
            let chosen = match rng.u32(..2) {
                0 => earlier(tokens, at, rng).or_else(|| self.known(tokens, at, rng)),
                _ => self.known(tokens, at, rng).or_else(|| earlier(tokens, at, rng)),
            };
            if let Some(lexeme) = chosen {
                tokens[at].1 = lexeme;
            }
        }
    }

    /// A lexeme for a token that means something to the program.
    fn known(&self, tokens: &[Spelt], at: usize, rng: &mut Rng) -> Option<Vec<u8>> {
        let terminal = tokens[at].0;
        let before = at.checked_sub(1).map(|before| tokens[before].0);
        let served = self.served.get(&(before, terminal)).filter(|_| rng.u32(..2) == 0);
        served.unwrap_or(&self.lexemes[terminal.index()]).any(rng)
    }
}

/// A lexeme that a token with the same terminal has before this one.
fn earlier(tokens: &[Spelt], at: usize, rng: &mut Rng) -> Option<Vec<u8>> {
    let same: Vec<&Spelt> = tokens[..at].iter().filter(|token| token.0 == tokens[at].0).collect();
    same.get(rng.usize(..same.len().max(1))).map(|token| token.1.clone())
}
