//! Undoing one operator: which operand values make a node have a wanted value.

use expr::{Dag, Evaluation, Label, Node, Op};

/// A sequence of choices, encoded in a number.
pub(crate) struct Choices {
    rest: u32,
    combinations: u32,
}

impl Choices {
    pub(crate) fn new(number: u32) -> Choices {
        Choices { rest: number, combinations: 1 }
    }

    /// One of `0 .. count`.
    fn pick(&mut self, count: usize) -> usize {
        let count = count.max(1) as u32;
        let picked = self.rest % count;
        self.rest /= count;
        self.combinations = self.combinations.saturating_mul(count);
        picked as usize
    }

    /// How many different sequences there are as far as they were asked for.
    pub(crate) fn combinations(&self) -> u32 {
        self.combinations
    }
}

/// How to go on from a node that should have a value.
pub(crate) enum Step {
    /// These nodes should have these values.
    Down(Vec<(Label, u128)>),
    /// The node is an input byte or the length.
    Leaf,
    Stuck,
}

struct Context<'c, 'e> {
    dag: &'c Dag,
    evaluation: &'c mut Evaluation<'e>,
    choices: &'c mut Choices,
    node: Node,
    bits: u32,
    wanted: u128,
}

/// One step down from `label`, whose value on the current input is not `wanted`.
pub(crate) fn steps(
    dag: &Dag,
    evaluation: &mut Evaluation<'_>,
    label: Label,
    wanted: u128,
    choices: &mut Choices,
) -> Step {
    let (node, bits) = (*dag.node(label), dag.bits(label));
    let mut context = Context { dag, evaluation, choices, node, bits, wanted };
    use Op::*;
    let next = match dag.op(label) {
        Const => None,
        Input | Len => return Step::Leaf,
        Not => context.first(!wanted),
        Bswap => context.first(wanted.swap_bytes() >> (128 - bits)),
        ZExt => context.zext(),
        SExt => context.sext(),
        Extract => context.extract(),
        Concat => context.concat(),
        Ite => context.ite(),
        Read => context.read(),
        Eq | Ult | Ule | Slt | Sle => context.comparison(dag.op(label)),
        FEq | FLt | FLe => context.float_comparison(dag.op(label)),
        op @ (And | Or) if bits == 1 => context.connective(op),
        op @ (FConv | FToS | FToU | SToF | UToF | FSqrt) => context.float_unary(op),
        op @ (FAdd | FSub | FMul | FDiv) => context.float_binary(op),
        op if op.arity() == 2 => context.binary(op),
        _ => None,
    };
    next.map_or(Step::Stuck, Step::Down)
}

type Next = Option<Vec<(Label, u128)>>;

fn mask(bits: u32) -> u128 {
    if bits >= 128 { u128::MAX } else { (1 << bits) - 1 }
}

fn sign_extend(value: u128, bits: u32) -> i128 {
    ((value << (128 - bits)) as i128) >> (128 - bits)
}

/// The inverse of an odd number modulo 2^128.
fn odd_inverse(odd: u128) -> u128 {
    (0..7).fold(odd, |x, _| x.wrapping_mul(2u128.wrapping_sub(odd.wrapping_mul(x))))
}

impl Context<'_, '_> {
    fn value(&mut self, label: Label) -> u128 {
        self.evaluation.eval(label)
    }

    fn is_constant(&self, label: Label) -> bool {
        self.dag.as_constant(label).is_some()
    }

    fn first(&mut self, value: u128) -> Next {
        Some(vec![(self.node.a, value & mask(self.dag.bits(self.node.a)))])
    }

    fn zext(&mut self) -> Next {
        let fits = self.wanted <= mask(self.dag.bits(self.node.a));
        if fits { self.first(self.wanted) } else { None }
    }

    fn sext(&mut self) -> Next {
        let width = self.dag.bits(self.node.a);
        let fits = sign_extend(self.wanted, width) as u128 & mask(self.bits) == self.wanted;
        if fits { self.first(self.wanted) } else { None }
    }

