//! Differences with one origin, by what is characteristic of it.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::collections::BTreeSet;

use serde::Serialize;

use crate::{Class, Difference, Kind, Side};

/// What the trace of one program says about the origin of a difference.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Place {
    /// There is no trace, or it says nothing about this class.
    Unknown,
    /// The last branch that depended on the input: there the program gave up.
    Stopped(String),
    /// The functions that ran: they tell what the input made use of.
    Ran(BTreeSet<String>),
}

/// Differences with the same signature are one group. It is made of the difference and of runs on
/// its input alone, so that it does not depend on what was found before.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Signature {
    pub class: Class,
    /// How A and B ended.
    pub outcomes: [String; 2],
    pub kinds: Vec<Kind>,
    pub places: [Place; 2],
}

impl Signature {
    /// `stopped` is the last branch of a run, `ran` its functions, where there is a trace. A
    /// program that rejected or crashed is known by where it stopped, one that accepted by what it
    /// ran through. Beside a crash, what the other program did says nothing.
    pub fn new(
        difference: &Difference,
        stopped: [Option<String>; 2],
        ran: [Option<BTreeSet<String>>; 2],
    ) -> Signature {
        let class = difference.class;
        let mut traces = Side::BOTH.into_iter().zip(stopped.into_iter().zip(ran));
        let mut place = || match traces.next() {
            Some((side, (stopped, _))) if class.stopped() == Some(side) => {
                stopped.map(Place::Stopped).unwrap_or(Place::Unknown)
            }
            Some(_) if matches!(class, Class::Crashes(_)) => Place::Unknown,
            Some((_, (_, ran))) => ran.map(Place::Ran).unwrap_or(Place::Unknown),
            None => Place::Unknown,
        };
        Signature {
            class,
            outcomes: difference.outcomes.map(|outcome| outcome.to_string()),
            kinds: difference.kinds().cloned().collect(),
            places: [place(), place()],
        }
    }
}

impl Signature {
    fn stops_where(&self, other: &Signature) -> bool {
        let mut pairs = self.places.iter().zip(&other.places);
        pairs.any(|(one, two)| matches!(one, Place::Stopped(_)) && one == two)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Counts from 1 in the order of finding.
    pub id: usize,
    pub signature: Signature,
    /// The smallest one met; of two equally long ones, the first in the order of bytes.
    pub input: Vec<u8>,
    /// How many inputs showed it.
    pub inputs: u64,
}

/// What an input is to the groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sighting {
    New,
    Smaller,
    Known,
}

#[derive(Clone, Debug, Default)]
pub struct Groups {
    by_signature: BTreeMap<Signature, usize>,
    groups: Vec<Group>,
}

impl Groups {
    pub fn add(&mut self, signature: &Signature, input: &[u8]) -> (Sighting, &Group) {
        let next = self.groups.len();
        let index = *self.by_signature.entry(signature.clone()).or_insert(next);
        if index == next {
            let (signature, input) = (signature.clone(), input.to_vec());
            self.groups.push(Group { id: next + 1, signature, input, inputs: 0 });
        }
        let group = &mut self.groups[index];
        group.inputs += 1;
        if index == next {
            return (Sighting::New, group);
        }
        if order(input, &group.input) == Ordering::Less {
            input.clone_into(&mut group.input);
            return (Sighting::Smaller, group);
        }
        (Sighting::Known, group)
    }

    /// One more input like those of a group, whatever is in it.
    pub fn count(&mut self, id: usize) {
        if let Some(group) = id.checked_sub(1).and_then(|index| self.groups.get_mut(index)) {
            group.inputs += 1;
        }
    }

    /// In the order of finding.
    pub fn all(&self) -> &[Group] {
        &self.groups
    }

    /// The plainest group whose input is in this one's: what is left of it without some bytes. As
    /// a rule the origin is the same, and the bytes only move the place where a program notices.
    /// Where they are most of the input, that holds only if the place is the same.
    pub fn plainest(&self, of: &Group) -> Option<&Group> {
        let plainer = self.groups.iter().filter(|group| group.is_plainer_than(of));
        plainer.min_by(|a, b| order(&a.input, &b.input))
    }
}

impl Group {
    /// Crashes at two places are two, whatever their inputs look like.
    fn is_plainer_than(&self, other: &Group) -> bool {
        let [one, two] = [&self.signature, &other.signature];
        (self.id != other.id && !matches!(one.class, Class::Crashes(_)))
            && (one.class, &one.outcomes, &one.kinds) == (two.class, &two.outcomes, &two.kinds)
            && !self.input.is_empty()
            && order(&self.input, &other.input) == Ordering::Less
            && is_within(&self.input, &other.input)
            && (2 * self.input.len() >= other.input.len() || one.stops_where(two))
    }
}

/// Whether all bytes of one are in the other in this order.
fn is_within(one: &[u8], other: &[u8]) -> bool {
    let mut rest = other.iter();
    one.iter().all(|byte| rest.any(|found| found == byte))
}

fn order(a: &[u8], b: &[u8]) -> Ordering {
    (a.len(), a).cmp(&(b.len(), b))
}
