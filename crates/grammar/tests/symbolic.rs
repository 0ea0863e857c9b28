//! Symbolic grammars: what terminals become, what is enumerated in which order, and that nothing is
//! lost.

use grammar_testing as common;

use common::{Spec, grammar as random_grammar, spec};
use grammar::count::{self, Unit};
use grammar::language::Language;
use grammar::lightest::lightest_first;
use grammar::model::{Alternative, Expr, Grammar, Rule, RuleId, Terminal, TerminalId};
use grammar::parse::Parser;
use grammar::symbolic::{
    Choice, Fate, Filling, Measure, Options, Sizes, Strings, Symbolic, SymbolicString, symbolic,
};
use grammar::{Pattern, spaces};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::ops::ControlFlow;

/// `e ::= (e) | e*e | … | -e | l | d`, with rules of their own for the letters and the digits.
fn calculator() -> Language {
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
    bodies.extend([Expr::Rule(RuleId(1)), Expr::Rule(RuleId(2))]);
    let leaves =
        ["[a-zA-Z]", "[0-9]"].map(|leaf| terminal(Pattern::parse(leaf).expect("a pattern")));
    let rule = |name: &str, bodies: Vec<Expr>| Rule {
        name: name.to_owned(),
        alternatives: bodies.into_iter().map(Alternative::new).collect(),
    };
    grammar.rules.push(rule("e", bodies));
    for (name, leaf) in ["l", "d"].into_iter().zip(leaves) {
        grammar.rules.push(rule(name, vec![leaf]));
    }
    Language::new(grammar).expect("a language")
}

/// `s ::= T`, with terminals of all kinds.
fn with_terminal(pattern: &str) -> Language {
    let mut grammar = Grammar::new("one terminal");
    grammar.terminals.push(Terminal::new("T", Pattern::parse(pattern).expect("a pattern")));
    let alternatives = vec![Alternative::new(Expr::Terminal(TerminalId(0)))];
    grammar.rules.push(Rule { name: "s".into(), alternatives });
    Language::new(grammar).expect("a language")
}

fn strings(symbolic: &Symbolic, measure: Measure, max: usize) -> Vec<SymbolicString> {
    let sizes = Sizes { measure, max_lexeme: 2 };
    let space = symbolic.space(&sizes, max).expect("a space");
    let mut all = Vec::new();
    let each = |string| {
        all.push(string);
        ControlFlow::Continue(())
    };
    symbolic.strings(&space, &0u32.into(), None, each).expect("strings");
    all
}

/// Holes as underscores.
fn shown(string: &SymbolicString) -> String {
    let mut text = string.text.clone();
    string.holes.iter().for_each(|hole| text[hole.start..hole.start + hole.len].fill(b'_'));
    String::from_utf8(text).expect("ASCII")
}

#[test]
fn table_1_counts_derivations() {
    let calculator = symbolic(&calculator(), &Options::default()).expect("a symbolic grammar");
    let counts = count::by_length(&calculator.language, 6, Unit::Bytes);
    let counts: Vec<u64> =
        counts.iter().map(|c| c.finite().expect("finite").try_into().expect("small")).collect();
    let up_to = |n: usize| counts[1..=n].iter().sum::<u64>();
    assert_eq!([1, 2, 3, 4, 5].map(up_to), [1, 2, 11, 35, 201]);
    assert_eq!(counts[6], 652, "the last row of the table counts strings of length 6 alone");
    let distinct = spaces::count_distinct(&calculator.language, 6).expect("counts");
    let distinct =
        distinct.iter().map(|c| u64::try_from(c.finite().expect("finite")).expect("small"));
    assert_eq!(distinct.collect::<Vec<_>>(), [0, 1, 1, 9, 17, 96, 246]);
}

#[test]
fn fewest_holes_come_first() {
    let calculator = symbolic(&calculator(), &Options::default()).expect("a symbolic grammar");
    let all = strings(&calculator, Measure::Length, 4);
    let first: Vec<String> = all[..4].iter().map(shown).collect();
    assert_eq!(first, ["_", "-_", "(_)", "--_"]);
    assert_eq!(all.len(), 28);
    let key = |s: &SymbolicString| (s.text.len(), s.hole_bytes());
    assert!(all.is_sorted_by_key(key));
}

