//! Which inputs get a test: the smallest of each distinct behaviour.
//!
//! A behaviour is how the program ends, what it prints, and which branch outcomes it covers, where
//! that is known. A bug that a campaign recorded is a behaviour by itself. Other inputs that end
//! like such a bug are taken to show it.

use std::collections::{BTreeMap, HashMap, HashSet};

use campaign::{NamedInput, Recorded, recorded, violated};
use search::Outcome;

use super::observed::Observed;
use crate::args::EmitArgs;

/// What the inputs of one test have in common.
#[derive(Clone, Debug)]
pub(super) struct Grouped {
    /// The number of the smallest input.
    pub input: usize,
    /// How many others do the same.
    pub others: usize,
    /// What a campaign found with it.
    pub bug: Option<Recorded>,
    /// A property that does not hold, although the program ends well.
    pub violation: Option<Recorded>,
}

#[derive(Clone, PartialEq, Eq, Hash)]
enum Key<'a> {
    Bug(&'a Recorded),
    Violation(&'a Recorded),
    Failure(Outcome, Option<&'a [u32]>),
    Ends {
        exit: Option<Outcome>,
        stdout: Option<&'a Vec<u8>>,
        stderr: Option<&'a Option<Vec<u8>>>,
        covered: Option<&'a [u32]>,
    },
    /// Like no other.
    Input(usize),
}

pub(super) fn group(
    inputs: &[NamedInput],
    observed: &[Observed],
    covered: Option<&[Vec<u32>]>,
    args: &EmitArgs,
) -> Vec<Grouped> {
    let bugs: Vec<Option<Recorded>> = inputs.iter().map(|input| recorded(&input.path)).collect();
    let violations: Vec<_> = inputs.iter().map(|input| violated(&input.path)).collect();
    let known: HashSet<Outcome> = observed
        .iter()
        .zip(&bugs)
        .filter(|(_, bug)| bug.is_some())
        .filter_map(|(observed, _)| observed.failure)
        .collect();
    let mut groups: HashMap<Key<'_>, Vec<usize>> = HashMap::new();
    for (number, one) in observed.iter().enumerate() {
        let covered = covered.and_then(|covered| Some(&covered.get(number)?[..]));
        let key = match (&bugs[number], &violations[number], one.failure) {
            _ if args.all => Key::Input(number),
            (Some(bug), _, _) => Key::Bug(bug),
            (None, _, Some(failure)) if known.contains(&failure) => continue,
            (None, _, Some(failure)) => Key::Failure(failure, covered),
            (None, Some(violation), None) => Key::Violation(violation),
            (None, None, None) => Key::Ends {
                exit: one.outcome.always().copied(),
                stdout: one.stdout.always(),
                stderr: one.stderr.always().filter(|_| args.stderr),
                covered,
            },
        };
        groups.entry(key).or_default().push(number);
    }
    let mut smallest: BTreeMap<usize, Grouped> = BTreeMap::new();
    for members in groups.into_values() {
        let rank = |number: &&usize| (inputs[**number].bytes.len(), **number);
        let Some(&input) = members.iter().min_by_key(rank) else { continue };
        let (bug, violation) = (bugs[input].clone(), violations[input].clone());
        smallest.insert(input, Grouped { input, others: members.len() - 1, bug, violation });
    }
    smallest.into_values().collect()
}
