//! The list of the program's global variables, with which the runtime finds the object that an
//! address points into.

use crate::llvm::{self, Builder, Value};
use crate::module::Module;
use inkwell::llvm_sys::LLVMLinkage;
use inkwell::llvm_sys::core::*;
use trace::Extent;

/// Adds the list to the program; returns it and the number of its entries.
pub fn list(module: &Module, builder: &Builder) -> (Value, u64) {
    let layout = module.layout();
    let mut entries = Vec::new();
    for global in module.globals() {
        let name = llvm::name(global);
        if llvm::is_declaration(global)
            || llvm::is_thread_local(global)
            || name.starts_with("llvm.")
        {
            continue;
        }
        let size = layout.size(llvm::value_type(global));
        if size == 0 {
            continue;
        }
        entries.push((
            global,
            Extent::new(size, llvm::is_global_constant(global), is_visible(global)),
        ));
    }
    (add_list(module, builder, &entries), entries.len() as u64)
}

fn is_visible(global: Value) -> bool {
    // SAFETY: the handle is a global variable.
    let linkage = unsafe { LLVMGetLinkage(global) };
    !matches!(linkage, LLVMLinkage::LLVMInternalLinkage | LLVMLinkage::LLVMPrivateLinkage)
}

/// As many [`trace::Global`] as there are entries.
fn add_list(module: &Module, builder: &Builder, entries: &[(Value, Extent)]) -> Value {
    // SAFETY: the initialiser has the variable's type.
    unsafe {
        let mut fields = [builder.ptr, builder.i64];
        let record = LLVMStructTypeInContext(module.context, fields.as_mut_ptr(), 2, 0);
        let mut records: Vec<Value> = entries
            .iter()
            .map(|&(global, extent)| {
                let mut parts = [global, builder.const_i64(extent.number())];
                LLVMConstStructInContext(module.context, parts.as_mut_ptr(), 2, 0)
            })
            .collect();
        let content = LLVMConstArray2(record, records.as_mut_ptr(), records.len() as u64);
        let list =
            LLVMAddGlobal(module.raw, llvm::type_of(content), c"__tarragon_globals".as_ptr());
        LLVMSetInitializer(list, content);
        LLVMSetLinkage(list, LLVMLinkage::LLVMInternalLinkage);
        list
    }
}
