//! Random files against trying all words over a small alphabet.

mod oracle;

use oracle::{ANY, Oracle};
use proptest::prelude::*;
use strings::{Answer, Budget, Count, hmp};

/// `c` stands for all bytes that no constraint mentions.
const ALPHABET: &[u8] = b"abc";

fn words_up_to(longest: usize) -> Vec<Vec<u8>> {
    let mut all = vec![Vec::new()];
    let mut start = 0;
    for _ in 0..longest {
        let end = all.len();
        for i in start..end {
            for &byte in ALPHABET {
                let mut word = all[i].clone();
                word.push(byte);
                all.push(word);
            }
        }
        start = end;
    }
    all
}

/// All solutions over the alphabet, no word longer than `longest`.
fn solutions(oracle: &Oracle, longest: usize) -> Vec<Vec<Vec<u8>>> {
    let mut assignments: Vec<Vec<Vec<u8>>> = vec![Vec::new()];
    for (_, least, most) in &oracle.variables {
        let words: Vec<_> = words_up_to(longest)
            .into_iter()
            .filter(|w| (*least..=*most).contains(&w.len()))
            .collect();
        let extend = |assignment: &Vec<Vec<u8>>| {
            words
                .iter()
                .map(|word| [assignment.clone(), vec![word.clone()]].concat())
                .collect::<Vec<_>>()
        };
        assignments = assignments.iter().flat_map(extend).collect();
    }
    assignments.retain(|assignment| oracle.accepts(assignment));
    assignments
}

fn regular() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("\"a\"".to_string()),
        Just("\"b\"".to_string()),
        Just("\"ab\"".to_string()),
        Just("\"\"".to_string()),
        Just("['a'-'b']".to_string()),
        Just("fix(S, 2)".to_string()),
        Just("fix(T, 3)".to_string()),
    ];
    leaf.prop_recursive(3, 10, 3, |inner| {
        let list = prop::collection::vec(inner.clone(), 1..3).prop_map(|parts| parts.join(", "));
        prop_oneof![
            inner.clone().prop_map(|r| format!("star({r})")),
            inner.prop_map(|r| format!("not({r})")),
            list.clone().prop_map(|parts| format!("or({parts})")),
            list.clone().prop_map(|parts| format!("and({parts})")),
            list.prop_map(|parts| format!("concat({parts})")),
        ]
    })
}

fn rule() -> impl Strategy<Value = String> {
    let symbol = prop::sample::select(vec![
        "\"a\"",
        "\"b\"",
        "\"ba\"",
        "S",
        "T",
        "(S)*",
        "(T)?",
        "(T)+",
        "['a'-'b']",
    ]);
    let alternative = prop::collection::vec(symbol, 0..4).prop_map(|symbols| symbols.join(" "));
    prop::collection::vec(alternative, 1..4).prop_map(|alternatives| alternatives.join(" | "))
}

/// A constraint over the given terms.
fn assertion(terms: Vec<&'static str>) -> impl Strategy<Value = String> {
    let term = prop::sample::select(terms);
    let not = prop::sample::select(vec!["", "not "]);
    let language = prop_oneof![regular(), Just("S".to_string()), Just("T".to_string())];
    let text = prop::sample::select(vec!["\"a\"", "\"ab\"", "\"ba\"", "\"bb\""]);
    prop_oneof![
        4 => (term.clone(), not.clone(), language).prop_map(|(term, not, r)| format!("assert \
            {term} {not}in {r};\n")),
        1 => (term.clone(), not.clone(), text).prop_map(|(term, not, text)| format!("assert \
            {term} {not}contains {text};\n")),
        1 => (term.clone(), not, term).prop_map(|(a, not, b)| format!("assert {a} {not}equals \
            {b};\n")),
    ]
}

fn file(variables: &'static str, terms: Vec<&'static str>) -> impl Strategy<Value = String> {
    let assertions = prop::collection::vec(assertion(terms), 1..4).prop_map(|all| all.concat());
    (rule(), rule(), assertions).prop_map(move |(s, t, assertions)| {
        format!("{variables}\ncfg S := {s};\ncfg T := {t};\n{assertions}")
    })
}

