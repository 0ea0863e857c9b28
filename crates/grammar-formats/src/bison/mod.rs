//! bison and yacc, with the tokens' patterns from a flex scanner.
//!
//! Code in actions is skipped and never looked at; what the scanner's actions return is the
//! business of `flex`.

mod declarations;
mod lexical;
mod rules;

use crate::build::Builder;
use crate::cursor::Cursor;
use crate::flex;
use crate::{Read, ReadError};
use grammar::Pattern;
use grammar::model::{Prec, TerminalId};
use std::collections::HashMap;

/// bison numbers tokens without a code from here.
const FIRST_CODE: i64 = 258;

pub fn read(file: &str, text: &str, scanner: Option<(&str, &str)>) -> Result<Read, ReadError> {
    let mut reader = Reader {
        cursor: Cursor::new(file, text),
        builder: Builder::new(file),
        aliases: HashMap::new(),
        prec: HashMap::new(),
        level: 0,
        next_code: FIRST_CODE,
        start: None,
    };
    reader.declarations()?;
    reader.rules()?;
    reader.finish(scanner)
}

struct Reader<'t> {
    cursor: Cursor<'t>,
    builder: Builder,
    /// "text" of a token with a name.
    aliases: HashMap<String, TerminalId>,
    prec: HashMap<TerminalId, Prec>,
    level: u32,
    next_code: i64,
    start: Option<(String, usize)>,
}

impl Reader<'_> {
    fn finish(mut self, scanner: Option<(&str, &str)>) -> Result<Read, ReadError> {
        self.plain_aliases();
        match scanner {
            Some((file, text)) => {
                let spoken: HashMap<String, TerminalId> = self.aliases.clone();
                flex::read_into(file, text, &mut self.builder, &spoken)?;
            }
            None => {
                self.builder.note(
                    &self.cursor,
                    0,
                    "no scanner was given: tokens are written by their names",
                );
                let blank = Pattern::parse("[ \\t\\r\\n]+").expect("valid");
                self.builder.grammar.lex_rules.push(grammar::LexRule::skip("blank", blank));
                self.builder.lexer_from_terminals(grammar::Lexing::Longest);
            }
        }
        if let Some((name, pos)) = self.start.take() {
            if !self.builder.has_rule(&name) {
                return Err(self
                    .cursor
                    .error_at(pos, format!("there is no rule `{name}` to start with")));
            }
            self.builder.grammar.start = self.builder.rule(&name, pos);
        }
        if let Some((name, pos)) = self.builder.rule_and_terminal() {
            return Err(self
                .cursor
                .error_at(pos, format!("`{name}` is a token, so it cannot have rules")));
        }
        self.builder.finish(&self.cursor)
    }

    /// An alias such as "==" or "while" says how a token is written, if there is no scanner.
    fn plain_aliases(&mut self) {
        for (text, id) in &self.aliases {
            let terminal = &mut self.builder.grammar.terminals[id.index()];
            let symbol =
                !text.is_empty() && !text.contains(char::is_alphanumeric) && !text.contains(' ');
            if (symbol || terminal.name.to_lowercase() == *text) && !terminal.end_of_input {
                terminal.pattern = Pattern::literal(text.as_bytes());
            }
        }
    }
}
