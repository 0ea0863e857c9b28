//! Random expressions for property tests, built from a list of numbers so that proptest can shrink
//! them.
//!
//! Tests of several crates use it as a dev-dependency; nothing else may depend on it.

use expr::{Dag, Label, Node, Op, TableData};

/// What may occur.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub inputs: u32,
    pub length: bool,
    pub floats: bool,
    pub wide: bool,
}

pub struct Random {
    pub dag: Dag,
    /// All nodes, leaves first.
    pub nodes: Vec<Label>,
}

const INTEGER: &[Op] = &[
    Op::Add,
    Op::Sub,
    Op::Mul,
    Op::UDiv,
    Op::SDiv,
    Op::URem,
    Op::SRem,
    Op::And,
    Op::Or,
    Op::Xor,
    Op::Shl,
    Op::LShr,
    Op::AShr,
    Op::Not,
    Op::Eq,
    Op::Ult,
    Op::Ule,
    Op::Slt,
    Op::Sle,
    Op::ZExt,
    Op::SExt,
    Op::Extract,
    Op::Concat,
    Op::Ite,
    Op::Read,
    Op::Bswap,
    Op::Ctpop,
    Op::Ctlz,
    Op::Cttz,
    Op::Const,
    Op::Eq,
    Op::Ult,
    Op::Find,
    Op::Compare,
];
const FLOAT: &[Op] = &[
    Op::FAdd,
    Op::FSub,
    Op::FMul,
    Op::FDiv,
    Op::FRem,
    Op::FSqrt,
    Op::FEq,
    Op::FLt,
    Op::FLe,
    Op::FUno,
    Op::FConv,
    Op::FToS,
    Op::FToU,
    Op::SToF,
    Op::UToF,
];

/// Each step adds one node (and what is needed to make its operands fit).
pub fn build(shape: Shape, steps: &[[u32; 4]]) -> Random {
    let mut dag = Dag::new();
    let mut nodes: Vec<Label> = (0..shape.inputs).map(|index| dag.input(index)).collect();
    if shape.length {
        nodes.push(dag.input_length());
    }
    let symbolic =
        (0..8).map(|index| if index % 3 == 0 { nodes[index % shape.inputs as usize] } else { 0 });
    let symbolic =
        TableData { bytes: vec![7, 1, 9, 200, 0, 3, 3, 90], labels: Some(symbolic.collect()) };
    let concrete = TableData::concrete((0..32u8).map(|i| i.wrapping_mul(37) ^ 0x5a).collect());
    let tables = [dag.add_table(concrete), dag.add_table(symbolic)]
        .map(|table| table.expect("a good table"));
    let texts = texts(&mut dag, &nodes[..shape.inputs as usize]);
    for &step in steps {
        let label = add(&mut dag, &nodes, &tables, &texts, shape, step);
        nodes.push(label);
    }
    Random { dag, nodes }
}

/// Texts and patterns of few different letters.
struct Texts {
    texts: Vec<u32>,
    patterns: Vec<u32>,
}

fn texts(dag: &mut Dag, inputs: &[Label]) -> Texts {
    let [mask, base] = [0x21, 0x40].map(|value| dag.constant(8, value));
    let mut letter = |input: Label| {
        let masked = dag.add(Node::binary(Op::And, 8, input, mask));
        dag.add(Node::binary(Op::Xor, 8, masked, base))
    };
    let letters: Vec<Label> = inputs.iter().map(|&input| letter(input)).collect();
    let cells = |pick: fn(usize) -> bool, from: &[Label]| -> Vec<Label> {
        (0..6).map(|index| if pick(index) { from[index % from.len()] } else { 0 }).collect()
    };
    let every = TableData { bytes: vec![0; 6], labels: Some(cells(|_| true, &letters)) };
    let some =
        TableData { bytes: b"a\0AaaA".to_vec(), labels: Some(cells(|i| i % 2 == 1, inputs)) };
    let mut table = |table: TableData| dag.add_table(table).expect("a good table");
    let texts = vec![table(every), table(some), table(TableData::concrete(b"aA@".to_vec()))];
    let patterns = [&b"aA"[..], b"a", b"", b"@a", b"A\0", b"aAaA"];
    let patterns = patterns.map(|pattern| table(TableData::concrete(pattern.to_vec()))).to_vec();
    Texts { texts, patterns }
}

