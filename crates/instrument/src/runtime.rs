//! The runtime inside the program: its bitcode, its functions, and what it needs from the
//! instrumenter.
//!
//! The functions that instrumented code calls are those of the table in the `trace` crate.

use crate::attributes;
use crate::coverage::Coverage;
use crate::entry;
use crate::llvm::{self, Builder, LLVMOpcode, Value};
use crate::module::Module;
use anyhow::{Context as _, Result};
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::{LLVMBuilderRef, LLVMModuleRef};
use inkwell::llvm_sys::{LLVMLinkage, LLVMThreadLocalMode};
use std::collections::{HashMap, HashSet};
use trace::entry::Entry;
use trace::{VaList, slots};

const BITCODE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/runtime.bc"));
const MODEL: &str = "__tarragon_model_";
/// Models of variadic functions: they take a `va_list` in place of the variable arguments.
const VARIADIC: &str = "__tarragon_variadic_";

/// Functions of the C library that libraries and objects without bitcode, too, find in the program
/// first, and the runtime's own versions: they read the input without moving a descriptor.
const INSTEAD: [(&str, &str); 4] =
    [("mmap", "mmap"), ("mmap64", "mmap"), ("pread", "pread"), ("pread64", "pread")];
const OWN_VERSION: &str = "__tarragon_own_";

pub struct Runtime {
    functions: HashMap<String, Value>,
}

impl Runtime {
    /// Links the runtime into the program and redirects library functions to their models.
    pub fn link(module: &Module, builder: &Builder) -> Result<Runtime> {
        redirect_to_models(module)?;
        let runtime = Runtime::link_without_models(module, builder)?;
        for (name, own) in INSTEAD {
            define_instead(module, name, runtime.function(&format!("{OWN_VERSION}{own}")));
        }
        Ok(runtime)
    }

    /// Links the runtime into a program that keeps no labels.
    pub fn link_without_models(module: &Module, builder: &Builder) -> Result<Runtime> {
        let program: Vec<Value> = module.functions();
        module.link_bitcode(BITCODE).context("cannot link the runtime")?;
        resolve_aliases(module);
        let own = module
            .functions()
            .into_iter()
            .filter(|f| !program.contains(f) || is_runtime(&llvm::name(*f)));
        let mut functions = HashMap::new();
        for function in own {
            let name = llvm::name(function);
            if llvm::is_declaration(function) {
                attributes::may_throw(function);
                define_missing(module, builder, function, &name);
                continue;
            }
            // SAFETY: the function is defined in this module, which is the whole program.
            unsafe { LLVMSetLinkage(function, LLVMLinkage::LLVMInternalLinkage) };
            inline_by_name(module, function, &name);
            forget_personality(function);
            functions.insert(name, function);
        }
        compare_for_equality(&functions);
        let_exceptions_pass(module, &functions);
        Ok(Runtime { functions })
    }

    fn function(&self, name: &str) -> Value {
        match self.functions.get(name) {
            Some(function) => *function,
            None => panic!("the runtime has no function {name}"),
        }
    }

    /// The function of the runtime that the table calls so.
    pub fn entry<const N: usize>(&self, entry: Entry<N>) -> Value {
        self.function(entry.name)
    }

    pub fn call<const N: usize>(
        &self,
        builder: &Builder,
        entry: Entry<N>,
        arguments: [Value; N],
    ) -> Value {
        entry::check(&entry, &arguments);
        builder.call(self.entry(entry), &arguments)
    }

    /// Calls the runtime's start: at the beginning of `main`, where the builder stands.
    pub fn start(&self, builder: &Builder, coverage: &Coverage, (globals, count): (Value, u64)) {
        let (len, count) = (builder.const_i64(coverage.len), builder.const_i64(count));
        let deferred = builder.const_i32(u32::from(self.starts_itself()));
        self.call(builder, entry::__tg_start, [coverage.map, len, globals, count, deferred]);
    }

    /// Whether the program says where its runs begin.
    fn starts_itself(&self) -> bool {
        let users = llvm::users(self.function("__tarragon_init"))
            .into_iter()
            .filter_map(llvm::as_instruction);
        let mut functions = users.map(|user| llvm::name(llvm::function_of(llvm::block_of(user))));
        functions.any(|name| !is_runtime(&name))
    }

    /// Whether the function is the runtime's, and not the program's.
    pub fn owns(&self, function: Value) -> bool {
        self.functions.get(&llvm::name(function)) == Some(&function)
    }

    /// Whether functions of the runtime have such names.
    pub fn has_name(name: &str) -> bool {
        is_runtime(name) || name.starts_with("_RN") || name.starts_with("_ZN")
    }

