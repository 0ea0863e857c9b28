//! What arguments and results of library functions are for. A role says the type, too: in Rust and
//! in C, for functions of bytes and of wide characters.

use super::{Width, byte, wide};
use crate::arithmetic::{Division, LongDivision};
use crate::input::Piece;
use crate::sort::{Compare, CompareWith};
use crate::{messages, positions, stdio};
use core::ffi::{c_int, c_long};
use runtime_core::calls::VaList;
use runtime_process::sys::Stat;
use trace::ConcretiseReason;

/// The type of a role in functions whose elements are `E`.
pub trait Typed<E> {
    type Type;
}

macro_rules! roles {
    ($($(#[$doc:meta])* $role:ident: $ty:ty = $narrow:literal $(| $wide:literal)?;)*) => {
        /// The roles as types, for the functions that rows become.
        pub mod typed {
            use super::*;
            $($(#[$doc])* pub struct $role;
            impl<E> Typed<E> for $role {
                type Type = $ty;
            })*
        }

        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Role {
            $($(#[$doc])* $role,)*
        }

        impl Role {
            /// The type as C writes it.
            pub const fn c_type(self, width: Width) -> &'static str {
                match (self, width) {
                    $($((Role::$role, Width::Wide) => $wide,)?
                    (Role::$role, _) => $narrow,)*
                }
            }
        }
    };
}

roles! {
    /// A string that is read; 0 ends it.
    Text: *const E = "const char *" | "const wchar_t *";
    /// A string whose elements are a set.
    Set: *const E = "const char *" | "const wchar_t *";
    /// Elements that are read; a length says how many.
    Memory: *const E = "const void *" | "const wchar_t *";
    /// A string that is written or changed, or a place in a string.
    Into: *mut E = "char *" | "wchar_t *";
    /// Memory that is written, or a place in memory.
    Buffer: *mut E = "void *" | "wchar_t *";
    /// Where a place in a string is kept.
    Place: *mut *mut E = "char **" | "wchar_t **";
    /// Where the address and the size of a line are kept.
    LinePlace: *mut *mut E = "char **";
    SizePlace: *mut usize = "size_t *";
    /// An element, whose label the model describes.
    Character: c_int = "int" | "wchar_t";
    /// A wide character or the end of a stream, whose label the model describes.
    WideOrEnd: u32 = "wint_t";
    /// A number whose label the model describes.
    Int: c_int = "int";
    Long: c_long = "long";
    LongLong: c_long = "long long";
    UnsignedLong: u64 = "unsigned long";
    UnsignedLongLong: u64 = "unsigned long long";
    Short: u16 = "uint16_t";
    Word: u32 = "uint32_t";
    Double: f64 = "double";
    Float: f32 = "float";
    Quotients: Division = "div_t";
    LongQuotients: LongDivision = "ldiv_t";
    LongLongQuotients: LongDivision = "lldiv_t";
    MaxQuotients: LongDivision = "imaxdiv_t";
    /// How many elements count at most.
    Limit: usize = "size_t";
    /// How many elements the call accesses where each of its buffers begins.
    Extent: usize = "size_t";
    /// Bytes of each of these elements.
    ElementSize: usize = "size_t";
    /// The same as an `int`.
    IntLimit: c_int = "int";
    SignedLimit: isize = "ssize_t";
    /// Room of the destination, as far as the compiler knows it.
    Room: usize = "size_t";
    /// How much memory is allocated.
    ObjectSize: usize = "size_t";
    /// How much memory is mapped.
    MappingSize: usize = "size_t";
    Alignment: usize = "size_t";
    /// How many elements were found, read or copied.
    Count: usize = "size_t";
    SignedCount: isize = "ssize_t";
    /// An object of the heap.
    Object: *mut E = "void *";
    ObjectPlace: *mut *mut E = "void **";
    /// A number that is fixed.
    Number: c_int = "int";
    Descriptor: c_int = "int";
    Offset: i64 = "off_t";
    LongOffset: c_long = "long";
    /// Less than, equal to or greater than 0.
    Sign: c_int = "int";
    /// 0, or what went wrong.
    Status: c_int = "int";
    Stream: *mut stdio::Stream = "FILE *";
    FilePosition: *mut positions::Position = "fpos_t *";
    OldPosition: *const positions::Position = "const fpos_t *";
    FilePosition64: *mut positions::Position = "fpos64_t *";
    OldPosition64: *const positions::Position = "const fpos64_t *";
    Path: *const u8 = "const char *";
    Mode: *const u8 = "const char *";
    Format: *const u8 = "const char *";
    /// The arguments of a format.
    List: *mut VaList = "va_list";
    Variable: *mut VaList = "...";
    Pieces: *const Piece = "const struct iovec *";
    Message: *mut messages::Message = "struct msghdr *";
    SocketAddress: *mut u8 = "__SOCKADDR_ARG";
    SocketAddressSize: *mut u32 = "socklen_t *";
    FileStatus: *mut Stat = "struct stat *";
    FileStatus64: *mut Stat = "struct stat64 *";
    Comparison: Compare = "__compar_fn_t";
    ComparisonWith: CompareWith = "__compar_d_fn_t";
    /// An argument of the program's own function.
    Argument: *mut u8 = "void *";
    Process: c_int = "pid_t";
    Thread: *mut u8 = "pthread_t *";
    ThreadAttributes: *const u8 = "const pthread_attr_t *";
    ThreadStart: *const u8 = "void *(*)(void *)";
    ClassTable: *mut *const u16 = "const unsigned short **";
    CaseTable: *mut *const i32 = "const int **";
    WidePlace: *mut wide = "wchar_t *";
    Encoded: *const byte = "const char *";
    ConversionState: *mut u8 = "mbstate_t *";
    Nothing: () = "void";
}

impl Role {
    /// The model describes how its result depends on the argument.
    pub const fn is_described(self) -> bool {
        use Role::*;
        matches!(self, Character | WideOrEnd | Int | Long | LongLong | Short | Word)
    }

    /// Memory of which a call accesses as much as an [`Extent`](Role::Extent) says.
    pub const fn is_accessed(self) -> bool {
        matches!(self, Role::Memory | Role::Into | Role::Buffer)
    }

    /// Why a call with such an argument has all arguments fixed that the model does not describe.
    pub const fn fixes(self) -> Option<ConcretiseReason> {
        use Role::*;
        match self {
            ObjectSize | MappingSize | Alignment => Some(ConcretiseReason::AllocationSize),
            Limit | Extent | IntLimit | SignedLimit | Pieces => Some(ConcretiseReason::CopyLength),
            Number | Offset | LongOffset | FileStatus => Some(ConcretiseReason::Argument),
            _ => None,
        }
    }
}
