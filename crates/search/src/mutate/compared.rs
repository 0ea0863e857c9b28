//! What a trace tells about the comparisons of a run: which bytes of the input go into each, and
//! what they are compared with. Other fuzzers guess that from values that look alike.

use std::ops::Range;

use expr::{Dag, FunctionMap, Functions, Label, Op, Supports};
use path::{Asker, Constraint, ConstraintKind, Word};
use rustc_hash::FxHashMap;
use sites::{SiteKind, SiteTable};

use super::invert::{invert, mask};
use crate::{Coverage, TracedPath};

/// Edits of one trace, and those of words among them.
const MAX_EDITS: usize = 192;
const MAX_WORD_EDITS: usize = 96;
/// Constraints of one site that are looked at, and where the site has an outcome that was not
/// taken yet.
const PER_SITE: u32 = 1;
const PER_OPEN_SITE: u32 = 4;
/// Values of a single byte that are tried for one constraint.
const VALUES: usize = 2;
/// Operations between a condition and its comparisons.
const MAX_CONDITIONS: usize = 16;

/// Bytes in the place of others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Edit {
    pub place: Range<usize>,
    pub bytes: Vec<u8>,
}

impl Edit {
    /// The input with the bytes; those that are beyond its end come there.
    pub(super) fn apply(&self, input: &[u8]) -> Vec<u8> {
        let start = self.place.start.min(input.len());
        let end = self.place.end.clamp(start, input.len());
        [&input[..start], &self.bytes, &input[end..]].concat()
    }
}

/// What one trace tells.
#[derive(Debug, Default)]
pub(super) struct Told {
    pub edits: Vec<Edit>,
    pub words: Vec<Vec<u8>>,
}

/// `input` is that of the trace.
pub(super) fn told(
    path: &TracedPath,
    input: &[u8],
    (sites, coverage): (&SiteTable, &Coverage),
) -> Told {
    let mut reader = Reader {
        dag: &path.trace.dag,
        input,
        sites,
        supports: Supports::new(),
        functions: (Functions::default(), FunctionMap::default()),
        told: Told::default(),
    };
    reader.words(&path.condition.words);
    let is_open = |constraint: &Constraint| {
        constraint.other_directions(sites).into_iter().any(|direction| {
            let outcome = constraint.outcome_of(direction, sites);
            outcome.is_some_and(|outcome| !coverage.has(outcome))
        })
    };
    let of_sites = path.condition.constraints.iter();
    let (open, others): (Vec<_>, Vec<_>) = of_sites.partition(|constraint| is_open(constraint));
    for (constraints, most) in [(open, PER_OPEN_SITE), (others, PER_SITE)] {
        let mut of_site: FxHashMap<u32, u32> = FxHashMap::default();
        for constraint in constraints {
            let looked_at = of_site.entry(constraint.site).or_default();
            *looked_at += 1;
            if *looked_at <= most && reader.told.edits.len() < MAX_EDITS {
                reader.constraint(constraint);
            }
        }
    }
    reader.told.edits.truncate(MAX_EDITS);
    reader.told
}

struct Reader<'a> {
    dag: &'a Dag,
    input: &'a [u8],
    sites: &'a SiteTable,
    supports: Supports,
    functions: (Functions, FunctionMap),
    told: Told,
}

