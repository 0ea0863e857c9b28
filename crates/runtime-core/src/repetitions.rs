//! Length abstraction: a *repetition* is a run of equal bytes (*filler*) in the input whose number
//! is a variable of the path condition, the *count*.
//!
//! Filler bytes have labels, so that they are known again wherever the program copies them, but
//! these labels are constants: no condition on filler becomes a constraint. A text that holds the
//! whole repetition is as much longer or shorter than it is on this run as the repetition is. What
//! is computed from such lengths depends on the count; addresses that do move with the bytes that
//! they point to, so they are followed and not fixed (`concretised`). Everything but [`find`] needs
//! the runtime's guard.

pub mod allocations;
mod concretised;

pub use allocations::{ENOUGH, note_allocation, room};
pub use concretised::{collapsed, concretised};

use crate::build::{self, Value};
use crate::memory::byte;
use crate::state::Run;
use crate::{nodes, shadow, shapes};
use trace::{Label, Node, Op, marks};

/// The repetition of a run.
#[derive(Clone, Copy)]
pub struct Repetition {
    /// Of its first byte; the others follow.
    first: Label,
    /// How many bytes it has on this run; 0 if there is no repetition.
    count: u32,
    /// Of the count: its bytes, low and high, both together, and extended to 64 bits.
    parts: [Label; 4],
    /// By how much it is longer than on this run.
    more: Label,
}

impl Repetition {
    pub const NONE: Repetition = Repetition { first: 0, count: 0, parts: [0; 4], more: 0 };
}

/// First byte and number of bytes of the repetition that the driver marked.
pub fn find(run: &Run, input_len: u32) -> Option<(u32, u32)> {
    if !run.segment.has_holes() {
        return None;
    }
    let is_filler = |i: &u32| run.segment.mark(*i) == marks::FILLER;
    let first = (0..input_len).find(is_filler)?;
    Some((first, (first..input_len).take_while(is_filler).count() as u32))
}

/// Makes the nodes of a repetition, the others of the input being there.
pub fn start(run: &Run, repetition: Option<(u32, u32)>) {
    run.allocations.reset();
    run.repetition.set(Repetition::NONE);
    let Some((first, count)) = repetition else { return };
    for i in first..first + count {
        let filler = nodes::value(run, 1 + i);
        run.segment.set_node(1 + i, Node::constant(8, filler), filler);
    }
    let end = run.segment.input_len();
    for (i, byte) in (end..).zip((count as u16).to_le_bytes()) {
        nodes::input_node(run, i, byte);
    }
    let both = nodes::concat(run, 2 + end, 1 + end, 16, count as u64);
    let wide = nodes::make(run, Node::unary(Op::ZExt, 64, both), count as u64);
    let now = Value::concrete(count as u64);
    let more = build::binary(run, Op::Sub, 64, Value::new(wide, count as u64), now);
    run.repetition.set(Repetition {
        first: 1 + first,
        count,
        parts: [1 + end, 2 + end, both, wide],
        more,
    });
}

#[inline(always)]
pub fn any(run: &Run) -> bool {
    run.repetition.get().count != 0
}

#[inline(always)]
pub fn is_filler(run: &Run, label: Label) -> bool {
    let repetition = run.repetition.get();
    label.wrapping_sub(repetition.first) < repetition.count
}

/// How many casts and concatenations around filler are looked through.
const DEPTH: u32 = 16;

/// Whether an expression is the same on every input: a constant, or made of filler.
#[inline]
pub fn is_fixed(run: &Run, label: Label) -> bool {
    match shapes::split(run, label) {
        Some(at) => shapes::varying(run, at) == 0,
        None => is_fixed_within(run, label, if any(run) { DEPTH } else { 0 }),
    }
}

fn is_fixed_within(run: &Run, label: Label, depth: u32) -> bool {
    let node = nodes::node(run, label);
    match Op::from_byte(node.op) {
        Some(Op::Const) => true,
        Some(Op::ZExt | Op::SExt | Op::Extract) if depth > 0 => {
            is_fixed_within(run, node.a, depth - 1)
        }
        Some(Op::Concat) if depth > 0 => {
            is_fixed_within(run, node.a, depth - 1) && is_fixed_within(run, node.b, depth - 1)
        }
        _ => false,
    }
}

