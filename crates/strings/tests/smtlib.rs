//! SMT-LIB files: by example, and random ones against cvc5 and Z3 where these are installed.

use std::io::Write;
use std::process::{Command, Stdio};

use proptest::prelude::*;
use std::time::{Duration, Instant};
use strings::smtlib::{self, Response};
use strings::{Answer, Budget};

fn verdict(text: &str) -> &'static str {
    verdict_within(text, Duration::from_secs(60))
}

fn verdict_within(text: &str, time: Duration) -> &'static str {
    let budget = Budget::until(Some(Instant::now() + time));
    let responses = smtlib::run(text.as_bytes(), &mut budget.with_limit(100_000)).unwrap();
    let verdict = responses.iter().find_map(|response| match response {
        Response::Verdict(answer, _) => Some(answer),
        Response::Text(_) => None,
    });
    match verdict {
        Some(Answer::Sat(_)) => "sat",
        Some(Answer::Unsat) => "unsat",
        _ => "unknown",
    }
}

#[track_caller]
fn check(assertions: &str, expected: &str) {
    assert_eq!(verdict(&format!("(declare-const x String) (declare-const y String) {assertions}")), expected);
}

#[test]
fn the_fragment_by_example() {
    check("(assert (= (str.++ x \"b\") \"ab\"))", "sat");
    check("(assert (= (str.len x) 3)) (assert (str.in_re x ((_ re.loop 4 5) re.allchar)))", "unsat");
    check("(assert (= (str.at x 1) \"b\")) (assert (= (str.len x) 1))", "unsat");
    check("(assert (= (str.substr x 1 2) \"bc\")) (assert (str.prefixof \"a\" x))", "sat");
    check("(assert (= (str.indexof x \"ab\" 0) 2)) (assert (str.prefixof \"ab\" x))", "unsat");
    check("(assert (= (str.replace x \"a\" \"b\") \"ba\")) (assert (str.contains x \"aa\"))", "sat");
    check("(assert (= (str.to_int x) 12)) (assert (= (str.len x) 4))", "sat");
    check("(assert (> (str.to_int x) 99)) (assert (< (str.len x) 3))", "unsat");
    check("(assert (let ((z (str.++ x y))) (and (= z \"ab\") (distinct x y))))", "sat");
    check("(assert (str.< x y))", "unknown");
    check(
        "(assert (= (str.len x) (str.len y)))(assert (= x \"ab\"))(assert (str.in_re y (re.+ (str.to_re \"c\"))))",
        "sat",
    );
    check(
        "(assert (> (str.len x) (* 2 (str.len y))))(assert (< (str.len x) 3))(assert (> (str.len y) 0))",
        "unsat",
    );
    check(
        "(assert (not (str.prefixof x y)))(assert (= x \"a\"))(assert (str.in_re y ((_ re.loop 1 3) (str.to_re \"a\"))))",
        "unsat",
    );
    check("(assert (not (str.suffixof x y)))(assert (= (str.len x) (str.len y)))", "sat");
    check(
        "(declare-const i Int)(assert (= (str.at x i) \"b\"))(assert (= x \"aab\"))(assert (< i 2))",
        "unsat",
    );
    check(
        "(declare-const i Int)(assert (= (str.substr x i 2) \"bc\"))(assert (= x \"abcd\"))(assert (> i 0))",
        "sat",
    );
    check(
        "(declare-const i Int)(assert (= i (str.indexof x \"b\" 0)))(assert (= x \"aab\"))(assert (> i 2))",
        "unsat",
    );
    check("(assert (= x \"\\u{100}\"))", "unknown");
}

#[test]
fn unsat_needs_no_bounds() {
    let even = "(re.* (str.to_re \"ab\"))";
    check(&format!("(assert (str.in_re x {even}))(assert (= (str.len x) (+ 1 (* 2 (str.len y)))))"), "unsat");
    check(
        &format!(
            "(assert (= x (str.++ y \"b\")))(assert (not (str.suffixof \"b\" x)))(assert (str.in_re y {even}))"
        ),
        "unsat",
    );
    check("(assert (> (str.len x) (str.len y)))(assert (> (str.len y) (str.len x)))", "unsat");
    check("(assert (str.contains x (str.++ x y)))(assert (str.prefixof \"a\" y))", "unsat");
    check("(assert (= (str.++ x y) (str.++ \"a\" y \"b\")))(assert (str.prefixof \"b\" x))", "unsat");
    check("(assert (= (str.++ \"ab\" x) (str.++ x \"ba\")))(assert (str.suffixof \"b\" x))", "unsat");
    check(
        "(assert (str.contains x y))(assert (str.in_re x (re.* (str.to_re \"a\"))))(assert (str.contains y \"b\"))",
        "unsat",
    );
    check(
        "(assert (str.prefixof x y))(assert (str.prefixof \"ab\" x))(assert (= (str.at y 0) \"b\"))",
        "unsat",
    );
    check(
        "(declare-const i Int)(assert (= (str.substr x i 2) \"ab\"))(assert (not (str.contains x \"b\")))",
        "unsat",
    );
}

#[test]
fn solutions_may_be_long() {
    check(
        "(assert (= (str.len x) (+ 70 (str.len y))))(assert (str.in_re y (re.+ (str.to_re \"abc\"))))",
        "sat",
    );
    check("(assert (= (* 3 (str.len x)) (+ 100 (* 7 (str.len y)))))(assert (> (str.len y) 50))", "sat");
    check(
        "(assert (= (str.++ x \"b\" y) (str.++ y \"b\" x)))(assert (distinct x y))(assert (> (str.len y) 20))",
        "sat",
    );
}