impl Reader<'_> {
    fn constraint(&mut self, constraint: &Constraint) {
        match constraint.kind {
            ConstraintKind::Case { on, index } => {
                if let Some(SiteKind::Switch { cases, .. }) =
                    self.sites.sites.get(constraint.site as usize).map(|site| &site.kind)
                {
                    let others = (0..).zip(cases).filter(|(case, _)| *case != index);
                    others.for_each(|(_, value)| self.set(on, *value & mask(self.dag.bits(on))));
                }
            }
            ConstraintKind::Branch => self.branch(constraint),
            _ => {}
        }
    }

    fn branch(&mut self, constraint: &Constraint) {
        let support = self.supports.of(self.dag, constraint.label);
        let support = self.supports.get(support);
        if let Some(place) = support.single_byte().filter(|_| !support.uses_len()) {
            return self.single_byte(constraint, place as usize);
        }
        for comparison in comparisons(self.dag, constraint.label) {
            match self.dag.op(comparison) {
                Op::Compare | Op::Find => self.text(comparison),
                _ => {
                    let [left, right, _] = self.dag.operands(comparison);
                    self.compared(left, right);
                    self.compared(right, left);
                }
            }
        }
    }

    /// Values of a byte with which a condition is the other way round, common ones first.
    fn single_byte(&mut self, constraint: &Constraint, place: usize) {
        let (functions, map) = &mut self.functions;
        let Some(ones) = functions.ones(map, self.dag, constraint.label) else { return };
        let others = if constraint.taken { ones.complement() } else { ones };
        let edits = others.preferred(None).take(VALUES);
        let edits = edits.map(|byte| Edit { place: place..place + 1, bytes: vec![byte] });
        self.told.edits.extend(edits);
    }

    /// Makes one side of a comparison what the other one is, and what it nearly is.
    fn compared(&mut self, side: Label, other: Label) {
        let (dag, bits) = (self.dag, self.dag.bits(side));
        if dag.op(side) == Op::Const || bits > u64::BITS {
            return;
        }
        let (present, value) = (dag.value(side) & mask(bits), dag.value(other) & mask(bits));
        let near = [value, value.wrapping_add(1) & mask(bits), value.wrapping_sub(1) & mask(bits)];
        for value in near.into_iter().filter(|value| *value != present) {
            self.set(side, value);
        }
    }

    /// Makes an expression have a value, by the bytes that flow into it, or by the decimal number
    /// that it may be made of.
    fn set(&mut self, label: Label, value: u64) {
        let edit = match invert(self.dag, label, value) {
            Some(bytes) => self.with_bytes(&bytes),
            None => self.with_number(label, value),
        };
        self.told.edits.extend(edit);
    }

    /// The piece of the input from the first to the last byte, with their values.
    fn with_bytes(&self, bytes: &[(usize, u8)]) -> Option<Edit> {
        let (first, last) = (bytes.first()?.0, bytes.last()?.0);
        let mut piece = self.input.get(first..=last)?.to_vec();
        bytes.iter().for_each(|(place, byte)| piece[place - first] = *byte);
        Some(Edit { place: first..last + 1, bytes: piece })
    }

    fn with_number(&mut self, label: Label, value: u64) -> Option<Edit> {
        let bits = Some(self.dag.bits(label)).filter(|bits| *bits <= u64::BITS)?;
        let support = self.supports.of(self.dag, label);
        let &[(first, last)] = self.supports.get(support).intervals() else { return None };
        let place = first as usize..last as usize + 1;
        let is_number = self.input.get(place.clone())?.iter().all(u8::is_ascii_digit);
        let is_negative = value >> (bits - 1) & 1 == 1;
        let number = match is_negative {
            true => format!("-{}", value.wrapping_neg() & mask(bits)),
            false => value.to_string(),
        };
        is_number.then(|| Edit { place, bytes: number.into_bytes() })
    }

    /// A text is compared with a pattern, or the pattern is looked for there.
    fn text(&mut self, comparison: Label) {
        let (dag, node) = (self.dag, *self.dag.node(comparison));
        let pattern = &dag.table(node.c).bytes;
        let pattern: Vec<u8> = pattern.iter().copied().take_while(|byte| *byte != 0).collect();
        if pattern.is_empty() {
            return;
        }
        self.told.words.push(pattern.clone());
        let Some(first) = dag.table_labels(comparison).first() else { return };
        let support = self.supports.of(dag, *first);
        if let Some(place) = self.supports.get(support).single_byte() {
            let place = place as usize;
            let places = [place..place + pattern.len(), place..place];
            let edits = places.map(|place| Edit { place, bytes: pattern.clone() });
            self.told.edits.extend(edits);
        }
    }

    /// Words that the program compared with each other, in each other's place.
    fn words(&mut self, words: &[Word]) {
        self.told.words.extend(words.iter().map(|word| word.text.clone()));
        let mut compared: FxHashMap<Asker, Vec<&Word>> = FxHashMap::default();
        words.iter().for_each(|word| compared.entry(word.asker).or_default().push(word));
        for word in words {
            let Some(place) = &word.place else { continue };
            let others = compared[&word.asker].iter().filter(|other| other.text != word.text);
            let edits =
                others.map(|other| Edit { place: place.clone(), bytes: other.text.clone() });
            let room = MAX_WORD_EDITS.saturating_sub(self.told.edits.len());
            self.told.edits.extend(edits.take(room));
        }
    }
}

/// The comparisons that a condition is made of.
fn comparisons(dag: &Dag, condition: Label) -> Vec<Label> {
    let (mut found, mut waiting, mut steps) = (Vec::new(), vec![condition], 0);
    while let Some(label) = waiting.pop().filter(|_| steps < MAX_CONDITIONS) {
        steps += 1;
        let operands = dag.operands(label).into_iter().filter(|operand| *operand != 0);
        match dag.op(label) {
            Op::Eq | Op::Ult | Op::Ule | Op::Slt | Op::Sle => {
                found.push(label);
                waiting.extend(operands.filter(|operand| leads_on(dag, *operand)));
            }
            Op::Compare | Op::Find => found.push(label),
            _ if leads_on(dag, label) => waiting.extend(operands),
            _ => {}
        }
    }
    found
}

