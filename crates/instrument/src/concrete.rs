//! A second version of each function, for runs in which nothing is symbolic: it marks coverage and
//! keeps no labels.
//!
//! Most runs of a campaign are such runs. Concrete versions call each other; whatever comes from
//! elsewhere (a pointer, a callback, `main`) enters the labelled version, which goes on in the
//! concrete one if this run has no labels.

use crate::llvm::{self, Block, Builder, LLVMIntPredicate, LLVMOpcode, Value, c_string};
use crate::module::Module;
use crate::runtime::{self, Runtime};
use crate::{entry, rounds};
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::debuginfo::LLVMInstructionSetDebugLoc;
use inkwell::llvm_sys::prelude::LLVMAttributeRef;
use inkwell::llvm_sys::{LLVMLinkage, LLVMTailCallKind};
use std::collections::HashMap;

const FUNCTION: u32 = u32::MAX;

/// Models of functions with which the runtime has something to do in every run.
const IN_EVERY_RUN: [&str; 5] = ["fork", "pthread_create", "recv", "recvfrom", "recvmsg"];
/// Functions that exist as models only start with this.
const OWN: &str = "tarragon_";

/// Concrete versions of functions, by the labelled ones.
pub struct Concrete {
    versions: HashMap<Value, Value>,
}

impl Concrete {
    /// Makes concrete versions of the functions that can have one. Comes before they are
    /// instrumented, with their coverage marked and library functions redirected to models.
    pub fn versions(module: &Module, builder: &Builder, functions: &[Value]) -> Concrete {
        let looping = rounds::functions_around(module);
        let eligible = functions.iter().filter(|f| !looping.contains(*f) && can_be_copied(**f));
        let versions = eligible.map(|function| (*function, declare(module, *function))).collect();
        let concrete = Concrete { versions };
        for (&function, &version) in &concrete.versions {
            Copy::new(module, builder, &concrete, function, version).fill();
        }
        concrete
    }

    /// Leaves the labelled version of a function before `at` if this run has no labels.
    pub fn leave(&self, builder: &Builder, runtime: &Runtime, function: Value, at: Value) {
        let Some(&version) = self.versions.get(&function) else { return };
        builder.before(at);
        let concrete = runtime.call(builder, entry::__tgi_is_concrete, []);
        let concrete = builder.compare(LLVMIntPredicate::LLVMIntNE, concrete, builder.const_i32(0));
        let head = llvm::split_before(builder.context, at);
        let labelled = llvm::block_of(at);
        let leaving = builder.new_block(labelled);
        builder.at_end(head);
        builder.branch(concrete, leaving, labelled);
        builder.at_end(leaving);
        let parameters: Vec<Value> =
            (0..llvm::param_count(function)).map(|i| llvm::param(function, i)).collect();
        let call = builder.call(version, &parameters);
        attributes(function, |index, attribute| {
            if index != FUNCTION {
                // SAFETY: the call has the function's parameters.
                unsafe { LLVMAddCallSiteAttribute(call, index, attribute) }
            }
        });
        // SAFETY: the handle is a call of a function with the same type, and the position follows
        // it.
        unsafe {
            LLVMSetInstructionCallConv(call, LLVMGetFunctionCallConv(function));
            if llvm::is_variadic(llvm::value_type(function)) {
                LLVMSetTailCallKind(call, LLVMTailCallKind::LLVMTailCallKindMustTail);
            } else if !has_byval(function) {
                LLVMSetTailCallKind(call, LLVMTailCallKind::LLVMTailCallKindTail);
            }
        }
        builder.ret(call);
        builder.before(at);
    }
}

/// Functions with arguments that a tail call could not pass on, or with places to jump to that
/// others know, have one version.
fn can_be_copied(function: Value) -> bool {
    let passes = !llvm::is_variadic(llvm::value_type(function)) || !has_byval(function);
    passes
        && llvm::blocks(function).into_iter().flat_map(llvm::block_addresses).all(is_in_own_tables)
}

fn has_byval(function: Value) -> bool {
    let mut found = false;
    let kinds = ["byval", "inalloca", "preallocated"].map(llvm::attribute_kind);
    attributes(function, |_, attribute| {
        // SAFETY: the handle is an attribute; those that are text have no kind.
        unsafe {
            let has_kind =
                LLVMIsEnumAttribute(attribute) != 0 || LLVMIsTypeAttribute(attribute) != 0;
            found |= has_kind && kinds.contains(&LLVMGetEnumAttributeKind(attribute));
        }
    });
    found
}

