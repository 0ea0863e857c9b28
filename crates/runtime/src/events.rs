//! Events of the run, in program order.

use crate::models::lexers;
use crate::shapes::{self, answers, domains, domains::Fixed, domains::Mark, domains::Way};
use crate::state::{self, STATE, count_give_up};
use crate::{address, lengths, nodes, os, regions, stretches, values};
use trace::{
    CheckKind, ConcretiseReason, Event, EventKind, GiveUp, LENGTH, Label, Length, Op, SHAPED, Shaped,
};

/// A set of labels, a bit each.
struct Labels(*mut u64);

impl Labels {
    unsafe fn prepare(&mut self, node_cap: u32) {
        unsafe {
            self.0 = os::allocate(node_cap as usize / 8 + 8).cast();
            if !self.0.is_null() {
                os::populate(self.0.cast(), size_of::<u64>());
            }
        }
    }

    /// There were this many labels.
    unsafe fn empty(&mut self, labels: u32) {
        unsafe {
            if !self.0.is_null() {
                os::memset(self.0.cast(), 0, labels.min(STATE.node_cap) as usize / 8 + 8);
            }
        }
    }

    #[inline(always)]
    unsafe fn contains(&self, label: Label) -> bool {
        unsafe { !self.0.is_null() && *self.0.add(label as usize / 64) >> (label % 64) & 1 == 1 }
    }

    /// True if the label was not in the set.
    unsafe fn insert(&mut self, label: Label) -> bool {
        unsafe {
            let is_new = !self.contains(label);
            if !self.0.is_null() {
                *self.0.add(label as usize / 64) |= 1 << (label % 64);
            }
            is_new
        }
    }
}

/// Labels that were recorded as a branch or concretised.
static mut RECORDED: Labels = Labels(core::ptr::null_mut());
/// Labels that equal a constant on this path, because a branch or switch said so.
static mut FIXED: Labels = Labels(core::ptr::null_mut());

pub unsafe fn prepare(node_cap: u32) {
    unsafe {
        RECORDED.prepare(node_cap);
        FIXED.prepare(node_cap);
    }
}

/// A run ends that had this many labels.
pub unsafe fn forget(labels: u32) {
    unsafe {
        RECORDED.empty(labels);
        FIXED.empty(labels);
        (OPEN, TIMES_FIXED) = ([(0, 0); MOST_OPEN], 0);
    }
}

unsafe fn first_time(label: Label) -> bool {
    // What a lexer asks does not count outside of it.
    unsafe {
        lexers::inside()
            || match shapes::split(label) {
                Some(at) => domains::mark(Mark::Recorded, at),
                None => lengths::split(label).is_some() || RECORDED.insert(label),
            }
    }
}

/// What a branch on `condition` says about inputs that take this path.
unsafe fn learn(condition: Label, taken: bool) {
    unsafe {
        let node = nodes::node(condition);
        if taken && node.op == Op::Eq as u8 && nodes::as_constant(node.b).is_some() {
            fix(node.a);
        }
    }
}

/// From here on the label equals its present value on every input that takes this path, so that nothing that is made of it is worth
/// an expression. Inputs that leave the path at the branch that says so are another matter.
unsafe fn fix(label: Label) {
    unsafe {
        let of = extended(label);
        if !lexers::inside() && !stretches::any() && of & (SHAPED | LENGTH) == 0 {
            FIXED.insert(of);
            note_fixed();
        }
    }
}

#[inline(always)]
pub unsafe fn is_fixed(label: Label) -> bool {
    unsafe {
        match shapes::split(label) {
            Some(at) => answers::is_fixed_by_path(at),
            None => label != 0 && label & LENGTH == 0 && is_fixed_node(extended(label)),
        }
    }
}

/// A node may extend what has none.
#[inline(always)]
unsafe fn is_fixed_node(label: Label) -> bool {
    unsafe { label & (SHAPED | LENGTH) == 0 && FIXED.contains(label) }
}

/// How deep expressions are looked into by [`follows`].
const DEPTH: u32 = 8;

/// Labels that were found not to follow, with the number of values that were fixed by then.
static mut OPEN: [(Label, u32); MOST_OPEN] = [(0, 0); MOST_OPEN];
const MOST_OPEN: usize = 256;
/// How often something became fixed in this run.
static mut TIMES_FIXED: u32 = 0;

/// Something is fixed that was not.
pub unsafe fn note_fixed() {
    unsafe { TIMES_FIXED += 1 };
}

