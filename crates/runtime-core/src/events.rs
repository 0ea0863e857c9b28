//! Events of the run, in program order. What they teach is the business of [`crate::facts`].

use crate::facts::{self, domains, domains::Condition, domains::Fixed};
use crate::segment::Segment;
use crate::shapes::{self, Switched};
use crate::state::{self, Run};
use crate::{lengths, lexer, nodes, regions, repetitions, values};
use core::cell::Cell;
use trace::{CheckKind, ConcretiseReason, Event, EventKind, GiveUp, Label, Length, Op, Shaped};

/// Long runs get the segment's pages in pieces of this many events.
const CHUNK: u32 = 16384;

pub struct Log {
    /// How many events there are when the next piece is needed, or there is no room for more.
    room: Cell<u32>,
}

impl Log {
    pub const NEW: Log = Log { room: Cell::new(0) };

    /// A run begins.
    pub fn start(&self, segment: &Segment) {
        self.room.set(segment.event_cap().min(CHUNK));
    }

    #[cold]
    #[inline(never)]
    fn has_more_room(&self, segment: &Segment, at: u32) -> bool {
        if at >= segment.event_cap() {
            segment.count_give_up(GiveUp::TraceFull);
            return false;
        }
        let count = (segment.event_cap() - at).min(CHUNK);
        self.room.set(at + count);
        segment.populate_events(at, count);
        true
    }
}

#[inline(always)]
pub fn push(run: &Run, event: Event) {
    let at = run.segment.event_count();
    if at < run.log.room.get() || run.log.has_more_room(&run.segment, at) {
        run.segment.set_event(at, event);
        run.segment.set_event_count(at + 1);
    }
}

/// A branch on a label with the guard held.
#[inline(always)]
pub fn branch(run: &Run, label: Label, taken: bool, site: u32) {
    if label != 0 {
        branch_on_label(run, label, taken, site);
    }
}

/// What every input is like: a branch that has one side only, which is true.
pub fn given(run: &Run, label: Label) {
    let at = run.segment.event_count();
    branch(run, label, true, 0);
    if at < run.segment.event_count() {
        let event = run.segment.event(at);
        run.segment.set_event(at, Event { kind: EventKind::Given as u8, ..event });
    }
}

fn branch_on_label(run: &Run, label: Label, taken: bool, site: u32) {
    run.segment.count_branch();
    if let Some(at) = shapes::split(run, label) {
        return branch_on_byte(run, at, taken, site);
    }
    if let Some(length) = lengths::split(label).filter(|length| length.is_condition()) {
        return branch_on_length(run, length, taken, site);
    }
    let (mut label, mut taken, mut negated) = (label, taken, false);
    while nodes::node(run, label).op == Op::Not as u8 {
        (label, taken, negated) = (nodes::node(run, label).a, !taken, !negated);
    }
    if repetitions::is_fixed(run, label) {
        return;
    }
    if nodes::value(run, label) != taken as u64 {
        return run.segment.count_give_up(GiveUp::Stale);
    }
    if !facts::is_decided(run, label, taken) && facts::is_first_time(run, label) {
        push_branch(run, label, taken, negated, site);
        facts::branch_on_node(run, label, taken);
    }
}

/// A branch on a condition of one byte.
fn branch_on_byte(run: &Run, at: Shaped, taken: bool, site: u32) {
    if shapes::value(run, at) != taken as u64 {
        return run.segment.count_give_up(GiveUp::Stale);
    }
    if shapes::is_constant(run, at.shape) {
        return;
    }
    let condition = Condition::of(run, at.shape);
    let taken = taken != condition.is_negated();
    if condition.learn(run, at.place, taken) {
        let label = shapes::join(run, condition.at(at.place));
        push_branch(run, label, taken, condition.is_negated(), site);
    }
}

