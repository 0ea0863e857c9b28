//! What every model does around its kernel: labels of arguments in, guard, label of the result out.

use super::Role;
use crate::element::Element;
use crate::logic::apply_to;
use crate::{answer, guarded};
use runtime_core::build::Value;
use runtime_core::calls::{self, Args, call_site};
use runtime_core::state::Run;
use runtime_core::{address, checks, events, state};
use trace::{ConcretiseReason, Op, slots};

/// Why the arguments of a call are fixed; `None` if the model describes them, or they lead to data.
pub const fn reason(roles: &[Role]) -> Option<ConcretiseReason> {
    match roles {
        [] => None,
        [first, others @ ..] => match first.fixes() {
            None => reason(others),
            found => found,
        },
    }
}

/// Takes the labels of the arguments. With a reason, those that the model does not describe are
/// fixed.
#[inline(always)]
pub fn begin<E: Element, const N: usize>(
    run: &Run,
    reason: Option<ConcretiseReason>,
    roles: &[Role; N],
    values: impl FnOnce() -> [usize; N],
) -> Args {
    let labels = Args::take();
    if let Some(reason) = reason
        && labels.any()
    {
        fix(run, reason, &labels, roles, &values(), E::SIZE);
    }
    labels
}

/// The library has acted: with the guard held, says how its result depends on the input.
#[inline(always)]
pub fn record(run: &Run, kernel: impl FnOnce(&Run)) {
    answer(0);
    if state::active(run) {
        guarded(kernel);
    }
}

/// Fixes arguments. What could go wrong with other values is asked before.
#[cold]
#[inline(never)]
fn fix(
    run: &Run,
    reason: ConcretiseReason,
    labels: &Args,
    roles: &[Role],
    values: &[usize],
    element: usize,
) {
    check_allocation(run, labels, roles, values);
    guarded(|run| {
        check_extent(run, labels, roles, values, element);
        let fixed = roles.iter().enumerate().filter(|(_, role)| !role.is_described());
        fixed
            .for_each(|(slot, _)| events::concretise(run, labels.label(slot), reason, call_site()));
    });
}

/// So many elements stay within the objects that the buffers of the call are in.
fn check_extent(run: &Run, labels: &Args, roles: &[Role], values: &[usize], element: usize) {
    let value_of = |wanted: Role| {
        let slot = roles.iter().position(|role| *role == wanted)?;
        Some(Value::new(labels.label(slot), *values.get(slot)? as u64))
    };
    let Some(count) = value_of(Role::Extent).filter(|count| count.label != 0) else { return };
    let size = value_of(Role::ElementSize).map_or(element as u64, |size| size.value);
    let bytes = apply_to(run, Op::Mul, 64, count, size);
    let buffers = roles.iter().zip(values).filter(|(role, _)| role.is_accessed());
    buffers.for_each(|(_, start)| address::check_room(run, *start, bytes, call_site()));
}

/// The factors of an allocation's size do not make it too large.
fn check_allocation(run: &Run, labels: &Args, roles: &[Role], values: &[usize]) {
    let sizes = roles.iter().zip(values).enumerate();
    let mut factors = sizes.filter(|(_, (role, _))| **role == Role::ObjectSize);
    let mut factor = || factors.next().map(|(slot, (_, value))| (slot, *value as u64));
    const NO_FACTOR: (usize, u64) = (usize::MAX, 1);
    if let Some((first, size)) = factor() {
        let (second, count) = factor().unwrap_or(NO_FACTOR);
        checks::allocation(run, labels, [second, first], count, size);
    }
}

/// The plain function has no argument for the room, so the labels after it move up.
#[inline(always)]
pub fn drop_room(roles: &[Role]) {
    if calls::__tgi_args_in_flight() != 0 {
        send_others(roles);
    }
}

#[cold]
#[inline(never)]
fn send_others(roles: &[Role]) {
    let labels = Args::take();
    let others = roles.iter().enumerate().filter(|(_, role)| **role != Role::Room);
    for (to, (from, _)) in others.enumerate().take(slots::ARGS) {
        calls::__tgi_send_arg(to as u32, labels.label(from));
    }
}
