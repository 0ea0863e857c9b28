//! Puts functions of the user's (models) in the place of functions of a program.
//!
//! The modules stay apart and are written again, so that they can be compiled and linked like
//! those of any program. A model takes over all uses of the name in the program: calls, addresses,
//! tables. In the files of models themselves a replaced name means what was replaced, so that a
//! model can wrap it.
//!
//! A function that the program defines gives its name away, since code without bitcode may use the
//! name, too. For others (those of the C library) the model takes another name: the runtime and the
//! library itself must go on with the real one.
//!
//! Code between a program and its surroundings consists of models, too. They may wrap `main`, and
//! give way to models of the user's.
//!
//! One model may be an entry: its `main` takes the place of the program's, and it may use some of
//! what is static in the program.

use crate::call_places;
use crate::library;
use crate::llvm::{self, Value};
use crate::module;
use anyhow::{Context as _, Result, bail};
use inkwell::llvm_sys::LLVMLinkage;
use inkwell::llvm_sys::bit_writer::LLVMWriteBitcodeToFile;
use inkwell::llvm_sys::comdat::LLVMSetComdat;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;
use sites::{ModelFile, Substitution};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use trace::REPLACED;

/// What calls of the modelled function promise, and the model need not keep.
const PROMISES: [&str; 8] = [
    "memory",
    "willreturn",
    "nosync",
    "nofree",
    "nounwind",
    "speculatable",
    "allocsize",
    "allockind",
];

/// The names of a modelled function.
struct Names {
    model: String,
    original: String,
    /// A local function of one module is meant, not one that others know.
    is_local: bool,
}

/// Writes the modules of a program and those of models, with all uses replaced, as `0000.bc` and so
/// on: libraries first, then the program, then the models, first those of the user. For an entry,
/// `opened` are the names that it may use although they are static.
pub fn substitute(
    program: &[PathBuf],
    libraries: &[PathBuf],
    (users, surroundings): (&[PathBuf], &[PathBuf]),
    opened: Option<&[String]>,
    folder: &Path,
) -> Result<Substitution> {
    // SAFETY: a context of its own; it is never freed.
    let context = unsafe { LLVMContextCreate() };
    let library = |folder: &PathBuf| library::read(context, folder);
    let single = |file: &PathBuf| module::read_linked(context, std::slice::from_ref(file));
    let mut modules = libraries.iter().map(library).collect::<Result<Vec<_>>>()?;
    modules.extend(program.iter().map(single).collect::<Result<Vec<_>>>()?);
    let models = users.iter().chain(surroundings).map(single).collect::<Result<Vec<_>>>()?;
    let defined: Vec<Vec<String>> = models.iter().map(|model| modelled_names(*model)).collect();
    let found = Functions::of(&modules);
    let (of_users, of_surroundings) = defined.split_at(users.len());
    let mut report = found.report(of_users, opened.is_some());
    found.report_surroundings(of_surroundings, &mut report);
    for (module, file) in models.iter().zip(&report.files).skip(users.len()) {
        file.unused.iter().for_each(|name| retire(*module, name));
    }
    opened.unwrap_or_default().iter().for_each(|name| open(&modules, name, &mut report));
    let replaced = report.files.iter().flat_map(|file| &file.replaced);
    let names: BTreeMap<&str, Names> =
        replaced.map(|name| (name.as_str(), found.names(name))).collect();
    replace(&modules, &models, &names);
    let of_models = models.iter().zip(&report.files).skip(users.len());
    for (_, file) in of_models.filter(|(module, _)| call_places::wants_places(**module)) {
        file.replaced.iter().for_each(|name| {
            call_places::tell(context, &modules, &names[name.as_str()].model);
        });
    }
    for (number, module) in modules.iter().chain(&models).enumerate() {
        write(*module, &folder.join(format!("{number:04}.bc")))?;
    }
    Ok(report)
}

fn write(module: LLVMModuleRef, path: &Path) -> Result<()> {
    let name = llvm::c_string(path.to_str().context("a path that is no text")?);
    // SAFETY: the module is alive.
    if unsafe { LLVMWriteBitcodeToFile(module, name.as_ptr()) } != 0 {
        bail!("cannot write {}", path.display());
    }
    Ok(())
}

/// Models are the functions that other files can see. Inline functions come from headers.
fn modelled_names(module: LLVMModuleRef) -> Vec<String> {
    let visible = [LLVMLinkage::LLVMExternalLinkage, LLVMLinkage::LLVMWeakAnyLinkage];
    let functions = functions(module).into_iter();
    let functions = functions.filter(|f| is_definition(*f) && visible.contains(&linkage(*f)));
    functions.map(llvm::name).collect()
}

/// Functions and aliases of functions by what the program has of them.
#[derive(Default)]
struct Functions {
    /// Defined, and known to other modules.
    global: BTreeSet<String>,
    /// Defined in one module for itself, with the source files.
    local: BTreeMap<String, Vec<String>>,
    /// Called or referred to.
    used: BTreeSet<String>,
}

