//! Behaviour that C and C++ leave undefined gets the meaning that it has in a build without
//! optimisation.
//!
//! A variant is optimised, the program it is derived from perhaps not, and LLVM may do anything
//! where a promise of the source is broken: drop a comparison that an overflow makes true, a check
//! for null after an access, a loop without an end. So promises are taken back before any pass
//! runs. For programs that are optimised themselves this is the reading that is always allowed.

use crate::function::underlying_object;
use crate::llvm::{self, Builder, LLVMOpcode, LLVMTypeKind, Type, Value, c_string};
use crate::module::Module;
use crate::{attributes, rounds};
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::LLVMContextRef;

/// What a front end promises of values in memory and of accesses to it.
const METADATA: [&str; 14] = [
    "tbaa",
    "tbaa.struct",
    "range",
    "nonnull",
    "noundef",
    "align",
    "dereferenceable",
    "dereferenceable_or_null",
    "invariant.load",
    "invariant.group",
    "alias.scope",
    "noalias",
    "llvm.loop",
    "fpmath",
];

/// Of arguments and results.
const OF_VALUES: [&str; 5] =
    ["nonnull", "noundef", "dereferenceable", "dereferenceable_or_null", "range"];

/// Of pointers that the program passes; those that clang passes for it keep them.
const OF_POINTERS: [&str; 2] = ["noalias", "align"];

/// Of functions.
const OF_FUNCTIONS: [&str; 6] =
    ["mustprogress", "willreturn", "memory", "speculatable", "nofree", "nosync"];

/// Functions of the C library that allocate. LLVM removes memory that nobody reads, and mistakes
/// with it. Those of C++ are marked by their calls (`builtin`).
const ALLOCATION: [&str; 9] = [
    "malloc",
    "calloc",
    "realloc",
    "free",
    "strdup",
    "strndup",
    "aligned_alloc",
    "memalign",
    "posix_memalign",
];

/// Takes back everything but what checks of arithmetic need: see [`hide`] and [`settle`].
pub fn take_back(module: &Module, builder: &Builder) {
    keep_allocations(module);
    let kinds = Kinds::new(module.context);
    for function in module.functions() {
        if llvm::name(function).starts_with("llvm.") {
            continue;
        }
        kinds.take_from_function(module.context, function);
        keep_variables(function);
        for instruction in llvm::blocks(function).into_iter().flat_map(llvm::instructions) {
            kinds.take_from_instruction(instruction);
            match llvm::opcode(instruction) {
                LLVMOpcode::LLVMUnreachable => trap_before(module, builder, instruction),
                LLVMOpcode::LLVMCall if is_assumption(instruction) => llvm::erase(instruction),
                LLVMOpcode::LLVMLoad if is_unread(instruction) => {
                    rounds::keep_in_memory(instruction)
                }
                _ => {}
            }
        }
    }
}

struct Kinds {
    metadata: [u32; 14],
    of_values: [u32; 5],
    of_functions: [u32; 6],
    of_users_pointers: [u32; 2],
    of_clangs_pointers: [u32; 2],
    builtin: u32,
}

impl Kinds {
    fn new(context: LLVMContextRef) -> Kinds {
        Kinds {
            metadata: METADATA.map(|name| llvm::metadata_kind(context, name)),
            of_values: OF_VALUES.map(llvm::attribute_kind),
            of_functions: OF_FUNCTIONS.map(llvm::attribute_kind),
            of_users_pointers: OF_POINTERS.map(llvm::attribute_kind),
            of_clangs_pointers: ["sret", "byval"].map(llvm::attribute_kind),
            builtin: llvm::attribute_kind("builtin"),
        }
    }

