//! Tarragon's own notation; the reference is docs/grammar-notation.md.

use crate::build::Builder;
use crate::cursor::{Cursor, is_name, is_name_start};
use crate::{Read, ReadError};
use grammar::model::{
    Alternative, Emit, Expr, LexRule, ModeId, ModeOp, Prec, Terminal, TerminalId,
};
use grammar::{Lexing, Pattern};

/// Groups nested deeper than this are refused.
const NEST_LIMIT: usize = 200;
const REPEAT_LIMIT: u32 = 10_000;

pub fn read(file: &str, text: &str) -> Result<Read, ReadError> {
    let mut reader = Reader {
        cursor: Cursor::new(file, text),
        builder: Builder::new(file),
        mode: ModeId(0),
        start: None,
        lexing: None,
        explicit: Vec::new(),
        depth: 0,
    };
    reader.statements()?;
    reader.finish()
}

pub(crate) struct Reader<'t> {
    pub(crate) cursor: Cursor<'t>,
    builder: Builder,
    mode: ModeId,
    start: Option<(String, usize)>,
    lexing: Option<Lexing>,
    /// Terminals with a `token` statement; the others are literals and patterns inside rules.
    explicit: Vec<TerminalId>,
    depth: usize,
}

impl<'t> Reader<'t> {
    fn statements(&mut self) -> Result<(), ReadError> {
        loop {
            self.blank();
            if self.cursor.done() {
                return Ok(());
            }
            let pos = self.cursor.pos;
            let quoted = self.cursor.at("`");
            let name = self.name("a rule or a statement")?;
            self.blank();
            let keyword = !quoted && !self.cursor.at("=");
            match name.as_str() {
                "start" if keyword => self.start_statement(pos)?,
                "token" if keyword => self.token_statement(Emit::Skip, false)?,
                "skip" if keyword => self.token_statement(Emit::Skip, true)?,
                "more" if keyword => self.token_statement(Emit::More, true)?,
                "mode" if keyword => self.mode_statement()?,
                "lexing" if keyword => self.lexing_statement()?,
                "separator" if keyword => self.separator_statement()?,
                _ => self.rule_statement(&name, pos)?,
            }
        }
    }

    fn start_statement(&mut self, pos: usize) -> Result<(), ReadError> {
        let name = self.name("the name of the start rule")?;
        if let Some((other, _)) = self.start.as_ref().filter(|(other, _)| *other != name) {
            let message = format!(
                "there are two start rules, `{other}` and `{name}`; keep one `start` statement"
            );
            return Err(self.cursor.error_at(pos, message));
        }
        self.start = Some((name, pos));
        self.semicolon()
    }

    fn lexing_statement(&mut self) -> Result<(), ReadError> {
        let pos = self.cursor.pos;
        self.lexing = Some(match self.name("`longest`, `contextual` or `scannerless`")?.as_str() {
            "longest" => Lexing::Longest,
            "contextual" => Lexing::Contextual,
            "scannerless" => Lexing::Scannerless,
            _ => {
                return Err(self
                    .cursor
                    .error_at(pos, "expected `longest`, `contextual` or `scannerless`"));
            }
        });
        self.blank();
        self.builder.grammar.end_marker |= self.cursor.eat("marker");
        self.semicolon()
    }

    fn separator_statement(&mut self) -> Result<(), ReadError> {
        self.blank();
        self.builder.grammar.separator = Some(self.string()?);
        self.semicolon()
    }

    fn mode_statement(&mut self) -> Result<(), ReadError> {
        let name = self.name("the name of a lexer mode")?;
        self.mode = self.mode_id(&name);
        self.semicolon()
    }

    fn mode_id(&mut self, name: &str) -> ModeId {
        let modes = &mut self.builder.grammar.modes;
        match modes.iter().position(|m| m == name) {
            Some(i) => ModeId::from(i),
            None => {
                modes.push(name.to_string());
                ModeId::from(modes.len() - 1)
            }
        }
    }