    /// Other bits of the operand stay.
    fn extract(&mut self) -> Next {
        let low = u32::from(self.node.aux);
        let hole = mask(self.bits) << low;
        let current = self.value(self.node.a);
        self.first(current & !hole | self.wanted << low)
    }

    fn concat(&mut self) -> Next {
        let split = self.dag.bits(self.node.b);
        Some(vec![(self.node.a, self.wanted >> split), (self.node.b, self.wanted & mask(split))])
    }

    /// The side that is chosen now gets the value, or the other side does and the condition
    /// changes.
    fn ite(&mut self) -> Next {
        let condition = self.value(self.node.a);
        let (now, other) =
            if condition == 1 { (self.node.b, self.node.c) } else { (self.node.c, self.node.b) };
        let keep = (vec![(now, self.wanted)], !self.is_constant(now));
        let swap = (
            vec![(self.node.a, 1 - condition), (other, self.wanted)],
            !self.is_constant(other) || self.value(other) == self.wanted,
        );
        let options: Vec<Vec<(Label, u128)>> = [swap, keep]
            .into_iter()
            .filter(|(_, possible)| *possible)
            .map(|(option, _)| option)
            .collect();
        self.choose(options)
    }

    fn choose(&mut self, mut options: Vec<Vec<(Label, u128)>>) -> Next {
        if options.is_empty() {
            return None;
        }
        let picked = self.choices.pick(options.len());
        Some(options.swap_remove(picked))
    }

    /// An offset where the table holds the value.
    fn read(&mut self) -> Next {
        let table = self.dag.table(self.node.b);
        if table.labels.is_some() {
            return None;
        }
        let count = u64::from(self.node.bits / 8);
        let value_at = |offset: u64| {
            (0..count)
                .rev()
                .fold(0, |value, index| value << 8 | u128::from(table.byte(offset + index)))
        };
        let offsets =
            (0..table.bytes.len() as u64).filter(|&offset| value_at(offset) == self.wanted);
        let options =
            offsets.take(8).map(|offset| vec![(self.node.a, u128::from(offset))]).collect();
        self.choose(options)
    }

    /// Values for one side of a comparison while the other stays.
    fn comparison(&mut self, op: Op) -> Next {
        let (a, b) = (self.node.a, self.node.b);
        let (x, y) = (self.value(a), self.value(b));
        let bits = self.dag.bits(a);
        let (least, greatest) = match op {
            Op::Slt | Op::Sle => (1 << (bits - 1), mask(bits) >> 1),
            _ => (0, mask(bits)),
        };
        let up = |value: u128| (value != greatest).then(|| value.wrapping_add(1) & mask(bits));
        let down = |value: u128| (value != least).then(|| value.wrapping_sub(1) & mask(bits));
        let (for_a, for_b): (Vec<Option<u128>>, Vec<Option<u128>>) = match (op, self.wanted) {
            (Op::Eq, 1) => (vec![Some(y)], vec![Some(x)]),
            (Op::Eq, _) => (vec![up(y), down(y)], vec![up(x), down(x)]),
            (Op::Ult | Op::Slt, 1) => (vec![down(y), Some(least)], vec![up(x), Some(greatest)]),
            (Op::Ule | Op::Sle, 1) => (vec![Some(y), Some(least)], vec![Some(x), Some(greatest)]),
            (Op::Ult | Op::Slt, _) => (vec![Some(y), Some(greatest)], vec![Some(x), Some(least)]),
            _ => (vec![up(y), Some(greatest)], vec![down(x), Some(least)]),
        };
        let mut options = Vec::new();
        for (side, values) in [(a, for_a), (b, for_b)] {
            if !self.is_constant(side) {
                options.extend(values.into_iter().flatten().map(|value| vec![(side, value)]));
            }
        }
        self.choose(options)
    }

