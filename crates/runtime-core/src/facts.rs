//! What the path implies: all that is known of inputs that take it.
//!
//! A label can be *fixed* (it has one value on this path), a condition *decided* (all that its byte
//! can be agree on it, or all values between the bounds of what it compares). Bytes have domains
//! ([`domains`]), the length has a range ([`lengths`]), values of several bytes have [`bounds`] and
//! are fixed one by one. What follows from the path is no constraint: its
//! other side cannot be reached from here, and what depends on it does not depend on the input.
//!
//! This is the only place where facts are learnt. A memo table may keep what a branch would teach
//! ([`domains::Condition`]), and has it applied here.
//!
//! What a lexer asks that the user named does not count outside of it, nor the other way round.

pub mod bounds;
pub mod domains;
pub mod lengths;

use crate::shapes::{self, memo};
use crate::state::Run;
use crate::{address, lexer, nodes, os, repetitions};
use bounds::KnownBounds;
use core::cell::Cell;
use core::ptr::null_mut;
use domains::{Domains, Mark};
use lengths::LengthRange;
use trace::{LENGTH, Label, Node, Op, SHAPED};

pub struct Facts {
    /// Labels that were recorded as a branch or concretised.
    recorded: Labels,
    /// Labels that equal a constant on this path, because a branch or switch said so.
    fixed: Labels,
    /// Labels that were found not to follow, with the number of values that were fixed by then.
    open: [Cell<(Label, u32)>; MAX_OPEN],
    /// How often something became fixed in this run.
    times_fixed: Cell<u32>,
    bounds: KnownBounds,
    pub domains: Domains,
    pub lengths: LengthRange,
}

const MAX_OPEN: usize = 256;
/// How deep expressions are looked into by [`follows`].
const DEPTH: u32 = 8;

impl Facts {
    pub const NEW: Facts = Facts {
        recorded: Labels::NONE,
        fixed: Labels::NONE,
        open: [const { Cell::new((0, 0)) }; MAX_OPEN],
        times_fixed: Cell::new(0),
        bounds: KnownBounds::NEW,
        domains: Domains::NEW,
        lengths: LengthRange::NEW,
    };

    /// Before the first run.
    pub fn prepare(&self, node_cap: u32) {
        self.recorded.prepare(node_cap);
        self.fixed.prepare(node_cap);
        self.bounds.prepare(node_cap);
    }

    /// A run ends that had this many labels.
    pub fn reset(&self, labels: u32) {
        self.recorded.empty(labels);
        self.fixed.empty(labels);
        self.open.iter().for_each(|open| open.set((0, 0)));
        self.times_fixed.set(0);
        self.bounds.reset();
    }

    /// Something is fixed that was not.
    #[inline(always)]
    fn note_fixed(&self) {
        self.times_fixed.update(|times| times + 1);
    }
}

/// What a condition fixes where it holds: `x == constant` fixes `x`.
#[inline(always)]
fn fixed_where_it_holds(condition: &Node, is_constant: impl Fn(u32) -> bool) -> Option<u32> {
    (condition.op == Op::Eq as u8 && is_constant(condition.b)).then_some(condition.a)
}

/// The path goes where a condition of several bytes has its value.
pub fn branch_on_node(run: &Run, condition: Label, taken: bool) {
    let node = nodes::node(run, condition);
    let is_constant = |label| nodes::as_constant(run, label).is_some();
    if taken && let Some(operand) = fixed_where_it_holds(&node, is_constant) {
        fix(run, operand);
    } else if let Some(operand) = bounds::learn(run, &node, taken) {
        fix_terms(run, operand);
    }
}

/// Whether the path says already that a condition of several bytes has this value.
pub fn is_decided(run: &Run, condition: Label, value: bool) -> bool {
    bounds::decide(run, &nodes::node(run, condition)) == Some(value)
}

/// As [`fix`], with what a constant was added to.
fn fix_terms(run: &Run, label: Label) {
    fix(run, label);
    let node = nodes::node(run, label);
    if node.op == Op::Add as u8 && nodes::as_constant(run, node.b).is_some() {
        fix(run, node.a);
    }
}

/// Whether an event on this label says anything that none before it says.
pub fn is_first_time(run: &Run, label: Label) -> bool {
    lexer::inside(run)
        || match shapes::split(run, label) {
            Some(at) => domains::mark(run, Mark::Recorded, at),
            None => crate::lengths::split(label).is_some() || run.facts.recorded.insert(label),
        }
}

