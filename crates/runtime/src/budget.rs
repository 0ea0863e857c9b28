//! How many expressions of several bytes a run may have.
//!
//! What a parser does depends on more and more of what it has read, in expressions that no byte shares with another and that nobody
//! will have the time to solve: a kilobyte of bc has 30,000 of them. Once a run has had its share, a value of several bytes is fixed where it is
//! used: that it has this value becomes a constraint, and what is computed from it has no label. Conditions on single bytes and on the length
//! cost little and go on to the end of the input. What a lexer that was named does is its own business and has no limit. All functions need the runtime's guard.

use crate::build::Value;
use crate::models::lexers;
use crate::shapes::{self, domains};
use crate::state::STATE;
use crate::{events, lengths, nodes};
use trace::{ConcretiseReason, Label, Op, Shaped};

/// Nodes that a run may have beside those of its input, and how long an input has all of them at most. A longer one has so many conditions on single bytes
/// that those of several will not get their turn, so it has fewer, down to the least number.
const MOST: u32 = 1 << 13;
const LONG: u32 = 1 << 10;
const LEAST: u32 = 1 << 9;

fn most(input_len: u32) -> u32 {
    (MOST as u64 * LONG as u64 / input_len.max(LONG) as u64).max(LEAST as u64) as u32
}

/// A lexer's tables take two reads from a byte to the next state.
const MOST_READS: u16 = 2;

/// How many nodes there are when the budget is spent.
static mut LIMIT: u32 = u32::MAX;
static mut IS_SPENT: bool = false;

/// A run begins. Without shapes every expression has nodes, and there is no limit.
pub unsafe fn start() {
    unsafe {
        IS_SPENT = false;
        let most = if shapes::in_use() { most(STATE.input_len) } else { u32::MAX };
        LIMIT = (*STATE.header).node_count.saturating_add(most);
    };
}

/// There are this many nodes now.
#[inline(always)]
pub unsafe fn note_nodes(count: u32) {
    unsafe {
        if count > LIMIT {
            IS_SPENT = true;
        }
    }
}

/// Spends it at once.
#[cfg(test)]
pub unsafe fn spend() {
    unsafe { IS_SPENT = true };
}

#[inline(always)]
pub unsafe fn is_spent() -> bool {
    unsafe { IS_SPENT && !lexers::inside() }
}

/// A value, without its label if that stands for several bytes and the budget is spent.
#[inline(always)]
pub unsafe fn afford(x: Value) -> Value {
    unsafe { if is_spent() && is_of_several(x.label) { settled(x) } else { x } }
}

/// Whether the budget is spent and an address is fixed for that: of several bytes, or what many tables made of one. A parser's state follows from a single
/// token for a long time, in dozens of reads for each.
#[inline(always)]
pub unsafe fn settles_address(la: Label) -> bool {
    unsafe { is_spent() && settles_deep(la) }
}

/// Whether many tables made it of its byte.
pub unsafe fn is_deep(at: Shaped) -> bool {
    unsafe { shapes::reads(at) >= MOST_READS }
}

#[cold]
unsafe fn settles_deep(la: Label) -> bool {
    unsafe {
        let is_deep = shapes::split(la).map_or_else(|| is_of_several(la), |at| is_deep(at));
        if is_deep {
            settle(la);
        }
        is_deep
    }
}

/// Whether the budget is spent and what was loaded is of several bytes: it is fixed then, and its place needs no label any more.
#[inline(always)]
pub unsafe fn settles_loaded(label: Label) -> bool {
    unsafe {
        let settles = is_spent() && is_of_several(label);
        if settles {
            settle(label);
        }
        settles
    }
}

/// Whether the budget is spent and this is the label of a byte that the path fixes, which then need not be followed.
#[inline(always)]
pub unsafe fn is_fixed_byte(label: Label) -> bool {
    unsafe {
        is_spent() && shapes::split(label).is_some_and(|at| domains::fixed(at.place) == domains::Fixed::All)
    }
}

/// The operands of an operator, such that the result depends on one byte if the budget is spent: of two bytes the later one, because lexers
/// join what they know with the next byte.
#[inline(always)]
pub unsafe fn afford_both(a: Value, b: Value) -> (Value, Value) {
    unsafe { if is_spent() { afford_one_byte(a, b) } else { (a, b) } }
}

#[cold]
unsafe fn afford_one_byte(a: Value, b: Value) -> (Value, Value) {
    unsafe {
        let (a, b) = (afford(a), afford(b));
        match (shapes::split(a.label), shapes::split(b.label)) {
            (Some(first), Some(second)) if first.place < second.place => (settled(a), b),
            (Some(first), Some(second)) if first.place > second.place => (a, settled(b)),
            (Some(_), None) if b.label != 0 => (settled(a), b),
            (None, Some(_)) if a.label != 0 => (a, settled(b)),
            _ => (a, b),
        }
    }
}

/// Whether a choice has to fix its condition, because the budget is spent and it would join the condition with other bytes.
pub unsafe fn must_choose(condition: Label, sides: [Label; 2]) -> bool {
    unsafe {
        let place = |label: Label| shapes::split(label).map(|at| at.place);
        let is_apart = |side: &Label| *side != 0 && place(*side) != place(condition);
        is_spent() && (place(condition).is_none() || sides.iter().any(is_apart))
    }
}

#[inline(always)]
unsafe fn is_of_several(label: Label) -> bool {
    unsafe { label != 0 && shapes::split(label).is_none() && !lengths::is_sum(label) }
}

pub unsafe fn settled(x: Value) -> Value {
    unsafe {
        settle(x.label);
        Value::concrete(x.value)
    }
}

/// Fixes a label for good. Of an expression of one byte it is the byte: what else is asked of it costs as much again, and a parser asks a lot.
#[cold]
pub unsafe fn settle(label: Label) {
    unsafe {
        let place = shapes::split(label).map(|at| at.place);
        if place.is_some_and(|place| domains::fixed(place) == domains::Fixed::All) {
            return;
        }
        let byte = place.or_else(|| only_place(label)).map(|place| shapes::join(Shaped { shape: 0, place }));
        if let Some(byte) = byte {
            return events::settle(byte, reason());
        }
        if label != 0 && nodes::as_constant(label).is_none() {
            events::settle(label, reason());
        }
    }
}

/// Without room for more shapes, those who spent the budget may all be of one byte.
unsafe fn reason() -> ConcretiseReason {
    unsafe { if shapes::are_full() { ConcretiseReason::Expressions } else { ConcretiseReason::Budget } }
}

/// Nodes that are looked at for the byte that they are made of.
const MOST_VISITED: usize = 16;

/// The byte that a node depends on, if it is one: without room for more shapes, expressions of one byte have nodes, too.
#[inline(never)]
unsafe fn only_place(label: Label) -> Option<u32> {
    unsafe {
        let mut open = [label; MOST_VISITED];
        let (mut count, mut place) = (1usize, None);
        for _ in 0..MOST_VISITED {
            let Some(&label) = count.checked_sub(1).and_then(|last| open.get(last)) else { return place };
            count -= 1;
            if let Some(at) = shapes::split(label) {
                if *place.get_or_insert(at.place) != at.place {
                    return None;
                }
                continue;
            }
            if nodes::as_constant(label).is_some() {
                continue;
            }
            let node = nodes::node(label);
            let op = Op::from_byte(node.op).filter(|op| op.arity() > 0 && !op.has_table())?;
            for operand in [node.a, node.b, node.c].into_iter().take(op.arity()) {
                *open.get_mut(count)? = operand;
                count += 1;
            }
        }
        None
    }
}
