//! Context-free rules: alternatives, sequences, repetitions and groups. Alternatives of one or two
//! bytes are collected into sets, because large grammars consist of these.

use super::parser::{Parser, Result};
use super::syntax::Name;
use crate::bytes::ByteSet;
use crate::grammar::{Nonterminal, Repetition, Symbol};

/// Alternatives of one and of two bytes, collected so that many become few.
#[derive(Default)]
struct ShortAlternatives {
    bytes: ByteSet,
    /// Second bytes by first byte.
    seconds: Vec<(u8, ByteSet)>,
}

impl ShortAlternatives {
    fn add_pair(&mut self, first: u8, second: u8) {
        match self.seconds.last_mut() {
            Some((known, seconds)) if *known == first => seconds.insert(second),
            _ => self.seconds.push((first, ByteSet::single(second))),
        }
    }

    /// Products of sets; first bytes with the same second bytes stand together.
    fn pairs(&self) -> Vec<(ByteSet, ByteSet)> {
        let mut pairs: Vec<(ByteSet, ByteSet)> = Vec::new();
        for &(first, second) in &self.seconds {
            match pairs.iter_mut().find(|pair| pair.1 == second) {
                Some(pair) => pair.0.insert(first),
                None => pairs.push((ByteSet::single(first), second)),
            }
        }
        pairs
    }
}

impl<'t> Parser<'t> {
    fn nonterminal(&mut self, name: Name<'t>) -> Nonterminal {
        if let Some(&known) = self.file.nonterminals.get(name.text) {
            return known;
        }
        let new = self.add_nonterminal(name.at, false);
        self.file.nonterminals.insert(name.text, new);
        new
    }

    fn add_nonterminal(&mut self, at: usize, defined: bool) -> Nonterminal {
        let new = self.file.grammar.add_nonterminal();
        self.file.mentions.resize(new.index(), (at, true));
        self.file.mentions.push((at, defined));
        new
    }

    pub(super) fn rule(&mut self) -> Result<()> {
        let name = self.defined_name("the nonterminal")?;
        let left = self.nonterminal(name);
        self.file.last_rule = Some(name);
        if std::mem::replace(&mut self.file.mentions[left.index()].1, true) {
            let message = format!("`{}` is defined twice", String::from_utf8_lossy(name.text));
            return Err(self.cursor.error(name.at, message));
        }
        self.alternatives(left)
    }

    fn alternatives(&mut self, left: Nonterminal) -> Result<()> {
        let mut short = ShortAlternatives::default();
        loop {
            if !self.short_alternative(&mut short)? {
                let right = self.sequence()?;
                self.file.grammar.add_production(left, right);
            }
            if !self.cursor.accept("|")? {
                break;
            }
        }
        self.file.grammar.add_bytes(left, short.bytes);
        for (first, second) in short.pairs() {
            let right = vec![self.file.grammar.symbol(first), self.file.grammar.symbol(second)];
            self.file.grammar.add_production(left, right);
        }
        Ok(())
    }

    /// Takes an alternative that is one or two `\ddd`: large grammars consist of these.
    fn short_alternative(&mut self, short: &mut ShortAlternatives) -> Result<bool> {
        let at = self.cursor.position()?;
        let rest = &self.cursor.text[at..];
        if let Some([b'\\', .., b'|' | b';']) = rest.first_chunk::<5>() {
            short.bytes.insert(self.cursor.decimal_byte()?);
            return Ok(true);
        }
        if let Some([b'\\', _, _, _, b'\\', .., b'|' | b';']) = rest.first_chunk::<9>() {
            let first = self.cursor.decimal_byte()?;
            short.add_pair(first, self.cursor.decimal_byte()?);
            return Ok(true);
        }
        Ok(false)
    }

    fn sequence(&mut self) -> Result<Vec<Symbol>> {
        let mut right = Vec::new();
        while let Some(element) = self.element()? {
            let at = self.cursor.position()?;
            match self.repetition()? {
                None => right.extend(element),
                Some(repetition) => {
                    let symbol = self.one_symbol(element, at);
                    let repeated = self.file.grammar.repeat(symbol, repetition);
                    right.push(Symbol::Nonterminal(repeated));
                }
            }
        }
        Ok(right)
    }

    fn repetition(&mut self) -> Result<Option<Repetition>> {
        let repetition = match self.cursor.peek()? {
            Some(b'?') => Repetition::Optional,
            Some(b'*') => Repetition::Star,
            Some(b'+') => Repetition::Plus,
            _ => return Ok(None),
        };
        self.cursor.accept(["?", "*", "+"][repetition as usize])?;
        Ok(Some(repetition))
    }

    fn one_symbol(&mut self, symbols: Vec<Symbol>, at: usize) -> Symbol {
        if let [symbol] = symbols[..] {
            return symbol;
        }
        let left = self.add_nonterminal(at, true);
        self.file.grammar.add_production(left, symbols);
        Symbol::Nonterminal(left)
    }

    /// `None` at the end of the alternative.
    fn element(&mut self) -> Result<Option<Vec<Symbol>>> {
        let symbol = match self.cursor.peek()? {
            Some(b'"') => {
                let text = self.cursor.string()?;
                return Ok(Some(self.file.grammar.literal(&text)));
            }
            Some(b'\\') => {
                let byte = self.cursor.decimal_byte()?;
                self.file.grammar.symbol(ByteSet::single(byte))
            }
            Some(b'[') => {
                let set = self.cursor.byte_range()?;
                self.file.grammar.symbol(set)
            }
            Some(b'(') => self.group()?,
            Some(b'|' | b';' | b')') => return Ok(None),
            _ => match self.cursor.name()? {
                Some(name) => Symbol::Nonterminal(self.nonterminal(name)),
                None => {
                    return self
                        .cursor
                        .expected("a string, a byte, a range, a nonterminal, `|` or `;`");
                }
            },
        };
        Ok(Some(vec![symbol]))
    }

    /// `( … )`, most often around one name.
    fn group(&mut self) -> Result<Symbol> {
        let at = self.cursor.position()?;
        self.cursor.expect("(", "before the group")?;
        self.deeper(at)?;
        let first = self.sequence()?;
        let symbol = if self.cursor.peek()? == Some(b')') {
            self.one_symbol(first, at)
        } else {
            let left = self.add_nonterminal(at, true);
            self.file.grammar.add_production(left, first);
            if self.cursor.accept("|")? {
                self.alternatives(left)?;
            }
            Symbol::Nonterminal(left)
        };
        self.depth -= 1;
        self.cursor.expect(")", "after the group")?;
        Ok(symbol)
    }
}
