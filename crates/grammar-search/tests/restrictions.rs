//! A grammar as constraints of the string solver: answers are sentences, and those that there are
//! get found.

use expr::{Dag, Label, Node, Op, TableData};
use grammar::language::Language;
use grammar_formats::read_text;
use grammar_search::Lifting;
use search::{Scope, Sentences};
use solver::{Answer, Chain, ChainOptions, Lit, PathSolver};

const CALC: &str = r#"
token num = /[0-9]+/ ;
token id = /[a-z][0-9]*/ ;
skip / +/ ;
program = statement+ ;
statement = "print" expr ";" | id "=" expr ";" ;
expr = expr "+" expr | num | id | "(" expr ")" ;
"#;

fn with_lifting(work: impl FnOnce(&mut Lifting)) {
    let read = read_text("calc.tg", CALC, None).expect("a grammar");
    let language = Language::new(read.grammar).expect("productive");
    work(&mut Lifting::new(&language).expect("small automata"));
}

/// "The word stands somewhere in the input."
fn contains(dag: &mut Dag, len: usize, word: &[u8]) -> Lit {
    let labels: Vec<Label> = (0..len as u32).map(|index| dag.input(index)).collect();
    let text = dag.add_table(TableData { bytes: vec![0; len], labels: Some(labels) });
    let pattern = dag.add_table(TableData::concrete(word.to_vec()));
    let (b, c) = (text.expect("a good table"), pattern.expect("a good table"));
    let found = dag.add(Node { op: Op::Find as u8, bits: 64, aux: 0, a: 0, b, c });
    let none = dag.constant(64, len as u128);
    Lit::new(dag.make_binary(Op::Eq, 1, found, none), false)
}

fn ask(lifting: &mut Lifting, scope: Scope, input: &[u8], word: &[u8]) -> Option<Vec<u8>> {
    let mut dag = Dag::new();
    let goal = contains(&mut dag, input.len(), word);
    let mut solver = PathSolver::new(&dag, &[], input, input.len());
    let mut chain = Chain::standard(ChainOptions::default());
    let mut restrictions = lifting.restrictions(input, scope).expect("a sentence");
    match solver.solve_within(&mut chain, 0, goal, &mut restrictions) {
        Answer::Sat(text) => Some(text),
        _ => None,
    }
}

#[test]
fn tokens_keep_their_terminals() {
    with_lifting(|lifting| {
        let input = b"abc0 = 12 + (345);";
        // `abc0` is three names, where one is allowed.
        assert!(lifting.restrictions(input, Scope::Lexemes).is_none());
        let input = b"a340 = 12 + (345);";
        for (word, expected) in [
            (&b"x9"[..], Some(&b"x940 = 12 + (345);"[..])),
            (b"77)", Some(b"a340 = 12 + (377);")),
            (b"99 +", Some(b"a340 = 99 + (345);")),
            (b"xy", None),
            (b"(b", None),
        ] {
            let text = ask(lifting, Scope::Lexemes, input, word);
            assert_eq!(
                text.as_deref(),
                expected,
                "{:?}",
                text.as_ref().map(|t| String::from_utf8_lossy(t))
            );
        }
    });
}

#[test]
fn a_sentence_stays_one() {
    with_lifting(|lifting| {
        let input = b"a3 = 12 + (345);";
        for word in [&b"(b"[..], b"+b", b";print", b"((", b"=b3;", b"b=1+"] {
            let text = ask(lifting, Scope::Sentence, input, word);
            let text =
                text.unwrap_or_else(|| panic!("nothing with {:?}", String::from_utf8_lossy(word)));
            assert!(lifting.contains(&text), "{:?}", String::from_utf8_lossy(&text));
        }
        for word in [&b"=="[..], b"()", b"3a+", b";;"] {
            assert_eq!(ask(lifting, Scope::Sentence, input, word), None);
        }
    });
}