#[test]
fn characters_above_bytes_are_not_forgotten() {
    check(
        "(assert (= (str.len x) 1))(assert (not (str.in_re x (re.range \"\\u{0}\" \"\\u{ff}\"))))",
        "unknown",
    );
}

#[test]
fn a_model_is_printed_when_asked_for() {
    let text = "(declare-const x String)(assert (= x \"a\"\"b\"))(check-sat)(get-model)(get-value (x))";
    let responses = smtlib::run(text.as_bytes(), &mut Budget::default()).unwrap();
    assert_eq!(responses[1], Response::Text("(\n  (define-fun x () String \"a\"\"b\")\n)".to_string()));
    assert_eq!(responses[2], Response::Text("((x \"a\"\"b\"))".to_string()));
}

#[test]
fn errors_point_into_the_file() {
    let error =
        smtlib::run(b"(declare-const x String)\n(assert (foo x))", &mut Budget::default()).unwrap_err();
    assert_eq!(error.to_string(), "2:9: `foo` is not known");
}

/// The verdict of another solver, or `None` if it is not installed or gives none.
fn other(command: &[&str], text: &str) -> Option<String> {
    let (program, arguments) = command.split_first()?;
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .inspect_err(|_| eprintln!("skipped: {program} is not installed"))
        .ok()?;
    child.stdin.take()?.write_all(text.as_bytes()).ok()?;
    let output = child.wait_with_output().ok()?;
    let verdict = String::from_utf8_lossy(&output.stdout).lines().next()?.to_string();
    ["sat", "unsat"].contains(&&verdict[..]).then_some(verdict)
}

fn language() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(vec![
        "(str.to_re \"a\")",
        "(str.to_re \"ab\")",
        "(re.range \"a\" \"b\")",
        "re.allchar",
    ]);
    leaf.prop_map(str::to_string).prop_recursive(2, 6, 2, |inner| {
        let unary = prop::sample::select(vec!["re.*", "re.opt", "re.comp", "(_ re.loop 1 2)"]);
        let binary = prop::sample::select(vec!["re.++", "re.union", "re.inter", "re.diff"]);
        prop_oneof![
            (unary, inner.clone()).prop_map(|(operator, r)| format!("({operator} {r})")),
            (binary, inner.clone(), inner).prop_map(|(operator, r, s)| format!("({operator} {r} {s})")),
        ]
    })
}

fn string() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "x",
        "y",
        "\"ab\"",
        "z",
        "(str.++ x y)",
        "(str.++ y z)",
        "(str.++ \"b\" y)",
        "(str.++ x \"a\")",
        "(str.at x 1)",
        "(str.substr y 1 2)",
        "(str.replace x \"a\" \"b\")",
        "(str.at x i)",
        "(str.substr x i (str.len y))",
        "(str.substr x 1 (- (str.len x) 1))",
    ])
    .prop_map(str::to_string)
}

fn number() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "i",
        "(str.len x)",
        "(+ (str.len y) 1)",
        "(* 2 (str.len y))",
        "(- i (str.len x))",
        "(str.indexof x \"b\" 0)",
        "(str.indexof y \"a\" i)",
        "3",
        "(- 1)",
    ])
    .prop_map(str::to_string)
}

fn formula() -> impl Strategy<Value = String> {
    let compare = prop::sample::select(vec!["<", "=", ">="]);
    let atom = prop_oneof![
        (string(), language()).prop_map(|(s, r)| format!("(str.in_re {s} {r})")),
        (string(), string()).prop_map(|(s, t)| format!("(= {s} {t})")),
        string().prop_map(|s| format!("(str.contains {s} \"ab\")")),
        (string(), string()).prop_map(|(s, t)| format!("(str.contains {s} {t})")),
        (string(), string()).prop_map(|(s, t)| format!("(str.prefixof {s} {t})")),
        string().prop_map(|s| format!("(str.prefixof \"b\" {s})")),
        string().prop_map(|s| format!("(str.suffixof \"ba\" {s})")),
        (compare.clone(), string(), 0..4).prop_map(|(op, s, n)| format!("({op} (str.len {s}) {n})")),
        (compare.clone(), 0..2, 0..3).prop_map(|(op, k, n)| format!("({op} (str.indexof x \"ab\" {k}) {n})")),
        (compare.clone(), number(), number()).prop_map(|(op, m, n)| format!("({op} {m} {n})")),
        prop::sample::select(vec!["prefixof", "suffixof"]).prop_map(|op| format!("(str.{op} x y)")),
        (compare, 0..200).prop_map(|(op, n)| format!("({op} (str.to_int y) {n})")),
    ];
    atom.prop_recursive(2, 4, 2, |inner| {
        prop_oneof![
            inner.clone().prop_map(|f| format!("(not {f})")),
            (inner.clone(), inner.clone()).prop_map(|(f, g)| format!("(or {f} {g})")),
            (inner.clone(), inner).prop_map(|(f, g)| format!("(and {f} {g})")),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_files_have_the_verdicts_of_cvc5_and_z3(formulas in prop::collection::vec(formula(), 1..4)) {
        let mut text = "(set-logic QF_SLIA)\n(declare-const x String)\n(declare-const y String)\n(declare-const z String)\n(declare-const i Int)\n".to_string();
        formulas.iter().for_each(|formula| text.push_str(&format!("(assert {formula})\n")));
        text.push_str("(check-sat)\n");
        let ours = verdict_within(&text, Duration::from_millis(200));
        if ours != "unknown" {
            for command in [&["cvc5", "--strings-exp", "--tlimit=300", "--lang=smt2"][..], &["z3", "-in", "-t:300"]] {
                if let Some(theirs) = other(command, &text) {
                    prop_assert_eq!(ours, &theirs[..], "{} for\n{}", command[0], text);
                }
            }
        }
    }
}
