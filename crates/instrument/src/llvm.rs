//! The few operations of LLVM's C interface that the instrumenter needs, under short names.
//!
//! All `unsafe` calls into LLVM are here and in [`crate::module`]. Handles are valid as long as the
//! module that they belong to, which outlives every user in this crate; LLVM is used from one
//! thread.

use inkwell::llvm_sys::LLVMTailCallKind;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::target::*;
use std::ffi::{CStr, CString};

pub type Value = LLVMValueRef;
pub type Type = LLVMTypeRef;
pub type Block = LLVMBasicBlockRef;
pub use inkwell::llvm_sys::{LLVMIntPredicate, LLVMOpcode, LLVMRealPredicate, LLVMTypeKind};

const NO_NAME: *const std::ffi::c_char = c"".as_ptr();

macro_rules! wrap {
    ($($name:ident($($arg:ident: $ty:ty),*) -> $ret:ty = $real:ident;)*) => {$(
        pub fn $name($($arg: $ty),*) -> $ret {
            // SAFETY: handles are valid, see the module's description.
            unsafe { $real($($arg),*) }
        }
    )*};
}

wrap! {
    type_of(value: Value) -> Type = LLVMTypeOf;
    kind(ty: Type) -> LLVMTypeKind = LLVMGetTypeKind;
    int_width(ty: Type) -> u32 = LLVMGetIntTypeWidth;
    opcode(instruction: Value) -> LLVMOpcode = LLVMGetInstructionOpcode;
    operand(value: Value, index: u32) -> Value = LLVMGetOperand;
    successor_count(terminator: Value) -> u32 = LLVMGetNumSuccessors;
    successor(terminator: Value, index: u32) -> Block = LLVMGetSuccessor;
    set_successor(terminator: Value, index: u32, block: Block) -> () = LLVMSetSuccessor;
    block_of(instruction: Value) -> Block = LLVMGetInstructionParent;
    function_of(block: Block) -> Value = LLVMGetBasicBlockParent;
    entry_block(function: Value) -> Block = LLVMGetEntryBasicBlock;
    called(call: Value) -> Value = LLVMGetCalledValue;
    called_type(call: Value) -> Type = LLVMGetCalledFunctionType;
    argument_count(call: Value) -> u32 = LLVMGetNumArgOperands;
    param(function: Value, index: u32) -> Value = LLVMGetParam;
    param_count(function: Value) -> u32 = LLVMCountParams;
    value_type(global: Value) -> Type = LLVMGlobalGetValueType;
    return_type(function_type: Type) -> Type = LLVMGetReturnType;
    allocated_type(alloca: Value) -> Type = LLVMGetAllocatedType;
    gep_source_type(gep: Value) -> Type = LLVMGetGEPSourceElementType;
    phi_count(phi: Value) -> u32 = LLVMCountIncoming;
    phi_value(phi: Value, index: u32) -> Value = LLVMGetIncomingValue;
    phi_block(phi: Value, index: u32) -> Block = LLVMGetIncomingBlock;
    int_predicate(compare: Value) -> LLVMIntPredicate = LLVMGetICmpPredicate;
    real_predicate(compare: Value) -> LLVMRealPredicate = LLVMGetFCmpPredicate;
    replace_uses(old: Value, new: Value) -> () = LLVMReplaceAllUsesWith;
    erase(instruction: Value) -> () = LLVMInstructionEraseFromParent;
    struct_element(ty: Type, index: u32) -> Type = LLVMStructGetTypeAtIndex;
    struct_size(ty: Type) -> u32 = LLVMCountStructElementTypes;
    element_type(ty: Type) -> Type = LLVMGetElementType;
    array_size(ty: Type) -> u64 = LLVMGetArrayLength2;
    constant_bits(value: Value) -> u64 = LLVMConstIntGetZExtValue;
    signed_constant(value: Value) -> i64 = LLVMConstIntGetSExtValue;
    operand_count(value: Value) -> i32 = LLVMGetNumOperands;
    case_value(switch: Value, case: u32) -> Value = LLVMGetSwitchCaseValue;
}

