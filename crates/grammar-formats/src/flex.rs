//! flex and lex scanners: definitions, start conditions, patterns, and what their actions return.

use crate::ReadError;
use crate::antlr::{lexemes, skip_code};
use crate::build::Builder;
use crate::cursor::{Cursor, is_name, is_name_start};
use crate::flex_pattern::Patterns;
use grammar::model::{Emit, LexRule, ModeId, ModeOp, TerminalId};
use grammar::{Lexing, Pattern};
use std::collections::HashMap;

pub use crate::flex_pattern::escape;

/// Adds the scanner's rules to a grammar whose tokens are known. `aliases` are tokens by their
/// "text".
pub fn read_into(
    file: &str,
    text: &str,
    builder: &mut Builder,
    aliases: &HashMap<String, TerminalId>,
) -> Result<(), ReadError> {
    let mut reader = Reader {
        cursor: Cursor::new(file, text),
        builder,
        aliases,
        patterns: Patterns::default(),
        conditions: vec![("INITIAL".to_string(), true)],
        rules: Vec::new(),
    };
    reader.definitions()?;
    reader.rule_section()?;
    reader.finish();
    Ok(())
}

struct Reader<'t, 'b> {
    cursor: Cursor<'t>,
    builder: &'b mut Builder,
    aliases: &'b HashMap<String, TerminalId>,
    patterns: Patterns,
    /// Start conditions, and whether rules without a condition hold in them.
    conditions: Vec<(String, bool)>,
    rules: Vec<Scanned>,
}

/// A rule of the scanner before its action is understood.
struct Scanned {
    modes: Vec<usize>,
    pattern: Pattern,
    action: String,
    pos: usize,
    anchored: bool,
}

impl Reader<'_, '_> {
    fn definitions(&mut self) -> Result<(), ReadError> {
        while !self.cursor.done() {
            if self.cursor.at("%%") {
                self.cursor.eat_while(|c| c != '\n');
                return Ok(());
            }
            if self.cursor.at("%{") {
                self.cursor.eat_through("%}");
            } else if self.cursor.at("/*") {
                self.cursor.eat_through("*/");
            } else if self.cursor.eat("%option") || self.cursor.eat("%Option") {
                let line = self.cursor.eat_while(|c| c != '\n');
                self.patterns.ignore_case |=
                    line.contains("case-insensitive") || line.contains("caseless");
            } else if self.cursor.at("%top") {
                self.skip_block();
            } else if self.cursor.at("%s")
                || self.cursor.at("%x")
                || self.cursor.at("%S")
                || self.cursor.at("%X")
            {
                let inclusive = self.cursor.at("%s") || self.cursor.at("%S");
                let line = self.cursor.eat_while(|c| c != '\n');
                let names = line.split_whitespace().skip(1);
                self.conditions.extend(names.map(|n| (n.trim_matches(',').to_string(), inclusive)));
            } else if self.cursor.peek().is_some_and(is_name_start) {
                self.definition();
            } else {
                self.cursor.eat_while(|c| c != '\n');
            }
            self.cursor.eat_while(|c| c != '\n');
            self.cursor.eat("\n");
        }
        Err(self.cursor.error("expected `%%` before the scanner's rules"))
    }

    fn definition(&mut self) {
        let name = self.cursor.eat_while(|c| is_name(c) || c == '-').to_string();
        self.cursor.eat_while(|c| c == ' ' || c == '\t');
        let text = self.cursor.eat_while(|c| c != '\n').trim_end().to_string();
        self.patterns.definitions.insert(name, text);
    }

    fn skip_block(&mut self) {
        self.cursor.eat_while(|c| c != '{');
        self.cursor.pos += skip_code(self.cursor.rest(), '{', '}').unwrap_or(0);
    }

    fn rule_section(&mut self) -> Result<(), ReadError> {
        let mut scope: Vec<Vec<usize>> = Vec::new();
        loop {
            self.cursor.eat_while(|c| c == '\n' || c == '\r');
            if self.cursor.done() || self.cursor.at("%%") {
                return Ok(());
            }
            if self.cursor.at("%{") {
                self.cursor.eat_through("%}");
                continue;
            }
            if self.cursor.at(" ")
                || self.cursor.at("\t")
                || self.cursor.at("/*")
                || self.cursor.at("//")
            {
                self.indented(&mut scope)?;
                continue;
            }
            if self.cursor.at("}") && !scope.is_empty() {
                scope.pop();
                self.cursor.bump();
                continue;
            }
            self.rule(&mut scope)?;
        }
    }

