//! Conditions on weighted sums: `c1*f1(byte1) + c2*f2(byte2) + … ` lies in an interval, modulo a
//! power of two.
//!
//! Numbers in text, multi-byte integers and checksums are such sums. A condition that has another
//! form is simply not linear; nothing here is a guess.

use crate::query::Lit;
use expr::{Dag, Label, Op, Program, Registers};
use rustc_hash::FxHashMap;

/// Sums are exact integers; wider ones could leave the range of `i128`.
const MAX_BITS: u32 = 64;
/// Nodes that are looked at in one condition, and how deep it may be.
const MAX_VISITS: u32 = 4096;
const MAX_DEPTH: u32 = 256;

/// The values of one byte's part of a sum, by value of the byte.
pub(crate) type Part = [i128; 256];

/// A literal that says: the sum, modulo 2^`bits`, is in `low ..= low + span`.
pub(crate) struct LinearLit {
    pub parts: FxHashMap<u32, Part>,
    pub constant: i128,
    pub modulus: i128,
    pub low: i128,
    pub span: i128,
}

/// The sum that a node is, modulo 2^`bits`.
#[derive(Clone)]
struct Sum {
    /// Nodes over one byte each, with their factors.
    terms: FxHashMap<Label, i128>,
    constant: i128,
    bits: u32,
}

impl LinearLit {
    /// `None` if the literal is not linear. `byte_of` tells the byte of a node that depends on
    /// exactly one.
    pub(crate) fn new(
        dag: &Dag,
        lit: Lit,
        byte_of: &mut dyn FnMut(Label) -> Option<u32>,
    ) -> Option<LinearLit> {
        let mut reader = Reader { dag, byte_of, visits: 0 };
        let (sum, low, high) = reader.condition(lit)?;
        let modulus = 1i128 << sum.bits;
        if low > high || high - low == modulus - 1 {
            return None;
        }
        let mut parts = FxHashMap::default();
        for (&label, &factor) in &sum.terms {
            let byte = (reader.byte_of)(label)?;
            let part = parts.entry(byte).or_insert([0; 256]);
            add_values(dag, label, factor, part)?;
        }
        Some(LinearLit { parts, constant: sum.constant, modulus, low, span: high - low })
    }

    /// Whether a sum between `least` and `least + width` can satisfy the literal.
    pub(crate) fn allows(&self, least: i128, width: i128) -> bool {
        let beyond = (least - self.low).rem_euclid(self.modulus);
        beyond <= self.span || beyond.saturating_add(width) >= self.modulus
    }
}

/// Adds `factor` times the node's value, for each value of its byte.
fn add_values(dag: &Dag, label: Label, factor: i128, part: &mut Part) -> Option<()> {
    let program = Program::compile(dag, &[label], &[leaf(dag, label)?])?;
    let mut registers = Registers::default();
    program.load(&mut registers);
    for (value, sum) in part.iter_mut().enumerate() {
        program.set(&mut registers, 0, value as u128);
        program.run(&mut registers);
        let term = nearest(program.get(&registers, 0) as i128, dag.bits(label));
        *sum = sum.checked_add(term.checked_mul(factor)?)?;
    }
    Some(())
}

/// The input byte below a node that depends on one byte only.
fn leaf(dag: &Dag, label: Label) -> Option<Label> {
    let mut label = label;
    loop {
        if dag.op(label) == Op::Input {
            return Some(label);
        }
        let operands = dag.operands(label);
        let below = |&operand: &Label| operand != 0 && dag.as_constant(operand).is_none();
        label = operands
            .iter()
            .chain(dag.table_labels(label))
            .copied()
            .find(|operand| below(operand))?;
    }
}

/// Bytes are counted from zero, wider numbers around it: sums then rarely leave the range of their
/// type.
fn nearest(value: i128, bits: u32) -> i128 {
    if bits <= 8 { value } else { signed(value, bits) }
}

/// The representative that is nearest to zero.
fn signed(value: i128, bits: u32) -> i128 {
    let modulus = 1i128 << bits;
    let value = value.rem_euclid(modulus);
    if value >= modulus / 2 { value - modulus } else { value }
}

struct Reader<'r> {
    dag: &'r Dag,
    byte_of: &'r mut dyn FnMut(Label) -> Option<u32>,
    visits: u32,
}

