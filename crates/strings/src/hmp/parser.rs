//! The statements of a file.

use super::Options;
use super::cursor::{Cursor, SyntaxError};
use super::syntax::{Assertion, File, Name, Regular, Value};
use crate::bytes::ByteSet;
use crate::grammar::{Nonterminal, Repetition, Symbol};
use crate::language::UNBOUNDED;
use crate::scan::Size;

type Result<T> = std::result::Result<T, SyntaxError>;

/// Deeper nesting is refused: it is no language that anyone wrote.
const DEEPEST: usize = 20_000;

pub fn parse(text: &[u8], options: Options) -> Result<File<'_>> {
    let mut parser = Parser { cursor: Cursor::new(text), options, file: File::default(), depth: 0 };
    while parser.cursor.peek()?.is_some() {
        parser.statement()?;
    }
    if parser.file.variables.is_empty() {
        return parser.cursor.expected("a variable (`var v : 3;`)");
    }
    Ok(parser.file)
}

/// Definitions without a problem, or one regular expression.
pub fn parse_languages(text: &[u8]) -> Result<File<'_>> {
    let options = Options::default();
    let mut parser = Parser { cursor: Cursor::new(text), options, file: File::default(), depth: 0 };
    if !parser.starts_statement()? {
        let at = parser.cursor.position()?;
        let regular = parser.regular()?;
        parser.file.regulars.push((Name { text: b"", at }, regular));
        return match parser.cursor.peek()? {
            None => Ok(parser.file),
            Some(_) => parser.cursor.expected("the end of the expression"),
        };
    }
    while parser.cursor.peek()?.is_some() {
        parser.statement()?;
    }
    Ok(parser.file)
}

struct Parser<'t> {
    cursor: Cursor<'t>,
    options: Options,
    file: File<'t>,
    depth: usize,
}

impl<'t> Parser<'t> {
    fn statement(&mut self) -> Result<()> {
        const WHAT: &str = "a statement (`var`, `cfg`, `reg`, `val` or `assert`)";
        let start = self.cursor.position()?;
        let Some(word) = self.cursor.name()? else { return self.cursor.expected(WHAT) };
        match &word.text.to_ascii_lowercase()[..] {
            b"var" => self.variable()?,
            b"cfg" => self.rule()?,
            b"reg" => {
                let name = self.defined_name("the regular language")?;
                let regular = self.regular()?;
                self.file.regulars.push((name, regular));
            }
            b"val" => {
                let name = self.defined_name("the value")?;
                let value = self.value()?;
                self.file.values.push((name, value));
            }
            b"assert" => {
                let assertion = self.assertion()?;
                self.file.assertions.push(assertion);
            }
            other => {
                let message = format!("expected {WHAT}, found `{}`", String::from_utf8_lossy(other));
                return Err(self.cursor.error(start, message));
            }
        }
        self.cursor.expect(";", "at the end of the statement")
    }

    /// Whether a keyword and a name come next.
    fn starts_statement(&mut self) -> Result<bool> {
        let mut ahead = Cursor::new(self.cursor.text);
        let keyword = ahead.name()?.is_some_and(|word| {
            [&b"var"[..], b"cfg", b"reg", b"val", b"assert"].contains(&&word.text.to_ascii_lowercase()[..])
        });
        Ok(keyword && ahead.name()?.is_some())
    }

