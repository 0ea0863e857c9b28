//! How many expressions of several bytes a run may have.
//!
//! What a parser does depends on more and more of what it has read, in expressions that no byte
//! shares with another and that nobody will have the time to solve: a kilobyte of bc has 30,000 of
//! them. Once a run has had its share, a value of several bytes is concretised where it is used:
//! that it has this value becomes a constraint, and what is computed from it has no label.
//! Conditions on single bytes and on the length cost little and go on to the end of the input. What
//! a lexer that was named does is its own business and has no limit. All functions need the
//! runtime's guard.

use crate::build::Value;
use crate::facts::domains;
use crate::state::Run;
use crate::{events, lengths, lexer, nodes, shapes};
use core::cell::Cell;
use trace::{ConcretiseReason, Label, Op, Shaped};

/// Nodes that a run may have beside those of its input, and how long an input has all of them at
/// most. A longer one has so many conditions on single bytes that those of several will not get
/// their turn, so it has fewer, down to the least number.
const MAX: u32 = 1 << 13;
const LONG: u32 = 1 << 10;
const MIN: u32 = 1 << 9;

fn limit_for(input_len: u32) -> u32 {
    (MAX as u64 * LONG as u64 / input_len.max(LONG) as u64).max(MIN as u64) as u32
}

/// A lexer's tables take two reads from a byte to the next state.
const MAX_READS: u16 = 2;

pub struct Budget {
    /// How many nodes there are when the budget is spent.
    limit: Cell<u32>,
    is_spent: Cell<bool>,
}

impl Budget {
    pub const NEW: Budget = Budget { limit: Cell::new(u32::MAX), is_spent: Cell::new(false) };

    /// A run begins. Without shapes every expression has nodes, and there is no limit.
    pub fn start(&self, run: &Run) {
        let limit = if shapes::in_use(run) { limit_for(run.segment.input_len()) } else { u32::MAX };
        self.limit.set(run.segment.node_count().saturating_add(limit));
        self.is_spent.set(false);
    }

    /// There are this many nodes now.
    #[inline(always)]
    pub fn note_nodes(&self, count: u32) {
        if count > self.limit.get() {
            self.is_spent.set(true);
        }
    }

    /// Spends it at once.
    #[cfg(test)]
    pub fn spend(&self) {
        self.is_spent.set(true);
    }
}

#[inline(always)]
pub fn is_spent(run: &Run) -> bool {
    run.budget.is_spent.get() && {
        // Asked at every load: without this, what is rarely needed is read first.
        core::hint::cold_path();
        !lexer::inside(run)
    }
}

/// A value, without its label if that stands for several bytes and the budget is spent.
#[inline(always)]
pub fn afford(run: &Run, x: Value) -> Value {
    if is_spent(run) && is_of_several(run, x.label) { concretised(run, x) } else { x }
}

/// Whether the budget is spent and an address is fixed for that: of several bytes, or what many
/// tables made of one. A parser's state follows from a single token for a long time, in dozens of
/// reads for each.
#[inline(always)]
pub fn concretises_address(run: &Run, la: Label) -> bool {
    is_spent(run) && concretises_deep(run, la)
}

/// Whether many tables made it of its byte.
pub fn is_deep(run: &Run, at: Shaped) -> bool {
    shapes::reads(run, at) >= MAX_READS
}

#[cold]
fn concretises_deep(run: &Run, la: Label) -> bool {
    let is_deep =
        shapes::split(run, la).map_or_else(|| is_of_several(run, la), |at| is_deep(run, at));
    if is_deep {
        concretise(run, la);
    }
    is_deep
}

/// Whether the budget is spent and what was loaded is of several bytes: it is fixed then, and its
/// place needs no label any more.
#[inline(always)]
pub fn concretises_loaded(run: &Run, label: Label) -> bool {
    let concretises = is_spent(run) && is_of_several(run, label);
    if concretises {
        concretise(run, label);
    }
    concretises
}