/// As [`is_fixed`], also for what was computed before its operands were fixed: the length of a rule that is looked up before a switch on the rule.
pub unsafe fn follows(label: Label) -> bool {
    unsafe {
        if is_fixed(label) || label & (SHAPED | LENGTH) != 0 {
            return is_fixed(label);
        }
        let Some(open) = OPEN.get_mut(label as usize % MOST_OPEN) else { return false };
        if *open == (label, TIMES_FIXED) {
            return false;
        }
        let follows = is_made_of_fixed(label, DEPTH);
        if !follows {
            *open = (label, TIMES_FIXED);
        }
        follows
    }
}

unsafe fn is_made_of_fixed(label: Label, depth: u32) -> bool {
    unsafe {
        let node = nodes::node(label);
        let Some(op) = Op::from_byte(node.op).filter(|op| op.arity() > 0 && depth > 0) else {
            return node.op == Op::Const as u8;
        };
        if op == Op::Read && !address::is_concrete(node.b) || stretches::any() {
            return false;
        }
        // The last operand is mostly the newest, and the first to tell that the answer is no.
        let are_fixed = [node.a, node.b, node.c].into_iter().take(op.arity()).rev().all(|operand| {
            is_fixed(operand) || operand & (SHAPED | LENGTH) == 0 && is_made_of_fixed(operand, depth - 1)
        });
        if are_fixed {
            fix(label);
        }
        are_fixed
    }
}

/// What the label extends, if it does.
#[inline(always)]
unsafe fn extended(label: Label) -> Label {
    unsafe {
        let node = nodes::node(label);
        if node.op == Op::ZExt as u8 || node.op == Op::SExt as u8 { node.a } else { label }
    }
}

/// Long runs get the segment's pages in pieces of this many events.
const CHUNK: u32 = 16384;

/// How many events there are when the next piece is needed, or there is no room for more.
static mut ROOM: u32 = 0;

/// A run begins.
pub unsafe fn start() {
    unsafe { ROOM = STATE.event_cap.min(CHUNK) };
}

#[inline(always)]
pub unsafe fn push(event: Event) {
    unsafe {
        let at = (*STATE.header).event_count;
        if at < ROOM || has_more_room(at) {
            *STATE.events.add(at as usize) = event;
            (*STATE.header).event_count = at + 1;
        }
    }
}

#[cold]
#[inline(never)]
unsafe fn has_more_room(at: u32) -> bool {
    unsafe {
        if at >= STATE.event_cap {
            count_give_up(GiveUp::TraceFull);
            return false;
        }
        ROOM = (STATE.event_cap - at).min(CHUNK) + at;
        os::populate(STATE.events.add(at as usize).cast(), (ROOM - at) as usize * size_of::<Event>());
        true
    }
}

/// A branch on a label with the guard held.
pub unsafe fn branch(label: Label, taken: bool, site: u32) {
    unsafe {
        if label == 0 {
            return;
        }
        (*STATE.header).symbolic_branches += 1;
        if let Some(at) = shapes::split(label) {
            return branch_on_byte(at, taken, site);
        }
        if let Some(length) = lengths::split(label).filter(|length| length.is_condition()) {
            return branch_on_length(length, taken, site);
        }
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
            push_branch(label, taken, negated, site);
            learn(label, taken);
        }
    }
}

/// A branch on a condition of one byte.
unsafe fn branch_on_byte(at: Shaped, taken: bool, site: u32) {
    unsafe {
        let (at, negated) = shapes::without_not(at);
        let taken = taken != negated;
        if shapes::value(at) != taken as u64 {
            return count_give_up(GiveUp::Stale);
        }
        if shapes::varying(at) != 0 && domains::branch(at, taken) {
            push_branch(shapes::join(at), taken, negated, site);
        }
    }
}

/// A branch went where its condition does not, so that the label does not fit.
pub unsafe fn note_stale() {
    unsafe {
        (*STATE.header).symbolic_branches += 1;
        count_give_up(GiveUp::Stale);
    }
}

/// A branch on a label that is no negation; `negated` says whether the program asked for one.
#[inline(always)]
pub unsafe fn push_branch(label: Label, taken: bool, negated: bool, site: u32) {
    unsafe {
        let (kind, taken, arg) = (EventKind::Branch as u8, taken as u8, negated as u32);
        push(Event { kind, taken, aux: 0, site, label, arg });
    }
}

