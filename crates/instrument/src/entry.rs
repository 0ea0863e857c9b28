//! The runtime's functions, as what instrumented code calls: a constant for each row of the table.
//!
//! How many arguments a call has is checked by the compiler, and of which types when it is built. A
//! function that is never called is dead code.
#![allow(non_upper_case_globals)]

use crate::llvm::{self, LLVMTypeKind, Value};
use trace::entry::types::{Global, Label, PureRegion, VARARGS, VaList, c_char, c_int};
use trace::entry::{Entry, Passed, Type};

macro_rules! constants {
    ($($name:ident($($parameter:ident: $ty:ty),*) $(-> $result:ty)?;)*) => {
        $(pub const $name: Entry<{ <[&str]>::len(&[$(stringify!($parameter)),*]) }> = Entry {
            name: stringify!($name),
            parameters: [$(<$ty as Passed>::TYPE),*],
            result: Type::of_result(&[$(<$result as Passed>::TYPE)?]),
        };)*
    };
}

trace::for_each_entry!(constants);

/// How values of a type are passed to the runtime; `None` if no function of it takes such ones.
pub fn passed_as(ty: llvm::Type) -> Option<Type> {
    match llvm::kind(ty) {
        LLVMTypeKind::LLVMPointerTypeKind => Some(Type::Pointer),
        LLVMTypeKind::LLVMIntegerTypeKind => match llvm::int_width(ty) {
            32 => Some(Type::I32),
            64 => Some(Type::I64),
            128 => Some(Type::I128),
            _ => None,
        },
        _ => None,
    }
}

/// Panics if the arguments are not what the function takes.
pub fn check<const N: usize>(entry: &Entry<N>, arguments: &[Value; N]) {
    for (i, (argument, expected)) in arguments.iter().zip(entry.parameters).enumerate() {
        let given = passed_as(llvm::type_of(*argument));
        assert_eq!(given, Some(expected), "argument {i} of {}", entry.name);
    }
}