    fn some_name(&mut self, of: &str) -> Result<Name<'t>> {
        match self.cursor.name()? {
            Some(name) => Ok(name),
            None => self.cursor.expected(&format!("the name of {of}")),
        }
    }

    fn defined_name(&mut self, of: &str) -> Result<Name<'t>> {
        let name = self.some_name(of)?;
        self.cursor.expect(":=", "after the name")?;
        Ok(name)
    }

    fn variable(&mut self) -> Result<()> {
        let mut names = vec![self.some_name("the variable")?];
        while self.cursor.accept(",")? {
            names.push(self.some_name("the variable")?);
        }
        let mut size = Size { least: 0, most: UNBOUNDED };
        if self.cursor.accept(":")? {
            let at = self.cursor.position()?;
            size = self.size("the size of the variable")?.unwrap_or(size);
            if self.cursor.accept("..")? {
                size.most = UNBOUNDED;
                if self.cursor.peek()? != Some(b';') {
                    size.most =
                        self.size("the largest size of the variable")?.map_or(UNBOUNDED, |size| size.most);
                }
            }
            if size.least > size.most {
                return Err(self.cursor.error(at, "this range of sizes is the wrong way round"));
            }
        }
        if self.options.ignore_sizes {
            size = Size { least: 0, most: UNBOUNDED };
        }
        self.file.variables.extend(names.into_iter().map(|name| (name, size)));
        Ok(())
    }

    /// `None` for a template that has no size.
    fn size(&mut self, what: &str) -> Result<Option<Size>> {
        let size = self.cursor.number(what)?.or(self.options.template_size);
        Ok(size.map(|size| Size { least: size, most: size }))
    }
}

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

/// Context-free rules.
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

    fn rule(&mut self) -> Result<()> {
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
                None => return self.cursor.expected("a string, a byte, a range, a nonterminal, `|` or `;`"),
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

    fn deeper(&mut self, at: usize) -> Result<()> {
        self.depth += 1;
        if self.depth > DEEPEST { Err(self.cursor.error(at, "this is nested too deeply")) } else { Ok(()) }
    }
}

/// Regular expressions.
impl<'t> Parser<'t> {
    fn regular(&mut self) -> Result<Regular<'t>> {
        match self.cursor.peek()? {
            Some(b'"') => return Ok(Regular::Literal(self.cursor.string()?)),
            Some(b'\\') => return Ok(Regular::Literal(vec![self.cursor.decimal_byte()?])),
            Some(b'[') => return Ok(Regular::Bytes(self.cursor.byte_range()?)),
            _ => {}
        }
        let Some(name) = self.cursor.name()? else {
            return self.cursor.expected("a regular expression");
        };
        if !self.cursor.accept("(")? {
            return Ok(Regular::Name(name));
        }
        self.deeper(name.at)?;
        let result = self.operator(name)?;
        self.depth -= 1;
        Ok(result)
    }

    /// What follows `name(`.
    fn operator(&mut self, name: Name<'t>) -> Result<Regular<'t>> {
        if matches!(name.text, b"fix" | b"fixsize") {
            return self.fix();
        }
        let repeat = |inner, least, most| Regular::Repeat(Box::new(inner), least, most);
        if name.text == b"repeat" {
            return self.repeat_counted();
        }
        let mut parts = self.list(")", Self::regular)?;
        Ok(match (name.text, parts.len()) {
            (b"or" | b"union", _) => Regular::Or(parts),
            (b"and" | b"intersect" | b"intersection", _) => Regular::And(parts),
            (b"concat", _) => Regular::Concat(parts),
            (b"star", 1) => repeat(parts.remove(0), 0, UNBOUNDED),
            (b"plus", 1) => repeat(parts.remove(0), 1, UNBOUNDED),
            (b"opt", 1) => repeat(parts.remove(0), 0, 1),
            (b"not" | b"complement", 1) => Regular::Not(Box::new(parts.remove(0))),
            (b"star" | b"plus" | b"opt" | b"not" | b"complement", count) => {
                let message =
                    format!("`{}` takes one expression, not {count}", String::from_utf8_lossy(name.text));
                return Err(self.cursor.error(name.at, message));
            }
            _ => {
                let message = format!(
                    "`{}` is no operator; there are `fix`, `star`, `plus`, `opt`, `repeat`, `or`, `and`, `not` and `concat`",
                    String::from_utf8_lossy(name.text)
                );
                return Err(self.cursor.error(name.at, message));
            }
        })
    }

    fn fix(&mut self) -> Result<Regular<'t>> {
        let name = self.some_name("a language")?;
        let mut size = None;
        if self.cursor.accept(",")? {
            size = self.size("the size")?;
        }
        if self.options.ignore_sizes {
            size = None;
        }
        self.cursor.expect(")", "after `fix`")?;
        Ok(Regular::Fix(name, size))
    }

    fn repeat_counted(&mut self) -> Result<Regular<'t>> {
        let inner = self.regular()?;
        self.cursor.expect(",", "and the least number of repetitions")?;
        let least = self.cursor.number("the least number of repetitions")?.unwrap_or(0);
        let most = if self.cursor.accept(",")? {
            self.cursor.number("the largest number of repetitions")?.unwrap_or(UNBOUNDED)
        } else {
            least
        };
        self.cursor.expect(")", "after `repeat`")?;
        Ok(Regular::Repeat(Box::new(inner), least, most))
    }

    fn list<T>(&mut self, end: &str, mut one: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        let mut all = Vec::new();
        if self.cursor.accept(end)? {
            return Ok(all);
        }
        loop {
            all.push(one(self)?);
            if self.cursor.accept(end)? {
                return Ok(all);
            }
            self.cursor.expect(",", &format!("or `{end}`"))?;
        }
    }
}