/// Whether an expression may be a truth value, or the result of a comparison of texts.
fn leads_on(dag: &Dag, label: Label) -> bool {
    let mut label = label;
    while matches!(dag.op(label), Op::ZExt | Op::SExt | Op::Extract | Op::Not) {
        label = dag.operands(label)[0];
    }
    match dag.op(label) {
        Op::Compare | Op::Find => true,
        Op::Const => false,
        _ => dag.bits(label) == 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Coverage, TracedPath};
    use path::{RawTrace, Recorded, Trace};
    use run::TableData;
    use sites::Site;
    use trace::{Event, EventKind, Node};

    /// The trace of a run that branched on the last expression, which was 0, at site 1. The first
    /// expressions are the input's bytes and its length.
    fn traced(input: &[u8], nodes: &[(Node, u64)], tables: Vec<TableData>) -> TracedPath {
        let byte = |index| Node { op: Op::Input as u8, bits: 8, a: index, ..Node::default() };
        let bytes = (0..).zip(input).map(|(index, value)| (byte(index), u64::from(*value)));
        let length = (Node { op: Op::Len as u8, bits: 64, ..Node::default() }, input.len() as u64);
        let all = std::iter::once((Node::default(), 0)).chain(bytes).chain([length]);
        let (nodes, values): (Vec<Node>, Vec<u64>) = all.chain(nodes.iter().copied()).unzip();
        let (kind, label) = (EventKind::Branch as u8, nodes.len() as Label - 1);
        let events = vec![Event { kind, site: 1, label, ..Event::default() }];
        let input_len = input.len() as u32;
        let recorded = Recorded { nodes, values, tables, input_len, ..Recorded::default() };
        let raw = RawTrace { recorded, events, ..RawTrace::default() };
        TracedPath::new(Trace::from_raw(raw).expect("a trace"), &sites())
    }

    fn sites() -> SiteTable {
        let kind = SiteKind::Branch { coverage: 0 };
        let sites = vec![Site::default(), Site { kind, ..Site::default() }];
        SiteTable { sites, outcomes: 2, ..SiteTable::default() }
    }

    /// The input with each edit.
    fn edited(input: &[u8], path: &TracedPath) -> (Vec<String>, Vec<Vec<u8>>) {
        let Told { edits, words } = told(path, input, (&sites(), &Coverage::new(2)));
        let text = |edit: &Edit| String::from_utf8_lossy(&edit.apply(input)).into_owned();
        (edits.iter().map(text).collect(), words)
    }

    #[test]
    fn bytes_become_what_they_are_compared_with_and_its_neighbours() {
        let path = traced(
            b"-ab-",
            &[
                (Node::binary(Op::Concat, 16, 3, 2), 0x6261),
                (Node::constant(16, 0x4241), 0x4241),
                (Node::binary(Op::Eq, 1, 6, 7), 0),
            ],
            Vec::new(),
        );
        assert_eq!(edited(b"-ab-", &path).0, ["-AB-", "-BB-", "-@B-"]);
    }

    #[test]
    fn a_decimal_number_becomes_another_of_any_length() {
        let digit = |byte| Node::unary(Op::ZExt, 32, byte);
        let path = traced(
            b"x12;",
            &[
                (digit(2), 0x31),
                (Node::constant(32, 10), 10),
                (Node::binary(Op::Mul, 32, 6, 7), 490),
                (digit(3), 0x32),
                (Node::binary(Op::Add, 32, 8, 9), 540),
                (Node::constant(32, 528), 528),
                (Node::binary(Op::Sub, 32, 10, 11), 12),
                (Node::constant(32, 1000), 1000),
                (Node::binary(Op::Eq, 1, 12, 13), 0),
            ],
            Vec::new(),
        );
        assert_eq!(edited(b"x12;", &path).0, ["x1000;", "x1001;", "x999;"]);
    }

    #[test]
    fn a_byte_becomes_one_that_turns_the_condition() {
        let nodes = [(Node::constant(8, 0x7B), 0x7B), (Node::binary(Op::Eq, 1, 1, 3), 0)];
        assert_eq!(edited(b"a", &traced(b"a", &nodes, Vec::new())).0, ["{"]);
    }

    #[test]
    fn text_becomes_the_pattern_that_it_is_compared_with() {
        let text = TableData { bytes: b"bcd".to_vec(), labels: Some(vec![2, 3, 4]) };
        let tables = vec![text, TableData::concrete(b"let\0".to_vec())];
        let compare = Node { op: Op::Compare as u8, bits: 32, b: 0, c: 1, ..Node::default() };
        let nodes = [
            (compare, u64::from(u32::MAX)),
            (Node::constant(32, 0), 0),
            (Node::binary(Op::Eq, 1, 6, 7), 0),
        ];
        let (texts, words) = edited(b"abcd", &traced(b"abcd", &nodes, tables));
        assert_eq!(
            (texts, words),
            (vec!["alet".to_owned(), "aletbcd".to_owned()], vec![b"let".to_vec()])
        );
    }
}