/// As [`branch`] on a condition that a memo table knows, at a place.
#[inline(always)]
pub fn branch_on_known(run: &Run, condition: &Condition, place: u32, taken: bool, site: u32) {
    let taken = taken != condition.is_negated();
    if condition.holds_for(shapes::input(run, place)) != taken {
        return note_stale(run, condition, place);
    }
    if condition.learn(run, place, taken) {
        run.segment.count_branch();
        let label = shapes::join(run, condition.at(place));
        push_branch(run, label, taken, condition.is_negated(), site);
    }
}

/// The branch went where the condition does not: its label does not fit, unless it is the same for
/// all that the byte can be.
#[cold]
fn note_stale(run: &Run, condition: &Condition, place: u32) {
    if condition.is_open(run, place) {
        run.segment.count_branch();
        run.segment.count_give_up(GiveUp::Stale);
    }
}

/// A branch on a label that is no negation; `negated` says whether the program asked for one.
#[inline(always)]
pub fn push_branch(run: &Run, label: Label, taken: bool, negated: bool, site: u32) {
    let (kind, taken, arg) = (EventKind::Branch as u8, taken as u8, negated as u32);
    push(run, Event { kind, taken, aux: 0, site, label, arg });
}

/// A branch on a condition on the length.
fn branch_on_length(run: &Run, length: Length, taken: bool, site: u32) {
    let negated = length.is_negated();
    let (length, taken) = if negated { (length.negated(), !taken) } else { (length, taken) };
    if lengths::value(run, length) != taken as u64 {
        return run.segment.count_give_up(GiveUp::Stale);
    }
    if facts::lengths::learn(run, length, taken) {
        push_branch(run, length.label(), taken, negated, site);
    }
}

/// Fixes a label to the value that it has, with the guard held. The repetition's count stays a
/// variable: what grows with it is as large as it has to be.
pub fn concretise(run: &Run, label: Label, reason: ConcretiseReason, site: u32) {
    let label = lengths::with_node(run, repetitions::collapsed(run, label));
    if label != 0
        && !repetitions::is_fixed(run, label)
        && !facts::is_fixed(run, label)
        && facts::is_first_time(run, label)
    {
        push(
            run,
            Event {
                kind: EventKind::Concretise as u8,
                taken: 0,
                aux: reason as u16,
                site,
                label,
                arg: 0,
            },
        );
    }
}

/// Fixes a label to the value that it has for the rest of the run, with the guard held: what is
/// made of it from here on needs no expression. No instruction asks for it, so it stands where the
/// last event does.
pub fn concretise_for_good(run: &Run, label: Label, reason: ConcretiseReason) {
    let label = lengths::with_node(run, label);
    if facts::is_fixed(run, label) {
        return;
    }
    let is_new = match (shapes::split(run, label), lengths::split(label)) {
        (Some(at), _) => domains::concretise(run, at),
        (None, Some(length)) => lengths::concretise(run, length),
        (None, None) => facts::is_first_time(run, label),
    };
    if is_new {
        let last = run.segment.event_count().checked_sub(1);
        let site = last.map_or(0, |last| run.segment.event(last).site);
        let (kind, aux) = (EventKind::Concretise as u8, reason as u16);
        push(run, Event { kind, taken: 0, aux, site, label, arg: 0 });
    }
    if shapes::split(run, label).is_none() {
        facts::fix(run, label);
    }
}

/// A property that another input could violate, or that this run does; `violated` is a 1-bit label.
pub fn check(run: &Run, violated: Label, kind: CheckKind, site: u32) {
    if violated != 0 && !repetitions::is_fixed(run, violated) && regions::may_check(run, violated) {
        push_check(run, violated, kind, site);
    }
}

/// A property that every input violates that takes this path.
pub fn violated(run: &Run, kind: CheckKind, site: u32) {
    push_check(run, nodes::constant(run, 1, 1), kind, site)
}

fn push_check(run: &Run, label: Label, kind: CheckKind, site: u32) {
    if facts::is_first_time(run, label) {
        let taken = nodes::value(run, label) as u8;
        push(
            run,
            Event { kind: EventKind::Check as u8, taken, aux: kind as u16, site, label, arg: 0 },
        );
    }
}

