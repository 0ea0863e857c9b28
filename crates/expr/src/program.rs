//! Compiled expressions: a flat list of instructions over registers, to be run on thousands of
//! inputs.
//!
//! A program computes in 64-bit words if everything in it fits, otherwise in 128-bit words.

use crate::dag::{Dag, op_of, operands_of};
use crate::semantics::{Operator, narrow, wide};
use crate::texts::Operation;
use run::TableData;
use rustc_hash::FxHashMap;
use std::collections::BinaryHeap;
use trace::{Label, Node, Op};

/// Computes the values of some roots from the values of some parameters.
#[derive(Clone, Debug)]
pub struct Program<'d> {
    /// The first registers are the parameters, then constants, then one an instruction.
    parameters: usize,
    constants: Vec<u64>,
    instructions: Vec<Instruction>,
    roots: Vec<u32>,
    tables: &'d [TableData],
    /// Bytes of texts, and of tables with symbolic content.
    cells: Vec<Vec<Cell>>,
    is_wide: bool,
}

#[derive(Clone, Copy, Debug)]
struct Instruction {
    operator: Operator,
    a: u32,
    b: u32,
    c: u32,
}

#[derive(Clone, Copy, Debug)]
enum Cell {
    Concrete(u8),
    Register(u32),
}

/// `Instruction::c` of a read from a table with symbolic content; `b` then numbers the `cells`.
const SYMBOLIC_TABLE: u32 = 1;

/// Memory that a program runs in. One may serve many programs, one after the other.
#[derive(Clone, Debug, Default)]
pub struct Registers {
    narrow: Vec<u64>,
    wide: Vec<u128>,
}

/// What depends on one parameter; see [`Program::dependents`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dependents {
    pub instructions: Vec<u32>,
    pub roots: Vec<u32>,
}

macro_rules! execute {
    ($name:ident, $word:ty, $apply:path) => {
        fn $name(&self, registers: &mut [$word], numbers: impl Iterator<Item = u32>) {
            let first_result = self.parameters + self.constants.len();
            for number in numbers {
                let Instruction { operator, a, b, c } = self.instructions[number as usize];
                let first = registers[a as usize];
                let load = |cell: Cell| match cell {
                    Cell::Concrete(byte) => byte,
                    Cell::Register(register) => registers[register as usize] as u8,
                };
                registers[first_result + number as usize] = match operator.op {
                    Op::Read => self.read(first as u64, operator.bits, b, c, load) as $word,
                    Op::Find | Op::Compare => self.text(operator, b, c, load) as $word,
                    _ => $apply(operator, first, registers[b as usize], registers[c as usize]),
                };
            }
        }
    };
}