pub fn metadata_kind(context: LLVMContextRef, name: &str) -> u32 {
    // SAFETY: the name has this length.
    unsafe { LLVMGetMDKindIDInContext(context, name.as_ptr().cast(), name.len() as u32) }
}

/// An intrinsic that is overloaded on these types.
pub fn intrinsic(module: LLVMModuleRef, name: &str, types: &mut [Type]) -> Value {
    // SAFETY: the name has this length; the module is alive.
    unsafe {
        let id = LLVMLookupIntrinsicID(name.as_ptr().cast(), name.len());
        LLVMGetIntrinsicDeclaration(module, id, types.as_mut_ptr(), types.len())
    }
}

/// The intrinsic that gives a function's return address.
pub fn return_address(module: LLVMModuleRef) -> Value {
    const NAME: &str = "llvm.returnaddress";
    // SAFETY: the name has this length; the module and its context are alive.
    unsafe {
        let id = LLVMLookupIntrinsicID(NAME.as_ptr().cast(), NAME.len());
        let mut pointer = [LLVMPointerTypeInContext(LLVMGetModuleContext(module), 0)];
        let count = usize::from(LLVMIntrinsicIsOverloaded(id) != 0);
        LLVMGetIntrinsicDeclaration(module, id, pointer.as_mut_ptr(), count)
    }
}

/// `double`, in the context of another type.
pub fn double_beside(ty: Type) -> Type {
    // SAFETY: as above.
    unsafe { LLVMDoubleTypeInContext(LLVMGetTypeContext(ty)) }
}

pub fn is_constant(value: Value) -> bool {
    // SAFETY: as above.
    unsafe { LLVMIsConstant(value) != 0 }
}

pub fn as_instruction(value: Value) -> Option<Value> {
    // SAFETY: as above.
    non_null(unsafe { LLVMIsAInstruction(value) })
}

pub fn as_constant_int(value: Value) -> Option<Value> {
    // SAFETY: as above.
    non_null(unsafe { LLVMIsAConstantInt(value) })
}

pub fn as_function(value: Value) -> Option<Value> {
    // SAFETY: as above.
    non_null(unsafe { LLVMIsAFunction(value) })
}

pub fn as_global_variable(value: Value) -> Option<Value> {
    // SAFETY: as above.
    non_null(unsafe { LLVMIsAGlobalVariable(value) })
}

pub fn is_null(pointer: Value) -> bool {
    // SAFETY: as above.
    unsafe { LLVMIsNull(pointer) != 0 }
}

pub fn as_alloca(value: Value) -> Option<Value> {
    // SAFETY: as above.
    non_null(unsafe { LLVMIsAAllocaInst(value) })
}

pub fn as_argument(value: Value) -> Option<Value> {
    // SAFETY: as above.
    non_null(unsafe { LLVMIsAArgument(value) })
}

/// The function that an argument belongs to.
pub fn function_of_argument(argument: Value) -> Value {
    // SAFETY: the handle is an argument.
    unsafe { LLVMGetParamParent(argument) }
}

/// Instructions and constants that have `value` as an operand, one entry a use.
pub fn users(value: Value) -> Vec<Value> {
    let mut found = Vec::new();
    // SAFETY: iteration ends with null.
    unsafe {
        let mut next = LLVMGetFirstUse(value);
        while !next.is_null() {
            found.push(LLVMGetUser(next));
            next = LLVMGetNextUse(next);
        }
    }
    found
}

/// Name of a struct type; `None` for one without.
pub fn struct_name(ty: Type) -> Option<String> {
    // SAFETY: the handle is a struct type; LLVM returns a C string, or null.
    unsafe {
        let text = LLVMGetStructName(ty);
        (!text.is_null()).then(|| CStr::from_ptr(text).to_string_lossy().into_owned())
    }
}

pub fn is_constant_gep(value: Value) -> bool {
    // SAFETY: the opcode is asked of constant expressions only.
    unsafe {
        !LLVMIsAConstantExpr(value).is_null()
            && LLVMGetConstOpcode(value) == LLVMOpcode::LLVMGetElementPtr
    }
}

