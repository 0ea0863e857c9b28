//! Bounds of values of several bytes, from their comparisons with constants.
//!
//! A loop `for (i = 0; i < n; i++)` says in each round that `n` is greater than `i`, and at its end
//! that it is not: from there on the path leaves `n` one value.

use crate::state::Run;
use crate::{lexer, nodes, os, repetitions, values};
use core::cell::Cell;
use core::ptr::null_mut;
use trace::{Label, Node, Op};

/// Values that bounds are known of at most, in one run.
const MAX_KNOWN: u32 = 1 << 16;

/// The bounds of each value that was compared; of none without memory. Which values these are
/// depends on the path alone: runs that take the same one have to record the same.
pub struct KnownBounds {
    /// By label, the number of its bounds. What another run left there is of another label.
    numbers: Cell<*mut u32>,
    known: Cell<*mut Bounds>,
    count: Cell<u32>,
    /// How many labels there is memory for.
    labels: Cell<u32>,
}

/// What the path leaves of a value, read without a sign and with one.
#[derive(Clone, Copy)]
struct Bounds {
    label: Label,
    unsigned: (u64, u64),
    signed: (i64, i64),
}

impl KnownBounds {
    pub const NEW: KnownBounds = KnownBounds {
        numbers: Cell::new(null_mut()),
        known: Cell::new(null_mut()),
        count: Cell::new(0),
        labels: Cell::new(0),
    };

    /// Before the first run.
    pub fn prepare(&self, node_cap: u32) {
        let numbers = os::allocate(node_cap as usize * size_of::<u32>());
        let known = os::allocate(MAX_KNOWN as usize * size_of::<Bounds>());
        if !numbers.is_null() && !known.is_null() {
            self.numbers.set(numbers.cast());
            self.known.set(known.cast());
            self.labels.set(node_cap);
        }
    }

    pub fn reset(&self) {
        self.count.set(0);
    }

    fn number(&self, label: Label) -> Option<&Cell<u32>> {
        // SAFETY: there is a number for each label.
        (label < self.labels.get())
            .then(|| unsafe { &*self.numbers.get().add(label as usize).cast() })
    }

    fn bounds(&self, number: u32) -> &Cell<Bounds> {
        // SAFETY: numbers are below `count`, which is at most `MAX_KNOWN`.
        unsafe { &*self.known.get().add(number as usize).cast() }
    }

    /// The bounds that are known of a label.
    fn find(&self, label: Label) -> Option<&Cell<Bounds>> {
        let number = self.number(label)?.get();
        let known = (number < self.count.get()).then(|| self.bounds(number));
        known.filter(|known| known.get().label == label)
    }

    fn of(&self, run: &Run, label: Label) -> Bounds {
        let known = self.find(label).map(Cell::get);
        known.unwrap_or_else(|| Bounds::any(label, nodes::bits(run, label)))
    }

    fn set(&self, bounds: Bounds) {
        if let Some(known) = self.find(bounds.label) {
            return known.set(bounds);
        }
        let count = self.count.get();
        let Some(number) = self.number(bounds.label).filter(|_| count < MAX_KNOWN) else { return };
        number.set(count);
        self.count.set(count + 1);
        self.bounds(count).set(bounds);
    }
}

impl Bounds {
    fn any(label: Label, bits: u32) -> Bounds {
        let mask = values::mask(bits);
        let most = (mask >> 1) as i64;
        Bounds { label, unsigned: (0, mask), signed: (-most - 1, most) }
    }

    fn is_one(&self) -> bool {
        self.unsigned.0 == self.unsigned.1 || self.signed.0 == self.signed.1
    }
}

/// A comparison of a value with a constant.
#[derive(Clone, Copy)]
struct Comparison {
    op: Op,
    value: Label,
    constant: u64,
    /// The constant is the first operand.
    is_first: bool,
    bits: u32,
}

