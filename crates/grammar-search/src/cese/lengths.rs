//! Length abstraction: one hole of a string holds a repetition, a run of one byte, and the solver
//! chooses how long that is.
//!
//! The number of its bytes is the last two bytes of what the whitebox search takes for the input;
//! runs have them not. An answer of the solver says what stands in the holes and how long the
//! repetition is to be, in the layout of the run that it came from; here it is laid out anew. What
//! the program does with each byte of the repetition is no condition on its length, so nothing is
//! claimed of lengths: the search ends after a number of runs, and looks for violated properties
//! and new sides first.

use std::collections::HashMap;
use std::ops::Range;

use expr::Dag;
use grammar::symbolic::{HoleAt, Repeated};
use path::{Constraint, ConstraintKind};
use search::{Order, TracedPath, Whitebox, WhiteboxOptions};
use trace::marks::COUNT_BYTES;
use trace::{Label, Node, Op};

use super::validity::given;

/// The shortest repetition. Loops over its bytes show as sites with more conditions on its length
/// than [`LOOP`], and no block of 16 bytes holds all of it.
const LEAST: usize = 17;

/// A site with more branches on the length belongs to a loop over the bytes. Its conditions would
/// fix the length to what it is.
const LOOP: usize = 8;

/// Runs of a string with a repetition.
const MAX_RUNS: u64 = 128;

/// A string with a repetition that is being filled.
pub(crate) struct Lengths {
    pub repeated: Repeated,
    /// Bytes of the repetition in the input that was proposed last.
    count: usize,
    /// Most bytes that it may have.
    limit: usize,
}

impl Lengths {
    /// `None` if there is no room for a repetition in inputs of `max_len` bytes.
    pub(crate) fn new(repeated: Repeated, max_len: usize) -> Option<Lengths> {
        let fixed = repeated.string.text.len() + COUNT_BYTES as usize;
        let limit = max_len.saturating_sub(fixed).min(u16::MAX.into());
        (limit >= LEAST).then_some(Lengths { repeated, count: LEAST, limit })
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
        runs >= MAX_RUNS
    }

    /// The first input.
    pub(crate) fn first(&self) -> Vec<u8> {
        self.repeated.with(&self.repeated.string.text, self.count)
    }

    /// The input that the search proposes as `answer`; `None` if that is no such input.
    pub(crate) fn lay_out(&mut self, answer: &[u8]) -> Option<Vec<u8>> {
        let (text, count) = answer.split_last_chunk::<{ COUNT_BYTES as usize }>()?;
        let before = text.len().checked_sub(self.repeated.string.text.len())?;
        let count = usize::from(u16::from_le_bytes(*count));
        if !(LEAST..=self.limit).contains(&count) {
            return None;
        }
        self.count = count;
        Some(self.repeated.with(&self.repeated.without(text, before), count))
    }

    /// What the search takes for the input.
    pub(crate) fn extended(&self, input: &[u8]) -> Vec<u8> {
        [input, &(self.count as u16).to_le_bytes()].concat()
    }

    pub(crate) fn repetition(&self) -> Range<usize> {
        self.repeated.at..self.repeated.at + self.count
    }

    /// Where the bytes of a hole are.
    pub(crate) fn places(&self, hole: &HoleAt) -> impl Iterator<Item = usize> {
        self.repeated.places(hole, self.count)
    }

    pub(crate) fn holes(&self) -> Vec<Range<usize>> {
        let mut holes: Vec<Range<usize>> = Vec::new();
        for hole in &self.repeated.string.holes {
            for place in self.places(hole) {
                match holes.last_mut() {
                    Some(last) if last.end == place => last.end += 1,
                    _ => holes.push(place..place + 1),
                }
            }
        }
        holes
    }