/// Whether an address is computed as that of the last member of a struct, which has this type.
pub fn is_last_member(address: Value, member: Type) -> bool {
    let is_address = |i: &Value| opcode(*i) == LLVMOpcode::LLVMGetElementPtr;
    let computed = as_instruction(address).filter(is_address);
    let constant = || Some(address).filter(|address| is_constant_gep(*address));
    computed.or_else(constant).is_some_and(|gep| {
        let ty = gep_source_type(gep);
        let last = || struct_size(ty).wrapping_sub(1);
        kind(ty) == LLVMTypeKind::LLVMStructTypeKind
            && operand_count(gep) == 3
            && as_constant_int(operand(gep, 2))
                .is_some_and(|i| constant_bits(i) == u64::from(last()))
            && struct_element(ty, last()) == member
    })
}

/// `nsw`: an addition, subtraction or multiplication of signed numbers.
pub fn has_no_signed_wrap(arithmetic: Value) -> bool {
    // SAFETY: the handle is an instruction that can have the flag.
    unsafe { LLVMGetNSW(arithmetic) != 0 }
}

pub fn is_inline_asm(value: Value) -> bool {
    // SAFETY: as above.
    unsafe { !LLVMIsAInlineAsm(value).is_null() }
}

/// Whether inline assembly has no instructions: it only keeps the compiler from looking through.
pub fn is_empty_asm(value: Value) -> bool {
    asm_text(value).is_empty()
}

/// The instructions of inline assembly.
pub fn asm_text(value: Value) -> String {
    let mut len = 0;
    // SAFETY: the handle is inline assembly, and lives as long as its context; the text has this
    // length.
    unsafe {
        let text = LLVMGetInlineAsmAsmString(value, &mut len);
        if text.is_null() || len == 0 {
            return String::new();
        }
        String::from_utf8_lossy(std::slice::from_raw_parts(text.cast(), len)).into_owned()
    }
}

/// Whether a call may return a second time, as `setjmp` does.
pub fn returns_twice(call: Value) -> bool {
    const FUNCTION: u32 = u32::MAX;
    let kind = attribute_kind("returns_twice");
    // SAFETY: the handle is a call, and what it calls may be a function.
    unsafe {
        !LLVMGetCallSiteEnumAttribute(call, FUNCTION, kind).is_null()
            || as_function(called(call)).is_some_and(|function| {
                !LLVMGetEnumAttributeAtIndex(function, FUNCTION, kind).is_null()
            })
    }
}

/// The value of a constant of at most 64 bits, with its sign.
pub fn constant_signed(constant: Value) -> i64 {
    // SAFETY: the handle is a constant integer.
    unsafe { LLVMConstIntGetSExtValue(constant) }
}

pub fn is_declaration(global: Value) -> bool {
    // SAFETY: as above.
    unsafe { LLVMIsDeclaration(global) != 0 }
}

pub fn is_variadic(function_type: Type) -> bool {
    // SAFETY: as above.
    unsafe { LLVMIsFunctionVarArg(function_type) != 0 }
}

pub fn is_conditional(branch: Value) -> bool {
    // SAFETY: as above.
    unsafe { LLVMIsConditional(branch) != 0 }
}

pub fn is_conditional_branch(instruction: Value) -> bool {
    opcode(instruction) == LLVMOpcode::LLVMBr && is_conditional(instruction)
}

/// Of a conditional branch.
pub fn condition(branch: Value) -> Value {
    // SAFETY: as above.
    unsafe { LLVMGetCondition(branch) }
}

pub fn is_global_constant(global: Value) -> bool {
    // SAFETY: as above.
    unsafe { LLVMIsGlobalConstant(global) != 0 }
}