    pub fn is_model(&self, function: Value) -> bool {
        llvm::name(function).starts_with(MODEL)
    }
}

/// Where the runtime starts in a program: after the local variables of `main`.
pub fn main_start(defined: &[Value]) -> Option<Value> {
    let main = *defined.iter().find(|function| llvm::name(**function) == "main")?;
    llvm::first_instruction(llvm::entry_block(main)).map(llvm::after_allocas)
}

/// The runtime's compiler folds equal functions into aliases; calls go to the functions themselves.
fn resolve_aliases(module: &Module) {
    for alias in aliases(module.raw) {
        if is_runtime(&llvm::name(alias)) {
            // SAFETY: an alias and its target have one type.
            unsafe {
                llvm::replace_uses(alias, LLVMAliasGetAliasee(alias));
                LLVMSetLinkage(alias, LLVMLinkage::LLVMInternalLinkage);
            }
        }
    }
}

fn aliases(module: LLVMModuleRef) -> Vec<Value> {
    let mut found = Vec::new();
    // SAFETY: iteration ends with null.
    unsafe {
        let mut next = LLVMGetFirstGlobalAlias(module);
        while !next.is_null() {
            found.push(next);
            next = LLVMGetNextGlobalAlias(next);
        }
    }
    found
}

fn is_runtime(name: &str) -> bool {
    name.starts_with("__tg") || name.starts_with("__tarragon_")
}

/// Declarations of modelled functions take the model's name, so that linking resolves them to it.
fn redirect_to_models(module: &Module) -> Result<()> {
    let models = model_names()?;
    for function in module.functions() {
        let name = llvm::name(function);
        if llvm::is_declaration(function) && models.contains(&name) {
            llvm::set_name(function, &format!("{MODEL}{name}"));
        }
    }
    Ok(())
}

/// Calls of `memcmp` whose result is only compared with 0 are calls of `bcmp`: which operand is
/// less makes expressions that nobody wants.
fn compare_for_equality(functions: &HashMap<String, Value>) {
    let [Some(&from), Some(&to)] =
        ["memcmp", "bcmp"].map(|name| functions.get(&format!("{MODEL}{name}")))
    else {
        return;
    };
    let calls = llvm::users(from).into_iter().filter_map(llvm::as_instruction).filter(|user| {
        llvm::opcode(*user) == LLVMOpcode::LLVMCall
            && llvm::called(*user) == from
            && is_compared_with_zero(*user)
    });
    for call in calls.collect::<Vec<_>>() {
        let position = llvm::operand_count(call) as u32 - 1;
        // SAFETY: both functions have one type, and the last operand of a call is what it calls.
        unsafe { LLVMSetOperand(call, position, to) };
    }
}

fn is_compared_with_zero(call: Value) -> bool {
    use llvm::LLVMIntPredicate::{LLVMIntEQ, LLVMIntNE};
    let is_test = |user: Value| {
        let is_equality = llvm::opcode(user) == LLVMOpcode::LLVMICmp
            && matches!(llvm::int_predicate(user), LLVMIntEQ | LLVMIntNE);
        let zero = || llvm::as_constant_int(llvm::operand(user, 1)).map(llvm::constant_bits);
        is_equality && zero() == Some(0)
    };
    llvm::users(call).into_iter().all(|user| llvm::as_instruction(user).is_some_and(is_test))
}

/// The library function that a function of the runtime models.
pub fn modelled(name: &str) -> Option<&str> {
    name.strip_prefix(MODEL).or_else(|| name.strip_prefix(VARIADIC))
}

/// Names of the library functions that have models, read from the bitcode's own symbols.
pub fn model_names() -> Result<Vec<String>> {
    with_symbols(|symbols| {
        symbols.iter().filter_map(|s| modelled(&llvm::name(*s)).map(str::to_owned)).collect()
    })
}

/// What somebody reads from the functions and aliases of the bitcode by itself.
fn with_symbols<T>(read: impl FnOnce(&[Value]) -> T) -> Result<T> {
    // SAFETY: the buffer refers to static bytes; the module is freed with its context.
    unsafe {
        let context = LLVMContextCreate();
        let buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(
            BITCODE.as_ptr().cast(),
            BITCODE.len(),
            c"runtime".as_ptr(),
        );
        let mut module = std::ptr::null_mut();
        let failed =
            inkwell::llvm_sys::bit_reader::LLVMParseBitcodeInContext2(context, buffer, &mut module);
        anyhow::ensure!(failed == 0, "the runtime's bitcode cannot be read");
        let mut symbols = aliases(module);
        let mut next = LLVMGetFirstFunction(module);
        while !next.is_null() {
            symbols.push(next);
            next = LLVMGetNextFunction(next);
        }
        let result = read(&symbols);
        LLVMDisposeModule(module);
        LLVMContextDispose(context);
        Ok(result)
    }
}

