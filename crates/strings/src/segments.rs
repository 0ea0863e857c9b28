//! From terms over variables to sequences of segments.
//!
//! Variables are cut where slices start and end; equations between terms cut further, until equal
//! segments meet and become one, or a segment can be replaced by what it equals. What remains are
//! memberships only. An equation whose lengths are not known is given back where nothing more can
//! be cut off.

use crate::language::{Languages, UNBOUNDED};
use crate::problem::Piece;
use crate::scan::{Conjunct, Part, SegmentId, Size};

/// Bounds of lengths up to this are worth counting.
pub const SHORT: u64 = 32;

#[derive(Clone, Debug)]
struct Segment {
    size: Size,
    /// What stands for it now.
    value: Option<Vec<Part>>,
}

#[derive(Clone, Debug, Default)]
pub struct Segments {
    segments: Vec<Segment>,
    variables: Vec<Vec<(u64, SegmentId)>>,
}

/// What an equation led to.
pub enum Unified {
    Yes,
    /// The equation has no solution.
    Never,
    /// What remains of the equation; the lengths of the first and last parts are not known.
    Stuck(Vec<Part>, Vec<Part>),
}

impl Segments {
    /// Cuts variables of the given sizes where the terms need it. `None` if a slice reaches beyond
    /// every size of its variable.
    pub fn new<'t>(sizes: &[Size], terms: impl Iterator<Item = &'t Piece>) -> Option<Self> {
        let mut cuts: Vec<Vec<u64>> = vec![vec![0]; sizes.len()];
        for piece in terms {
            if let Piece::Slice { variable, offset, length } = piece {
                cuts[variable.0].extend([*offset, offset.saturating_add(*length)]);
            }
        }
        let mut segments = Segments::default();
        for (size, mut cuts) in sizes.iter().zip(cuts) {
            cuts.sort_unstable();
            cuts.dedup();
            let last = *cuts.last()?;
            if last > size.most {
                return None;
            }
            let mut parts = Vec::new();
            for pair in cuts.windows(2) {
                let size = Size { least: pair[1] - pair[0], most: pair[1] - pair[0] };
                parts.push((pair[0], segments.add(size)));
            }
            let most = if size.most == UNBOUNDED { UNBOUNDED } else { size.most - last };
            let rest = Size { least: size.least.saturating_sub(last), most };
            if most > 0 || parts.is_empty() {
                parts.push((last, segments.add(rest)));
            }
            segments.variables.push(parts);
        }
        Some(segments)
    }

    pub fn add(&mut self, size: Size) -> SegmentId {
        self.segments.push(Segment { size, value: None });
        self.segments.len() - 1
    }

    pub fn size(&self, segment: SegmentId) -> Size {
        self.segments[segment].size
    }

    /// Puts parts without the segment itself in its place. The caller sees to its size.
    pub fn replace(&mut self, segment: SegmentId, parts: Vec<Part>) {
        self.segments[segment].value = Some(parts);
    }

    /// Takes over those sizes that bound a length, where they are small enough to be counted.
    pub fn shorten(&mut self, sizes: &[Size]) {
        for (segment, &size) in
            self.segments.iter_mut().zip(sizes).filter(|(_, size)| size.most <= SHORT)
        {
            segment.size = size;
        }
    }

    pub fn sizes(&self) -> Vec<Size> {
        self.segments.iter().map(|segment| segment.size).collect()
    }

    /// Segments that stand for themselves.
    pub fn free(&self) -> Vec<SegmentId> {
        (0..self.segments.len()).filter(|&id| self.segments[id].value.is_none()).collect()
    }

    pub fn term(&self, term: &[Piece]) -> Vec<Part> {
        let mut parts = Vec::new();
        for piece in term {
            match piece {
                Piece::Literal(text) => parts.push(Part::Literal(text.clone())),
                Piece::Variable(variable) => {
                    parts.extend(
                        self.variables[variable.0]
                            .iter()
                            .map(|&(_, segment)| Part::Segment(segment)),
                    );
                }
                Piece::Slice { variable, offset, length } => {
                    let inside =
                        |start: u64| start >= *offset && start < offset.saturating_add(*length);
                    let segments =
                        self.variables[variable.0].iter().filter(|(start, _)| inside(*start));
                    parts.extend(segments.map(|&(_, segment)| Part::Segment(segment)));
                }
            }
        }
        self.resolve(&parts)
    }

    pub fn variable(&self, variable: usize) -> Vec<Part> {
        self.resolve(
            &self.variables[variable]
                .iter()
                .map(|&(_, segment)| Part::Segment(segment))
                .collect::<Vec<_>>(),
        )
    }

    /// Replaces segments by what stands for them; adjacent literals become one.
    pub fn resolve(&self, parts: &[Part]) -> Vec<Part> {
        let mut resolved: Vec<Part> = Vec::new();
        let mut open: Vec<&Part> = parts.iter().rev().collect();
        while let Some(part) = open.pop() {
            match part {
                Part::Literal(text) if text.is_empty() => {}
                Part::Literal(text) => match resolved.last_mut() {
                    Some(Part::Literal(before)) => before.extend_from_slice(text),
                    _ => resolved.push(part.clone()),
                },
                Part::Segment(segment) => match &self.segments[*segment].value {
                    Some(value) => open.extend(value.iter().rev()),
                    None if self.segments[*segment].size.most == 0 => {}
                    None => resolved.push(part.clone()),
                },
            }
        }
        resolved
    }

    /// Makes two sequences equal. Conditions on lengths that this needs are added to `conjuncts`.
    pub fn unify(
        &mut self,
        languages: &mut Languages,
        a: &[Part],
        b: &[Part],
        conjuncts: &mut Vec<Conjunct>,
    ) -> Unified {
        let (mut a, mut b) = (self.resolve(a), self.resolve(b));
        loop {
            match (a.is_empty(), b.is_empty()) {
                (true, true) => return Unified::Yes,
                (true, false) | (false, true) => {
                    return self.make_empty(if a.is_empty() { &b } else { &a });
                }
                _ => {}
            }
            if let Some(result) = self.replace_whole(languages, &a, &b, conjuncts) {
                return result;
            }
            let cut =
                self.cut_first(&mut a, &mut b, false).or_else(|| self.cut_last(&mut a, &mut b));
            match cut {
                Some(true) => {}
                Some(false) => return Unified::Never,
                None => return Unified::Stuck(a, b),
            }
        }
    }

    fn cut_last(&mut self, a: &mut Vec<Part>, b: &mut Vec<Part>) -> Option<bool> {
        a.reverse();
        b.reverse();
        let cut = self.cut_first(a, b, true);
        a.reverse();
        b.reverse();
        cut
    }

    fn make_empty(&mut self, parts: &[Part]) -> Unified {
        for part in parts {
            match part {
                Part::Segment(segment) if self.segments[*segment].size.least == 0 => {
                    self.segments[*segment].value = Some(Vec::new());
                }
                _ => return Unified::Never,
            }
        }
        Unified::Yes
    }

    /// A segment that equals something without itself is replaced by it.
    fn replace_whole(
        &mut self,
        languages: &mut Languages,
        a: &[Part],
        b: &[Part],
        conjuncts: &mut Vec<Conjunct>,
    ) -> Option<Unified> {
        let (segment, other) = match (a, b) {
            ([Part::Segment(segment)], other) | (other, [Part::Segment(segment)]) => {
                (*segment, other)
            }
            _ => return None,
        };
        if *other == [Part::Segment(segment)] {
            return Some(Unified::Yes);
        }
        if other.contains(&Part::Segment(segment)) {
            return None;
        }
        let size = self.segments[segment].size;
        let language = languages.lengths(size.least, size.most);
        conjuncts.push(Conjunct { parts: other.to_vec(), language });
        self.segments[segment].value = Some(other.to_vec());
        Some(Unified::Yes)
    }
}