    /// Where the lexeme in a hole is, the repetition included if it is in there.
    pub(crate) fn lexeme(&self, hole: usize) -> Option<Range<usize>> {
        let place = self.repeated.string.holes.get(hole)?;
        let moved = if place.start > self.repeated.at { self.count } else { 0 };
        let longer = if hole == self.repeated.hole { self.count } else { 0 };
        let start = place.start + if longer > 0 { 0 } else { moved };
        Some(start..start + place.len + longer)
    }

    /// Leaves conditions out that hold of this length only, and says how long the repetition may
    /// be.
    pub(crate) fn prepare(&self, path: &mut TracedPath) {
        let after = path.trace.dag.input_len().saturating_sub(COUNT_BYTES);
        let on_count = dependents(&path.trace.dag, after..after + COUNT_BYTES);
        let repetition = self.repetition();
        let on_filler = dependents(&path.trace.dag, repetition.start as u32..repetition.end as u32);
        let constraints = &mut path.condition.constraints;
        constraints.retain(|constraint| !on_filler[constraint.label as usize]);
        let is_counted = |c: &Constraint| {
            on_count[c.label as usize]
                && matches!(c.kind, ConstraintKind::Branch | ConstraintKind::Case { .. })
        };
        let mut sites: HashMap<u32, usize> = HashMap::new();
        constraints
            .iter()
            .filter(|c| is_counted(c))
            .for_each(|c| *sites.entry(c.site).or_default() += 1);
        constraints
            .retain(|c| !is_counted(c) || sites.get(&c.site).is_none_or(|count| *count <= LOOP));
        constraints.splice(0..0, self.bounds(&mut path.trace.dag, after));
    }

    /// `LEAST <= count <= limit`
    fn bounds(&self, dag: &mut Dag, after: u32) -> [Constraint; 2] {
        let [low, high] = [after, after + 1].map(|index| dag.input(index));
        let count = dag.add(Node::binary(Op::Concat, 16, high, low));
        let [least, limit] = [LEAST, self.limit].map(|bound| dag.constant(16, bound as u128));
        let [above, below] =
            [(least, count), (count, limit)].map(|(a, b)| dag.add(Node::binary(Op::Ule, 1, a, b)));
        [above, below].map(given)
    }
}

/// Which expressions depend on some of the input bytes, by label.
fn dependents(dag: &Dag, bytes: Range<u32>) -> Vec<bool> {
    let mut depends = vec![false; dag.len()];
    for label in 1..dag.len() as Label {
        let own = dag.op(label) == Op::Input && bytes.contains(&dag.node(label).a);
        let operands = dag.operands(label);
        let below = operands
            .iter()
            .chain(dag.table_labels(label))
            .any(|operand| depends[*operand as usize]);
        depends[label as usize] = own || below;
    }
    depends
}

#[cfg(test)]
mod tests {
    use super::*;
    use grammar::TerminalId;
    use grammar::symbolic::SymbolicString;
    use path::{PathCondition, Trace};

    /// `<□□>□` with a repetition between the first two holes.
    fn repeated() -> Repeated {
        let hole = |start, len| HoleAt { start, len, terminal: None, hole: TerminalId(0) };
        let string =
            SymbolicString { text: b"<ab>c".to_vec(), holes: vec![hole(1, 2), hole(4, 1)] };
        Repeated { string, hole: 0, at: 2, filler: b'x' }
    }

    #[test]
    fn answers_are_laid_out_anew() {
        let mut lengths = Lengths::new(repeated(), 100).expect("there is room");
        let first = lengths.first();
        assert_eq!(first, [b"<a", &[b'x'; 17][..], b"b>c"].concat());
        assert_eq!((lengths.repetition(), lengths.holes()), (2..19, vec![1..2, 19..20, 21..22]));
        assert_eq!(lengths.lexeme(0), Some(1..20));
        assert_eq!(lengths.lexeme(1), Some(21..22));
        let mut answer = lengths.extended(&first);
        assert_eq!(answer.split_off(first.len()), [17, 0]);
        answer[19] = b'y';
        let input = lengths.lay_out(&[&answer[..], &[40, 0]].concat()).expect("an input");
        assert_eq!(input, [b"<a", &[b'x'; 40][..], b"y>c"].concat());
        assert_eq!((lengths.repetition(), lengths.holes()), (2..42, vec![1..2, 42..43, 44..45]));
        assert_eq!(lengths.lexeme(1), Some(44..45));
        let again = lengths.lay_out(&[&input[..], &[18, 0]].concat()).expect("an input");
        assert_eq!(again, [b"<a", &[b'x'; 18][..], b"y>c"].concat());
    }

