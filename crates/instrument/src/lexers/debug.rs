//! Types in debug information, as far as naming a field needs them.
//!
//! LLVM's C interface shows a node's operands by number only. What is relied on here: file, scope
//! and name are the first three operands of a type, and the type it refers to, or the list of its
//! members, comes after them.

use crate::llvm::Value;
use crate::module::Module;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::debuginfo::*;
use inkwell::llvm_sys::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

const ENUMERATION: u16 = 0x04;
const POINTER: u16 = 0x0f;
const REFERENCE: u16 = 0x10;
const STRUCTURE: u16 = 0x13;
const CLASS: u16 = 0x02;
const UNION: u16 = 0x17;
const MEMBER: u16 = 0x0d;
const BASE_CLASS: u16 = 0x1c;
const TYPEDEF: u16 = 0x16;
const CONST: u16 = 0x26;
const VOLATILE: u16 = 0x35;

const HEAD: usize = 3;
/// Types within types beyond this are not followed.
const DEPTH: usize = 32;

#[derive(Clone, Copy)]
pub struct DebugType {
    context: LLVMContextRef,
    node: LLVMMetadataRef,
}

/// Types of a function's parameters; `None` for one that is not known.
pub fn parameter_types(context: LLVMContextRef, function: Value) -> Option<Vec<Option<DebugType>>> {
    Some(signature(context, function)?.split_first()?.1.to_vec())
}

pub fn result_type(context: LLVMContextRef, function: Value) -> Option<DebugType> {
    *signature(context, function)?.first()?
}

/// The result's type, then those of parameters.
fn signature(context: LLVMContextRef, function: Value) -> Option<Vec<Option<DebugType>>> {
    // SAFETY: the handle is a function; no debug information is null.
    let node = crate::llvm::non_null(unsafe { LLVMGetSubprogram(function) })?;
    let find = |node, is: fn(&LLVMMetadataKind) -> bool| {
        operands(context, node).into_iter().flatten().find(|operand| is(&kind(*operand)))
    };
    let subroutine =
        find(node, |kind| matches!(kind, LLVMMetadataKind::LLVMDISubroutineTypeMetadataKind))?;
    let list = find(subroutine, |kind| matches!(kind, LLVMMetadataKind::LLVMMDTupleMetadataKind))?;
    let as_type =
        |operand: Option<LLVMMetadataRef>| operand.and_then(|node| DebugType::new(context, node));
    Some(operands(context, list).into_iter().map(as_type).collect())
}

pub fn global_type(context: LLVMContextRef, global: Value) -> Option<DebugType> {
    let is_expression = |node: &LLVMMetadataRef| {
        matches!(kind(*node), LLVMMetadataKind::LLVMDIGlobalVariableExpressionMetadataKind)
    };
    let expression = attached(global).into_iter().find(is_expression)?;
    // SAFETY: the node is of that kind.
    let variable =
        crate::llvm::non_null(unsafe { LLVMDIGlobalVariableExpressionGetVariable(expression) })?;
    operands(context, variable).into_iter().flatten().find_map(|node| DebugType::new(context, node))
}

fn attached(global: Value) -> Vec<LLVMMetadataRef> {
    let mut count = 0;
    // SAFETY: LLVM returns `count` entries, which are freed.
    unsafe {
        let entries = LLVMGlobalCopyAllMetadata(global, &mut count);
        let nodes =
            (0..count as u32).map(|i| LLVMValueMetadataEntriesGetMetadata(entries, i)).collect();
        LLVMDisposeValueMetadataEntries(entries);
        nodes
    }
}

fn kind(node: LLVMMetadataRef) -> LLVMMetadataKind {
    // SAFETY: the node is not null; this LLVM has no kinds that its bindings do not have.
    unsafe { LLVMGetMetadataKind(node) }
}