impl Functions {
    fn of(modules: &[LLVMModuleRef]) -> Functions {
        let mut found = Functions::default();
        for &module in modules {
            for function in functions(module) {
                found.add(function, module);
            }
        }
        found
    }

    fn add(&mut self, function: Value, module: LLVMModuleRef) {
        let name = llvm::name(function);
        if name.starts_with("llvm.") {
            return;
        }
        match (is_definition(function), is_local(function)) {
            (true, true) => self.local.entry(name).or_default().push(source_of(module)),
            (true, false) => drop(self.global.insert(name)),
            (false, _) => drop(self.used.insert(name)),
        }
    }

    fn report(&self, defined: &[Vec<String>], entry: bool) -> Substitution {
        let mut report = Substitution::default();
        for names in defined {
            let mut file = ModelFile::default();
            for name in names {
                match self.local.get(name) {
                    _ if name == "main" && !entry => file.unused.push(name.clone()),
                    _ if self.is_global(name) => file.replaced.push(name.clone()),
                    Some(sources) if sources.len() > 1 => {
                        drop(report.ambiguous.insert(name.clone(), sources.clone()));
                    }
                    Some(_) => file.replaced.push(name.clone()),
                    None => file.unused.push(name.clone()),
                }
            }
            report.files.push(file);
        }
        let all = self.global.iter().chain(&self.used).chain(self.local.keys());
        let all: BTreeSet<&String> = all.filter(|name| *name != "main").collect();
        report.functions = all.into_iter().cloned().collect();
        report
    }

    /// What stands between the program and its surroundings replaces what the user's models do not.
    fn report_surroundings(&self, defined: &[Vec<String>], report: &mut Substitution) {
        let of_users: BTreeSet<String> =
            report.files.iter().flat_map(|file| file.replaced.iter().cloned()).collect();
        for names in defined {
            let names = names.iter().filter(|name| !name.starts_with(OWN)).cloned();
            let (replaced, unused) =
                names.partition(|name| self.is_global(name) && !of_users.contains(name));
            report.files.push(ModelFile { replaced, unused });
        }
    }

    fn is_global(&self, name: &str) -> bool {
        self.global.contains(name) || self.used.contains(name)
    }

    fn names(&self, name: &str) -> Names {
        let (wrap, real) = (format!("__wrap_{name}"), format!("{REPLACED}{name}"));
        match (self.global.contains(name), self.used.contains(name)) {
            (true, _) => Names { model: name.to_owned(), original: real, is_local: false },
            (_, true) => Names { model: wrap, original: name.to_owned(), is_local: false },
            (_, false) => Names { model: wrap, original: real, is_local: true },
        }
    }
}

/// How names begin that code between a program and its surroundings shares.
const OWN: &str = "tarragon_";

/// Takes a function away that replaces nothing: its name means what others define.
fn retire(module: LLVMModuleRef, name: &str) {
    let Some(function) = functions(module).into_iter().find(|f| llvm::name(*f) == name) else {
        return;
    };
    llvm::set_name(function, &format!("{OWN}unused_{name}"));
    take_over(module, function, name);
    delete(function);
}

/// Lets other modules use what is static in one of them, if no other thing has the name.
fn open(modules: &[LLVMModuleRef], name: &str, report: &mut Substitution) {
    let of = |module: &LLVMModuleRef| {
        let found = module::symbols(*module).into_iter().find(|symbol| llvm::name(*symbol) == name);
        found.map(|symbol| (*module, symbol))
    };
    let (local, global): (Vec<_>, Vec<_>) =
        modules.iter().filter_map(of).partition(|(_, symbol)| is_local(*symbol));
    match local[..] {
        [] => {}
        [(_, symbol)] if global.is_empty() => publish(symbol),
        _ => {
            let sources = local.iter().map(|(module, _)| source_of(*module)).collect();
            drop(report.ambiguous.insert(name.to_owned(), sources));
        }
    }
}

fn replace(modules: &[LLVMModuleRef], models: &[LLVMModuleRef], names: &BTreeMap<&str, Names>) {
    for (name, of) in names {
        let mut wrapped = false;
        for &module in models {
            let function = functions(module).into_iter().find(|f| llvm::name(*f) == *name);
            wrapped |= function.is_some_and(|function| replace_in_model(module, function, of));
        }
        for &module in modules {
            let meant = |f: &Value| llvm::name(*f) == *name && is_local(*f) == of.is_local;
            if let Some(function) = functions(module).into_iter().find(meant) {
                replace_in_program(module, function, of, wrapped);
            }
        }
    }
}

/// Whether the model uses what it replaces.
fn replace_in_model(module: LLVMModuleRef, function: Value, names: &Names) -> bool {
    let is_used = !llvm::users(function).is_empty();
    if is_definition(function) {
        llvm::set_name(function, &names.model);
    }
    if is_used && llvm::name(function) != names.original {
        take_over(module, function, &names.original);
    }
    is_used
}

