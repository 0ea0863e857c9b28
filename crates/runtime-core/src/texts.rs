//! Operations on texts: a search for a pattern, or a comparison with one, as a single node over a
//! copy of the text.
//!
//! Everything here needs the runtime's guard. Where there is no room for the copy, or the text is
//! so short that formulas over its bytes are smaller, there is no node and the caller makes
//! formulas.

use crate::build::Value;
use crate::memory::{are_equal, byte};
use crate::state::Run;
use crate::{address, nodes, repetitions, shadow};
use core::cell::Cell;
use trace::{Node, Op, Table, text};

/// Texts with fewer symbolic bytes are not worth a node of their own.
const MIN_SYMBOLIC: usize = 4;

/// Bytes in memory.
#[derive(Clone, Copy)]
pub struct Bytes {
    pub start: usize,
    pub size: usize,
}

impl Bytes {
    fn at(&self, index: usize) -> u8 {
        byte(self.start + index)
    }

    pub fn is_symbolic(&self) -> bool {
        shadow::any_label(self.start, self.size)
    }
}

/// The first place of the pattern in the text, or the text's size; `flags` are those of [`text`].
pub fn find(run: &Run, of: Bytes, pattern: Bytes, flags: u16) -> Option<Value> {
    operation(run, Op::Find, 64, of, pattern, flags, Operation { flags, pattern }.find(of))
}

/// The sign (32 bits) of the comparison of the text with a pattern of the same size.
pub fn compare(run: &Run, of: Bytes, pattern: Bytes, flags: u16) -> Option<Value> {
    let sign = Operation { flags, pattern }.compare(of);
    operation(run, Op::Compare, 32, of, pattern, flags, sign as u32 as u64)
}

fn operation(
    run: &Run,
    op: Op,
    bits: u8,
    of: Bytes,
    pattern: Bytes,
    flags: u16,
    value: u64,
) -> Option<Value> {
    let symbolic = (0..of.size).map(|i| shadow::entry(of.start + i));
    let symbolic = symbolic.filter(|entry| *entry != 0 && !repetitions::is_filler(run, *entry));
    if symbolic.take(MIN_SYMBOLIC).count() < MIN_SYMBOLIC || pattern.is_symbolic() {
        return None;
    }
    let (b, c) = (copy(run, of, true)?, copy(run, pattern, false)?);
    let label = nodes::make(run, Node { op: op as u8, bits, aux: flags, a: 0, b, c }, value);
    (label != 0).then_some(Value::new(label, value))
}

const RECENT: usize = 1024;

/// Copies that were made lately, by a hash of their content; one more than their numbers. Those of
/// another run are harmless: what such a number stands for is compared.
pub struct Copies {
    recent: [Cell<u32>; RECENT],
}

impl Copies {
    pub const NEW: Copies = Copies { recent: [const { Cell::new(0) }; RECENT] };
}

/// The number of a table with these bytes and, if wanted, their labels. Equal ones have the same
/// number, as long as it is remembered, so that a program which asks the same again makes no new
/// node.
pub fn copy(run: &Run, of: Bytes, labelled: bool) -> Option<u32> {
    let segment = &run.segment;
    let (number, before) = (segment.table_count(), segment.data_len());
    let needed = of.size as u64 * 5 + 8;
    if number as u64 >= segment.table_cap() || before as u64 + needed > segment.data_cap() {
        return None;
    }
    let data = address::copy_bytes(run, of.start, of.size)?;
    let labels = if labelled { address::copy_labels(run, of.start, of.size)? } else { u32::MAX };
    let table = Table { data, len: of.size as u32, labels, reserved: 0 };
    let recent = &run.copies.recent[hash(run, &table) as usize % RECENT];
    if let Some(known) = recent.get().checked_sub(1)
        && known < number
        && is_same(run, &segment.table(known), &table)
    {
        segment.set_data_len(before);
        return Some(known);
    }
    recent.set(number + 1);
    segment.set_table(number, table);
    segment.set_table_count(number + 1);
    Some(number)
}

/// The labels of a table as bytes.
fn labels(run: &Run, table: &Table) -> Option<Bytes> {
    let start = run.segment.data(table.labels) as usize;
    (table.labels != u32::MAX).then_some(Bytes { start, size: table.len as usize * 4 })
}

fn content(run: &Run, table: &Table) -> Bytes {
    Bytes { start: run.segment.data(table.data) as usize, size: table.len as usize }
}

fn hash(run: &Run, table: &Table) -> u64 {
    let mut hash = table.len as u64;
    let parts = [Some(content(run, table)), labels(run, table)];
    for part in parts.into_iter().flatten() {
        for i in 0..part.size {
            hash = (hash ^ part.at(i) as u64).wrapping_mul(0x0100_0000_01b3);
        }
    }
    hash ^ hash >> 32
}

fn is_same(run: &Run, a: &Table, b: &Table) -> bool {
    let same = |a: Bytes, b: Bytes| a.size == b.size && are_equal(a.start, b.start, a.size);
    let labels = match (labels(run, a), labels(run, b)) {
        (Some(a), Some(b)) => same(a, b),
        (a, b) => a.is_none() && b.is_none(),
    };
    labels && same(content(run, a), content(run, b))
}

/// What the nodes mean, on the bytes of this run.
struct Operation {
    flags: u16,
    pattern: Bytes,
}

impl Operation {
    fn has(&self, flag: u16) -> bool {
        self.flags & flag != 0
    }

    fn folded(&self, byte: u8) -> u8 {
        if self.has(text::FOLD) { byte.to_ascii_lowercase() } else { byte }
    }

    fn find(&self, of: Bytes) -> u64 {
        let mut found = of.size;
        for i in 0..of.size {
            let ends = self.has(text::TERMINATED) && of.at(i) == 0;
            if self.has(text::LAST) && ends {
                break;
            }
            if self.is_hit(of, i) {
                found = i;
                if !self.has(text::LAST) {
                    break;
                }
            }
            if ends {
                break;
            }
        }
        found as u64
    }

    fn is_hit(&self, of: Bytes, at: usize) -> bool {
        let is = |i: usize, j: usize| self.folded(of.at(i)) == self.folded(self.pattern.at(j));
        if self.has(text::SET) {
            return (0..self.pattern.size).any(|j| is(at, j)) != self.has(text::NEGATED);
        }
        self.pattern.size <= of.size - at && (0..self.pattern.size).all(|j| is(at + j, j))
    }

    fn compare(&self, of: Bytes) -> i32 {
        for i in 0..of.size.min(self.pattern.size) {
            let (x, y) = (self.folded(of.at(i)), self.folded(self.pattern.at(i)));
            if x != y {
                return if x < y { -1 } else { 1 };
            }
            if self.has(text::TERMINATED) && x == 0 {
                break;
            }
        }
        0
    }
}
