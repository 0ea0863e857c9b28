//! Which input bytes a node depends on.
//!
//! Sets are interned and their unions memoised, and a set is a list of intervals, so that in the
//! usual chain (node k depends on bytes 0 to k) each node costs a few words and one table lookup.

use crate::dag::{Dag, op_of};
use rustc_hash::FxHashMap;
use trace::{Label, Op};

/// A set of input bytes, and whether the input's length is in it too.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Support {
    /// Inclusive, disjoint, not adjacent, in increasing order.
    intervals: Vec<(u32, u32)>,
    uses_len: bool,
}

impl Support {
    pub fn byte(index: u32) -> Support {
        Support { intervals: vec![(index, index)], uses_len: false }
    }

    pub fn length() -> Support {
        Support { intervals: Vec::new(), uses_len: true }
    }

    pub fn uses_len(&self) -> bool {
        self.uses_len
    }

    pub fn intervals(&self) -> &[(u32, u32)] {
        &self.intervals
    }

    /// The bytes in increasing order.
    pub fn bytes(&self) -> impl Iterator<Item = u32> + '_ {
        self.intervals.iter().flat_map(|&(first, last)| first..=last)
    }

    pub fn byte_count(&self) -> usize {
        self.intervals.iter().map(|&(first, last)| (last - first) as usize + 1).sum()
    }

    /// True if the set holds neither a byte nor the length.
    pub fn is_empty(&self) -> bool {
        self.intervals.is_empty() && !self.uses_len
    }

    pub fn last_byte(&self) -> Option<u32> {
        self.intervals.last().map(|&(_, last)| last)
    }

    /// The set without the length.
    pub fn without_len(&self) -> Support {
        Support { intervals: self.intervals.clone(), uses_len: false }
    }

    /// The last `count` bytes of the set, and the length if it is in the set.
    pub fn last_bytes(&self, count: u32) -> Support {
        let (mut intervals, mut missing) = (Vec::new(), count);
        for &(first, last) in self.intervals.iter().rev() {
            if missing == 0 {
                break;
            }
            let taken = missing.min(last - first + 1);
            intervals.push((last + 1 - taken, last));
            missing -= taken;
        }
        intervals.reverse();
        Support { intervals, uses_len: self.uses_len }
    }

    /// The byte if the set holds one byte and nothing else.
    pub fn single_byte(&self) -> Option<u32> {
        match self.intervals[..] {
            [(first, last)] if first == last && !self.uses_len => Some(first),
            _ => None,
        }
    }

    pub fn contains(&self, byte: u32) -> bool {
        let after = self.intervals.partition_point(|&(first, _)| first <= byte);
        after > 0 && byte <= self.intervals[after - 1].1
    }

    /// True if all of `other` is in this set.
    pub fn covers(&self, other: &Support) -> bool {
        let covered = |&(first, last): &(u32, u32)| {
            let after = self.intervals.partition_point(|&(start, _)| start <= first);
            after > 0 && last <= self.intervals[after - 1].1
        };
        (self.uses_len || !other.uses_len) && other.intervals.iter().all(covered)
    }

    pub fn intersects(&self, other: &Support) -> bool {
        if self.uses_len && other.uses_len {
            return true;
        }
        let (few, many) = if self.intervals.len() < other.intervals.len() {
            (self, other)
        } else {
            (other, self)
        };
        few.intervals.iter().any(|&(first, last)| {
            let after = many.intervals.partition_point(|&(start, _)| start <= last);
            after > 0 && many.intervals[after - 1].1 >= first
        })
    }

    pub fn union(&self, other: &Support) -> Support {
        let mut all = [&self.intervals[..], &other.intervals[..]].concat();
        all.sort_unstable();
        let mut intervals: Vec<(u32, u32)> = Vec::with_capacity(all.len());
        for (first, last) in all {
            match intervals.last_mut() {
                Some(previous) if first <= previous.1.saturating_add(1) => {
                    previous.1 = previous.1.max(last)
                }
                _ => intervals.push((first, last)),
            }
        }
        Support { intervals, uses_len: self.uses_len || other.uses_len }
    }
}

/// An interned [`Support`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SupportId(u32);

impl SupportId {
    pub const EMPTY: SupportId = SupportId(0);
    const UNKNOWN: SupportId = SupportId(u32::MAX);
}

const FIRST: usize = 16;

