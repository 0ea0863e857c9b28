//! Names of tests, for people and for every language: lower case letters, digits, underlines.

use std::collections::HashSet;

/// Characters of a text that a name shows.
const SHOWN: usize = 24;

/// Letters and digits of a text, with underlines between them; `None` if it has none.
pub fn slug(text: &[u8]) -> Option<String> {
    let mut slug = String::new();
    for &byte in text {
        if slug.len() >= SHOWN {
            break;
        }
        match byte {
            b if b.is_ascii_alphanumeric() => slug.push(byte.to_ascii_lowercase() as char),
            _ if !slug.is_empty() && !slug.ends_with('_') => slug.push('_'),
            _ => {}
        }
    }
    let slug = slug.trim_end_matches('_');
    (!slug.is_empty()).then(|| slug.to_owned())
}

/// Words in capitals, without the underlines: the style of classes.
pub(crate) fn camel(name: &str) -> String {
    let capital = |word: &str| {
        let (first, rest) = word.split_at_checked(1).unwrap_or((word, ""));
        first.to_ascii_uppercase() + rest
    };
    // Without an underline between them, two numbers would be one.
    let mut camel = String::new();
    for word in name.split('_').map(capital) {
        let is_digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
        if is_digit(camel.chars().last()) && is_digit(word.chars().next()) {
            camel.push('n');
        }
        camel.push_str(&word);
    }
    camel
}

/// The names that were given.
#[derive(Debug, Default)]
pub struct Names {
    /// Also in the style of classes, which may be alike where the names are not.
    taken: HashSet<String>,
}

impl Names {
    /// The name itself, or with a number after it if a test has it.
    pub fn free(&mut self, name: &str) -> String {
        let again = (2..).map(|number: u32| format!("{name}_v{number}"));
        let mut names = std::iter::once(name.to_owned()).chain(again);
        names.find(|name| self.taken.insert(camel(name))).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_show_the_text() {
        assert_eq!(slug(b"(1 + 22)\n").as_deref(), Some("1_22"));
        assert_eq!(slug(b"\0 +-"), None);
        assert_eq!(slug(&[b'a'; 99]).map(|slug| slug.len()), Some(SHOWN));
        assert_eq!(camel("exits_0_on_1_22"), "Exits0On1n22");
    }

    #[test]
    fn no_name_is_given_twice() {
        let mut names = Names::default();
        let given = ["exits_1", "exits_1", "exits1", "other"].map(|name| names.free(name));
        assert_eq!(given, ["exits_1", "exits_1_v2", "exits1_v3", "other"]);
    }
}
