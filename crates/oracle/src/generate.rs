//! Random programs, the same ones for the same seed.

use crate::ast::{
    BIT_FIELDS, BOOL, Expr, I32, Op, Program, READERS, REGIONS, Region, Stmt, StmtOp, TYPES, Table,
    TableKind, Ty, U32,
};
use crate::plants::PLANTS;

/// What programs are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Kind {
    /// Everything that has a meaning with `-fwrapv`.
    Engine,
    /// Nothing that could overflow, and errors that are planted.
    Checks,
}

/// The program of a seed.
pub fn program(kind: Kind, seed: u64) -> Program {
    let mut rng = fastrand::Rng::with_seed(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ kind as u64);
    let bytes = if rng.u8(..) < 120 || kind == Kind::Checks { 1 } else { 2 };
    let reader = READERS[rng.usize(..READERS.len())];
    let regions = [0, 1].map(|_| REGIONS[rng.usize(..REGIONS.len())]);
    let (constants, vars, tables) = (Vec::new(), Vec::new(), Vec::new());
    let mut generator =
        Generator { rng, kind, bytes, branches: 10, regions, constants, vars, tables };
    generator.declare();
    let mut body = generator.assignments();
    body.extend(generator.block(3, 3..8));
    if kind == Kind::Checks {
        generator.plant(&mut body);
    }
    let Generator { vars, tables, .. } = generator;
    Program { bytes, reader, vars, tables, body }
}

struct Generator {
    rng: fastrand::Rng,
    kind: Kind,
    bytes: usize,
    /// How many branches may still be made.
    branches: u32,
    /// Those that the program uses.
    regions: [Region; 2],
    constants: Vec<i64>,
    vars: Vec<(Ty, i64)>,
    tables: Vec<Table>,
}

const ARITHMETIC: [&str; 6] = ["+", "-", "*", "&", "|", "^"];
const COMPARISONS: [&str; 6] = ["==", "!=", "<", "<=", ">", ">="];
const OF_ONE: [&str; 8] =
    ["bits", "zeros_before", "zeros_behind", "swapped", "reversed", "rotated", "odd", "distance"];
const OF_CHARACTERS: [&str; 9] = [
    "isalpha", "isdigit", "isspace", "isupper", "isxdigit", "ispunct", "isalnum", "toupper",
    "tolower",
];
const OF_TWO: [&str; 2] = ["max", "least"];
const OVERFLOWS: [&str; 3] = ["add_over", "sub_to", "mul_over"];
/// Templates, see `print::question_about`; those with an `X` also take a number.
const QUESTIONS: [&str; 16] = [
    "sign(memcmp(in, S, B))",
    "sign(strcmp(text, S))",
    "sign(strncmp(text, S, 1))",
    "sign(strcasecmp(text, S))",
    "place(S, strchr(S, (u8)X))",
    "place(S, memchr(S, (u8)X, B))",
    "place(text, strrchr(text, (u8)X))",
    "strspn(text, S)",
    "strcspn(text, S)",
    "strlen(text)",
    "atoi(text)",
    "number(text, 10)",
    "number(text, 16)",
    "number(text, 0)",
    "place(text, strstr(text, S))",
    "place(text, strpbrk(text, S))",
];
const TEXT_BYTES: &[u8] = b"abzAQ019 \n+-?x.\x7f\xbf\xff";

impl Generator {
    fn declare(&mut self) {
        for _ in 0..self.rng.usize(2..5) {
            let (ty, value) = (self.ty(), self.constant());
            self.vars.push((ty, value));
        }
        for _ in 0..self.rng.usize(..3) {
            let ty = self.ty();
            let kind = self.pick(&[TableKind::Constant, TableKind::Filled, TableKind::Local]);
            let size = self.pick(&[4, 16, 64, 256]);
            let values = (0..size).map(|_| self.new_constant()).collect();
            self.tables.push(Table { ty, kind, values });
        }
    }

    /// Most variables begin with something of the input.
    fn assignments(&mut self) -> Vec<Stmt> {
        let assign =
            |this: &mut Self, var| Stmt::new(StmtOp::Assign(var), vec![this.expr(1)], Vec::new());
        (0..self.vars.len()).map(|var| assign(self, var)).collect()
    }

    fn pick<T: Clone>(&mut self, of: &[T]) -> T {
        of[self.rng.usize(..of.len())].clone()
    }

    fn one_in(&mut self, n: u32) -> bool {
        self.rng.u32(..n) == 0
    }

