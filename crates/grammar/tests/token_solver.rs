//! The context-free constraint solver against brute force and against the paper's own algorithm, on
//! random grammars: empty rules, left recursion, ambiguity and cycles included.

use grammar_testing as common;

use common::{RULES, Spec, grammar, spec};
use grammar::TerminalId;
use grammar::completion::Completion;
use grammar::constraint::{Constraint, TerminalSet};
use grammar::language::Language;
use grammar::regular::{self, Expression};
use grammar::token_solver::TokenSolver;
use proptest::prelude::*;
use std::collections::BTreeSet;

/// Longest sentence that brute force looks at.
const MAX: usize = 6;
const TERMINALS: usize = 3;

type Tokens = Vec<usize>;

fn set(mask: u8) -> TerminalSet {
    TerminalSet::of(TERMINALS, (0..TERMINALS).filter(|t| mask >> t & 1 == 1).map(TerminalId::from))
}

/// Sets of terminals as bits: mostly with a choice, sometimes impossible.
fn constraints() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(prop_oneof![6 => 1u8..8, 3 => Just(7u8), 1 => Just(0u8)], 0..5)
}

fn satisfies(tokens: &[usize], masks: &[u8]) -> bool {
    tokens.len() >= masks.len() && masks.iter().zip(tokens).all(|(mask, t)| mask >> t & 1 == 1)
}

/// All sentences of up to `MAX` tokens.
fn sentences(spec: &Spec) -> BTreeSet<Tokens> {
    let mut rules: Vec<BTreeSet<Tokens>> = vec![BTreeSet::new(); RULES];
    loop {
        let next: Vec<BTreeSet<Tokens>> =
            spec.iter().map(|alternatives| derive(alternatives, &rules)).collect();
        if next == rules {
            return rules.swap_remove(0);
        }
        rules = next;
    }
}

fn derive(alternatives: &[Vec<usize>], rules: &[BTreeSet<Tokens>]) -> BTreeSet<Tokens> {
    let mut all = BTreeSet::new();
    for alternative in alternatives {
        let mut partial: BTreeSet<Tokens> = [Vec::new()].into();
        for symbol in alternative {
            let parts = match symbol.checked_sub(RULES) {
                Some(t) => [vec![t]].into(),
                None => rules[*symbol].clone(),
            };
            let joined = partial
                .iter()
                .flat_map(|left| parts.iter().map(move |right| [&left[..], right].concat()));
            partial = joined.filter(|tokens| tokens.len() <= MAX).collect();
        }
        all.extend(partial);
    }
    all
}

fn shortest(sentences: &BTreeSet<Tokens>, masks: &[u8]) -> Option<usize> {
    sentences.iter().filter(|s| satisfies(s, masks)).map(Vec::len).min()
}

fn solve(solver: &mut TokenSolver, masks: &[u8]) -> Option<Tokens> {
    let mut prefix = solver.begin();
    let possible = masks.iter().all(|mask| solver.push(&mut prefix, &set(*mask)));
    let found = if possible { solver.solve(&prefix) } else { None };
    found.map(|tokens| tokens.iter().map(|t| t.index()).collect())
}

fn is_sentence(language: &Language, tokens: &[usize]) -> bool {
    let mut recognizer = language.core.recognizer();
    let begin = recognizer.begin();
    let end =
        tokens.iter().try_fold(begin, |config, t| recognizer.advance(config, TerminalId::from(*t)));
    end.is_some_and(|config| recognizer.accepts(config))
}

/// Same verdict and length as brute force as far as that looks; beyond, at least a sentence.
fn check(
    language: &Language,
    all: &BTreeSet<Tokens>,
    masks: &[u8],
    found: Option<&Tokens>,
) -> Result<(), TestCaseError> {
    match (shortest(all, masks), found) {
        (Some(len), found) => prop_assert_eq!(found.map(Vec::len), Some(len)),
        (None, Some(found)) => prop_assert!(found.len() > MAX, "{:?} is no sentence", found),
        (None, None) => {}
    }
    if let Some(found) = found {
        prop_assert!(satisfies(found, masks) && is_sentence(language, found), "{:?}", found);
    }
    Ok(())
}

/// Least number of tokens of each rule.
fn least(spec: &Spec) -> Vec<Option<usize>> {
    let mut rules = vec![None; RULES];
    loop {
        let next: Vec<Option<usize>> = spec
            .iter()
            .map(|alternatives| alternatives.iter().filter_map(|a| cost(a, &rules)).min())
            .collect();
        if next == rules {
            return rules;
        }
        rules = next;
    }
}