    /// `token NAME (code) = pattern -> commands;` and its kin.
    fn token_statement(&mut self, emit: Emit, nameless: bool) -> Result<(), ReadError> {
        self.blank();
        let pos = self.cursor.pos;
        let anonymous =
            nameless && (self.cursor.at("/") || self.cursor.at("\"") || self.cursor.at("'"));
        let name = if anonymous { String::new() } else { self.name("the name of a terminal")? };
        let code = self.code()?;
        if !anonymous {
            self.blank();
            if !self.cursor.eat("=") {
                return Err(self.cursor.expected("`=`"));
            }
        }
        let pattern = self.token_pattern()?;
        if pattern.matches_empty() && emit == Emit::Skip {
            self.builder.note(
                &self.cursor,
                pos,
                format!("`{name}` matches the empty string, which no token is"),
            );
        }
        let mut rule = LexRule::skip(&name, pattern.clone());
        rule.mode = self.mode;
        rule.emit = emit;
        self.commands(&mut rule)?;
        if !nameless {
            rule.emit = Emit::Token(self.declare(&name, pattern, code));
        }
        self.builder.grammar.lex_rules.push(rule);
        self.semicolon()
    }

    /// A terminal that is declared again matches what either declaration does.
    fn declare(&mut self, name: &str, pattern: Pattern, code: Option<i64>) -> TerminalId {
        if let Some(id) = self.builder.terminal_named(name) {
            let terminal = &mut self.builder.grammar.terminals[id.index()];
            terminal.pattern = Pattern::alternation(vec![terminal.pattern.clone(), pattern]);
            return id;
        }
        let id = self.builder.add_terminal(Terminal { code, ..Terminal::new(name, pattern) });
        self.explicit.push(id);
        id
    }

    fn code(&mut self) -> Result<Option<i64>, ReadError> {
        self.blank();
        if !self.cursor.eat("(") {
            return Ok(None);
        }
        let digits = self.cursor.eat_while(|c| c.is_ascii_digit() || c == '-');
        let code = digits.parse().map_err(|_| self.cursor.expected("a number"))?;
        if !self.cursor.eat(")") {
            return Err(self.cursor.expected("`)`"));
        }
        Ok(Some(code))
    }

    fn token_pattern(&mut self) -> Result<Pattern, ReadError> {
        let mut branches = Vec::new();
        loop {
            self.blank();
            let mut parts = Vec::new();
            while let Some('/' | '"' | '\'') = self.cursor.peek() {
                parts.push(self.atom_pattern()?);
                self.blank();
            }
            if parts.is_empty() {
                return Err(self.cursor.expected("a regular expression `/…/` or a string"));
            }
            branches.push(Pattern::concat(parts));
            if !self.cursor.eat("|") {
                return Ok(Pattern::alternation(branches));
            }
        }
    }

    fn atom_pattern(&mut self) -> Result<Pattern, ReadError> {
        if self.cursor.at("/") { self.regex() } else { Ok(Pattern::literal(&self.string()?)) }
    }

    fn commands(&mut self, rule: &mut LexRule) -> Result<(), ReadError> {
        self.blank();
        if !self.cursor.eat("->") {
            return Ok(());
        }
        loop {
            self.blank();
            let pos = self.cursor.pos;
            let command = self.name("`push(MODE)`, `set(MODE)`, `pop` or `maybe`")?;
            match command.as_str() {
                "pop" => rule.ops.push(ModeOp::Pop),
                "maybe" => rule.predicated = true,
                "push" => rule.ops.push(ModeOp::Push(self.mode_argument()?)),
                "set" => rule.ops.push(ModeOp::Set(self.mode_argument()?)),
                _ => {
                    return Err(self
                        .cursor
                        .error_at(pos, "expected `push(MODE)`, `set(MODE)`, `pop` or `maybe`"));
                }
            }
            self.blank();
            if !self.cursor.eat(",") {
                return Ok(());
            }
        }
    }

    fn mode_argument(&mut self) -> Result<ModeId, ReadError> {
        if !self.cursor.eat("(") {
            return Err(self.cursor.expected("`(` and the name of a mode"));
        }
        let name = self.name("the name of a mode")?;
        if !self.cursor.eat(")") {
            return Err(self.cursor.expected("`)`"));
        }
        Ok(self.mode_id(&name))
    }

    fn rule_statement(&mut self, name: &str, pos: usize) -> Result<(), ReadError> {
        if !self.cursor.eat("=") {
            return Err(self.cursor.expected("`=`"));
        }
        if self.builder.terminal_named(name).is_some() {
            return Err(self.cursor.error_at(pos, format!("`{name}` is a terminal already")));
        }
        let rule = self.builder.rule(name, pos);
        if self.builder.is_defined(rule) {
            return Err(self.cursor.error_at(pos, format!("`{name}` is defined twice")));
        }
        let mut alternatives = Vec::new();
        loop {
            alternatives.push(self.alternative()?);
            self.blank();
            if !self.cursor.eat("|") {
                break;
            }
        }
        self.builder.define(rule, alternatives);
        self.semicolon()
    }

