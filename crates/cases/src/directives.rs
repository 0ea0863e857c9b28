//! What a case expects, read from the `//@` lines at the top of its source.
//!
//! ```text
//! //@ expect-bug: SIGFPE        a bug that the search must find, and no others (may be repeated)
//! //@ uncovered: 12, 17         lines whose branches are not covered completely; all others are
//! //@ exhaustive: max-len=4 paths=5 complete    enumerate all paths instead of a search
//! //@ exhaustive: max-len=4 paths=5 incomplete  where something stands against completeness
//! //@ max-runs: 200             budget of the search
//! //@ max-len: 64               longest input
//! //@ seed: "a\n\x00"           input to start from instead of the built-in ones (may be repeated)
//! //@ same-output: "text"       further input on which all builds must agree (may be repeated)
//! //@ random: "abc"             characters of random inputs on which all builds must agree
//! //@ arguments: @@             of the program
//! //@ flags: -O2 -lm            of the compiler
//! //@ native: native/hash.c     source that clang alone compiles
//! //@ gives-up: inline assembly reason for which symbolic data is dropped, and no others (repeat)
//! //@ lost-through: getline     part of a function's name through which it is lost (repeat)
//! //@ diverges: reason          runs may leave their predicted path
//! //@ known-gap: reason         the case fails today; it is an error if it does not
//! ```

use std::collections::BTreeSet;
use std::ffi::OsString;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Directives {
    pub bugs: BTreeSet<String>,
    pub uncovered: BTreeSet<u32>,
    pub exhaustive: Option<Exhaustive>,
    pub max_runs: u64,
    pub max_len: usize,
    pub seeds: Vec<Vec<u8>>,
    pub same_output: Vec<Vec<u8>>,
    pub random: Option<Vec<u8>>,
    pub arguments: Vec<OsString>,
    pub flags: Vec<String>,
    pub natives: Vec<String>,
    pub give_ups: BTreeSet<String>,
    pub lost_through: Vec<String>,
    pub diverges: bool,
    pub known_gap: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Exhaustive {
    pub paths: u64,
    pub complete: bool,
}

impl Default for Directives {
    fn default() -> Directives {
        Directives {
            bugs: BTreeSet::new(),
            uncovered: BTreeSet::new(),
            exhaustive: None,
            max_runs: 300,
            max_len: 64,
            seeds: Vec::new(),
            same_output: Vec::new(),
            random: None,
            arguments: Vec::new(),
            flags: vec!["-O1".to_owned()],
            natives: Vec::new(),
            give_ups: BTreeSet::new(),
            lost_through: Vec::new(),
            diverges: false,
            known_gap: None,
        }
    }
}

impl Directives {
    pub(crate) fn parse(source: &str) -> Result<Directives, String> {
        let mut directives = Directives::default();
        for (number, line) in source.lines().enumerate() {
            let Some(text) = line.strip_prefix("//@") else { continue };
            directives.add(text.trim()).map_err(|error| format!("line {}: {error}", number + 1))?;
        }
        Ok(directives)
    }

    fn add(&mut self, text: &str) -> Result<(), String> {
        let (key, value) = text.split_once(':').ok_or("expected `key: value`")?;
        let value = value.trim();
        let words = || value.split_whitespace();
        match key {
            "expect-bug" => drop(self.bugs.insert(value.to_owned())),
            "uncovered" => {
                let lines: Result<Vec<u32>, _> =
                    value.split(',').map(|line| number(line.trim())).collect();
                self.uncovered.extend(lines?);
            }
            "exhaustive" => self.exhaustive(value)?,
            "max-runs" => self.max_runs = number(value)?,
            "max-len" => self.max_len = number(value)?,
            "seed" => self.seeds.push(string(value)?),
            "same-output" => self.same_output.push(string(value)?),
            "random" => self.random = Some(string(value)?),
            "arguments" => self.arguments = words().map(OsString::from).collect(),
            "flags" => self.flags.extend(words().map(str::to_owned)),
            "native" => self.natives.push(value.to_owned()),
            "gives-up" => self.give_up(value)?,
            "lost-through" => self.lost_through.push(value.to_owned()),
            "diverges" => self.diverges = true,
            "known-gap" => self.known_gap = Some(value.to_owned()),
            _ => return Err(format!("there is no directive `{key}`")),
        }
        Ok(())
    }

    fn exhaustive(&mut self, value: &str) -> Result<(), String> {
        let mut exhaustive = Exhaustive::default();
        for word in value.split_whitespace() {
            match word.split_once('=') {
                Some(("max-len", value)) => self.max_len = number(value)?,
                Some(("paths", value)) => exhaustive.paths = number(value)?,
                None if word == "complete" => exhaustive.complete = true,
                None if word == "incomplete" => exhaustive.complete = false,
                _ => return Err(format!("`{word}` does not belong to `exhaustive`")),
            }
        }
        self.exhaustive = Some(exhaustive);
        Ok(())
    }

    fn give_up(&mut self, reason: &str) -> Result<(), String> {
        if !trace::GiveUp::ALL.iter().any(|known| known.text() == reason) {
            return Err(format!("nothing is given up for the reason `{reason}`"));
        }
        self.give_ups.insert(reason.to_owned());
        Ok(())
    }
}

fn number<N: std::str::FromStr>(text: &str) -> Result<N, String> {
    text.parse().map_err(|_| format!("`{text}` is not a number"))
}

/// A string with C's escapes `\n`, `\\`, `\"`, `\0` and `\xHH`.
fn string(text: &str) -> Result<Vec<u8>, String> {
    let bad = || format!("{text} is not a string");
    let inner = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).ok_or_else(bad)?;
    let mut bytes = inner.bytes();
    let mut result = Vec::new();
    while let Some(byte) = bytes.next() {
        result.push(if byte == b'\\' { escape(&mut bytes).ok_or_else(bad)? } else { byte });
    }
    Ok(result)
}

