//! What a grammar is, as its author sees it: terminals, EBNF rules, a start, and how text becomes
//! tokens.

pub mod analysis;
pub mod bytes;
pub mod core;
mod end_of_input;
pub mod language;
pub mod pattern;
pub mod unused;

use crate::model::pattern::Pattern;
use context_free::index;

/// Index into `Grammar::terminals`.
pub use context_free::TerminalId;

index!(
    /// Index into `Grammar::rules`.
    RuleId
);
index!(
    /// Index into `Grammar::modes`.
    ModeId
);

/// Stands for the end of the input in patterns of lexer rules; no UTF-8 text contains it.
pub const END_MARKER: u8 = 0xff;

#[derive(Clone, Debug)]
pub struct Grammar {
    pub name: String,
    pub terminals: Vec<Terminal>,
    pub rules: Vec<Rule>,
    pub start: RuleId,
    pub lexing: Lexing,
    /// In order of priority. Empty for scannerless grammars.
    pub lex_rules: Vec<LexRule>,
    /// Lexer modes (start conditions); the first one is where lexing begins.
    pub modes: Vec<String>,
    /// Written between two tokens that would merge otherwise; `None`: chosen from the skip rules.
    pub separator: Option<Vec<u8>>,
    /// Do lexer rules use `END_MARKER`?
    pub end_marker: bool,
}

#[derive(Clone, Debug)]
pub struct Terminal {
    pub name: String,
    /// All lexemes, whatever mode they are found in.
    pub pattern: Pattern,
    /// The number that the program's own scanner returns for it (bison).
    pub code: Option<i64>,
    /// False if the scanner that defines it is missing; its lexeme is then its name.
    pub defined: bool,
    /// Matches the end of the input and nothing else.
    pub end_of_input: bool,
}

impl Terminal {
    pub fn new(name: impl Into<String>, pattern: Pattern) -> Terminal {
        Terminal { name: name.into(), pattern, code: None, defined: true, end_of_input: false }
    }
}

/// How text is cut into tokens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lexing {
    /// Not at all: a terminal matches any of its lexemes wherever the rules allow it.
    Scannerless,
    /// Before parsing: the longest match wins, then the earliest rule.
    Longest,
    /// While parsing: as `Longest`, among the terminals that can stand at that place.
    Contextual,
}

#[derive(Clone, Debug)]
pub struct LexRule {
    pub name: String,
    pub mode: ModeId,
    pub pattern: Pattern,
    pub emit: Emit,
    pub ops: Vec<ModeOp>,
    /// Guarded by a predicate that was not understood: the match may or may not count.
    pub predicated: bool,
}

impl LexRule {
    pub fn token(terminal: TerminalId, name: &str, pattern: Pattern) -> LexRule {
        LexRule::new(name, pattern, Emit::Token(terminal))
    }

    pub fn skip(name: &str, pattern: Pattern) -> LexRule {
        LexRule::new(name, pattern, Emit::Skip)
    }

    fn new(name: &str, pattern: Pattern, emit: Emit) -> LexRule {
        LexRule {
            name: name.to_string(),
            mode: ModeId(0),
            pattern,
            emit,
            ops: Vec::new(),
            predicated: false,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Emit {
    Token(TerminalId),
    Skip,
    /// The match is the beginning of the next one.
    More,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ModeOp {
    Set(ModeId),
    Push(ModeId),
    Pop,
}

#[derive(Clone, Debug)]
pub struct Rule {
    pub name: String,
    pub alternatives: Vec<Alternative>,
}

#[derive(Clone, Debug)]
pub struct Alternative {
    pub body: Expr,
    pub weight: f64,
    /// Operator precedence of the format; decides between derivations, never about membership.
    pub prec: Option<Prec>,
}

impl Alternative {
    pub fn new(body: Expr) -> Alternative {
        Alternative { body, weight: 1.0, prec: None }
    }
}

/// Higher levels bind tighter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Prec {
    pub level: u32,
    pub right: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Expr {
    Empty,
    Terminal(TerminalId),
    Rule(RuleId),
    Seq(Vec<Expr>),
    Choice(Vec<Expr>),
    Repeat { inner: Box<Expr>, min: u32, max: Option<u32> },
}

impl Expr {
    pub fn seq(mut parts: Vec<Expr>) -> Expr {
        match parts.len() {
            0 => Expr::Empty,
            1 => parts.remove(0),
            _ => {
                parts.shrink_to_fit();
                Expr::Seq(parts)
            }
        }
    }

    pub fn choice(mut parts: Vec<Expr>) -> Expr {
        match parts.len() {
            1 => parts.remove(0),
            _ => Expr::Choice(parts),
        }
    }

    pub fn repeat(self, min: u32, max: Option<u32>) -> Expr {
        Expr::Repeat { inner: Box::new(self), min, max }
    }
}

impl Grammar {
    pub fn new(name: impl Into<String>) -> Grammar {
        Grammar {
            name: name.into(),
            terminals: Vec::new(),
            rules: Vec::new(),
            start: RuleId(0),
            lexing: Lexing::Scannerless,
            lex_rules: Vec::new(),
            modes: vec!["default".to_string()],
            separator: None,
            end_marker: false,
        }
    }

    pub fn terminal(&self, id: TerminalId) -> &Terminal {
        &self.terminals[id.index()]
    }

    pub fn rule(&self, id: RuleId) -> &Rule {
        &self.rules[id.index()]
    }

    pub fn find_rule(&self, name: &str) -> Option<RuleId> {
        self.rules.iter().position(|r| r.name == name).map(RuleId::from)
    }

    pub fn find_terminal(&self, name: &str) -> Option<TerminalId> {
        self.terminals.iter().position(|t| t.name == name).map(TerminalId::from)
    }

    /// A new start rule, by name.
    pub fn with_start(mut self, name: &str) -> Option<Grammar> {
        self.start = self.find_rule(name)?;
        Some(self)
    }

    /// Does the lexer skip anything between tokens?
    pub fn has_skip(&self) -> bool {
        self.lex_rules.iter().any(|r| r.emit == Emit::Skip)
    }
}
