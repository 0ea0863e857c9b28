//! Shared libraries that carry bitcode become part of the variant, so that data is followed through
//! them.
//!
//! A library keeps its own name space: the instrumenter is told which symbols it exports, hides the
//! others, and lets a definition of the program's win, as the dynamic linker does. What the library
//! itself was linked with takes its place in the recipe. Libraries that are opened at run time stay
//! as they are.

use crate::driver::Language;
use crate::payload::{Module, Payload};
use crate::recipe::{Item, Recipe};
use object::read::elf::ElfFile64;
use object::{LittleEndian, Object, ObjectSymbol, ReadCache};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::{Path, PathBuf};

/// A shared library whose code is instrumented with the program's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Library {
    pub modules: Vec<Module>,
    /// Names that the dynamic linker sees, sorted.
    pub exports: Vec<String>,
}

/// Takes the libraries of a program out of its recipe. Those that others depend on come first, as
/// their constructors run first.
pub fn absorb(payload: &mut Payload) -> Vec<Library> {
    let Some(recipe) = payload.recipe.take() else { return Vec::new() };
    let mut absorbing = Absorbing {
        libraries: Vec::new(),
        natives: BTreeMap::new(),
        seen: BTreeSet::new(),
        is_cxx: false,
    };
    let items = absorbing.items(recipe.items);
    let language = if absorbing.is_cxx { Language::Cxx } else { recipe.language };
    payload.recipe = Some(Recipe { items, language, ..recipe });
    payload.natives.append(&mut absorbing.natives);
    absorbing.libraries
}

struct Absorbing {
    libraries: Vec<Library>,
    natives: BTreeMap<String, Vec<u8>>,
    seen: BTreeSet<PathBuf>,
    /// A library needs what only the C++ driver links.
    is_cxx: bool,
}

impl Absorbing {
    fn items(&mut self, items: Vec<Item>) -> Vec<Item> {
        items.into_iter().flat_map(|item| self.item(item)).collect()
    }

    /// What stands in the recipe for `item`: itself, or what the library was linked with.
    fn item(&mut self, item: Item) -> Vec<Item> {
        let Item::SharedLibrary { path, payload: true, .. } = &item else { return vec![item] };
        if self.seen.contains(path) {
            return Vec::new();
        }
        // A library that is gone or was built anew without Tarragon is linked like any other.
        let Some((mut payload, exports)) = read(path) else { return vec![item] };
        self.seen.insert(path.clone());
        self.is_cxx |=
            payload.recipe.as_ref().is_some_and(|recipe| recipe.language == Language::Cxx);
        let items = payload.recipe.map_or(Vec::new(), |recipe| recipe.items);
        let items = self.items(items.into_iter().filter(concerns_users).collect());
        self.natives.append(&mut payload.natives);
        self.libraries.push(Library { modules: payload.modules, exports });
        items
    }
}

fn read(path: &Path) -> Option<(Payload, Vec<String>)> {
    let payload = Payload::read(path).ok().filter(|payload| !payload.modules.is_empty())?;
    Some((payload, exports(path)?))
}

fn exports(path: &Path) -> Option<Vec<String>> {
    let cache = ReadCache::new(File::open(path).ok()?);
    let elf = ElfFile64::<LittleEndian, _>::parse(&cache).ok()?;
    let defined = elf.dynamic_symbols().filter(|symbol| symbol.is_definition());
    let names: BTreeSet<String> =
        defined.filter_map(|symbol| symbol.name().ok().map(str::to_owned)).collect();
    Some(names.into_iter().collect())
}

/// Items of a library's recipe that its users need once it is linked statically: inputs, not
/// options.
fn concerns_users(item: &Item) -> bool {
    match item {
        Item::Driver(word) => word == "-pthread" || word.starts_with("-fopenmp"),
        Item::Linker(_) | Item::LinkerFile { .. } => false,
        _ => true,
    }
}