    #[test]
    fn lengths_stay_within_the_longest_input() {
        assert!(Lengths::new(repeated(), 5 + 2 + LEAST - 1).is_none());
        let mut lengths = Lengths::new(repeated(), 50).expect("there is room");
        let answer =
            |count: u16| [&repeated().with(b"<ab>c", 17)[..], &count.to_le_bytes()].concat();
        assert_eq!(lengths.lay_out(&answer(43)).map(|input| input.len()), Some(48));
        assert_eq!(lengths.lay_out(&answer(44)), None);
        assert_eq!(lengths.lay_out(&answer(16)), None);
    }

    /// A path with conditions `count < n` at sites, the first of them on filler.
    fn path(input_len: u32, sites: &[(u32, ConstraintKind)]) -> TracedPath {
        let mut dag = Dag::new();
        (0..input_len + COUNT_BYTES).for_each(|index| {
            dag.input(index);
        });
        let nodes: Vec<Node> = (0..dag.len() as Label).map(|label| *dag.node(label)).collect();
        let nodes =
            [&nodes[..], &[Node { op: Op::Len as u8, bits: 64, ..Node::default() }]].concat();
        let values = vec![0; nodes.len()];
        let mut dag =
            Dag::from_raw(nodes, values, Vec::new(), input_len + COUNT_BYTES).expect("sound");
        let on_filler = dag.input(2);
        let low = dag.input(input_len);
        let constraint = |(n, &(site, kind)): (usize, &(u32, ConstraintKind))| {
            let bound = dag.constant(8, n as u128);
            let of = if n == 0 { on_filler } else { low };
            let label = dag.add(Node::binary(Op::Ult, 1, of, bound));
            Constraint { label, taken: false, site, kind, negated: false, outcome: None }
        };
        let constraints = sites.iter().enumerate().map(constraint).collect();
        let condition = PathCondition { constraints, ..PathCondition::default() };
        let trace = Trace { dag, events: Vec::new(), give_ups: [0; 32], truncated: false };
        TracedPath { trace, condition }
    }

    #[test]
    fn conditions_of_loops_over_the_repetition_are_left_out() {
        let lengths = Lengths::new(repeated(), 300).expect("there is room");
        let check = ConstraintKind::Check(trace::CheckKind::OutOfBounds);
        let branch = ConstraintKind::Branch;
        let mut sites = vec![(1, branch), (2, branch), (3, check)];
        sites.extend([(4, branch); LOOP + 1]);
        sites.extend([(5, branch); LOOP]);
        let mut path = path(lengths.first().len() as u32, &sites);
        lengths.prepare(&mut path);
        let left: Vec<u32> =
            path.condition.constraints.iter().map(|constraint| constraint.site).collect();
        assert_eq!(left, [&[0, 0, 2, 3][..], &[5; LOOP]].concat());
        for (count, holds) in [(16u16, false), (17, true), (293, true), (294, false)] {
            let input = [lengths.first(), count.to_le_bytes().to_vec()].concat();
            let mut evaluator = expr::Evaluator::new();
            let bounds = &path.condition.constraints[..2];
            let all = bounds
                .iter()
                .all(|bound| evaluator.under(&path.trace.dag, &input).holds(bound.label));
            assert_eq!(all, holds, "{count}");
        }
    }
}
