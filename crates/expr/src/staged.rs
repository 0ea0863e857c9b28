//! Evaluation while the bytes of an input are chosen one after the other.
//!
//! A node belongs to the stage of the last choice that it depends on, and keeps its value until
//! that choice or an earlier one changes. Of a choice between expressions, and of a table with
//! expressions in it, only what is chosen is evaluated: a write at a symbolic place makes hundreds
//! of such nodes, of which a read needs one. Values are words of 64 bits.

use crate::dag::{Dag, op_of, operands_of};
use crate::semantics::{Operator, narrow};
use trace::{Label, Node, Op};

/// What a node depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// 0 for what depends on no choice.
    pub stage: u32,
    /// The value, if it is known without its operands.
    pub value: Option<u64>,
}

/// Memory for evaluations of one Dag.
#[derive(Clone, Debug, Default)]
pub struct Staged {
    entries: Vec<Entry>,
    /// When each stage, or one before it, changed last.
    changed: Vec<u32>,
    clock: u32,
    stack: Vec<Label>,
    steps: u64,
}

/// A value holds while its stage has not changed since.
#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    value: u64,
    stage: u32,
    stamp: u32,
}

/// More steps are needed than are allowed, or words of 64 bits do not hold a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooMuch;

/// Nothing to go on with, or what a node still waits for.
type Visit = Result<Option<u64>, TooMuch>;

impl Staged {
    /// Starts anew with `stages` choices, the first of which has number 1, and room for so many
    /// steps. Steps are nodes looked at.
    pub fn start(&mut self, dag: &Dag, stages: usize, steps: u64) {
        if self.entries.len() < dag.len() {
            self.entries.resize(dag.len(), Entry::default());
        }
        self.changed.clear();
        self.changed.resize(stages + 1, 0);
        self.steps = steps;
        self.change(0);
    }

    /// The choice of this stage is another one from now on.
    pub fn change(&mut self, stage: usize) {
        let Some(clock) = self.clock.checked_add(1) else {
            self.entries.fill(Entry::default());
            self.changed.fill(1);
            self.clock = 1;
            return;
        };
        self.clock = clock;
        self.changed[stage..].fill(clock);
    }

    /// The value of `label`. `place` tells the stage of each node that is looked at, unless it
    /// gives up.
    pub fn eval(
        &mut self,
        dag: &Dag,
        label: Label,
        place: &mut impl FnMut(Label) -> Option<Place>,
    ) -> Result<u64, TooMuch> {
        self.stack.clear();
        self.stack.push(label);
        while let Some(&top) = self.stack.last() {
            if self.known(top).is_none() {
                self.steps = self.steps.checked_sub(1).ok_or(TooMuch)?;
                let Place { stage, value } = place(top).ok_or(TooMuch)?;
                let value = match value {
                    None => self.visit(dag, top)?,
                    value => value,
                };
                let Some(value) = value else { continue };
                let stamp = self.changed[stage as usize];
                self.entries[top as usize] = Entry { value, stage, stamp };
            }
            self.stack.pop();
        }
        Ok(self.entries[label as usize].value)
    }

    fn known(&self, label: Label) -> Option<u64> {
        let Entry { value, stage, stamp } = self.entries[label as usize];
        (stamp != 0 && self.changed.get(stage as usize) == Some(&stamp)).then_some(value)
    }

    /// The value of an operand, 0 in an unused place; pushes one that is not known.
    fn operand(&mut self, label: Label) -> Option<u64> {
        if label == 0 {
            return Some(0);
        }
        let known = self.known(label);
        if known.is_none() {
            self.stack.push(label);
        }
        known
    }

    fn visit(&mut self, dag: &Dag, label: Label) -> Visit {
        let node = dag.node(label);
        if node.bits > 64 {
            return Err(TooMuch);
        }
        match op_of(node) {
            Op::Const | Op::Token => Ok(Some(node.const_value())),
            Op::Input | Op::Len | Op::Find | Op::Compare => Err(TooMuch),
            Op::Ite => Ok(self.ite(node)),
            Op::Read => Ok(self.read(dag, node)),
            op => self.apply(dag, op, node),
        }
    }

    fn ite(&mut self, node: &Node) -> Option<u64> {
        let condition = self.operand(node.a)?;
        self.operand(if condition == 1 { node.b } else { node.c })
    }

    fn read(&mut self, dag: &Dag, node: &Node) -> Option<u64> {
        let offset = self.operand(node.a)?;
        let table = dag.table(node.b);
        let (mut value, mut complete) = (0, true);
        for index in 0..u64::from(node.bits / 8) {
            let Some(at) = offset.checked_add(index) else { break };
            let byte = match table.label(at) {
                0 => Some(u64::from(table.byte(at))),
                label => self.operand(label),
            };
            complete &= byte.is_some();
            value |= byte.unwrap_or(0) << (8 * index);
        }
        complete.then_some(value)
    }

    fn apply(&mut self, dag: &Dag, op: Op, node: &Node) -> Visit {
        let operator = Operator {
            op,
            bits: node.bits,
            operand_bits: dag.bits(node.a) as u8,
            low: node.aux as u8,
        };
        if operator.operand_bits > 64 {
            return Err(TooMuch);
        }
        let [a, b, c] = operands_of(node).map(|operand| self.operand(operand));
        let (Some(a), Some(b), Some(c)) = (a, b, c) else { return Ok(None) };
        Ok(Some(narrow::apply(operator, a, b, c)))
    }
}
