//! Deliveries as the user writes them: `yylex`, `next_token:arg0->token.val`, `next:tok`.
//!
//! Names of fields come from debug information. Where it says nothing there are offsets in bytes:
//! `next_token:arg0+16`.

use super::debug::{self, DebugType};
use super::delivery::{Root, Route};
use super::program::name;
use crate::llvm::{self, Value};
use crate::module::Module;
use inkwell::llvm_sys::core::LLVMGetEnumAttributeAtIndex;

pub fn notation(module: &Module, function: Value, route: &Route) -> String {
    let name = name(function);
    match route {
        Route::Result => name,
        Route::Memory { root: Root::Global(global), steps, .. } => {
            format!("{name}:{}", global_path(module, *global, steps))
        }
        Route::Memory { root: Root::Argument(position), steps, .. } => {
            format!("{name}:{}", argument_path(module, function, *position, steps))
        }
    }
}

fn global_path(module: &Module, global: Value, steps: &[i64]) -> String {
    let name = llvm::name(global);
    let named = debug::global_type(module.context, global).and_then(|ty| fields(ty, steps));
    match named {
        Some(path) if path.is_empty() => name,
        Some(path) => format!("{name}.{path}"),
        None => format!("{name}{}", offsets(steps)),
    }
}

fn argument_path(module: &Module, function: Value, position: u32, steps: &[i64]) -> String {
    let hidden = returns_through_memory(function);
    let (base, types) = match position.checked_sub(hidden as u32) {
        Some(position) => {
            (format!("arg{position}"), debug::parameter_types(module.context, function))
        }
        None => ("result".to_owned(), None),
    };
    let fits = |types: &Vec<Option<DebugType>>| {
        types.len() + hidden as usize == llvm::param_count(function) as usize
    };
    let own = match position.checked_sub(hidden as u32) {
        Some(position) => types.filter(fits).and_then(|types| types[position as usize]?.pointee()),
        None => debug::result_type(module.context, function),
    };
    let named = own.and_then(|ty| fields(ty, steps));
    match named {
        Some(path) if position < hidden as u32 => format!("{base}.{path}"),
        Some(path) if path.is_empty() => format!("*{base}"),
        Some(path) => format!("{base}->{path}"),
        None => format!("{base}{}", offsets(steps)),
    }
}

/// Names of the fields at these offsets, from an object of type `ty` on.
fn fields(ty: DebugType, steps: &[i64]) -> Option<String> {
    let (first, rest) = steps.split_first()?;
    let (names, found) = ty.field_at(u64::try_from(*first).ok()?, rest.is_empty())?;
    let names = names.join(".");
    match rest.is_empty() {
        true => Some(names),
        false => Some(format!("{names}->{}", fields(found.pointee()?, rest)?)),
    }
}

fn offsets(steps: &[i64]) -> String {
    let step = |offset: &i64| format!("+{offset}");
    steps.iter().map(step).collect::<Vec<_>>().join("->")
}

/// Whether the first parameter is memory for the result.
pub fn returns_through_memory(function: Value) -> bool {
    const FIRST: u32 = 1;
    // SAFETY: the handle is a function; a function without parameters has no such attribute.
    unsafe { !LLVMGetEnumAttributeAtIndex(function, FIRST, llvm::attribute_kind("sret")).is_null() }
}