/// The text that a pointer to a constant string is the start of.
pub fn constant_text(pointer: Value) -> Option<Vec<u8>> {
    let global = as_global_variable(pointer).filter(|global| is_global_constant(*global))?;
    // SAFETY: the initialiser is looked at only if it is a string, which LLVM keeps.
    unsafe {
        let content = non_null(LLVMGetInitializer(global))?;
        // LLVM does not check that it is asked about a constant of this kind.
        non_null(LLVMIsAConstantDataSequential(content))?;
        let mut size = 0;
        let text = (LLVMIsConstantString(content) != 0)
            .then(|| LLVMGetAsString(content, &raw mut size))?;
        let bytes = std::slice::from_raw_parts(text.cast::<u8>(), size);
        Some(bytes.iter().copied().take_while(|c| *c != 0).collect())
    }
}

pub fn is_thread_local(global: Value) -> bool {
    // SAFETY: as above.
    unsafe { LLVMIsThreadLocal(global) != 0 }
}

pub fn non_null<T>(pointer: *mut T) -> Option<*mut T> {
    if pointer.is_null() { None } else { Some(pointer) }
}

/// Name of a value; empty if it has none.
pub fn name(value: Value) -> String {
    let mut length = 0;
    // SAFETY: LLVM returns `length` bytes.
    let bytes = unsafe {
        let text = LLVMGetValueName2(value, &mut length);
        std::slice::from_raw_parts(text.cast::<u8>(), length)
    };
    String::from_utf8_lossy(bytes).into_owned()
}

/// Name of the source file of an instruction or function; empty if it is not known.
pub fn debug_file(value: Value) -> String {
    debug_text(value, LLVMGetDebugLocFilename)
}

/// The folder in which that file was compiled.
pub fn debug_directory(value: Value) -> String {
    debug_text(value, LLVMGetDebugLocDirectory)
}

/// Line of an instruction, or of the start of a function; 0 if it is not known.
pub fn debug_line(value: Value) -> u32 {
    // SAFETY: the value is an instruction or a function.
    unsafe { LLVMGetDebugLocLine(value) }
}

fn debug_text(
    value: Value,
    ask: unsafe extern "C" fn(Value, *mut std::ffi::c_uint) -> *const std::ffi::c_char,
) -> String {
    let mut length = 0;
    // SAFETY: LLVM returns `length` bytes, or null.
    let bytes = unsafe {
        let text = ask(value, &mut length);
        if text.is_null() {
            return String::new();
        }
        std::slice::from_raw_parts(text.cast::<u8>(), length as usize)
    };
    String::from_utf8_lossy(bytes).into_owned()
}

pub fn set_name(value: Value, name: &str) {
    // SAFETY: the pointer and length describe `name`.
    unsafe { LLVMSetValueName2(value, name.as_ptr().cast(), name.len()) }
}

pub fn instructions(block: Block) -> Vec<Value> {
    let mut found = Vec::new();
    // SAFETY: iteration ends with null.
    unsafe {
        let mut next = LLVMGetFirstInstruction(block);
        while !next.is_null() {
            found.push(next);
            next = LLVMGetNextInstruction(next);
        }
    }
    found
}

pub fn first_instruction(block: Block) -> Option<Value> {
    // SAFETY: as above.
    non_null(unsafe { LLVMGetFirstInstruction(block) })
}

pub fn next_instruction(instruction: Value) -> Option<Value> {
    // SAFETY: as above.
    non_null(unsafe { LLVMGetNextInstruction(instruction) })
}

pub fn previous_instruction(instruction: Value) -> Option<Value> {
    // SAFETY: the handle is an instruction.
    non_null(unsafe { LLVMGetPreviousInstruction(instruction) })
}

/// A call whose result must be returned at once.
pub fn is_must_tail(instruction: Value) -> bool {
    if opcode(instruction) != LLVMOpcode::LLVMCall {
        return false;
    }
    // SAFETY: the handle is a call.
    let kind = unsafe { LLVMGetTailCallKind(instruction) };
    kind == LLVMTailCallKind::LLVMTailCallKindMustTail
}

/// The first instruction from `instruction` on that reserves no room in the frame.
pub fn after_allocas(mut instruction: Value) -> Value {
    while as_alloca(instruction).is_some()
        && let Some(next) = next_instruction(instruction)
    {
        instruction = next;
    }
    instruction
}

