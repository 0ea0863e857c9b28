//! Lifted tokens: an input as the tokens of its derivation, and the sentences that differ from it at one place.
//!
//! A constraint on bytes becomes one on the token that they belong to: another lexeme of its terminal, another terminal that
//! can stand there, a token more or less. What follows stays as it is where that is still a sentence; otherwise the
//! cheapest completion takes its place. Text that does not change keeps its bytes, white space included; a separator is
//! written only where two tokens would merge.

use crate::complete::Completer;
use crate::dfa::DfaError;
use crate::language::Language;
use crate::model::TerminalId;
use crate::parse::Parser;
use crate::recognize::{Config, Recognizer};
use crate::rng::Rng;
use crate::sample::Sampler;
use crate::spell::Speller;
use crate::tree::Label;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// A token of an input.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Token {
    pub terminal: TerminalId,
    pub start: usize,
    pub end: usize,
}

/// A sentence with its tokens.
pub struct Lifted {
    text: Vec<u8>,
    tokens: Vec<Token>,
    /// Before each token, and after the last.
    configs: Vec<Config>,
}

/// How a sentence is changed at a token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Edit {
    /// Another token stands in its place.
    Replace,
    /// Another token stands before it.
    Insert,
    /// Another token stands in its place, and what follows is a cheapest completion.
    Complete,
}

/// Makes sentences; use one for many inputs.
pub struct Lifter<'l> {
    language: &'l Language,
    parser: Parser,
    recognizer: Recognizer,
    completer: Completer,
    speller: Speller,
    /// Some lexemes of each terminal: short ones, and those of inputs that were lifted.
    lexemes: Vec<Vec<Vec<u8>>>,
    lifted: FxHashMap<Vec<u8>, Option<Rc<Lifted>>>,
}

/// Lexemes that are drawn of each terminal, and that are remembered in all.
const DRAWN: usize = 4;
const REMEMBERED: usize = 16;
/// Bytes that a drawn lexeme has beyond the shortest.
const LONGER: u32 = 3;
/// Inputs whose tokens are kept, and configurations.
const KEPT: usize = 4_096;
const CONFIGS: usize = 1_000_000;
/// Longer lexemes are not remembered.
const LONG: usize = 64;

impl Lifted {
    pub fn tokens(&self) -> &[Token] {
        &self.tokens
    }

    /// The first token that does not end before `byte`; the number of tokens if there is none.
    fn token_at(&self, byte: usize) -> usize {
        self.tokens.partition_point(|token| token.end <= byte)
    }

    fn lexeme(&self, token: usize) -> &[u8] {
        let Token { start, end, .. } = self.tokens[token];
        &self.text[start..end]
    }
}