fn cost(form: &[usize], rules: &[Option<usize>]) -> Option<usize> {
    form.iter().map(|s| if *s >= RULES { Some(1) } else { rules[*s] }).sum()
}

/// Algorithm 2 of the paper: unrolls the start rule to its first tokens and prunes what violates
/// the constraint. `None` if it takes too long, as with left recursion.
fn unroll_and_prune(spec: &Spec, masks: &[u8]) -> Option<Option<usize>> {
    let rules = least(spec);
    let mut work = vec![vec![0]];
    let mut best: Option<usize> = None;
    for _ in 0..5000 {
        let Some(form) = work.pop() else { return Some(best) };
        let open = form.iter().take(masks.len()).position(|s| *s < RULES);
        let fixed: Tokens =
            form.iter().take(open.unwrap_or(masks.len())).map(|s| s - RULES).collect();
        if !satisfies(&fixed, &masks[..fixed.len()]) {
            continue;
        }
        match open {
            Some(at) => work.extend(
                spec[form[at]]
                    .iter()
                    .map(|body| [&form[..at], &body[..], &form[at + 1..]].concat()),
            ),
            None if form.len() < masks.len() => {}
            None => best = cost(&form, &rules).into_iter().chain(best).min(),
        }
    }
    None
}

proptest! {
    #![proptest_config(ProptestConfig::default())]

    #[test]
    fn agrees_with_brute_force(spec in spec(), queries in prop::collection::vec(constraints(), 1..8)) {
        let language = Language::unchecked(grammar(&spec)).unwrap();
        let (mut solver, all) = (TokenSolver::new(&language), sentences(&spec));
        for masks in &queries {
            let found = solve(&mut solver, masks);
            check(&language, &all, masks, found.as_ref())?;
            prop_assert_eq!(found, solve(&mut TokenSolver::new(&language), masks), "depends on \
                earlier queries");
        }
    }

    #[test]
    fn agrees_with_unroll_and_prune(spec in spec(), masks in constraints()) {
        let language = Language::unchecked(grammar(&spec)).unwrap();
        if let Some(expected) = unroll_and_prune(&spec, &masks) {
            let found = solve(&mut TokenSolver::new(&language), &masks);
            prop_assert_eq!(found.map(|tokens| tokens.len()), expected);
        }
    }

    /// A running input whose tokens lie in the sets; then each is asked to be something else.
    #[test]
    fn negations_start_from_the_prefix(spec in spec(), loose in prop::collection::vec(0u8..8, MAX), pick in 0usize..1000) {
        let language = Language::unchecked(grammar(&spec)).unwrap();
        let (mut solver, all) = (TokenSolver::new(&language), sentences(&spec));
        prop_assume!(!all.is_empty());
        let run = all.iter().nth(pick % all.len()).unwrap();
        let masks: Vec<u8> = run.iter().zip(&loose).map(|(t, loose)| 1 << t | loose).collect();
        let mut prefix = solver.begin();
        for (t, mask) in run.iter().zip(&masks) {
            prop_assert!(solver.push_run(&mut prefix, &set(*mask), Some(TerminalId::from(*t))));
        }
        for (i, token) in run.iter().enumerate() {
            for negated in [!masks[i] & 7, 7 & !(1u8 << *token)] {
                let query = [&masks[..i], &[negated]].concat();
                let found = solver.solve_with(&prefix, i, &set(negated));
                let found: Option<Tokens> = found.map(|f| f.iter().map(|t| t.index()).collect());
                check(&language, &all, &query, found.as_ref())?;
                let anew = solve(&mut TokenSolver::new(&language), &query);
                prop_assert_eq!(found.map(|f| f.len()), anew.map(|f| f.len()));
                let mut shorter = prefix.clone();
                shorter.truncate(i);
                let pushed = solver.push(&mut shorter, &set(negated));
                let again = if pushed { solver.solve(&shorter) } else { None };
                prop_assert_eq!(again.map(|f| f.len()), solver.solve_with(&prefix, i, &set(negated)).map(|f| f.len()));
            }
        }
    }
}

/// Grammars of which many have lists, of which some go to the right.
fn with_lists() -> impl Strategy<Value = Spec> {
    let list =
        prop_oneof![Just(vec![0, 1]), Just(vec![1, 0]), Just(vec![0, 3, 1]), Just(vec![1, 4, 0])];
    (spec(), prop::option::weighted(0.7, list)).prop_map(|(mut spec, list)| {
        spec[0].extend(list);
        spec
    })
}