pub fn terminator(block: Block) -> Option<Value> {
    // SAFETY: as above.
    non_null(unsafe { LLVMGetBasicBlockTerminator(block) })
}

pub fn blocks(function: Value) -> Vec<Block> {
    let mut found = Vec::new();
    // SAFETY: iteration ends with null.
    unsafe {
        let mut next = LLVMGetFirstBasicBlock(function);
        while !next.is_null() {
            found.push(next);
            next = LLVMGetNextBasicBlock(next);
        }
    }
    found
}

pub fn successors(terminator: Value) -> Vec<Block> {
    (0..successor_count(terminator)).map(|i| successor(terminator, i)).collect()
}

/// Terminators that have `block` as a successor.
pub fn predecessors(block: Block) -> Vec<Value> {
    let mut found = Vec::new();
    // SAFETY: iteration ends with null.
    unsafe {
        let mut next = LLVMGetFirstUse(LLVMBasicBlockAsValue(block));
        while !next.is_null() {
            let user = LLVMGetUser(next);
            if !LLVMIsAInstruction(user).is_null() && !found.contains(&user) {
                found.push(user);
            }
            next = LLVMGetNextUse(next);
        }
    }
    found
}

/// The `blockaddress` constants of a block.
pub fn block_addresses(block: Block) -> Vec<Value> {
    let mut found = Vec::new();
    // SAFETY: iteration ends with null.
    unsafe {
        let mut next = LLVMGetFirstUse(LLVMBasicBlockAsValue(block));
        while !next.is_null() {
            let user = LLVMGetUser(next);
            if LLVMIsAInstruction(user).is_null() {
                found.push(user);
            }
            next = LLVMGetNextUse(next);
        }
    }
    found
}

/// Moves everything before `instruction` into a new block, to which all predecessors now go.
/// `instruction`'s block keeps its identity, so phi nodes of its successors stay right. The new
/// block has no terminator yet.
pub fn split_before(context: LLVMContextRef, instruction: Value) -> Block {
    let block = block_of(instruction);
    // SAFETY: handles are valid; the moved instructions are detached before they are inserted.
    unsafe {
        let head = LLVMInsertBasicBlockInContext(context, block, NO_NAME);
        for user in predecessors(block) {
            for i in 0..successor_count(user) {
                if successor(user, i) == block {
                    set_successor(user, i, head);
                }
            }
        }
        for address in block_addresses(block) {
            replace_uses(address, LLVMBlockAddress(function_of(block), head));
        }
        let mover = LLVMCreateBuilderInContext(context);
        LLVMPositionBuilderAtEnd(mover, head);
        for earlier in instructions(block).into_iter().take_while(|&i| i != instruction) {
            LLVMInstructionRemoveFromParent(earlier);
            LLVMInsertIntoBuilder(mover, earlier);
        }
        LLVMDisposeBuilder(mover);
        head
    }
}

/// In the phi nodes of `block`, one entry for `old` becomes one for `new`.
pub fn retarget_phis(builder: &Builder, block: Block, old: Block, new: Block) {
    for phi in instructions(block).into_iter().take_while(|&i| opcode(i) == LLVMOpcode::LLVMPHI) {
        builder.before(phi);
        let copy = builder.phi(type_of(phi));
        let mut done = false;
        for i in 0..phi_count(phi) {
            let from = phi_block(phi, i);
            let replace = from == old && !done;
            done |= replace;
            add_incoming(copy, phi_value(phi, i), if replace { new } else { from });
        }
        replace_uses(phi, copy);
        erase(phi);
    }
}

pub fn add_incoming(phi: Value, mut value: Value, mut block: Block) {
    // SAFETY: one value and one block are passed.
    unsafe { LLVMAddIncoming(phi, &mut value, &mut block, 1) }
}