/// Fast paths are always inlined; slow paths never, so that they do not crowd the code that runs on
/// concrete data.
fn inline_by_name(module: &Module, function: Value, name: &str) {
    let kind = if name.starts_with("__tgi_") {
        "alwaysinline"
    } else if name.starts_with("__tg_") {
        "noinline"
    } else {
        return;
    };
    // SAFETY: the attribute is a known one without a value.
    unsafe {
        let attribute = LLVMCreateEnumAttribute(module.context, llvm::attribute_kind(kind), 0);
        LLVMAddAttributeAtIndex(function, u32::MAX, attribute);
    }
}

/// What the runtime declares and the program's libraries do not have.
fn define_missing(module: &Module, builder: &Builder, function: Value, name: &str) {
    match name {
        "__tarragon_tls" => define_tls(module, builder, function),
        "rust_eh_personality" => define_personality(module, builder, function),
        "__tarragon_before_receive" | "__tarragon_before_fork" | "__tarragon_forked" => {
            define_returning(module, builder, function, 0);
        }
        _ => {
            if let Some(name) = name.strip_prefix(MODEL) {
                define_variadic(module, builder, function, name);
            }
        }
    }
}

/// A function by its name, or by an alias of it.
fn find_function(module: &Module, name: &str) -> Option<Value> {
    let named = |value: &Value| llvm::name(*value) == name;
    let aliased = || {
        let alias = aliases(module.raw).into_iter().find(named)?;
        // SAFETY: the handle is an alias of this module.
        Some(unsafe { LLVMAliasGetAliasee(alias) })
    };
    module.functions().into_iter().find(named).or_else(aliased)
}

/// A model of a variadic function collects its arguments, with their labels, into a `va_list`:
///
/// ```text
/// model(fixed..., ...) { take_varargs(labels); va_start(list); labels of the list; return variadic(fixed..., list) }
/// ```
fn define_variadic(module: &Module, builder: &Builder, function: Value, name: &str) {
    let ty = llvm::value_type(function);
    let find = |name: String| find_function(module, &name);
    let (fixed, fits) = (llvm::param_count(function), llvm::is_variadic(ty));
    let target = find(format!("{VARIADIC}{name}"));
    let Some(target) = target.filter(|target| fits && llvm::param_count(*target) == fixed + 1)
    else {
        // The program declares the function in a way of its own: leave it to the library.
        return llvm::set_name(function, name);
    };
    let own = [entry::__tg_take_varargs.name, entry::__tg_va_start.name];
    let [take, label] = own.map(|name| find(name.to_owned()));
    let (Some(take), Some(label)) = (take, label) else { return };
    // SAFETY: the function has no body yet; all values belong to this module; `va_list` is an array
    // of words, and there is one label for each of the slots that the runtime keeps.
    unsafe {
        LLVMSetLinkage(function, LLVMLinkage::LLVMInternalLinkage);
        // A declaration's debug information does not fit a definition.
        LLVMGlobalClearMetadata(function);
        let entry = LLVMAppendBasicBlockInContext(module.context, function, c"".as_ptr());
        let raw = LLVMCreateBuilderInContext(module.context);
        LLVMPositionBuilderAtEnd(raw, entry);
        let list = LLVMBuildAlloca(
            raw,
            LLVMArrayType2(builder.i64, size_of::<VaList>() as u64 / 8),
            c"".as_ptr(),
        );
        let labels =
            LLVMBuildAlloca(raw, LLVMArrayType2(builder.i32, slots::VARARGS as u64), c"".as_ptr());
        build_call(raw, take, &[labels]);
        build_call(raw, va_intrinsic(module, c"llvm.va_start", list), &[list]);
        build_call(raw, label, &[list, labels]);
        let arguments: Vec<Value> =
            (0..fixed).map(|i| llvm::param(function, i)).chain(std::iter::once(list)).collect();
        let result = build_call(raw, target, &arguments);
        build_call(raw, va_intrinsic(module, c"llvm.va_end", list), &[list]);
        LLVMBuildRet(raw, result);
        LLVMDisposeBuilder(raw);
    }
}

/// # Safety
/// The builder is positioned and the arguments fit the function.
unsafe fn build_call(builder: LLVMBuilderRef, function: Value, arguments: &[Value]) -> Value {
    let mut arguments = arguments.to_vec();
    // SAFETY: promised by the caller.
    unsafe {
        LLVMBuildCall2(
            builder,
            llvm::value_type(function),
            function,
            arguments.as_mut_ptr(),
            arguments.len() as u32,
            c"".as_ptr(),
        )
    }
}

