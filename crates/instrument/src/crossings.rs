//! Where control goes to code that is not followed, or comes from there, without a name: calls
//! through pointers, and results of functions whose addresses others may have.

use crate::attributes;
use crate::entry;
use crate::function::Function;
use crate::llvm::{self, LLVMTypeKind, Value};
use crate::module::Module;
use crate::runtime::Runtime;
use inkwell::llvm_sys::core::*;
use std::collections::HashSet;

/// All code that is followed is here, and the linker tells where that begins and ends.
const SECTION: &std::ffi::CStr = c"tarragon_code";

const MAIN: &str = "main";

/// Functions that handlers of the program's end get its status from.
const STATUS_READERS: [&str; 6] = ["on_exit", "wait", "waitpid", "wait3", "wait4", "waitid"];

/// Functions that code which is not followed may call: it can have their addresses, or knows their
/// names. What they end with in place of a return is reachable, too.
pub fn reachable_from_outside(
    module: &Module,
    defined: &[Value],
    known_names: &HashSet<String>,
) -> HashSet<Value> {
    let reads_status = reads_status(module);
    let is_reachable = |function: &Value| {
        let name = llvm::name(*function);
        if trace::replaced_name(&name) == MAIN {
            return reads_status;
        }
        known_names.contains(&name)
            || !llvm::users(*function).into_iter().all(|user| is_call_of(user, *function))
    };
    let mut next: Vec<Value> = defined.iter().copied().filter(is_reachable).collect();
    let mut reachable = HashSet::new();
    while let Some(function) = next.pop() {
        if reachable.insert(function) {
            next.extend(tail_callees(function).filter(|callee| defined.contains(callee)));
        }
    }
    reachable
}

/// What the function calls in place of a return.
fn tail_callees(function: Value) -> impl Iterator<Item = Value> {
    let instructions = llvm::blocks(function).into_iter().flat_map(llvm::instructions);
    let calls = instructions.filter(|instruction| llvm::is_must_tail(*instruction));
    calls.filter_map(|call| llvm::as_function(llvm::called(call)))
}

/// Whether somebody is told the program's exit status while the program still runs.
pub fn reads_status(module: &Module) -> bool {
    module.functions().iter().any(|f| STATUS_READERS.contains(&llvm::name(*f).as_str()))
}

/// Whether the only thing that somebody does with the function is to call it.
fn is_call_of(user: Value, function: Value) -> bool {
    llvm::as_instruction(user).is_some_and(|user| {
        attributes::is_call(user)
            && llvm::called(user) == function
            && (0..llvm::argument_count(user)).all(|i| llvm::operand(user, i) != function)
    })
}

/// Such a function stays one of its own: inlined, its return address would be another's.
pub fn keep_apart(module: &Module, reachable: &HashSet<Value>) {
    let always = llvm::attribute_kind("alwaysinline");
    for &function in reachable {
        // SAFETY: the handle is a function.
        let is_inlined = unsafe {
            !LLVMGetEnumAttributeAtIndex(function, attributes::FUNCTION, always).is_null()
        };
        if !is_inlined {
            attributes::add(module.context, function, "noinline");
        }
    }
}

/// Puts all code that is followed, and the runtime's, into one section. What the program itself
/// wants elsewhere stays there: then it is taken for code that is not followed. Slow paths of the
/// runtime stay away from the others.
pub fn place_code(module: &Module) {
    let cold = llvm::attribute_kind("cold");
    for function in module.functions().into_iter().filter(|f| !llvm::is_declaration(*f)) {
        // SAFETY: the handle is a function that is defined here.
        unsafe {
            let is_cold =
                !LLVMGetEnumAttributeAtIndex(function, attributes::FUNCTION, cold).is_null();
            let is_slow_path = is_cold && Runtime::has_name(&llvm::name(function));
            if LLVMGetSection(function).is_null() && !is_slow_path {
                LLVMSetSection(function, SECTION.as_ptr());
            }
        }
    }
}

impl Function<'_> {
    /// A function is about to be called through a pointer; the builder stands before the call.
    /// Returns whether its code is followed, as the runtime knows it then.
    pub fn watch_pointer(&mut self, call: Value, arguments: &[Value]) -> Value {
        let site = self.site(call);
        let target = self.bits(llvm::called(call));
        let labels = self.any_label(arguments);
        let followed = self.call(entry::__tgi_through_pointer, [target, labels, site]);
        for pointer in arguments.iter().copied().filter(is_pointer) {
            let size = self.builder().const_i64(self.known_size(pointer));
            let lent = [followed, self.bits(pointer), size, site];
            self.call(entry::__tgi_lend_through_pointer, lent);
        }
        followed
    }

    /// A function that code which is not followed may have called begins; the builder stands where
    /// its body does.
    pub fn watch_entry(&mut self) {
        if self.is_reachable() && llvm::name(self.function) != MAIN {
            let returns_to = self.returns_to();
            self.call(entry::__tgi_called_from, [returns_to]);
        }
    }

    /// Such a function returns these values; the builder stands before it does.
    pub fn watch_result(&mut self, ret: Value, values: &[Value]) {
        let may_be_symbolic = values.iter().any(|value| self.may_be_symbolic(*value));
        let is_main = trace::replaced_name(&llvm::name(self.function)) == MAIN;
        if !self.is_reachable() || is_main && !may_be_symbolic {
            return;
        }
        let site = self.site(ret);
        let returns_to = self.returns_to();
        let labels = self.any_label(values);
        self.call(entry::__tgi_returns, [labels, returns_to, site]);
        if is_main {
            return;
        }
        let parameters =
            (0..llvm::param_count(self.function)).map(|i| llvm::param(self.function, i));
        for pointer in parameters.chain(values.iter().copied()).filter(is_pointer) {
            self.call(entry::__tgi_hands_back, [self.bits(pointer), returns_to, site]);
        }
    }

    fn is_reachable(&self) -> bool {
        self.program.reachable.contains(&self.function)
    }

    fn returns_to(&self) -> Value {
        // SAFETY: the function belongs to a module.
        let module = unsafe { LLVMGetGlobalParent(self.function) };
        let builder = self.builder();
        self.bits(builder.call(llvm::return_address(module), &[self.zero()]))
    }
}

/// Whether the value is a pointer to memory that need not be a function's.
fn is_pointer(value: &Value) -> bool {
    llvm::kind(llvm::type_of(*value)) == LLVMTypeKind::LLVMPointerTypeKind
        && llvm::as_function(*value).is_none()
        && !llvm::is_null(*value)
}
