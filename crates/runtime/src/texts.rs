//! Operations on texts: a search for a pattern, or a comparison with one, as a single node over a copy of the text.
//!
//! Everything here needs the runtime's guard. Where there is no room for the copy, or the text is so short that formulas over
//! its bytes are smaller, there is no node and the caller makes formulas.

use crate::address::{self, data, tables};
use crate::build::Value;
use crate::state::STATE;
use crate::{nodes, os, shadow, stretches};
use trace::{Node, Op, Table, text};

/// Texts with fewer symbolic bytes are not worth a node of their own.
const LEAST_SYMBOLIC: usize = 4;

/// Bytes in memory.
#[derive(Clone, Copy)]
pub struct Bytes {
    pub start: *const u8,
    pub size: usize,
}

impl Bytes {
    unsafe fn at(&self, index: usize) -> u8 {
        unsafe { *self.start.add(index) }
    }

    pub unsafe fn is_symbolic(&self) -> bool {
        unsafe { shadow::any_label(self.start as usize, self.size) }
    }
}

/// The first place of the pattern in the text, or the text's size; `flags` are those of [`text`].
pub unsafe fn find(of: Bytes, pattern: Bytes, flags: u16) -> Option<Value> {
    unsafe { operation(Op::Find, 64, of, pattern, flags, Operation { flags, pattern }.find(of)) }
}

/// The sign (32 bits) of the comparison of the text with a pattern of the same size.
pub unsafe fn compare(of: Bytes, pattern: Bytes, flags: u16) -> Option<Value> {
    unsafe {
        let sign = Operation { flags, pattern }.compare(of);
        operation(Op::Compare, 32, of, pattern, flags, sign as u32 as u64)
    }
}

unsafe fn operation(op: Op, bits: u8, of: Bytes, pattern: Bytes, flags: u16, value: u64) -> Option<Value> {
    unsafe {
        let symbolic = (0..of.size).map(|i| shadow::entry(of.start as usize + i));
        let symbolic = symbolic.filter(|entry| *entry != 0 && !stretches::is_filler(*entry));
        if symbolic.take(LEAST_SYMBOLIC).count() < LEAST_SYMBOLIC || pattern.is_symbolic() {
            return None;
        }
        let (b, c) = (copy(of, true)?, copy(pattern, false)?);
        let label = nodes::make(Node { op: op as u8, bits, aux: flags, a: 0, b, c }, value);
        (label != 0).then_some(Value::new(label, value))
    }
}

/// Copies that were made lately, by a hash of their content; one more than their numbers.
const RECENT: usize = 1024;
static mut RECENT_COPIES: [u32; RECENT] = [0; RECENT];

/// The number of a table with these bytes and, if wanted, their labels. Equal ones have the same number, as long as it is
/// remembered, so that a program which asks the same again makes no new node.
pub unsafe fn copy(of: Bytes, labelled: bool) -> Option<u32> {
    unsafe {
        let header = &mut *STATE.header;
        let (number, before) = (header.table_count, header.data_len);
        let needed = of.size as u64 * 5 + 8;
        if number as u64 >= header.tables.capacity || before as u64 + needed > header.data.capacity {
            return None;
        }
        let bytes = address::reserve_data(of.size)?;
        os::memcpy(data().add(bytes as usize).cast(), of.start.cast(), of.size);
        let labels = if labelled { address::copy_labels(of.start as usize, of.size)? } else { u32::MAX };
        let table = Table { data: bytes, len: of.size as u32, labels, reserved: 0 };
        let recent = RECENT_COPIES.get_mut(hash(&table) as usize % RECENT)?;
        if let Some(known) = recent.checked_sub(1)
            && known < number
            && is_same(&*tables().add(known as usize), &table)
        {
            header.data_len = before;
            return Some(known);
        }
        *recent = number + 1;
        *tables().add(number as usize) = table;
        header.table_count = number + 1;
        Some(number)
    }
}

/// The labels of a table as bytes.
unsafe fn labels(table: &Table) -> Option<Bytes> {
    let size = table.len as usize * 4;
    unsafe { (table.labels != u32::MAX).then(|| Bytes { start: data().add(table.labels as usize), size }) }
}

unsafe fn content(table: &Table) -> Bytes {
    unsafe { Bytes { start: data().add(table.data as usize), size: table.len as usize } }
}

unsafe fn hash(table: &Table) -> u64 {
    unsafe {
        let mut hash = table.len as u64;
        let parts = [Some(content(table)), labels(table)];
        for part in parts.into_iter().flatten() {
            for i in 0..part.size {
                hash = (hash ^ part.at(i) as u64).wrapping_mul(0x0100_0000_01b3);
            }
        }
        hash ^ hash >> 32
    }
}

unsafe fn is_same(a: &Table, b: &Table) -> bool {
    unsafe {
        let same =
            |a: Bytes, b: Bytes| a.size == b.size && os::memcmp(a.start.cast(), b.start.cast(), a.size) == 0;
        let labels = match (labels(a), labels(b)) {
            (Some(a), Some(b)) => same(a, b),
            (a, b) => a.is_none() && b.is_none(),
        };
        labels && same(content(a), content(b))
    }
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

    unsafe fn find(&self, of: Bytes) -> u64 {
        unsafe {
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
    }

    unsafe fn is_hit(&self, of: Bytes, at: usize) -> bool {
        unsafe {
            let is = |i: usize, j: usize| self.folded(of.at(i)) == self.folded(self.pattern.at(j));
            if self.has(text::SET) {
                return (0..self.pattern.size).any(|j| is(at, j)) != self.has(text::NEGATED);
            }
            self.pattern.size <= of.size - at && (0..self.pattern.size).all(|j| is(at + j, j))
        }
    }

    unsafe fn compare(&self, of: Bytes) -> i32 {
        unsafe {
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
}