    fn take_from_function(&self, context: LLVMContextRef, function: Value) {
        let count = llvm::param_count(function);
        // SAFETY: removing an absent attribute does nothing; indices are those of the result and
        // the parameters.
        unsafe {
            for kind in self.of_functions {
                LLVMRemoveEnumAttributeAtIndex(function, attributes::FUNCTION, kind);
            }
            for index in 0..=count {
                for kind in self.of_values {
                    LLVMRemoveEnumAttributeAtIndex(function, index, kind);
                }
                let has =
                    |kind: &u32| !LLVMGetEnumAttributeAtIndex(function, index, *kind).is_null();
                if index > 0 && !self.of_clangs_pointers.iter().any(has) {
                    for kind in self.of_users_pointers {
                        LLVMRemoveEnumAttributeAtIndex(function, index, kind);
                    }
                }
            }
        }
        if !llvm::is_declaration(function) {
            attributes::add(context, function, "null_pointer_is_valid");
        }
    }

    fn take_from_instruction(&self, instruction: Value) {
        use LLVMOpcode::*;
        for &kind in &self.metadata {
            // SAFETY: null removes metadata, also where there is none.
            unsafe { LLVMSetMetadata(instruction, kind, std::ptr::null_mut()) };
        }
        match llvm::opcode(instruction) {
            LLVMCall | LLVMInvoke => self.take_from_call(instruction),
            // SAFETY: the instruction computes an address.
            LLVMGetElementPtr => unsafe { LLVMGEPSetNoWrapFlags(instruction, 0) },
            _ => {}
        }
    }

    fn take_from_call(&self, call: Value) {
        // Copies of memory say there how they are aligned.
        let called = llvm::as_function(llvm::called(call));
        let is_intrinsic = called.is_some_and(|function| llvm::name(function).starts_with("llvm."));
        // SAFETY: as for functions.
        unsafe {
            for kind in self.of_functions.into_iter().chain([self.builtin]) {
                LLVMRemoveCallSiteEnumAttribute(call, attributes::FUNCTION, kind);
            }
            for index in 0..=llvm::argument_count(call) {
                for kind in self.of_values {
                    LLVMRemoveCallSiteEnumAttribute(call, index, kind);
                }
                let has = |kind: &u32| !LLVMGetCallSiteEnumAttribute(call, index, *kind).is_null();
                if index > 0 && !is_intrinsic && !self.of_clangs_pointers.iter().any(has) {
                    for kind in self.of_users_pointers {
                        LLVMRemoveCallSiteEnumAttribute(call, index, kind);
                    }
                }
            }
        }
    }
}

/// Comes again once the runtime's declarations of such functions are there.
pub fn keep_allocations(module: &Module) {
    for function in
        module.functions().into_iter().filter(|function| llvm::is_declaration(*function))
    {
        if ALLOCATION.contains(&llvm::name(function).as_str()) {
            attributes::add(module.context, function, "nobuiltin");
            for kind in ["allockind", "allocsize"].map(llvm::attribute_kind) {
                // SAFETY: removing an absent attribute does nothing.
                unsafe { LLVMRemoveEnumAttributeAtIndex(function, attributes::FUNCTION, kind) };
            }
        }
    }
}

/// Local variables of a function that is returned to a second time have the values of the first
/// time, if they are in memory.
fn keep_variables(function: Value) {
    let instructions = || llvm::blocks(function).into_iter().flat_map(llvm::instructions);
    let is_call =
        |i: &Value| matches!(llvm::opcode(*i), LLVMOpcode::LLVMCall | LLVMOpcode::LLVMInvoke);
    if instructions().filter(is_call).any(llvm::returns_twice) {
        instructions().for_each(rounds::keep_in_memory);
    }
}

fn is_assumption(call: Value) -> bool {
    llvm::as_function(llvm::called(call))
        .is_some_and(|function| llvm::name(function) == "llvm.assume")
}

/// What cannot be reached ends the program if it is reached all the same. Behind a call it is the
/// call that does not return.
fn trap_before(module: &Module, builder: &Builder, unreachable: Value) {
    // SAFETY: null where there is none.
    let before = llvm::non_null(unsafe { LLVMGetPreviousInstruction(unreachable) });
    if before.is_none_or(|before| llvm::opcode(before) != LLVMOpcode::LLVMCall) {
        builder.before(unreachable);
        builder.call(llvm::intrinsic(module.raw, "llvm.trap", &mut []), &[]);
    }
}