    fn ty(&mut self) -> Ty {
        loop {
            let ty = self.pick(&TYPES);
            if self.kind == Kind::Engine || !ty.signed && ty.bits != 16 {
                return ty;
            }
        }
    }

    /// Of values in regions: not every byte is a truth value.
    fn stored_ty(&mut self) -> Ty {
        let ty = self.ty();
        if ty == BOOL { TYPES[2] } else { ty }
    }

    /// Often one that the program has already, or its neighbour: conditions are about the same
    /// values then.
    fn constant(&mut self) -> i64 {
        if self.one_in(2) && !self.constants.is_empty() {
            return self.pick(&self.constants.clone()) + self.pick(&[0, 0, 0, 1, -1]);
        }
        let constant = self.new_constant();
        self.constants.push(constant);
        constant
    }

    fn new_constant(&mut self) -> i64 {
        match self.rng.u32(..8) {
            0 => self.rng.i64(-3..4),
            1..3 => i64::from(self.rng.u8(..)),
            3..5 => i64::from(self.pick(TEXT_BYTES)),
            5 => (1 << self.rng.u32(..18)) - self.rng.i64(0..2),
            6 => i64::from(self.rng.i8(..)),
            _ => self.rng.i64(..) >> self.pick(&[1, 17, 33, 47]),
        }
    }

    fn region(&mut self) -> Region {
        self.pick(&self.regions.clone())
    }

    /// One of a few places in a region, so that loads meet what was stored, or parts of it.
    fn place(&mut self) -> usize {
        self.pick(&[0, 4, 13, 15])
    }

    fn atom(&mut self) -> Expr {
        Expr::leaf(match self.rng.u32(..20) {
            0..9 => Op::Byte(self.rng.usize(..self.bytes)),
            9..14 => Op::Var(self.rng.usize(..self.vars.len())),
            14 => Op::Len,
            15 => Op::BitField(self.rng.usize(..BIT_FIELDS)),
            16..18 => {
                let ty = self.stored_ty();
                Op::Load(self.region(), self.place(), ty)
            }
            _ => Op::Const(self.ty(), self.constant()),
        })
    }

    fn expr(&mut self, depth: u32) -> Expr {
        if depth == 0 || self.one_in(6) {
            return self.atom();
        }
        let ty = self.ty();
        let op = match self.rng.u32(..30) {
            0 => Op::Prefix(self.pick(&["-", "~", "!"]), ty),
            1..7 => Op::Infix(self.pick(&ARITHMETIC), ty),
            7 => Op::Masked(self.pick(&["/", "%"]), ty),
            8 => Op::Guarded(self.pick(&["div", "rem"]), ty),
            9..11 => Op::Shift(self.pick(&["<<", ">>"]), ty),
            11 => Op::Compare(self.pick(&COMPARISONS), ty),
            12 if self.branches > 0 => {
                self.branches -= 1;
                Op::Choice
            }
            12..16 => Op::Cast(ty),
            16..19 if !self.tables.is_empty() => Op::Element(self.rng.usize(..self.tables.len())),
            19 => Op::Function(self.pick(&OF_ONE)),
            20 => Op::Function(self.pick(&OF_CHARACTERS)),
            21 => Op::OfTwo(self.pick(&OF_TWO), ty),
            22 if ty.bits > 1 && ty.bits < 128 => Op::OfTwo(self.pick(&OVERFLOWS), ty),
            23 => self.question(),
            24 => Op::At(self.region()),
            25 => Op::Member("fields", self.rng.usize(..BIT_FIELDS)),
            26 => Op::Member(self.pick(&["small", "middle", "large"]), self.rng.usize(..2)),
            27 if self.one_in(3) => Op::Indirect,
            28 => Op::Float(
                self.pick(&["+", "*", "/", "<", "=="]),
                self.pick(&[0.5, 1.5, 3.0, 97.25]),
            ),
            _ => Op::Infix(self.pick(&ARITHMETIC), ty),
        };
        self.apply(op, depth)
    }