/// From here on the label equals its present value on every input that takes this path, so that
/// nothing that is made of it is worth an expression. Inputs that leave the path at the branch that
/// says so are another matter.
pub fn fix(run: &Run, label: Label) {
    let of = extended(run, label);
    if !lexer::inside(run) && !repetitions::any(run) && of & (SHAPED | LENGTH) == 0 {
        run.facts.fixed.insert(of);
        run.facts.note_fixed();
    }
}

/// Whether a label has the same value on all inputs that take this path.
#[inline(always)]
pub fn is_fixed(run: &Run, label: Label) -> bool {
    match shapes::split(run, label) {
        Some(at) => memo::is_fixed(run, at),
        None => label != 0 && label & LENGTH == 0 && is_fixed_node(run, extended(run, label)),
    }
}

/// A node may extend what has none.
#[inline(always)]
fn is_fixed_node(run: &Run, label: Label) -> bool {
    label & (SHAPED | LENGTH) == 0 && run.facts.fixed.contains(label)
}

/// As [`is_fixed`], also for what was computed before its operands were fixed: the length of a rule
/// that is looked up before a switch on the rule.
pub fn follows(run: &Run, label: Label) -> bool {
    if is_fixed(run, label) || label & (SHAPED | LENGTH) != 0 {
        return is_fixed(run, label);
    }
    let (open, now) =
        (&run.facts.open[label as usize % MAX_OPEN], (label, run.facts.times_fixed.get()));
    if open.get() == now {
        return false;
    }
    let follows = is_made_of_fixed(run, label, DEPTH);
    if !follows {
        open.set(now);
    }
    follows
}

fn is_made_of_fixed(run: &Run, label: Label, depth: u32) -> bool {
    let node = nodes::node(run, label);
    let Some(op) = Op::from_byte(node.op).filter(|op| op.arity() > 0 && depth > 0) else {
        return node.op == Op::Const as u8;
    };
    if op == Op::Read && !address::is_concrete(run, node.b) || repetitions::any(run) {
        return false;
    }
    // The last operand is mostly the newest, and the first to tell that the answer is no.
    let are_fixed = [node.a, node.b, node.c].into_iter().take(op.arity()).rev().all(|operand| {
        is_fixed(run, operand)
            || operand & (SHAPED | LENGTH) == 0 && is_made_of_fixed(run, operand, depth - 1)
    });
    if are_fixed {
        fix(run, label);
    }
    are_fixed
}

/// What the label extends, if it does.
#[inline(always)]
fn extended(run: &Run, label: Label) -> Label {
    let node = nodes::node(run, label);
    if node.op == Op::ZExt as u8 || node.op == Op::SExt as u8 { node.a } else { label }
}

/// A set of labels of nodes, a bit each; empty for ever without memory.
struct Labels(Cell<*mut u64>);

impl Labels {
    const NONE: Labels = Labels(Cell::new(null_mut()));

    fn prepare(&self, node_cap: u32) {
        let words = os::allocate(node_cap as usize / 8 + 8);
        self.0.set(words.cast());
        if !words.is_null() {
            os::populate(words.cast(), size_of::<u64>());
        }
    }

    /// There were this many labels.
    fn empty(&self, labels: u32) {
        if !self.0.get().is_null() {
            // SAFETY: there is a bit for each label.
            unsafe { os::memset(self.0.get().cast(), 0, labels as usize / 8 + 8) };
        }
    }

    /// The word that has the label's bit.
    #[inline(always)]
    fn word(&self, label: Label) -> Option<&Cell<u64>> {
        let words = self.0.get();
        // SAFETY: labels are below the number of nodes that there was memory prepared for.
        (!words.is_null()).then(|| unsafe { &*words.add(label as usize / 64).cast() })
    }

    #[inline(always)]
    fn contains(&self, label: Label) -> bool {
        self.word(label).is_some_and(|word| word.get() >> (label % 64) & 1 == 1)
    }

    /// True if the label was not in the set.
    fn insert(&self, label: Label) -> bool {
        let Some(word) = self.word(label) else { return true };
        let with = word.get() | 1 << (label % 64);
        word.replace(with) != with
    }
}