    /// Indented lines are code before the first rule and comments later, but rules inside a scope.
    fn indented(&mut self, scope: &mut Vec<Vec<usize>>) -> Result<(), ReadError> {
        self.cursor.eat_while(|c| c == ' ' || c == '\t');
        if self.cursor.at("/*") {
            self.cursor.eat_through("*/");
        } else if self.cursor.at("//") || scope.is_empty() {
            self.cursor.eat_while(|c| c != '\n');
        } else if self.cursor.eat("}") {
            scope.pop();
        } else if !self.cursor.at("\n") {
            self.rule(scope)?;
        }
        Ok(())
    }

    fn rule(&mut self, scope: &mut Vec<Vec<usize>>) -> Result<(), ReadError> {
        let pos = self.cursor.pos;
        let modes = match self.start_conditions()? {
            Some(modes) => modes,
            None => scope.last().cloned().unwrap_or_else(|| self.inclusive_modes()),
        };
        if self.cursor.eat("{") {
            // <A>{ … }: the condition holds for all rules inside.
            if self.cursor.peek().is_some_and(|c| c == '\n' || c == '\r' || c == ' ' || c == '\t') {
                scope.push(modes);
                return Ok(());
            }
            self.cursor.pos -= 1;
        }
        let anchored = self.cursor.eat("^");
        let end_of_file = self.cursor.eat("<<EOF>>");
        let pattern = if end_of_file { Pattern::never() } else { self.pattern()? };
        let action = self.action();
        if end_of_file {
            return Ok(());
        }
        self.rules.push(Scanned { modes, pattern, action, pos, anchored });
        Ok(())
    }

    fn pattern(&mut self) -> Result<Pattern, ReadError> {
        let start = self.cursor.pos;
        let pattern = self.patterns.parse(&mut self.cursor)?;
        if self.cursor.eat("/") {
            let _context = self.patterns.parse(&mut self.cursor)?;
            self.builder.note(&self.cursor, start, "trailing context is left out");
        }
        if self.cursor.eat("$") {
            self.builder.note(&self.cursor, start, "`$` is left out");
        }
        Ok(pattern)
    }

    fn inclusive_modes(&self) -> Vec<usize> {
        (0..self.conditions.len()).filter(|i| self.conditions[*i].1).collect()
    }

    fn start_conditions(&mut self) -> Result<Option<Vec<usize>>, ReadError> {
        if !self.cursor.at("<") || self.cursor.at("<<EOF>>") {
            return Ok(None);
        }
        let pos = self.cursor.pos;
        self.cursor.bump();
        let inside = self.cursor.eat_while(|c| c != '>' && c != '\n').to_string();
        if !self.cursor.eat(">") {
            return Err(self.cursor.expected("`>`"));
        }
        let mut modes = Vec::new();
        for name in inside.split(',').map(str::trim) {
            if name == "*" {
                modes.extend(0..self.conditions.len());
                continue;
            }
            match self.conditions.iter().position(|(n, _)| n == name) {
                Some(i) => modes.push(i),
                None => {
                    let message = format!("the start condition `{name}` is not declared");
                    return Err(self.cursor.error_at(pos, message));
                }
            }
        }
        Ok(Some(modes))
    }

    /// Code to the end of the line, or to the end of its braces.
    fn action(&mut self) -> String {
        self.cursor.eat_while(|c| c == ' ' || c == '\t');
        let from = self.cursor.pos;
        if self.cursor.at("%{") {
            self.cursor.eat_through("%}");
        } else {
            while let Some(c) = self.cursor.peek().filter(|c| *c != '\n') {
                if c == '{' {
                    let len =
                        skip_code(self.cursor.rest(), '{', '}').unwrap_or(self.cursor.rest().len());
                    self.cursor.pos += len;
                } else if self.cursor.at("/*") {
                    self.cursor.eat_through("*/");
                } else {
                    self.cursor.bump();
                }
            }
        }
        self.cursor.text[from..self.cursor.pos].to_string()
    }