/// Local variables that are never set are zero, as far as that costs nothing: those that become
/// values.
pub fn initialise_variables(module: &Module, builder: &Builder) {
    for function in module.functions().into_iter().filter(|f| attributes::can_be_instrumented(*f)) {
        let entry = llvm::instructions(llvm::entry_block(function));
        let Some(start) = entry.first().map(|first| llvm::after_allocas(*first)) else { continue };
        builder.before(start);
        for variable in entry.into_iter().filter_map(llvm::as_alloca) {
            let ty = llvm::allocated_type(variable);
            // The operand is the number of elements.
            let single = llvm::as_constant_int(llvm::operand(variable, 0)).map(llvm::constant_bits)
                == Some(1);
            if single && is_scalar(ty) {
                // SAFETY: the type has a null value.
                builder.store(unsafe { LLVMConstNull(ty) }, variable);
            }
        }
    }
}

fn is_scalar(ty: Type) -> bool {
    use LLVMTypeKind::*;
    matches!(
        llvm::kind(ty),
        LLVMIntegerTypeKind | LLVMPointerTypeKind | LLVMFloatTypeKind | LLVMDoubleTypeKind
    )
}

fn is_integer(value: Value) -> bool {
    llvm::kind(llvm::type_of(value)) == LLVMTypeKind::LLVMIntegerTypeKind
}

/// Hides arithmetic that is checked later from passes that would take its promises at their word:
/// signed operations become calls of functions that nothing is known of, and so do amounts of
/// shifts and divisors. [`show`] undoes it.
pub fn hide(module: &Module, builder: &Builder) {
    for function in module.functions().into_iter().filter(|f| attributes::can_be_instrumented(*f)) {
        for instruction in llvm::blocks(function).into_iter().flat_map(llvm::instructions) {
            if is_partial_conversion(instruction) {
                let operand = llvm::operand(instruction, 0);
                builder.before(instruction);
                let stand_in = stand_in(module, SAME, llvm::type_of(operand), 1);
                set_operand(instruction, 0, builder.call(stand_in, &[operand]));
                continue;
            }
            if !is_integer(instruction) || llvm::operand_count(instruction) != 2 {
                continue;
            }
            let operands = [0, 1].map(|i| llvm::operand(instruction, i));
            let opcode = llvm::opcode(instruction);
            builder.before(instruction);
            if let Some((_, name)) = SIGNED.iter().find(|(signed, _)| *signed == opcode) {
                if llvm::has_no_signed_wrap(instruction) {
                    let stand_in = stand_in(module, name, llvm::type_of(instruction), 2);
                    llvm::replace_uses(instruction, builder.call(stand_in, &operands));
                    llvm::erase(instruction);
                }
            } else if is_partial(opcode) && !is_in_range(opcode, operands[1]) {
                let stand_in = stand_in(module, SAME, llvm::type_of(instruction), 1);
                set_second(instruction, builder.call(stand_in, &operands[1..]));
            }
        }
    }
}

/// Undoes [`hide`].
pub fn show(module: &Module, builder: &Builder) {
    for function in module.functions() {
        let name = llvm::name(function);
        let Some(name) = name.strip_prefix(STAND_IN) else { continue };
        let signed = SIGNED.iter().find(|(_, signed)| name.starts_with(signed));
        for call in llvm::users(function) {
            let [first, second] =
                [0, llvm::argument_count(call) - 1].map(|i| llvm::operand(call, i));
            builder.before(call);
            let value = match signed {
                Some((opcode, _)) => {
                    let value = builder.binary(*opcode, first, second);
                    if llvm::as_instruction(value).is_some() {
                        // SAFETY: the instruction is an addition, a subtraction or a
                        // multiplication.
                        unsafe { LLVMSetNSW(value, 1) };
                    }
                    value
                }
                None => first,
            };
            llvm::replace_uses(call, value);
            llvm::erase(call);
        }
        // SAFETY: nothing uses the function any more.
        unsafe { LLVMDeleteFunction(function) };
    }
}

