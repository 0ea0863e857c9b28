//! De-tokenisation: text that does not change keeps its bytes, and tokens do not merge.

use grammar::language::Language;
use grammar::lift::{Lifter, Neighbour};
use grammar_formats::read_text;

const CALC: &str = r#"
token num = /[0-9]+/ ;
token id = /[a-z]+/ ;
skip /[ \t\n]+/ ;
program = statement* ;
statement = "print" expr ";" | id "=" expr ";" | "if" expr statement ;
expr = expr "+" expr | num | id | "(" expr ")" ;
"#;

fn with_lifter(work: impl FnOnce(&mut Lifter)) {
    let read = read_text("calc.tg", CALC, None).expect("a grammar");
    let language = Language::new(read.grammar).expect("productive");
    work(&mut Lifter::new(&language).expect("small automata"));
}

const TEXT: &[u8] = b"print  1 +2 ;\n\tx=(3) ;if x print x;";

#[test]
fn every_change_is_a_sentence_and_keeps_the_rest() {
    with_lifter(|lifter| {
        let lifted = lifter.lift(TEXT).expect("a sentence");
        let mut kept = 0;
        for change in lifter.changes(TEXT) {
            let Some(text) = lifter.change(TEXT, change) else { continue };
            assert!(lifter.is_sentence(&text), "{:?}", String::from_utf8_lossy(&text));
            let start =
                lifted.tokens().get(change.token as usize).map_or(TEXT.len(), |token| token.start);
            assert!(text.starts_with(&TEXT[..start]), "{:?}", String::from_utf8_lossy(&text));
            let end =
                lifted.tokens().get(change.token as usize).map_or(TEXT.len(), |token| token.end);
            kept += usize::from(text.ends_with(&TEXT[end..]));
        }
        assert!(kept > 20, "only {kept} changes kept what follows");
    });
}

fn texts(neighbours: Vec<Neighbour>) -> Vec<Vec<u8>> {
    neighbours.into_iter().map(|neighbour| neighbour.text).collect()
}

#[test]
fn separators_are_written_where_tokens_would_merge_only() {
    with_lifter(|lifter| {
        let near = texts(lifter.neighbours(b"print 1;", 1));
        assert!(near.contains(&b"print (0);".to_vec()), "{near:?}");
        let near = texts(lifter.neighbours(b"print(1);", 1));
        assert!(
            near.contains(&b"print a;".to_vec()),
            "a name would merge with the keyword: {near:?}"
        );
        assert!(near.contains(&b"print0;".to_vec()), "a number does not: {near:?}");
        assert!(near.iter().all(|text| lifter.is_sentence(text)));
    });
}

#[test]
fn proposals_are_finished() {
    with_lifter(|lifter| {
        // The solver wants the keyword, and knows nothing of what comes after it.
        let texts = lifter.with_proposal(b"xx=1;", b"if=1;");
        assert!(
            texts.iter().any(|text| text.starts_with(b"if") && lifter.is_sentence(text)),
            "{texts:?}"
        );
    });
}

#[test]
fn what_is_no_sentence_has_no_tokens() {
    with_lifter(|lifter| {
        assert!(lifter.lift(b"print print").is_none());
        assert!(
            lifter.changes(b"print print").is_empty()
                && lifter.neighbours(b"print print", 0).is_empty()
        );
    });
}