    fn connective(&mut self, op: Op) -> Next {
        let both = (op == Op::And) == (self.wanted == 1);
        let sides = [(self.node.a, self.wanted), (self.node.b, self.wanted)];
        if both { Some(sides.to_vec()) } else { self.choose(sides.map(|side| vec![side]).to_vec()) }
    }

    /// One operand stays, the other is solved for.
    fn binary(&mut self, op: Op) -> Next {
        let (a, b) = (self.node.a, self.node.b);
        let (x, y) = (self.value(a), self.value(b));
        let for_a = (!self.is_constant(a)).then(|| self.left(op, x, y)).flatten();
        let for_b = (!self.is_constant(b)).then(|| self.right(op, x, y)).flatten();
        let one_side = [(a, for_a), (b, for_b)];
        let one_side = one_side
            .into_iter()
            .filter_map(|(side, value)| Some(vec![(side, value? & mask(self.bits))]));
        let options = self.positional(op).into_iter().chain(one_side).collect();
        self.choose(options)
    }

    /// x * c + y, as in reading a number with base c: x gets the quotient and y the remainder.
    fn positional(&self, op: Op) -> Option<Vec<(Label, u128)>> {
        let base = |product: Label| {
            let node = self.dag.node(product);
            if self.dag.op(product) == Op::Mul {
                self.dag.as_constant(node.b).filter(|&c| c > 1)
            } else {
                None
            }
        };
        let (a, b) = (self.node.a, self.node.b);
        let (product, rest, c) = base(a)
            .map(|c| (a, b, c))
            .or_else(|| base(b).map(|c| (b, a, c)))
            .filter(|_| op == Op::Add)?;
        let remainder = self.wanted % c;
        Some(vec![(rest, remainder), (product, self.wanted - remainder)])
    }

    /// The left operand, now `x`, for a right operand `y`.
    fn left(&self, op: Op, x: u128, y: u128) -> Option<u128> {
        let (wanted, bits) = (self.wanted, self.bits);
        match op {
            Op::Add => Some(wanted.wrapping_sub(y)),
            Op::Sub => Some(wanted.wrapping_add(y)),
            Op::Xor => Some(wanted ^ y),
            Op::Mul => divide(wanted, y, bits),
            Op::And => (wanted & !y == 0).then_some(x & !y | wanted),
            Op::Or => (y & !wanted == 0).then_some(x & y | wanted & !y),
            Op::UDiv => wanted.checked_mul(y).filter(|product| y != 0 && *product <= mask(bits)),
            Op::SDiv => (y != 0)
                .then(|| sign_extend(wanted, bits).wrapping_mul(sign_extend(y, bits)) as u128),
            Op::URem => (wanted < y).then(|| (x - x % y).wrapping_add(wanted)),
            Op::SRem => {
                let (x, y, wanted) =
                    (sign_extend(x, bits), sign_extend(y, bits), sign_extend(wanted, bits));
                let rest = x.checked_rem(y)?;
                (wanted.unsigned_abs() < y.unsigned_abs())
                    .then(|| x.wrapping_sub(rest).wrapping_add(wanted) as u128)
            }
            Op::Shl if y < u128::from(bits) => {
                let high = x & !(mask(bits) >> y);
                (wanted & mask(y as u32) == 0).then_some(high | wanted >> y)
            }
            Op::LShr if y < u128::from(bits) => (wanted >> (bits - y as u32).min(127) == 0
                || y == 0)
                .then_some(wanted << y | x & mask(y as u32)),
            Op::AShr if y < u128::from(bits) => {
                let value = (wanted << y | x & mask(y as u32)) & mask(bits);
                (sign_extend(value, bits) >> y == sign_extend(wanted, bits)).then_some(value)
            }
            _ => None,
        }
    }

    /// The right operand, now `y`, for a left operand `x`.
    fn right(&self, op: Op, x: u128, y: u128) -> Option<u128> {
        match op {
            Op::Add | Op::Xor | Op::Mul | Op::And | Op::Or => self.left(op, y, x),
            Op::Sub => Some(x.wrapping_sub(self.wanted)),
            Op::UDiv => x.checked_div(self.wanted),
            _ => None,
        }
    }