fn escape(bytes: &mut std::str::Bytes<'_>) -> Option<u8> {
    let digit = |byte: u8| (byte as char).to_digit(16).map(|digit| digit as u8);
    match bytes.next()? {
        b'n' => Some(b'\n'),
        b'0' => Some(0),
        b'x' => Some(digit(bytes.next()?)? << 4 | digit(bytes.next()?)?),
        quoted @ (b'\\' | b'"') => Some(quoted),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_a_case_expects() {
        let source = "// A case.\n//@ expect-bug: SIGFPE\n//@ seed: \"a\\n\\x7f\"\n//@ uncovered: \
                      3, 5\nint x;\n";
        let read = Directives::parse(source).expect("a good case");
        assert_eq!(read.bugs, BTreeSet::from(["SIGFPE".to_owned()]));
        assert_eq!(read.seeds, [b"a\n\x7f"]);
        assert_eq!(read.uncovered, BTreeSet::from([3, 5]));
    }

    #[test]
    fn reads_bounds_of_an_enumeration() {
        let read =
            Directives::parse("//@ exhaustive: max-len=4 paths=5 complete").expect("a good case");
        assert_eq!(
            (read.max_len, read.exhaustive),
            (4, Some(Exhaustive { paths: 5, complete: true }))
        );
    }

    #[test]
    fn says_what_is_wrong() {
        let error = |source| Directives::parse(source).expect_err("a bad case");
        assert_eq!(error("\n//@ covers: all"), "line 2: there is no directive `covers`");
        assert_eq!(error("//@ seed: a"), "line 1: a is not a string");
        assert_eq!(error("//@ max-runs: few"), "line 1: `few` is not a number");
        assert_eq!(
            error("//@ gives-up: hope"),
            "line 1: nothing is given up for the reason `hope`"
        );
    }
}
