//! Words of a language within a window: at each position only certain bytes.
//!
//! This is the question of a caller that changes a few bytes of an input: which bytes may stand at
//! these places so that they form a word of the language? No problem is built and nothing is
//! unbounded, so an answer takes microseconds. For regular languages the answer is a word that
//! changes the fewest bytes of a given one; for context-free ones a shortest word, with the given
//! bytes where the grammar does not tell them apart. A grammar of up to 256 tokens fits, a byte for
//! each.
//!
//! ```
//! use strings::{Budget, ByteSet, Finder, Languages, Window};
//!
//! let mut languages = Languages::default();
//! let digit = languages.bytes(ByteSet::range(b'0', b'9'));
//! let number = languages.repeat(digit, 1, 3);
//! let finder = Finder::new(&mut languages, number);
//! let bytes = [ByteSet::FULL, ByteSet::range(b'5', b'z'), ByteSet::single(b'0')];
//! let window = Window { bytes: &bytes, least: 3, near: b"7x1" };
//! let word = finder.find(&mut languages, &window, &mut Budget::default());
//! assert_eq!(word, Ok(Some(b"750".to_vec())));
//! ```

use rustc_hash::FxHashMap;

use crate::budget::{Budget, Stop};
use crate::bytes::{ByteSet, Class, classes};
use crate::grammar::Nonterminal;
use crate::language::{GrammarId, Language, Languages};
use crate::saturate::{Bounds, Machine, Saturation};

/// Where a word is looked for.
#[derive(Clone, Copy, Debug)]
pub struct Window<'w> {
    /// The bytes that each position may have. No word is longer.
    pub bytes: &'w [ByteSet],
    /// No word is shorter.
    pub least: usize,
    /// The word to stay close to; it may be shorter or longer than the window.
    pub near: &'w [u8],
}

impl Window<'_> {
    /// The byte to read at a position if any of `members` will do, and whether it is another one
    /// than in `near`.
    fn choose(&self, position: usize, members: ByteSet) -> Option<(u8, bool)> {
        let allowed = members.intersection(self.bytes[position]);
        match self.near.get(position) {
            Some(&byte) if allowed.contains(byte) => Some((byte, false)),
            _ => allowed.first().map(|byte| (byte, true)),
        }
    }
}

/// A language prepared for many windows.
#[derive(Clone, Debug)]
pub struct Finder {
    language: Language,
    classes: Vec<Class>,
    context_free: Option<(GrammarId, Nonterminal)>,
}

/// A prefix: where it leads, how many bytes it changes, and the prefix before its last byte.
#[derive(Clone, Copy)]
struct Prefix {
    language: Language,
    changes: u32,
    before: u32,
    byte: u8,
}

impl Finder {
    pub fn new(languages: &mut Languages, language: Language) -> Self {
        let classes = classes(languages.byte_sets(&[language]));
        let has_grammar = languages.has_grammar(language);
        let context_free = has_grammar.then(|| languages.as_context_free(language)).flatten();
        Finder { language, classes, context_free }
    }

    /// A word of the language within the window; `None` if there is none.
    pub fn find(
        &self,
        languages: &mut Languages,
        window: &Window<'_>,
        budget: &mut Budget,
    ) -> Result<Option<Vec<u8>>, Stop> {
        if window.least > window.bytes.len() {
            return Ok(None);
        }
        match self.context_free {
            Some((grammar, start)) => self.shortest(languages, grammar, start, window, budget),
            None => {
                languages.watch(budget);
                let word = self.closest(languages, window, budget);
                languages.stopped().and(word)
            }
        }
    }

    /// Follows all prefixes of one length together, the best one for each language that remains.
    fn closest(
        &self,
        languages: &mut Languages,
        window: &Window<'_>,
        budget: &mut Budget,
    ) -> Result<Option<Vec<u8>>, Stop> {
        let mut prefixes =
            vec![Prefix { language: self.language, changes: 0, before: u32::MAX, byte: 0 }];
        let mut layer = 0..1;
        let mut best: Option<(usize, u32)> = None;
        let mut ids: FxHashMap<Language, u32> = FxHashMap::default();
        for length in 0..=window.bytes.len() {
            if length >= window.least {
                for id in layer.clone().filter(|&id| languages.nullable(prefixes[id].language)) {
                    let changes =
                        prefixes[id].changes as usize + window.near.len().abs_diff(length);
                    if best.is_none_or(|(fewest, _)| changes < fewest) {
                        best = Some((changes, id as u32));
                    }
                }
            }
            if length == window.bytes.len() || layer.is_empty() {
                break;
            }
            let left = (window.bytes.len() - length - 1) as u64;
            ids.clear();
            let next = prefixes.len();
            for id in layer {
                let Prefix { language, changes, .. } = prefixes[id];
                budget.work(self.classes.len())?;
                for class in &self.classes {
                    let Some((byte, changed)) = window.choose(length, class.members) else {
                        continue;
                    };
                    let to = languages.derivative(language, class.representative);
                    if to == Languages::EMPTY || languages.shortest(to) > left {
                        continue;
                    }
                    let changes = changes + u32::from(changed && length < window.near.len());
                    let prefix = Prefix { language: to, changes, before: id as u32, byte };
                    match ids.get(&to) {
                        Some(&known) if prefixes[known as usize].changes <= changes => {}
                        Some(&known) => prefixes[known as usize] = prefix,
                        None => {
                            budget.spend()?;
                            ids.insert(to, prefixes.len() as u32);
                            prefixes.push(prefix);
                        }
                    }
                }
            }
            layer = next..prefixes.len();
        }
        Ok(best.map(|(_, end)| spell(&prefixes, end)))
    }

    fn shortest(
        &self,
        languages: &Languages,
        grammar: GrammarId,
        start: Nonterminal,
        window: &Window<'_>,
        budget: &mut Budget,
    ) -> Result<Option<Vec<u8>>, Stop> {
        let length = window.bytes.len();
        let moves = |position: usize| -> Vec<(u8, u32)> {
            let choose = |class: &Class| window.choose(position, class.members);
            self.classes
                .iter()
                .filter_map(choose)
                .map(|(byte, _)| (byte, position as u32 + 1))
                .collect()
        };
        let mut machine = Machine { start: 0, rest: Vec::new(), moves: Vec::new() };
        for position in 0..=length {
            machine.rest.push((position >= window.least).then_some(0));
            machine.moves.push(if position < length { moves(position) } else { Vec::new() });
        }
        let bounds = Bounds { least: 0, most: None };
        Saturation::new(languages.grammar(grammar), &machine, bounds).run(start, budget)
    }
}

fn spell(prefixes: &[Prefix], end: u32) -> Vec<u8> {
    let mut word = Vec::new();
    let mut at = prefixes[end as usize];
    while let Some(before) = prefixes.get(at.before as usize) {
        word.push(at.byte);
        at = *before;
    }
    word.reverse();
    word
}
