//! Length abstraction: a *stretch* is a run of equal bytes (*filler*) in the input whose number is a variable of the path condition, the *count*.
//!
//! Filler bytes have labels, so that they are known again wherever the program copies them, but these labels are constants: no
//! condition on filler becomes a constraint. A text that holds the whole stretch is as much longer or shorter than it is on this run as
//! the stretch is. What is computed from such lengths depends on the count; addresses that do move with the bytes that they
//! point to, so they are followed and not fixed ([`settled`], [`collapsed`]). Everything but [`find`] needs the runtime's guard.

use crate::build::{self, Value};
use crate::objects::Object;
use crate::state::STATE;
use crate::values;
use crate::{nodes, shadow};
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
        ALLOCATIONS = [(0, 0); MOST_ALLOCATIONS];
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
/// How many operators around the count are.
const OPERATORS: u32 = 8;

/// Whether an expression is the same on every input: a constant, or made of filler.
#[inline]
pub unsafe fn is_fixed(label: Label) -> bool {
    unsafe { is_fixed_within(label, if any() { DEPTH } else { 0 }) }
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

/// The expression with the count fixed to what it is; 0 if nothing else is symbolic in it.
pub unsafe fn settled(label: Label) -> Label {
    unsafe { if any() { without_count(label, STRETCH.count as u64).label } else { label } }
}

/// The expression with a count of 0, which has the same value however long the stretch is.
pub unsafe fn collapsed(label: Label) -> Label {
    unsafe { if any() { without_count(label, 0).label } else { label } }
}

unsafe fn without_count(label: Label, count: u64) -> Value {
    unsafe { Fixed { count }.value(label, OPERATORS) }
}

/// Puts a number in the place of the count.
struct Fixed {
    count: u64,
}

impl Fixed {
    unsafe fn value(&self, label: Label, depth: u32) -> Value {
        unsafe {
            let value = Value::new(label, nodes::value(label));
            if label == 0 || is_fixed(label) {
                return value.with_label(0);
            }
            if let Some(part) = STRETCH.parts.iter().position(|part| *part == label) {
                let [low, high] = (self.count as u16).to_le_bytes().map(u64::from);
                return Value::concrete([low, high, self.count, self.count][part & 3]);
            }
            let node = nodes::node(label);
            let is_narrow = node.bits <= 64 && node.op != Op::Const as u8;
            match Op::from_byte(node.op) {
                Some(op) if depth > 0 && is_narrow => self.rebuilt(op, &node, depth - 1).unwrap_or(value),
                _ => value,
            }
        }
    }

    /// An expression whose operands lost the count; `None` if there is none in them.
    unsafe fn rebuilt(&self, op: Op, node: &Node, depth: u32) -> Option<Value> {
        unsafe {
            let bits = node.bits as u32;
            let operand = |label: Label| self.value(label, depth);
            let is_same = |x: Value, was: Label| x.label == was || x.label == 0 && is_fixed(was);
            match op {
                Op::ZExt | Op::SExt | Op::Extract | Op::Not if nodes::bits(node.a) <= 64 => {
                    let x = operand(node.a);
                    (!is_same(x, node.a)).then(|| cast(op, nodes::bits(node.a), node, x))
                }
                Op::Ite => {
                    let [condition, yes, no] = [node.a, node.b, node.c].map(operand);
                    let same = is_same(condition, node.a) && is_same(yes, node.b) && is_same(no, node.c);
                    let value = if condition.value & 1 == 1 { yes.value } else { no.value };
                    (!same).then(|| Value::new(build::ite(bits, condition, yes, no), value))
                }
                op if values::is_binary(op) && nodes::bits(node.a) <= 64 => {
                    let [a, b] = [node.a, node.b].map(operand);
                    let same = is_same(a, node.a) && is_same(b, node.b);
                    let bits = nodes::bits(node.a);
                    let value = values::binary(op, bits, a.value, b.value);
                    (!same).then(|| Value::new(build::binary(op, bits, a, b), value))
                }
                _ => None,
            }
        }
    }
}

/// The node of a cast or a negation with another operand.
unsafe fn cast(op: Op, from: u32, node: &Node, x: Value) -> Value {
    unsafe {
        let bits = node.bits as u32;
        let value = match op {
            Op::SExt => values::sign_extend(x.value, from) as u64,
            Op::Not => !x.value,
            Op::Extract => x.value >> node.aux,
            _ => x.value,
        };
        let value = value & values::mask(bits);
        let label = match op {
            _ if x.label == 0 => 0,
            Op::ZExt => build::zext(from, bits, x),
            Op::SExt => build::sext(from, bits, x),
            Op::Not => build::not(bits, x),
            _ => nodes::extract(x.label, node.aux as u32, bits, value),
        };
        Value::new(label, value)
    }
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

/// Objects whose size depends on the count, the oldest overwritten first.
const MOST_ALLOCATIONS: usize = 64;
static mut ALLOCATIONS: [(usize, Label); MOST_ALLOCATIONS] = [(0, 0); MOST_ALLOCATIONS];
static mut NEXT_ALLOCATION: usize = 0;

/// A library function gives the object as much room as is needed.
pub const ENOUGH: Label = Label::MAX;

/// An object came to be, with a size that has this label.
pub unsafe fn note_allocation(start: usize, size: Label) {
    unsafe {
        if !any() {
            return;
        }
        let entries = &mut ALLOCATIONS;
        entries.iter_mut().filter(|entry| entry.0 == start).for_each(|entry| *entry = (0, 0));
        if size == ENOUGH || size != 0 && settled(size) != size {
            if let Some(entry) = entries.get_mut(NEXT_ALLOCATION % MOST_ALLOCATIONS) {
                *entry = (start, size);
            }
            NEXT_ALLOCATION += 1;
        }
    }
}

/// How much room there is from an address in an object to its end; `None` if there always is enough.
pub unsafe fn room(object: &Object, address: usize) -> Option<Value> {
    unsafe {
        let offset = (address - object.start) as u64;
        let entries = &ALLOCATIONS;
        let known = entries.iter().find(|entry| any() && entry.0 == object.start);
        let size = match known {
            Some(&(_, ENOUGH)) => return None,
            Some(&(_, size)) => Value::new(size, nodes::value(size)),
            None => Value::concrete(object.size as u64),
        };
        let room = size.value.wrapping_sub(offset);
        Some(Value::new(build::binary(Op::Sub, 64, size, Value::concrete(offset)), room))
    }
}