/// A branch on a condition on the length.
unsafe fn branch_on_length(length: Length, taken: bool, site: u32) {
    unsafe {
        let negated = length.is_negated();
        let (length, taken) = if negated { (length.negated(), !taken) } else { (length, taken) };
        if lengths::value(length) != taken as u64 {
            return count_give_up(GiveUp::Stale);
        }
        if lengths::branch(length, taken) {
            push_branch(length.label(), taken, negated, site);
        }
    }
}

/// Fixes a label to the value that it has, with the guard held. The stretch's count stays a variable: what grows with it is as large as
/// it has to be.
pub unsafe fn concretise(label: Label, reason: ConcretiseReason, site: u32) {
    unsafe {
        let label = lengths::with_node(stretches::collapsed(label));
        if label != 0 && !stretches::is_fixed(label) && !is_fixed(label) && first_time(label) {
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

/// Fixes a label to the value that it has for the rest of the run, with the guard held: what is made of it from here on needs no expression. No instruction asks for
/// it, so it stands where the last event does.
pub unsafe fn settle(label: Label, reason: ConcretiseReason) {
    unsafe {
        let label = lengths::with_node(label);
        if is_fixed(label) {
            return;
        }
        let is_new = match (shapes::split(label), lengths::split(label)) {
            (Some(at), _) => domains::settle(at),
            (None, Some(length)) => lengths::settle(length),
            (None, None) => first_time(label),
        };
        if is_new {
            let last = (*STATE.header).event_count.checked_sub(1);
            let site = last.map_or(0, |last| (*STATE.events.add(last as usize)).site);
            let (kind, aux) = (EventKind::Concretise as u8, reason as u16);
            push(Event { kind, taken: 0, aux, site, label, arg: 0 });
        }
        if shapes::split(label).is_none() {
            fix(label);
        }
    }
}

/// A property that another input could violate, or that this run does; `violated` is a 1-bit label.
pub unsafe fn check(violated: Label, kind: CheckKind, site: u32) {
    unsafe {
        if violated != 0 && !stretches::is_fixed(violated) && regions::may_check(violated) {
            push_check(violated, kind, site);
        }
    }
}

/// A property that every input violates that takes this path.
pub unsafe fn violated(kind: CheckKind, site: u32) {
    unsafe { push_check(nodes::constant(1, 1), kind, site) }
}

unsafe fn push_check(label: Label, kind: CheckKind, site: u32) {
    unsafe {
        if first_time(label) {
            let taken = nodes::value(label) as u8;
            push(Event { kind: EventKind::Check as u8, taken, aux: kind as u16, site, label, arg: 0 });
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
        let cases = core::slice::from_raw_parts(cases, count as usize);
        if let Some(at) = shapes::split(label) {
            if domains::fixed(at.place) != Fixed::All && !(lexers::inside() && is_fixed(label)) {
                switch_on_byte(at, value & values::mask(bits), cases, site);
            }
            return;
        }
        if nodes::value(label) != value & values::mask(bits) {
            return count_give_up(GiveUp::Stale);
        }
        if stretches::is_fixed(label) || is_fixed(label) {
            return;
        }
        (*STATE.header).symbolic_branches += 1;
        let arg = domains::case(cases, value & values::mask(bits));
        if arg < count {
            fix(label);
        }
        push(Event { kind: EventKind::Switch as u8, taken: 0, aux: 0, site, label, arg });
    }
}

/// A switch on this value of one byte.
#[inline(always)]
unsafe fn switch_on_byte(at: Shaped, value: u64, cases: &[u64], site: u32) {
    unsafe {
        match domains::way(at, cases, site) {
            Some((_, known)) if known != value => count_give_up(GiveUp::Stale),
            Some((way, _)) => switch_to(at, &way, site),
            None => switch_with_many_cases(at, cases, site),
        }
    }
}

#[cold]
pub unsafe fn switch_with_many_cases(at: Shaped, cases: &[u64], site: u32) {
    unsafe {
        (*STATE.header).symbolic_branches += 1;
        let (label, arg) = (shapes::join(at), domains::case(cases, shapes::value(at)));
        push(Event { kind: EventKind::Switch as u8, site, label, arg, ..Event::default() });
    }
}

/// A switch on one byte, it being known where it leads. What the path fixes of the byte leaves no other way.
#[inline(always)]
pub unsafe fn switch_to(at: Shaped, way: &Way, site: u32) {
    unsafe {
        (*STATE.header).symbolic_branches += 1;
        if domains::switch(at, way) {
            let (label, arg) = (shapes::join(at), way.taken as u32);
            push(Event { kind: EventKind::Switch as u8, taken: 0, aux: 0, site, label, arg });
        }
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
