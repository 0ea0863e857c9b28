//! Lifted tokens: an input as the tokens of its derivation, and the sentences that differ from it
//! at one place.
//!
//! A constraint on bytes becomes one on the token that they belong to: another lexeme of its
//! terminal, another terminal that can stand there, a token more or less. What follows stays as it
//! is where that is still a sentence, if need be after a few more tokens; otherwise the cheapest
//! completion takes its place. Text that does not change keeps its bytes, white space included; a
//! separator is written only where two tokens would merge.

use crate::automata::automaton::Automaton;
use crate::automata::dfa::DfaError;
use crate::lexing::spell::Speller;
use crate::model::TerminalId;
use crate::model::analysis::INFINITE;
use crate::model::language::Language;
use crate::parse::Parser;
use crate::sampling::sample::Sampler;
use crate::solving::complete::Completer;
use crate::trees::tree::Label;
use context_free::earley::completion::Completion;
use context_free::earley::recognize::{Config, Recognizer};
use fastrand::Rng;
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::{Hash, Hasher};
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

/// Another token at a place of a sentence.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TokenChange {
    /// Stands for the new token and the two before it.
    pub key: u64,
    pub token: u32,
    pub terminal: TerminalId,
}

/// A text that differs from a sentence from one of its tokens on.
#[derive(Clone, Debug)]
pub struct Neighbour {
    pub text: Vec<u8>,
    /// Tokens before the difference.
    pub kept: usize,
    /// Those that follow.
    pub terminals: Vec<TerminalId>,
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
    completion: Completion,
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
/// Tokens that are added at most so that what follows can stay.
const LONGEST_BRIDGE: usize = 16;
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

    fn key(&self, token: usize, terminal: TerminalId) -> u64 {
        let before = |back: usize| {
            token.checked_sub(back).map_or(0, |at| u64::from(self.tokens[at].terminal.0) + 1)
        };
        let mut hasher = FxHasher::default();
        (before(2), before(1), terminal.0).hash(&mut hasher);
        hasher.finish()
    }

    fn lexeme(&self, token: usize) -> &[u8] {
        let Token { start, end, .. } = self.tokens[token];
        &self.text[start..end]
    }
}

