//! The expression table. Operands have smaller labels than the nodes that use them, so label order
//! is a topological order and no walk over a [`Dag`] needs recursion.

use crate::semantics::{Operator, mask, wide};
use crate::validate::{BadDag, Validator};
use run::TableData;
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::{Hash as _, Hasher as _};
use trace::{Label, Node, Op};

/// Equal tables have equal digests. Looks at a few bytes only: snapshots of a large array are
/// compared by content anyway.
fn digest(table: &TableData) -> u64 {
    const LOOKED_AT: usize = 64;
    let mut hasher = FxHasher::default();
    table.bytes.len().hash(&mut hasher);
    let step = table.bytes.len() / LOOKED_AT + 1;
    table.bytes.iter().step_by(step).for_each(|byte| hasher.write_u8(*byte));
    hasher.finish()
}

/// Room for nodes that are added to a run's.
const FIRST_ADDED: usize = 100;

/// Expression nodes with their tables.
///
/// Made from a run by [`Dag::from_raw`], or empty by [`Dag::new`] for terms of the solver's own.
#[derive(Clone, Debug)]
pub struct Dag {
    nodes: Vec<Node>,
    values: Vec<u64>,
    tables: Vec<TableData>,
    /// The symbolic bytes of each table.
    cells: Vec<Cells>,
    input_len: u32,
    /// Nodes that [`Dag::add`] made. The nodes of a run were hash-consed by the target.
    added: FxHashMap<Node, Label>,
    /// Tables that [`Dag::add_table`] made, by [`digest`].
    added_tables: FxHashMap<u64, Vec<u32>>,
}

/// The symbolic bytes of a table, which are few where the table is large.
#[derive(Clone, Debug, Default)]
struct Cells {
    places: Vec<(u32, Label)>,
    /// Each label once.
    labels: Vec<Label>,
}

impl Cells {
    /// `seen` has a place for each label, none of which is set before and after. Snapshots of a
    /// parser's stack are many and large.
    fn of(table: &TableData, seen: &mut [bool]) -> Cells {
        let Some(labels) = &table.labels else { return Cells::default() };
        let mut cells = Cells { places: Vec::with_capacity(labels.len()), labels: Vec::new() };
        for (index, &label) in labels.iter().enumerate().filter(|(_, label)| **label != 0) {
            cells.places.push((index as u32, label));
            if !std::mem::replace(&mut seen[label as usize], true) {
                cells.labels.push(label);
            }
        }
        cells.labels.iter().for_each(|label| seen[*label as usize] = false);
        cells
    }
}

impl Default for Dag {
    fn default() -> Dag {
        Dag::new()
    }
}

impl Dag {
    /// A Dag without nodes.
    pub fn new() -> Dag {
        Dag {
            nodes: vec![Node::default()],
            values: Vec::new(),
            tables: Vec::new(),
            cells: Vec::new(),
            input_len: 0,
            added: FxHashMap::default(),
            added_tables: FxHashMap::default(),
        }
    }

    /// Checks what a target wrote. `nodes[0]` is unused; labels `1..=input_len` stand for the input
    /// bytes and `1 + input_len` for the length whatever the target wrote there.
    pub fn from_raw(
        mut nodes: Vec<Node>,
        values: Vec<u64>,
        tables: Vec<TableData>,
        input_len: u32,
    ) -> Result<Dag, BadDag> {
        if (nodes.len() as u64) < u64::from(input_len) + 2 || nodes.len() > u32::MAX as usize {
            return Err(BadDag::InputMissing { nodes: nodes.len(), input_len });
        }
        if values.len() != nodes.len() {
            return Err(BadDag::ValuesMissing { nodes: nodes.len(), values: values.len() });
        }
        nodes[0] = Node::default();
        for index in 0..input_len {
            nodes[1 + index as usize] = input_node(index);
        }
        nodes[1 + input_len as usize] = len_node();
        Validator::all_nodes(&nodes, &tables)?.check_nodes(&mut nodes, input_len)?;
        let mut seen = vec![false; nodes.len()];
        let cells = tables.iter().map(|table| Cells::of(table, &mut seen)).collect();
        Ok(Dag { nodes, values, tables, cells, input_len, ..Dag::new() })
    }

