//! Which options of clang-22 take a value, and which end the work before an object is written.
//!
//! A test asks clang itself whether the tables below are right.

/// Options whose value is the next word, always.
const SEPARATE: &str = "
    --analyzer-output --assert --config --define-macro --for-linker --force-link --imacros
    --include --include-directory --include-directory-after --include-prefix --include-with-prefix
    --include-with-prefix-after --include-with-prefix-before --language --library-directory --mhwdiv
    --output --param --prefix --resource --rtlib --serialize-diagnostics --specs --std
    --stdlib --sysroot --undefine-macro --vfsoverlay -A -B -D -F -G -I -L -MF
    -MJ -MQ -MT -T -U -Xanalyzer -Xarch_device -Xarch_host -Xassembler -Xclang
    -Xclangas -Xcuda-fatbinary -Xcuda-ptxas -Xlinker -Xoffload-linker -Xopenmp-target
    -Xpreprocessor -arch -b -ccc-gcc-name -ccc-install-dir -cxx-isystem
    -darwin-target-variant -darwin-target-variant-triple -dependency-dot -dependency-file
    -dsym-dir -dumpdir -e -fdebug-compilation-dir -fexperimental-openacc-macro-override
    -filelist -fmodules-user-build-path -framework -ftrapv-handler -gen-cdb-fragment-path
    -iapinotes-modules -idirafter -iframework -iframeworkwithsysroot -imacros -imultilib
    -include -include-pch -iprefix -iquote -isysroot -isystem -isystem-after -ivfsoverlay
    -iwithprefix -iwithprefixbefore -iwithsysroot -l -meabi -mllvm -mmlir
    -module-dependency-dir -mthread-model -o -resource-dir -rpath -serialize-diagnostics
    -specs -stdlib++-isystem -target -u -undefined -vfsoverlay -working-directory -x -z
";

/// Options whose value may also be joined to them, as far as Tarragon looks at the value.
const JOINED: &[&str] = &["-MF", "-MJ", "-MQ", "-MT", "-L", "-T", "-l", "-o", "-u", "-x", "-z"];

/// Flags that begin like one of [`JOINED`].
const NOT_JOINED: &[&str] = &["-undef", "-undefined", "-object"];

/// Long spellings, joined to their value by `=` or followed by it.
const ALIASES: &[(&str, &str)] = &[
    ("--output", "-o"),
    ("--language", "-x"),
    ("--library-directory", "-L"),
    ("--for-linker", "-Xlinker"),
    ("--force-link", "-u"),
];

fn listed(table: &str, word: &str) -> bool {
    table.split_whitespace().any(|listed| listed == word)
}

pub struct Shape<'a> {
    pub name: &'a str,
    pub joined: Option<&'a str>,
    pub takes_next: bool,
}

/// Separates an option from a value within the same word and says whether the next word is its
/// value.
pub fn split(word: &str) -> Shape<'_> {
    let whole = |name, takes_next| Shape { name, joined: None, takes_next };
    if listed(SEPARATE, word) || word.starts_with("-Xarch_") || word.starts_with("-Xopenmp-target=")
    {
        return whole(alias(word), true);
    }
    let long =
        word.split_once('=').filter(|(name, _)| ALIASES.iter().any(|(long, _)| long == name));
    if let Some((name, value)) = long {
        return Shape { name: alias(name), joined: Some(value), takes_next: false };
    }
    let joined = JOINED.iter().find(|name| word.starts_with(**name) && !NOT_JOINED.contains(&word));
    match joined {
        Some(name) => Shape { name, joined: Some(&word[name.len()..]), takes_next: false },
        None => whole(word, false),
    }
}

fn alias(name: &str) -> &str {
    ALIASES.iter().find(|(long, _)| *long == name).map_or(name, |(_, short)| short)
}

/// True for options with which clang answers a question or stops before it writes an object.
pub fn ends_before_objects(name: &str) -> bool {
    const EXACT: &str = "
        -### -E --preprocess -M --dependencies -MM --user-dependencies -S --assemble
        -fsyntax-only --analyze -emit-llvm -emit-ast --precompile -fmodule-only -dumpversion
        -dumpmachine -dumpspecs --help -help --help-hidden --version --emit-static-lib
        -verify-pch -module-file-info -extract-api --driver-mode=cl -fdriver-only
        -emit-interface-stubs -rewrite-objc -rewrite-legacy-objc --migrate -fsycl-device-only
    ";
    const PREFIXES: &[&str] = &["-print-", "--print-", "-ccc-print-", "--autocomplete="];
    listed(EXACT, name) || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    /// What clang says when `option` is the last word.
    fn wants_value(option: &str) -> bool {
        let output =
            Command::new("clang-22").args(["-###", option]).output().expect("clang-22 runs");
        String::from_utf8_lossy(&output.stderr).contains("is missing (expected 1 value)")
    }

    #[test]
    fn clang_agrees_on_options_with_values() {
        let wrong = |name: &&str| !wants_value(name);
        assert_eq!(SEPARATE.split_whitespace().filter(wrong).collect::<Vec<_>>(), [""; 0]);
    }

    #[test]
    fn splits() {
        let shown = |word| {
            let Shape { name, joined, takes_next } = split(word);
            format!("{name} {joined:?} {takes_next}")
        };
        assert_eq!(shown("-o"), "-o None true");
        assert_eq!(shown("-ofile"), "-o Some(\"file\") false");
        assert_eq!(shown("--output=file"), "-o Some(\"file\") false");
        assert_eq!(shown("--output"), "-o None true");
        assert_eq!(shown("-undef"), "-undef None false");
        assert_eq!(shown("-MFx.d"), "-MF Some(\"x.d\") false");
        assert_eq!(shown("-MMD"), "-MMD None false");
        assert_eq!(shown("-include-pch"), "-include-pch None true");
    }
}