pub fn param_types(function_type: Type) -> Vec<Type> {
    // SAFETY: the vector has room for all parameter types.
    unsafe {
        let count = LLVMCountParamTypes(function_type) as usize;
        let mut types = vec![std::ptr::null_mut(); count];
        LLVMGetParamTypes(function_type, types.as_mut_ptr());
        types
    }
}

/// Number of an attribute kind.
pub fn attribute_kind(name: &str) -> u32 {
    // SAFETY: the pointer and length describe `name`.
    unsafe { LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len()) }
}

pub fn indices(value: Value) -> Vec<u32> {
    // SAFETY: LLVM returns as many indices as it says.
    unsafe {
        std::slice::from_raw_parts(LLVMGetIndices(value), LLVMGetNumIndices(value) as usize)
            .to_vec()
    }
}

/// Sizes and offsets on the target.
#[derive(Clone, Copy)]
pub struct Layout(pub LLVMTargetDataRef);

impl Layout {
    pub fn size(self, ty: Type) -> u64 {
        // SAFETY: the type is sized: it is that of a value in memory.
        unsafe { LLVMABISizeOfType(self.0, ty) }
    }

    /// The same of a type that may not be known here; 0 then.
    pub fn size_if_known(self, ty: Type) -> u64 {
        // SAFETY: the handle is a type.
        if unsafe { LLVMTypeIsSized(ty) } != 0 { self.size(ty) } else { 0 }
    }

    pub fn store_size(self, ty: Type) -> u64 {
        // SAFETY: as above.
        unsafe { LLVMStoreSizeOfType(self.0, ty) }
    }

    pub fn field_offset(self, ty: Type, field: u32) -> u64 {
        // SAFETY: the caller's index is within the struct.
        unsafe { LLVMOffsetOfElement(self.0, ty, field) }
    }
}

/// A position in a function and the types that instrumentation uses.
pub struct Builder {
    raw: LLVMBuilderRef,
    pub context: LLVMContextRef,
    pub i8: Type,
    pub i32: Type,
    pub i64: Type,
    pub i128: Type,
    pub ptr: Type,
}

impl Drop for Builder {
    fn drop(&mut self) {
        // SAFETY: the builder is not used again.
        unsafe { LLVMDisposeBuilder(self.raw) }
    }
}

impl Builder {
    pub fn new(context: LLVMContextRef) -> Builder {
        // SAFETY: the context outlives the builder.
        unsafe {
            Builder {
                raw: LLVMCreateBuilderInContext(context),
                context,
                i8: LLVMInt8TypeInContext(context),
                i32: LLVMInt32TypeInContext(context),
                i64: LLVMInt64TypeInContext(context),
                i128: LLVMInt128TypeInContext(context),
                ptr: LLVMPointerTypeInContext(context, 0),
            }
        }
    }

    pub fn before(&self, instruction: Value) {
        // SAFETY: the instruction is in a block.
        unsafe { LLVMPositionBuilderBefore(self.raw, instruction) }
    }

    /// At the end of a block, with no place in the source: the last place may be in another
    /// function.
    pub fn at_end(&self, block: Block) {
        // SAFETY: the block is in a function; no location is a valid one.
        unsafe {
            LLVMPositionBuilderAtEnd(self.raw, block);
            LLVMSetCurrentDebugLocation2(self.raw, std::ptr::null_mut());
        }
    }

    /// At the end of a block, at the place in the source of an instruction of the same function.
    pub fn at_end_for(&self, block: Block, instruction: Value) {
        // SAFETY: as above; an instruction without a place has none, which is a valid one.
        unsafe {
            LLVMPositionBuilderAtEnd(self.raw, block);
            let place = inkwell::llvm_sys::debuginfo::LLVMInstructionGetDebugLoc(instruction);
            LLVMSetCurrentDebugLocation2(self.raw, place);
        }
    }

    /// The block that the builder stands in.
    pub fn block(&self) -> Block {
        // SAFETY: the builder has a position.
        unsafe { LLVMGetInsertBlock(self.raw) }
    }

