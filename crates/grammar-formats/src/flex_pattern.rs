//! The regular expressions of flex: bytes, quotes, definitions in braces, set operations.

use crate::ReadError;
use crate::cursor::{Cursor, is_name, is_name_start};
use grammar::Pattern;
use regex_syntax::hir::{Class, ClassBytes, ClassBytesRange, Hir, HirKind};
use std::collections::HashMap;

const NEST_LIMIT: usize = 100;
const REPEAT_LIMIT: u32 = 2_000;
/// Parts of one regular expression, its definitions put in place: a larger one needs gigabytes,
/// only for its automaton to be refused.
const SIZE_LIMIT: usize = 500_000;

#[derive(Default)]
pub struct Patterns {
    pub definitions: HashMap<String, String>,
    pub ignore_case: bool,
    depth: usize,
    size: usize,
}

impl Patterns {
    /// Reads a pattern up to a blank, `/`, or `$` at its end.
    pub fn parse(&mut self, cursor: &mut Cursor) -> Result<Pattern, ReadError> {
        self.size = 0;
        self.choice(cursor)
    }

    fn choice(&mut self, cursor: &mut Cursor) -> Result<Pattern, ReadError> {
        let mut branches = vec![self.sequence(cursor)?];
        while cursor.eat("|") {
            branches.push(self.sequence(cursor)?);
        }
        Ok(Pattern::alternation(branches))
    }

    fn sequence(&mut self, cursor: &mut Cursor) -> Result<Pattern, ReadError> {
        let mut parts = Vec::new();
        loop {
            match cursor.peek() {
                None | Some(' ' | '\t' | '\n' | '\r' | '|' | ')' | '/') => break,
                Some('$') if ends(&cursor.rest()[1..]) => break,
                _ => {}
            }
            self.size += 1;
            if self.size > SIZE_LIMIT {
                let text = "a regular expression with more than 500,000 parts is not read: \
                    text in quotes counts as one part";
                return Err(cursor.error(text));
            }
            let atom = self.atom(cursor)?;
            parts.push(self.suffixes(atom, cursor)?);
        }
        Ok(Pattern::concat(parts))
    }

    fn suffixes(&mut self, mut atom: Pattern, cursor: &mut Cursor) -> Result<Pattern, ReadError> {
        loop {
            atom = if cursor.eat("*") {
                atom.repeat(0, None, true)
            } else if cursor.eat("+") {
                atom.repeat(1, None, true)
            } else if cursor.eat("?") {
                atom.repeat(0, Some(1), true)
            } else if cursor.at("{-}") || cursor.at("{+}") {
                self.set_operation(atom, cursor)?
            } else if cursor.at("{") && cursor.rest()[1..].starts_with(|c: char| c.is_ascii_digit())
            {
                let (min, max) = bounds(cursor)?;
                atom.repeat(min, max, true)
            } else {
                return Ok(atom);
            };
        }
    }

    fn set_operation(&mut self, left: Pattern, cursor: &mut Cursor) -> Result<Pattern, ReadError> {
        let difference = cursor.at("{-}");
        cursor.pos += 3;
        let right = self.atom(cursor)?;
        let (Some(mut a), Some(b)) = (as_bytes(left.hir()), as_bytes(right.hir())) else {
            return Err(cursor.error("expected a set on both sides of `{-}` and `{+}`"));
        };
        if difference {
            a.difference(&b)
        } else {
            a.union(&b)
        }
        Ok(class(a))
    }

    fn atom(&mut self, cursor: &mut Cursor) -> Result<Pattern, ReadError> {
        match cursor.peek() {
            Some('(') => self.group(cursor),
            Some('[') => self.set(cursor),
            Some('"') => self.quoted(cursor),
            Some('.') => {
                cursor.bump();
                let mut all = ClassBytes::new([ClassBytesRange::new(b'\n', b'\n')]);
                all.negate();
                Ok(class(all))
            }
            Some('{') if cursor.rest()[1..].starts_with(|c: char| is_name_start(c)) => {
                self.definition(cursor)
            }
            Some('\\') => {
                cursor.bump();
                let bytes = escape(cursor);
                Ok(self.literal(&bytes))
            }
            Some(c) => {
                cursor.bump();
                Ok(self.literal(c.encode_utf8(&mut [0; 4]).as_bytes()))
            }
            None => Err(cursor.expected("a pattern")),
        }
    }