    fn float_comparison(&mut self, op: Op) -> Next {
        let (a, b) = (self.node.a, self.node.b);
        let width = self.dag.bits(a);
        let (x, y) = (float(self.value(a), width), float(self.value(b), width));
        let (for_a, for_b) = match (op, self.wanted) {
            (Op::FEq, 1) | (Op::FLe, 1) => (vec![y], vec![x]),
            (Op::FEq, _) => (vec![above(y, width), y + 1.0], vec![above(x, width), x + 1.0]),
            (Op::FLt, 1) => (vec![below(y, width), y - 1.0], vec![above(x, width), x + 1.0]),
            (Op::FLt, _) => (vec![y, y + 1.0], vec![x, x - 1.0]),
            _ => (vec![above(y, width), y + 1.0], vec![below(x, width), x - 1.0]),
        };
        let mut options = Vec::new();
        for (side, values) in [(a, for_a), (b, for_b)] {
            if !self.is_constant(side) {
                options
                    .extend(values.into_iter().map(|value| vec![(side, float_bits(value, width))]));
            }
        }
        self.choose(options)
    }

    fn float_unary(&mut self, op: Op) -> Next {
        let width = self.dag.bits(self.node.a);
        match op {
            Op::FConv => self.first(float_bits(float(self.wanted, self.bits), width)),
            Op::FToS => self.first(float_bits(sign_extend(self.wanted, self.bits) as f64, width)),
            Op::FToU => self.first(float_bits(self.wanted as f64, width)),
            Op::SToF => self.first(float(self.wanted, self.bits) as i128 as u128),
            Op::UToF => self.first(float(self.wanted, self.bits) as u128),
            _ => {
                let root = float(self.wanted, self.bits);
                self.first(float_bits(root * root, width))
            }
        }
    }

    /// Rounding may spoil the result; the chain's check decides.
    fn float_binary(&mut self, op: Op) -> Next {
        let (a, b) = (self.node.a, self.node.b);
        let (x, y) = (float(self.value(a), self.bits), float(self.value(b), self.bits));
        let wanted = float(self.wanted, self.bits);
        let (for_a, for_b) = match op {
            Op::FAdd => (wanted - y, wanted - x),
            Op::FSub => (wanted + y, x - wanted),
            Op::FMul => (wanted / y, wanted / x),
            _ => (wanted * y, x / wanted),
        };
        let mut options = Vec::new();
        for (side, value) in [(a, for_a), (b, for_b)] {
            if !self.is_constant(side) {
                options.push(vec![(side, float_bits(value, self.bits))]);
            }
        }
        self.choose(options)
    }
}

/// A factor that times `y` gives `wanted`, without overflow if there is one.
fn divide(wanted: u128, y: u128, bits: u32) -> Option<u128> {
    if y != 0 && wanted.is_multiple_of(y) {
        return Some(wanted / y);
    }
    let zeros = y.trailing_zeros();
    if y == 0 || wanted & mask(zeros) != 0 {
        return None;
    }
    Some(((wanted >> zeros).wrapping_mul(odd_inverse(y >> zeros))) & mask(bits - zeros))
}

fn float(bits: u128, width: u32) -> f64 {
    if width == 32 { f64::from(f32::from_bits(bits as u32)) } else { f64::from_bits(bits as u64) }
}

fn float_bits(value: f64, width: u32) -> u128 {
    if width == 32 { u128::from((value as f32).to_bits()) } else { u128::from(value.to_bits()) }
}

fn above(value: f64, width: u32) -> f64 {
    if width == 32 { f64::from((value as f32).next_up()) } else { value.next_up() }
}

fn below(value: f64, width: u32) -> f64 {
    if width == 32 { f64::from((value as f32).next_down()) } else { value.next_down() }
}
