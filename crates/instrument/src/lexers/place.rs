//! Names for memory: which loads read what a store wrote, by the type and field that an access goes
//! through.
//!
//! A name stands for that field of every object of its type. That is coarse, and enough to see what
//! becomes of a token that waits in a parser's state.

use crate::llvm::{self, LLVMOpcode, LLVMTypeKind, Layout, Type, Value};

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// A field of a struct type.
    Field(String, u32),
    /// A variable that is no struct.
    Global(Value),
    /// A local variable, or what an argument points to.
    Slot(Value),
}

/// The place that a pointer leads to; `None` for elements of arrays and for what is not known.
pub fn place(layout: Layout, pointer: Value) -> Option<Place> {
    if let Some((global, offset)) = within_global(layout, pointer) {
        let field = innermost_field(layout, llvm::value_type(global), offset);
        return field.or((offset == 0).then_some(Place::Global(global)));
    }
    if llvm::as_alloca(pointer).is_some() || llvm::as_argument(pointer).is_some() {
        return Some(Place::Slot(pointer));
    }
    is_gep(pointer).then(|| last_field(pointer)).flatten()
}

pub fn is_gep(value: Value) -> bool {
    let is_instruction = llvm::as_instruction(value)
        .is_some_and(|instruction| llvm::opcode(instruction) == LLVMOpcode::LLVMGetElementPtr);
    is_instruction || llvm::is_constant_gep(value)
}

/// The variable that a pointer with a fixed offset leads into.
fn within_global(layout: Layout, pointer: Value) -> Option<(Value, u64)> {
    let mut offset = 0i64;
    let mut base = pointer;
    while is_gep(base) {
        offset = offset.checked_add(constant_offset(layout, base)?)?;
        base = llvm::operand(base, 0);
    }
    Some((llvm::as_global_variable(base)?, u64::try_from(offset).ok()?))
}

/// The bytes that an address computation adds, where all its indices are constants.
pub fn constant_offset(layout: Layout, gep: Value) -> Option<i64> {
    let mut ty = llvm::gep_source_type(gep);
    let mut offset = 0i64;
    for position in 1..llvm::operand_count(gep) as u32 {
        let index = llvm::signed_constant(llvm::as_constant_int(llvm::operand(gep, position))?);
        let elements = |ty| index.checked_mul(i64::try_from(layout.size(ty)).ok()?);
        let step = if position == 1 {
            elements(ty)?
        } else if llvm::kind(ty) == LLVMTypeKind::LLVMStructTypeKind {
            let start = layout.field_offset(ty, index as u32);
            ty = llvm::struct_element(ty, index as u32);
            i64::try_from(start).ok()?
        } else {
            ty = llvm::element_type(ty);
            elements(ty)?
        };
        offset = offset.checked_add(step)?;
    }
    Some(offset)
}

/// The last step of an address computation, if that is one into a struct.
fn last_field(gep: Value) -> Option<Place> {
    let mut ty = llvm::gep_source_type(gep);
    let mut field = None;
    for position in 2..llvm::operand_count(gep) as u32 {
        if llvm::kind(ty) == LLVMTypeKind::LLVMStructTypeKind {
            let index =
                llvm::constant_bits(llvm::as_constant_int(llvm::operand(gep, position))?) as u32;
            field = Some(Place::Field(type_key(ty), index));
            ty = llvm::struct_element(ty, index);
        } else {
            field = None;
            ty = llvm::element_type(ty);
        }
    }
    field
}

fn innermost_field(layout: Layout, mut ty: Type, mut offset: u64) -> Option<Place> {
    let mut field = None;
    while llvm::kind(ty) == LLVMTypeKind::LLVMStructTypeKind {
        let holds = |index: &u32| layout.field_offset(ty, *index) <= offset;
        let index = (0..llvm::struct_size(ty)).rev().find(holds)?;
        field = Some(Place::Field(type_key(ty), index));
        offset -= layout.field_offset(ty, index);
        ty = llvm::struct_element(ty, index);
    }
    field.filter(|_| offset == 0)
}

/// Linking appends a dot and a number to types that share a name, mostly because they are the same.
fn type_key(ty: Type) -> String {
    let Some(name) = llvm::struct_name(ty) else { return format!("{ty:?}") };
    match name.rsplit_once('.') {
        Some((start, end)) if is_number(end) && !start.ends_with("anon") => start.to_owned(),
        _ => name,
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}