    fn literal(&self, bytes: &[u8]) -> Pattern {
        let pattern = Pattern::literal(bytes);
        if self.ignore_case { pattern.ignore_case() } else { pattern }
    }

    fn group(&mut self, cursor: &mut Cursor) -> Result<Pattern, ReadError> {
        cursor.bump();
        if cursor.eat("?#") {
            cursor.eat_through(")");
            return Ok(Pattern::empty());
        }
        let outer = self.ignore_case;
        if cursor.eat("?") {
            let flags = cursor.eat_while(|c| c != ':' && c != ')').to_string();
            cursor.eat(":");
            let off = flags.split('-').nth(1).is_some_and(|f| f.contains('i'));
            self.ignore_case =
                !off && (outer || flags.split('-').next().is_some_and(|f| f.contains('i')));
        }
        self.enter(cursor)?;
        let inner = self.choice(cursor)?;
        self.depth -= 1;
        self.ignore_case = outer;
        if cursor.eat(")") { Ok(inner) } else { Err(cursor.expected("`)`")) }
    }

    fn enter(&mut self, cursor: &Cursor) -> Result<(), ReadError> {
        self.depth += 1;
        if self.depth > NEST_LIMIT {
            return Err(cursor.error(format!("patterns are nested deeper than {NEST_LIMIT}")));
        }
        Ok(())
    }

    fn quoted(&mut self, cursor: &mut Cursor) -> Result<Pattern, ReadError> {
        let start = cursor.pos;
        cursor.bump();
        let mut text = Vec::new();
        loop {
            match cursor.bump() {
                None | Some('\n') => {
                    return Err(cursor.error_at(start, "expected the closing quote"));
                }
                Some('"') => return Ok(self.literal(&text)),
                Some('\\') => text.extend(escape(cursor)),
                Some(c) => text.extend(c.encode_utf8(&mut [0; 4]).bytes()),
            }
        }
    }

    fn definition(&mut self, cursor: &mut Cursor) -> Result<Pattern, ReadError> {
        let pos = cursor.pos;
        cursor.bump();
        let name = cursor.eat_while(|c| is_name(c) || c == '-').to_string();
        if !cursor.eat("}") {
            return Err(cursor.expected("`}`"));
        }
        let Some(text) = self.definitions.get(&name).cloned() else {
            return Err(cursor.error_at(pos, format!("the definition `{name}` is missing")));
        };
        self.enter(cursor)?;
        let mut inner = Cursor::new(cursor.file, &text);
        let pattern = self.choice(&mut inner);
        self.depth -= 1;
        pattern
            .map_err(|e| cursor.error_at(pos, format!("in the definition `{name}`: {}", e.message)))
    }

    fn set(&mut self, cursor: &mut Cursor) -> Result<Pattern, ReadError> {
        let start = cursor.pos;
        cursor.bump();
        let negated = cursor.eat("^");
        let mut set = ClassBytes::empty();
        let mut first = true;
        loop {
            match cursor.peek() {
                None | Some('\n') => {
                    return Err(cursor.error_at(start, "expected `]` at the end of this set"));
                }
                Some(']') if !first => break,
                Some('[') if cursor.at("[:") => posix(cursor, &mut set)?,
                _ => range(cursor, &mut set)?,
            }
            first = false;
        }
        cursor.bump();
        if self.ignore_case {
            set.case_fold_simple();
        }
        if negated {
            set.negate();
        }
        Ok(class(set))
    }
}

/// Is this the end of a pattern?
fn ends(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with(|c: char| c.is_whitespace() || c == '|' || c == ')')
}

fn class(set: ClassBytes) -> Pattern {
    Pattern::from_hir(Hir::class(Class::Bytes(set)))
}

fn as_bytes(hir: &Hir) -> Option<ClassBytes> {
    match hir.kind() {
        HirKind::Class(Class::Bytes(set)) => Some(set.clone()),
        HirKind::Class(Class::Unicode(set)) => set.to_byte_class(),
        HirKind::Literal(lit) => {
            let [byte] = lit.0[..] else { return None };
            Some(ClassBytes::new([ClassBytesRange::new(byte, byte)]))
        }
        _ => None,
    }
}