    fn apply(&mut self, op: Op, depth: u32) -> Expr {
        let count = match &op {
            Op::Infix(..) | Op::Masked(..) | Op::Guarded(..) | Op::Shift(..) | Op::Compare(..) => 2,
            Op::OfTwo(..) | Op::Both | Op::Either | Op::Indirect => 2,
            Op::Member(shape, _) => 2 * usize::from(*shape != "fields"),
            Op::Choice => 3,
            Op::Text(question, _) => usize::from(question.contains('X')),
            _ => 1,
        };
        let first = matches!(op, Op::Both | Op::Either | Op::Choice);
        let operand = |this: &mut Self, at: usize| match first && (at == 0 || op != Op::Choice) {
            true => this.condition(depth - 1),
            false => this.expr(depth - 1),
        };
        let args = (0..count).map(|at| operand(self, at)).collect();
        Expr::new(op, args)
    }

    fn question(&mut self) -> Op {
        let size = self.rng.usize(1..4);
        let question = self.pick(&QUESTIONS);
        // No further than the input's memory goes.
        let size = if question.contains("memcmp") { size.min(2) } else { size };
        Op::Text(question, (0..size).map(|_| self.pick(TEXT_BYTES)).collect())
    }

    fn condition(&mut self, depth: u32) -> Expr {
        let ty = self.ty();
        match self.rng.u32(..12) {
            0 if depth > 0 && self.branches > 0 => {
                self.branches -= 1;
                let op = self.pick(&[Op::Both, Op::Either]);
                self.apply(op, depth)
            }
            1..4 => self.simple_condition(),
            4..7 => {
                let limit = Expr::leaf(Op::Const(ty, self.constant()));
                let value = self.expr(depth);
                Expr::new(Op::Compare(self.pick(&COMPARISONS), ty), vec![value, limit])
            }
            7..9 => {
                let sides = vec![self.expr(depth), self.expr(depth)];
                Expr::new(Op::Compare(self.pick(&COMPARISONS), ty), sides)
            }
            _ => self.expr(depth),
        }
    }

    /// About a byte of the input, or some of its bits.
    fn simple_condition(&mut self) -> Expr {
        let ty = self.pick(&[TYPES[1], TYPES[2], I32]);
        let byte = Expr::leaf(Op::Byte(self.rng.usize(..self.bytes)));
        let value = match self.one_in(3) {
            true => {
                let mask =
                    Expr::leaf(Op::Const(I32, self.pick(&[1, 7, 15, 63, 127, 128, 192, 223, 240])));
                Expr::new(Op::Infix("&", I32), vec![byte, mask])
            }
            false => byte,
        };
        let limit = Expr::leaf(Op::Const(ty, self.constant()));
        Expr::new(Op::Compare(self.pick(&COMPARISONS), ty), vec![value, limit])
    }

    fn block(&mut self, depth: u32, size: std::ops::Range<usize>) -> Vec<Stmt> {
        let size = self.rng.usize(size);
        (0..size).map(|_| self.stmt(depth)).collect()
    }

    fn stmt(&mut self, depth: u32) -> Stmt {
        if depth > 0 && self.branches > 0 && !self.one_in(3) {
            self.branches -= 1;
            return self.branching(depth);
        }
        let (region, ty) = (self.region(), self.stored_ty());
        let simple = |op, exprs| Stmt::new(op, exprs, Vec::new());
        match self.rng.u32(..16) {
            0..2 => simple(StmtOp::Store(region, self.place(), ty), vec![self.expr(2)]),
            2 => simple(StmtOp::StoreAt(region), vec![self.expr(2), self.expr(2)]),
            3 => simple(StmtOp::SetBitField(self.rng.usize(..BIT_FIELDS)), vec![self.expr(3)]),
            4..6 => match self.changing_table() {
                Some(table) => simple(StmtOp::SetElement(table), vec![self.expr(2), self.expr(2)]),
                None => simple(StmtOp::Assign(0), vec![self.expr(3)]),
            },
            6 => {
                let (to, from) = (self.rng.usize(..25), self.rng.usize(..25));
                simple(StmtOp::Copy((region, to), (self.region(), from)), vec![self.expr(1)])
            }
            7 => simple(StmtOp::Fill(region, self.rng.usize(..28)), vec![self.expr(1)]),
            8 if depth < 3 => simple(StmtOp::Return, Vec::new()),
            _ => {
                let var = self.rng.usize(..self.vars.len());
                simple(StmtOp::Assign(var), vec![self.expr(3)])
            }
        }
    }

    fn changing_table(&mut self) -> Option<usize> {
        self.tables.iter().position(|table| table.kind != TableKind::Constant)
    }