/// Operands of a node; `None` for those that are absent.
fn operands(context: LLVMContextRef, node: LLVMMetadataRef) -> Vec<Option<LLVMMetadataRef>> {
    // SAFETY: the node has operands; the vector has room for all.
    unsafe {
        let value = LLVMMetadataAsValue(context, node);
        let mut found = vec![std::ptr::null_mut(); LLVMGetMDNodeNumOperands(value) as usize];
        LLVMGetMDNodeOperands(value, found.as_mut_ptr());
        let node = |value: Value| (!value.is_null()).then(|| LLVMValueAsMetadata(value));
        found.into_iter().map(node).collect()
    }
}

/// All enumerations that the program uses, with their named constants.
pub fn enumerations(module: &Module) -> Vec<BTreeMap<String, i64>> {
    let is_list =
        |node: &LLVMMetadataRef| matches!(kind(*node), LLVMMetadataKind::LLVMMDTupleMetadataKind);
    let listed = |node: LLVMMetadataRef| {
        let lists = operands(module.context, node).into_iter().flatten().filter(is_list);
        lists.flat_map(|list| operands(module.context, list)).flatten().collect::<Vec<_>>()
    };
    let is_enumeration = |node: &LLVMMetadataRef| {
        DebugType::new(module.context, *node).is_some_and(|ty| ty.tag() == ENUMERATION)
    };
    let is_enumerator = |node: &LLVMMetadataRef| {
        matches!(kind(*node), LLVMMetadataKind::LLVMDIEnumeratorMetadataKind)
    };
    let enumerations = compile_units(module).into_iter().flat_map(listed).filter(is_enumeration);
    let constants = |node: LLVMMetadataRef| {
        let all = listed(node).into_iter().filter(is_enumerator);
        all.filter_map(|node| named_constant(module, node)).collect()
    };
    // Each source file that sees an enumeration has it.
    enumerations.map(constants).collect::<BTreeSet<_>>().into_iter().collect()
}

fn compile_units(module: &Module) -> Vec<LLVMMetadataRef> {
    const UNITS: *const std::ffi::c_char = c"llvm.dbg.cu".as_ptr();
    // SAFETY: the vector has room for all operands.
    unsafe {
        let count = LLVMGetNamedMetadataNumOperands(module.raw, UNITS);
        let mut units = vec![std::ptr::null_mut(); count as usize];
        LLVMGetNamedMetadataOperands(module.raw, UNITS, units.as_mut_ptr());
        units.into_iter().map(|unit| LLVMValueAsMetadata(unit)).collect()
    }
}

/// LLVM's C interface does not show the value, but prints it: `!DIEnumerator(name: "PLUS", value:
/// 258)`.
fn named_constant(module: &Module, node: LLVMMetadataRef) -> Option<(String, i64)> {
    // SAFETY: the text is LLVM's own and is freed.
    let text = crate::llvm::take_message(unsafe {
        LLVMPrintValueToString(LLVMMetadataAsValue(module.context, node))
    });
    let name = text.split_once("name: \"")?.1.split('"').next()?;
    let value = text.split_once("value: ")?.1.split([',', ')']).next()?;
    Some((name.to_owned(), value.parse().ok()?))
}

impl DebugType {
    fn new(context: LLVMContextRef, node: LLVMMetadataRef) -> Option<DebugType> {
        use LLVMMetadataKind::*;
        let is_type = matches!(
            kind(node),
            LLVMDIBasicTypeMetadataKind
                | LLVMDIDerivedTypeMetadataKind
                | LLVMDICompositeTypeMetadataKind
        );
        is_type.then_some(DebugType { context, node })
    }

    /// What a pointer points to.
    pub fn pointee(self) -> Option<DebugType> {
        let pointer = self.plain();
        matches!(pointer.tag(), POINTER | REFERENCE).then(|| pointer.base()).flatten()
    }

    /// Names on the way to the number (or, if that is not the `last` step, pointer) at an offset in
    /// bytes, and its type.
    pub fn field_at(self, offset: u64, last: bool) -> Option<(Vec<String>, DebugType)> {
        self.field(offset * 8, last, DEPTH)
    }

