//! What a program does with a delivered token: the constants it is compared with, and the tables it
//! is looked up in, wherever it is passed, returned or kept.

use super::constants::{actual_arguments, constants};
use super::place::{Place, is_gep, place};
use super::program::Program;
use crate::llvm::{self, LLVMOpcode, LLVMTypeKind, Value};
use std::collections::{BTreeSet, HashMap, HashSet};

/// More values than this are not followed for one delivery.
const LIMIT: usize = 20_000;
/// Tables with fewer entries classify no tokens.
const SMALLEST_TABLE: u64 = 16;

#[derive(Default)]
pub struct Uses {
    /// Names of constant tables of which the token is an index, or with whose entries it is
    /// compared.
    pub tables: BTreeSet<String>,
    /// Functions that look it up there.
    pub table_readers: HashSet<Value>,
    /// The constants that each function compares it with.
    pub readers: HashMap<Value, BTreeSet<i64>>,
}

impl Uses {
    /// All constants that it is compared with.
    pub fn constants(&self) -> BTreeSet<i64> {
        self.readers.values().flatten().copied().collect()
    }
}

pub struct Following<'a> {
    program: &'a Program,
    /// Functions whose comparisons do not count: the lexer itself.
    own: &'a [Value],
    seen: HashSet<Value>,
    places: HashSet<Place>,
    open: Vec<Value>,
    uses: Uses,
}

impl<'a> Following<'a> {
    pub fn new(program: &'a Program, own: &'a [Value]) -> Following<'a> {
        let (seen, places, open) = (HashSet::new(), HashSet::new(), Vec::new());
        Following { program, own, seen, places, open, uses: Uses::default() }
    }

    /// What becomes of these values.
    pub fn values(mut self, values: &[Value]) -> Uses {
        self.open.extend(values);
        self.follow()
    }

    /// What becomes of the content of this place.
    pub fn place(mut self, place: &Place) -> Uses {
        self.kept(place.clone());
        self.follow()
    }

    fn follow(mut self) -> Uses {
        while let Some(value) = self.open.pop().filter(|_| self.seen.len() < LIMIT) {
            if self.seen.insert(value) {
                llvm::users(value).into_iter().for_each(|user| self.user(value, user));
            }
        }
        self.uses
    }

    fn user(&mut self, value: Value, user: Value) {
        use LLVMOpcode::*;
        let Some(instruction) = llvm::as_instruction(user) else { return };
        match llvm::opcode(instruction) {
            LLVMZExt | LLVMSExt | LLVMTrunc | LLVMFreeze | LLVMPHI => self.open.push(instruction),
            LLVMSelect if llvm::operand(instruction, 0) != value => self.open.push(instruction),
            LLVMICmp => self.compared(value, instruction),
            LLVMSwitch => self.switched(instruction),
            LLVMStore if llvm::operand(instruction, 0) == value => {
                if let Some(place) = place(self.program.layout, llvm::operand(instruction, 1)) {
                    self.kept(place);
                }
            }
            LLVMGetElementPtr => self.looked_up(value, instruction),
            LLVMCall | LLVMInvoke => self.passed(value, instruction),
            LLVMRet => {
                let function = llvm::function_of(llvm::block_of(instruction));
                self.open.extend(self.program.calls(function));
            }
            _ => {}
        }
    }

    /// The function of a use, if its uses count.
    fn reader(&self, instruction: Value) -> Option<Value> {
        Some(llvm::function_of(llvm::block_of(instruction)))
            .filter(|function| !self.own.contains(function))
    }

    fn compared(&mut self, value: Value, comparison: Value) {
        let Some(reader) = self.reader(comparison) else { return };
        let operands = [llvm::operand(comparison, 0), llvm::operand(comparison, 1)];
        let other = if operands[0] == value { operands[1] } else { operands[0] };
        self.uses.readers.entry(reader).or_default().extend(constants(self.program, &[other]));
        self.found_in(entry_of_table(other), reader);
    }

    fn switched(&mut self, switch: Value) {
        let Some(reader) = self.reader(switch) else { return };
        let cases = (1..llvm::successor_count(switch)).map(|case| llvm::case_value(switch, case));
        self.uses.readers.entry(reader).or_default().extend(cases.map(llvm::signed_constant));
    }

    fn looked_up(&mut self, index: Value, gep: Value) {
        let table = llvm::operand(gep, 0);
        if let Some(reader) = self.reader(gep).filter(|_| table != index) {
            self.found_in(constant_table(table), reader);
        }
    }

    fn found_in(&mut self, table: Option<String>, reader: Value) {
        if let Some(table) = table {
            self.uses.tables.insert(table);
            self.uses.table_readers.insert(reader);
        }
    }

    fn passed(&mut self, value: Value, call: Value) {
        let Some(callee) = llvm::as_function(llvm::called(call)) else { return };
        let parameters = llvm::param_count(callee).min(llvm::argument_count(call));
        let positions = (0..parameters).filter(|i| llvm::operand(call, *i) == value);
        self.open.extend(positions.map(|i| llvm::param(callee, i)));
    }

    fn kept(&mut self, place: Place) {
        if !self.places.insert(place.clone()) {
            return;
        }
        self.open.extend(self.program.loads(&place));
        if let Place::Slot(slot) = place
            && llvm::as_argument(slot).is_some()
        {
            for actual in actual_arguments(self.program, slot) {
                self.actual(actual);
            }
        }
    }

    fn actual(&mut self, pointer: Value) {
        if let Some(place) = super::place::place(self.program.layout, pointer) {
            self.kept(place);
        }
    }
}

/// The constant table that a value was read from.
fn entry_of_table(value: Value) -> Option<String> {
    use LLVMOpcode::*;
    let instruction = llvm::as_instruction(value)?;
    match llvm::opcode(instruction) {
        LLVMZExt | LLVMSExt => entry_of_table(llvm::operand(instruction, 0)),
        LLVMLoad => constant_table(llvm::operand(instruction, 0)),
        _ => None,
    }
}

/// The name of a constant array of numbers that is large enough to classify tokens.
pub fn constant_table(pointer: Value) -> Option<String> {
    let mut base = pointer;
    while is_gep(base) {
        base = llvm::operand(base, 0);
    }
    let global =
        llvm::as_global_variable(base).filter(|global| llvm::is_global_constant(*global))?;
    let ty = llvm::value_type(global);
    let is_table = llvm::kind(ty) == LLVMTypeKind::LLVMArrayTypeKind
        && llvm::kind(llvm::element_type(ty)) == LLVMTypeKind::LLVMIntegerTypeKind
        && llvm::array_size(ty) >= SMALLEST_TABLE;
    is_table.then(|| llvm::name(global))
}