/// Solves and compares with `longest`, which covers all sizes if `complete`.
fn check(text: &str, longest: usize, complete: bool) -> Result<(), TestCaseError> {
    let oracle = Oracle::new(text.as_bytes());
    let all = solutions(&oracle, longest);
    let mut problem = hmp::read(text.as_bytes(), hmp::Options::default()).unwrap();
    // Without a size some questions are undecidable; giving up after a moment is as good as after
    // long.
    let moment = std::time::Instant::now() + std::time::Duration::from_millis(200);
    let budget = Budget::until((!complete).then_some(moment));
    match problem.solve(&mut budget.with_limit(if complete { 50_000 } else { 3_000 })) {
        Answer::Sat(words) => {
            prop_assert!(oracle.accepts(&words), "{words:?} is no solution");
            let total = |words: &Vec<Vec<u8>>| words.iter().map(Vec::len).sum::<usize>();
            if let Some(shortest) = all.iter().map(total).min() {
                let differs = text.contains("not equals");
                prop_assert!(differs || total(&words) <= shortest, "{words:?} is not the shortest");
            }
            prop_assert!(
                !complete
                    || !all.is_empty()
                    || !words.iter().flatten().all(|b| ALPHABET.contains(b))
            );
        }
        Answer::Unsat => prop_assert!(all.is_empty(), "there is {:?}", all[0]),
        Answer::Unknown(_) => prop_assert!(!complete, "unknown within bounds"),
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn one_variable_with_a_size(text in file("var v : 0 .. 4;", vec!["v", "concat(\"a\", \
        v)", "concat(v, v)"])) {
        check(&text, 4, true)?;
    }

    #[test]
    fn slices(text in file("var v : 3;", vec!["v", "v[0:2]", "v[1:2]", "concat(v[2:1], v[0:1])"])) {
        check(&text, 3, true)?;
    }

    #[test]
    fn several_variables(text in file("var v : 0 .. 2; var w : 2;", vec!["v", "w", "concat(v, \
        \"b\", w)", "concat(w, v)"])) {
        check(&text, 2, true)?;
    }

    #[test]
    fn without_a_size(text in file("var v;", vec!["v", "concat(v, \"b\")"])) {
        check(&text, 4, false)?;
    }

    #[test]
    fn counts(text in file("var v : 0 .. 3; var w : 1;", vec!["v", "concat(v, w)", "concat(w, v, \
        \"a\")"])) {
        let text = format!("{text}assert v in star(['a'-'c']);\nassert w in star(['a'-'c']);\n");
        let all = solutions(&Oracle::new(text.as_bytes()), 3);
        let mut problem = hmp::read(text.as_bytes(), hmp::Options::default()).unwrap();
        prop_assert_eq!(problem.count(&mut Budget::default()), Ok(Count::Finite(all.len().into())));
        let mut listed = Vec::new();
        let listing = problem.each_solution(&mut Budget::default(), &mut |words| {
            listed.push(words.to_vec());
            std::ops::ControlFlow::Continue(())
        });
        prop_assert_eq!(listing, Ok(()));
        listed.sort();
        let mut expected = all;
        expected.sort();
        prop_assert_eq!(listed, expected);
    }
}

#[test]
fn the_alphabet_has_no_size() {
    assert_eq!(words_up_to(2).len(), 13);
    assert_eq!(Oracle::new(b"var v;").variables[0].2, ANY);
}

/// The shortest word of the variable that a grammar restricts is not enough: `bb` and `aa` leave
/// different words to `v`.
#[test]
fn what_follows_a_word_counts() {
    let text = "var v : 0 .. 2; var w : 2;\ncfg S := (T)? | \"a\" \"a\";\ncfg T := (S)* \"b\";\n\
                assert w in S;\nassert concat(v, \"b\", w) contains \"bb\";\n";
    check(text, 2, true).unwrap();
}

/// A word that variables share can be split in several ways, which leave different words to `x`.
#[test]
fn the_split_of_a_word_counts() {
    let text = "var v : 0 .. 2; var w : 0 .. 2; var x : 0 .. 2;\ncfg S := \"a\" T;\ncfg T := \
                \"b\";\n\
                assert concat(v, w) in S;\nassert concat(v, x) in or(\"ab\", \"bb\");\n";
    check(text, 2, true).unwrap();
}