/// Calls `found` for each attribute with what it belongs to: the function, its result (0) or a
/// parameter (from 1 on).
fn attributes(function: Value, mut found: impl FnMut(u32, LLVMAttributeRef)) {
    for index in std::iter::once(FUNCTION).chain(0..=llvm::param_count(function)) {
        // SAFETY: the vector has room for as many attributes as LLVM says.
        let list = unsafe {
            let count = LLVMGetAttributeCountAtIndex(function, index) as usize;
            let mut list = vec![std::ptr::null_mut(); count];
            LLVMGetAttributesAtIndex(function, index, list.as_mut_ptr());
            list
        };
        list.into_iter().for_each(|attribute| found(index, attribute));
    }
}

/// True if an address of a block is used by instructions of its function only, at once or through
/// tables of that function alone.
fn is_in_own_tables(address: Value) -> bool {
    // SAFETY: the handle is an address of a block.
    let function = unsafe { LLVMGetBlockAddressFunction(address) };
    let inside = |user: &Value| {
        llvm::as_instruction(*user)
            .is_some_and(|i| llvm::function_of(llvm::block_of(i)) == function)
    };
    let is_table = |user: &Value| {
        llvm::users(*user).into_iter().all(|global| {
            llvm::as_global_variable(global)
                .is_some_and(|g| is_local(g) && llvm::users(g).iter().all(inside))
        })
    };
    llvm::users(address).iter().all(|user| inside(user) || is_array(*user) && is_table(user))
}

fn is_array(value: Value) -> bool {
    // SAFETY: any value can be asked.
    unsafe { !LLVMIsAConstantArray(value).is_null() }
}

fn is_local(global: Value) -> bool {
    // SAFETY: the handle is a global variable.
    let linkage = unsafe { LLVMGetLinkage(global) };
    matches!(linkage, LLVMLinkage::LLVMInternalLinkage | LLVMLinkage::LLVMPrivateLinkage)
}

/// A function without a body that takes and promises what `function` does.
fn declare(module: &Module, function: Value) -> Value {
    let name = c_string(&format!("{}.concrete", llvm::name(function)));
    // SAFETY: type, attributes and personality belong to the same module.
    unsafe {
        let version = LLVMAddFunction(module.raw, name.as_ptr(), llvm::value_type(function));
        LLVMSetLinkage(version, LLVMLinkage::LLVMInternalLinkage);
        LLVMSetFunctionCallConv(version, LLVMGetFunctionCallConv(function));
        if LLVMHasPersonalityFn(function) != 0 {
            LLVMSetPersonalityFn(version, LLVMGetPersonalityFn(function));
        }
        attributes(function, |index, attribute| LLVMAddAttributeAtIndex(version, index, attribute));
        version
    }
}

/// A function that is being copied.
struct Copy<'a> {
    module: &'a Module,
    builder: &'a Builder,
    concrete: &'a Concrete,
    function: Value,
    version: Value,
    blocks: HashMap<Block, Block>,
    /// Copies of parameters, instructions and tables of jump targets.
    values: HashMap<Value, Value>,
}

