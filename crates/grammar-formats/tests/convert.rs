//! Random grammars, written and read again: the language is the same.

use grammar::language::Language;
use grammar::model::{
    Alternative, Expr, Grammar, LexRule, Lexing, Rule, RuleId, Terminal, TerminalId,
};
use grammar::parse::Parser;
use grammar::{Pattern, enumerate::Enumerator, spaces};
use grammar_formats::{read_text, to_bnf_json, to_tg};
use proptest::prelude::*;
use std::ops::ControlFlow;

const RULES: usize = 3;
/// Literals with everything that needs an escape somewhere, and patterns.
const TERMINALS: [&str; 7] = ["a", "<", "\\\"", "\\n", "[ab]b?", "é", "\\\\"];

fn expr() -> impl Strategy<Value = Expr> {
    let leaf = prop_oneof![
        1 => Just(Expr::Empty),
        4 => (0..TERMINALS.len()).prop_map(|t| Expr::Terminal(TerminalId::from(t))),
        2 => (0..RULES).prop_map(|r| Expr::Rule(RuleId::from(r))),
    ];
    leaf.prop_recursive(3, 8, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 2..4).prop_map(Expr::Seq),
            prop::collection::vec(inner.clone(), 2..4).prop_map(Expr::Choice),
            (inner, 0..3u32, prop::option::of(0..3u32))
                .prop_map(|(e, min, more)| e.repeat(min, more.map(|m| min + m))),
        ]
    })
}

fn grammar() -> impl Strategy<Value = Grammar> {
    let rule = prop::collection::vec(expr(), 1..3);
    (prop::collection::vec(rule, RULES), 0..RULES).prop_map(|(rules, start)| {
        let mut grammar = Grammar::new("random");
        for (i, text) in TERMINALS.iter().enumerate() {
            let pattern = Pattern::parse(text).expect("a pattern");
            grammar.terminals.push(Terminal::new(format!("T{i}"), pattern));
        }
        for (i, alternatives) in rules.into_iter().enumerate() {
            let alternatives = alternatives.into_iter().map(Alternative::new).collect();
            // Names that are words of the notation, hold quotes or are empty need quotes.
            grammar.rules.push(Rule { name: ["token", "a `\n`", ""][i].to_string(), alternatives });
        }
        grammar.start = RuleId::from(start);
        grammar
    })
}

/// Distinct strings up to a length; none if nothing is derived at all.
fn strings(grammar: Grammar, max: usize) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    let Ok(language) = Language::new(grammar) else { return all };
    let space = spaces::distinct(&language, max).expect("a small space");
    let _ = Enumerator::new(&space).run(&0u32.into(), Some(&3_000u32.into()), |found| {
        all.push(found.text.to_vec());
        ControlFlow::Continue(())
    });
    all.sort();
    all
}

proptest! {
    #![proptest_config(ProptestConfig::default())]

    #[test]
    fn tarragon_notation_says_the_same(grammar in grammar()) {
        let text = to_tg(&grammar);
        let again = read_text("out.tg", &text, None).map_err(|e| TestCaseError::fail(format!("{e}\n{text}")))?;
        prop_assert_eq!(strings(again.grammar, 3), strings(grammar, 3), "{}", text);
    }

    #[test]
    fn bnf_in_json_says_the_same(grammar in grammar()) {
        let (text, _) = to_bnf_json(&grammar);
        // A grammar without any string has no rule to write.
        if text == "{}\n" {
            prop_assert!(strings(grammar, 3).is_empty());
            return Ok(());
        }
        let again = read_text("out.json", &text, None).map_err(|e| TestCaseError::fail(format!("{e}\n{text}")))?;
        prop_assert_eq!(strings(again.grammar, 3), strings(grammar, 3), "{}", text);
    }

    /// With a lexer: what one reads, the other reads too.
    #[test]
    fn lexers_survive(mut grammar in grammar(), inputs in prop::collection::vec("[ab<é \
        \\\\\"]{0,5}", 8)) {
        grammar.lexing = Lexing::Longest;
        for (i, terminal) in grammar.terminals.iter().enumerate() {
            grammar.lex_rules.push(LexRule::token(TerminalId::from(i), &terminal.name, terminal.pattern.clone()));
        }
        grammar.lex_rules.push(LexRule::skip("blank", Pattern::literal(b" ")));
        let text = to_tg(&grammar);
        let again = read_text("out.tg", &text, None).map_err(|e| TestCaseError::fail(format!("{e}\n{text}")))?;
        let (mut one, mut other) = (Parser::new(&grammar).unwrap(), Parser::new(&again.grammar).unwrap());
        for input in inputs {
            prop_assert_eq!(one.check(input.as_bytes()).is_ok(), other.check(input.as_bytes()).is_ok(), "{} {}", input, text);
        }
    }
}
