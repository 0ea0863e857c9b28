//! The input language by example: verdicts, solutions and error messages.

use strings::{Answer, Budget, Count, hmp};

fn solve(text: &str) -> Answer {
    let mut problem = hmp::read(text.as_bytes(), hmp::Options::default()).unwrap();
    problem.solve(&mut Budget::default())
}

#[track_caller]
fn check(text: &str, expected: &[&str]) {
    assert_eq!(
        solve(text),
        Answer::Sat(expected.iter().map(|word| word.as_bytes().to_vec()).collect())
    );
}

#[track_caller]
fn check_unsat(text: &str) {
    assert_eq!(solve(text), Answer::Unsat);
}

#[track_caller]
fn check_error(text: &str, expected: &str) {
    let error = hmp::read(text.as_bytes(), hmp::Options::default()).unwrap_err();
    assert_eq!(error.to_string(), expected);
}

const PARENTHESES: &str = "cfg E := \"()\" | E E | \"(\" E \")\";";

#[test]
fn the_example_of_the_paper() {
    for fix in ["fix", "fixsize"] {
        check(
            &format!(
                "var v:2; {PARENTHESES} reg Efixed := {fix}(E,6); val q := concat(\"((\", v, \
                 \"))\");
                 assert q in Efixed; assert q contains \"()()\";"
            ),
            &[")("],
        );
    }
}

#[test]
fn right_where_hampi_is_wrong() {
    check(
        "var v : 3; cfg A := \"ab\" | A A; reg r := fix(A, 2); assert v not in r; assert v in \
         star(\"a\");",
        &["aaa"],
    );
    check_unsat("var v; cfg A := A | B | ; cfg B := A; assert v in A; assert v contains \"x\";");
    check("var v : 2; cfg A := A A | B | ; cfg B := A | \"b\"; assert v in A;", &["bb"]);
}

#[test]
fn without_a_size_the_shortest_is_found_or_none_exists() {
    check(&format!("var v; {PARENTHESES} assert v in E; assert v contains \"))(\";"), &["(())()"]);
    check_unsat(&format!(
        "var v; {PARENTHESES} assert v in E; assert v in concat(\"))\", star(['('-')']));"
    ));
    check_unsat(
        "var v; cfg A := \"a\" A \"b\" | \"ab\"; cfg B := \"b\" B \"a\" | \"ba\"; assert v in A; \
         assert v in B;",
    );
}

#[test]
fn several_variables_share_a_word() {
    check(
        "var x; var y : 2; assert concat(x, y) in star(\"abc\"); assert x contains \"ca\";",
        &["abca", "bc"],
    );
    check(
        "var x; var y; assert x equals concat(\"a\", y); assert y not equals \"\"; assert x in \
         star(\"ab\");",
        &["ab", "b"],
    );
    check_unsat(
        "var x : 2; var y : 2; assert x equals y; assert concat(x, y) in concat(\"ab\", \"ba\");",
    );
}

#[test]
fn templates_have_any_length_or_a_given_one() {
    let template =
        b"var v : $HAMPI_LENGTH$; cfg A := \"ab\" | A A; reg r := fix(A, $HAMPI_LENGTH$); assert \
          v in r;";
    for (template_size, expected) in [(None, "ab"), (Some(4), "abab")] {
        let options = hmp::Options { template_size, ..hmp::Options::default() };
        let mut problem = hmp::read(template, options).unwrap();
        assert_eq!(
            problem.solve(&mut Budget::default()),
            Answer::Sat(vec![expected.as_bytes().to_vec()])
        );
    }
}

#[test]
fn counts_are_exact_or_infinite() {
    let count = |text: &str| {
        hmp::read(text.as_bytes(), hmp::Options::default())
            .unwrap()
            .count(&mut Budget::default())
            .unwrap()
    };
    assert_eq!(
        count(&format!("var v : 6; {PARENTHESES} assert v in E;")),
        Count::Finite(5u8.into())
    );
    assert_eq!(count("var v : 2; assert v not equals \"ab\";"), Count::Finite(65_535u32.into()));
    assert_eq!(count("var v; assert v in star(\"a\");"), Count::Infinite);
    assert_eq!(
        count("var v : 0 .. 1; assert v equals \"a\" or v equals \"b\" or v in star(\"a\");"),
        Count::Finite(3u8.into())
    );
}

#[test]
fn errors_point_into_the_file() {
    check_error(
        "var v : 3;\nreg r := star(\"a\", \"b\");",
        "2:10: `star` takes one expression, not 2",
    );
    check_error(
        "var v : 3;\nassert v in s;",
        "2:13: `s` is no language: expected the name of a `reg` or `cfg`",
    );
    check_error("var v : 3;\ncfg A := B;", "2:10: `B` is not defined: expected `cfg B := …;`");
    check_error("var v : 3;\ncfg A := \"a\";\ncfg A := \"b\";", "3:5: `A` is defined twice");
    check_error(
        "var v : 3\nassert v in r;",
        "2:1: expected `;` at the end of the statement, found `assert`",
    );
    check_error("var v : 3; reg r := \"a", "1:21: this string is not closed: expected `\"`");
    check_error("var v : 3; cfg A := \\300;", "1:21: \\300 is no byte: expected \\000 to \\255");
    check_error("var v : 5 .. 2;", "1:9: this range of sizes is the wrong way round");
    check_error(
        "var v; reg a := b; reg b := a;",
        "1:29: `a` is defined by itself; recursion needs `cfg`",
    );
    check_error("/* no end", "1:1: this comment is not closed: expected `*/`");
    check_error(
        "var v; assert v like \"a\";",
        "1:17: expected `in`, `contains` or `equals`, found `like`",
    );
}

#[test]
fn pathological_files_are_answered() {
    let mut chain = String::from("var v;\n");
    for i in 0..10_000 {
        chain.push_str(&format!("cfg A{i} := \"x\" | A{} A{i};\n", (i + 1) % 10_000));
    }
    check(&format!("{chain}assert v in A0;"), &["x"]);
    let nested = format!("{}\"a\"{}", "star(".repeat(500), ")".repeat(500));
    check(&format!("var v : 2; assert v in {nested};"), &["aa"]);
    let exponential = "concat(star(or(\"a\", \"b\")), \"a\", repeat(or(\"a\", \"b\"), 30))";
    check(&format!("var v; assert v in {exponential};"), &[&"a".repeat(31)]);
    check("var v : 100000; assert v in star(\"ab\");", &[&"ab".repeat(50_000)]);
}

/// Each of 70 rules doubles the next. There is a word, but no number for its length.
#[test]
fn a_word_beyond_all_lengths_is_not_refuted() {
    let rules: String = (0..70).map(|i| format!("cfg A{i} := A{0} A{0};\n", i + 1)).collect();
    let text = format!("var v;\n{rules}cfg A70 := \"a\";\nassert v in A0;");
    assert!(matches!(solve(&text), Answer::Unknown(_)));
}

#[test]
fn ambiguous_grammars_are_counted_by_words() {
    let text = "var v : 40; cfg E := \"()\" | E E | \"(\" E \")\"; assert v in E;";
    let mut problem = hmp::read(text.as_bytes(), hmp::Options::default()).unwrap();
    // The twentieth number of Catalan.
    assert_eq!(problem.count(&mut Budget::default()), Ok(Count::Finite(6_564_120_420u64.into())));
}
