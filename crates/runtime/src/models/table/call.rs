//! What every model does around its kernel: labels of arguments in, guard, label of the result out.

use super::Role;
use crate::build::Value;
use crate::calls::{self, Args};
use crate::models::element::Element;
use crate::models::logic::apply_to;
use crate::models::{answer, call_site, guarded};
use crate::{address, checks, events, state};
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
pub unsafe fn begin<E: Element, const N: usize>(
    reason: Option<ConcretiseReason>,
    roles: &[Role; N],
    values: impl FnOnce() -> [usize; N],
) -> Args {
    unsafe {
        let labels = Args::take();
        if let Some(reason) = reason
            && labels.any()
        {
            fix(reason, &labels, roles, &values(), E::SIZE);
        }
        labels
    }
}

/// The library has acted: with the guard held, says how its result depends on the input.
#[inline(always)]
pub unsafe fn record(kernel: impl FnOnce()) {
    unsafe {
        answer(0);
        if state::active() {
            guarded(kernel);
        }
    }
}

/// Fixes arguments. What could go wrong with other values is asked before.
#[cold]
#[inline(never)]
unsafe fn fix(reason: ConcretiseReason, labels: &Args, roles: &[Role], values: &[usize], element: usize) {
    unsafe {
        check_allocation(labels, roles, values);
        guarded(|| {
            check_extent(labels, roles, values, element);
            let fixed = roles.iter().enumerate().filter(|(_, role)| !role.is_described());
            fixed.for_each(|(slot, _)| events::concretise(labels.label(slot), reason, call_site()));
        });
    }
}

/// So many elements stay within the objects that the buffers of the call are in.
unsafe fn check_extent(labels: &Args, roles: &[Role], values: &[usize], element: usize) {
    unsafe {
        let value_of = |wanted: Role| {
            let slot = roles.iter().position(|role| *role == wanted)?;
            Some(Value::new(labels.label(slot), *values.get(slot)? as u64))
        };
        let Some(count) = value_of(Role::Extent).filter(|count| count.label != 0) else { return };
        let size = value_of(Role::ElementSize).map_or(element as u64, |size| size.value);
        let bytes = apply_to(Op::Mul, 64, count, size);
        let buffers = roles.iter().zip(values).filter(|(role, _)| role.is_accessed());
        buffers.for_each(|(_, start)| address::check_room(*start, bytes, call_site()));
    }
}

/// The factors of an allocation's size do not make it too large.
unsafe fn check_allocation(labels: &Args, roles: &[Role], values: &[usize]) {
    let sizes = roles.iter().zip(values).enumerate();
    let mut factors = sizes.filter(|(_, (role, _))| **role == Role::ObjectSize);
    let mut factor = || factors.next().map(|(slot, (_, value))| (slot, *value as u64));
    const NO_FACTOR: (usize, u64) = (usize::MAX, 1);
    if let Some((first, size)) = factor() {
        let (second, count) = factor().unwrap_or(NO_FACTOR);
        unsafe { checks::allocation(labels, [second, first], count, size) };
    }
}

/// The plain function has no argument for the room, so the labels after it move up.
#[inline(always)]
pub unsafe fn drop_room(roles: &[Role]) {
    unsafe {
        if calls::__tgi_args_in_flight() != 0 {
            send_others(roles);
        }
    }
}

#[cold]
#[inline(never)]
unsafe fn send_others(roles: &[Role]) {
    unsafe {
        let labels = Args::take();
        let others = roles.iter().enumerate().filter(|(_, role)| **role != Role::Room);
        for (to, (from, _)) in others.enumerate().take(slots::ARGS) {
            calls::__tgi_send_arg(to as u32, labels.label(from));
        }
    }
}