const STAND_IN: &str = "tarragon.stand-in.";
const SAME: &str = "same";
const SIGNED: [(LLVMOpcode, &str); 3] =
    [(LLVMOpcode::LLVMAdd, "add"), (LLVMOpcode::LLVMSub, "sub"), (LLVMOpcode::LLVMMul, "mul")];

/// Whether the instruction makes an integer of a scalar that may have no place in it.
fn is_partial_conversion(instruction: Value) -> bool {
    use LLVMTypeKind::{LLVMDoubleTypeKind, LLVMFloatTypeKind};
    matches!(llvm::opcode(instruction), LLVMOpcode::LLVMFPToSI | LLVMOpcode::LLVMFPToUI)
        && matches!(
            llvm::kind(llvm::type_of(llvm::operand(instruction, 0))),
            LLVMFloatTypeKind | LLVMDoubleTypeKind
        )
}

/// Whether nobody reads what is loaded through a pointer that may lead nowhere: the load is there
/// for its failing.
fn is_unread(load: Value) -> bool {
    const MAX_STEPS: u32 = 4;
    let object = underlying_object(llvm::operand(load, 0));
    let is_safe = llvm::as_alloca(object).is_some() || llvm::as_global_variable(object).is_some();
    !is_safe && is_dead(load, MAX_STEPS)
}

/// Whether a value gets into variables at most that nobody reads.
fn is_dead(value: Value, steps: u32) -> bool {
    let is_ignored = |user: Value| match llvm::as_instruction(user) {
        Some(store) if llvm::opcode(store) == LLVMOpcode::LLVMStore => {
            llvm::operand(store, 0) == value
                && llvm::as_alloca(llvm::operand(store, 1)).is_some_and(is_write_only)
        }
        Some(user) => steps > 0 && is_computation(user) && is_dead(user, steps - 1),
        None => false,
    };
    llvm::users(value).into_iter().all(is_ignored)
}

fn is_write_only(variable: Value) -> bool {
    llvm::users(variable).into_iter().all(|user| {
        llvm::as_instruction(user).is_some_and(|user| match llvm::opcode(user) {
            LLVMOpcode::LLVMStore => llvm::operand(user, 1) == variable,
            LLVMOpcode::LLVMCall => is_lifetime(user),
            _ => false,
        })
    })
}

fn is_lifetime(call: Value) -> bool {
    llvm::as_function(llvm::called(call))
        .is_some_and(|f| llvm::name(f).starts_with("llvm.lifetime."))
}

fn is_computation(instruction: Value) -> bool {
    use LLVMOpcode::*;
    let opcode = llvm::opcode(instruction);
    let is_cast =
        matches!(opcode, LLVMSExt | LLVMZExt | LLVMTrunc | LLVMSIToFP | LLVMUIToFP | LLVMFPExt);
    is_cast
        || SIGNED.iter().any(|(signed, _)| *signed == opcode)
        || opcode == LLVMAnd
        || opcode == LLVMICmp
}

/// Whether the operation is undefined for some second operands.
fn is_partial(opcode: LLVMOpcode) -> bool {
    is_shift(opcode) || is_division(opcode)
}

/// Whether the operation is known to be defined for this second operand.
fn is_in_range(opcode: LLVMOpcode, operand: Value) -> bool {
    let width = u64::from(llvm::int_width(llvm::type_of(operand)));
    let constant = llvm::as_constant_int(operand).filter(|_| width <= 64).map(llvm::constant_bits);
    constant.is_some_and(|value| if is_shift(opcode) { value < width } else { value != 0 })
}

