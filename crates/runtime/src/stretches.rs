//! Length abstraction: a *stretch* is a run of equal bytes (*filler*) in the input whose number is a variable of the path condition, the *count*.
//!
//! Filler bytes have labels, so that they are known again wherever the program copies them, but these labels are constants: no
//! condition on filler becomes a constraint. A text that holds the whole stretch is as much longer or shorter than it is on this run as
//! the stretch is. What is computed from such lengths depends on the count; addresses that do move with the bytes that they
//! point to, so they are followed and not fixed (`settled`). Everything but [`find`] needs the runtime's guard.

mod allocations;
mod settled;

pub use allocations::{ENOUGH, note_allocation, room};
pub use settled::{collapsed, settled};

use crate::build::{self, Value};
use crate::state::STATE;
use crate::{nodes, shadow, shapes};
use trace::{Label, Node, Op, marks};

/// The stretch of this run.
struct Stretch {
    /// Of its first byte; the others follow.
    first: Label,
    /// How many bytes it has on this run; 0 if there is no stretch.
    count: u32,
    /// Of the count: its bytes, low and high, both together, and extended to 64 bits.
    parts: [Label; 4],
    /// By how much it is longer than on this run.
    more: Label,
}

static mut STRETCH: Stretch = Stretch { first: 0, count: 0, parts: [0; 4], more: 0 };

/// First byte and number of bytes of the stretch that the driver marked.
pub unsafe fn find(input_len: u32) -> Option<(u32, u32)> {
    unsafe {
        if STATE.holes.is_null() {
            return None;
        }
        let is_filler = |i: &u32| *STATE.holes.add(*i as usize) == marks::FILLER;
        let first = (0..input_len).find(is_filler)?;
        Some((first, (first..input_len).take_while(is_filler).count() as u32))
    }
}

/// Makes the nodes of a stretch, the others of the input being there.
pub unsafe fn start(stretch: Option<(u32, u32)>) {
    unsafe {
        allocations::forget();
        STRETCH.count = 0;
        let Some((first, count)) = stretch else { return };
        for i in first..first + count {
            let filler = nodes::value(1 + i);
            *STATE.nodes.add(1 + i as usize) = Node::constant(8, filler);
        }
        let behind = STATE.input_len;
        for (i, byte) in (behind..).zip((count as u16).to_le_bytes()) {
            nodes::input_node(i, byte);
        }
        let both = nodes::concat(2 + behind, 1 + behind, 16, count as u64);
        let wide = nodes::make(Node::unary(Op::ZExt, 64, both), count as u64);
        let now = Value::concrete(count as u64);
        let more = build::binary(Op::Sub, 64, Value::new(wide, count as u64), now);
        STRETCH = Stretch { first: 1 + first, count, parts: [1 + behind, 2 + behind, both, wide], more };
    }
}

#[inline(always)]
pub unsafe fn any() -> bool {
    unsafe { STRETCH.count != 0 }
}

#[inline(always)]
pub unsafe fn is_filler(label: Label) -> bool {
    unsafe { label.wrapping_sub(STRETCH.first) < STRETCH.count }
}

/// How many casts and concatenations around filler are looked through.
const DEPTH: u32 = 16;

/// Whether an expression is the same on every input: a constant, or made of filler.
#[inline]
pub unsafe fn is_fixed(label: Label) -> bool {
    unsafe {
        match shapes::split(label) {
            Some(at) => shapes::varying(at) == 0,
            None => is_fixed_within(label, if any() { DEPTH } else { 0 }),
        }
    }
}

unsafe fn is_fixed_within(label: Label, depth: u32) -> bool {
    unsafe {
        let node = nodes::node(label);
        match Op::from_byte(node.op) {
            Some(Op::Const) => true,
            Some(Op::ZExt | Op::SExt | Op::Extract) if depth > 0 => is_fixed_within(node.a, depth - 1),
            Some(Op::Concat) if depth > 0 => {
                is_fixed_within(node.a, depth - 1) && is_fixed_within(node.b, depth - 1)
            }
            _ => false,
        }
    }
}

/// An operand without its label, if that is fixed.
#[inline(always)]
pub unsafe fn plain(x: Value) -> Value {
    unsafe { if any() && x.label != 0 && is_fixed(x.label) { Value::concrete(x.value) } else { x } }
}

