//! Grammars that are a little off: the summary says with which productions the program rejects
//! sentences.

mod common;

use std::fs;

use tempfile::TempDir;

/// Takes sums, and no products.
const SUMS: &str = r#"
#include <stdio.h>
int main(void)
{
    int c, status = 0;
    while ((c = getchar()) != EOF)
        if (c == '*')
            status = 3;
    return status;
}
"#;

const GRAMMAR: &str = r#"
token NUMBER = /[0-9]/ ;
skip / +/ ;
start e ;
e = NUMBER | e "+" NUMBER | e "*" NUMBER ;
"#;

#[test]
fn productions_of_rejected_sentences_are_named() {
    for (rejects, rejected) in
        [(&[][..], true), (&["--rejects", "3"], true), (&["--rejects", "4,5"], false)]
    {
        let dir = TempDir::new().expect("temporary directory");
        fs::write(dir.path().join("sums.tg"), GRAMMAR).expect("written");
        let grammar = ["--grammar", "sums.tg", "--strategy", "grammar-random", "--max-runs", "200"];
        let stats = common::fuzz(dir.path(), SUMS, &[], &[&grammar, rejects].concat(), &[]);
        let count = |name: &str| stats["verdicts"][name].as_u64().expect("a number");
        assert_eq!(count("rejected") > 0, rejected, "{rejects:?}: {}", stats["verdicts"]);
        assert!(count("accepted") > 0 && common::bugs(&stats).is_empty(), "{stats}");
        let first = &stats["rejected_productions"][0];
        if rejected {
            assert_eq!(first["production"], "e (alternative 3)");
            assert_eq!(first["accepted"], 0, "{first}");
            let summary =
                fs::read_to_string(dir.path().join("out/summary.txt")).expect("a summary");
            assert!(summary.contains("with e (alternative 3) (100.0 %)"), "{summary}");
        } else {
            assert!(first.is_null(), "{first}");
        }
    }
}
