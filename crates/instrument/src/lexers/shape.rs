//! What a lexer looks like from inside and to its callers: it takes bytes of the input, compares
//! them, and is called again and again.

use super::program::{Program, caller_of, instructions};
use super::uses::constant_table;
use crate::llvm::{self, Block, LLVMOpcode, LLVMTypeKind, Value};
use std::collections::{BTreeSet, HashSet};

/// Functions of the C library that take input.
const INPUT: &str = "getc fgetc getchar getc_unlocked getchar_unlocked fgetc_unlocked _IO_getc \
                     __uflow fread \
    fread_unlocked read pread fgets fgets_unlocked getline getdelim __getdelim gets getwc fgetwc \
    recv readline";
/// Calls between a lexer and the function that takes the input.
const DEPTH: usize = 5;
/// Calls between a lexer and the function that moves on in a text.
const NEAR: usize = 3;
/// Constants that are compared with characters: tab to tilde.
const CHARACTERS: std::ops::RangeInclusive<i64> = 9..=126;

/// The function of the C library through which `function` takes input.
pub fn input_function(program: &Program, function: Value) -> Option<String> {
    let names = program
        .reach(function, DEPTH)
        .into_iter()
        .filter(|f| llvm::is_declaration(*f))
        .map(llvm::name);
    names.into_iter().find(|name| INPUT.split_whitespace().any(|input| input == name))
}

/// Whether bytes are read through something that moves on and outlives the call.
pub fn moves_on(program: &Program, function: Value) -> bool {
    let near = program.reach(function, NEAR);
    let defined = || near.iter().copied().filter(|f| !llvm::is_declaration(*f));
    defined().any(reads_bytes) && defined().any(|f| advances(program, f))
}

fn reads_bytes(function: Value) -> bool {
    instructions(function).any(|i| llvm::opcode(i) == LLVMOpcode::LLVMLoad && is_byte(i))
}

fn is_byte(value: Value) -> bool {
    let ty = llvm::type_of(value);
    llvm::kind(ty) == LLVMTypeKind::LLVMIntegerTypeKind && llvm::int_width(ty) == 8
}

/// Whether something that outlives the call is replaced by itself plus something, or takes a
/// pointer that moved.
fn advances(program: &Program, function: Value) -> bool {
    let place = |pointer| super::place::place(program.layout, pointer);
    program.stores(function).iter().any(|store| {
        let is_kept = llvm::as_alloca(store.pointer).is_none() && store.place.is_some();
        is_kept
            && (is_moved(store.value)
                || step_from(store.value).is_some_and(|from| place(from) == store.place))
    })
}

/// The address from which a value was read before something was added to it.
fn step_from(value: Value) -> Option<Value> {
    let step = llvm::as_instruction(value)?;
    let moves = matches!(llvm::opcode(step), LLVMOpcode::LLVMAdd | LLVMOpcode::LLVMGetElementPtr);
    let before = llvm::as_instruction(llvm::operand(step, 0)).filter(|_| moves)?;
    (llvm::opcode(before) == LLVMOpcode::LLVMLoad).then(|| llvm::operand(before, 0))
}

/// Whether a value is a pointer into text that went on by some bytes.
fn is_moved(value: Value) -> bool {
    let Some(instruction) = llvm::as_instruction(value) else { return false };
    match llvm::opcode(instruction) {
        LLVMOpcode::LLVMPHI => {
            (0..llvm::phi_count(instruction)).any(|i| is_byte_step(llvm::phi_value(instruction, i)))
        }
        _ => is_byte_step(value),
    }
}

fn is_byte_step(value: Value) -> bool {
    let ty = |step| llvm::gep_source_type(step);
    llvm::as_instruction(value)
        .filter(|i| {
            llvm::opcode(*i) == LLVMOpcode::LLVMGetElementPtr && llvm::operand_count(*i) == 2
        })
        .is_some_and(|step| {
            llvm::kind(ty(step)) == LLVMTypeKind::LLVMIntegerTypeKind
                && llvm::int_width(ty(step)) == 8
        })
}

/// Distinct characters that functions compare something with.
pub fn characters(functions: &[Value]) -> BTreeSet<i64> {
    let mut found = BTreeSet::new();
    for instruction in functions.iter().flat_map(|function| instructions(*function)) {
        match llvm::opcode(instruction) {
            LLVMOpcode::LLVMICmp => {
                let operands = [llvm::operand(instruction, 0), llvm::operand(instruction, 1)];
                let constants = operands.into_iter().filter_map(llvm::as_constant_int);
                found.extend(constants.map(llvm::signed_constant));
            }
            LLVMOpcode::LLVMSwitch => {
                let cases = 1..llvm::successor_count(instruction);
                found.extend(
                    cases.map(|case| llvm::signed_constant(llvm::case_value(instruction, case))),
                );
            }
            _ => {}
        }
    }
    found.retain(|constant| CHARACTERS.contains(constant));
    found
}

/// A constant table that is indexed by bytes, as scanner generators make them.
pub fn byte_table(functions: &[Value]) -> Option<String> {
    let is_widened_byte = |value: Value| {
        let cast = llvm::as_instruction(value)?;
        let widens = matches!(llvm::opcode(cast), LLVMOpcode::LLVMZExt | LLVMOpcode::LLVMSExt);
        (widens && is_byte(llvm::operand(cast, 0))).then_some(())
    };
    let mut geps = functions
        .iter()
        .flat_map(|function| instructions(*function))
        .filter(|i| llvm::opcode(*i) == LLVMOpcode::LLVMGetElementPtr);
    geps.find_map(|gep| {
        let last = llvm::operand(gep, llvm::operand_count(gep) as u32 - 1);
        is_widened_byte(last).and_then(|()| constant_table(llvm::operand(gep, 0)))
    })
}

pub fn has_loop(function: Value) -> bool {
    llvm::blocks(function).into_iter().any(in_loop)
}

/// Whether control can come back to a block.
fn in_loop(block: Block) -> bool {
    let mut open = vec![block];
    let mut seen = HashSet::new();
    while let Some(next) = open.pop() {
        for successor in llvm::terminator(next).map_or(Vec::new(), llvm::successors) {
            if successor == block {
                return true;
            }
            if seen.insert(successor) {
                open.push(successor);
            }
        }
    }
    false
}

/// A caller that calls the function in a loop.
pub fn looping_caller(program: &Program, function: Value) -> Option<Value> {
    let calls = program.calls(function).iter();
    calls
        .filter(|call| caller_of(**call) != function)
        .find(|call| in_loop(llvm::block_of(**call)))
        .map(|call| caller_of(*call))
}

/// A recursive function that calls `function`, directly or through one other.
pub fn recursive_caller(program: &Program, function: Value) -> Option<Value> {
    let callers = program.callers(function);
    let further = callers.iter().flat_map(|caller| program.callers(*caller));
    let mut all = callers.iter().chain(further).copied().filter(|caller| *caller != function);
    all.find(|caller| program.is_recursive(*caller))
}
