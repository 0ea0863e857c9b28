//! Simplification: [`Dag::make`] builds a node in normal form from operands in normal form.
//!
//! Each module holds the rules of one theme, each rule headed by its equation. A rule returns the
//! label of an equal term that is smaller or closer to normal form, so that rewriting ends. Rules
//! look at a fixed number of levels and are never recursive in the size of an expression.

mod arithmetic;
mod bitwise;
mod choice;
mod comparison;
mod folding;
mod widths;

use crate::dag::{Dag, op_of};
use trace::{Label, Node, Op};

type Rules = fn(&mut Dag, &Node) -> Option<Label>;

/// The themes, in the order in which they are tried.
const THEMES: &[Rules] = &[
    folding::rewrite,
    arithmetic::rewrite,
    bitwise::rewrite,
    widths::rewrite,
    choice::rewrite,
    comparison::rewrite,
];

impl Dag {
    /// The label of a simplified form of `node`, whose operands are labels of this Dag.
    pub fn make(&mut self, node: Node) -> Label {
        let node = constant_last(self, node);
        THEMES.iter().find_map(|rules| rules(self, &node)).unwrap_or_else(|| self.add(node))
    }

    /// A simplified unary node.
    pub fn make_unary(&mut self, op: Op, bits: u32, a: Label) -> Label {
        self.make(Node::unary(op, bits as u8, a))
    }

    /// A simplified binary node.
    pub fn make_binary(&mut self, op: Op, bits: u32, a: Label, b: Label) -> Label {
        self.make(Node::binary(op, bits as u8, a, b))
    }

    /// A simplified negation.
    pub fn make_not(&mut self, a: Label) -> Label {
        self.make_unary(Op::Not, self.bits(a), a)
    }

    /// A simplified extraction of `bits` bits from bit `low` on.
    pub fn make_extract(&mut self, a: Label, low: u32, bits: u32) -> Label {
        self.make(Node { op: Op::Extract as u8, bits: bits as u8, aux: low as u16, a, b: 0, c: 0 })
    }

    /// A simplified choice.
    pub fn make_ite(&mut self, condition: Label, yes: Label, no: Label) -> Label {
        let bits = self.bits(yes) as u8;
        self.make(Node { op: Op::Ite as u8, bits, aux: 0, a: condition, b: yes, c: no })
    }
}

/// x op c = c op x for commutative operators; otherwise the smaller label comes first.
fn constant_last(dag: &Dag, node: Node) -> Node {
    if !matches!(op_of(&node), Op::Add | Op::Mul | Op::And | Op::Or | Op::Xor | Op::Eq) {
        return node;
    }
    let key = |label: Label| (dag.as_constant(label).is_some(), label);
    if key(node.a) <= key(node.b) { node } else { Node { a: node.b, b: node.a, ..node } }
}
