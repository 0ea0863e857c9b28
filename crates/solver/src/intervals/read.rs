//! Intervals of what is read from tables.
//!
//! A parser's stacks become tables with symbolic bytes once their height depends on input: each
//! byte of a cell is then a choice between what was there and a part of what may have been written.
//! Where the bytes of the input that are left decide all of these choices, a read is what was
//! written last, and has its interval.

use super::{Interval, Intervals, number};
use crate::ranges::stride;
use expr::{Label, Node, Op};

/// Places that a read may get to.
const MAX_PLACES: usize = 64;

/// A byte of a table.
#[derive(Clone, Copy)]
enum Cell {
    Byte(u8),
    Node(Label),
}

impl Intervals<'_> {
    pub(super) fn read(&mut self, node: &Node, depth: u32) -> Option<Interval> {
        let Interval { low, high } = self.of(node.a, depth);
        let step = 1u64 << stride(self.dag, node.a);
        let (low, high) = (u64::try_from(low).ok()?, u64::try_from(high).ok()?);
        let places = (low.checked_next_multiple_of(step)?..=high).step_by(step as usize);
        if places.size_hint().0 > MAX_PLACES {
            return None;
        }
        let mut all: Option<Interval> = None;
        for place in places {
            let element = self.element(node, place, depth)?;
            all = Some(all.map_or(element, |all| all.union(element)));
        }
        all
    }

    fn element(&mut self, node: &Node, place: u64, depth: u32) -> Option<Interval> {
        let count = usize::from(node.bits / 8);
        let mut cells = [Cell::Byte(0); 8];
        for (cell, at) in cells[..count].iter_mut().zip(place..) {
            *cell = self.cell(node.b, at, depth);
        }
        if let Some(whole) = self.whole(&cells[..count]) {
            return Some(self.of(whole, depth));
        }
        let mut value = 0;
        for cell in cells[..count].iter().rev() {
            value = value << 8 | u64::from(self.byte(*cell, depth)?);
        }
        Some(Interval::only(number(value, u32::from(node.bits))))
    }

    /// What is in a table, with those choices made that are decided.
    fn cell(&mut self, table: u32, at: u64, depth: u32) -> Cell {
        let table = self.dag.table(table);
        let mut label = table.label(at);
        if label == 0 {
            return Cell::Byte(table.byte(at));
        }
        while self.dag.op(label) == Op::Ite {
            match self.side(self.dag.node(label), depth) {
                Some(side) => label = side,
                None => break,
            }
        }
        self.dag.as_constant(label).map_or(Cell::Node(label), |value| Cell::Byte(value as u8))
    }

    /// The side of a choice that is taken, if that is decided.
    pub(super) fn side(&mut self, node: &Node, depth: u32) -> Option<Label> {
        let condition = self.of(node.a, depth);
        (condition.low == condition.high).then_some(if condition.low == 1 {
            node.b
        } else {
            node.c
        })
    }

    /// The node whose lowest bytes these are.
    fn whole(&self, cells: &[Cell]) -> Option<Label> {
        let [Cell::Node(first), ..] = cells else { return None };
        if cells.len() == 1 {
            return Some(*first);
        }
        let whole = self.dag.node(*first).a;
        let is_part = |(index, cell): (usize, &Cell)| match cell {
            Cell::Byte(_) => false,
            Cell::Node(label) => {
                let node = self.dag.node(*label);
                self.dag.op(*label) == Op::Extract
                    && node.a == whole
                    && usize::from(node.aux) == 8 * index
            }
        };
        cells.iter().enumerate().all(is_part).then_some(whole)
    }

    fn byte(&mut self, cell: Cell, depth: u32) -> Option<u8> {
        match cell {
            Cell::Byte(byte) => Some(byte),
            Cell::Node(label) => {
                let Interval { low, high } = self.of(label, depth);
                (low == high).then_some(low as u8)
            }
        }
    }
}
