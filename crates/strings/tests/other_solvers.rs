//! Random SMT-LIB files have the verdicts that cvc5 and Z3 give.

use std::io::Write;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use proptest::prelude::*;
use proptest::test_runner::{TestCaseResult, TestRunner};
use strings::smtlib::{self, Response};
use strings::{Answer, Budget};

fn main() {
    needs::run(vec![
        needs::test("random_files_have_the_verdicts_of_cvc5", || agree(CVC5)),
        needs::test("random_files_have_the_verdicts_of_z3", || agree(Z3)),
    ]);
}

const CVC5: &[&str] = &["cvc5", "--strings-exp", "--tlimit=300", "--lang=smt2"];
const Z3: &[&str] = &["z3", "-in", "-t:300"];

fn agree(other: &'static [&str]) -> needs::Tested {
    needs::program(other[0])?;
    let config =
        ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() };
    let files = prop::collection::vec(formula(), 1..4).prop_map(|formulas| file(&formulas));
    let agreed = TestRunner::new(config).run(&files, |text| check(other, &text));
    agreed.unwrap_or_else(|error| panic!("{error}"));
    Ok(())
}

fn check(other: &[&str], text: &str) -> TestCaseResult {
    if let (Some(ours), Some(theirs)) = (ours(text), theirs(other, text)) {
        prop_assert_eq!(ours, &theirs[..], "{} for\n{}", other[0], text);
    }
    Ok(())
}

/// Our verdict. Some files are undecidable; giving up after a moment is as good as after long.
fn ours(text: &str) -> Option<&'static str> {
    let budget = Budget::until(Some(Instant::now() + Duration::from_millis(200)));
    let responses = smtlib::run(text.as_bytes(), &mut budget.with_limit(100_000)).unwrap();
    responses.iter().find_map(|response| match response {
        Response::Verdict(Answer::Sat(_), _) => Some("sat"),
        Response::Verdict(Answer::Unsat, _) => Some("unsat"),
        _ => None,
    })
}

/// The verdict of another solver, if it has one.
fn theirs(command: &[&str], text: &str) -> Option<String> {
    let mut child = Command::new(command[0])
        .args(&command[1..])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("it is installed");
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(text.as_bytes()).expect("it reads its input");
    drop(stdin);
    let output = child.wait_with_output().expect("it ends");
    let verdict = String::from_utf8_lossy(&output.stdout).lines().next()?.to_string();
    ["sat", "unsat"].contains(&&verdict[..]).then_some(verdict)
}

fn file(formulas: &[String]) -> String {
    let strings: String =
        ["x", "y", "z"].map(|name| format!("(declare-const {name} String)\n")).concat();
    let assertions: String =
        formulas.iter().map(|formula| format!("(assert {formula})\n")).collect();
    format!("(set-logic QF_SLIA)\n{strings}(declare-const i Int)\n{assertions}(check-sat)\n")
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
            (binary, inner.clone(), inner)
                .prop_map(|(operator, r, s)| format!("({operator} {r} {s})")),
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
        (compare.clone(), string(), 0..4)
            .prop_map(|(op, s, n)| format!("({op} (str.len {s}) {n})")),
        (compare.clone(), 0..2, 0..3)
            .prop_map(|(op, k, n)| format!("({op} (str.indexof x \"ab\" {k}) {n})")),
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