    fn finish(&mut self) {
        self.builder.grammar.lexing = Lexing::Longest;
        self.builder.grammar.modes = self.conditions.iter().map(|(n, _)| n.clone()).collect();
        // An action `|` is that of the next rule.
        for i in (0..self.rules.len().saturating_sub(1)).rev() {
            if self.rules[i].action.trim() == "|" {
                self.rules[i].action = self.rules[i + 1].action.clone();
            }
        }
        let rules = std::mem::take(&mut self.rules);
        let understood: Vec<Action> = rules.iter().map(|r| self.understand(r)).collect();
        let gathers: Vec<bool> =
            (0..self.conditions.len()).map(|m| self.gathers(m, &rules, &understood)).collect();
        for (rule, action) in rules.iter().zip(&understood) {
            for &mode in &rule.modes {
                self.add(rule, action, ModeId::from(mode), &gathers);
            }
        }
        self.define_tokens();
    }

    /// Does the scanner collect a lexeme in this condition, over several matches?
    fn gathers(&self, mode: usize, rules: &[Scanned], actions: &[Action]) -> bool {
        let enters = |a: &Action| {
            a.tokens.is_empty()
                && a.ops
                    .iter()
                    .any(|op| matches!(op, ModeOp::Set(m) | ModeOp::Push(m) if m.index() == mode))
        };
        let ends = |(r, a): (&Scanned, &Action)| {
            r.modes.contains(&mode) && !a.tokens.is_empty() && !a.ops.is_empty()
        };
        mode > 0 && actions.iter().any(enters) && rules.iter().zip(actions).any(ends)
    }

    fn add(&mut self, rule: &Scanned, action: &Action, mode: ModeId, gathers: &[bool]) {
        let into_gathering = action
            .ops
            .iter()
            .any(|op| matches!(op, ModeOp::Set(m) | ModeOp::Push(m) if gathers[m.index()]));
        let inside = gathers[mode.index()] && action.ops.is_empty();
        let name = self.cursor.text[rule.pos..].lines().next().unwrap_or("").to_string();
        let mut base = LexRule::skip(&name, rule.pattern.clone());
        base.mode = mode;
        base.ops = action.ops.clone();
        base.predicated = rule.anchored || action.maybe;
        if action.tokens.is_empty() {
            base.emit =
                if action.more || into_gathering || inside { Emit::More } else { Emit::Skip };
            self.builder.grammar.lex_rules.push(base);
            return;
        }
        for (terminal, text) in &action.tokens {
            let pattern =
                text.as_ref().map_or_else(|| rule.pattern.clone(), |t| Pattern::literal(t));
            let lex = LexRule { emit: Emit::Token(*terminal), pattern, ..base.clone() };
            self.builder.grammar.lex_rules.push(lex);
        }
    }

    fn understand(&mut self, rule: &Scanned) -> Action {
        let code = strip_comments(&rule.action);
        let mut action = Action { more: code.contains("yymore"), ..Action::default() };
        for strange in ["REJECT", "yyless", "unput"] {
            if code.contains(strange) {
                self.builder.note(&self.cursor, rule.pos, format!("`{strange}` is left out"));
            }
        }
        if rule.anchored {
            self.builder.note(
                &self.cursor,
                rule.pos,
                "`^` is left out: the rule may match anywhere",
            );
        }
        self.mode_operations(&code, &mut action);
        self.returned(&code, rule, &mut action);
        action
    }

    fn mode_operations(&self, code: &str, action: &mut Action) {
        let mode = |rest: &str| {
            let name: String =
                rest.trim_start_matches(['(', ' ']).chars().take_while(|c| is_name(*c)).collect();
            if name == "0" {
                return Some(ModeId(0));
            }
            self.conditions.iter().position(|(n, _)| *n == name).map(ModeId::from)
        };
        for (word, op) in [("BEGIN", 0), ("yy_push_state", 1), ("yybegin", 0)] {
            if let Some(at) = code.find(word)
                && let Some(id) = mode(&code[at + word.len()..])
            {
                action.ops.push(if op == 0 { ModeOp::Set(id) } else { ModeOp::Push(id) });
            }
        }
        if code.contains("yy_pop_state") {
            action.ops.push(ModeOp::Pop);
        }
    }

