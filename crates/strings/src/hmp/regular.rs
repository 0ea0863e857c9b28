//! Regular expressions: strings, bytes, ranges, names and operators.

use super::parser::{Parser, Result};
use super::syntax::{Name, Regular};
use crate::language::UNBOUNDED;

impl<'t> Parser<'t> {
    pub(super) fn regular(&mut self) -> Result<Regular<'t>> {
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
                let message = format!(
                    "`{}` takes one expression, not {count}",
                    String::from_utf8_lossy(name.text)
                );
                return Err(self.cursor.error(name.at, message));
            }
            _ => {
                let message = format!(
                    "`{}` is no operator; there are `fix`, `star`, `plus`, `opt`, `repeat`, `or`, \
                     `and`, `not` and `concat`",
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
}
