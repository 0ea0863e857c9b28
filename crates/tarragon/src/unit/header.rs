//! The names that a header may declare as functions.

/// Words before a parenthesis, but for those in comments. Not all of them are functions.
pub(crate) fn called(text: &str) -> impl Iterator<Item = String> {
    let text = without_comments(text);
    let parts: Vec<&str> = text.split('(').collect();
    let before = parts[..parts.len() - 1].iter().filter_map(|part| last_word(part));
    before.map(str::to_owned).collect::<Vec<_>>().into_iter()
}

fn last_word(text: &str) -> Option<&str> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let word = text.trim_end().rsplit(|c| !is_word(c)).next();
    word.filter(|word| !word.is_empty())
}

fn without_comments(text: &str) -> String {
    let (mut kept, mut rest) = (String::new(), text);
    while let Some(at) = rest.find("/*").into_iter().chain(rest.find("//")).min() {
        let end = if rest[at..].starts_with("//") { "\n" } else { "*/" };
        let after = rest[at + 2..].find(end).map_or(rest.len(), |length| at + 2 + length);
        kept += &rest[..at];
        kept.push(' ');
        rest = rest[after..].strip_prefix("*/").unwrap_or(&rest[after..]);
    }
    kept + rest
}

#[cfg(test)]
mod tests {
    use super::called;

    #[test]
    fn comments_hold_no_functions() {
        let text = "int one (int x); // not (this)\n/* nor(this) */ char *two(void);\n(x) /* end";
        assert_eq!(called(text).collect::<Vec<_>>(), ["one", "two"]);
        assert_eq!(called("").count(), 0);
        assert_eq!(called("const é(").count(), 0);
    }
}