/// The fewest tokens of a sentence that begins so, by following every choice of tokens on its own.
fn by_choices(language: &Language, masks: &[u8]) -> Option<usize> {
    let mut recognizer = language.core.recognizer();
    let mut configs = BTreeSet::from([recognizer.begin()]);
    for mask in masks {
        let members: Vec<TerminalId> = set(*mask).iter().collect();
        let pairs = configs.iter().flat_map(|config| members.iter().map(move |t| (*config, *t)));
        configs = pairs.filter_map(|(config, t)| recognizer.advance(config, t)).collect();
    }
    let mut completion = Completion::new(&language.core.productions, &recognizer, &[1; TERMINALS]);
    let least = configs.iter().filter_map(|config| completion.cost(&recognizer, *config)).min();
    least.map(|cost| masks.len() + cost as usize)
}

#[derive(Clone, Debug)]
enum Change {
    /// The set, and the token of the running input.
    Push(u8, usize),
    Truncate(usize),
}

fn changes() -> impl Strategy<Value = Vec<Change>> {
    let push = (prop_oneof![Just(7u8), 1u8..8], 0..TERMINALS)
        .prop_map(|(mask, run)| Change::Push(mask, run));
    prop::collection::vec(
        prop_oneof![5 => push, 1 => (0usize..12).prop_map(Change::Truncate)],
        1..12,
    )
}

proptest! {
    /// One prefix of sets grows and shrinks. After each change every token is asked to be something
    /// else, last places first: same verdict and length as brute force and as all choices on their
    /// own. What was asked before changes no answer.
    #[test]
    fn changing_prefixes_of_sets(spec in with_lists(), changes in changes(), negated in 1u8..8) {
        let language = Language::unchecked(grammar(&spec)).unwrap();
        let (mut solver, all) = (TokenSolver::new(&language), sentences(&spec));
        let (mut prefix, mut masks, mut runs) = (solver.begin(), Vec::new(), Vec::new());
        for change in &changes {
            match change {
                Change::Truncate(len) => {
                    masks.truncate(*len);
                    runs.truncate(*len);
                    prefix.truncate(masks.len());
                }
                Change::Push(mask, run) => {
                    masks.push(*mask);
                    runs.push(Some(TerminalId::from(*run)));
                    if !solver.push_run(&mut prefix, &set(*mask), runs[runs.len() - 1]) {
                        prop_assert_eq!(by_choices(&language, &masks), None);
                        masks.pop();
                        runs.pop();
                    }
                }
            }
            let found = solver.solve(&prefix).map(|f| f.iter().map(|t| t.index()).collect());
            check(&language, &all, &masks, found.as_ref())?;
            prop_assert_eq!(found.map(|f| f.len()), by_choices(&language, &masks));
            for i in (0..=masks.len()).rev() {
                let query = [&masks[..i], &[negated]].concat();
                let found = solver.solve_with(&prefix, i, &set(negated));
                let found: Option<Tokens> = found.map(|f| f.iter().map(|t| t.index()).collect());
                check(&language, &all, &query, found.as_ref())?;
                prop_assert_eq!(found.map(|f| f.len()), by_choices(&language, &query));
            }
        }
        let mut fresh = TokenSolver::new(&language);
        let mut again = fresh.begin();
        for (mask, run) in masks.iter().zip(&runs) {
            prop_assert!(fresh.push_run(&mut again, &set(*mask), *run));
        }
        for i in 0..=masks.len() {
            let negated = set(negated);
            prop_assert_eq!(fresh.solve_with(&again, i, &negated), solver.solve_with(&prefix, i, &negated));
        }
        prop_assert_eq!(fresh.solve(&again), solver.solve(&prefix));
    }
}

/// Terminals without a lexeme are no tokens, and a lexeme stands for the terminals that match it.
#[test]
fn lexemes() {
    let mut with_never = grammar(&vec![vec![vec![3, 1], vec![5, 4]], vec![vec![3]], vec![vec![4]]]);
    let language = Language::new(with_never.clone()).unwrap();
    let terminals = |text: &str| -> Vec<usize> {
        Constraint::Lexeme(text.into()).terminals(&language).iter().map(|t| t.index()).collect()
    };
    assert_eq!((terminals("a"), terminals("bb"), terminals("c")), (vec![0, 2], vec![2], vec![]));
    assert_eq!(solve(&mut TokenSolver::new(&language), &[0b100]), Some(vec![2, 1]));
    with_never.terminals[1].pattern = grammar::Pattern::never();
    let language = Language::unchecked(with_never).unwrap();
    assert_eq!(solve(&mut TokenSolver::new(&language), &[0b100]), None);
    assert_eq!(solve(&mut TokenSolver::new(&language), &[0b111]), Some(vec![0, 0]));
}