impl<'d> Program<'d> {
    /// Compiles the `roots` as functions of the `parameters`, which may be any nodes. `None` if a
    /// root depends on an input byte or the length other than through a parameter.
    pub fn compile(dag: &'d Dag, roots: &[Label], parameters: &[Label]) -> Option<Program<'d>> {
        Compiler::new(dag, parameters).compile(roots)
    }

    /// How many instructions one run takes.
    pub fn len(&self) -> usize {
        self.instructions.len()
    }

    /// True if all roots are parameters or constants.
    pub fn is_empty(&self) -> bool {
        self.instructions.is_empty()
    }

    /// Makes the registers ready for [`Program::run`].
    pub fn load(&self, registers: &mut Registers) {
        let size = self.parameters + self.constants.len() + self.instructions.len();
        let places = self.parameters..self.parameters + self.constants.len();
        if self.is_wide {
            registers.wide.resize(size.max(1), 0);
            for (register, &constant) in registers.wide[places].iter_mut().zip(&self.constants) {
                *register = u128::from(constant);
            }
        } else {
            registers.narrow.resize(size.max(1), 0);
            registers.narrow[places].copy_from_slice(&self.constants);
        }
    }

    pub fn set(&self, registers: &mut Registers, parameter: usize, value: u128) {
        debug_assert!(parameter < self.parameters);
        if self.is_wide {
            registers.wide[parameter] = value;
        } else {
            registers.narrow[parameter] = value as u64;
        }
    }

    /// Computes all roots.
    pub fn run(&self, registers: &mut Registers) {
        self.run_only(registers, 0..self.instructions.len() as u32);
    }

    /// Computes again what depends on parameters that were [`Program::set`] since the last run:
    /// `instructions` are those of [`Program::dependents`] of these parameters, in increasing
    /// order.
    pub fn run_again(&self, registers: &mut Registers, instructions: &[u32]) {
        self.run_only(registers, instructions.iter().copied());
    }

    fn run_only(&self, registers: &mut Registers, numbers: impl Iterator<Item = u32>) {
        if self.is_wide {
            self.run_wide(&mut registers.wide, numbers);
        } else {
            self.run_narrow(&mut registers.narrow, numbers);
        }
    }

    /// For each parameter the instructions that depend on it, and the roots that do, both in
    /// increasing order.
    pub fn dependents(&self) -> Vec<Dependents> {
        (0..self.parameters as u32).map(|parameter| self.dependents_of(parameter)).collect()
    }

    fn dependents_of(&self, parameter: u32) -> Dependents {
        let first_result = (self.parameters + self.constants.len()) as u32;
        let mut depends = vec![false; first_result as usize + self.instructions.len()];
        depends[parameter as usize] = true;
        let mut instructions = Vec::new();
        for (number, instruction) in self.instructions.iter().enumerate() {
            if self.operands(instruction).any(|register| depends[register as usize]) {
                depends[first_result as usize + number] = true;
                instructions.push(number as u32);
            }
        }
        let roots = (0..self.roots.len() as u32)
            .filter(|&root| depends[self.roots[root as usize] as usize]);
        Dependents { roots: roots.collect(), instructions }
    }

    /// Registers that an instruction reads. Those that an operator has no use for are register 0.
    fn operands<'p>(&'p self, instruction: &Instruction) -> impl Iterator<Item = u32> + 'p {
        let Instruction { operator, a, b, c } = *instruction;
        let cells = match (operator.op, c) {
            (Op::Read, SYMBOLIC_TABLE) | (Op::Find | Op::Compare, _) => &self.cells[b as usize][..],
            _ => &[],
        };
        let in_table = cells.iter().filter_map(|cell| match cell {
            Cell::Register(register) => Some(*register),
            Cell::Concrete(_) => None,
        });
        [a, b, c].into_iter().take(operator.op.arity()).chain(in_table)
    }

    /// The value of root number `root`.
    pub fn get(&self, registers: &Registers, root: usize) -> u128 {
        let register = self.roots[root] as usize;
        if self.is_wide { registers.wide[register] } else { u128::from(registers.narrow[register]) }
    }

    execute!(run_narrow, u64, narrow::apply);
    execute!(run_wide, u128, wide::apply);

    #[cold]
    fn text(&self, operator: Operator, text: u32, pattern: u32, load: impl Fn(Cell) -> u8) -> u64 {
        let (cells, pattern) = (&self.cells[text as usize], &self.tables[pattern as usize].bytes);
        let flags = u16::from(operator.low);
        Operation { op: operator.op, flags, pattern }.apply(cells.len(), |at| load(cells[at]))
    }

    #[inline]
    fn read(
        &self,
        offset: u64,
        bits: u8,
        table: u32,
        kind: u32,
        load: impl Fn(Cell) -> u8,
    ) -> u128 {
        let count = usize::from(bits / 8);
        let byte = |at: usize| match kind {
            SYMBOLIC_TABLE => self.cells[table as usize].get(at).map_or(0, |&cell| load(cell)),
            _ => self.tables[table as usize].bytes.get(at).copied().unwrap_or(0),
        };
        let Ok(start) = usize::try_from(offset) else { return 0 };
        (0..count).rev().fold(0, |value, index| {
            let byte = start.checked_add(index).map_or(0, byte);
            value << 8 | u128::from(byte)
        })
    }
}