/// # Safety
/// `name` is that of an intrinsic on a `va_list`.
unsafe fn va_intrinsic(module: &Module, name: &std::ffi::CStr, list: Value) -> Value {
    // SAFETY: the intrinsic is overloaded on its pointer's type.
    unsafe {
        let id = LLVMLookupIntrinsicID(name.as_ptr(), name.count_bytes());
        let mut ty = LLVMTypeOf(list);
        LLVMGetIntrinsicDeclaration(module.raw, id, &mut ty, 1)
    }
}

fn define_tls(module: &Module, builder: &Builder, function: Value) {
    // SAFETY: the block is a variable of this program; the function returns its address.
    unsafe {
        let ty = LLVMArrayType2(builder.i64, trace::TLS_BYTES as u64 / 8);
        let block = LLVMAddGlobal(module.raw, ty, c"__tarragon_tls_block".as_ptr());
        LLVMSetInitializer(block, LLVMConstNull(ty));
        LLVMSetLinkage(block, LLVMLinkage::LLVMInternalLinkage);
        LLVMSetThreadLocalMode(block, LLVMThreadLocalMode::LLVMLocalExecTLSModel);
        LLVMSetLinkage(function, LLVMLinkage::LLVMInternalLinkage);
        let entry = LLVMAppendBasicBlockInContext(module.context, function, c"".as_ptr());
        let raw = LLVMCreateBuilderInContext(module.context);
        LLVMPositionBuilderAtEnd(raw, entry);
        LLVMBuildRet(raw, block);
        LLVMDisposeBuilder(raw);
        let attribute =
            LLVMCreateEnumAttribute(module.context, llvm::attribute_kind("alwaysinline"), 0);
        LLVMAddAttributeAtIndex(function, u32::MAX, attribute);
    }
}

/// The runtime does not unwind, so its functions need no personality. Functions of the program that
/// they are inlined into would get it, and be in the way of `pthread_exit` and of exceptions.
fn forget_personality(function: Value) {
    let is_pad = |i: Value| llvm::opcode(i) == LLVMOpcode::LLVMLandingPad;
    let catches = || llvm::blocks(function).into_iter().flat_map(llvm::instructions).any(is_pad);
    // SAFETY: null takes the personality away, and only landing pads need one.
    unsafe {
        if LLVMHasPersonalityFn(function) != 0 && !catches() {
            LLVMSetPersonalityFn(function, std::ptr::null_mut());
        }
    }
}

/// Functions of the runtime that call back into the program, as the model of `qsort` does, or that
/// call a function of the C library which may: what the program throws there passes through them,
/// and so does the end of a thread that is cancelled.
fn let_exceptions_pass(module: &Module, functions: &HashMap<String, Value>) {
    let mut passed: HashSet<Value> = HashSet::new();
    let calls = |function: Value| {
        let instructions = llvm::blocks(function).into_iter().flat_map(llvm::instructions);
        instructions.filter(|i| llvm::opcode(*i) == LLVMOpcode::LLVMCall)
    };
    let is_library = |f: Value| llvm::is_declaration(f) && !llvm::name(f).starts_with("llvm.");
    let may_throw = |passed: &HashSet<Value>, call: Value| {
        let callee = llvm::as_function(llvm::called(call));
        callee.is_none_or(|callee| is_library(callee) || passed.contains(&callee))
    };
    loop {
        let known = passed.len();
        let throws = |f: &Value| calls(*f).any(|call| may_throw(&passed, call));
        let found: Vec<Value> = functions.values().copied().filter(throws).collect();
        passed.extend(found);
        if passed.len() == known {
            break;
        }
    }
    for &function in &passed {
        attributes::allow_unwinding(module.context, function);
        calls(function).filter(|call| may_throw(&passed, *call)).for_each(attributes::may_unwind);
    }
}

/// What is left of the runtime with a personality lets everything pass. The name keeps it apart
/// from a Rust program's.
fn define_personality(module: &Module, builder: &Builder, function: Value) {
    const CONTINUE_UNWIND: u64 = 8;
    llvm::set_name(function, "__tarragon_personality");
    define_returning(module, builder, function, CONTINUE_UNWIND);
}

