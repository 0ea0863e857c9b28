//! Drop-in compilers, the bitcode they embed, and the variants derived from it.
//!
//! `tarragon cc` runs clang exactly as asked, so what it builds *is* the plain build, and appends
//! to each object two sections that are never loaded: [`payload::BITCODE_SECTION`] holds the
//! unoptimised bitcode of the translation unit, [`payload::LINK_SECTION`] what is needed to link
//! the program again. The linker concatenates sections of one name, so the linker itself decides
//! which archive members belong to a program. From a linked program, [`derive()`] makes a variant:
//! it hands the bitcode to `tarragon-instrument` and links the result by the recorded recipe.
//!
//! This crate runs clang and friends as programs. It must not link LLVM and must not look into
//! bitcode.

mod additions;
mod arguments;
mod aside;

mod bitcode;
mod cache;
mod called_by_name;
mod children;
mod clang;
mod debug;
mod derive;
pub mod driver;
mod elf;
mod frame;
mod harness;
mod headers;
mod lexers;
mod libraries;
mod link;
mod models;
pub mod payload;
mod preload;
mod probe;
pub mod recipe;
mod relink;
mod response;
mod surroundings;

pub use additions::accepts_connections;
pub use children::end_children_with;
pub use debug::{debug_object, debug_object_of};
pub use derive::{DeriveError, DeriveOptions, Derived, Variant, derive, derive_to};
pub use lexers::propose_lexers;
pub use models::{ModelError, Modelled, with_entry, with_models};
pub use preload::preloaded;
pub use surroundings::{Surroundings, SystemModel};