impl Segments {
    /// Cuts off what the first parts have in common. `None` if their lengths are not known;
    /// `Some(false)` if they differ. With `backwards`, both are given from the last part to the
    /// first.
    fn cut_first(&mut self, a: &mut Vec<Part>, b: &mut Vec<Part>, backwards: bool) -> Option<bool> {
        let (first_a, first_b) = (a.first()?.clone(), b.first()?.clone());
        if first_a == first_b {
            a.remove(0);
            b.remove(0);
            return Some(true);
        }
        let length = self.length(&first_a)?.min(self.length(&first_b)?);
        let (head_a, rest_a) = self.cut(&first_a, length, backwards);
        let (head_b, rest_b) = self.cut(&first_b, length, backwards);
        a.splice(..1, rest_a);
        b.splice(..1, rest_b);
        let same = match (head_a, head_b) {
            (Part::Literal(x), Part::Literal(y)) => x == y,
            (Part::Segment(x), y) | (y, Part::Segment(x)) => {
                if y != Part::Segment(x) {
                    self.segments[x].value = Some(vec![y]);
                }
                true
            }
        };
        if !same {
            return Some(false);
        }
        let (mut forward_a, mut forward_b) = (a.clone(), b.clone());
        if backwards {
            forward_a.reverse();
            forward_b.reverse();
        }
        (forward_a, forward_b) = (self.resolve(&forward_a), self.resolve(&forward_b));
        if backwards {
            forward_a.reverse();
            forward_b.reverse();
        }
        (*a, *b) = (forward_a, forward_b);
        Some(true)
    }

    fn length(&self, part: &Part) -> Option<u64> {
        match part {
            Part::Literal(text) => Some(text.len() as u64),
            Part::Segment(segment) => {
                let size = self.segments[*segment].size;
                (size.least == size.most).then_some(size.least)
            }
        }
    }

    /// The first (or last) `length` bytes of a part of known length, and what remains.
    fn cut(&mut self, part: &Part, length: u64, backwards: bool) -> (Part, Option<Part>) {
        let whole = self.length(part).unwrap_or(length);
        if whole == length {
            return (part.clone(), None);
        }
        match part {
            Part::Literal(text) => {
                let at = if backwards { whole - length } else { length } as usize;
                let (first, second) =
                    (Part::Literal(text[..at].to_vec()), Part::Literal(text[at..].to_vec()));
                if backwards { (second, Some(first)) } else { (first, Some(second)) }
            }
            Part::Segment(segment) => {
                let head = Part::Segment(self.add(Size { least: length, most: length }));
                let rest =
                    Part::Segment(self.add(Size { least: whole - length, most: whole - length }));
                let value = if backwards {
                    vec![rest.clone(), head.clone()]
                } else {
                    vec![head.clone(), rest.clone()]
                };
                self.segments[*segment].value = Some(value);
                (head, Some(rest))
            }
        }
    }
}