#[test]
fn terminals_become_what_they_have_lexemes_for() {
    let fate = |pattern: &str, options: &Options| {
        symbolic(&with_terminal(pattern), options).map(|symbolic| symbolic.fates[0].1.clone())
    };
    let standard = |pattern| fate(pattern, &Options::default()).expect("a fate");
    assert_eq!(standard("if"), Fate::Kept);
    assert_eq!(standard("[a-z]"), Fate::Holes(vec![1]));
    assert_eq!(standard("a|bcd|[0-9]{5}"), Fate::Holes(vec![1, 3, 5]), "only lengths that occur");
    assert_eq!(standard("[0-9]+"), Fate::Holes(vec![1, 2]));
    assert_eq!(
        standard("\"[a-z]{3}[a-z]*\""),
        Fate::Holes(vec![5]),
        "no lexeme is as short as the bound"
    );
    let chosen = |choice| Options { choices: vec![(TerminalId(0), choice)], ..Options::default() };
    assert_eq!(fate("[0-9]", &chosen(Choice::Keep)), Ok(Fate::Kept));
    assert_eq!(fate("if", &chosen(Choice::Hole)), Ok(Fate::Holes(vec![2])));
    assert_eq!(fate("[0-9]+", &chosen(Choice::Bound(4))), Ok(Fate::Holes(vec![1, 2, 3, 4])));
    assert!(fate("abc*", &chosen(Choice::Bound(1))).is_err());
    assert_eq!(
        fate("[0-9]+", &Options { bound: 3, ..Options::default() }),
        Ok(Fate::Holes(vec![1, 2, 3]))
    );
}

#[test]
fn heights_cut_only_terminals_with_infinitely_many_lexemes() {
    let keyword =
        symbolic(&with_terminal("CATALOG|INDEX"), &Options::default()).expect("a symbolic grammar");
    let all: Vec<String> = strings(&keyword, Measure::Height, 3).iter().map(shown).collect();
    assert_eq!(all, ["_____", "_______"]);
    let kept = with_terminal("CATALOG|INDEX");
    let kept = symbolic(&kept, &Options::concrete(&kept.grammar)).expect("a symbolic grammar");
    let all: Vec<String> = strings(&kept, Measure::Height, 3).iter().map(shown).collect();
    assert_eq!(all, ["INDEX", "CATALOG"]);
}

#[test]
fn a_search_by_height_ends_where_no_lexeme_is_short_enough() {
    let long = with_terminal("abc*");
    let long = symbolic(&long, &Options::concrete(&long.grammar)).expect("a symbolic grammar");
    let sizes = Sizes { measure: Measure::Height, max_lexeme: 1 };
    let mut strings = Strings::new(&long, sizes, None, (0, 1)).expect("strings");
    assert_eq!(strings.take().expect("a space"), None);
}

#[test]
fn the_coarsest_abstraction_knows_lengths_only() {
    let options = Options { coarsest: true, ..Options::default() };
    let calculator = symbolic(&calculator(), &options).expect("a symbolic grammar");
    let all: Vec<String> = strings(&calculator, Measure::Length, 4).iter().map(shown).collect();
    assert_eq!(all, ["_", "__", "___", "____"]);
}

#[test]
fn valid_holes_are_told_apart() {
    let options = Options { filling: Filling::Valid, ..Options::default() };
    let calculator = symbolic(&calculator(), &options).expect("a symbolic grammar");
    let all = strings(&calculator, Measure::Length, 1);
    let examples: Vec<&[u8]> = all.iter().map(|string| &string.text[..]).collect();
    assert_eq!(examples, [b"a", b"0"]);
}