/// How often a text may hold the whole stretch.
const MOST: usize = 4;

/// Where a text has passed the whole stretch.
#[derive(Clone, Copy, Default)]
pub struct Passed {
    ends: [usize; MOST],
    used: usize,
    /// Where the stretch begins that goes on behind the text.
    cut: Option<usize>,
}

impl Passed {
    pub const NONE: Passed = Passed { ends: [0; MOST], used: 0, cut: None };

    fn ends(&self) -> &[usize] {
        self.ends.get(..self.used).unwrap_or(&[])
    }

    /// The number of the byte that has number `i` on this run.
    pub unsafe fn place(&self, i: usize) -> Value {
        unsafe { grown(Value::concrete(i as u64), self.ends().iter().filter(|end| **end <= i).count()) }
    }

    /// The same where the last filler byte was looked for and not the first.
    pub unsafe fn last_place(&self, i: usize) -> Value {
        unsafe { grown(Value::concrete(i as u64), self.ends().iter().filter(|end| **end <= i + 1).count()) }
    }

    /// The text holds the whole stretch. Then where a search in it ends is a branch for each byte, so that conditions on bytes and on
    /// lengths stay apart.
    pub fn any(&self) -> bool {
        self.used != 0
    }
}

/// A length that grows with the stretch, so many times.
unsafe fn grown(length: Value, times: usize) -> Value {
    unsafe {
        let more = Value::new(STRETCH.more, 0);
        let add = |sum: Value, _| Value::new(build::binary(Op::Add, 64, sum, more), sum.value);
        (0..times).fold(length, add)
    }
}

/// Where the `size` bytes at `start` hold the whole stretch.
pub unsafe fn passed(start: *const u8, size: usize) -> Passed {
    unsafe {
        let mut passed = Passed::NONE;
        if !any() {
            return passed;
        }
        let mut run = 0;
        for i in 0..size {
            let label = shadow::label_of_byte(start as usize + i);
            run = match label.wrapping_sub(STRETCH.first) {
                next if next == run => run + 1,
                0 => 1,
                _ => 0,
            };
            if run == STRETCH.count {
                run = 0;
                if let Some(end) = passed.ends.get_mut(passed.used) {
                    *end = i + 1;
                    passed.used += 1;
                }
            }
        }
        passed.cut = (run != 0).then(|| size - run as usize);
        passed
    }
}

/// How long the text is that has `size` bytes on this run.
pub unsafe fn length(start: *const u8, size: usize) -> Value {
    unsafe { passed(start, size).place(size) }
}

/// At least how many bytes there are of which `size` were looked at: a stretch that goes on behind them is counted to its end.
pub unsafe fn reach(start: *const u8, size: usize) -> Value {
    unsafe {
        let passed = passed(start, size);
        match passed.cut {
            Some(cut) => grown(passed.place(cut + STRETCH.count as usize), 1),
            None => passed.place(size),
        }
    }
}

/// How many bytes a copy has that is as long as the text in it: 0 ends the text, if anything does. Copies of whole buffers are
/// as long on every input.
pub unsafe fn copied(start: *const u8, size: usize) -> Value {
    unsafe {
        let is_text = any() && (1..size).all(|i| *start.add(i - 1) != 0);
        if is_text { length(start, size) } else { Value::concrete(size as u64) }
    }
}

/// Where an input byte is on other inputs, and with the input's length, how long they are.
pub unsafe fn input_place(index: u64) -> Value {
    unsafe {
        let is_behind = any() && index + 1 >= (STRETCH.first + STRETCH.count) as u64;
        grown(Value::concrete(index), usize::from(is_behind))
    }
}

/// How long the line is that begins with an input byte, its delimiter included.
pub unsafe fn line_length(start: u64, delimiter: u8) -> Value {
    unsafe {
        let input = STATE.header.cast::<u8>().add((*STATE.header).input.offset as usize);
        let (len, mut end) = (STATE.input_len as u64, start);
        while end < len && *input.add(end as usize) != delimiter {
            end += 1;
        }
        let (start, end) = (input_place(start), input_place((end + 1).min(len)));
        let length = end.value.wrapping_sub(start.value);
        Value::new(build::binary(Op::Sub, 64, end, start), length)
    }
}
