//! Which parts there are, and where in a container they stand.

use std::fmt;
use std::ops::Range;

use thiserror::Error;

/// The parts of the inputs of a program, in the order of their slots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    parts: Vec<Part>,
    /// The line that containers begin with.
    line: Vec<u8>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Without spaces, `=` and `!`.
    pub name: String,
    /// Bytes that it can have; all of them, if it is one of choices.
    pub capacity: usize,
    pub kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Data,
    /// Ends at its first zero byte, or at its capacity.
    Text,
    Choices,
}

impl Kind {
    /// What is behind the capacity in a container's line.
    fn mark(self) -> &'static str {
        match self {
            Kind::Data => "",
            Kind::Text => "z",
            Kind::Choices => "!",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum LayoutError {
    #[error("there are two sources named {0}")]
    Twice(String),
    #[error("source {name} has room for {capacity} bytes; it must be 1 to {MOST}")]
    Capacity { name: String, capacity: usize },
    #[error("there are {0} sources; at most {MAX_PARTS} are possible")]
    TooMany(usize),
    #[error("a source cannot be named {0:?}")]
    Name(String),
}

/// What two bytes of length can say.
const MOST: usize = 0xffff;
/// As many as the runtime keeps apart.
const MAX_PARTS: usize = 32;
/// What containers begin with.
pub(crate) const MARK: &str = "tarragon container 1:";

impl Part {
    pub fn data(name: impl Into<String>, capacity: usize) -> Part {
        Part { name: name.into(), capacity, kind: Kind::Data }
    }

    pub fn text(name: impl Into<String>, capacity: usize) -> Part {
        Part { name: name.into(), capacity, kind: Kind::Text }
    }

    pub fn choices(name: impl Into<String>, capacity: usize) -> Part {
        Part { name: name.into(), capacity, kind: Kind::Choices }
    }

    /// Bytes of its length.
    pub fn head(&self) -> usize {
        match self.kind {
            Kind::Text | Kind::Choices => 0,
            Kind::Data if self.capacity <= 0xff => 1,
            Kind::Data => 2,
        }
    }

    fn slot(&self) -> usize {
        self.head() + self.capacity
    }

    fn check(&self) -> Result<(), LayoutError> {
        let is_plain = |c: char| c.is_ascii_graphic() && !"=!".contains(c);
        if self.name.is_empty() || !self.name.chars().all(is_plain) {
            return Err(LayoutError::Name(self.name.clone()));
        }
        match self.capacity {
            1..=MOST => Ok(()),
            capacity => Err(LayoutError::Capacity { name: self.name.clone(), capacity }),
        }
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}{}", self.name, self.capacity, self.kind.mark())
    }
}

impl Layout {
    pub fn new(parts: Vec<Part>) -> Result<Layout, LayoutError> {
        if parts.len() > MAX_PARTS {
            return Err(LayoutError::TooMany(parts.len()));
        }
        for (i, part) in parts.iter().enumerate() {
            part.check()?;
            if parts[..i].iter().any(|other| other.name == part.name) {
                return Err(LayoutError::Twice(part.name.clone()));
            }
        }
        let words: String = parts.iter().map(|part| format!(" {part}")).collect();
        Ok(Layout { line: format!("{MARK}{words}\n").into_bytes(), parts })
    }

    /// As the first line of a container says; `None` if it says something else.
    pub fn of_line(line: &str) -> Option<Layout> {
        let words = line.strip_prefix(MARK)?.split_ascii_whitespace();
        let part = |word: &str| {
            let (name, capacity) = word.split_once('=')?;
            let digits = capacity.trim_end_matches(|c: char| !c.is_ascii_digit());
            let mark = &capacity[digits.len()..];
            let kinds = [Kind::Data, Kind::Text, Kind::Choices];
            let kind = kinds.into_iter().find(|kind| kind.mark() == mark)?;
            Some(Part { name: name.to_owned(), capacity: digits.parse().ok()?, kind })
        };
        Layout::new(words.map(part).collect::<Option<_>>()?).ok()
    }

    /// That of a container, as it says itself; `None` if it is none.
    pub fn of(container: &[u8]) -> Option<Layout> {
        if !container.starts_with(MARK.as_bytes()) {
            return None;
        }
        let end = container.iter().position(|byte| *byte == b'\n')?;
        Layout::of_line(std::str::from_utf8(&container[..end]).ok()?)
    }

    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// What containers begin with.
    pub fn line(&self) -> &[u8] {
        &self.line
    }

    /// The number of a part.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.parts.iter().position(|part| part.name == name)
    }

    /// Bytes of a container.
    pub fn size(&self) -> usize {
        self.line.len() + self.parts.iter().map(Part::slot).sum::<usize>()
    }

    /// Where the bytes of each part are; its length is before them.
    pub fn places(&self) -> impl Iterator<Item = (&Part, Range<usize>)> {
        let mut next = self.line.len();
        self.parts.iter().map(move |part| {
            let start = next + part.head();
            next += part.slot();
            (part, start..start + part.capacity)
        })
    }

    /// Where lengths and choices are: bytes that are numbers.
    pub fn numbers(&self) -> impl Iterator<Item = Range<usize>> {
        self.places().filter_map(|(part, place)| match part.kind {
            Kind::Data => Some(place.start - part.head()..place.start),
            Kind::Choices => Some(place),
            Kind::Text => None,
        })
    }

    /// What may vary: everything but the line.
    pub fn variable(&self) -> Range<usize> {
        self.line.len()..self.size()
    }
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<String> = self.parts.iter().map(ToString::to_string).collect();
        f.write_str(&words.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout() -> Layout {
        let files = [Part::data("stdin", 255), Part::data("@@1", 256)];
        let others = [Part::text("word1", 9), Part::choices("faults", 4)];
        Layout::new(files.into_iter().chain(others).collect()).unwrap()
    }

    #[test]
    fn the_line_says_all() {
        let layout = layout();
        assert_eq!(layout.line(), b"tarragon container 1: stdin=255 @@1=256 word1=9z faults=4!\n");
        let line = String::from_utf8(layout.line().to_vec()).unwrap();
        assert_eq!(Layout::of_line(line.trim_end()), Some(layout));
        for other in [
            "",
            "stdin=255",
            "tarragon container 1: stdin",
            "tarragon container 1: stdin=1x",
            "tarragon container 1: stdin=z",
            "tarragon container 2: a=1",
        ] {
            assert_eq!(Layout::of_line(other), None, "{other}");
        }
    }

    #[test]
    fn slots_follow_each_other() {
        let layout = layout();
        let line = layout.line().len();
        let places: Vec<Range<usize>> = layout.places().map(|(_, place)| place).collect();
        let starts = [(1, 255), (258, 256), (514, 9), (523, 4)];
        assert_eq!(places, starts.map(|(start, size)| line + start..line + start + size));
        assert_eq!(layout.size(), line + 527);
    }

    #[test]
    fn layouts_that_cannot_be_are_refused() {
        let two = Layout::new(vec![Part::data("a", 1), Part::data("a", 2)]);
        assert_eq!(two, Err(LayoutError::Twice("a".to_owned())));
        for capacity in [0, 65536] {
            assert!(Layout::new(vec![Part::data("a", capacity)]).is_err());
        }
        for name in ["", "a b", "a=b", "a!", "a\n"] {
            assert!(Layout::new(vec![Part::data(name, 1)]).is_err(), "{name:?}");
        }
        let many = (0..33).map(|i| Part::data(i.to_string(), 1)).collect();
        assert_eq!(Layout::new(many), Err(LayoutError::TooMany(33)));
    }
}
