//! Tokens back to text, with something between two of them where they would merge otherwise.

use crate::automata::automaton::Automaton;
use crate::automata::dfa::DfaError;
use crate::lexing::lexer::{Lexer, StackId};
use crate::model::pattern::Pattern;
use crate::model::{Emit, Grammar, Lexing, ModeId, TerminalId};

/// The stack of modes with which every text begins.
const BEGIN: StackId = StackId(0);

pub struct Speller {
    /// `None` where tokens follow each other directly.
    lexer: Option<Lexer>,
    rules: Vec<(ModeId, Emit)>,
    /// By mode; `None` where nothing may stand between tokens.
    separators: Vec<Option<Vec<u8>>>,
    many_modes: bool,
    stack: StackId,
    last: (usize, usize),
    /// May any lexeme of one terminal merge with one of another? By pair; 0 is unknown.
    pairs: Vec<u8>,
    terminals: usize,
}

impl Speller {
    pub fn new(grammar: &Grammar) -> Result<Speller, DfaError> {
        let apart = grammar.lexing != Lexing::Scannerless;
        let lexer = apart.then(|| Lexer::new(grammar)).transpose()?;
        let separators =
            (0..grammar.modes.len()).map(|m| separator(grammar, ModeId::from(m))).collect();
        let terminals = grammar.terminals.len();
        Ok(Speller {
            rules: grammar.lex_rules.iter().map(|r| (r.mode, r.emit)).collect(),
            separators,
            many_modes: grammar.modes.len() > 1,
            stack: BEGIN,
            last: (0, 0),
            pairs: if apart && terminals <= 2_000 {
                vec![0; terminals * terminals]
            } else {
                Vec::new()
            },
            terminals,
            lexer,
        })
    }

    /// The lexer of the texts, where there is one; its stacks are those that `resume` takes.
    pub(crate) fn lexer(&mut self) -> Option<&mut Lexer> {
        self.lexer.as_mut()
    }

    /// Goes on after a text whose last token has `len` bytes, which are all that is written so far.
    pub(crate) fn resume(&mut self, stack: StackId, len: usize) {
        self.stack = stack;
        self.last = (0, len);
    }

    /// Begins a new text.
    pub fn begin(&mut self) {
        self.resume(BEGIN, 0);
    }

    /// Is anything ever written between tokens?
    pub fn keeps_apart(&self) -> bool {
        self.lexer.is_some()
    }

    /// Appends a token to `out`, which holds what was written since `begin`.
    pub fn write(&mut self, out: &mut Vec<u8>, terminal: TerminalId, lexeme: &[u8]) {
        if let Some(lexer) = &mut self.lexer {
            let mode = lexer.mode_of(self.stack);
            let (from, to) = self.last;
            if to > from
                && let Some(separator) = &self.separators[mode.index()]
                && lexer.merges(mode, &out[from..to], lexeme)
            {
                out.extend_from_slice(separator);
            }
            if self.many_modes {
                self.stack = lexer.after_token(self.stack, terminal, &self.rules);
            }
        }
        self.last = (out.len(), out.len() + lexeme.len());
        out.extend_from_slice(lexeme);
    }

    /// What to write between two lexemes of the first mode so that they do not merge.
    pub fn separator(&mut self, left: &[u8], right: &[u8]) -> &[u8] {
        let merges = self.lexer.as_mut().is_some_and(|lexer| lexer.merges(ModeId(0), left, right));
        self.separators[0].as_deref().filter(|_| merges).unwrap_or(&[])
    }

    /// Something to write between any lexeme of `left` and any of `right` so that they cannot
    /// merge; for grammars with one mode, where it depends on the terminals only.
    #[inline]
    pub fn between(
        &mut self,
        left: TerminalId,
        right: TerminalId,
        lexemes: &[Automaton],
    ) -> Option<&[u8]> {
        let index = left.index() * self.terminals + right.index();
        let known = self.pairs.get(index).copied().unwrap_or(2);
        let merges =
            if known == 0 { self.examine(left, right, lexemes, index) } else { known == 2 };
        if merges { self.separators[0].as_deref() } else { None }
    }

    /// As `write`, where the token or the one before it, `left`, may have other lexemes: apart if
    /// any of them may merge.
    pub fn write_any(
        &mut self,
        out: &mut Vec<u8>,
        left: Option<TerminalId>,
        (terminal, lexeme): (TerminalId, &[u8]),
        lexemes: &[Automaton],
    ) {
        if self.keeps_apart()
            && self.is_simple()
            && let Some(left) = left
            && let Some(separator) = self.between(left, terminal, lexemes)
        {
            out.extend_from_slice(separator);
            self.last = (out.len(), out.len());
        }
        self.write(out, terminal, lexeme);
    }

    pub fn is_simple(&self) -> bool {
        !self.many_modes
    }

    #[cold]
    fn examine(
        &mut self,
        left: TerminalId,
        right: TerminalId,
        lexemes: &[Automaton],
        index: usize,
    ) -> bool {
        let (left, right) = (&lexemes[left.index()], &lexemes[right.index()]);
        let merges = self.lexer.as_mut().is_some_and(|lexer| lexer.may_merge(left, right));
        self.pairs[index] = if merges { 2 } else { 1 };
        merges
    }

    /// A whole text from tokens.
    pub fn spell<'t>(&mut self, tokens: impl Iterator<Item = (TerminalId, &'t [u8])>) -> Vec<u8> {
        let mut out = Vec::new();
        self.begin();
        tokens.for_each(|(terminal, lexeme)| self.write(&mut out, terminal, lexeme));
        out
    }
}

/// A blank if it is skipped, else a line break, else a shortest skipped text.
fn separator(grammar: &Grammar, mode: ModeId) -> Option<Vec<u8>> {
    if let Some(given) = &grammar.separator {
        return Some(given.clone());
    }
    let skips = || grammar.lex_rules.iter().filter(|r| r.mode == mode && r.emit == Emit::Skip);
    for text in [&b" "[..], b"\n", b"\t"] {
        if skips().any(|r| matches(&r.pattern, text)) {
            return Some(text.to_vec());
        }
    }
    skips().find_map(|r| crate::automata::automaton::own_lexemes(&r.pattern).ok()?.shortest())
}

fn matches(pattern: &Pattern, text: &[u8]) -> bool {
    crate::automata::automaton::own_lexemes(pattern).is_ok_and(|a| a.matches(text))
}