fn range(cursor: &mut Cursor, set: &mut ClassBytes) -> Result<(), ReadError> {
    let pos = cursor.pos;
    let from = set_bytes(cursor);
    let [low] = from[..] else {
        // A character beyond ASCII: its bytes, which is all flex knows of it.
        from.iter().for_each(|b| set.push(ClassBytesRange::new(*b, *b)));
        return Ok(());
    };
    if !cursor.at("-") || cursor.at("-]") {
        set.push(ClassBytesRange::new(low, low));
        return Ok(());
    }
    cursor.bump();
    match set_bytes(cursor)[..] {
        [high] if low <= high => set.push(ClassBytesRange::new(low, high)),
        [.., high] if high > low => set.push(ClassBytesRange::new(low, 0xff)),
        _ => return Err(cursor.error_at(pos, "this range is empty")),
    }
    Ok(())
}

fn set_bytes(cursor: &mut Cursor) -> Vec<u8> {
    match cursor.bump() {
        Some('\\') => escape(cursor),
        Some(c) => c.to_string().into_bytes(),
        None => Vec::new(),
    }
}

fn posix(cursor: &mut Cursor, set: &mut ClassBytes) -> Result<(), ReadError> {
    let pos = cursor.pos;
    cursor.pos += 2;
    let negated = cursor.eat("^");
    let name = cursor.eat_while(|c| c.is_ascii_alphabetic());
    let good = |b: &u8| match name {
        "alpha" => b.is_ascii_alphabetic(),
        "digit" => b.is_ascii_digit(),
        "alnum" => b.is_ascii_alphanumeric(),
        "upper" => b.is_ascii_uppercase(),
        "lower" => b.is_ascii_lowercase(),
        "space" => b.is_ascii_whitespace() || *b == 0x0b,
        "blank" => *b == b' ' || *b == b'\t',
        "punct" => b.is_ascii_punctuation(),
        "print" => (b' '..=b'~').contains(b),
        "graph" => b.is_ascii_graphic(),
        "cntrl" => b.is_ascii_control(),
        "xdigit" => b.is_ascii_hexdigit(),
        _ => false,
    };
    let members: Vec<u8> = (0..=255u8).filter(|b| good(b) != negated).collect();
    if !cursor.eat(":]") || members.is_empty() {
        return Err(cursor.error_at(pos, "expected a class such as `[:alpha:]`"));
    }
    members.into_iter().for_each(|b| set.push(ClassBytesRange::new(b, b)));
    Ok(())
}

fn bounds(cursor: &mut Cursor) -> Result<(u32, Option<u32>), ReadError> {
    let pos = cursor.pos;
    cursor.bump();
    let inside = cursor.eat_while(|c| c.is_ascii_digit() || c == ',').to_string();
    let bad = cursor
        .error_at(pos, format!("expected `{{m}}`, `{{m,}}` or `{{m,n}}` up to {REPEAT_LIMIT}"));
    if !cursor.eat("}") {
        return Err(bad);
    }
    let number = |s: &str| s.parse::<u32>().ok().filter(|n| *n <= REPEAT_LIMIT);
    let bounds = match inside.split_once(',') {
        None => number(&inside).map(|n| (n, Some(n))),
        Some((m, "")) => number(m).map(|m| (m, None)),
        Some((m, n)) => number(m).zip(number(n)).filter(|(m, n)| m <= n).map(|(m, n)| (m, Some(n))),
    };
    bounds.ok_or(bad)
}

/// After a backslash, as in C.
pub fn escape(cursor: &mut Cursor) -> Vec<u8> {
    let digits = |cursor: &mut Cursor, radix: u32, max: usize| {
        let rest = cursor.rest();
        let len = rest.bytes().take(max).take_while(|b| (*b as char).is_digit(radix)).count();
        cursor.pos += len;
        u32::from_str_radix(&rest[..len], radix).map(|n| n as u8).unwrap_or(0)
    };
    match cursor.peek() {
        Some('0'..='7') => vec![digits(cursor, 8, 3)],
        Some('x') => {
            cursor.bump();
            vec![digits(cursor, 16, 2)]
        }
        Some(c) => {
            cursor.bump();
            match c {
                'n' => vec![b'\n'],
                't' => vec![b'\t'],
                'r' => vec![b'\r'],
                'b' => vec![8],
                'f' => vec![12],
                'v' => vec![11],
                'a' => vec![7],
                'e' => vec![27],
                c => c.to_string().into_bytes(),
            }
        }
        None => Vec::new(),
    }
}
