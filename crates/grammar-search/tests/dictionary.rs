//! Words that a program asks about become lexemes of new sentences.

use grammar::language::Language;
use grammar_formats::read_text;
use grammar_search::Lifting;
use path::{Asker, Word};
use search::Sentences;

const CALLS: &str = r#"
token NAME = /[a-z]+/ ;
token STRING = /"[a-z]*"/ ;
skip / +/ ;
program = statement+ ;
statement = NAME "." NAME ";" | "let" NAME "=" STRING ";" ;
"#;

fn with_lifting(work: impl FnOnce(&mut Lifting)) {
    let read = read_text("calls.tg", CALLS, None).expect("a grammar");
    let language = Language::new(read.grammar).expect("productive");
    work(&mut Lifting::new(&language).expect("small automata"));
}

fn word(asker: Asker, text: &str, place: Option<usize>) -> Word {
    Word { asker, text: text.into(), place: place.map(|start| start..start + text.len()) }
}

/// New sentences; all are checked to be some.
fn fresh(lifting: &mut Lifting) -> Vec<String> {
    let mut sentences = Vec::new();
    for random in 0..1000 {
        let input = lifting.fresh(random).expect("there is always another");
        assert!(lifting.contains(&input), "{}", String::from_utf8_lossy(&input));
        sentences.push(String::from_utf8(input).expect("the grammar is of ASCII"));
    }
    sentences
}

fn count(sentences: &[String], part: &str) -> usize {
    sentences.iter().filter(|sentence| sentence.contains(part)).count()
}

#[test]
fn compared_words_are_lexemes_where_they_were_compared() {
    with_lifting(|lifting| {
        assert_eq!(count(&fresh(lifting), "substring"), 0);
        let asker = Asker::Comparison(1);
        let words =
            [word(asker, "ab", Some(2)), word(asker, "substring", None), word(asker, "let", None)];
        lifting.learn_words(b"c.ab;", &words);
        let sentences = fresh(lifting);
        assert!(count(&sentences, "substring") > 100);
        assert_eq!(count(&sentences, "\"substring"), 0, "no string was compared");
        assert_eq!(count(&sentences, ".let;"), 0, "a keyword is no name");
    });
}

#[test]
fn hashed_words_of_earlier_runs_are_lexemes_too_and_keep_their_quotes() {
    with_lifting(|lifting| {
        lifting.learn_words(b"", &[word(Asker::Function(3), "encoding", None)]);
        assert_eq!(count(&fresh(lifting), "encoding"), 0, "nobody knows where it belongs");
        lifting.learn_words(b"let a=\"x\";", &[word(Asker::Function(3), "x", Some(7))]);
        let sentences = fresh(lifting);
        assert!(count(&sentences, "\"encoding\"") > 100);
        assert_eq!(count(&sentences, "encoding;"), 0, "no name was hashed");
    });
}

#[test]
fn words_are_put_more_often_where_they_served() {
    with_lifting(|lifting| {
        let names = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "theta", "kappa"];
        let words = names.map(|name| word(Asker::Function(1), name, None));
        lifting.learn_words(
            b"ab.c;",
            &[&words[..], &[word(Asker::Function(1), "ab", Some(0))]].concat(),
        );
        let before = count(&fresh(lifting), ".kappa;");
        lifting.ended_well(b"x.kappa;");
        let after = fresh(lifting);
        assert!(count(&after, ".kappa;") > 2 * before, "{before}");
        assert!(count(&after, ".alpha;") > 0, "others are still tried");
    });
}

#[test]
fn sentences_with_parts_of_others_have_some_words_as_well() {
    with_lifting(|lifting| {
        let asker = Asker::Comparison(1);
        lifting
            .learn_words(b"c.ab;", &[word(asker, "ab", Some(2)), word(asker, "substring", None)]);
        for sentence in ["a.b;c.d;", "let a=\"b\";a.c;"] {
            lifting.keep(sentence.as_bytes());
        }
        let sentences = fresh(lifting);
        assert!(count(&sentences, "substring") > 50);
        assert!(count(&sentences, "c.d;") > 0, "what was kept is not always spelt anew");
    });
}