    /// Computes the value that a node has on the recorded run from those of its operands.
    pub(crate) fn find_value(&mut self, label: Label) {
        let node = *self.node(label);
        let value = |label: Label| {
            u128::from(self.value(label)) & mask(if label == 0 { 64 } else { self.bits(label) })
        };
        let [a, b, c] = operands_of(&node);
        let op = op_of(&node);
        let found = match op {
            Op::Const => u128::from(node.const_value()),
            Op::Read => {
                let (table, offset) = (self.table(node.b), value(a) as u64);
                let byte = |at: u64| match table.label(at) {
                    0 => u64::from(table.byte(at)),
                    label => value(label) as u64,
                };
                let bytes = (0..u64::from(node.bits / 8).min(8))
                    .map(|i| byte(offset.wrapping_add(i)) << (8 * i));
                u128::from(bytes.fold(0, |all, byte| all | byte))
            }
            _ => {
                let operand_bits = if a == 0 { 64 } else { self.bits(a) as u8 };
                let operator = Operator { op, bits: node.bits, operand_bits, low: node.aux as u8 };
                wide::apply(operator, value(a), value(b), value(c))
            }
        };
        self.values[label as usize] = found as u64;
    }

    /// The node of a label that is not 0.
    #[inline]
    pub fn node(&self, label: Label) -> &Node {
        &self.nodes[label as usize]
    }

    #[inline]
    pub fn op(&self, label: Label) -> Op {
        op_of(self.node(label))
    }

    /// Width in bits.
    #[inline]
    pub fn bits(&self, label: Label) -> u32 {
        u32::from(self.node(label).bits)
    }

    /// Low 64 bits of the value on the recorded run; 0 for nodes that were added since.
    pub fn value(&self, label: Label) -> u64 {
        self.values.get(label as usize).copied().unwrap_or(0)
    }

    /// Length of the recorded run's input.
    pub fn input_len(&self) -> u32 {
        self.input_len
    }

    /// One more than the largest label.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// True if there is no node.
    pub fn is_empty(&self) -> bool {
        self.nodes.len() == 1
    }

    pub fn tables(&self) -> &[TableData] {
        &self.tables
    }

    #[inline]
    pub fn table(&self, number: u32) -> &TableData {
        &self.tables[number as usize]
    }

    /// Labels of the operands, unused places being 0. Labels inside a table that is read are not
    /// among them: see [`Dag::table_labels`].
    #[inline]
    pub fn operands(&self, label: Label) -> [Label; 3] {
        operands_of(self.node(label))
    }

    /// Labels of the symbolic bytes of the table that `label` reads from, or of its text, each
    /// once; empty for all other nodes.
    #[inline]
    pub fn table_labels(&self, label: Label) -> &[Label] {
        let node = self.node(label);
        match op_of(node) {
            op if op.has_table() => &self.cells[node.b as usize].labels,
            _ => &[],
        }
    }

    /// Places and labels of a table's symbolic bytes, in order.
    pub fn table_cells(&self, number: u32) -> &[(u32, Label)] {
        &self.cells[number as usize].places
    }

    /// The label of `node`, which is added if it is not there. The node must be well formed.
    pub fn add(&mut self, node: Node) -> Label {
        match self.try_add(node) {
            Ok(label) => label,
            Err(error) => panic!("malformed node {node:?}: {error}"),
        }
    }

