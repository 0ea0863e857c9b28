//! Functions that cannot be reasoned about, as far as they were observed (higher-order test generation).
//!
//! Of a hash in code that is not instrumented, or of a function that a user calls opaque, nothing is known but what it returned
//! for the arguments that were seen. That is often enough: once a keyword table was filled, the hash of every keyword
//! was seen, and `h(x) == 0x7f3a` is solved by making `x` the keyword whose hash that is.
//!
//! A call `h(x)` with observed pairs `k1 → v1, …, kn → vn` becomes `ite(x = k1, v1, … ite(x = kn, vn, now))`, with
//! the literal `x ∈ {k1, …, kn}` beside it. Both are ordinary expressions, so that every link can solve them and the evaluator can
//! check them. Like a concretisation, of which this is the general form (`n` = 1), the literal makes "unsat" say no more than
//! that no known sample leads there.

use crate::query::Lit;
use expr::{Dag, Importer, Label, Node, Op, TableData};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Observed arguments and results, by function.
#[derive(Clone, Debug, Default)]
pub struct Samples {
    of: FxHashMap<u32, BTreeMap<Vec<u8>, u64>>,
}

/// A call whose result is symbolic because its argument is.
#[derive(Clone, Debug)]
pub struct OpaqueCall {
    /// Number of the function.
    pub function: u32,
    /// The node that stands for the result.
    pub result: Label,
    /// The bytes that the function looked at, with their labels.
    pub argument: TableData,
    /// What it returned on this run.
    pub output: u64,
}

/// Expressions without results of opaque calls.
#[derive(Debug)]
pub struct Resolved {
    pub dag: Dag,
    /// The nodes asked for, in their order.
    pub labels: Vec<Label>,
    /// For each call in order: its argument is one that was observed. Belongs on the path where the call was.
    pub known: Vec<Option<Lit>>,
}

/// Samples that are remembered of one function.
const MOST_SAMPLES: usize = 1 << 12;
/// Samples that one call is expanded to.
const MOST_CHOICES: usize = 256;

impl Samples {
    /// Remembers that a function returned `output` for `argument`.
    pub fn observe(&mut self, function: u32, argument: &[u8], output: u64) {
        let samples = self.of.entry(function).or_default();
        if samples.len() < MOST_SAMPLES || samples.contains_key(argument) {
            samples.insert(argument.to_vec(), output);
        }
    }

    /// How many samples there are.
    pub fn len(&self) -> usize {
        self.of.values().map(BTreeMap::len).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.of.is_empty()
    }

    /// Replaces the results of calls, which come in the order of the run, by what is known of them.
    pub fn resolve(&self, dag: &Dag, calls: &[OpaqueCall], labels: &[Label]) -> Resolved {
        let (mut into, mut importer) = (Dag::new(), Importer::new());
        let mut results: FxHashMap<Label, Label> = FxHashMap::default();
        let mut known = Vec::new();
        for call in calls {
            let mut copy = |label: Label| {
                importer.import_with(dag, label, &mut into, &mut |label, _| results.get(&label).copied())
            };
            let bytes: Vec<Label> = (0..call.argument.bytes.len() as u64)
                .map(|index| call.argument.label(index))
                .map(|label| if label == 0 { 0 } else { copy(label) })
                .collect();
            let (value, is_known) = self.expand(&mut into, call, dag.bits(call.result), &bytes);
            results.insert(call.result, value);
            known.push(is_known.map(|label| Lit::new(label, true)));
        }
        let mut copy = |&label: &Label| {
            importer.import_with(dag, label, &mut into, &mut |label, _| results.get(&label).copied())
        };
        let labels = labels.iter().map(&mut copy).collect();
        Resolved { dag: into, labels, known }
    }

    /// The result, and the condition that the argument is known unless it is constant.
    fn expand(&self, dag: &mut Dag, call: &OpaqueCall, bits: u32, bytes: &[Label]) -> (Label, Option<Label>) {
        let mut value = dag.constant(bits, u128::from(call.output));
        let Some(mut known) = equal(dag, bytes, &call.argument.bytes) else { return (value, None) };
        let samples = self.of.get(&call.function).into_iter().flatten();
        let fits = |argument: &[u8]| {
            let same = |(index, byte): (usize, &u8)| bytes[index] != 0 || call.argument.bytes[index] == *byte;
            argument.len() == bytes.len() && argument.iter().enumerate().all(same)
        };
        let others = samples.filter(|(argument, _)| fits(argument) && **argument != call.argument.bytes);
        for (argument, &output) in others.take(MOST_CHOICES) {
            let Some(condition) = equal(dag, bytes, argument) else { continue };
            let output = dag.constant(bits, u128::from(output));
            value = dag.add(Node {
                op: Op::Ite as u8,
                bits: bits as u8,
                aux: 0,
                a: condition,
                b: output,
                c: value,
            });
            known = dag.add(Node::binary(Op::Or, 1, known, condition));
        }
        (value, Some(known))
    }
}

/// All symbolic bytes have these values; `None` if there is no symbolic byte.
fn equal(dag: &mut Dag, bytes: &[Label], values: &[u8]) -> Option<Label> {
    let symbolic = bytes.iter().zip(values).filter(|&(&label, _)| label != 0);
    let mut all = None;
    for (&label, &value) in symbolic {
        let value = dag.constant(8, u128::from(value));
        let equal = dag.add(Node::binary(Op::Eq, 1, label, value));
        all = Some(all.map_or(equal, |all| dag.add(Node::binary(Op::And, 1, all, equal))));
    }
    all
}
