//! Length abstraction: one hole of a string holds a stretch, a run of one byte, and the solver chooses how long that is.
//!
//! The number of its bytes is the last two bytes of what the whitebox search takes for the input; runs have them not. An answer of the
//! solver says what stands in the holes and how long the stretch is to be, in the layout of the run that it came from; here it is laid out
//! anew. What the program does with each byte of the stretch is no condition on its length, so nothing is claimed of lengths: the
//! search ends after a number of runs, and looks for violated properties and new sides first.

use std::collections::HashMap;
use std::ops::Range;

use expr::Dag;
use grammar::symbolic::{HoleAt, Stretched};
use path::{Constraint, ConstraintKind};
use search::{Order, TracedPath, Whitebox, WhiteboxOptions};
use trace::marks::COUNT_BYTES;
use trace::{Label, Node, Op};

/// The shortest stretch. Loops over its bytes show as sites with more conditions on its length than [`LOOP`].
const LEAST: usize = 16;

/// A site with more branches on the length belongs to a loop over the bytes. Its conditions would fix the length to what it is.
const LOOP: usize = 8;

/// Runs of a string with a stretch.
const MOST_RUNS: u64 = 128;

/// A string with a stretch that is being filled.
pub(crate) struct Lengths {
    pub stretched: Stretched,
    /// Bytes of the stretch in the input that was proposed last.
    count: usize,
    /// Most bytes that it may have.
    limit: usize,
}

impl Lengths {
    /// `None` if there is no room for a stretch in inputs of `max_len` bytes.
    pub(crate) fn new(stretched: Stretched, max_len: usize) -> Option<Lengths> {
        let fixed = stretched.string.text.len() + COUNT_BYTES as usize;
        let limit = max_len.saturating_sub(fixed).min(u16::MAX.into());
        (limit >= LEAST).then_some(Lengths { stretched, count: LEAST, limit })
    }

    /// The search that fills the holes and chooses the length.
    pub(crate) fn search() -> Whitebox<'static> {
        Whitebox::new(WhiteboxOptions {
            order: Order::Generational,
            exhaustive: true,
            optimistic: false,
            ..WhiteboxOptions::default()
        })
    }

    pub(crate) fn is_done(runs: u64) -> bool {
        runs >= MOST_RUNS
    }

    /// The first input.
    pub(crate) fn first(&self) -> Vec<u8> {
        self.stretched.with(&self.stretched.string.text, self.count)
    }

    /// The input that the search proposes as `answer`; `None` if that is no such input.
    pub(crate) fn lay_out(&mut self, answer: &[u8]) -> Option<Vec<u8>> {
        let (text, count) = answer.split_last_chunk::<{ COUNT_BYTES as usize }>()?;
        let before = text.len().checked_sub(self.stretched.string.text.len())?;
        let count = usize::from(u16::from_le_bytes(*count));
        if !(LEAST..=self.limit).contains(&count) {
            return None;
        }
        self.count = count;
        Some(self.stretched.with(&self.stretched.without(text, before), count))
    }

    /// What the search takes for the input.
    pub(crate) fn extended(&self, input: &[u8]) -> Vec<u8> {
        [input, &(self.count as u16).to_le_bytes()].concat()
    }

    pub(crate) fn stretch(&self) -> Range<usize> {
        self.stretched.at..self.stretched.at + self.count
    }

    /// Where the bytes of a hole are.
    pub(crate) fn places(&self, hole: &HoleAt) -> impl Iterator<Item = usize> {
        self.stretched.places(hole, self.count)
    }

    pub(crate) fn holes(&self) -> Vec<Range<usize>> {
        let mut holes: Vec<Range<usize>> = Vec::new();
        for hole in &self.stretched.string.holes {
            for place in self.places(hole) {
                match holes.last_mut() {
                    Some(last) if last.end == place => last.end += 1,
                    _ => holes.push(place..place + 1),
                }
            }
        }
        holes
    }

    /// Where the lexeme in a hole is, the stretch included if it is in there.
    pub(crate) fn lexeme(&self, hole: usize) -> Option<Range<usize>> {
        let place = self.stretched.string.holes.get(hole)?;
        let moved = if place.start > self.stretched.at { self.count } else { 0 };
        let longer = if hole == self.stretched.hole { self.count } else { 0 };
        let start = place.start + if longer > 0 { 0 } else { moved };
        Some(start..start + place.len + longer)
    }

    /// Leaves conditions out that hold of this length only, and says how long the stretch may be.
    pub(crate) fn prepare(&self, path: &mut TracedPath) {
        let behind = path.dag.input_len().saturating_sub(COUNT_BYTES);
        let on_count = dependents(&path.dag, behind..behind + COUNT_BYTES);
        let stretch = self.stretch();
        let on_filler = dependents(&path.dag, stretch.start as u32..stretch.end as u32);
        let constraints = &mut path.condition.constraints;
        constraints.retain(|constraint| !on_filler[constraint.label as usize]);
        let is_counted = |c: &Constraint| {
            on_count[c.label as usize]
                && matches!(c.kind, ConstraintKind::Branch | ConstraintKind::Case { .. })
        };
        let mut sites: HashMap<u32, usize> = HashMap::new();
        constraints.iter().filter(|c| is_counted(c)).for_each(|c| *sites.entry(c.site).or_default() += 1);
        constraints.retain(|c| !is_counted(c) || sites.get(&c.site).is_none_or(|count| *count <= LOOP));
        constraints.splice(0..0, self.bounds(&mut path.dag, behind));
    }

    /// `LEAST <= count <= limit`
    fn bounds(&self, dag: &mut Dag, behind: u32) -> [Constraint; 2] {
        let [low, high] = [behind, behind + 1].map(|index| dag.input(index));
        let count = dag.add(Node::binary(Op::Concat, 16, high, low));
        let [least, limit] = [LEAST, self.limit].map(|bound| dag.constant(16, bound as u128));
        let [above, below] =
            [(least, count), (count, limit)].map(|(a, b)| dag.add(Node::binary(Op::Ule, 1, a, b)));
        [above, below].map(|label| Constraint {
            label,
            taken: true,
            site: 0,
            kind: ConstraintKind::Given,
            negated: false,
            outcome: None,
        })
    }
}

/// Which expressions depend on some of the input bytes, by label.
fn dependents(dag: &Dag, bytes: Range<u32>) -> Vec<bool> {
    let mut depends = vec![false; dag.len()];
    for label in 1..dag.len() as Label {
        let own = dag.op(label) == Op::Input && bytes.contains(&dag.node(label).a);
        let operands = dag.operands(label);
        let below = operands.iter().chain(dag.table_labels(label)).any(|operand| depends[*operand as usize]);
        depends[label as usize] = own || below;
    }
    depends
}