    /// As [`Dag::add`], for nodes that come from outside.
    pub fn try_add(&mut self, mut node: Node) -> Result<Label, BadDag> {
        if let Some(&label) = self.added.get(&node) {
            return Ok(label);
        }
        Validator::new(&self.nodes, &self.tables).check_added(&mut node)?;
        if self.added.is_empty() {
            // Where one comes, others follow: a table that grows step by step costs more than its
            // entries.
            self.added.reserve(FIRST_ADDED);
        }
        let label = self.nodes.len() as Label;
        let known = *self.added.entry(node).or_insert(label);
        if known == label {
            self.nodes.push(node);
        }
        Ok(known)
    }

    /// As [`Dag::add_table`] for a table whose labels are known to fit.
    pub(crate) fn intern_table(&mut self, table: TableData) -> u32 {
        match self.add_table(table) {
            Ok(number) => number,
            Err(error) => panic!("malformed table: {error}"),
        }
    }

    /// Adds a table; equal tables get the same number.
    pub fn add_table(&mut self, table: TableData) -> Result<u32, BadDag> {
        let digest = digest(&table);
        let known = self.added_tables.get(&digest).map_or(&[][..], Vec::as_slice);
        if let Some(&number) = known.iter().find(|number| self.tables[**number as usize] == table) {
            return Ok(number);
        }
        Validator::new(&self.nodes, &self.tables).check_table(&table)?;
        let number = self.tables.len() as u32;
        let largest = table.labels.iter().flatten().max().map_or(0, |label| *label as usize);
        self.cells.push(Cells::of(&table, &mut vec![false; largest + 1]));
        self.tables.push(table);
        self.added_tables.entry(digest).or_default().push(number);
        Ok(number)
    }

    /// A constant of any width; more than 64 significant bits become a concatenation.
    pub fn constant(&mut self, bits: u32, value: u128) -> Label {
        let value = value & crate::semantics::mask(bits);
        if value >> 64 == 0 {
            return self.add(Node::constant(bits as u8, value as u64));
        }
        let high = self.add(Node::constant((bits - 64) as u8, (value >> 64) as u64));
        let low = self.add(Node::constant(64, value as u64));
        self.add(Node::binary(Op::Concat, bits as u8, high, low))
    }

    /// The value if `label` is a constant in the form that [`Dag::constant`] makes.
    pub fn as_constant(&self, label: Label) -> Option<u128> {
        let node = self.node(label);
        match op_of(node) {
            Op::Const => Some(u128::from(node.const_value())),
            Op::Concat => {
                let (high, low) = (self.node(node.a), self.node(node.b));
                let both = op_of(high) == Op::Const && op_of(low) == Op::Const && low.bits == 64;
                both.then(|| u128::from(high.const_value()) << 64 | u128::from(low.const_value()))
            }
            _ => None,
        }
    }

    /// Input byte `index`.
    pub fn input(&mut self, index: u32) -> Label {
        if index < self.input_len { 1 + index } else { self.add(input_node(index)) }
    }

    /// The input's length.
    pub fn input_length(&mut self) -> Label {
        let recorded = 1 + self.input_len as usize;
        if self.nodes.get(recorded) == Some(&len_node()) {
            recorded as Label
        } else {
            self.add(len_node())
        }
    }
}

pub(crate) fn input_node(index: u32) -> Node {
    Node { op: Op::Input as u8, bits: 8, aux: 0, a: index, b: 0, c: 0 }
}

pub(crate) fn len_node() -> Node {
    Node { op: Op::Len as u8, bits: 64, ..Node::default() }
}

/// The operator of a node that was checked.
#[inline]
pub(crate) fn op_of(node: &Node) -> Op {
    Op::from_byte(node.op).unwrap_or(Op::Const)
}

#[inline]
pub(crate) fn operands_of(node: &Node) -> [Label; 3] {
    match op_of(node).arity() {
        0 => [0, 0, 0],
        1 => [node.a, 0, 0],
        2 => [node.a, node.b, 0],
        _ => [node.a, node.b, node.c],
    }
}