fn replace_in_program(module: LLVMModuleRef, function: Value, names: &Names, wrapped: bool) {
    if !is_definition(function) {
        if names.model != llvm::name(function) {
            take_over(module, function, &names.model);
            delete(function);
        }
        return;
    }
    llvm::set_name(function, &names.original);
    let is_aliased = take_over(module, function, &names.model);
    if wrapped || is_aliased {
        publish(function);
    } else {
        delete(function);
    }
}

/// Lets all users of a function use another, which is declared here. Whether there are aliases,
/// which stay what they are: other names of this definition.
fn take_over(module: LLVMModuleRef, function: Value, name: &str) -> bool {
    let aliases = aliases_of(module, function);
    let new = declare(module, name, llvm::value_type(function));
    llvm::replace_uses(function, new);
    for &alias in &aliases {
        // SAFETY: the alias and the definition belong to one module.
        unsafe { LLVMAliasSetAliasee(alias, function) };
    }
    llvm::users(new).into_iter().for_each(drop_promises);
    !aliases.is_empty()
}

fn declare(module: LLVMModuleRef, name: &str, ty: llvm::Type) -> Value {
    let name = llvm::c_string(name);
    // SAFETY: the module is alive, and the type is that of a function.
    unsafe {
        let there = LLVMGetNamedFunction(module, name.as_ptr());
        if there.is_null() { LLVMAddFunction(module, name.as_ptr(), ty) } else { there }
    }
}

fn aliases_of(module: LLVMModuleRef, function: Value) -> Vec<Value> {
    // SAFETY: the handles are aliases of a module that is alive.
    let of = |alias: &Value| unsafe { LLVMAliasGetAliasee(*alias) } == function;
    aliases(module).into_iter().filter(of).collect()
}

fn drop_promises(user: Value) {
    // SAFETY: attributes are taken from calls only; to remove an absent one does nothing.
    unsafe {
        if LLVMIsACallInst(user).is_null() && LLVMIsAInvokeInst(user).is_null() {
            return;
        }
        for promise in PROMISES {
            let kind = llvm::attribute_kind(promise);
            LLVMRemoveCallSiteEnumAttribute(user, crate::attributes::FUNCTION, kind);
        }
        LLVMRemoveCallSiteEnumAttribute(user, RESULT, llvm::attribute_kind("noalias"));
    }
}

/// The index of attributes of what a function returns.
const RESULT: u32 = 0;

/// Lets other modules use a definition.
fn publish(function: Value) {
    // SAFETY: the handle is a definition. Nobody chooses among several of its new name but by it.
    unsafe {
        match linkage(function) {
            LLVMLinkage::LLVMInternalLinkage | LLVMLinkage::LLVMPrivateLinkage => {
                LLVMSetLinkage(function, LLVMLinkage::LLVMExternalLinkage);
            }
            LLVMLinkage::LLVMLinkOnceODRLinkage | LLVMLinkage::LLVMLinkOnceAnyLinkage => {
                LLVMSetLinkage(function, LLVMLinkage::LLVMWeakAnyLinkage);
            }
            _ => {}
        }
        if LLVMIsAFunction(function).is_null() {
            return;
        }
        LLVMSetComdat(function, std::ptr::null_mut());
    }
}

/// An alias without users is left: it is a name only.
fn delete(function: Value) {
    // SAFETY: nobody uses it any more.
    unsafe {
        if !LLVMIsAFunction(function).is_null() {
            LLVMDeleteFunction(function);
        }
    }
}

/// Functions and aliases of functions.
fn functions(module: LLVMModuleRef) -> Vec<Value> {
    let is_function = |symbol: &Value| {
        llvm::kind(llvm::value_type(*symbol)) == llvm::LLVMTypeKind::LLVMFunctionTypeKind
    };
    module::symbols(module).into_iter().filter(is_function).collect()
}

fn aliases(module: LLVMModuleRef) -> Vec<Value> {
    // SAFETY: the handles are symbols of a module that is alive.
    let is_alias = |symbol: &Value| unsafe { !LLVMIsAGlobalAlias(*symbol).is_null() };
    module::symbols(module).into_iter().filter(is_alias).collect()
}

/// The C library's inline functions are bodies of functions that somebody else defines.
fn is_definition(function: Value) -> bool {
    !llvm::is_declaration(function)
        && linkage(function) != LLVMLinkage::LLVMAvailableExternallyLinkage
}

fn is_local(function: Value) -> bool {
    matches!(linkage(function), LLVMLinkage::LLVMInternalLinkage | LLVMLinkage::LLVMPrivateLinkage)
}

fn linkage(symbol: Value) -> LLVMLinkage {
    // SAFETY: the handle is a symbol.
    unsafe { LLVMGetLinkage(symbol) }
}

fn source_of(module: LLVMModuleRef) -> String {
    let mut length = 0;
    // SAFETY: the text belongs to the module and has this length.
    unsafe {
        let text = LLVMGetSourceFileName(module, &mut length);
        String::from_utf8_lossy(std::slice::from_raw_parts(text.cast(), length)).into_owned()
    }
}