    /// Where the member of a struct is, in bytes, and its type. Members of unnamed members and of
    /// base classes count as its own.
    pub fn member(self, name: &str) -> Option<(u64, DebugType)> {
        self.named(name, DEPTH).map(|(bits, ty)| (bits / 8, ty))
    }

    fn named(self, name: &str, depth: usize) -> Option<(u64, DebugType)> {
        let members = self.plain().members();
        let own = members.iter().find(|member| member.tag() == MEMBER && member.name() == name);
        if let Some(member) = own {
            return Some((member.offset(), member.base()?));
        }
        let inner = |member: &DebugType| {
            let is_open = member.tag() == BASE_CLASS || member.name().is_empty();
            let base = member.base().filter(|_| is_open && depth > 0)?;
            let (offset, found) = base.named(name, depth - 1)?;
            Some((member.offset() + offset, found))
        };
        members.iter().find_map(inner)
    }

    /// Bytes of a value.
    pub fn bytes(self) -> u64 {
        self.plain().size() / 8
    }

    fn field(self, offset: u64, last: bool, depth: usize) -> Option<(Vec<String>, DebugType)> {
        let ty = self.plain();
        if !matches!(ty.tag(), STRUCTURE | CLASS | UNION) {
            let fits = offset == 0 && last != matches!(ty.tag(), POINTER | REFERENCE);
            return fits.then(|| (Vec::new(), ty));
        }
        let inner = |member: DebugType| {
            let start = member.offset();
            let holds = start <= offset && offset < start + member.size();
            let base = member.base().filter(|_| holds && depth > 0)?;
            let (mut names, found) = base.field(offset - start, last, depth - 1)?;
            names.splice(
                0..0,
                Some(member.name()).filter(|name| !name.is_empty() && member.tag() == MEMBER),
            );
            Some((names, found))
        };
        ty.members().into_iter().find_map(inner)
    }

    /// Without qualifiers and other names.
    fn plain(self) -> DebugType {
        let base = |ty: &DebugType| {
            matches!(ty.tag(), TYPEDEF | CONST | VOLATILE).then(|| ty.base()).flatten()
        };
        std::iter::successors(Some(self), base).take(DEPTH).last().unwrap_or(self)
    }

    fn base(self) -> Option<DebugType> {
        let after = operands(self.context, self.node).into_iter().skip(HEAD).flatten();
        after.into_iter().find_map(|node| DebugType::new(self.context, node))
    }

    fn members(self) -> Vec<DebugType> {
        let mut after = operands(self.context, self.node).into_iter().skip(HEAD).flatten();
        let list =
            after.find(|node| matches!(kind(*node), LLVMMetadataKind::LLVMMDTupleMetadataKind));
        let members = list.into_iter().flat_map(|list| operands(self.context, list)).flatten();
        let types = members.filter_map(|node| DebugType::new(self.context, node));
        types.filter(|member| matches!(member.tag(), MEMBER | BASE_CLASS)).collect()
    }

    fn tag(self) -> u16 {
        // SAFETY: types have tags.
        unsafe { LLVMGetDINodeTag(self.node) }
    }

    /// In bits; members of a class that are shared by all its objects have none.
    fn offset(self) -> u64 {
        // SAFETY: the node is a type.
        unsafe { LLVMDITypeGetOffsetInBits(self.node) }
    }

    fn size(self) -> u64 {
        // SAFETY: the node is a type.
        let own = unsafe { LLVMDITypeGetSizeInBits(self.node) };
        let of_base = || self.base().map_or(0, |base| base.plain().size());
        if own == 0 && self.tag() == BASE_CLASS { of_base() } else { own }
    }

    fn name(self) -> String {
        let mut length = 0;
        // SAFETY: LLVM returns `length` bytes, or null.
        let bytes = unsafe {
            let text = LLVMDITypeGetName(self.node, &mut length);
            if text.is_null() {
                return String::new();
            }
            std::slice::from_raw_parts(text.cast::<u8>(), length)
        };
        String::from_utf8_lossy(bytes).into_owned()
    }
}