impl Reader<'_> {
    /// The sum and the interval in which it must lie.
    fn condition(&mut self, lit: Lit) -> Option<(Sum, i128, i128)> {
        let (dag, node) = (self.dag, *self.dag.node(lit.label));
        match dag.op(lit.label) {
            Op::Not => self.condition(Lit::new(node.a, !lit.value)),
            Op::Eq => {
                let sum = self.sum(node.a, 0)?.plus(&self.sum(node.b, 0)?, -1)?;
                let last = (1i128 << sum.bits) - 1;
                Some(if lit.value { (sum, 0, 0) } else { (sum, 1, last) })
            }
            op @ (Op::Ult | Op::Ule | Op::Slt | Op::Sle) => {
                self.comparison(op, node.a, node.b, lit.value)
            }
            _ => None,
        }
    }

    /// A comparison with a constant; a signed one is an unsigned one after a shift by half the
    /// range.
    fn comparison(
        &mut self,
        op: Op,
        a: Label,
        b: Label,
        wanted: bool,
    ) -> Option<(Sum, i128, i128)> {
        let bits = self.dag.bits(a);
        let left = self.dag.as_constant(a);
        let constant = left.or(self.dag.as_constant(b))?;
        let mut sum = self.sum(if left.is_some() { b } else { a }, 0)?;
        let last = (1i128 << bits) - 1;
        let mut limit = i128::try_from(constant).ok()?;
        if matches!(op, Op::Slt | Op::Sle) {
            let half = 1i128 << (bits - 1);
            sum.constant = sum.constant.checked_add(half)?;
            limit = (limit + half) & last;
        }
        let strict = i128::from(matches!(op, Op::Ult | Op::Slt));
        let (low, high) = match (left.is_some(), wanted) {
            (false, true) => (0, limit - strict),
            (false, false) => (limit + 1 - strict, last),
            (true, true) => (limit + strict, last),
            (true, false) => (0, limit - 1 + strict),
        };
        Some((sum, low, high))
    }

    fn sum(&mut self, label: Label, depth: u32) -> Option<Sum> {
        self.visits += 1;
        let bits = self.dag.bits(label);
        if self.visits > MAX_VISITS || depth > MAX_DEPTH || bits > MAX_BITS {
            return None;
        }
        if let Some(value) = self.dag.as_constant(label) {
            let constant = signed(i128::try_from(value).ok()?, bits);
            return Some(Sum { terms: FxHashMap::default(), constant, bits });
        }
        if (self.byte_of)(label).is_some() {
            return Some(Sum { terms: FxHashMap::from_iter([(label, 1)]), constant: 0, bits });
        }
        let node = *self.dag.node(label);
        match self.dag.op(label) {
            Op::Add => self.sum(node.a, depth + 1)?.plus(&self.sum(node.b, depth + 1)?, 1),
            Op::Sub => self.sum(node.a, depth + 1)?.plus(&self.sum(node.b, depth + 1)?, -1),
            Op::Mul => {
                self.product(node.a, node.b, depth).or_else(|| self.product(node.b, node.a, depth))
            }
            Op::Shl => {
                let shift =
                    self.dag.as_constant(node.b).filter(|&shift| shift < u128::from(bits))?;
                self.sum(node.a, depth + 1)?.times(1 << shift)
            }
            Op::Extract if node.aux == 0 => Some(Sum { bits, ..self.sum(node.a, depth + 1)? }),
            Op::Concat => {
                let low = self.sum(node.b, depth + 1)?.within(self.dag, 0, bits)?;
                let high = Sum { bits, ..self.sum(node.a, depth + 1)? };
                high.times(1 << self.dag.bits(node.b))?.plus(&low, 1)
            }
            Op::ZExt => self.sum(node.a, depth + 1)?.within(self.dag, 0, bits),
            Op::SExt => {
                let half = 1i128 << (self.dag.bits(node.a) - 1);
                self.sum(node.a, depth + 1)?.within(self.dag, -half, bits)
            }
            _ => None,
        }
    }

    fn product(&mut self, a: Label, constant: Label, depth: u32) -> Option<Sum> {
        let factor = i128::try_from(self.dag.as_constant(constant)?).ok()?;
        let factor = signed(factor, self.dag.bits(constant));
        self.sum(a, depth + 1)?.times(factor)
    }
}

impl Sum {
    fn plus(mut self, other: &Sum, factor: i128) -> Option<Sum> {
        self.constant = self.constant.checked_add(other.constant.checked_mul(factor)?)?;
        for (&label, &count) in &other.terms {
            let sum = self.terms.entry(label).or_insert(0);
            *sum = signed(sum.checked_add(count.checked_mul(factor)?)?, self.bits);
        }
        self.constant = signed(self.constant, self.bits);
        Some(self)
    }

    fn times(mut self, factor: i128) -> Option<Sum> {
        self.constant = signed(self.constant.checked_mul(factor)?, self.bits);
        for count in self.terms.values_mut() {
            *count = signed(count.checked_mul(factor)?, self.bits);
        }
        Some(self)
    }

    /// The same sum in a wider type, if it cannot leave the 2^bits values from `least` on, whatever
    /// the bytes are.
    fn within(self, dag: &Dag, least: i128, bits: u32) -> Option<Sum> {
        let (mut low, mut high) = (self.constant, self.constant);
        for (&label, &factor) in &self.terms {
            let mut part = [0; 256];
            add_values(dag, label, factor, &mut part)?;
            low = low.checked_add(*part.iter().min()?)?;
            high = high.checked_add(*part.iter().max()?)?;
        }
        let fits = low >= least && high < least + (1i128 << self.bits);
        fits.then_some(Sum { bits, ..self })
    }
}
