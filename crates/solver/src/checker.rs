//! The check of proposed inputs, by evaluation of the path condition and nothing else.
//!
//! A literal that holds on the current input and depends on no variable that changed still holds,
//! so only the others are evaluated.

use crate::components::Slot;
use crate::query::Lit;
use expr::{Dag, Evaluator, Op, Support};

pub(crate) struct Checker<'a> {
    dag: &'a Dag,
    path: &'a [Lit],
    current: &'a [u8],
    max_len: usize,
    evaluator: Evaluator,
    /// Literals by the variables that they depend on.
    depending: Vec<Vec<u32>>,
    /// Literals that depend on many variables, by their support.
    wide: Vec<(Support, Vec<u32>)>,
    violated: Vec<u32>,
    /// Literals `c < Len`, of which long inputs have one a byte: those with a larger `c` than all
    /// before, with it.
    floors: Vec<(u32, u64)>,
    /// One more than the largest byte used by each literal, as a running maximum.
    needed_len: Vec<usize>,
    /// Literals that depend on the length.
    on_length: Vec<u32>,
}

/// Literals with more variables than this are listed apart.
const MANY: usize = 16;
/// Inputs are compared in blocks of this size.
const BLOCK: usize = 64;

impl<'a> Checker<'a> {
    pub(crate) fn new(
        dag: &'a Dag,
        path: &'a [Lit],
        current: &'a [u8],
        max_len: usize,
    ) -> Checker<'a> {
        let mut evaluator = Evaluator::new();
        let mut evaluation = evaluator.under(dag, current);
        let broken = |&number: &u32| {
            evaluation.holds(path[number as usize].label) != path[number as usize].value
        };
        let violated = (0..path.len() as u32).filter(broken).collect();
        Checker {
            dag,
            path,
            current,
            max_len,
            evaluator,
            depending: Vec::new(),
            wide: Vec::new(),
            violated,
            floors: Vec::new(),
            needed_len: vec![0],
            on_length: Vec::new(),
        }
    }

    /// Registers the support of literal `number`; called for all literals in order.
    pub(crate) fn add(&mut self, number: u32, support: &Support) {
        let needed = support.last_byte().map_or(0, |byte| byte as usize + 1);
        self.needed_len.push(needed.max(self.needed_len[number as usize]));
        self.on_length.extend(support.uses_len().then_some(number));
        if let Some(floor) = self.floor(number) {
            if self.floors.last().is_none_or(|&(_, largest)| floor > largest) {
                self.floors.push((number, floor));
            }
            return;
        }
        if support.byte_count() > MANY {
            // Neighbours on a path often depend on the same variables.
            match self.wide.last_mut() {
                Some((last, numbers)) if last == support => numbers.push(number),
                _ => self.wide.push((support.clone(), vec![number])),
            }
            return;
        }
        let length = support.uses_len().then_some(Slot::LENGTH);
        for slot in support.bytes().map(Slot::byte).chain(length) {
            if self.depending.len() <= slot.index() {
                self.depending.resize(slot.index() + 1, Vec::new());
            }
            self.depending[slot.index()].push(number);
        }
    }

    /// The `c` of a literal `c < Len`.
    fn floor(&self, number: u32) -> Option<u64> {
        let lit = self.path[number as usize];
        let node = self.dag.node(lit.label);
        let shape =
            lit.value && self.dag.op(lit.label) == Op::Ult && self.dag.op(node.b) == Op::Len;
        if shape { self.dag.as_constant(node.a).map(|c| c as u64) } else { None }
    }

    /// True if the literals `c < Len` among the first `prefix` hold.
    fn above_floors(&self, len: usize, prefix: usize) -> bool {
        let count = self.floors.partition_point(|&(number, _)| (number as usize) < prefix);
        count == 0 || self.floors[count - 1].1 < len as u64
    }

    /// Literals that do not hold on the current input.
    pub(crate) fn violated(&self) -> &[u32] {
        &self.violated
    }

    pub(crate) fn violated_before(&self, prefix: usize) -> bool {
        self.violated.first().is_some_and(|&number| (number as usize) < prefix)
    }

    /// True if the first `prefix` literals, `extra` and `goal` hold on `input`.
    pub(crate) fn check(&mut self, input: &[u8], prefix: usize, extra: &[Lit], goal: Lit) -> bool {
        let too_short = input.len() < self.needed_len[prefix] && input.len() < self.current.len();
        if too_short || input.len() > self.max_len || !self.above_floors(input.len(), prefix) {
            return false;
        }
        let changed = self.changed(input);
        let (path, depending, wide) = (self.path, &self.depending, &self.wide);
        let mut evaluation = self.evaluator.under(self.dag, input);
        let mut holds = |lit: Lit| evaluation.holds(lit.label) == lit.value;
        let mut number_holds =
            |&number: &u32| number as usize >= prefix || holds(path[number as usize]);
        let narrow = changed.iter().filter_map(|slot| depending.get(slot.index())).flatten();
        let is_changed = |support: &Support| changed.iter().any(|slot| slot.is_in(support));
        narrow.into_iter().all(&mut number_holds)
            && wide
                .iter()
                .take_while(|(_, numbers)| (numbers[0] as usize) < prefix)
                .filter(|(support, _)| is_changed(support))
                .all(|(_, numbers)| numbers.iter().all(&mut number_holds))
            && self.violated.iter().all(&mut number_holds)
            && extra.iter().copied().all(&mut holds)
            && holds(goal)
    }

    /// The numbers of the literals that do not hold on `input`, in order.
    pub(crate) fn departures<'s>(
        &'s mut self,
        input: &'s [u8],
    ) -> impl Iterator<Item = usize> + use<'s, 'a> {
        let same = input.iter().zip(self.current).take_while(|(new, old)| new == old).count();
        // Literals before the first that needs a changed byte depend on the length at most.
        let first = self.needed_len.partition_point(|&needed| needed <= same).saturating_sub(1);
        let early = self
            .on_length
            .iter()
            .map(|&number| number as usize)
            .take_while(move |&number| number < first);
        let mut evaluation = self.evaluator.under(self.dag, input);
        let path = self.path;
        early
            .chain(first..path.len())
            .filter(move |&number| evaluation.holds(path[number].label) != path[number].value)
    }

    /// Variables whose value differs from the current input's.
    fn changed(&self, input: &[u8]) -> Vec<Slot> {
        let mut changed = Vec::new();
        if input.len() != self.current.len() {
            changed.push(Slot::LENGTH);
        }
        for (block, (new, old)) in input.chunks(BLOCK).zip(self.current.chunks(BLOCK)).enumerate() {
            if new != old {
                let differing =
                    new.iter().zip(old).enumerate().filter(|(_, (new, old))| new != old);
                changed.extend(
                    differing.map(|(offset, _)| Slot::byte((block * BLOCK + offset) as u32)),
                );
            }
        }
        let shared = input.len().min(self.current.len());
        let longer = input.len().max(self.current.len()).min(shared.max(self.depending.len()));
        changed.extend((shared..longer).map(|index| Slot::byte(index as u32)));
        changed
    }
}
