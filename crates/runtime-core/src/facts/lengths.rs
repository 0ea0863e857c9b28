//! Which lengths the input can have on this path: from the least to the greatest that its branches
//! leave.

use crate::lexer;
use crate::segment::Segment;
use crate::state::Run;
use core::cell::Cell;
use trace::{Length, LengthKind};

/// The range of lengths that the path leaves.
pub struct LengthRange(Cell<Range>);

#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Range {
    pub min: u64,
    pub max: u64,
}

impl LengthRange {
    pub const NEW: LengthRange = LengthRange(Cell::new(Range { min: 0, max: 0 }));

    /// A run begins.
    pub fn start(&self, segment: &Segment) {
        self.0.set(Range { min: 0, max: segment.max_input_len() as u64 });
    }
}

/// Whether the path has said already that there is a byte at this place: programs look at a byte
/// before they take it.
#[inline(always)]
pub fn has_byte(run: &Run, index: u64) -> bool {
    index < run.facts.lengths.0.get().min && !lexer::inside(run)
}

/// The lengths that there can be here.
#[inline(always)]
pub fn range(run: &Run) -> Range {
    if lexer::inside(run) {
        return Range { min: 0, max: run.segment.max_input_len() as u64 };
    }
    run.facts.lengths.0.get()
}

/// The path goes where a condition on the length, which is no negated one, has this value; false if
/// that says nothing new.
pub fn learn(run: &Run, length: Length, taken: bool) -> bool {
    if lexer::inside(run) {
        return true;
    }
    let (number, before) = (length.number as u64, run.facts.lengths.0.get());
    let Range { mut min, mut max } = before;
    match (length.kind, taken) {
        (LengthKind::Less, true) => max = max.min(number.saturating_sub(1)),
        (LengthKind::Less, false) => min = min.max(number),
        (LengthKind::Equal, true) => (min, max) = (number, number),
        // Which other lengths there are, has no place here.
        _ if number == min => min += 1,
        _ if number == max => max -= 1,
        _ => return true,
    }
    run.facts.lengths.0.set(Range { min, max });
    before != Range { min, max }
}
