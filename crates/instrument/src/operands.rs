//! What the operands of a condition are called in the source, as far as debug information tells.

use crate::llvm::{self, LLVMOpcode, LLVMTypeKind, Value};
use crate::source::source_name;
use inkwell::llvm_sys::LLVMDbgRecordKind;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::debuginfo::{LLVMGetMetadataKind, LLVMMetadataKind};
use inkwell::llvm_sys::prelude::LLVMContextRef;
use std::collections::HashMap;

/// Nobody reads longer ones.
const MAX_DEPTH: u32 = 4;

/// The variables of a function in memory, each with its description.
pub struct Names {
    variables: HashMap<Value, Value>,
}

/// Operands of nodes of debug information, as LLVM 22 has them.
const NAME_OF_VARIABLE: usize = 1;
const TYPE_OF_VARIABLE: usize = 3;
const NAME_OF_TYPE: usize = 2;
const BASE_OF_TYPE: usize = 5;
const MEMBERS_OF_TYPE: usize = 6;

impl Names {
    pub fn of(context: LLVMContextRef, function: Value) -> Names {
        let mut variables = HashMap::new();
        for instruction in llvm::blocks(function).into_iter().flat_map(llvm::instructions) {
            // SAFETY: iteration ends with null; only what declares a variable is asked for it.
            unsafe {
                let mut record = LLVMGetFirstDbgRecord(instruction);
                while !record.is_null() {
                    let kind = LLVMDbgRecordGetKind(record);
                    if matches!(kind, LLVMDbgRecordKind::LLVMDbgRecordDeclare) {
                        let variable = LLVMDbgVariableRecordGetVariable(record);
                        let place = LLVMDbgVariableRecordGetValue(record, 0);
                        variables.insert(place, LLVMMetadataAsValue(context, variable));
                    }
                    record = LLVMGetNextDbgRecord(record);
                }
            }
        }
        Names { variables }
    }

    pub fn value(&self, value: Value) -> Option<String> {
        self.value_within(value, MAX_DEPTH)
    }

    fn value_within(&self, value: Value, depth: u32) -> Option<String> {
        if let Some(number) = llvm::as_constant_int(value) {
            return (llvm::int_width(llvm::type_of(number)) <= 64)
                .then(|| llvm::signed_constant(number).to_string());
        }
        if llvm::is_constant(value) && llvm::is_null(value) {
            return Some("0".to_owned());
        }
        let instruction = llvm::as_instruction(value)?;
        let depth = depth.checked_sub(1)?;
        let operand = |index| self.value_within(llvm::operand(instruction, index), depth);
        let both = |sign: &str| Some(format!("{} {sign} {}", operand(0)?, operand(1)?));
        match llvm::opcode(instruction) {
            LLVMOpcode::LLVMLoad => self.object(llvm::operand(instruction, 0), depth),
            LLVMOpcode::LLVMSExt | LLVMOpcode::LLVMZExt | LLVMOpcode::LLVMTrunc => operand(0),
            LLVMOpcode::LLVMFPExt | LLVMOpcode::LLVMSIToFP | LLVMOpcode::LLVMUIToFP => operand(0),
            LLVMOpcode::LLVMAdd | LLVMOpcode::LLVMFAdd => both("+"),
            LLVMOpcode::LLVMSub | LLVMOpcode::LLVMFSub => both("-"),
            LLVMOpcode::LLVMMul | LLVMOpcode::LLVMFMul => both("*"),
            LLVMOpcode::LLVMSDiv | LLVMOpcode::LLVMUDiv | LLVMOpcode::LLVMFDiv => both("/"),
            LLVMOpcode::LLVMSRem | LLVMOpcode::LLVMURem => both("%"),
            LLVMOpcode::LLVMAnd => both("&"),
            LLVMOpcode::LLVMOr => both("|"),
            LLVMOpcode::LLVMXor => both("^"),
            LLVMOpcode::LLVMShl => both("<<"),
            LLVMOpcode::LLVMAShr | LLVMOpcode::LLVMLShr => both(">>"),
            LLVMOpcode::LLVMCall => {
                let function = llvm::as_function(llvm::called(instruction))?;
                Some(format!("{}()", source_name(&llvm::name(function))))
            }
            _ => None,
        }
    }

