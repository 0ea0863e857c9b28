//! Numbers the sites of a program. Branches and switches are numbered on the unoptimised program,
//! before any variant's own passes, so that all variants agree; the number stays on the instruction
//! as metadata.

use crate::llvm::{self, LLVMOpcode, Value};
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::LLVMContextRef;
use sites::{Site, SiteKind, SiteTable};
use std::collections::HashMap;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::null_mut;

pub struct Numbering {
    context: LLVMContextRef,
    metadata_kind: u32,
    pub table: SiteTable,
    files: HashMap<String, u32>,
    functions: HashMap<String, u32>,
    externals: HashMap<String, u32>,
}

impl Numbering {
    pub fn new(context: LLVMContextRef) -> Numbering {
        let name = "tarragon.site";
        // SAFETY: the pointer and length describe `name`.
        let metadata_kind =
            unsafe { LLVMGetMDKindIDInContext(context, name.as_ptr().cast(), name.len() as u32) };
        let mut table = SiteTable::default();
        table.sites.push(Site::default());
        Numbering {
            context,
            metadata_kind,
            table,
            files: HashMap::new(),
            functions: HashMap::new(),
            externals: HashMap::new(),
        }
    }

    /// Numbers the conditional branches and switches of a function.
    pub fn number_function(&mut self, function: Value) {
        for block in llvm::blocks(function) {
            let Some(terminator) = llvm::terminator(block) else { continue };
            let coverage = self.table.outcomes;
            let kind = match llvm::opcode(terminator) {
                LLVMOpcode::LLVMBr if llvm::is_conditional(terminator) => {
                    SiteKind::Branch { coverage }
                }
                LLVMOpcode::LLVMSwitch if llvm::successor_count(terminator) > 1 => {
                    SiteKind::Switch { coverage, cases: switch_cases(terminator) }
                }
                _ => continue,
            };
            self.table.outcomes += match &kind {
                SiteKind::Switch { cases, .. } => cases.len() as u32 + 1,
                _ => 2,
            };
            let compared = compared_number(terminator, &kind);
            let number = self.add(terminator, kind);
            self.table.compared.extend(compared.map(|compared| (number, compared)));
            self.attach(terminator, number);
        }
    }

    /// The number of a branch or switch.
    pub fn number_of(&self, instruction: Value) -> Option<u32> {
        // SAFETY: the node was made by `attach` and has one operand.
        unsafe {
            let node = llvm::non_null(LLVMGetMetadata(instruction, self.metadata_kind))?;
            let mut operand = std::ptr::null_mut();
            LLVMGetMDNodeOperands(node, &mut operand);
            llvm::non_null(operand).map(|value| llvm::constant_bits(value) as u32)
        }
    }

    /// A new site for an instruction that is only referred to by events.
    pub fn plain(&mut self, instruction: Value) -> u32 {
        self.add(instruction, SiteKind::Plain)
    }

    /// The number of an uninstrumented function.
    pub fn external(&mut self, name: &str) -> u32 {
        let number = intern(&mut self.externals, &mut self.table.externals, name);
        if let Some(shown) =
            self.table.externals.get_mut(number as usize).filter(|shown| *shown == name)
        {
            *shown = demangled(name);
        }
        number
    }

    fn add(&mut self, instruction: Value, kind: SiteKind) -> u32 {
        let function = llvm::name(llvm::function_of(llvm::block_of(instruction)));
        // SAFETY: the instruction is in a function.
        let (line, column) =
            unsafe { (LLVMGetDebugLocLine(instruction), LLVMGetDebugLocColumn(instruction)) };
        let file = llvm::debug_file(instruction);
        let site = Site {
            function: intern(
                &mut self.functions,
                &mut self.table.functions,
                trace::replaced_name(&function),
            ),
            file: intern(&mut self.files, &mut self.table.files, &file),
            line,
            column,
            kind,
        };
        self.table.sites.push(site);
        self.table.sites.len() as u32 - 1
    }

    fn attach(&self, instruction: Value, number: u32) {
        // SAFETY: constants and nodes live as long as the context.
        unsafe {
            let constant = LLVMConstInt(LLVMInt32TypeInContext(self.context), number as u64, 0);
            let mut operand = LLVMValueAsMetadata(constant);
            let node = LLVMMDNodeInContext2(self.context, &mut operand, 1);
            LLVMSetMetadata(
                instruction,
                self.metadata_kind,
                LLVMMetadataAsValue(self.context, node),
            );
        }
    }
}

/// A name of C++ as people write it; others as they are.
pub fn demangled(name: &str) -> String {
    unsafe extern "C" {
        /// Of C++'s library, which LLVM needs anyway.
        fn __cxa_demangle(
            name: *const c_char,
            to: *mut c_char,
            size: *mut usize,
            status: *mut c_int,
        ) -> *mut c_char;
        fn free(memory: *mut c_void);
    }
    if !name.starts_with("_Z") {
        return name.to_owned();
    }
    let mangled = llvm::c_string(name);
    let mut status = 0;
    // SAFETY: the function allocates what it returns, which ends with a zero byte.
    unsafe {
        let text = __cxa_demangle(mangled.as_ptr(), null_mut(), null_mut(), &mut status);
        if text.is_null() {
            return name.to_owned();
        }
        let demangled = CStr::from_ptr(text).to_string_lossy().into_owned();
        free(text.cast());
        demangled
    }
}

/// The number that a branch compares something with.
fn compared_number(terminator: Value, kind: &SiteKind) -> Option<u64> {
    matches!(kind, SiteKind::Branch { .. }).then_some(())?;
    let condition = llvm::as_instruction(llvm::condition(terminator))?;
    let is_comparison = llvm::opcode(condition) == LLVMOpcode::LLVMICmp;
    let number =
        is_comparison.then(|| llvm::as_constant_int(llvm::operand(condition, 1))).flatten()?;
    (llvm::int_width(llvm::type_of(number)) <= 64).then(|| llvm::constant_bits(number))
}

/// Case values in the order of the instruction's successors; the default is not among them.
pub fn switch_cases(switch: Value) -> Vec<u64> {
    (1..llvm::successor_count(switch))
        // SAFETY: the index is that of a case.
        .map(|i| llvm::constant_bits(unsafe { LLVMGetSwitchCaseValue(switch, i) }))
        .collect()
}

pub fn intern(known: &mut HashMap<String, u32>, list: &mut Vec<String>, name: &str) -> u32 {
    if let Some(&number) = known.get(name) {
        return number;
    }
    let number = list.len() as u32;
    list.push(name.to_owned());
    known.insert(name.to_owned(), number);
    number
}