#[test]
fn numbers_and_parts_name_the_same_strings() {
    let calculator = symbolic(&calculator(), &Options::default()).expect("a symbolic grammar");
    let space =
        calculator.space(&Sizes { measure: Measure::Length, max_lexeme: 2 }, 5).expect("a space");
    let all = strings(&calculator, Measure::Length, 5);
    for (from, limit) in [(0usize, 7usize), (30, 1), (100, 40), (112, 9)] {
        let mut part = Vec::new();
        let each = |string| {
            part.push(string);
            ControlFlow::Continue(())
        };
        calculator.strings(&space, &from.into(), Some(&limit.into()), each).expect("strings");
        assert_eq!(part, all[from..all.len().min(from + limit)]);
    }
}

/// Every string in which a lexeme of the right length stands in each hole.
fn instances(symbolic: &Symbolic, string: &SymbolicString) -> BTreeSet<Vec<u8>> {
    let mut texts = BTreeSet::from([string.text.clone()]);
    for hole in &string.holes {
        let lexemes =
            &symbolic.lexemes[hole.terminal.expect("valid holes have a terminal").index()];
        let fillings: Vec<Vec<u8>> =
            words(hole.len).into_iter().filter(|w| lexemes.matches(w)).collect();
        let fill = |text: &Vec<u8>, filling: &Vec<u8>| {
            let mut text = text.clone();
            text[hole.start..hole.start + hole.len].copy_from_slice(filling);
            text
        };
        texts = texts
            .iter()
            .flat_map(|t| fillings.iter().map(|f| fill(t, f)).collect::<Vec<_>>())
            .collect();
    }
    texts
}

/// All words over a and b.
fn words(len: usize) -> Vec<Vec<u8>> {
    (0..1usize << len)
        .map(|bits| (0..len).map(|i| b'a' + (bits >> i & 1) as u8).collect())
        .collect()
}

fn language(spec: &Spec) -> Option<Language> {
    Language::new(random_grammar(spec)).ok()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn instances_are_the_language(spec in spec()) {
        let Some(language) = language(&spec) else { return Ok(()) };
        let options = Options { filling: Filling::Valid, ..Options::default() };
        let abstraction = symbolic(&language, &options).expect("a symbolic grammar");
        let all = strings(&abstraction, Measure::Length, 4);
        let made: BTreeSet<Vec<u8>> = all.iter().flat_map(|s| instances(&abstraction, s)).collect();
        let mut parser = Parser::new(&language.grammar).expect("a parser");
        let sentences = (0..=4).flat_map(words).filter(|word| parser.check(word).is_ok());
        prop_assert_eq!(made, sentences.collect());
    }

    #[test]
    fn another_order_is_the_same_strings(spec in spec()) {
        let Some(language) = language(&spec) else { return Ok(()) };
        let abstraction = symbolic(&language, &Options::default()).expect("a symbolic grammar");
        let Ok(space) = spaces::by_height(&abstraction.language, 3, Some(2)) else { return Ok(()) };
        if space.total() > 2000u32.into() {
            return Ok(());
        }
        let weight = |terminal: TerminalId| abstraction.weight(terminal);
        let mut plain = Vec::new();
        let mut sorted = Vec::new();
        for (space, all) in [(&space, &mut plain), (&lightest_first(&space, weight), &mut sorted)] {
            let each = |string| { all.push(string); ControlFlow::Continue(()) };
            abstraction.strings(space, &0u32.into(), None, each).expect("strings");
        }
        let roots = lightest_first(&space, weight);
        let sizes: Vec<usize> = roots.sizes.iter().zip(&roots.roots)
            .flat_map(|(size, root)| (0..u64::try_from(roots.count(*root)).expect("few")).map(|_| *size)).collect();
        let keys: Vec<_> = sizes.into_iter().zip(&sorted).map(|(size, s)| (size, s.hole_bytes())).collect();
        prop_assert!(keys.is_sorted(), "{:?}", keys);
        let in_order = |mut strings: Vec<SymbolicString>| { strings.sort_by_key(|s| (shown(s), s.text.clone())); strings };
        prop_assert_eq!(in_order(plain), in_order(sorted));
    }
}
