//! Events of the run, in program order.

use crate::models::lexers;
use crate::state::{self, STATE, count_give_up};
use crate::{nodes, os, stretches, values};
use trace::{CheckKind, ConcretiseReason, Event, EventKind, GiveUp, Label, Op};

/// One bit a label: it was recorded as a branch or concretised, so that its value is already fixed by the path.
static mut RECORDED: *mut u64 = core::ptr::null_mut();

pub unsafe fn prepare(node_cap: u32) {
    unsafe {
        RECORDED = os::allocate(node_cap as usize / 8 + 8).cast();
        if !RECORDED.is_null() {
            os::populate(RECORDED.cast(), size_of::<u64>());
        }
    }
}

/// A run ends that had this many labels.
pub unsafe fn forget(labels: u32) {
    unsafe {
        if !RECORDED.is_null() {
            os::memset(RECORDED.cast(), 0, labels.min(STATE.node_cap) as usize / 8 + 8);
        }
    }
}

unsafe fn first_time(label: Label) -> bool {
    unsafe {
        // What a lexer asks does not count outside of it.
        if RECORDED.is_null() || lexers::inside() {
            return true;
        }
        let word = RECORDED.add(label as usize / 64);
        let bit = 1u64 << (label % 64);
        let first = *word & bit == 0;
        *word |= bit;
        first
    }
}

/// Long runs get the segment's pages in pieces of this many events.
const CHUNK: u32 = 16384;

pub unsafe fn push(event: Event) {
    unsafe {
        let at = (*STATE.header).event_count;
        if at >= STATE.event_cap {
            return count_give_up(GiveUp::TraceFull);
        }
        if at.is_multiple_of(CHUNK) && at != 0 {
            let count = (STATE.event_cap - at).min(CHUNK) as usize;
            os::populate(STATE.events.add(at as usize).cast(), count * size_of::<Event>());
        }
        *STATE.events.add(at as usize) = event;
        (*STATE.header).event_count = at + 1;
    }
}

/// A branch on a label with the guard held.
pub unsafe fn branch(label: Label, taken: bool, site: u32) {
    unsafe {
        if label == 0 {
            return;
        }
        (*STATE.header).symbolic_branches += 1;
        let (mut label, mut taken, mut negated) = (label, taken, false);
        while nodes::node(label).op == Op::Not as u8 {
            (label, taken, negated) = (nodes::node(label).a, !taken, !negated);
        }
        if stretches::is_fixed(label) {
            return;
        }
        if nodes::value(label) != taken as u64 {
            return count_give_up(GiveUp::Stale);
        }
        if first_time(label) {
            let (kind, taken, arg) = (EventKind::Branch as u8, taken as u8, negated as u32);
            push(Event { kind, taken, aux: 0, site, label, arg });
        }
    }
}

/// Fixes a label to the value that it has, with the guard held. The stretch's count stays a variable: what grows with it is as large as
/// it has to be.
pub unsafe fn concretise(label: Label, reason: ConcretiseReason, site: u32) {
    unsafe {
        let label = stretches::collapsed(label);
        if label != 0 && !stretches::is_fixed(label) && first_time(label) {
            push(Event {
                kind: EventKind::Concretise as u8,
                taken: 0,
                aux: reason as u16,
                site,
                label,
                arg: 0,
            });
        }
    }
}

/// A property that holds on this run; `violated` is a 1-bit label whose value is 0.
pub unsafe fn check(violated: Label, kind: CheckKind, site: u32) {
    unsafe {
        if violated != 0 && !stretches::is_fixed(violated) && first_time(violated) {
            let taken = nodes::value(violated) as u8;
            push(Event {
                kind: EventKind::Check as u8,
                taken,
                aux: kind as u16,
                site,
                label: violated,
                arg: 0,
            });
        }
    }
}

pub unsafe fn give_up(reason: GiveUp, site: u32, arg: u32) {
    unsafe {
        count_give_up(reason);
        push(Event { kind: EventKind::GiveUp as u8, taken: 0, aux: reason as u16, site, label: 0, arg });
    }
}

#[unsafe(no_mangle)]
#[cold]
pub unsafe extern "C" fn __tg_branch(label: Label, taken: u32, site: u32) {
    unsafe {
        if label == 0 {
            return;
        }
        let Some(_entered) = state::enter() else { return };
        branch(label, taken & 1 == 1, site);
    }
}

/// A switch on a value of `bits` bits; `cases` are its case values in the order of the site table.
#[unsafe(no_mangle)]
#[cold]
pub unsafe extern "C" fn __tg_switch(
    label: Label,
    value: u64,
    bits: u32,
    cases: *const u64,
    count: u32,
    site: u32,
) {
    unsafe {
        if label == 0 {
            return;
        }
        let Some(_entered) = state::enter() else { return };
        if nodes::value(label) != value & values::mask(bits) {
            return count_give_up(GiveUp::Stale);
        }
        if stretches::is_fixed(label) {
            return;
        }
        (*STATE.header).symbolic_branches += 1;
        let arg = (0..count).find(|&i| *cases.add(i as usize) == value & values::mask(bits)).unwrap_or(count);
        push(Event { kind: EventKind::Switch as u8, taken: 0, aux: 0, site, label, arg });
    }
}

#[unsafe(no_mangle)]
#[cold]
pub unsafe extern "C" fn __tg_concretise(label: Label, reason: u32, site: u32) {
    unsafe {
        if label == 0 {
            return;
        }
        let Some(_entered) = state::enter() else { return };
        let reason = ConcretiseReason::from_byte(reason as u16).unwrap_or(ConcretiseReason::Argument);
        concretise(label, reason, site);
    }
}

/// Division of `bits` bits: neither by zero nor, if signed, of the smallest value by -1.
#[unsafe(no_mangle)]
#[cold]
pub unsafe extern "C" fn __tg_division(
    la: Label,
    lb: Label,
    a: u64,
    b: u64,
    bits: u32,
    signed: u32,
    site: u32,
) {
    use crate::build::{Value, binary};
    unsafe {
        if la | lb == 0 {
            return;
        }
        let Some(_entered) = state::enter() else { return };
        let divisor = Value::new(lb, b);
        check(binary(Op::Eq, bits, divisor, Value::concrete(0)), CheckKind::DivisionByZero, site);
        if signed == 0 {
            return;
        }
        let smallest = 1u64 << (bits - 1);
        let minus_one = values::mask(bits);
        let low = Value::new(
            binary(Op::Eq, bits, Value::new(la, a), Value::concrete(smallest)),
            (a == smallest) as u64,
        );
        let neg =
            Value::new(binary(Op::Eq, bits, divisor, Value::concrete(minus_one)), (b == minus_one) as u64);
        check(binary(Op::And, 1, low, neg), CheckKind::DivisionOverflow, site);
    }
}

/// Symbolic data was dropped at a place that the instrumenter does not follow.
#[unsafe(no_mangle)]
#[cold]
pub unsafe extern "C" fn __tg_give_up(labels: Label, reason: u32, site: u32, arg: u32) {
    unsafe {
        if labels == 0 {
            return;
        }
        let Some(_entered) = state::enter() else { return };
        give_up(GiveUp::from_byte(reason as u16).unwrap_or(GiveUp::Intrinsic), site, arg);
    }
}