    fn alternative(&mut self) -> Result<Alternative, ReadError> {
        let mut alternative = Alternative::new(self.sequence()?);
        loop {
            self.blank();
            if !self.cursor.eat("@") {
                return Ok(alternative);
            }
            if self.cursor.peek().is_some_and(|c| c.is_ascii_digit()) {
                alternative.weight = self.weight()?;
                continue;
            }
            let pos = self.cursor.pos;
            let right = match self.name("a weight, `left(LEVEL)` or `right(LEVEL)`")?.as_str() {
                "left" => false,
                "right" => true,
                _ => {
                    let message = "expected a weight, `left(LEVEL)` or `right(LEVEL)`";
                    return Err(self.cursor.error_at(pos, message));
                }
            };
            let level = self.code()?.and_then(|l| u32::try_from(l).ok());
            let level = level.ok_or_else(|| self.cursor.expected("`(` and a level"))?;
            alternative.prec = Some(Prec { level, right });
        }
    }

    fn weight(&mut self) -> Result<f64, ReadError> {
        let pos = self.cursor.pos;
        let digits = self.cursor.eat_while(|c| c.is_ascii_digit() || c == '.');
        match digits.parse() {
            Ok(weight) if f64::is_finite(weight) => Ok(weight),
            _ => Err(self.cursor.error_at(pos, "expected a weight such as `3` or `0.5`")),
        }
    }

    fn sequence(&mut self) -> Result<Expr, ReadError> {
        let mut parts = Vec::new();
        loop {
            self.blank();
            match self.cursor.peek() {
                Some('|' | ';' | ')' | '@') | None => return Ok(Expr::seq(parts)),
                _ => {}
            }
            let atom = self.atom()?;
            parts.push(self.suffixes(atom)?);
        }
    }

    fn atom(&mut self) -> Result<Expr, ReadError> {
        let pos = self.cursor.pos;
        match self.cursor.peek() {
            Some('"' | '\'') => {
                let text = self.string()?;
                if text.is_empty() {
                    return Ok(Expr::Empty);
                }
                Ok(Expr::Terminal(self.builder.literal(&text)))
            }
            Some('/') => {
                let pattern = self.regex()?;
                Ok(Expr::Terminal(self.builder.pattern(pattern)))
            }
            Some('(') => self.group(),
            Some('$') if self.cursor.eat("$end") => Ok(Expr::Terminal(self.builder.end_of_input())),
            Some(c) if is_name_start(c) || c == '`' => {
                let name = self.name("a name")?;
                self.blank();
                if self.cursor.at("=") && !self.cursor.at("=>") {
                    return Err(self
                        .cursor
                        .error_at(pos, format!("expected `;` before the definition of `{name}`")));
                }
                Ok(match self.builder.terminal_named(&name) {
                    Some(t) => Expr::Terminal(t),
                    None => Expr::Rule(self.builder.rule(&name, pos)),
                })
            }
            _ => Err(self.cursor.expected("a name, a string, `/`, `(`, `|` or `;`")),
        }
    }

    fn group(&mut self) -> Result<Expr, ReadError> {
        self.depth += 1;
        if self.depth > NEST_LIMIT {
            return Err(self.cursor.error(format!("groups are nested deeper than {NEST_LIMIT}")));
        }
        self.cursor.bump();
        let mut branches = vec![self.sequence()?];
        while self.cursor.eat("|") {
            branches.push(self.sequence()?);
        }
        if !self.cursor.eat(")") {
            return Err(self.cursor.expected("`)` or `|`"));
        }
        self.depth -= 1;
        Ok(Expr::choice(branches))
    }

    fn suffixes(&mut self, mut atom: Expr) -> Result<Expr, ReadError> {
        let mut count = 0;
        loop {
            atom = match self.cursor.peek() {
                Some('?') => atom.repeat(0, Some(1)),
                Some('*') => atom.repeat(0, None),
                Some('+') => atom.repeat(1, None),
                Some('{') => {
                    let (min, max) = self.bounds()?;
                    atom = atom.repeat(min, max);
                    continue;
                }
                _ => return Ok(atom),
            };
            count += 1;
            if count > NEST_LIMIT {
                return Err(self.cursor.error("too many repetition signs in a row"));
            }
            self.cursor.bump();
        }
    }

