//! Nodes to Z3 terms, each node once, in label order.

use crate::floats;
use crate::tables::Cells;
use crate::term::{Term, constant};
use expr::{Dag, Label, Node, Op};
use rustc_hash::FxHashMap;
use std::collections::BinaryHeap;
use z3::ast::{BV, Bool};

pub(crate) struct Translator<'d> {
    dag: &'d Dag,
    terms: FxHashMap<Label, Term>,
    inputs: Vec<(u32, BV)>,
    length: Option<BV>,
    exact: bool,
    floats: bool,
}

impl<'d> Translator<'d> {
    pub(crate) fn new(dag: &'d Dag) -> Translator<'d> {
        Translator {
            dag,
            terms: FxHashMap::default(),
            inputs: Vec::new(),
            length: None,
            exact: true,
            floats: false,
        }
    }

    /// The 1-bit node `label`; `None` if Z3 cannot express it.
    pub(crate) fn condition(&mut self, label: Label) -> Option<Bool> {
        Some(self.term(label)?.truth())
    }

    /// Any node as bits.
    #[cfg(test)]
    pub(crate) fn bits(&mut self, label: Label) -> Option<BV> {
        Some(self.term(label)?.bits())
    }

    /// Variables of the input bytes that occur.
    pub(crate) fn inputs(&self) -> impl Iterator<Item = (u32, &BV)> {
        self.inputs.iter().map(|(index, variable)| (*index, variable))
    }

    /// Variable of the input's length if it occurs.
    pub(crate) fn length(&self) -> Option<&BV> {
        self.length.as_ref()
    }

    /// False if the terms may differ from the nodes (in the bits of a NaN), so that "unsat" proves
    /// nothing.
    pub(crate) fn is_exact(&self) -> bool {
        self.exact
    }

    /// True if the theory of floats is needed.
    pub(crate) fn has_floats(&self) -> bool {
        self.floats
    }

    fn term(&mut self, label: Label) -> Option<&Term> {
        for needed in self.needed(label) {
            let term = self.translate(needed)?;
            self.floats |= matches!(term, Term::Float(_))
                || matches!(
                    self.dag.op(needed),
                    Op::FEq | Op::FLt | Op::FLe | Op::FUno | Op::FToS | Op::FToU
                );
            self.terms.insert(needed, term);
        }
        self.terms.get(&label)
    }

    /// Nodes below `label` that have no term yet, in increasing order.
    fn needed(&self, label: Label) -> Vec<Label> {
        let mut heap = BinaryHeap::from([label]);
        let mut needed = Vec::new();
        while let Some(label) = heap.pop() {
            if needed.last() == Some(&label) || self.terms.contains_key(&label) {
                continue;
            }
            needed.push(label);
            let operands = self.dag.operands(label);
            heap.extend(
                operands
                    .iter()
                    .chain(self.dag.table_labels(label))
                    .filter(|&&operand| operand != 0),
            );
        }
        needed.reverse();
        needed
    }

    fn translate(&mut self, label: Label) -> Option<Term> {
        let node = *self.dag.node(label);
        use Op::*;
        Some(match self.dag.op(label) {
            Const | Token => {
                Term::Bits(constant(u32::from(node.bits), u128::from(node.const_value())))
            }
            Input => Term::Bits(self.input(node.a)),
            Len => Term::Bits(self.len()),
            op @ (FAdd | FSub | FMul | FDiv | FRem) => Term::Float(floats::arithmetic(
                op,
                &self.terms[&node.a].float(),
                &self.terms[&node.b].float(),
            )?),
            FSqrt => Term::Float(self.terms[&node.a].float().sqrt()),
            FConv => {
                Term::Float(floats::convert(&self.terms[&node.a].float(), u32::from(node.bits)))
            }
            op @ (FEq | FLt | FLe | FUno) => {
                let (a, b) = (self.terms[&node.a].float(), self.terms[&node.b].float());
                Term::Truth(floats::comparison(op, &a, &b))
            }
            op @ (FToS | FToU) => {
                let (width, bits) = (self.dag.bits(node.a), u32::from(node.bits));
                let float = self.terms[&node.a].float();
                Term::Bits(floats::to_integer(&float, width, op == FToS, bits))
            }
            op @ (SToF | UToF) => {
                let integer = self.bits_of(node.a);
                Term::Float(floats::from_integer(&integer, op == SToF, u32::from(node.bits)))
            }
            Ite => self.ite(&node),
            Read => Term::Bits(self.read(&node)?),
            // Queries come with formulas in place of these.
            Find | Compare => return None,
            op if op.arity() == 1 => self.unary(op, &node),
            op => self.binary(op, &node),
        })
    }

    fn input(&mut self, index: u32) -> BV {
        let variable = BV::new_const(format!("b{index}"), 8);
        self.inputs.push((index, variable.clone()));
        variable
    }

    fn len(&mut self) -> BV {
        let variable = BV::new_const("len", 64);
        self.length = Some(variable.clone());
        variable
    }

    fn bits_of(&mut self, label: Label) -> BV {
        let term = &self.terms[&label];
        self.exact &= !matches!(term, Term::Float(_));
        term.bits()
    }

    fn ite(&mut self, node: &Node) -> Term {
        let condition = self.terms[&node.a].truth();
        match (&self.terms[&node.b], &self.terms[&node.c]) {
            (Term::Truth(yes), Term::Truth(no)) => Term::Truth(condition.ite(yes, no)),
            (Term::Float(yes), Term::Float(no)) => Term::Float(condition.ite(yes, no)),
            _ => {
                let (yes, no) = (self.bits_of(node.b), self.bits_of(node.c));
                Term::Bits(condition.ite(&yes, &no))
            }
        }
    }

    fn read(&mut self, node: &Node) -> Option<BV> {
        let offset = self.bits_of(node.a);
        let byte = |label: Label| self.terms[&label].bits();
        let cells = Cells { table: self.dag.table(node.b), byte: &byte };
        cells.read(self.dag, node.a, &offset, u32::from(node.bits / 8))
    }

    fn unary(&mut self, op: Op, node: &Node) -> Term {
        if let (Op::Not, Term::Truth(truth)) = (op, &self.terms[&node.a]) {
            return Term::Truth(truth.not());
        }
        let a = self.bits_of(node.a);
        let (bits, width) = (u32::from(node.bits), self.dag.bits(node.a));
        Term::Bits(match op {
            Op::Not => a.bvnot(),
            Op::ZExt => a.zero_ext(bits - width),
            Op::SExt => a.sign_ext(bits - width),
            Op::Extract => a.extract(u32::from(node.aux) + bits - 1, u32::from(node.aux)),
            Op::Bswap => swap_bytes(&a, bits),
            Op::Ctpop => count_ones(&a, bits),
            Op::Ctlz => first_one(&a, bits, &mut (0..bits), |bit| bits - 1 - bit),
            _ => first_one(&a, bits, &mut (0..bits).rev(), |bit| bit),
        })
    }

    fn binary(&mut self, op: Op, node: &Node) -> Term {
        if let (Term::Truth(a), Term::Truth(b)) = (&self.terms[&node.a], &self.terms[&node.b]) {
            match op {
                Op::And => return Term::Truth(Bool::and(&[a, b])),
                Op::Or => return Term::Truth(Bool::or(&[a, b])),
                Op::Xor => return Term::Truth(a.xor(b)),
                Op::Eq => return Term::Truth(a.iff(b)),
                _ => {}
            }
        }
        let (a, b) = (self.bits_of(node.a), self.bits_of(node.b));
        match op {
            Op::Eq => Term::Truth(a.eq(b)),
            Op::Ult => Term::Truth(a.bvult(b)),
            Op::Ule => Term::Truth(a.bvule(b)),
            Op::Slt => Term::Truth(a.bvslt(b)),
            Op::Sle => Term::Truth(a.bvsle(b)),
            _ => Term::Bits(arithmetic(op, &a, &b)),
        }
    }
}

fn arithmetic(op: Op, a: &BV, b: &BV) -> BV {
    match op {
        Op::Add => a.bvadd(b),
        Op::Sub => a.bvsub(b),
        Op::Mul => a.bvmul(b),
        Op::UDiv => a.bvudiv(b),
        Op::SDiv => a.bvsdiv(b),
        Op::URem => a.bvurem(b),
        Op::SRem => a.bvsrem(b),
        Op::And => a.bvand(b),
        Op::Or => a.bvor(b),
        Op::Xor => a.bvxor(b),
        Op::Shl => a.bvshl(b),
        Op::LShr => a.bvlshr(b),
        Op::AShr => a.bvashr(b),
        _ => a.concat(b),
    }
}

fn swap_bytes(a: &BV, bits: u32) -> BV {
    let byte = |low: u32| a.extract(low + 7, low);
    (8..bits).step_by(8).fold(byte(0), |swapped, low| swapped.concat(byte(low)))
}

fn count_ones(a: &BV, bits: u32) -> BV {
    let bit = |index: u32| match bits {
        1 => a.clone(),
        _ => a.extract(index, index).zero_ext(bits - 1),
    };
    (1..bits).fold(bit(0), |sum, index| sum.bvadd(bit(index)))
}

/// The number that `result` gives for the last bit of the `order` that is set; the width if none
/// is.
fn first_one(
    a: &BV,
    bits: u32,
    order: &mut dyn Iterator<Item = u32>,
    result: impl Fn(u32) -> u32,
) -> BV {
    let none = constant(bits, u128::from(bits));
    order.fold(none, |other, bit| {
        let set = a.extract(bit, bit).eq(BV::from_u64(1, 1));
        set.ite(&constant(bits, u128::from(result(bit))), &other)
    })
}