    fn branching(&mut self, depth: u32) -> Stmt {
        let deeper = depth - 1;
        match self.rng.u32(..10) {
            0 => self.sieve(),
            1..6 => {
                let bodies = vec![self.block(deeper, 0..3), self.block(deeper, 0..2)];
                Stmt::new(StmtOp::If, vec![self.condition(3)], bodies)
            }
            6..8 => self.switch(deeper),
            8 => {
                let var = self.rng.usize(..self.vars.len());
                let op = StmtOp::Count(self.rng.u32(1..5), var);
                Stmt::new(op, vec![self.expr(2)], vec![self.block(deeper.min(1), 1..3)])
            }
            _ => {
                let op = StmtOp::Until(self.rng.u32(1..4));
                Stmt::new(op, vec![self.condition(2)], vec![self.block(deeper.min(1), 1..3)])
            }
        }
    }

    /// A mask leaves a few values of a byte, in an arithmetic progression; comparisons tell them
    /// apart, some only by what the ones before left.
    fn sieve(&mut self) -> Stmt {
        let byte = Expr::leaf(Op::Byte(self.rng.usize(..self.bytes)));
        let mask = self.pick(&[63, 63, 127, 31, 207, 243]);
        let rest = if self.one_in(2) { mask } else { mask & i64::from(self.rng.u8(..)) };
        let number = |value| Expr::leaf(Op::Const(I32, value));
        let compare = |with, to, value| Expr::new(Op::Compare(with, I32), vec![to, number(value)]);
        let mut left: Vec<i64> = (0..256).filter(|value| value & mask == rest).collect();
        let mut body = Vec::new();
        for _ in 0..self.rng.usize(1..4) {
            let value = left.swap_remove(self.rng.usize(..left.len()));
            let test = compare(self.pick(&["==", "!="]), byte.clone(), value);
            let inside = std::mem::take(&mut body);
            body = vec![Stmt::new(StmtOp::If, vec![test], vec![inside, Vec::new()])];
            if left.is_empty() {
                break;
            }
        }
        let masked = Expr::new(Op::Infix("&", I32), vec![byte, number(mask)]);
        Stmt::new(StmtOp::If, vec![compare("==", masked, rest)], vec![body, Vec::new()])
    }

    fn switch(&mut self, depth: u32) -> Stmt {
        let dense = self.rng.bool();
        let (first, mut taken) = (self.constant().clamp(-128, 250), Vec::new());
        let mut groups = Vec::new();
        for number in 0..self.rng.i64(1..6) {
            let sparse = [self.constant(), self.constant()].map(|value| i64::from(value as i32));
            let wanted = if dense { [first + number, sparse[1]] } else { sparse };
            let count = if self.one_in(3) { 2 } else { 1 };
            let fresh: Vec<i64> =
                wanted[..count].iter().copied().filter(|v| !taken.contains(v)).collect();
            let fresh =
                if fresh.len() == 2 && fresh[0] == fresh[1] { vec![fresh[0]] } else { fresh };
            if !fresh.is_empty() {
                taken.extend(&fresh);
                groups.push((fresh, self.one_in(4)));
            }
        }
        let bodies = (0..=groups.len()).map(|_| self.block(depth.min(1), 0..2)).collect();
        let ty = self.pick(&[I32, U32, TYPES[1], TYPES[2], TYPES[3], TYPES[7]]);
        Stmt::new(StmtOp::Switch(ty, groups), vec![self.expr(3)], bodies)
    }

    /// One or two errors, each behind a random condition somewhere in the body.
    fn plant(&mut self, body: &mut Vec<Stmt>) {
        for _ in 0..self.rng.usize(1..3) {
            let plant = StmtOp::Plant(self.rng.usize(..PLANTS.len()));
            let planted = Stmt::new(plant, vec![self.atom_of_input()], Vec::new());
            let guarded =
                Stmt::new(StmtOp::If, vec![self.condition(2)], vec![vec![planted], Vec::new()]);
            let at = self.rng.usize(..=body.len());
            body.insert(at, guarded);
        }
    }

    /// A byte of the input, mostly as it is.
    fn atom_of_input(&mut self) -> Expr {
        let byte = Expr::leaf(Op::Byte(self.rng.usize(..self.bytes)));
        match self.one_in(3) {
            true => Expr::new(Op::Infix(self.pick(&ARITHMETIC), U32), vec![byte, self.expr(1)]),
            false => byte,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_decides_the_program() {
        assert_eq!(program(Kind::Engine, 7), program(Kind::Engine, 7));
        assert_ne!(program(Kind::Engine, 7), program(Kind::Engine, 8));
    }
}