/// Values and assertions.
impl<'t> Parser<'t> {
    fn value(&mut self) -> Result<Value<'t>> {
        match self.cursor.peek()? {
            Some(b'"') => return Ok(Value::Literal(self.cursor.string()?)),
            Some(b'\\') => return Ok(Value::Literal(vec![self.cursor.decimal_byte()?])),
            _ => {}
        }
        let Some(name) = self.cursor.name()? else {
            return self.cursor.expected("a string, the name of a variable or value, or `concat`");
        };
        if name.text == b"concat" && self.cursor.accept("(")? {
            self.deeper(name.at)?;
            let parts = self.list(")", Self::value)?;
            self.depth -= 1;
            return Ok(Value::Concat(parts));
        }
        if self.cursor.accept("[")? {
            let offset = self.cursor.number("the offset")?.unwrap_or(0);
            self.cursor.expect(":", "and the length")?;
            let length = self.cursor.number("the length")?.unwrap_or(0);
            self.cursor.expect("]", "after the length")?;
            return Ok(Value::Slice(name, offset, length));
        }
        Ok(Value::Name(name))
    }

    fn assertion(&mut self) -> Result<Assertion<'t>> {
        let mut parts = vec![self.conjunction()?];
        while self.cursor.accept_word("or")? {
            parts.push(self.conjunction()?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Assertion::Or(parts) })
    }

    fn conjunction(&mut self) -> Result<Assertion<'t>> {
        let mut parts = vec![self.single()?];
        while self.cursor.accept_word("and")? {
            parts.push(self.single()?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Assertion::And(parts) })
    }

    fn single(&mut self) -> Result<Assertion<'t>> {
        let at = self.cursor.position()?;
        self.deeper(at)?;
        let assertion = if self.cursor.accept("(")? {
            let inner = self.assertion()?;
            self.cursor.expect(")", "after the assertion")?;
            inner
        } else if self.cursor.accept_word("not")? {
            Assertion::Not(Box::new(self.single()?))
        } else {
            self.comparison()?
        };
        self.depth -= 1;
        Ok(assertion)
    }

    fn comparison(&mut self) -> Result<Assertion<'t>> {
        let subject = self.value()?;
        let negated = self.cursor.accept_word("not")?;
        let assertion = if self.cursor.accept_word("in")? {
            Assertion::In(subject, self.regular()?)
        } else if self.cursor.accept_word("contains")? {
            Assertion::Contains(subject, self.value()?)
        } else if self.cursor.accept_word("equals")? {
            Assertion::Equals(subject, self.value()?)
        } else {
            return self.cursor.expected("`in`, `contains` or `equals`");
        };
        Ok(if negated { Assertion::Not(Box::new(assertion)) } else { assertion })
    }
}