/// The supports of the nodes of one Dag, as far as they were asked for.
#[derive(Clone, Debug)]
pub struct Supports {
    of_node: Vec<SupportId>,
    sets: Vec<Support>,
    ids: FxHashMap<Support, SupportId>,
    unions: FxHashMap<(SupportId, SupportId), SupportId>,
    /// Unions of the first sets, of which most nodes are.
    first_unions: [SupportId; FIRST * FIRST],
    of_table: Vec<SupportId>,
}

impl Default for Supports {
    fn default() -> Supports {
        Supports::new()
    }
}

impl Supports {
    pub fn new() -> Supports {
        let mut supports = Supports {
            of_node: Vec::new(),
            sets: Vec::new(),
            ids: FxHashMap::default(),
            unions: FxHashMap::default(),
            first_unions: [SupportId::UNKNOWN; FIRST * FIRST],
            of_table: Vec::new(),
        };
        supports.intern(Support::default());
        supports
    }

    pub fn get(&self, id: SupportId) -> &Support {
        &self.sets[id.0 as usize]
    }

    /// The support of `label`. All calls must be for the same Dag, which may have grown.
    #[inline]
    pub fn of(&mut self, dag: &Dag, label: Label) -> SupportId {
        match self.of_node.get(label as usize) {
            Some(&known) => known,
            None => self.extend_to(dag, label),
        }
    }

    /// What a node depends on comes before it, so nodes are gone through in order. To find out
    /// which are not needed would cost more than they do.
    fn extend_to(&mut self, dag: &Dag, label: Label) -> SupportId {
        let mut support = SupportId::EMPTY;
        for next in self.of_node.len() as Label..=label {
            support = if next == 0 { SupportId::EMPTY } else { self.combine(dag, next) };
            self.of_node.push(support);
        }
        support
    }

    pub fn union(&mut self, a: SupportId, b: SupportId) -> SupportId {
        let key = (a.min(b), a.max(b));
        if a == b || key.0 == SupportId::EMPTY {
            return key.1;
        }
        let (low, high) = (key.0.0 as usize, key.1.0 as usize);
        if high >= FIRST {
            return self.rare_union(key);
        }
        if self.first_unions[low * FIRST + high] == SupportId::UNKNOWN {
            self.first_unions[low * FIRST + high] = self.new_union(key);
        }
        self.first_unions[low * FIRST + high]
    }

    fn rare_union(&mut self, key: (SupportId, SupportId)) -> SupportId {
        if let Some(&union) = self.unions.get(&key) {
            return union;
        }
        let union = self.new_union(key);
        self.unions.insert(key, union);
        union
    }

    fn new_union(&mut self, (a, b): (SupportId, SupportId)) -> SupportId {
        let union = self.get(a).union(self.get(b));
        self.intern(union)
    }

    fn intern(&mut self, set: Support) -> SupportId {
        let next = SupportId(self.sets.len() as u32);
        let id = *self.ids.entry(set).or_insert_with_key(|set| {
            self.sets.push(set.clone());
            next
        });
        debug_assert!(id <= next);
        id
    }

    fn combine(&mut self, dag: &Dag, label: Label) -> SupportId {
        let node = dag.node(label);
        match op_of(node) {
            Op::Const | Op::Token => SupportId::EMPTY,
            Op::Input => self.intern(Support::byte(node.a)),
            Op::Len => self.intern(Support::length()),
            op => {
                let table = if op.has_table() { self.table(dag, label) } else { SupportId::EMPTY };
                dag.operands(label).into_iter().filter(|&operand| operand != 0).fold(
                    table,
                    |all, operand| {
                        let support = self.of_node[operand as usize];
                        self.union(all, support)
                    },
                )
            }
        }
    }

    fn table(&mut self, dag: &Dag, label: Label) -> SupportId {
        let number = dag.node(label).b;
        if let Some(support) = self.of_table(number) {
            return support;
        }
        let labels = dag.table_labels(label);
        let support =
            labels.iter().filter(|&&label| label != 0).fold(SupportId::EMPTY, |all, &label| {
                let support = self.of_node[label as usize];
                self.union(all, support)
            });
        let place = number as usize;
        if self.of_table.len() <= place {
            self.of_table.resize(place + 1, SupportId::UNKNOWN);
        }
        self.of_table[place] = support;
        support
    }

    fn of_table(&self, number: u32) -> Option<SupportId> {
        self.of_table.get(number as usize).copied().filter(|support| *support != SupportId::UNKNOWN)
    }
}

impl Dag {
    /// The support of one node. To ask for many, keep [`Supports`].
    pub fn support(&self, label: Label) -> Support {
        let mut supports = Supports::new();
        let id = supports.of(self, label);
        supports.get(id).clone()
    }
}
