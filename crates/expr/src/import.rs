//! Copies expressions from one Dag into another, simplifying on the way, with some nodes replaced.

use crate::dag::{Dag, op_of};
use crate::lower::Lowering;
use crate::texts::Operation;
use run::TableData;
use rustc_hash::FxHashMap;
use trace::{Label, Node, Op};

/// Copies nodes of one source Dag into one destination; common parts are copied once.
#[derive(Clone, Debug, Default)]
pub struct Importer {
    copies: FxHashMap<Label, Label>,
    tables: FxHashMap<u32, u32>,
    stack: Vec<Label>,
    /// Replace operations on texts by formulas over bytes.
    lowers: bool,
}

impl Importer {
    pub fn new() -> Importer {
        Importer::default()
    }

    /// An importer whose copies have no operations on texts, but formulas over their bytes.
    pub fn lowering() -> Importer {
        Importer { lowers: true, ..Importer::default() }
    }

    /// The label in `into` of the simplified copy of `label`.
    pub fn import(&mut self, from: &Dag, label: Label, into: &mut Dag) -> Label {
        self.import_with(from, label, into, &mut |_, _| None)
    }

    /// As [`Importer::import`], with the nodes for which `replace` returns a node of the
    /// destination replaced by it. What only they depend on is not looked at.
    pub fn import_with(
        &mut self,
        from: &Dag,
        label: Label,
        into: &mut Dag,
        replace: &mut dyn FnMut(Label, &mut Dag) -> Option<Label>,
    ) -> Label {
        self.stack.push(label);
        while let Some(&top) = self.stack.last() {
            if !self.copies.contains_key(&top) {
                let copy = match replace(top, into) {
                    Some(replacement) => replacement,
                    None if self.wait_for_operands(from, top) => continue,
                    None => self.copy(from, top, into),
                };
                self.copies.insert(top, copy);
            }
            self.stack.pop();
        }
        self.copies[&label]
    }

    /// Pushes the operands that have no copy yet; true if there are any.
    fn wait_for_operands(&mut self, from: &Dag, label: Label) -> bool {
        let before = self.stack.len();
        for &operand in from.operands(label).iter().chain(from.table_labels(label)) {
            if operand != 0 && !self.copies.contains_key(&operand) {
                self.stack.push(operand);
            }
        }
        self.stack.len() > before
    }

    fn copy(&mut self, from: &Dag, label: Label, into: &mut Dag) -> Label {
        let mut node = *from.node(label);
        let copy_of = |operand: Label| self.copies[&operand];
        match op_of(&node) {
            Op::Const | Op::Token => return into.add(node),
            Op::Input => return into.input(node.a),
            Op::Len => return into.input_length(),
            Op::Read => {
                node.a = copy_of(node.a);
                node.b = self.table(from, node.b, into);
            }
            Op::Find | Op::Compare if self.lowers => return self.lower(from, &node, into),
            Op::Find | Op::Compare => {
                node.b = self.table(from, node.b, into);
                node.c = self.table(from, node.c, into);
            }
            op => {
                node.a = copy_of(node.a);
                node.b = if op.arity() > 1 { copy_of(node.b) } else { 0 };
                node.c = if op.arity() > 2 { copy_of(node.c) } else { 0 };
            }
        }
        into.make(node)
    }

    fn lower(&self, from: &Dag, node: &Node, into: &mut Dag) -> Label {
        let (text, pattern) = (from.table(node.b), &from.table(node.c).bytes);
        let cell = |(at, &byte): (usize, &u8)| match text.label(at as u64) {
            0 => into.constant(8, u128::from(byte)),
            label => self.copies[&label],
        };
        let cells: Vec<Label> = text.bytes.iter().enumerate().map(cell).collect();
        Lowering { operation: Operation::new(node, pattern), cells: &cells }.make(into)
    }

    fn table(&mut self, from: &Dag, number: u32, into: &mut Dag) -> u32 {
        if let Some(&copy) = self.tables.get(&number) {
            return copy;
        }
        let copy = into.intern_table(self.table_copy(from, number, into));
        self.tables.insert(number, copy);
        copy
    }

    /// A table whose symbolic bytes all became constants is a concrete table.
    fn table_copy(&self, from: &Dag, number: u32, into: &Dag) -> TableData {
        let mut copy = TableData { bytes: from.table(number).bytes.clone(), labels: None };
        for &(index, label) in from.table_cells(number) {
            let (index, label) = (index as usize, self.copies[&label]);
            match into.as_constant(label) {
                Some(value) => copy.bytes[index] = value as u8,
                None => {
                    copy.bytes[index] = 0;
                    let count = copy.bytes.len();
                    copy.labels.get_or_insert_with(|| vec![0; count])[index] = label;
                }
            }
        }
        copy
    }
}
