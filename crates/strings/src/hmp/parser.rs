//! The statements of a file. What stands in them is read by `rules`, `regular` and `assertions`.

use super::Options;
use super::cursor::{Cursor, SyntaxError};
use super::syntax::{File, Name};
use crate::language::UNBOUNDED;
use crate::scan::Size;

pub(super) type Result<T> = std::result::Result<T, SyntaxError>;

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

pub(super) struct Parser<'t> {
    pub(super) cursor: Cursor<'t>,
    pub(super) options: Options,
    pub(super) file: File<'t>,
    pub(super) depth: usize,
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
                let message =
                    format!("expected {WHAT}, found `{}`", String::from_utf8_lossy(other));
                return Err(self.cursor.error(start, message));
            }
        }
        self.cursor.expect(";", "at the end of the statement")
    }

    /// Whether a keyword and a name come next.
    fn starts_statement(&mut self) -> Result<bool> {
        let mut ahead = Cursor::new(self.cursor.text);
        let keyword = ahead.name()?.is_some_and(|word| {
            [&b"var"[..], b"cfg", b"reg", b"val", b"assert"]
                .contains(&&word.text.to_ascii_lowercase()[..])
        });
        Ok(keyword && ahead.name()?.is_some())
    }

    pub(super) fn some_name(&mut self, of: &str) -> Result<Name<'t>> {
        match self.cursor.name()? {
            Some(name) => Ok(name),
            None => self.cursor.expected(&format!("the name of {of}")),
        }
    }

    pub(super) fn defined_name(&mut self, of: &str) -> Result<Name<'t>> {
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
                    size.most = self
                        .size("the largest size of the variable")?
                        .map_or(UNBOUNDED, |size| size.most);
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
    pub(super) fn size(&mut self, what: &str) -> Result<Option<Size>> {
        let size = self.cursor.number(what)?.or(self.options.template_size);
        Ok(size.map(|size| Size { least: size, most: size }))
    }

    pub(super) fn deeper(&mut self, at: usize) -> Result<()> {
        self.depth += 1;
        if self.depth > DEEPEST {
            Err(self.cursor.error(at, "this is nested too deeply"))
        } else {
            Ok(())
        }
    }

    pub(super) fn list<T>(
        &mut self,
        end: &str,
        mut one: impl FnMut(&mut Self) -> Result<T>,
    ) -> Result<Vec<T>> {
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