fn is_shift(opcode: LLVMOpcode) -> bool {
    use LLVMOpcode::*;
    matches!(opcode, LLVMShl | LLVMLShr | LLVMAShr)
}

fn is_division(opcode: LLVMOpcode) -> bool {
    use LLVMOpcode::*;
    matches!(opcode, LLVMSDiv | LLVMUDiv | LLVMSRem | LLVMURem)
}

fn set_second(instruction: Value, operand: Value) {
    set_operand(instruction, 1, operand);
}

fn set_operand(instruction: Value, position: u32, operand: Value) {
    // SAFETY: the instruction has the operand, and the new one is of its type.
    unsafe { LLVMSetOperand(instruction, position, operand) };
}

/// A function without effects that passes know nothing else of.
fn stand_in(module: &Module, name: &str, ty: Type, count: usize) -> Value {
    let name = match llvm::kind(ty) {
        LLVMTypeKind::LLVMFloatTypeKind => c_string(&format!("{STAND_IN}{name}.float")),
        LLVMTypeKind::LLVMDoubleTypeKind => c_string(&format!("{STAND_IN}{name}.double")),
        _ => c_string(&format!("{STAND_IN}{name}.i{}", llvm::int_width(ty))),
    };
    // SAFETY: the module is alive; the type has so many parameters.
    unsafe {
        if let Some(function) = llvm::non_null(LLVMGetNamedFunction(module.raw, name.as_ptr())) {
            return function;
        }
        let mut parameters = vec![ty; count];
        let function_type = LLVMFunctionType(ty, parameters.as_mut_ptr(), count as u32, 0);
        let function = LLVMAddFunction(module.raw, name.as_ptr(), function_type);
        for attribute in ["memory", "nounwind", "willreturn"] {
            attributes::add(module.context, function, attribute);
        }
        function
    }
}

/// Once checks are in place: arithmetic does what the processor does.
pub fn settle(builder: &Builder, functions: impl IntoIterator<Item = Value>) {
    for function in functions {
        for instruction in llvm::blocks(function).into_iter().flat_map(llvm::instructions) {
            let opcode = llvm::opcode(instruction);
            if SIGNED.iter().any(|(signed, _)| *signed == opcode) || opcode == LLVMOpcode::LLVMShl {
                // SAFETY: these operations have both flags.
                unsafe {
                    LLVMSetNSW(instruction, 0);
                    LLVMSetNUW(instruction, 0);
                }
            }
            if is_partial_conversion(instruction) {
                keep_converted(builder, instruction);
            } else if is_integer(instruction) && is_shift(opcode) {
                wrap_amount(builder, instruction);
            } else if is_integer(instruction) && is_division(opcode) {
                keep_divisor(builder, instruction);
            }
        }
    }
}

/// The processor takes amounts of shifts modulo the width.
fn wrap_amount(builder: &Builder, shift: Value) {
    let (ty, amount) = (llvm::type_of(shift), llvm::operand(shift, 1));
    let width = u64::from(llvm::int_width(ty));
    if width.is_power_of_two() {
        builder.before(shift);
        set_second(
            shift,
            builder.binary(LLVMOpcode::LLVMAnd, amount, builder.const_int(ty, width - 1)),
        );
    }
}

/// A value that has no place in an integer becomes what the processor makes of it, also if passes
/// know it.
fn keep_converted(builder: &Builder, conversion: Value) {
    let operand = llvm::operand(conversion, 0);
    builder.before(conversion);
    set_operand(conversion, 0, builder.unknown(llvm::type_of(operand), operand));
}

/// A division by zero remains one, if passes find out that it is. Divisors that the source wrote as
/// constants are left alone.
fn keep_divisor(builder: &Builder, division: Value) {
    let (ty, divisor) = (llvm::type_of(division), llvm::operand(division, 1));
    if is_in_range(llvm::opcode(division), divisor) || llvm::int_width(ty) > 64 {
        return;
    }
    builder.before(division);
    set_second(division, builder.unknown(ty, divisor));
}