impl<'l> Lifter<'l> {
    pub fn new(language: &'l Language) -> Result<Lifter<'l>, DfaError> {
        let mut sampler = Sampler::new(language)?;
        let mut rng = Rng::new(0);
        let mut lexemes = Vec::new();
        for (terminal, automaton) in language.lexemes.iter().enumerate() {
            let mut known: Vec<Vec<u8>> = automaton.shortest().into_iter().collect();
            for _ in 0..if known.is_empty() { 0 } else { DRAWN } {
                let mut lexeme = Vec::new();
                sampler.lexeme(TerminalId::from(terminal), &mut rng, LONGER, &mut lexeme);
                remember(&mut known, &lexeme);
            }
            lexemes.push(known);
        }
        Ok(Lifter {
            language,
            parser: Parser::new(&language.grammar)?,
            recognizer: Recognizer::new(&language.core),
            completer: Completer::new(language)?,
            speller: Speller::new(&language.grammar)?,
            lexemes,
            lifted: FxHashMap::default(),
        })
    }

    pub fn is_sentence(&mut self, input: &[u8]) -> bool {
        self.parser.check(input).is_ok()
    }

    /// The tokens of a sentence; `None` if it is none.
    pub fn lift(&mut self, input: &[u8]) -> Option<Rc<Lifted>> {
        if let Some(known) = self.lifted.get(input) {
            return known.clone();
        }
        if self.lifted.len() >= KEPT || self.recognizer.configs() > CONFIGS {
            self.forget();
        }
        let lifted = self.read(input).map(Rc::new);
        for token in lifted.iter().flat_map(|lifted| &lifted.tokens) {
            remember(&mut self.lexemes[token.terminal.index()], &input[token.start..token.end]);
        }
        self.lifted.insert(input.to_vec(), lifted.clone());
        lifted
    }

    /// Keeps memory bounded over many inputs.
    fn forget(&mut self) {
        self.lifted.clear();
        self.recognizer = Recognizer::new(&self.language.core);
        if let Ok(completer) = Completer::new(self.language) {
            self.completer = completer;
        }
    }

    fn read(&mut self, input: &[u8]) -> Option<Lifted> {
        let tree = self.parser.parse(input).ok()?;
        let token = |node: usize| match tree.nodes[node].label {
            Label::Token(terminal) => {
                let (start, end) = (tree.nodes[node].start as usize, tree.nodes[node].end as usize);
                Some(Token { terminal, start, end })
            }
            Label::Prod(_) => None,
        };
        let tokens: Vec<Token> = tree.tokens().filter_map(token).collect();
        let mut configs = vec![self.recognizer.begin()];
        for token in &tokens {
            configs.push(self.recognizer.advance(configs[configs.len() - 1], token.terminal)?);
        }
        Some(Lifted { text: input.to_vec(), tokens, configs })
    }

    /// The number of the token at `byte`; `None` for texts that are no sentence.
    pub fn token_at(&mut self, input: &[u8], byte: usize) -> Option<usize> {
        self.lift(input).map(|lifted| lifted.token_at(byte))
    }

    /// Texts that differ from `input` at one of its tokens. They are sentences unless tokens merge in a way that a separator does not
    /// prevent.
    pub fn neighbours(&mut self, input: &[u8], token: usize) -> Vec<Vec<u8>> {
        let Some(lifted) = self.lift(input) else { return Vec::new() };
        let mut texts = Vec::new();
        let choices = self.choices(&lifted, token);
        for edit in [Edit::Replace, Edit::Insert, Edit::Complete] {
            for (terminal, lexeme) in &choices {
                texts.extend(self.edited(&lifted, token, edit, *terminal, lexeme));
            }
        }
        texts.extend(self.without(&lifted, token));
        texts
    }

    /// Texts that have the wanted bytes of a proposal: what stands there as one token, and a completion.
    pub fn with_proposal(&mut self, input: &[u8], proposal: &[u8]) -> Vec<Vec<u8>> {
        let Some(lifted) = self.lift(input) else { return Vec::new() };
        let byte = input.iter().zip(proposal).take_while(|(a, b)| a == b).count();
        let token = lifted.token_at(byte);
        let mut texts = Vec::new();
        if let Some((terminal, lexeme)) = self.proposed(&lifted, token, proposal) {
            for edit in [Edit::Replace, Edit::Insert, Edit::Complete] {
                texts.extend(self.edited(&lifted, token, edit, terminal, &lexeme));
            }
        }
        texts.extend(self.finish(&lifted, proposal));
        texts
    }

    /// A proposal up to the last byte that it changes, and a cheapest completion of that.
    fn finish(&mut self, lifted: &Lifted, proposal: &[u8]) -> Option<Vec<u8>> {
        let same = proposal.iter().rev().zip(lifted.text.iter().rev()).take_while(|(a, b)| a == b).count();
        let same = if proposal.len() == lifted.text.len() { same } else { 0 };
        let wanted = &proposal[..proposal.len() - same];
        let rest = self.completer.complete(wanted).ok()?;
        Some([wanted, &rest].concat())
    }

    /// Terminals that can stand at a token, each with lexemes; those of the sentence come first.
    fn choices(&mut self, lifted: &Lifted, token: usize) -> Vec<(TerminalId, Vec<u8>)> {
        let mut choices = Vec::new();
        let expected = self.recognizer.expected(lifted.configs[token]);
        for terminal in expected {
            let places = (0..lifted.tokens.len()).filter(|&other| lifted.tokens[other].terminal == terminal);
            let own = places.map(|other| lifted.lexeme(other));
            let known = self.lexemes[terminal.index()].iter().map(Vec::as_slice);
            let mut lexemes: Vec<Vec<u8>> = Vec::new();
            own.chain(known).for_each(|lexeme| remember(&mut lexemes, lexeme));
            choices.extend(lexemes.into_iter().map(|lexeme| (terminal, lexeme)));
        }
        choices
    }

    /// The token that a proposal has where `token` begins.
    fn proposed(&mut self, lifted: &Lifted, token: usize, proposal: &[u8]) -> Option<(TerminalId, Vec<u8>)> {
        let start = lifted.tokens.get(token)?.start;
        let tokens = self.parser.tokens(proposal.get(start..)?);
        // What comes behind the token need not be any.
        let first = match tokens {
            Ok(tokens) => *tokens.first()?,
            Err(stuck) => *self.parser.tokens(proposal.get(start..start + stuck)?).ok()?.first()?,
        };
        let end = first.next.pos as usize;
        (first.start == 0).then(|| (first.terminal, proposal[start..start + end].to_vec()))
    }

    fn edited(
        &mut self,
        lifted: &Lifted,
        token: usize,
        edit: Edit,
        terminal: TerminalId,
        lexeme: &[u8],
    ) -> Option<Vec<u8>> {
        let at = lifted.tokens.get(token);
        if edit == Edit::Replace && at.is_none_or(|at| &lifted.text[at.start..at.end] == lexeme) {
            return None;
        }
        let start = at.map_or(lifted.text.len(), |at| at.start);
        let mut text = lifted.text[..start].to_vec();
        if let Some(before) = token.checked_sub(1).filter(|&before| lifted.tokens[before].end == start) {
            self.separate(&mut text, lifted.lexeme(before), lexeme);
        }
        text.extend_from_slice(lexeme);
        if edit == Edit::Complete {
            let rest = self.completer.complete(&text).ok()?;
            text.extend(rest);
            return Some(text);
        }
        let next = if edit == Edit::Insert { token } else { token + 1 };
        let config = self.recognizer.advance(lifted.configs[token], terminal)?;
        self.keeps(config, &lifted.tokens[next.min(lifted.tokens.len())..]).then(|| {
            self.append(
                lifted,
                &mut text,
                (start + usize::from(edit == Edit::Replace) * at.map_or(0, |at| at.end - at.start), next),
                lexeme,
            );
            text
        })
    }

    /// The sentence without a token.
    fn without(&mut self, lifted: &Lifted, token: usize) -> Option<Vec<u8>> {
        let Token { start, end, .. } = *lifted.tokens.get(token)?;
        if !self.keeps(lifted.configs[token], &lifted.tokens[token + 1..]) {
            return None;
        }
        let mut text = lifted.text[..start].to_vec();
        let before = token.checked_sub(1).filter(|&before| lifted.tokens[before].end == start);
        let before = before.map_or(&[][..], |before| lifted.lexeme(before)).to_vec();
        self.append(lifted, &mut text, (end, token + 1), &before);
        Some(text)
    }

    /// Can the rest follow?
    fn keeps(&mut self, mut config: Config, rest: &[Token]) -> bool {
        for token in rest {
            let Some(next) = self.recognizer.advance(config, token.terminal) else { return false };
            config = next;
        }
        self.recognizer.accepts(config)
    }

    /// Appends the text from byte `from` on, whose first token is `next`.
    fn append(&mut self, lifted: &Lifted, text: &mut Vec<u8>, (from, next): (usize, usize), last: &[u8]) {
        if lifted.tokens.get(next).is_some_and(|next| next.start == from) {
            self.separate(text, last, lifted.lexeme(next));
        }
        text.extend_from_slice(&lifted.text[from..]);
    }

    fn separate(&mut self, text: &mut Vec<u8>, left: &[u8], right: &[u8]) {
        if !left.is_empty() {
            text.extend_from_slice(self.speller.separator(left, right));
        }
    }
}

fn remember(lexemes: &mut Vec<Vec<u8>>, lexeme: &[u8]) {
    if lexemes.len() < REMEMBERED && lexeme.len() <= LONG && !lexemes.iter().any(|known| known == lexeme) {
        lexemes.push(lexeme.to_vec());
    }
}
