//! Table 1 of the CESE paper, for the derivations that its "Grammar" and "Sym Grammar" columns
//! count.

use grammar::count::{self, Count, Unit};
use grammar::enumerate::Enumerator;
use grammar::language::Language;
use grammar::model::{Alternative, Expr, Grammar, Rule, RuleId, Terminal, TerminalId};
use grammar::{Pattern, spaces};
use std::ops::ControlFlow;

/// `e ::= (e) | e*e | … | -e | leaf…`
fn calculator(leaves: &[&str]) -> Language {
    let mut grammar = Grammar::new("SimpleCalc");
    let mut terminal = |pattern: Pattern| {
        grammar.terminals.push(Terminal::new(pattern.to_string(), pattern));
        Expr::Terminal(TerminalId::from(grammar.terminals.len() - 1))
    };
    let e = || Expr::Rule(RuleId(0));
    let mut literal = |text: &str| terminal(Pattern::literal(text.as_bytes()));
    let mut bodies = vec![Expr::seq(vec![literal("("), e(), literal(")")])];
    for operator in ["*", "/", "%", "+", "-", "|", "&"] {
        bodies.push(Expr::seq(vec![e(), literal(operator), e()]));
    }
    bodies.push(Expr::seq(vec![literal("-"), e()]));
    bodies.extend(leaves.iter().map(|leaf| terminal(Pattern::parse(leaf).expect("a pattern"))));
    let alternatives = bodies.into_iter().map(Alternative::new).collect();
    grammar.rules.push(Rule { name: "e".into(), alternatives });
    Language::new(grammar).expect("a language")
}

fn up_to(language: &Language, max: usize) -> Vec<u64> {
    let mut sum = 0;
    let finite = |c: &Count| u64::try_from(c.finite().expect("finite").clone()).expect("small");
    let counts = count::by_length(language, max, Unit::Bytes);
    counts[1..]
        .iter()
        .map(|c| {
            sum += finite(c);
            sum
        })
        .collect()
}

#[test]
fn concrete_grammar() {
    let language = calculator(&["[a-zA-Z]", "[0-9]"]);
    assert_eq!(up_to(&language, 6), [62, 124, 27_156, 108_066, 23_706_692, 141_079_884]);
    assert_eq!(spaces::distinct(&language, 4).expect("a space").total(), 81_158u32.into());
}

#[test]
fn symbolic_grammar() {
    let language = calculator(&["x"]);
    assert_eq!(up_to(&language, 6), [1, 2, 11, 35, 201, 853]);
    assert_eq!(up_to(&language, 6)[5] - up_to(&language, 6)[4], 652);
}

#[test]
fn enumeration_is_as_long_as_the_count() {
    let language = calculator(&["[a-zA-Z]", "[0-9]"]);
    for (space, expected) in
        [(spaces::by_length(&language, 5), 23_706_692u64), (spaces::distinct(&language, 4), 81_158)]
    {
        let mut count = 0;
        let _ = Enumerator::new(&space.expect("a space")).run(&0u32.into(), None, |_| {
            count += 1;
            ControlFlow::Continue(())
        });
        assert_eq!(count, expected);
    }
}