    /// What is at an address.
    fn object(&self, address: Value, depth: u32) -> Option<String> {
        if let Some(variable) = self.variables.get(&address) {
            return text(operand(*variable, NAME_OF_VARIABLE)?);
        }
        if llvm::as_global_variable(address).is_some() {
            return Some(source_name(&llvm::name(address))).filter(|name| !name.is_empty());
        }
        let computed = llvm::as_instruction(address)?;
        let depth = depth.checked_sub(1)?;
        match llvm::opcode(computed) {
            LLVMOpcode::LLVMLoad => Some(format!("*{}", self.value_within(computed, depth)?)),
            LLVMOpcode::LLVMGetElementPtr => self.part(computed, depth),
            _ => None,
        }
    }

    fn part(&self, gep: Value, depth: u32) -> Option<String> {
        let base = llvm::operand(gep, 0);
        let is_pointer = llvm::as_instruction(base)
            .is_some_and(|base| llvm::opcode(base) == LLVMOpcode::LLVMLoad);
        let of = || match is_pointer {
            true => self.value_within(base, depth),
            false => self.object(base, depth),
        };
        let last = llvm::operand(gep, llvm::operand_count(gep) as u32 - 1);
        if llvm::kind(llvm::gep_source_type(gep)) == LLVMTypeKind::LLVMStructTypeKind {
            let member = self.member(gep, last)?;
            let name = text(operand(member, NAME_OF_TYPE)?)?;
            return Some(format!("{}{}{name}", of()?, if is_pointer { "->" } else { "." }));
        }
        Some(format!("{}[{}]", of()?, self.value_within(last, depth)?))
    }

    /// The description of a member. C's structs have as many members as LLVM's; others may not.
    fn member(&self, gep: Value, index: Value) -> Option<Value> {
        let ty = llvm::gep_source_type(gep);
        let index = llvm::constant_bits(llvm::as_constant_int(index)?) as usize;
        let described = self.described(llvm::operand(gep, 0))?;
        let members = operands(operand(composite(described)?, MEMBERS_OF_TYPE)?);
        let is_alike =
            llvm::operand_count(gep) == 3 && members.len() == llvm::struct_size(ty) as usize;
        is_alike.then(|| members.get(index).copied())?.filter(|member| !member.is_null())
    }

    /// A type on the way to that of what a pointer points to.
    fn described(&self, pointer: Value) -> Option<Value> {
        if let Some(variable) = self.variables.get(&pointer) {
            return operand(*variable, TYPE_OF_VARIABLE);
        }
        let computed = llvm::as_instruction(pointer)?;
        match llvm::opcode(computed) {
            LLVMOpcode::LLVMLoad => self.described(llvm::operand(computed, 0)),
            LLVMOpcode::LLVMGetElementPtr
                if llvm::kind(llvm::gep_source_type(computed))
                    == LLVMTypeKind::LLVMStructTypeKind =>
            {
                let last = llvm::operand(computed, llvm::operand_count(computed) as u32 - 1);
                operand(self.member(computed, last)?, BASE_OF_TYPE)
            }
            LLVMOpcode::LLVMGetElementPtr => self.described(llvm::operand(computed, 0)),
            _ => None,
        }
    }
}

/// The struct that a type is, points to, or is another name of.
fn composite(mut described: Value) -> Option<Value> {
    const MOST: u32 = 16;
    for _ in 0..MOST {
        // SAFETY: the value is metadata.
        match unsafe { LLVMGetMetadataKind(LLVMValueAsMetadata(described)) } {
            LLVMMetadataKind::LLVMDICompositeTypeMetadataKind
                if operand(described, MEMBERS_OF_TYPE).is_some() =>
            {
                return Some(described);
            }
            LLVMMetadataKind::LLVMDICompositeTypeMetadataKind
            | LLVMMetadataKind::LLVMDIDerivedTypeMetadataKind => {
                described = operand(described, BASE_OF_TYPE)?;
            }
            _ => return None,
        }
    }
    None
}

fn operands(node: Value) -> Vec<Value> {
    // SAFETY: there is room for as many operands as the node has.
    unsafe {
        if LLVMIsAMDNode(node).is_null() {
            return Vec::new();
        }
        let mut all = vec![std::ptr::null_mut(); LLVMGetMDNodeNumOperands(node) as usize];
        LLVMGetMDNodeOperands(node, all.as_mut_ptr());
        all
    }
}

fn operand(node: Value, index: usize) -> Option<Value> {
    operands(node).get(index).copied().and_then(llvm::non_null)
}

fn text(string: Value) -> Option<String> {
    let mut length = 0;
    // SAFETY: LLVM returns `length` bytes, or null for what is no string.
    unsafe {
        let text = LLVMGetMDString(string, &mut length);
        let bytes = (!text.is_null())
            .then(|| std::slice::from_raw_parts(text.cast::<u8>(), length as usize))?;
        Some(String::from_utf8_lossy(bytes).into_owned())
    }
}
