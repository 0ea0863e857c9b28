//! Functions of a program that code without bitcode knows by their names: its native objects refer
//! to them, or the program exports them, to its shared libraries and to `dlsym`.

use crate::payload::Payload;
use crate::recipe::Item;
use object::read::archive::ArchiveFile;
use object::read::elf::ElfFile64;
use object::{LittleEndian, Object, ObjectSymbol, SymbolKind};
use std::collections::BTreeSet;
use std::path::Path;

/// Their names, and others that are no functions of the program.
pub(crate) fn names(program: &Path, payload: &Payload) -> std::io::Result<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    add_exported(&std::fs::read(program)?, &mut names);
    payload.natives.values().for_each(|native| add_wanted(native, &mut names));
    let items = payload.recipe.iter().flat_map(|recipe| &recipe.items);
    for item in items {
        // What is not there cannot be linked again either, which says so.
        if let Item::File(path) = item
            && let Ok(native) = std::fs::read(path)
        {
            add_wanted(&native, &mut names);
        }
    }
    Ok(names)
}

fn parse(bytes: &[u8]) -> Option<ElfFile64<'_, LittleEndian>> {
    ElfFile64::parse(bytes).ok()
}

fn add_exported(program: &[u8], names: &mut BTreeSet<String>) {
    let Some(elf) = parse(program) else { return };
    let symbols = elf.dynamic_symbols();
    let exported =
        symbols.filter(|symbol| symbol.is_definition() && symbol.kind() == SymbolKind::Text);
    names.extend(exported.filter_map(|symbol| symbol.name().ok().map(str::to_owned)));
}

/// Adds what an object, or a member of an archive, wants others to define.
fn add_wanted(native: &[u8], names: &mut BTreeSet<String>) {
    if let Ok(archive) = ArchiveFile::parse(native) {
        let members = archive.members().filter_map(Result::ok);
        members.filter_map(|m| m.data(native).ok()).for_each(|m| add_wanted(m, names));
        return;
    }
    let Some(elf) = parse(native) else { return };
    let wanted = elf.symbols().filter(|symbol| symbol.is_undefined());
    names.extend(wanted.filter_map(|symbol| symbol.name().ok().map(str::to_owned)));
}

#[cfg(test)]
mod tests {
    use super::names;
    use crate::payload::Payload;
    use std::collections::BTreeSet;
    use std::path::Path;
    use std::process::Command;

    fn compile(folder: &Path, source: &str, words: &[&str]) {
        std::fs::write(folder.join("source.c"), source).expect("written");
        let mut command = Command::new("clang-22");
        let status = command.arg("source.c").args(words).current_dir(folder).status();
        assert!(status.expect("clang starts").success());
    }

    #[test]
    fn what_objects_want_and_programs_export_is_known() {
        let folder = tempfile::tempdir().expect("a folder");
        compile(folder.path(), "int wanted(void); int f(void) { return wanted(); }", &["-c"]);
        let native = std::fs::read(folder.path().join("source.o")).expect("an object");
        let program =
            "int shown(void) { return 0; } static int own; int main(void) { return own; }";
        compile(folder.path(), program, &["-rdynamic", "-o", "program"]);
        let mut payload = Payload::default();
        payload.natives.insert("key".to_owned(), native);
        let found = names(&folder.path().join("program"), &payload).expect("names");
        let expected = ["wanted", "shown"].map(str::to_owned);
        assert!(BTreeSet::from(expected).is_subset(&found), "{found:?}");
        compile(folder.path(), program, &["-o", "program"]);
        let found = names(&folder.path().join("program"), &Payload::default()).expect("names");
        assert!(!found.contains("shown"), "{found:?}");
    }
}