struct Compiler<'d> {
    dag: &'d Dag,
    parameters: usize,
    register: FxHashMap<Label, u32>,
    constants: FxHashMap<u64, u32>,
    program: Program<'d>,
    cells_of_table: FxHashMap<u32, u32>,
}

impl<'d> Compiler<'d> {
    fn new(dag: &'d Dag, parameters: &[Label]) -> Compiler<'d> {
        let register = parameters.iter().enumerate().map(|(i, &label)| (label, i as u32)).collect();
        let is_wide = parameters.iter().any(|&label| dag.bits(label) > 64);
        let program = Program {
            parameters: parameters.len(),
            constants: Vec::new(),
            instructions: Vec::new(),
            roots: Vec::new(),
            tables: dag.tables(),
            cells: Vec::new(),
            is_wide,
        };
        Compiler {
            dag,
            parameters: parameters.len(),
            register,
            constants: FxHashMap::default(),
            program,
            cells_of_table: FxHashMap::default(),
        }
    }

    fn compile(mut self, roots: &[Label]) -> Option<Program<'d>> {
        let needed = self.needed(roots);
        self.place_constants(&needed);
        let mut next = (self.parameters + self.program.constants.len()) as u32;
        for label in needed {
            if self.register.contains_key(&label) {
                continue;
            }
            self.emit(label)?;
            self.register.insert(label, next);
            next += 1;
        }
        self.program.roots = roots.iter().map(|root| self.register[root]).collect();
        Some(self.program)
    }

    /// Labels of all nodes between the roots and the parameters, in increasing order.
    fn needed(&self, roots: &[Label]) -> Vec<Label> {
        // A heap yields labels from large to small, and all users of a node have larger labels than
        // it.
        let mut heap: BinaryHeap<Label> = roots.iter().copied().collect();
        let mut needed = Vec::new();
        while let Some(label) = heap.pop() {
            if needed.last() == Some(&label) || self.register.contains_key(&label) {
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

    fn place_constants(&mut self, needed: &[Label]) {
        for &label in needed {
            let node = self.dag.node(label);
            self.program.is_wide |= node.bits > 64;
            if matches!(op_of(node), Op::Const | Op::Token) {
                let next = (self.parameters + self.program.constants.len()) as u32;
                let register = *self.constants.entry(node.const_value()).or_insert(next);
                if register == next {
                    self.program.constants.push(node.const_value());
                }
                self.register.insert(label, register);
            }
        }
    }

    fn emit(&mut self, label: Label) -> Option<()> {
        let node = *self.dag.node(label);
        let op = op_of(&node);
        if matches!(op, Op::Input | Op::Len) {
            return None;
        }
        let operand_bits = self.dag.bits(node.a) as u8;
        let operator = Operator { op, bits: node.bits, operand_bits, low: node.aux as u8 };
        let (b, c) = match op {
            Op::Read => self.table(&node),
            Op::Find | Op::Compare => (self.text_cells(node.b), node.c),
            _ => (self.place(node, 1), self.place(node, 2)),
        };
        self.program.instructions.push(Instruction { operator, a: self.place(node, 0), b, c });
        Some(())
    }

    /// Register of an operand; any register does where there is none.
    fn place(&self, node: Node, operand: usize) -> u32 {
        match operands_of(&node)[operand] {
            0 => 0,
            label => self.register[&label],
        }
    }

    fn table(&mut self, node: &Node) -> (u32, u32) {
        let table = self.dag.table(node.b);
        if table.labels.is_none() { (node.b, 0) } else { (self.text_cells(node.b), SYMBOLIC_TABLE) }
    }

    /// The number of the table's cells.
    fn text_cells(&mut self, number: u32) -> u32 {
        let table = self.dag.table(number);
        *self.cells_of_table.entry(number).or_insert_with(|| {
            let cell = |(at, &byte): (usize, &u8)| match table.label(at as u64) {
                0 => Cell::Concrete(byte),
                label => Cell::Register(self.register[&label]),
            };
            self.program.cells.push(table.bytes.iter().enumerate().map(cell).collect());
            self.program.cells.len() as u32 - 1
        })
    }
}