impl<'a> Copy<'a> {
    fn new(
        module: &'a Module,
        builder: &'a Builder,
        concrete: &'a Concrete,
        function: Value,
        version: Value,
    ) -> Copy<'a> {
        // SAFETY: the version has no blocks yet.
        let block = |from: Block| unsafe {
            (from, LLVMAppendBasicBlockInContext(module.context, version, c"".as_ptr()))
        };
        let blocks = llvm::blocks(function).into_iter().map(block).collect();
        let parameters = 0..llvm::param_count(function);
        let values =
            parameters.map(|i| (llvm::param(function, i), llvm::param(version, i))).collect();
        Copy { module, builder, concrete, function, version, blocks, values }
    }

    fn fill(mut self) {
        self.copy_tables();
        let blocks = llvm::blocks(self.function);
        let mut copies = Vec::new();
        for &block in &blocks {
            self.builder.at_end(self.blocks[&block]);
            for instruction in llvm::instructions(block) {
                let copy = self.copy(instruction);
                self.values.insert(instruction, copy);
                copies.push((instruction, copy));
            }
        }
        for (instruction, copy) in copies {
            self.connect(instruction, copy);
        }
    }

    /// An instruction that still refers to the operands of the original; nodes of phi type are
    /// empty.
    fn copy(&self, instruction: Value) -> Value {
        if llvm::opcode(instruction) == LLVMOpcode::LLVMPHI {
            return self.builder.phi(llvm::type_of(instruction));
        }
        // SAFETY: the copy is not in a block yet. Its place in the source would be that of another
        // function.
        unsafe {
            let copy = LLVMInstructionClone(instruction);
            self.builder.insert(copy);
            LLVMInstructionSetDebugLoc(copy, std::ptr::null_mut());
            copy
        }
    }

    fn connect(&self, instruction: Value, copy: Value) {
        if llvm::opcode(instruction) == LLVMOpcode::LLVMPHI {
            for i in 0..llvm::phi_count(instruction) {
                let value = self.mapped(llvm::phi_value(instruction, i));
                llvm::add_incoming(copy, value, self.blocks[&llvm::phi_block(instruction, i)]);
            }
            return;
        }
        for i in 0..llvm::operand_count(instruction) as u32 {
            let operand = llvm::operand(instruction, i);
            let mapped = self.mapped(operand);
            if mapped != operand {
                // SAFETY: the operand exists and the new one has its type.
                unsafe { LLVMSetOperand(copy, i, mapped) };
            }
        }
        if let Some(callee) = self.callee(instruction) {
            // SAFETY: what is called is the last operand.
            unsafe { LLVMSetOperand(copy, llvm::operand_count(copy) as u32 - 1, callee) };
        }
    }

    fn mapped(&self, value: Value) -> Value {
        // SAFETY: the questions fit any value, and the conversions those that are what was asked
        // for.
        unsafe {
            if LLVMValueIsBasicBlock(value) != 0 {
                return LLVMBasicBlockAsValue(self.blocks[&LLVMValueAsBasicBlock(value)]);
            }
            if !LLVMIsABlockAddress(value).is_null()
                && LLVMGetBlockAddressFunction(value) == self.function
            {
                return LLVMBlockAddress(
                    self.version,
                    self.blocks[&LLVMGetBlockAddressBasicBlock(value)],
                );
            }
        }
        self.values.get(&value).copied().unwrap_or(value)
    }

    /// What the concrete version calls in place of a function of the program or of a model.
    fn callee(&self, instruction: Value) -> Option<Value> {
        use LLVMOpcode::{LLVMCall, LLVMInvoke};
        if !matches!(llvm::opcode(instruction), LLVMCall | LLVMInvoke) {
            return None;
        }
        let called = llvm::as_function(llvm::called(instruction))?;
        if let Some(&version) = self.concrete.versions.get(&called) {
            return Some(version);
        }
        let name = llvm::name(called);
        let real = runtime::modelled(&name)
            .filter(|real| !real.starts_with(OWN) && !IN_EVERY_RUN.contains(real))?;
        let real = c_string(real);
        // SAFETY: the module is alive, and a declaration with the type of the model fits its calls.
        unsafe {
            let known = llvm::non_null(LLVMGetNamedFunction(self.module.raw, real.as_ptr()));
            Some(known.unwrap_or_else(|| {
                LLVMAddFunction(self.module.raw, real.as_ptr(), llvm::called_type(instruction))
            }))
        }
    }

    /// Tables of addresses of this function's blocks become tables of those of the copy.
    fn copy_tables(&mut self) {
        let addresses = llvm::blocks(self.function).into_iter().flat_map(llvm::block_addresses);
        let arrays = addresses.flat_map(llvm::users).filter(|user| is_array(*user));
        let tables: Vec<Value> = arrays.flat_map(llvm::users).collect();
        for table in tables {
            if !self.values.contains_key(&table) {
                let copy = self.copy_table(table);
                self.values.insert(table, copy);
            }
        }
    }

    fn copy_table(&self, table: Value) -> Value {
        // SAFETY: the table is a local variable whose value is an array.
        unsafe {
            let array = LLVMGetInitializer(table);
            let mut addresses: Vec<Value> = (0..llvm::operand_count(array) as u32)
                .map(|i| self.mapped(llvm::operand(array, i)))
                .collect();
            let ty = llvm::type_of(array);
            let copy = LLVMAddGlobal(self.module.raw, ty, c"".as_ptr());
            let element = llvm::element_type(ty);
            LLVMSetInitializer(
                copy,
                LLVMConstArray2(element, addresses.as_mut_ptr(), addresses.len() as u64),
            );
            LLVMSetLinkage(copy, LLVMLinkage::LLVMInternalLinkage);
            LLVMSetGlobalConstant(copy, LLVMIsGlobalConstant(table));
            LLVMSetAlignment(copy, LLVMGetAlignment(table));
            copy
        }
    }
}