    fn bounds(&mut self) -> Result<(u32, Option<u32>), ReadError> {
        let pos = self.cursor.pos;
        self.cursor.bump();
        let inside =
            self.cursor.eat_while(|c| c.is_ascii_digit() || c == ',' || c == ' ').to_string();
        let bad = self
            .cursor
            .error_at(pos, format!("expected `{{m}}`, `{{m,}}` or `{{m,n}}` up to {REPEAT_LIMIT}"));
        if !self.cursor.eat("}") {
            return Err(bad);
        }
        let number = |s: &str| s.trim().parse::<u32>().ok().filter(|n| *n <= REPEAT_LIMIT);
        let bounds = match inside.split_once(',') {
            None => number(&inside).map(|n| (n, Some(n))),
            Some((m, n)) if n.trim().is_empty() => number(m).map(|m| (m, None)),
            Some((m, n)) => {
                number(m).zip(number(n)).filter(|(m, n)| m <= n).map(|(m, n)| (m, Some(n)))
            }
        };
        bounds.ok_or(bad)
    }

    fn name(&mut self, what: &str) -> Result<String, ReadError> {
        self.blank();
        if self.cursor.at("`") {
            return self.quoted_name();
        }
        if !self.cursor.peek().is_some_and(is_name_start) {
            return Err(self.cursor.expected(what));
        }
        Ok(self.cursor.eat_while(|c| is_name(c) || c == '-').trim_end_matches('-').to_string())
    }

    /// Any text in back quotes; a back quote in it is written twice.
    fn quoted_name(&mut self) -> Result<String, ReadError> {
        let start = self.cursor.pos;
        let mut name = String::new();
        while self.cursor.eat("`") {
            name.push_str(self.cursor.eat_while(|c| c != '`'));
            if !self.cursor.eat("`") {
                return Err(self
                    .cursor
                    .error_at(start, "expected a back quote at the end of this name"));
            }
            if self.cursor.at("`") {
                name.push('`');
            }
        }
        Ok(name)
    }

    fn semicolon(&mut self) -> Result<(), ReadError> {
        self.blank();
        if self.cursor.eat(";") { Ok(()) } else { Err(self.cursor.expected("`;`")) }
    }

    fn blank(&mut self) {
        loop {
            self.cursor.eat_while(char::is_whitespace);
            if !self.cursor.at("#") {
                return;
            }
            self.cursor.eat_while(|c| c != '\n');
        }
    }

    fn finish(mut self) -> Result<Read, ReadError> {
        self.late_terminals()?;
        let skips = self.builder.grammar.lex_rules.iter().any(|r| r.emit == Emit::Skip);
        let lexing =
            self.lexing.unwrap_or(if skips { Lexing::Longest } else { Lexing::Scannerless });
        self.builder.grammar.lexing = lexing;
        if lexing == Lexing::Scannerless {
            if skips {
                self.builder.note(
                    &self.cursor,
                    0,
                    "`skip` has no meaning in a scannerless grammar",
                );
            }
            self.builder.grammar.lex_rules.clear();
        } else {
            self.implicit_tokens();
        }
        if let Some((name, pos)) = self.start.take() {
            if !self.builder.has_rule(&name) {
                return Err(self
                    .cursor
                    .error_at(pos, format!("there is no rule `{name}` to start with")));
            }
            self.builder.grammar.start = self.builder.rule(&name, pos);
        }
        self.builder.finish(&self.cursor)
    }

    /// A `token` statement may follow the rules that use it: what was taken for a rule is a
    /// terminal then.
    fn late_terminals(&mut self) -> Result<(), ReadError> {
        let rules = self.builder.grammar.rules.iter();
        let late: Vec<Option<TerminalId>> = rules
            .map(|r| self.builder.terminal_named(&r.name).filter(|_| r.alternatives.is_empty()))
            .collect();
        if late.iter().any(Option::is_some) {
            self.builder.rules_to_terminals(&late);
        }
        Ok(())
    }

    /// Literals and patterns in rules come before all declared tokens: keywords win over names.
    fn implicit_tokens(&mut self) {
        let declared = std::mem::take(&mut self.builder.grammar.lex_rules);
        let explicit = std::mem::take(&mut self.explicit);
        let grammar = &mut self.builder.grammar;
        let (mut literals, mut patterns) = (Vec::new(), Vec::new());
        for (i, terminal) in grammar.terminals.iter().enumerate() {
            let id = TerminalId::from(i);
            if explicit.contains(&id) || terminal.end_of_input {
                continue;
            }
            let rule = LexRule::token(id, &terminal.name, terminal.pattern.clone());
            let list =
                if terminal.pattern.as_literal().is_some() { &mut literals } else { &mut patterns };
            list.push(rule);
        }
        grammar.lex_rules = literals.into_iter().chain(declared).chain(patterns).collect();
    }
}
