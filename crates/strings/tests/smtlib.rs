//! SMT-LIB files by example.

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
    assert_eq!(
        verdict(&format!("(declare-const x String) (declare-const y String) {assertions}")),
        expected
    );
}

#[test]
fn the_fragment_by_example() {
    check("(assert (= (str.++ x \"b\") \"ab\"))", "sat");
    check(
        "(assert (= (str.len x) 3)) (assert (str.in_re x ((_ re.loop 4 5) re.allchar)))",
        "unsat",
    );
    check("(assert (= (str.at x 1) \"b\")) (assert (= (str.len x) 1))", "unsat");
    check("(assert (= (str.substr x 1 2) \"bc\")) (assert (str.prefixof \"a\" x))", "sat");
    check("(assert (= (str.indexof x \"ab\" 0) 2)) (assert (str.prefixof \"ab\" x))", "unsat");
    check(
        "(assert (= (str.replace x \"a\" \"b\") \"ba\")) (assert (str.contains x \"aa\"))",
        "sat",
    );
    check("(assert (= (str.to_int x) 12)) (assert (= (str.len x) 4))", "sat");
    check("(assert (> (str.to_int x) 99)) (assert (< (str.len x) 3))", "unsat");
    check("(assert (let ((z (str.++ x y))) (and (= z \"ab\") (distinct x y))))", "sat");
    check("(assert (str.< x y))", "unknown");
    check(
        "(assert (= (str.len x) (str.len y)))(assert (= x \"ab\"))(assert (str.in_re y (re.+ \
         (str.to_re \"c\"))))",
        "sat",
    );
    check(
        "(assert (> (str.len x) (* 2 (str.len y))))(assert (< (str.len x) 3))(assert (> (str.len \
         y) 0))",
        "unsat",
    );
    check(
        "(assert (not (str.prefixof x y)))(assert (= x \"a\"))(assert (str.in_re y ((_ re.loop 1 \
         3) (str.to_re \"a\"))))",
        "unsat",
    );
    check("(assert (not (str.suffixof x y)))(assert (= (str.len x) (str.len y)))", "sat");
    check(
        "(declare-const i Int)(assert (= (str.at x i) \"b\"))(assert (= x \"aab\"))(assert (< i \
         2))",
        "unsat",
    );
    check(
        "(declare-const i Int)(assert (= (str.substr x i 2) \"bc\"))(assert (= x \
         \"abcd\"))(assert (> i 0))",
        "sat",
    );
    check(
        "(declare-const i Int)(assert (= i (str.indexof x \"b\" 0)))(assert (= x \"aab\"))(assert \
         (> i 2))",
        "unsat",
    );
    check("(assert (= x \"\\u{100}\"))", "unknown");
}

#[test]
fn unsat_needs_no_bounds() {
    let even = "(re.* (str.to_re \"ab\"))";
    check(
        &format!("(assert (str.in_re x {even}))(assert (= (str.len x) (+ 1 (* 2 (str.len y)))))"),
        "unsat",
    );
    check(
        &format!(
            "(assert (= x (str.++ y \"b\")))(assert (not (str.suffixof \"b\" x)))(assert \
             (str.in_re y {even}))"
        ),
        "unsat",
    );
    check("(assert (> (str.len x) (str.len y)))(assert (> (str.len y) (str.len x)))", "unsat");
    check("(assert (str.contains x (str.++ x y)))(assert (str.prefixof \"a\" y))", "unsat");
    check(
        "(assert (= (str.++ x y) (str.++ \"a\" y \"b\")))(assert (str.prefixof \"b\" x))",
        "unsat",
    );
    check(
        "(assert (= (str.++ \"ab\" x) (str.++ x \"ba\")))(assert (str.suffixof \"b\" x))",
        "unsat",
    );
    check(
        "(assert (str.contains x y))(assert (str.in_re x (re.* (str.to_re \"a\"))))(assert \
         (str.contains y \"b\"))",
        "unsat",
    );
    check(
        "(assert (str.prefixof x y))(assert (str.prefixof \"ab\" x))(assert (= (str.at y 0) \
         \"b\"))",
        "unsat",
    );
    check(
        "(declare-const i Int)(assert (= (str.substr x i 2) \"ab\"))(assert (not (str.contains x \
         \"b\")))",
        "unsat",
    );
}

#[test]
fn solutions_may_be_long() {
    check(
        "(assert (= (str.len x) (+ 70 (str.len y))))(assert (str.in_re y (re.+ (str.to_re \
         \"abc\"))))",
        "sat",
    );
    check(
        "(assert (= (* 3 (str.len x)) (+ 100 (* 7 (str.len y)))))(assert (> (str.len y) 50))",
        "sat",
    );
    check(
        "(assert (= (str.++ x \"b\" y) (str.++ y \"b\" x)))(assert (distinct x y))(assert (> \
         (str.len y) 20))",
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
    let text =
        "(declare-const x String)(assert (= x \"a\"\"b\"))(check-sat)(get-model)(get-value (x))";
    let responses = smtlib::run(text.as_bytes(), &mut Budget::default()).unwrap();
    assert_eq!(
        responses[1],
        Response::Text("(\n  (define-fun x () String \"a\"\"b\")\n)".to_string())
    );
    assert_eq!(responses[2], Response::Text("((x \"a\"\"b\"))".to_string()));
}

#[test]
fn errors_point_into_the_file() {
    let error = smtlib::run(b"(declare-const x String)\n(assert (foo x))", &mut Budget::default())
        .unwrap_err();
    assert_eq!(error.to_string(), "2:9: `foo` is not known");
}
