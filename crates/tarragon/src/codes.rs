//! Token codes by name: a header that bison wrote, or a list of the user's own.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result, ensure};

/// Names with numbers: `NUMBER = 258`, `#define NUMBER 258`, `NUMBER 258`, `'+' 43`. Everything
/// else is passed over.
pub(crate) fn read(path: &Path) -> Result<BTreeMap<String, i64>> {
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("{}: cannot be read", path.display()))?;
    let codes = parse(&text);
    ensure!(
        !codes.is_empty(),
        "{}: no token codes: lines like `NUMBER = 258` are missing",
        path.display()
    );
    Ok(codes)
}

fn parse(text: &str) -> BTreeMap<String, i64> {
    let mut codes = BTreeMap::new();
    for line in without_comments(text).lines().flat_map(|line| line.split(',')) {
        let words: Vec<&str> =
            line.split(|c: char| c.is_whitespace() || "={};".contains(c)).collect();
        let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
        if let [.., name, number] = words[..]
            && let Ok(code) = number.parse()
        {
            codes.insert(name.to_owned(), code);
        }
    }
    codes
}

fn without_comments(text: &str) -> String {
    let mut kept = String::new();
    let mut rest = text;
    while let Some((before, comment)) = rest.split_once("/*") {
        kept.push_str(before);
        rest = comment.split_once("*/").map_or("", |(_, after)| after);
    }
    kept.push_str(rest);
    kept.lines().map(|line| line.split("//").next().unwrap_or(line)).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_of_bison_and_plain_lists_are_read() {
        let header = "#ifndef YYTOKENTYPE\n  enum yytokentype\n  \
                      {\n    YYEMPTY = -2,\n    NUMBER = 258,  /* NUMBER */\n    \
                      LETTER = 259 /* a\n letter */\n  };\n#endif\n#define OLD 260\n";
        let expected = [("LETTER", 259), ("NUMBER", 258), ("OLD", 260), ("YYEMPTY", -2)];
        let as_map = |list: &[(&str, i64)]| {
            list.iter().map(|(name, code)| ((*name).to_owned(), *code)).collect()
        };
        assert_eq!(parse(header), as_map(&expected));
        assert_eq!(
            parse("'+' 43\nnumber 3 // of digits\n\nnonsense\n"),
            as_map(&[("'+'", 43), ("number", 3)])
        );
    }
}