impl Comparison {
    fn of(run: &Run, condition: &Node) -> Option<Comparison> {
        let op = Op::from_byte(condition.op)?;
        if !matches!(op, Op::Eq | Op::Ult | Op::Ule | Op::Slt | Op::Sle) {
            return None;
        }
        let constant = |label| nodes::as_constant(run, label);
        let (value, constant, is_first) = match (constant(condition.a), constant(condition.b)) {
            (None, Some(constant)) => (condition.a, constant, false),
            (Some(constant), None) => (condition.b, constant, true),
            _ => return None,
        };
        let bits = nodes::bits(run, value);
        (bits <= 64).then_some(Comparison { op, value, constant, is_first, bits })
    }

    /// The bounds where the comparison has this value.
    fn narrow(&self, bounds: Bounds, holds: bool) -> Bounds {
        let unsigned = self.constant & values::mask(self.bits);
        let signed = values::sign_extend(unsigned, self.bits);
        let is_strict = matches!(self.op, Op::Ult | Op::Slt) == holds;
        let side = Side { is_greater: self.is_first == holds, is_strict };
        match self.op {
            Op::Eq if holds => Bounds {
                unsigned: within(bounds.unsigned, unsigned),
                signed: within(bounds.signed, signed),
                ..bounds
            },
            Op::Eq => Bounds {
                unsigned: without(bounds.unsigned, unsigned, |x| x + 1, |x| x - 1),
                signed: without(bounds.signed, signed, |x| x + 1, |x| x - 1),
                ..bounds
            },
            Op::Ult | Op::Ule => {
                let to = side.of(unsigned, unsigned.checked_add(1), unsigned.checked_sub(1));
                Bounds { unsigned: side.cut(bounds.unsigned, to), ..bounds }
            }
            _ => {
                let to = side.of(signed, signed.checked_add(1), signed.checked_sub(1));
                Bounds { signed: side.cut(bounds.signed, to), ..bounds }
            }
        }
    }
}

/// On which side of a constant a value is.
#[derive(Clone, Copy)]
struct Side {
    is_greater: bool,
    /// It is not the constant itself.
    is_strict: bool,
}

impl Side {
    /// The first number on this side; `None` if there is none.
    fn of<T>(&self, constant: T, next: Option<T>, last: Option<T>) -> Option<T> {
        match (self.is_strict, self.is_greater) {
            (false, _) => Some(constant),
            (true, true) => next,
            (true, false) => last,
        }
    }

    fn cut<T: Ord + Copy>(&self, (least, most): (T, T), to: Option<T>) -> (T, T) {
        match (to, self.is_greater) {
            (Some(to), true) => (least.max(to), most),
            (Some(to), false) => (least, most.min(to)),
            (None, _) => (least, most),
        }
    }
}

/// Empty where the value is not among them.
fn within<T: Ord + Copy>((least, most): (T, T), value: T) -> (T, T) {
    (least.max(value), most.min(value))
}

fn without<T: Ord + Copy>(
    (least, most): (T, T),
    value: T,
    next: fn(T) -> T,
    last: fn(T) -> T,
) -> (T, T) {
    match () {
        _ if least >= most => (least, most),
        _ if value == least => (next(least), most),
        _ if value == most => (least, last(most)),
        _ => (least, most),
    }
}

/// The path goes where a condition of several bytes has this value: a label of which only one value
/// is left now.
pub fn learn(run: &Run, condition: &Node, holds: bool) -> Option<Label> {
    if lexer::inside(run) || repetitions::any(run) {
        return None;
    }
    let comparison = Comparison::of(run, condition)?;
    let known = &run.facts.bounds;
    let bounds = comparison.narrow(known.of(run, comparison.value), holds);
    known.set(bounds);
    bounds.is_one().then_some(comparison.value)
}

/// What a condition is for all values that the path leaves, if it is the same for all.
pub fn decide(run: &Run, condition: &Node) -> Option<bool> {
    if lexer::inside(run) || repetitions::any(run) {
        return None;
    }
    let comparison = Comparison::of(run, condition)?;
    let bounds = run.facts.bounds.of(run, comparison.value);
    let is_empty = |holds| {
        let Bounds { unsigned, signed, .. } = comparison.narrow(bounds, holds);
        unsigned.0 > unsigned.1 || signed.0 > signed.1
    };
    [true, false].into_iter().find(|holds| is_empty(!holds))
}
