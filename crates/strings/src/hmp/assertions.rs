//! Values, and assertions about them with `and`, `or` and `not` in between.

use super::parser::{Parser, Result};
use super::syntax::{Assertion, Value};

impl<'t> Parser<'t> {
    pub(super) fn value(&mut self) -> Result<Value<'t>> {
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

    pub(super) fn assertion(&mut self) -> Result<Assertion<'t>> {
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
