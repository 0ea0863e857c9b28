//! Checks of nodes that were written by an untrusted process: known operators, operands before
//! their users, widths that fit, tables that exist. After these checks evaluation cannot fail.

use crate::dag::{op_of, operands_of};
use crate::semantics::mask;
use run::TableData;
use thiserror::Error;
use trace::{Label, Node, Op, text};

/// What is wrong with an expression table.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum BadDag {
    #[error("{nodes} nodes cannot hold an input of {input_len} bytes")]
    InputMissing { nodes: usize, input_len: u32 },
    #[error("{nodes} nodes but {values} values")]
    ValuesMissing { nodes: usize, values: usize },
    #[error("node {label}: unknown operator {op}")]
    Operator { label: Label, op: u8 },
    #[error("node {label}: operand {operand} does not come before it")]
    Operand { label: Label, operand: Label },
    #[error("node {label}: widths do not fit operator {op}")]
    Width { label: Label, op: &'static str },
    #[error("node {label}: input byte {index} does not exist")]
    InputByte { label: Label, index: u32 },
    #[error("node {label}: table {table} does not exist or holds later labels")]
    NoTable { label: Label, table: u32 },
    #[error("node {label}: table {table} does not exist or is no constant")]
    Pattern { label: Label, table: u32 },
    #[error("label {label}: there is no such shape, or no such byte")]
    Shape { label: Label },
    #[error("table {table}: its labels do not match its bytes")]
    Table { table: u32 },
}

pub(crate) struct Validator<'a> {
    nodes: &'a [Node],
    tables: &'a [TableData],
}

impl<'a> Validator<'a> {
    /// For all nodes of a run; checks the tables on the way.
    pub(crate) fn all_nodes(
        nodes: &'a [Node],
        tables: &'a [TableData],
    ) -> Result<AllNodes, BadDag> {
        let validator = Validator::new(nodes, tables);
        for (number, table) in tables.iter().enumerate() {
            validator.check_table(table).map_err(|_| BadDag::Table { table: number as u32 })?;
        }
        Ok(AllNodes { newest: tables.iter().map(newest_label).collect() })
    }

    /// For one more node or table after checked ones.
    pub(crate) fn new(nodes: &'a [Node], tables: &'a [TableData]) -> Validator<'a> {
        Validator { nodes, tables }
    }

    pub(crate) fn check_table(&self, table: &TableData) -> Result<(), BadDag> {
        let bad = BadDag::Table { table: self.tables.len() as u32 };
        let Some(labels) = &table.labels else { return Ok(()) };
        let byte_wide = |&label: &Label| {
            label == 0 || self.nodes.get(label as usize).is_some_and(|node| node.bits == 8)
        };
        if labels.len() == table.bytes.len() && labels.iter().all(byte_wide) {
            Ok(())
        } else {
            Err(bad)
        }
    }

    pub(crate) fn check_added(&self, node: &mut Node) -> Result<(), BadDag> {
        let newest = |table: u32| self.tables.get(table as usize).map(newest_label);
        check_node(self.nodes, self.nodes.len() as Label, node, u32::MAX, newest)
    }
}

/// The largest label inside each table; reads must come after it.
pub(crate) struct AllNodes {
    newest: Vec<Label>,
}

impl AllNodes {
    pub(crate) fn check_nodes(&self, nodes: &mut [Node], input_len: u32) -> Result<(), BadDag> {
        for label in 1..nodes.len() {
            let (before, rest) = nodes.split_at_mut(label);
            let newest = |table: u32| self.newest.get(table as usize).copied();
            check_node(before, label as Label, &mut rest[0], input_len, newest)?;
        }
        Ok(())
    }
}

fn newest_label(table: &TableData) -> Label {
    table.labels.iter().flatten().copied().max().unwrap_or(0)
}

/// Checks one node against those before it and clears the fields that its operator does not use.
fn check_node(
    before: &[Node],
    label: Label,
    node: &mut Node,
    input_len: u32,
    newest_in_table: impl Fn(u32) -> Option<Label>,
) -> Result<(), BadDag> {
    let op = Op::from_byte(node.op).ok_or(BadDag::Operator { label, op: node.op })?;
    for operand in &operands_of(node)[..op.arity()] {
        if *operand == 0 || *operand >= label {
            return Err(BadDag::Operand { label, operand: *operand });
        }
    }
    if !widths_fit(before, node) {
        return Err(BadDag::Width { label, op: op.name() });
    }
    if op == Op::Input && node.a >= input_len {
        return Err(BadDag::InputByte { label, index: node.a });
    }
    if op.has_table() && newest_in_table(node.b).is_none_or(|newest| newest >= label) {
        return Err(BadDag::NoTable { label, table: node.b });
    }
    if op.is_text() && newest_in_table(node.c) != Some(0) {
        return Err(BadDag::Pattern { label, table: node.c });
    }
    clear_unused(node);
    Ok(())
}

fn widths_fit(before: &[Node], node: &Node) -> bool {
    let width = |label: Label| u32::from(before[label as usize].bits);
    let bits = u32::from(node.bits);
    let is_float = |bits: u32| bits == 32 || bits == 64;
    if !(1..=128).contains(&bits) {
        return false;
    }
    use Op::*;
    match op_of(node) {
        Const => true,
        Input => bits == 8,
        Len | Token => bits == 64,
        Add | Sub | Mul | UDiv | SDiv | URem | SRem | And | Or | Xor | Shl | LShr | AShr => {
            width(node.a) == bits && width(node.b) == bits
        }
        Not | Ctpop | Ctlz | Cttz => width(node.a) == bits,
        Bswap => width(node.a) == bits && bits.is_multiple_of(8),
        Eq | Ult | Ule | Slt | Sle => bits == 1 && width(node.a) == width(node.b),
        ZExt | SExt => width(node.a) <= bits,
        Extract => u32::from(node.aux) + bits <= width(node.a),
        Concat => width(node.a) + width(node.b) == bits,
        Ite => width(node.a) == 1 && width(node.b) == bits && width(node.c) == bits,
        Read => width(node.a) == 64 && bits.is_multiple_of(8),
        FAdd | FSub | FMul | FDiv | FRem => {
            is_float(bits) && width(node.a) == bits && width(node.b) == bits
        }
        FSqrt => is_float(bits) && width(node.a) == bits,
        FEq | FLt | FLe | FUno => {
            bits == 1 && width(node.a) == width(node.b) && is_float(width(node.a))
        }
        FConv => is_float(bits) && is_float(width(node.a)),
        FToS | FToU => is_float(width(node.a)),
        SToF | UToF => is_float(bits),
        Find => bits == 64,
        Compare => bits == 32,
    }
}

/// Equal expressions must be equal nodes.
fn clear_unused(node: &mut Node) {
    let op = op_of(node);
    node.aux = match op {
        Op::Extract => node.aux,
        Op::Find => node.aux & text::ALL,
        Op::Compare => node.aux & (text::TERMINATED | text::FOLD),
        _ => 0,
    };
    match op {
        Op::Const => {
            let value = node.const_value() & mask(u32::from(node.bits)) as u64;
            *node = Node::constant(node.bits, value);
        }
        Op::Input => (node.b, node.c) = (0, 0),
        Op::Len => (node.a, node.b, node.c) = (0, 0, 0),
        Op::Read => node.c = 0,
        Op::Find | Op::Compare => node.a = 0,
        _ if op.arity() == 1 => (node.b, node.c) = (0, 0),
        _ if op.arity() == 2 => node.c = 0,
        _ => {}
    }
}
