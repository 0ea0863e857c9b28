//! Which runs are tests of their own.
//!
//! Runs differ in what the code under test does: its decisions on input, the branches it takes, how
//! it ends. Where these agree, another shape of the arguments (a longer list, a shared object)
//! counts only if another result or other writes come of it, and another value of the same shape
//! only if the function is a predicate, whose few results are all that tells its runs apart.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::results::Row;

/// A run that was described.
pub(crate) struct Seen {
    pub input: Vec<u8>,
    /// The path through the code under test; `None` for the input of a bug.
    pub path: Option<u64>,
    pub covered: Vec<u32>,
    pub row: Row,
}

/// The harness makes a function say 0, 1 and something else, as far as it can.
fn is_of_predicate(results: &BTreeSet<String>) -> bool {
    results.len() <= 2 && results.contains("0")
}

type Group<'s> = (u64, &'s [u32], &'s str, String);

/// The first run of each kind; those of bugs come last.
pub(crate) fn distinct(seen: Vec<Seen>) -> Vec<Seen> {
    let results = results(&seen);
    let mut shapes = HashSet::new();
    let mut effects = HashSet::new();
    let keep: Vec<bool> = seen
        .iter()
        .map(|one| {
            let Some(group) = group(one) else { return true };
            let key = (group.clone(), one.row.shape.clone());
            let is_predicate = results.get(&key).is_some_and(is_of_predicate);
            let result = result(one).filter(|_| is_predicate);
            shapes.insert((key, result)) && effects.insert((group, effect(one)))
        })
        .collect();
    let kept = seen.into_iter().zip(keep).filter(|(_, keep)| *keep).map(|(one, _)| one);
    kept.map(|mut one| {
        one.row.of_bug = one.path.is_none();
        one
    })
    .collect()
}

fn results(seen: &[Seen]) -> HashMap<(Group<'_>, Vec<u64>), BTreeSet<String>> {
    let mut results: HashMap<_, BTreeSet<String>> = HashMap::new();
    for one in seen {
        if let (Some(group), Some(result)) = (group(one), result(one)) {
            results.entry((group, one.row.shape.clone())).or_default().insert(result);
        }
    }
    results
}

fn group(one: &Seen) -> Option<Group<'_>> {
    let outcome = &one.row.outcome;
    let ended = format!("{:?} {:?}", outcome.signal, outcome.code);
    let differs = one.row.against.iter().flat_map(|other| &other.differs);
    let differs: String = differs.copied().collect();
    Some((one.path?, &one.covered, outcome.kind, ended + &differs))
}

fn result(one: &Seen) -> Option<String> {
    one.row.case.result.as_ref().map(|result| result.text.clone())
}

/// What is seen from outside.
fn effect(one: &Seen) -> (Option<String>, BTreeMap<String, String>) {
    let writes = one.row.case.writes.iter();
    (result(one), writes.map(|write| (write.target.clone(), write.after.clone())).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::results::Outcome;
    use ::unit::{Case, Value};

    fn seen(path: u64, shape: u64, result: &str) -> Seen {
        let text = result.to_owned();
        let value = Value { ty: "int".to_owned(), c: text.clone(), text, unsaid: Vec::new() };
        let row = Row {
            number: 0,
            of_bug: false,
            shape: vec![shape],
            input: String::new(),
            case: Case { result: Some(value), ..Case::default() },
            outcome: Outcome { kind: "returned", ..Outcome::default() },
            against: None,
        };
        Seen { input: Vec::new(), path: Some(path), covered: Vec::new(), row }
    }

    fn kept(seen: Vec<Seen>) -> Vec<String> {
        distinct(seen).iter().filter_map(result).collect()
    }

    #[test]
    fn results_count_for_predicates_only() {
        assert_eq!(kept(vec![seen(1, 0, "0"), seen(1, 0, "1")]), ["0", "1"]);
        assert_eq!(kept(vec![seen(1, 0, "0"), seen(1, 0, "1"), seen(1, 0, "7")]), ["0"]);
        assert_eq!(kept(vec![seen(1, 0, "1"), seen(1, 0, "99")]), ["1"]);
    }

    #[test]
    fn a_shape_counts_if_it_makes_a_difference() {
        let lists = vec![seen(1, 1, "1"), seen(1, 2, "2"), seen(1, 3, "2")];
        assert_eq!(kept(lists), ["1", "2"]);
        assert_eq!(kept(vec![seen(1, 1, "0"), seen(2, 1, "0")]), ["0", "0"]);
    }
}
