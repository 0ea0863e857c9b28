//! Which values carry labels: integers to 128 bits, pointers, floats and doubles, and structs and
//! arrays of them, whose labels are listed in memory order.

use crate::llvm::{self, LLVMTypeKind, Layout, Type};

/// More labels than this are not kept for one value.
const MAX_LABELS: usize = 16;

/// A scalar inside a value.
#[derive(Clone, Copy)]
pub struct Leaf {
    /// Bytes from the start of the value in memory.
    pub offset: u64,
}

/// The width of a scalar that carries a label.
pub fn scalar_bits(ty: Type) -> Option<u32> {
    match llvm::kind(ty) {
        LLVMTypeKind::LLVMIntegerTypeKind => Some(llvm::int_width(ty)).filter(|bits| *bits <= 128),
        LLVMTypeKind::LLVMPointerTypeKind | LLVMTypeKind::LLVMDoubleTypeKind => Some(64),
        LLVMTypeKind::LLVMFloatTypeKind => Some(32),
        _ => None,
    }
}

pub fn is_float(ty: Type) -> bool {
    matches!(llvm::kind(ty), LLVMTypeKind::LLVMFloatTypeKind | LLVMTypeKind::LLVMDoubleTypeKind)
}

/// The scalars of a type that carries labels; `None` for all other types.
pub fn leaves(layout: Layout, ty: Type) -> Option<Vec<Leaf>> {
    let mut found = Vec::new();
    collect(layout, ty, 0, &mut found).then_some(found)
}

fn collect(layout: Layout, ty: Type, offset: u64, found: &mut Vec<Leaf>) -> bool {
    if scalar_bits(ty).is_some() {
        found.push(Leaf { offset });
        return found.len() <= MAX_LABELS;
    }
    match llvm::kind(ty) {
        LLVMTypeKind::LLVMStructTypeKind => (0..llvm::struct_size(ty)).all(|i| {
            let at = offset + layout.field_offset(ty, i);
            collect(layout, llvm::struct_element(ty, i), at, found)
        }),
        LLVMTypeKind::LLVMArrayTypeKind => {
            let element = llvm::element_type(ty);
            let size = layout.size(element);
            llvm::array_size(ty) <= MAX_LABELS as u64
                && (0..llvm::array_size(ty))
                    .all(|i| collect(layout, element, offset + i * size, found))
        }
        _ => false,
    }
}

/// True if a variable of this type can be read at an index.
pub fn has_array(ty: Type) -> bool {
    match llvm::kind(ty) {
        LLVMTypeKind::LLVMArrayTypeKind => true,
        LLVMTypeKind::LLVMStructTypeKind => {
            (0..llvm::struct_size(ty)).any(|i| has_array(llvm::struct_element(ty, i)))
        }
        _ => false,
    }
}

/// The range of labels, within those of `ty`, that the part at `path` has.
pub fn part(layout: Layout, mut ty: Type, path: &[u32]) -> Option<std::ops::Range<usize>> {
    let mut start = 0;
    for &index in path {
        let (before, inner): (Vec<Type>, Type) = match llvm::kind(ty) {
            LLVMTypeKind::LLVMStructTypeKind => (
                (0..index).map(|i| llvm::struct_element(ty, i)).collect(),
                llvm::struct_element(ty, index),
            ),
            LLVMTypeKind::LLVMArrayTypeKind => {
                let element = llvm::element_type(ty);
                ((0..index).map(|_| element).collect(), element)
            }
            _ => return None,
        };
        for ty in before {
            start += leaves(layout, ty)?.len();
        }
        ty = inner;
    }
    Some(start..start + leaves(layout, ty)?.len())
}