impl<'l> Lifter<'l> {
    pub fn new(language: &'l Language) -> Result<Lifter<'l>, DfaError> {
        let mut sampler = Sampler::new(language)?;
        let mut rng = Rng::with_seed(0);
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
        let recognizer = language.core.recognizer();
        Ok(Lifter {
            language,
            parser: Parser::new(&language.grammar)?,
            completion: completion(language, &recognizer),
            recognizer,
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
        self.recognizer = self.language.core.recognizer();
        self.completion = completion(self.language, &self.recognizer);
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
        self.completion.prepare(&self.recognizer, configs[0]);
        for token in &tokens {
            configs.push(self.advance(configs[configs.len() - 1], token.terminal)?);
        }
        Some(Lifted { text: input.to_vec(), tokens, configs })
    }

    /// Keys of the tokens of a sentence, each with the two before it.
    pub fn keys(&mut self, input: &[u8]) -> Vec<u64> {
        let Some(lifted) = self.lift(input) else { return Vec::new() };
        (0..lifted.tokens.len())
            .map(|token| lifted.key(token, lifted.tokens[token].terminal))
            .collect()
    }

    /// The terminals that can stand at each token of a sentence, and after the last.
    pub fn changes(&mut self, input: &[u8]) -> Vec<TokenChange> {
        let Some(lifted) = self.lift(input) else { return Vec::new() };
        let mut changes = Vec::new();
        for (token, config) in lifted.configs.iter().enumerate() {
            let own = lifted.tokens.get(token).map(|token| token.terminal);
            for terminal in self.recognizer.expected(*config) {
                if Some(terminal) != own && !self.lexemes[terminal.index()].is_empty() {
                    let key = lifted.key(token, terminal);
                    changes.push(TokenChange { key, token: token as u32, terminal });
                }
            }
        }
        changes
    }

    /// The sentence with a change: in place of a token or before it, with what follows kept if that
    /// is possible.
    pub fn change(&mut self, input: &[u8], change: TokenChange) -> Option<Vec<u8>> {
        let lifted = self.lift(input)?;
        let (token, terminal) = (change.token as usize, change.terminal);
        if token > lifted.tokens.len() {
            return None;
        }
        let places =
            (0..lifted.tokens.len()).filter(|&other| lifted.tokens[other].terminal == terminal);
        let own = places.map(|other| lifted.lexeme(other).to_vec()).next();
        let lexeme = own.or_else(|| self.lexemes[terminal.index()].first().cloned())?;
        let edits = [Edit::Insert, Edit::Replace, Edit::Complete];
        let mut edited = edits
            .into_iter()
            .filter_map(|edit| self.edited(&lifted, token, edit, terminal, &lexeme));
        edited.next().map(|neighbour| neighbour.text)
    }

    /// The number of the token at `byte`; `None` for texts that are no sentence.
    pub fn token_at(&mut self, input: &[u8], byte: usize) -> Option<usize> {
        self.lift(input).map(|lifted| lifted.token_at(byte))
    }

    /// Texts that differ from `input` at one of its tokens. They are sentences unless tokens merge
    /// in a way that a separator does not prevent.
    pub fn neighbours(&mut self, input: &[u8], token: usize) -> Vec<Neighbour> {
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

    /// A sentence, as far as it differs from another one.
    pub fn as_neighbour(&mut self, input: &[u8], text: Vec<u8>) -> Option<Neighbour> {
        let (old, new) = (self.lift(input)?, self.lift(&text)?);
        let is_same =
            |(a, b): &(&Token, &Token)| a == b && input[a.start..a.end] == text[b.start..b.end];
        let kept = old.tokens.iter().zip(&new.tokens).take_while(is_same).count();
        let terminals = new.tokens[kept..].iter().map(|token| token.terminal).collect();
        Some(Neighbour { text, kept, terminals })
    }

    /// Texts with a terminal in place of a token or before it.
    pub fn alternatives(
        &mut self,
        input: &[u8],
        token: usize,
        terminal: TerminalId,
    ) -> Vec<Neighbour> {
        let Some(lifted) = self.lift(input).filter(|lifted| token <= lifted.tokens.len()) else {
            return Vec::new();
        };
        let Some(lexeme) = self.lexemes[terminal.index()].first().cloned() else {
            return Vec::new();
        };
        let edits = [Edit::Replace, Edit::Insert, Edit::Complete].into_iter();
        edits.filter_map(|edit| self.edited(&lifted, token, edit, terminal, &lexeme)).collect()
    }

    /// Texts that have the wanted bytes of a proposal: what stands there as one token, and a
    /// completion.
    pub fn with_proposal(&mut self, input: &[u8], proposal: &[u8]) -> Vec<Vec<u8>> {
        let Some(lifted) = self.lift(input) else { return Vec::new() };
        let byte = input.iter().zip(proposal).take_while(|(a, b)| a == b).count();
        let token = lifted.token_at(byte);
        let mut texts = Vec::new();
        if let Some((terminal, lexeme)) = self.proposed(&lifted, token, proposal) {
            for edit in [Edit::Replace, Edit::Insert, Edit::Complete] {
                texts.extend(
                    self.edited(&lifted, token, edit, terminal, &lexeme).map(|edited| edited.text),
                );
            }
        }
        texts.extend(self.finish(&lifted, proposal));
        texts
    }

    /// A proposal up to the last byte that it changes, and a cheapest completion of that.
    fn finish(&mut self, lifted: &Lifted, proposal: &[u8]) -> Option<Vec<u8>> {
        let same =
            proposal.iter().rev().zip(lifted.text.iter().rev()).take_while(|(a, b)| a == b).count();
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
            let places =
                (0..lifted.tokens.len()).filter(|&other| lifted.tokens[other].terminal == terminal);
            let own = places.map(|other| lifted.lexeme(other));
            let known = self.lexemes[terminal.index()].iter().map(Vec::as_slice);
            let mut lexemes: Vec<Vec<u8>> = Vec::new();
            own.chain(known).for_each(|lexeme| remember(&mut lexemes, lexeme));
            choices.extend(lexemes.into_iter().map(|lexeme| (terminal, lexeme)));
        }
        choices
    }

    /// The token that a proposal has where `token` begins.
    fn proposed(
        &mut self,
        lifted: &Lifted,
        token: usize,
        proposal: &[u8],
    ) -> Option<(TerminalId, Vec<u8>)> {
        let start = lifted.tokens.get(token)?.start;
        let tokens = self.parser.tokens(proposal.get(start..)?);
        // What comes after the token need not be any.
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
    ) -> Option<Neighbour> {
        let at = lifted.tokens.get(token);
        if edit == Edit::Replace && at.is_none_or(|at| &lifted.text[at.start..at.end] == lexeme) {
            return None;
        }
        let (start, end) =
            at.map_or((lifted.text.len(), lifted.text.len()), |at| (at.start, at.end));
        let config = self.advance(lifted.configs[token], terminal)?;
        let mut added = vec![lexeme.to_vec()];
        let (from, next) = match edit {
            Edit::Replace => (end, token + 1),
            Edit::Insert => (start, token),
            Edit::Complete => (lifted.text.len(), lifted.tokens.len()),
        };
        let bridge = match edit {
            Edit::Complete => self.completion.terminals(&self.recognizer, config)?,
            _ => self.bridge(config, &lifted.tokens[next..])?,
        };
        added.extend(
            bridge.iter().map(|terminal| {
                self.lexemes[terminal.index()].first().cloned().unwrap_or_default()
            }),
        );
        let mut text = lifted.text[..start].to_vec();
        let before = token.checked_sub(1).filter(|&before| lifted.tokens[before].end == start);
        let mut last = before.map_or(&[][..], |before| lifted.lexeme(before));
        for lexeme in &added {
            self.separate(&mut text, last, lexeme);
            text.extend_from_slice(lexeme);
            last = lexeme;
        }
        self.append(lifted, &mut text, (from, next), last);
        let rest = lifted.tokens[next..].iter().map(|token| token.terminal);
        let terminals = std::iter::once(terminal).chain(bridge).chain(rest).collect();
        Some(Neighbour { text, kept: token, terminals })
    }

    /// The configuration after one more token, ready to be completed.
    fn advance(&mut self, config: Config, terminal: TerminalId) -> Option<Config> {
        let next = self.recognizer.advance(config, terminal)?;
        self.completion.prepare(&self.recognizer, next);
        Some(next)
    }

    /// Tokens after which the rest can follow: the beginning of a cheapest completion, which
    /// finishes the innermost rule first.
    fn bridge(&mut self, mut config: Config, rest: &[Token]) -> Option<Vec<TerminalId>> {
        if self.keeps(config, rest) {
            return Some(Vec::new());
        }
        let mut completion = self.completion.terminals(&self.recognizer, config)?;
        completion.truncate(LONGEST_BRIDGE);
        for (length, terminal) in completion.iter().enumerate() {
            config = self.advance(config, *terminal)?;
            if self.keeps(config, rest) {
                completion.truncate(length + 1);
                return Some(completion);
            }
        }
        None
    }

    /// The sentence without a token.
    fn without(&mut self, lifted: &Lifted, token: usize) -> Option<Neighbour> {
        let Token { start, end, .. } = *lifted.tokens.get(token)?;
        if !self.keeps(lifted.configs[token], &lifted.tokens[token + 1..]) {
            return None;
        }
        let mut text = lifted.text[..start].to_vec();
        let before = token.checked_sub(1).filter(|&before| lifted.tokens[before].end == start);
        let before = before.map_or(&[][..], |before| lifted.lexeme(before)).to_vec();
        self.append(lifted, &mut text, (end, token + 1), &before);
        let terminals = lifted.tokens[token + 1..].iter().map(|token| token.terminal).collect();
        Some(Neighbour { text, kept: token, terminals })
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
    fn append(
        &mut self,
        lifted: &Lifted,
        text: &mut Vec<u8>,
        (from, next): (usize, usize),
        last: &[u8],
    ) {
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

/// Costs are bytes of the shortest lexemes.
fn completion(language: &Language, recognizer: &Recognizer) -> Completion {
    let price = |lexemes: &Automaton| lexemes.min_len().map_or(INFINITE, u64::from);
    let costs: Vec<u64> = language.lexemes.iter().map(price).collect();
    Completion::new(&language.core.productions, recognizer, &costs)
}

fn remember(lexemes: &mut Vec<Vec<u8>>, lexeme: &[u8]) {
    if lexemes.len() < REMEMBERED
        && lexeme.len() <= LONG
        && !lexemes.iter().any(|known| known == lexeme)
    {
        lexemes.push(lexeme.to_vec());
    }
}