    /// The tokens that the action may return.
    fn returned(&mut self, code: &str, rule: &Scanned, action: &mut Action) {
        let mut texts: Vec<&str> = Vec::new();
        for (at, _) in code.match_indices("return") {
            let rest = &code[at + "return".len()..];
            texts.push(&rest[..rest.find(';').unwrap_or(rest.len())]);
        }
        let explicit = !texts.is_empty();
        if !explicit {
            texts.push(code);
        }
        for text in texts {
            if explicit
                && (text.contains("yytext[0]")
                    || text.contains("*yytext")
                    || text.contains("yytext [0]"))
            {
                self.each_character(rule, action);
            }
            self.mentioned(text, explicit, action);
        }
        action.tokens.dedup();
        action.maybe = action.tokens.iter().filter(|(_, text)| text.is_none()).count() > 1;
        if explicit && action.tokens.is_empty() && !only_number(code) {
            let text: String =
                code.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(60).collect();
            self.builder.note(
                &self.cursor,
                rule.pos,
                format!("it is not known which token `{text}` returns"),
            );
        }
    }

    /// Known tokens named in a piece of code.
    fn mentioned(&self, text: &str, explicit: bool, action: &mut Action) {
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            if is_name_start(c) {
                let len = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
                let word = &rest[..len];
                rest = &rest[len..];
                let token = self.builder.terminal_named(word).or_else(|| {
                    word.rsplit_once("TOK_").and_then(|(_, name)| self.builder.terminal_named(name))
                });
                action.tokens.extend(token.map(|t| (t, None)));
            } else if c == '\'' && explicit {
                let mut cursor = Cursor::new("", rest);
                cursor.bump();
                let mut bytes = Vec::new();
                match cursor.bump() {
                    Some('\\') => bytes.extend(escape(&mut cursor)),
                    Some(c) => bytes.extend(c.encode_utf8(&mut [0; 4]).bytes()),
                    None => {}
                }
                let known = self.builder.literal_known(&bytes);
                action.tokens.extend(known.map(|t| (t, None)));
                cursor.eat("'");
                rest = cursor.rest();
            } else if c == '"' {
                let end = rest[1..].find('"').map_or(rest.len(), |i| i + 2);
                if explicit
                    && let Some(id) = rest.get(1..end.max(2) - 1).and_then(|t| self.aliases.get(t))
                {
                    action.tokens.push((*id, None));
                }
                rest = &rest[end..];
            } else {
                rest = &rest[c.len_utf8()..];
            }
        }
    }

    /// `return yytext[0]`: each character that the pattern matches and the grammar knows is its own
    /// token.
    fn each_character(&self, rule: &Scanned, action: &mut Action) {
        let Ok(automaton) = grammar::automaton::own_lexemes(&rule.pattern) else { return };
        for byte in 0..=255u8 {
            if automaton.matches(&[byte])
                && let Some(id) = self.builder.literal_known(&[byte])
            {
                action.tokens.push((id, Some(vec![byte])));
            }
        }
    }

    /// What each token matches, now that its rules are known.
    fn define_tokens(&mut self) {
        let mut missing = Vec::new();
        let all = lexemes(&self.builder.grammar);
        for (terminal, patterns) in self.builder.grammar.terminals.iter_mut().zip(all) {
            if patterns.is_empty() {
                if !terminal.end_of_input {
                    missing.push(terminal.name.clone());
                }
                continue;
            }
            terminal.defined = true;
            terminal.pattern = Pattern::alternation(patterns);
        }
        for name in missing {
            self.builder.note(&self.cursor, 0, format!("no rule of the scanner returns `{name}`"));
        }
    }
}

#[derive(Default)]
struct Action {
    /// Tokens returned; with a text, for that text only.
    tokens: Vec<(TerminalId, Option<Vec<u8>>)>,
    ops: Vec<ModeOp>,
    more: bool,
    maybe: bool,
}

fn only_number(code: &str) -> bool {
    let value =
        code.rsplit("return").next().unwrap_or("").trim_matches(|c: char| !c.is_alphanumeric());
    value.is_empty() || value.chars().all(|c| c.is_ascii_digit()) || value.contains("EOF")
}

fn strip_comments(code: &str) -> String {
    let mut out = String::new();
    let mut rest = code;
    while let Some(i) = rest.find("/*") {
        out.push_str(&rest[..i]);
        rest = rest[i..].find("*/").map_or("", |j| &rest[i + j + 2..]);
    }
    out.push_str(rest);
    out
}