/// An operand without its label, if that is fixed.
#[inline(always)]
pub fn plain(run: &Run, x: Value) -> Value {
    if any(run) && x.label != 0 && is_fixed(run, x.label) { Value::concrete(x.value) } else { x }
}

/// How often a text may hold the whole repetition.
const MAX_PASSED: usize = 4;

/// Where a text has passed the whole repetition.
#[derive(Clone, Copy, Default)]
pub struct Passed {
    ends: [usize; MAX_PASSED],
    used: usize,
    /// Where the repetition begins that goes on after the text.
    cut: Option<usize>,
}

impl Passed {
    pub const NONE: Passed = Passed { ends: [0; MAX_PASSED], used: 0, cut: None };

    /// How often the repetition has ended where byte `i` begins.
    fn times(&self, i: usize) -> usize {
        self.ends.iter().take(self.used).filter(|end| **end <= i).count()
    }

    /// The number of the byte that has number `i` on this run.
    pub fn place(&self, run: &Run, i: usize) -> Value {
        grown(run, Value::concrete(i as u64), self.times(i))
    }

    /// The same where the last filler byte was looked for and not the first.
    pub fn last_place(&self, run: &Run, i: usize) -> Value {
        grown(run, Value::concrete(i as u64), self.times(i + 1))
    }

    /// The text holds the whole repetition. Then where a search in it ends is a branch for each
    /// byte, so that conditions on bytes and on lengths stay apart.
    pub fn any(&self) -> bool {
        self.used != 0
    }
}

/// A length that grows with the repetition, so many times.
fn grown(run: &Run, length: Value, times: usize) -> Value {
    let more = Value::new(run.repetition.get().more, 0);
    let add = |sum: Value, _| Value::new(build::binary(run, Op::Add, 64, sum, more), sum.value);
    (0..times).fold(length, add)
}

/// Where the `size` bytes at `start` hold the whole repetition.
pub fn passed(run: &Run, start: usize, size: usize) -> Passed {
    let mut passed = Passed::NONE;
    if !any(run) {
        return passed;
    }
    let Repetition { first, count, .. } = run.repetition.get();
    let mut seen = 0;
    for i in 0..size {
        seen = match shadow::label_of_byte(run, start + i).wrapping_sub(first) {
            next if next == seen => seen + 1,
            0 => 1,
            _ => 0,
        };
        if seen == count {
            seen = 0;
            if let Some(end) = passed.ends.get_mut(passed.used) {
                *end = i + 1;
                passed.used += 1;
            }
        }
    }
    passed.cut = (seen != 0).then(|| size - seen as usize);
    passed
}

/// How long the text is that has `size` bytes on this run.
pub fn length(run: &Run, start: usize, size: usize) -> Value {
    passed(run, start, size).place(run, size)
}

/// At least how many bytes there are of which `size` were looked at: a repetition that goes on
/// after them is counted to its end.
pub fn reach(run: &Run, start: usize, size: usize) -> Value {
    let passed = passed(run, start, size);
    match passed.cut {
        Some(cut) => grown(run, passed.place(run, cut + run.repetition.get().count as usize), 1),
        None => passed.place(run, size),
    }
}

/// How many bytes a copy has that is as long as the text in it: 0 ends the text, if anything does.
/// Copies of whole buffers are as long on every input.
pub fn copied(run: &Run, start: usize, size: usize) -> Value {
    let is_text = any(run) && (1..size).all(|i| byte(start + i - 1) != 0);
    if is_text { length(run, start, size) } else { Value::concrete(size as u64) }
}

/// Where an input byte is on other inputs, and with the input's length, how long they are.
pub fn input_place(run: &Run, index: u64) -> Value {
    let repetition = run.repetition.get();
    let is_after = any(run) && index + 1 >= (repetition.first + repetition.count) as u64;
    grown(run, Value::concrete(index), usize::from(is_after))
}

/// How long the line is that begins with an input byte, its delimiter included.
pub fn line_length(run: &Run, start: u64, delimiter: u8) -> Value {
    let input = run.segment.input();
    let (len, mut end) = (run.segment.input_len() as u64, start);
    // SAFETY: the input has so many bytes in the segment.
    while end < len && unsafe { *input.add(end as usize) } != delimiter {
        end += 1;
    }
    let (start, end) = (input_place(run, start), input_place(run, (end + 1).min(len)));
    let length = end.value.wrapping_sub(start.value);
    Value::new(build::binary(run, Op::Sub, 64, end, start), length)
}
