//! The recipe of a link: what must be given to clang to link the same program again from other
//! objects.
//!
//! A recipe is data. What the linker took from bitcode-carrying inputs is not in it, since the
//! variant's object takes their place; native inputs are in it by content, so that a program needs
//! nothing of its build directory.

use crate::driver::Language;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recipe {
    pub language: Language,
    pub output: OutputKind,
    /// Where the link ran.
    pub directory: PathBuf,
    /// In the order of the command line.
    pub items: Vec<Item>,
    /// Inputs of the link that came without bitcode: assembly and objects of other compilers.
    pub without_bitcode: Vec<String>,
    /// The program got its `main` from libFuzzer.
    #[serde(default)]
    pub is_harness: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum OutputKind {
    Executable,
    SharedLibrary,
    /// `-r`: an object made of objects. It carries its native inputs on to the link of the program.
    Relocatable,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Item {
    /// For the compiler driver.
    Driver(String),
    /// For the linker.
    Linker(String),
    SearchDirectory(PathBuf),
    /// `-l`, found by the linker in system directories.
    Library(String),
    /// A shared library outside of system directories. `payload`: it was built with Tarragon.
    SharedLibrary {
        path: PathBuf,
        by_name: bool,
        payload: bool,
    },
    /// A file that is not embedded: in a system directory, or too large.
    File(PathBuf),
    /// A native input by its key in [`crate::payload::Payload::natives`].
    Native {
        name: String,
        key: String,
    },
    /// Members of an archive which carry no bitcode.
    Archive {
        name: String,
        members: Vec<Member>,
    },
    /// A linker option whose value is an embedded file: `--version-script=` and the like.
    LinkerFile {
        option: String,
        key: String,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    pub name: String,
    pub key: String,
}

impl Recipe {
    /// Takes over the native inputs of an object that was itself linked with `-r`.
    pub(crate) fn take_natives(&mut self, earlier: Recipe) {
        let embedded = |item: &Item| matches!(item, Item::Native { .. } | Item::Archive { .. });
        self.items.splice(0..0, earlier.items.into_iter().filter(embedded));
        self.without_bitcode.extend(earlier.without_bitcode);
    }
}
