//! Literals that say something about one text: which results of a search or comparison make them
//! true.

use crate::query::Lit;
use expr::{Dag, Label, Op, Program, Registers, text_flags as flags};
use strings::{ByteSet, Comparison, Occurrence, Reader};

/// An operation on a text, and the results that all literals on it allow.
pub(crate) struct Atom {
    pub label: Label,
    /// By result: the places of the text and "nowhere", or less, equal and greater.
    pub accepted: Vec<bool>,
}

/// Expressions with more nodes above a text are not looked at.
const MAX_NODES: usize = 256;

const SIGNS: [u128; 3] = [u32::MAX as u128, 0, 1];

impl Atom {
    /// `None` if the literal depends on anything but the result of one operation.
    pub(crate) fn new(dag: &Dag, lit: Lit) -> Option<Atom> {
        let label = only_text(dag, lit.label)?;
        let program = Program::compile(dag, &[lit.label], &[label])?;
        let mut registers = Registers::default();
        program.load(&mut registers);
        let mut holds = |result: u128| {
            program.set(&mut registers, 0, result);
            program.run(&mut registers);
            (program.get(&registers, 0) == 1) == lit.value
        };
        let accepted = match dag.op(label) {
            Op::Compare => SIGNS.into_iter().map(holds).collect(),
            _ => (0..=dag.table(dag.node(label).b).bytes.len() as u128).map(&mut holds).collect(),
        };
        Some(Atom { label, accepted })
    }

    /// Takes what another literal on the same operation says into account.
    pub(crate) fn intersect(&mut self, other: &Atom) {
        for (accepted, also) in self.accepted.iter_mut().zip(&other.accepted) {
            *accepted &= also;
        }
    }

    /// `None` if there is no reader for the operation.
    pub(crate) fn reader(&self, dag: &Dag) -> Option<Reader> {
        let node = dag.node(self.label);
        let pattern = &dag.table(node.c).bytes;
        let has = |flag: u16| node.aux & flag != 0;
        let (fold, terminated) = (has(flags::FOLD), has(flags::TERMINATED));
        if dag.op(self.label) == Op::Compare {
            let accepted = [self.accepted[0], self.accepted[1], self.accepted[2]];
            return Some(Reader::Comparison(Comparison {
                other: pattern.clone(),
                fold,
                terminated,
                accepted,
            }));
        }
        let matching = |wanted: &[u8]| -> ByteSet {
            let same = |a: u8, b: u8| a == b || (fold && a.eq_ignore_ascii_case(&b));
            (0..=255).filter(|&byte| wanted.iter().any(|&other| same(byte, other))).collect()
        };
        let sets: Vec<ByteSet> = match (has(flags::SET), has(flags::NEGATED)) {
            (true, true) => vec![matching(pattern).complement()],
            (true, false) => vec![matching(pattern)],
            (false, _) => pattern.chunks(1).map(matching).collect(),
        };
        let occurrence =
            Occurrence::new(&sets, terminated, has(flags::LAST), self.accepted.clone());
        occurrence.map(Reader::Occurrence)
    }
}

/// The operation on a text that an expression depends on, if it depends on nothing else.
fn only_text(dag: &Dag, label: Label) -> Option<Label> {
    let (mut found, mut seen, mut open) = (None, Vec::new(), vec![label]);
    while let Some(label) = open.pop() {
        if seen.contains(&label) {
            continue;
        }
        seen.push(label);
        match dag.op(label) {
            Op::Find | Op::Compare if found.is_none_or(|known| known == label) => {
                found = Some(label)
            }
            Op::Find | Op::Compare | Op::Input | Op::Len => return None,
            _ if seen.len() > MAX_NODES
                || dag.table_labels(label).iter().any(|&cell| cell != 0) =>
            {
                return None;
            }
            _ => open.extend(dag.operands(label).into_iter().filter(|&operand| operand != 0)),
        }
    }
    found
}