fn add(
    dag: &mut Dag,
    nodes: &[Label],
    tables: &[u32],
    texts: &Texts,
    shape: Shape,
    [op, a, b, c]: [u32; 4],
) -> Label {
    let ops = if shape.floats && op % 3 == 0 { FLOAT } else { INTEGER };
    let op = ops[(op / 3) as usize % ops.len()];
    let pick = |number: u32| nodes[number as usize % nodes.len()];
    let largest = if shape.wide { 128 } else { 64 };
    let widths: &[u32] =
        if shape.wide { &[1, 8, 16, 32, 64, 96, 128] } else { &[1, 8, 16, 32, 64] };
    let width = widths[(c as usize / 7) % widths.len()];
    let float = if c % 2 == 0 { 32 } else { 64 };
    let (x, y, z) = (pick(a), pick(b), pick(c));
    let bits = dag.bits(x);
    match op {
        Op::Const => dag.constant(width, u128::from(a) << (b % 64) | u128::from(c % 300)),
        Op::Eq | Op::Ult | Op::Ule | Op::Slt | Op::Sle => {
            let y = fit(dag, y, bits);
            dag.add(Node::binary(op, 1, x, y))
        }
        Op::ZExt | Op::SExt => dag.add(Node::unary(op, width.max(bits) as u8, x)),
        Op::Extract => {
            let low = b % bits;
            let count = 1 + c % (bits - low);
            dag.add(Node { op: op as u8, bits: count as u8, aux: low as u16, a: x, b: 0, c: 0 })
        }
        Op::Concat => {
            let x = fit(dag, x, bits.min(largest / 2));
            let y = fit(dag, y, dag.bits(y).min(largest / 2));
            dag.add(Node::binary(op, (dag.bits(x) + dag.bits(y)) as u8, x, y))
        }
        Op::Ite => {
            let (condition, z) = (fit(dag, y, 1), fit(dag, z, bits));
            dag.add(Node { op: op as u8, bits: bits as u8, aux: 0, a: condition, b: x, c: z })
        }
        Op::Read => {
            let small = fit(dag, x, 5);
            let offset = fit(dag, small, 64);
            let bits = [8, 16, 32][c as usize % 3];
            dag.add(Node {
                op: op as u8,
                bits,
                aux: 0,
                a: offset,
                b: tables[b as usize % tables.len()],
                c: 0,
            })
        }
        Op::Find | Op::Compare => {
            let text = texts.texts[a as usize % texts.texts.len()];
            let pattern = texts.patterns[b as usize % texts.patterns.len()];
            let bits = if op == Op::Find { 64 } else { 32 };
            dag.add(Node { op: op as u8, bits, aux: (c % 32) as u16, a: 0, b: text, c: pattern })
        }
        Op::Bswap => {
            let bits = bits.next_multiple_of(8);
            let x = fit(dag, x, bits);
            dag.add(Node::unary(op, bits as u8, x))
        }
        Op::Not | Op::Ctpop | Op::Ctlz | Op::Cttz => dag.add(Node::unary(op, bits as u8, x)),
        Op::FEq | Op::FLt | Op::FLe | Op::FUno => {
            let (x, y) = (fit(dag, x, float), fit(dag, y, float));
            dag.add(Node::binary(op, 1, x, y))
        }
        Op::FConv | Op::FToS | Op::FToU | Op::FSqrt => {
            let x = fit(dag, x, float);
            let bits = match op {
                Op::FSqrt => float,
                Op::FConv => 96 - float,
                _ => width,
            };
            dag.add(Node::unary(op, bits as u8, x))
        }
        Op::SToF | Op::UToF => dag.add(Node::unary(op, float as u8, x)),
        Op::FAdd | Op::FSub | Op::FMul | Op::FDiv | Op::FRem => {
            let (x, y) = (fit(dag, x, float), fit(dag, y, float));
            dag.add(Node::binary(op, float as u8, x, y))
        }
        _ => {
            let y = fit(dag, y, bits);
            dag.add(Node::binary(op, bits as u8, x, y))
        }
    }
}

/// Truncates or zero-extends.
fn fit(dag: &mut Dag, label: Label, bits: u32) -> Label {
    match dag.bits(label) {
        width if width == bits => label,
        width if width < bits => dag.add(Node::unary(Op::ZExt, bits as u8, label)),
        _ => {
            dag.add(Node { op: Op::Extract as u8, bits: bits as u8, aux: 0, a: label, b: 0, c: 0 })
        }
    }
}