pub fn give_up(run: &Run, reason: GiveUp, site: u32, arg: u32) {
    run.segment.count_give_up(reason);
    push(
        run,
        Event { kind: EventKind::GiveUp as u8, taken: 0, aux: reason as u16, site, label: 0, arg },
    );
}

#[unsafe(no_mangle)]
#[cold]
pub extern "C" fn __tg_branch(label: Label, taken: u32, site: u32) {
    let run = Run::current();
    if label == 0 {
        return;
    }
    let Some(_entered) = state::enter(run) else { return };
    branch(run, label, taken & 1 == 1, site);
}

/// A switch on a value of `bits` bits; `cases` are its case values in the order of the site table.
///
/// # Safety
/// There are as many `cases` as `count` says.
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
    let run = Run::current();
    if label == 0 {
        return;
    }
    let Some(_entered) = state::enter(run) else { return };
    // SAFETY: the caller's promise.
    let cases = unsafe { core::slice::from_raw_parts(cases, count as usize) };
    if let Some(at) = shapes::split(run, label) {
        if domains::fixed(run, at.place) != Fixed::All
            && !(lexer::inside(run) && facts::is_fixed(run, label))
        {
            switch_on_byte(run, at, value & values::mask(bits), cases, site);
        }
        return;
    }
    if nodes::value(run, label) != value & values::mask(bits) {
        return run.segment.count_give_up(GiveUp::Stale);
    }
    if repetitions::is_fixed(run, label) || facts::is_fixed(run, label) {
        return;
    }
    run.segment.count_branch();
    let arg = shapes::case_of(cases, value & values::mask(bits));
    if arg < count {
        facts::fix(run, label);
    }
    push(run, Event { kind: EventKind::Switch as u8, taken: 0, aux: 0, site, label, arg });
}

/// A switch on this value of one byte.
#[inline(always)]
fn switch_on_byte(run: &Run, at: Shaped, value: u64, cases: &[u64], site: u32) {
    match shapes::switched(run, at, cases, site) {
        Some((_, known)) if known != value => run.segment.count_give_up(GiveUp::Stale),
        Some((to, _)) => switch_to(run, at, &to, site),
        None => switch_with_many_cases(run, at, cases, site),
    }
}

#[cold]
pub fn switch_with_many_cases(run: &Run, at: Shaped, cases: &[u64], site: u32) {
    run.segment.count_branch();
    let (label, arg) = (shapes::join(run, at), shapes::case_of(cases, shapes::value(run, at)));
    push(run, Event { kind: EventKind::Switch as u8, site, label, arg, ..Event::default() });
}

/// A switch on one byte, it being known where it leads. What the path fixes of the byte leaves no
/// other way.
#[inline(always)]
pub fn switch_to(run: &Run, at: Shaped, to: &Switched, site: u32) {
    run.segment.count_branch();
    if domains::learn_switch(run, at, to) {
        let (label, arg) = (shapes::join(run, at), to.taken as u32);
        push(run, Event { kind: EventKind::Switch as u8, taken: 0, aux: 0, site, label, arg });
    }
}

#[unsafe(no_mangle)]
#[cold]
pub extern "C" fn __tg_concretise(label: Label, reason: u32, site: u32) {
    let run = Run::current();
    if label == 0 {
        return;
    }
    let Some(_entered) = state::enter(run) else { return };
    let reason = ConcretiseReason::from_byte(reason as u16).unwrap_or(ConcretiseReason::Argument);
    concretise(run, label, reason, site);
}

/// Symbolic data was dropped at a place that the instrumenter does not follow.
#[unsafe(no_mangle)]
#[cold]
pub extern "C" fn __tg_give_up(labels: Label, reason: u32, site: u32, arg: u32) {
    if labels == 0 {
        return;
    }
    let run = Run::current();
    let Some(_entered) = state::enter(run) else { return };
    give_up(run, GiveUp::from_byte(reason as u16).unwrap_or(GiveUp::Intrinsic), site, arg);
}
