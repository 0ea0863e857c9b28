//! Evaluation of nodes on an input. Walks only the nodes that are needed, on a stack of its own:
//! traces hold chains of any length. The values outlive one call, so that many roots share their
//! common parts.

use crate::dag::{Dag, op_of};
use crate::semantics::{Operator, wide};
use crate::texts::Operation;
use trace::{Label, Node, Op};

/// An input: its bytes are the input bytes, its length is the input's length. Bytes beyond it are
/// 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Assignment {
    pub bytes: Vec<u8>,
}

impl Assignment {
    pub fn new(bytes: impl Into<Vec<u8>>) -> Assignment {
        Assignment { bytes: bytes.into() }
    }
}

impl Dag {
    /// The value of one node. To evaluate many, keep an [`Evaluator`].
    pub fn eval(&self, label: Label, assignment: &Assignment) -> u128 {
        Evaluator::new().under(self, &assignment.bytes).eval(label)
    }
}

/// Memory for evaluations.
#[derive(Clone, Debug, Default)]
pub struct Evaluator {
    values: Vec<u128>,
    /// A value is known if its stamp is the current one.
    stamps: Vec<u32>,
    current: u32,
    stack: Vec<Label>,
}

impl Evaluator {
    pub fn new() -> Evaluator {
        Evaluator::default()
    }

    /// Starts evaluating on another input or Dag; forgets all values in constant time.
    pub fn under<'a>(&'a mut self, dag: &'a Dag, input: &'a [u8]) -> Evaluation<'a> {
        if self.values.len() < dag.len() {
            self.values.resize(dag.len(), 0);
            self.stamps.resize(dag.len(), 0);
        }
        self.current = self.current.checked_add(1).unwrap_or_else(|| {
            self.stamps.fill(0);
            1
        });
        Evaluation { memory: self, dag, input }
    }

    /// Goes on where the last call of [`Evaluator::under`] left off: the values that are known
    /// stay. `dag` and `input` must be the same as then.
    pub fn again<'a>(&'a mut self, dag: &'a Dag, input: &'a [u8]) -> Evaluation<'a> {
        Evaluation { memory: self, dag, input }
    }
}

/// Evaluation of the nodes of one Dag on one input.
pub struct Evaluation<'a> {
    memory: &'a mut Evaluator,
    dag: &'a Dag,
    input: &'a [u8],
}

impl Evaluation<'_> {
    pub fn eval(&mut self, label: Label) -> u128 {
        debug_assert!(self.memory.stack.is_empty());
        self.memory.stack.push(label);
        while let Some(&top) = self.memory.stack.last() {
            let waiting = self.memory.stack.len();
            if !self.known(top) {
                self.visit(top);
            }
            if self.memory.stack.len() == waiting {
                self.memory.stack.pop();
            }
        }
        self.memory.values[label as usize]
    }

    /// True if the 1-bit node `label` is 1.
    pub fn holds(&mut self, label: Label) -> bool {
        self.eval(label) == 1
    }

    fn known(&self, label: Label) -> bool {
        self.memory.stamps[label as usize] == self.memory.current
    }

    fn value(&self, label: Label) -> u128 {
        self.memory.values[label as usize]
    }

    /// Pushes what `label` still waits for, or else computes it.
    fn visit(&mut self, label: Label) {
        let dag = self.dag;
        let node = dag.node(label);
        let value = match op_of(node) {
            Op::Ite => self.ite(node),
            Op::Read => self.read(node),
            Op::Find | Op::Compare => self.text(node),
            _ if self.wait_for(dag.operands(label)) => None,
            Op::Const | Op::Token => Some(u128::from(node.const_value())),
            Op::Input => Some(u128::from(self.input.get(node.a as usize).copied().unwrap_or(0))),
            Op::Len => Some(self.input.len() as u128),
            op => Some(self.apply(op, node)),
        };
        if let Some(value) = value {
            self.memory.values[label as usize] = value;
            self.memory.stamps[label as usize] = self.memory.current;
        }
    }

    /// Pushes the operands that are not known; true if there are any.
    fn wait_for(&mut self, operands: [Label; 3]) -> bool {
        let before = self.memory.stack.len();
        for operand in operands {
            if operand != 0 && !self.known(operand) {
                self.memory.stack.push(operand);
            }
        }
        self.memory.stack.len() > before
    }

    fn apply(&self, op: Op, node: &Node) -> u128 {
        let [a, b, c] = crate::dag::operands_of(node);
        let operator = Operator {
            op,
            bits: node.bits,
            operand_bits: self.dag.bits(a) as u8,
            low: node.aux as u8,
        };
        wide::apply(operator, self.value(a), self.value(b), self.value(c))
    }

    /// Only the chosen side is evaluated.
    fn ite(&mut self, node: &Node) -> Option<u128> {
        if self.wait_for([node.a, 0, 0]) {
            return None;
        }
        let chosen = if self.value(node.a) == 1 { node.b } else { node.c };
        if self.wait_for([chosen, 0, 0]) { None } else { Some(self.value(chosen)) }
    }

    /// Only the bytes that are read are evaluated.
    fn read(&mut self, node: &Node) -> Option<u128> {
        if self.wait_for([node.a, 0, 0]) {
            return None;
        }
        let table = self.dag.table(node.b);
        let offset = self.value(node.a) as u64;
        let (mut value, mut complete) = (0, true);
        for index in 0..u64::from(node.bits / 8) {
            let Some(at) = offset.checked_add(index) else { break };
            let label = table.label(at);
            complete &= !self.wait_for([label, 0, 0]);
            let byte = if label == 0 { u128::from(table.byte(at)) } else { self.value(label) };
            value |= byte << (8 * index);
        }
        complete.then_some(value)
    }

    fn text(&mut self, node: &Node) -> Option<u128> {
        let dag = self.dag;
        let (table, pattern) = (dag.table(node.b), dag.table(node.c));
        let before = self.memory.stack.len();
        for &label in table.labels.iter().flatten() {
            self.wait_for([label, 0, 0]);
        }
        if self.memory.stack.len() > before {
            return None;
        }
        let byte = |at: usize| match table.label(at as u64) {
            0 => table.byte(at as u64),
            label => self.value(label) as u8,
        };
        Some(u128::from(Operation::new(node, &pattern.bytes).apply(table.bytes.len(), byte)))
    }
}
