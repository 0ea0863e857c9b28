//! Normalisers: what may differ is made equal before outputs are compared.

use regex::bytes::Regex;

/// A regular expression and what comes in the place of its matches (`$1` is a group's text).
#[derive(Clone, Debug)]
pub struct Normaliser {
    pattern: Regex,
    replacement: Vec<u8>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadNormaliser {
    #[error("write REGEX=REPLACEMENT, with \\= for an equals sign in the regular expression")]
    NoReplacement,
    #[error("{0}")]
    Pattern(String),
}

impl Normaliser {
    /// Reads `REGEX=REPLACEMENT`. The expression ends at the first `=` that no backslash quotes.
    pub fn parse(text: &str) -> Result<Normaliser, BadNormaliser> {
        let (pattern, replacement) = split(text).ok_or(BadNormaliser::NoReplacement)?;
        // Lines are what outputs are made of.
        let pattern = format!("(?m){pattern}");
        let pattern =
            Regex::new(&pattern).map_err(|error| BadNormaliser::Pattern(error.to_string()))?;
        Ok(Normaliser { pattern, replacement: replacement.as_bytes().to_vec() })
    }

    pub(crate) fn apply(&self, text: Vec<u8>) -> Vec<u8> {
        self.pattern.replace_all(&text, &self.replacement[..]).into_owned()
    }
}

fn split(text: &str) -> Option<(&str, &str)> {
    let mut quoted = false;
    for (at, char) in text.char_indices() {
        match char {
            '=' if !quoted => return Some((&text[..at], &text[at + 1..])),
            _ => quoted = char == '\\' && !quoted,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normalised(rule: &str, text: &str) -> String {
        let normaliser = Normaliser::parse(rule).expect("a normaliser");
        String::from_utf8(normaliser.apply(text.into())).expect("text")
    }

    #[test]
    fn matches_are_replaced() {
        assert_eq!(normalised("0x[0-9a-f]+=ADDRESS", "at 0x7f and 0x80"), "at ADDRESS and ADDRESS");
        assert_eq!(normalised("(a+)b=<$1>", "aab ab"), "<aa> <a>");
        assert_eq!(normalised("^ +=", "  one\n two"), "one\ntwo");
        assert_eq!(normalised(r"a\=b=c=d", "a=b"), "c=d");
        assert_eq!(normalised(r"a\\=b", r"a\"), "b");
    }

    #[test]
    fn mistakes_are_explained() {
        assert_eq!(Normaliser::parse("abc").unwrap_err(), BadNormaliser::NoReplacement);
        let error = Normaliser::parse("(=x").unwrap_err().to_string();
        assert!(error.contains("unclosed group"), "{error}");
    }
}
