//! Coverage of branch outcomes, and in the covered variant of basic blocks: one byte each in a map
//! of the program's own, over which the runtime lays shared memory.

use crate::llvm::{self, Builder, LLVMIntPredicate, LLVMOpcode, Value};
use crate::module::Module;
use crate::numbering::Numbering;
use inkwell::llvm_sys::LLVMLinkage;
use inkwell::llvm_sys::core::*;
use sites::SiteKind;
use std::collections::HashSet;

const PAGE: u64 = 4096;

/// The map and the instructions that write it, which are not themselves instrumented.
pub struct Coverage {
    pub map: Value,
    pub len: u64,
    pub own: HashSet<Value>,
}

impl Coverage {
    pub fn new(module: &Module, builder: &Builder, bytes: u32) -> Coverage {
        let len = (bytes as u64).next_multiple_of(PAGE).max(PAGE);
        // SAFETY: the type is sized and the initialiser has that type.
        let map = unsafe {
            let ty = LLVMArrayType2(builder.i8, len);
            let map = LLVMAddGlobal(module.raw, ty, c"__tarragon_coverage".as_ptr());
            LLVMSetInitializer(map, LLVMConstNull(ty));
            LLVMSetLinkage(map, LLVMLinkage::LLVMInternalLinkage);
            LLVMSetAlignment(map, PAGE as u32);
            map
        };
        Coverage { map, len, own: HashSet::new() }
    }

    /// Marks the blocks of a function, which are numbered from `first`; returns the number after
    /// the last.
    pub fn mark_blocks(&mut self, builder: &Builder, function: Value, first: u32) -> u32 {
        let blocks = llvm::blocks(function);
        for (&block, number) in blocks.iter().zip(first..) {
            if let Some(at) = crate::visit::first_insertion(block) {
                builder.before(at);
                self.mark(builder, builder.const_i64(number as u64));
            }
        }
        first + blocks.len() as u32
    }

    pub fn instrument(&mut self, builder: &Builder, numbering: &Numbering, function: Value) {
        for block in llvm::blocks(function) {
            let Some(terminator) = llvm::terminator(block) else { continue };
            let Some(number) = numbering.number_of(terminator) else { continue };
            match (&numbering.table.sites[number as usize].kind, llvm::opcode(terminator)) {
                (SiteKind::Branch { coverage }, LLVMOpcode::LLVMBr) => {
                    self.mark_branch(builder, terminator, *coverage)
                }
                (SiteKind::Switch { coverage, cases }, LLVMOpcode::LLVMSwitch) => {
                    self.mark_switch(builder, terminator, *coverage, cases)
                }
                _ => {}
            }
        }
    }

    /// Critical edges are split before, so each side of a branch starts with a block of its own.
    fn mark_branch(&mut self, builder: &Builder, branch: Value, first: u32) {
        if !llvm::is_conditional(branch) || llvm::successor(branch, 0) == llvm::successor(branch, 1)
        {
            return;
        }
        // Successor 0 is the true side.
        for (successor, outcome) in [(0, first + 1), (1, first)] {
            let Some(at) = crate::visit::first_insertion(llvm::successor(branch, successor)) else {
                continue;
            };
            builder.before(at);
            self.mark(builder, builder.const_i64(outcome as u64));
        }
    }

    /// Each edge of the switch gets a block of its own.
    fn mark_switch(&mut self, builder: &Builder, switch: Value, first: u32, cases: &[u64]) {
        let block = llvm::block_of(switch);
        let present = crate::numbering::switch_cases(switch);
        for edge in 0..llvm::successor_count(switch) {
            let position = match edge {
                0 => Some(cases.len()),
                _ => cases.iter().position(|case| *case == present[edge as usize - 1]),
            };
            let Some(position) = position else { continue };
            let target = llvm::successor(switch, edge);
            let between = builder.new_block(target);
            builder.at_end(between);
            self.mark(builder, builder.const_i64(first as u64 + position as u64));
            builder.jump(target);
            llvm::set_successor(switch, edge, between);
            llvm::retarget_phis(builder, target, block, between);
        }
    }

    /// Counts, up to the largest number that a byte holds: 0 is for what was never taken.
    fn mark(&mut self, builder: &Builder, index: Value) {
        let place = builder.offset(self.map, index);
        let count = builder.load(builder.i8, place);
        let most = builder.const_int(builder.i8, u64::from(u8::MAX));
        let is_less = builder.compare(LLVMIntPredicate::LLVMIntNE, count, most);
        let more = builder.zext_or_trunc(is_less, builder.i8);
        let sum = builder.binary(LLVMOpcode::LLVMAdd, count, more);
        let store = builder.store(sum, place);
        let own = [place, count, is_less, more, sum, store];
        self.own.extend(own.into_iter().filter_map(llvm::as_instruction));
    }
}
