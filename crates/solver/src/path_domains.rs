//! What a path says about each byte alone, and about the length alone, after each of its prefixes.

use crate::byte_set::ByteSet;
use crate::length_set::LengthSet;
use crate::query::Lit;
use crate::truth::{ShapeMap, Truths};
use expr::{Dag, Label, Support, Values};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Domains that shrink along the path, computed as far as they were asked for.
#[derive(Default)]
pub(crate) struct PathDomains {
    bytes: FxHashMap<u32, Shrinking<ByteSet>>,
    length: Shrinking<LengthSet>,
    map: ShapeMap,
}

struct Shrinking<S> {
    /// Numbers of the literals that depend on nothing else, in order.
    literals: Vec<u32>,
    /// The domain after each of them.
    after: Vec<S>,
}

impl<S> Default for Shrinking<S> {
    fn default() -> Shrinking<S> {
        Shrinking { literals: Vec::new(), after: Vec::new() }
    }
}

impl<S: Clone> Shrinking<S> {
    fn domain(&mut self, prefix: u32, all: S, mut shrink: impl FnMut(&S, u32) -> S) -> S {
        let count = self.literals.partition_point(|&number| number < prefix);
        while self.after.len() < count {
            let next = shrink(self.after.last().unwrap_or(&all), self.literals[self.after.len()]);
            self.after.push(next);
        }
        if count == 0 { all } else { self.after[count - 1].clone() }
    }
}

impl PathDomains {
    pub(crate) fn add(&mut self, number: u32, support: &Support) {
        if let Some(byte) = support.single_byte() {
            self.bytes.entry(byte).or_default().literals.push(number);
        } else if *support == Support::length() {
            self.length.literals.push(number);
        }
    }

    /// Whether so many literals are on `byte` alone, among the first `prefix` of the path, that its
    /// domain says it shorter.
    pub(crate) fn is_crowded(&self, byte: u32, prefix: u32) -> bool {
        const MANY: usize = 4;
        let literals = self.bytes.get(&byte).map_or(&[][..], |shrinking| &shrinking.literals);
        literals.get(MANY - 1).is_some_and(|&number| number < prefix)
    }

    /// The values of `byte` that the literals on it alone allow, among the first `prefix` of the
    /// path.
    pub(crate) fn byte(
        &mut self,
        truths: &mut Truths,
        dag: &Dag,
        path: &[Lit],
        byte: u32,
        prefix: u32,
    ) -> ByteSet {
        let Some(shrinking) = self.bytes.get_mut(&byte) else { return ByteSet::ALL };
        shrinking.domain(prefix, ByteSet::ALL, |domain, number| {
            domain.intersection(byte_truth(truths, &mut self.map, dag, path[number as usize]))
        })
    }

    /// Likewise for the length.
    pub(crate) fn length(
        &mut self,
        truths: &mut Truths,
        dag: &Dag,
        path: &[Lit],
        prefix: u32,
        largest: u64,
    ) -> LengthSet {
        self.length.domain(prefix, LengthSet::up_to(largest), |domain, number| {
            domain.intersection(&length_truth(
                truths,
                &mut self.map,
                dag,
                path[number as usize],
                largest,
            ))
        })
    }

    /// What an expression of one byte is for each of the byte's values.
    pub(crate) fn values(
        &mut self,
        truths: &mut Truths,
        dag: &Dag,
        label: Label,
    ) -> Option<Arc<Values>> {
        truths.values(&mut self.map, dag, label)
    }

    /// The values of its byte that make a literal on one byte true.
    pub(crate) fn truth_of_byte(&mut self, truths: &mut Truths, dag: &Dag, lit: Lit) -> ByteSet {
        byte_truth(truths, &mut self.map, dag, lit)
    }

    /// The lengths that make a literal on the length true.
    pub(crate) fn truth_of_length(
        &mut self,
        truths: &mut Truths,
        dag: &Dag,
        lit: Lit,
        largest: u64,
    ) -> LengthSet {
        length_truth(truths, &mut self.map, dag, lit, largest)
    }
}

fn byte_truth(truths: &mut Truths, map: &mut ShapeMap, dag: &Dag, lit: Lit) -> ByteSet {
    let set = truths.of_byte(map, dag, lit.label);
    if lit.value { set } else { set.complement() }
}

fn length_truth(
    truths: &mut Truths,
    map: &mut ShapeMap,
    dag: &Dag,
    lit: Lit,
    largest: u64,
) -> LengthSet {
    let set = truths.of_length(map, dag, lit.label, largest);
    if lit.value { set } else { set.complement(largest) }
}