    /// A new block that stands before `block`.
    pub fn new_block(&self, block: Block) -> Block {
        // SAFETY: as above.
        unsafe { LLVMInsertBasicBlockInContext(self.context, block, NO_NAME) }
    }

    pub fn int_type(&self, bits: u32) -> Type {
        // SAFETY: widths come from types that exist.
        unsafe { LLVMIntTypeInContext(self.context, bits) }
    }

    pub fn const_int(&self, ty: Type, value: u64) -> Value {
        // SAFETY: `ty` is an integer type.
        unsafe { LLVMConstInt(ty, value, 0) }
    }

    pub fn const_i32(&self, value: u32) -> Value {
        self.const_int(self.i32, value as u64)
    }

    pub fn const_i64(&self, value: u64) -> Value {
        self.const_int(self.i64, value)
    }

    pub fn null(&self) -> Value {
        // SAFETY: pointers have a null.
        unsafe { LLVMConstNull(self.ptr) }
    }

    pub fn jump(&self, to: Block) {
        // SAFETY: the position is at the end of a block without terminator.
        unsafe { LLVMBuildBr(self.raw, to) };
    }

    pub fn branch(&self, condition: Value, yes: Block, no: Block) -> Value {
        // SAFETY: as above.
        unsafe { LLVMBuildCondBr(self.raw, condition, yes, no) }
    }

    /// Returns what a call returned, to a caller of the same type.
    pub fn ret(&self, call: Value) -> Value {
        // SAFETY: the position is at the end of a block without terminator.
        unsafe {
            match kind(type_of(call)) {
                LLVMTypeKind::LLVMVoidTypeKind => LLVMBuildRetVoid(self.raw),
                _ => LLVMBuildRet(self.raw, call),
            }
        }
    }

    /// Inserts an instruction that is in no block.
    pub fn insert(&self, instruction: Value) {
        // SAFETY: promised by the caller.
        unsafe { LLVMInsertIntoBuilder(self.raw, instruction) }
    }

    pub fn phi(&self, ty: Type) -> Value {
        // SAFETY: the position is among the phi nodes of a block.
        unsafe { LLVMBuildPhi(self.raw, ty, NO_NAME) }
    }

    pub fn call(&self, function: Value, arguments: &[Value]) -> Value {
        let mut arguments = arguments.to_vec();
        // SAFETY: the arguments fit the function's type; the runtime's functions are called with
        // care.
        unsafe {
            let ty = value_type(function);
            LLVMBuildCall2(
                self.raw,
                ty,
                function,
                arguments.as_mut_ptr(),
                arguments.len() as u32,
                NO_NAME,
            )
        }
    }

    pub fn binary(&self, op: LLVMOpcode, a: Value, b: Value) -> Value {
        // SAFETY: operands have one type, which fits the opcode.
        unsafe { LLVMBuildBinOp(self.raw, op, a, b, NO_NAME) }
    }

    pub fn compare(&self, predicate: LLVMIntPredicate, a: Value, b: Value) -> Value {
        // SAFETY: operands have one integer or pointer type.
        unsafe { LLVMBuildICmp(self.raw, predicate, a, b, NO_NAME) }
    }

    pub fn compare_float(&self, predicate: LLVMRealPredicate, a: Value, b: Value) -> Value {
        // SAFETY: operands have one float type.
        unsafe { LLVMBuildFCmp(self.raw, predicate, a, b, NO_NAME) }
    }

    pub fn select(&self, condition: Value, yes: Value, no: Value) -> Value {
        // SAFETY: operands have one type, the condition is an i1.
        unsafe { LLVMBuildSelect(self.raw, condition, yes, no, NO_NAME) }
    }

    pub fn cast(&self, op: LLVMOpcode, value: Value, ty: Type) -> Value {
        // SAFETY: the cast is legal for these types.
        unsafe { LLVMBuildCast(self.raw, op, value, ty, NO_NAME) }
    }