/// Defines a function of the C library by one of the runtime's, unless the program has one of its
/// own.
fn define_instead(module: &Module, name: &str, own: Value) {
    let ty = llvm::value_type(own);
    // SAFETY: the function is declared, or added here, and has the type of what it calls.
    unsafe {
        let symbol = llvm::c_string(name);
        let function = llvm::non_null(LLVMGetNamedFunction(module.raw, symbol.as_ptr()))
            .unwrap_or_else(|| LLVMAddFunction(module.raw, symbol.as_ptr(), ty));
        if !llvm::is_declaration(function) || llvm::value_type(function) != ty {
            return;
        }
        LLVMGlobalClearMetadata(function);
        let entry = LLVMAppendBasicBlockInContext(module.context, function, c"".as_ptr());
        let raw = LLVMCreateBuilderInContext(module.context);
        LLVMPositionBuilderAtEnd(raw, entry);
        let parameters: Vec<Value> =
            (0..llvm::param_count(function)).map(|i| llvm::param(function, i)).collect();
        LLVMBuildRet(raw, build_call(raw, own, &parameters));
        LLVMDisposeBuilder(raw);
    }
}

/// Gives a function a body that does nothing but return.
fn define_returning(module: &Module, builder: &Builder, function: Value, value: u64) {
    // SAFETY: the function gets a body that returns a value of its type.
    unsafe {
        LLVMSetLinkage(function, LLVMLinkage::LLVMInternalLinkage);
        let entry = LLVMAppendBasicBlockInContext(module.context, function, c"".as_ptr());
        let raw = LLVMCreateBuilderInContext(module.context);
        LLVMPositionBuilderAtEnd(raw, entry);
        let ty = llvm::return_type(llvm::value_type(function));
        if llvm::kind(ty) == llvm::LLVMTypeKind::LLVMVoidTypeKind {
            LLVMBuildRetVoid(raw);
        } else {
            LLVMBuildRet(raw, builder.const_int(ty, value));
        }
        LLVMDisposeBuilder(raw);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trace::entry::{SIGNATURES, Type};

    type Row = (String, Vec<Option<Type>>, Option<Type>);

    fn row(function: Value) -> Row {
        let ty = llvm::value_type(function);
        let parameters = llvm::param_types(ty).into_iter().map(entry::passed_as).collect();
        // SAFETY: the type is that of a function.
        let result = unsafe { LLVMGetReturnType(ty) };
        (llvm::name(function), parameters, entry::passed_as(result))
    }

    /// A program has none of Rust's libraries to link with: a panic that may happen is an open
    /// symbol.
    #[test]
    fn the_bitcode_needs_nothing_of_rust() {
        let open = with_symbols(|symbols| {
            let declared = symbols.iter().filter(|symbol| llvm::is_declaration(**symbol));
            let names = declared.map(|symbol| llvm::name(*symbol));
            names
                .filter(|name| name.starts_with("_ZN") || name.starts_with("_R"))
                .collect::<Vec<_>>()
        });
        assert_eq!(open.expect("the bitcode can be read"), Vec::<String>::new());
    }

    /// What the runtime leaves to the instrumenter, for the runtime that is linked into this test
    /// as a library. Nothing of that is called.
    #[unsafe(no_mangle)]
    extern "C" fn __tarragon_tls() -> *mut u8 {
        std::ptr::null_mut()
    }

    /// Models are found by their names; those of the runtime's own functions are no rows.
    #[test]
    fn there_is_a_model_for_each_row() {
        use runtime_models::table::{MODELS, Model, variadic};
        let names = |row: &'static Model| std::iter::once(&row.name).chain(row.aliases);
        let mut listed: Vec<&str> =
            MODELS.iter().chain(variadic::MODELS).flat_map(names).copied().collect();
        let found = model_names().expect("the bitcode can be read");
        let mut found: Vec<&str> = found.iter().map(String::as_str).collect();
        found.retain(|name| !name.starts_with("tarragon_"));
        listed.sort_unstable();
        found.sort_unstable();
        assert_eq!(listed, found);
    }

    #[test]
    fn the_table_has_exactly_what_the_bitcode_has() {
        let mut found = with_symbols(|symbols| {
            let own = symbols.iter().filter(|symbol| llvm::name(**symbol).starts_with("__tg"));
            own.map(|symbol| row(*symbol)).collect::<Vec<Row>>()
        })
        .expect("the bitcode can be read");
        let rows = SIGNATURES.iter().map(|signature| {
            let parameters = signature.parameters.iter().copied().map(Some).collect();
            (signature.name.to_owned(), parameters, signature.result)
        });
        let mut listed: Vec<Row> = rows.collect();
        found.sort_by(|a, b| a.0.cmp(&b.0));
        listed.sort_by(|a, b| a.0.cmp(&b.0));
        assert_eq!(listed, found);
    }
}
