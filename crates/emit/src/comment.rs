//! Text that becomes a comment, which nothing in it may end or change: no line break, no backslash
//! (it joins lines in C, and begins a character in Java), no trigraph of one.

pub(crate) fn comment(text: &str) -> String {
    let plain = |c: char| match c {
        '\\' => '/',
        c if c.is_control() => ' ',
        c => c,
    };
    text.chars().map(plain).collect::<String>().replace("??/", "?/")
}

#[cfg(test)]
mod tests {
    use super::comment;

    #[test]
    fn comments_stay_on_their_line() {
        assert_eq!(comment("a\nb\\u000a ??/ ????/ é"), "a b/u000a ?/ ???/ é");
    }
}
