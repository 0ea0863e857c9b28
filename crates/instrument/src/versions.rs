//! Versions of symbols (`.symver` directives of the assembler) in code that is no shared library
//! any more.
//!
//! A variant has the code of a program and its libraries in one file, where no version script
//! defines versions. A name means its default version, as it does for whoever links with the
//! library today; definitions of older versions have nobody who asks for them. Directives about
//! functions of other libraries stay.

use crate::llvm::{self, Value, c_string};
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;

/// Takes the directives about definitions out of a module and gives default versions their names.
pub fn resolve(module: LLVMModuleRef) {
    let text = inline_assembly(module);
    if !text.contains(".symver") {
        return;
    }
    let mut kept = String::new();
    for statement in text.split_inclusive(['\n', ';']) {
        match Directive::parse(statement) {
            Some(directive) if directive.settle(module) => kept.push('\n'),
            _ => kept.push_str(statement),
        }
    }
    // SAFETY: the module is alive, and the text has this length.
    unsafe { LLVMSetModuleInlineAsm2(module, kept.as_ptr().cast(), kept.len()) };
}

fn inline_assembly(module: LLVMModuleRef) -> String {
    let mut len = 0;
    // SAFETY: the text belongs to the module and has this length.
    unsafe {
        let text = LLVMGetModuleInlineAsm(module, &mut len);
        String::from_utf8_lossy(std::slice::from_raw_parts(text.cast(), len)).into_owned()
    }
}

/// `.symver definition, name@@VERSION`
#[derive(Debug, PartialEq, Eq)]
struct Directive<'a> {
    definition: &'a str,
    name: &'a str,
    is_default: bool,
}

impl Directive<'_> {
    fn parse(statement: &str) -> Option<Directive<'_>> {
        let operands = statement.trim().trim_end_matches(';').strip_prefix(".symver")?;
        let mut operands = operands.split(',').map(|word| word.trim().trim_matches('"'));
        let (definition, versioned) = (operands.next()?, operands.next()?);
        let (name, version) = versioned.split_once('@')?;
        Some(Directive { definition, name, is_default: version.starts_with('@') })
    }

    /// False if the module does not define what the directive is about.
    fn settle(&self, module: LLVMModuleRef) -> bool {
        let Some(definition) =
            find(module, self.definition).filter(|value| !llvm::is_declaration(*value))
        else {
            return false;
        };
        if self.is_default && self.name != self.definition {
            add_alias(module, self.name, definition);
        }
        true
    }
}

fn find(module: LLVMModuleRef, name: &str) -> Option<Value> {
    let text = c_string(name);
    // SAFETY: the module is alive; null where there is none.
    unsafe {
        llvm::non_null(LLVMGetNamedFunction(module, text.as_ptr()))
            .or_else(|| llvm::non_null(LLVMGetNamedGlobal(module, text.as_ptr())))
    }
}

/// Uses of a declaration of the name become uses of the alias.
fn add_alias(module: LLVMModuleRef, name: &str, definition: Value) {
    let declared = find(module, name);
    if declared.is_some_and(|value| !llvm::is_declaration(value)) {
        return;
    }
    // SAFETY: the definition belongs to the module; a declaration without uses can be deleted.
    unsafe {
        let alias =
            LLVMAddAlias2(module, llvm::value_type(definition), 0, definition, c"".as_ptr());
        if let Some(declared) = declared {
            llvm::replace_uses(declared, alias);
            match llvm::as_function(declared) {
                Some(function) => LLVMDeleteFunction(function),
                None => LLVMDeleteGlobal(declared),
            }
        }
        llvm::set_name(alias, name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directives() {
        let parse = |text| Directive::parse(text).map(|d| (d.definition, d.name, d.is_default));
        assert_eq!(parse(".symver old_add,add@V1\n"), Some(("old_add", "add", false)));
        assert_eq!(parse("\t.symver new_add, add@@V2;"), Some(("new_add", "add", true)));
        assert_eq!(parse(".symver a, \"b@@@V\""), Some(("a", "b", true)));
        assert_eq!(parse(".globl add\n"), None);
        assert_eq!(parse(".symver nothing\n"), None);
    }
}