    pub fn zext_or_trunc(&self, value: Value, ty: Type) -> Value {
        let (from, to) = (int_width(type_of(value)), int_width(ty));
        match from.cmp(&to) {
            std::cmp::Ordering::Equal => value,
            std::cmp::Ordering::Less => self.cast(LLVMOpcode::LLVMZExt, value, ty),
            std::cmp::Ordering::Greater => self.cast(LLVMOpcode::LLVMTrunc, value, ty),
        }
    }

    pub fn sext_or_trunc(&self, value: Value, ty: Type) -> Value {
        let (from, to) = (int_width(type_of(value)), int_width(ty));
        if from < to {
            self.cast(LLVMOpcode::LLVMSExt, value, ty)
        } else {
            self.zext_or_trunc(value, ty)
        }
    }

    pub fn extract(&self, aggregate: Value, index: u32) -> Value {
        // SAFETY: the caller's index is within the aggregate.
        unsafe { LLVMBuildExtractValue(self.raw, aggregate, index, NO_NAME) }
    }

    /// The value, of which passes know nothing more.
    pub fn unknown(&self, ty: Type, value: Value) -> Value {
        // SAFETY: the constraints name one result and one operand in the same register.
        unsafe {
            let function_type = LLVMFunctionType(ty, [ty].as_mut_ptr(), 1, 0);
            let is_integer = matches!(kind(ty), LLVMTypeKind::LLVMIntegerTypeKind);
            let constraints = if is_integer { "=r,0" } else { "=x,0" };
            let barrier = LLVMGetInlineAsm(
                function_type,
                NO_NAME,
                0,
                constraints.as_ptr().cast(),
                constraints.len(),
                0,
                0,
                inkwell::llvm_sys::LLVMInlineAsmDialect::LLVMInlineAsmDialectATT,
                0,
            );
            LLVMBuildCall2(self.raw, function_type, barrier, [value].as_mut_ptr(), 1, NO_NAME)
        }
    }

    pub fn store(&self, value: Value, pointer: Value) -> Value {
        // SAFETY: the pointer is valid for the value's type.
        unsafe { LLVMBuildStore(self.raw, value, pointer) }
    }

    /// A pointer to a constant text of the module.
    pub fn text(&self, text: &str) -> Value {
        // SAFETY: the builder stands in a function.
        unsafe { LLVMBuildGlobalString(self.raw, c_string(text).as_ptr(), c"text".as_ptr()) }
    }

    pub fn load(&self, ty: Type, pointer: Value) -> Value {
        // SAFETY: the pointer is valid for the type.
        unsafe { LLVMBuildLoad2(self.raw, ty, pointer, NO_NAME) }
    }

    pub fn alloca(&self, ty: Type) -> Value {
        // SAFETY: the position is in an entry block.
        unsafe { LLVMBuildAlloca(self.raw, ty, NO_NAME) }
    }

    /// `pointer + offset` bytes.
    pub fn offset(&self, pointer: Value, offset: Value) -> Value {
        let mut indices = [offset];
        // SAFETY: one index of integer type.
        unsafe { LLVMBuildGEP2(self.raw, self.i8, pointer, indices.as_mut_ptr(), 1, NO_NAME) }
    }
}

/// A C string for LLVM; zero bytes are dropped.
pub fn c_string(text: &str) -> CString {
    CString::new(text.replace('\0', "")).unwrap_or_default()
}

/// A message that LLVM allocated.
pub fn take_message(message: *mut std::ffi::c_char) -> String {
    if message.is_null() {
        return String::new();
    }
    // SAFETY: LLVM's messages are C strings that the caller frees.
    unsafe {
        let text = CStr::from_ptr(message).to_string_lossy().into_owned();
        LLVMDisposeMessage(message);
        text
    }
}

/// Sets options of LLVM that only its command line offers; the first word is the program's name.
/// Once a process.
pub fn set_flags(words: &[&CStr]) {
    let words: Vec<_> = words.iter().map(|word| word.as_ptr()).collect();
    // SAFETY: the words outlive the call, which copies what it keeps.
    unsafe {
        let count = words.len() as i32;
        inkwell::llvm_sys::support::LLVMParseCommandLineOptions(count, words.as_ptr(), NO_NAME);
    }
}
