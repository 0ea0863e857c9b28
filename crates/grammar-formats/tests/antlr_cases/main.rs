//! Small grammars for what ANTLR allows and the public collections use, one feature each, with
//! sentences and others.

mod features;
mod rare;

use grammar::parse::Parser;
use grammar_formats::read_text;

struct Case {
    name: &'static str,
    grammar: &'static str,
    yes: &'static [&'static str],
    no: &'static [&'static str],
}

#[test]
fn each_feature_on_its_own() {
    let failures: Vec<String> = features::CASES.iter().chain(rare::CASES).flat_map(check).collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

fn check(case: &Case) -> Vec<String> {
    let read = match read_text("A.g4", case.grammar, None) {
        Ok(read) => read,
        Err(error) => return vec![format!("{}: {error}", case.name)],
    };
    let mut parser = Parser::new(&read.grammar).expect("a parser");
    let verdicts = case.yes.iter().map(|t| (t, true)).chain(case.no.iter().map(|t| (t, false)));
    let wrong =
        verdicts.filter(|(text, sentence)| parser.check(text.as_bytes()).is_ok() != *sentence);
    wrong.map(|(text, sentence)| format!("{}: {text:?} should be {sentence}", case.name)).collect()
}