/// Whether the budget is spent and this is the label of a byte that the path fixes, which then need
/// not be followed.
#[inline(always)]
pub fn is_fixed_byte(run: &Run, label: Label) -> bool {
    is_spent(run)
        && shapes::split(run, label)
            .is_some_and(|at| domains::fixed(run, at.place) == domains::Fixed::All)
}

/// The operands of an operator, such that the result depends on one byte if the budget is spent: of
/// two bytes the later one, because lexers join what they know with the next byte.
#[inline(always)]
pub fn afford_both(run: &Run, a: Value, b: Value) -> (Value, Value) {
    if is_spent(run) { afford_one_byte(run, a, b) } else { (a, b) }
}

#[cold]
fn afford_one_byte(run: &Run, a: Value, b: Value) -> (Value, Value) {
    let (a, b) = (afford(run, a), afford(run, b));
    match (shapes::split(run, a.label), shapes::split(run, b.label)) {
        (Some(first), Some(second)) if first.place < second.place => (concretised(run, a), b),
        (Some(first), Some(second)) if first.place > second.place => (a, concretised(run, b)),
        (Some(_), None) if b.label != 0 => (concretised(run, a), b),
        (None, Some(_)) if a.label != 0 => (a, concretised(run, b)),
        _ => (a, b),
    }
}

/// Whether a choice has to fix its condition, because the budget is spent and it would join the
/// condition with other bytes.
pub fn must_choose(run: &Run, condition: Label, sides: [Label; 2]) -> bool {
    let place = |label: Label| shapes::split(run, label).map(|at| at.place);
    let is_apart = |side: Label| side != 0 && place(side) != place(condition);
    is_spent(run) && (place(condition).is_none() || is_apart(sides[0]) || is_apart(sides[1]))
}

#[inline(always)]
fn is_of_several(run: &Run, label: Label) -> bool {
    label != 0 && shapes::split(run, label).is_none() && !lengths::is_sum(run, label)
}

pub fn concretised(run: &Run, x: Value) -> Value {
    concretise(run, x.label);
    Value::concrete(x.value)
}

/// Fixes a label for good. Of an expression of one byte it is the byte: what else is asked of it
/// costs as much again, and a parser asks a lot.
#[cold]
pub fn concretise(run: &Run, label: Label) {
    let place = shapes::split(run, label).map(|at| at.place);
    if place.is_some_and(|place| domains::fixed(run, place) == domains::Fixed::All) {
        return;
    }
    let byte = place
        .or_else(|| only_place(run, label))
        .map(|place| shapes::join(run, Shaped { shape: 0, place }));
    if let Some(byte) = byte {
        return events::concretise_for_good(run, byte, reason(run));
    }
    if label != 0 && nodes::as_constant(run, label).is_none() {
        events::concretise_for_good(run, label, reason(run));
    }
}

/// Without room for more shapes, those who spent the budget may all be of one byte.
fn reason(run: &Run) -> ConcretiseReason {
    if shapes::are_full(run) { ConcretiseReason::Expressions } else { ConcretiseReason::Budget }
}

/// Nodes that are looked at for the byte that they are made of.
const MAX_VISITED: usize = 16;

/// The byte that a node depends on, if it is one: without room for more shapes, expressions of one
/// byte have nodes, too.
#[inline(never)]
fn only_place(run: &Run, label: Label) -> Option<u32> {
    let mut open = [label; MAX_VISITED];
    let (mut count, mut place) = (1usize, None);
    for _ in 0..MAX_VISITED {
        let Some(&label) = count.checked_sub(1).and_then(|last| open.get(last)) else {
            return place;
        };
        count -= 1;
        if let Some(at) = shapes::split(run, label) {
            if *place.get_or_insert(at.place) != at.place {
                return None;
            }
            continue;
        }
        if nodes::as_constant(run, label).is_some() {
            continue;
        }
        let node = nodes::node(run, label);
        let op = Op::from_byte(node.op).filter(|op| op.arity() > 0 && !op.has_table())?;
        for operand in [node.a, node.b, node.c].into_iter().take(op.arity()) {
            *open.get_mut(count)? = operand;
            count += 1;
        }
    }
    None
}