/// The first token's choice decides whether the second can be had: the run's own choice has to be
/// given up.
#[test]
fn earlier_choices_follow_later_ones() {
    let language = Language::new(grammar(&vec![
        vec![vec![3, 3], vec![4, 4, 3]],
        vec![vec![3]],
        vec![vec![3]],
    ]))
    .unwrap();
    let mut solver = TokenSolver::new(&language);
    let mut prefix = solver.begin();
    assert!(solver.push_run(&mut prefix, &set(0b011), Some(TerminalId(0))));
    let found = solver.solve_with(&prefix, 1, &set(0b110)).unwrap();
    assert_eq!(found, [TerminalId(1), TerminalId(1), TerminalId(0)]);
    assert_eq!(solver.solve_with(&prefix, 1, &set(0b100)), None);
    assert_eq!(solver.solve(&prefix).unwrap(), [TerminalId(0), TerminalId(0)]);
}

/// An element of a list leads back to the configuration in which it began. The tokens before the
/// list follow from how it ends, through any number of elements; a list to the right is one chain
/// of completions.
#[test]
fn choices_before_a_list_follow_what_comes_after_it() {
    for list in [vec![vec![2], vec![1, 2]], vec![vec![2], vec![2, 1]]] {
        let sentences = vec![vec![3, 1, 3], vec![4, 1, 4]];
        let language = Language::new(grammar(&vec![sentences, list, vec![vec![5]]])).unwrap();
        let mut solver = TokenSolver::new(&language);
        let mut prefix = solver.begin();
        assert!(solver.push_run(&mut prefix, &set(0b011), Some(TerminalId(0))));
        for len in 1..20 {
            assert!(solver.push(&mut prefix, &set(0b100)));
            let found = solver.solve_with(&prefix, len + 1, &set(0b010)).unwrap();
            let tokens: Tokens = found.iter().map(|t| t.index()).collect();
            assert_eq!(tokens, [&[1], &vec![2; len][..], &[1]].concat());
        }
    }
}

/// Random expressions over the three terminals.
fn expressions() -> impl Strategy<Value = Expression> {
    let token = (1u8..8).prop_map(|mask| Expression::Token(set(mask)));
    token.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Expression::Sequence),
            prop::collection::vec(inner.clone(), 1..3).prop_map(Expression::Choice),
            inner.prop_map(|inner| Expression::Star(Box::new(inner))),
        ]
    })
}

/// Where a match that begins at one of these places can end.
fn ends(expression: &Expression, tokens: &[usize], begins: &BTreeSet<usize>) -> BTreeSet<usize> {
    match expression {
        Expression::Token(set) => {
            let is_in = |at: &&usize| {
                tokens.get(**at).is_some_and(|token| set.contains(TerminalId::from(*token)))
            };
            begins.iter().filter(is_in).map(|at| at + 1).collect()
        }
        Expression::Sequence(parts) => {
            parts.iter().fold(begins.clone(), |begins, part| ends(part, tokens, &begins))
        }
        Expression::Choice(parts) => {
            parts.iter().flat_map(|part| ends(part, tokens, begins)).collect()
        }
        Expression::Star(part) => {
            let mut all = begins.clone();
            loop {
                let more: BTreeSet<usize> = all.union(&ends(part, tokens, &all)).copied().collect();
                if more == all {
                    return all;
                }
                all = more;
            }
        }
    }
}

fn matches(expression: &Expression, tokens: &[usize]) -> bool {
    ends(expression, tokens, &[0].into()).contains(&tokens.len())
}

proptest! {
    /// Same verdict and same number of tokens as brute force, as far as that looks.
    #[test]
    fn expressions_have_cheapest_sentences(spec in spec(), expression in expressions()) {
        let Ok(language) = Language::new(grammar(&spec)) else { return Ok(()) };
        let known = sentences(&spec);
        let shortest = known.iter().filter(|tokens| matches(&expression, tokens)).map(Vec::len).min();
        let found = regular::solve(&language, &expression);
        let found: Option<Tokens> = found.map(|tokens| tokens.iter().map(|token| token.index()).collect());
        match (&found, shortest) {
            (Some(found), shortest) if found.len() <= MAX => {
                prop_assert_eq!(Some(found.len()), shortest);
                prop_assert!(known.contains(found) && matches(&expression, found), "{:?}", found);
            }
            (found, shortest) => prop_assert!(shortest.is_none(), "{:?} instead of {:?} \
                tokens", found, shortest),
        }
    }
}
