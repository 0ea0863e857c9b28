//! Compiles a source a second time: to unoptimised bitcode, in memory.
//!
//! The front end sees what the user's compilation sees, minus options that write further files,
//! optimise or instrument: each variant chooses its own passes later. Nothing is printed and no
//! file is written here.

use crate::arguments::{Input, Invocation, Opt};
use crate::clang;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

/// Passes off, but the front end told to optimise: at `-O0` it would mark every function `optnone`.
/// A precompiled header made for the user's own level of optimisation is accepted.
const TO_BITCODE: &str = "-O1 -g -w -Qunused-arguments -Xclang -disable-llvm-passes -Xclang \
                          -fno-validate-pch \
    -emit-llvm -c -o -";

/// For the sanitized variant: these checks are the front end's, and bitcode does not show what they
/// look for.
const CHECKS: &str = "-fsanitize=address,undefined";

const TO_OBJECT: &str = "-w -Qunused-arguments -c -o -";

/// One translation unit, compiled for variants.
pub struct Bitcode {
    pub plain: Vec<u8>,
    /// With the checks of clang's sanitizers; `None` where it does not compile with them.
    pub checked: Option<Vec<u8>>,
}

/// Variables through which clang would write dependency or log files a second time.
const FILES_BY_ENVIRONMENT: [&str; 4] = [
    "DEPENDENCIES_OUTPUT",
    "SUNPRO_DEPENDENCIES",
    "CC_PRINT_OPTIONS_FILE",
    "CC_LOG_DIAGNOSTICS_FILE",
];

/// One more compilation of inputs that the user's command also compiles.
pub struct Again<'a> {
    pub compiler: &'a PathBuf,
    pub invocation: &'a Invocation,
    /// The content of the standard input, where `-` is a source.
    pub stdin: Option<&'a [u8]>,
}

impl Again<'_> {
    /// Both compilations run at the same time.
    pub fn bitcode(&self, input: &Input) -> Result<Bitcode, String> {
        std::thread::scope(|scope| {
            let checked = scope.spawn(|| self.compile(input, &self.with_checks()).ok());
            let plain = self.compile(input, TO_BITCODE).map_err(|text| first_error(&text));
            let checked = checked.join().unwrap_or_default();
            plain.map(|plain| Bitcode { plain, checked })
        })
    }

    /// The native object of an input for which there is no bitcode.
    pub fn object(&self, input: &Input) -> Result<Vec<u8>, String> {
        self.compile(input, TO_OBJECT).map_err(|text| first_error(&text))
    }

    /// Those that the user wants to do without are left out.
    fn with_checks(&self) -> String {
        let unwanted =
            self.invocation.options().filter(|option| option.name.starts_with("-fno-sanitize="));
        let unwanted: Vec<&str> = unwanted.map(|option| option.name.as_str()).collect();
        format!("{CHECKS} {} {TO_BITCODE}", unwanted.join(" "))
    }

    fn compile(&self, input: &Input, last: &str) -> Result<Vec<u8>, String> {
        let words = words(self.invocation, input, last);
        let mut prepared =
            clang::prepare(self.compiler, &words).map_err(|error| error.to_string())?;
        for name in FILES_BY_ENVIRONMENT {
            prepared.command.env_remove(name);
        }
        clang::capture(&mut prepared, self.stdin.filter(|_| input.path == OsStr::new("-")))
    }
}

fn words(invocation: &Invocation, input: &Input, last: &str) -> Vec<OsString> {
    let mut words: Vec<OsString> = invocation.options().flat_map(kept).collect();
    words.extend(last.split_whitespace().map(OsString::from));
    if let Some(language) = &input.language {
        words.extend(["-x".into(), language.clone()]);
    }
    if input.path != OsStr::new("-") {
        words.push("--".into());
    }
    words.push(input.path.clone().into_os_string());
    words
}

/// The words of an option that the second compilation keeps.
fn kept(option: &Opt) -> Vec<OsString> {
    match option.name.strip_prefix("-Wp,") {
        Some(list) => preprocessor_words(list),
        None if is_dropped(&option.name) => Vec::new(),
        None => option.words.clone(),
    }
}

fn is_dropped(name: &str) -> bool {
    const EXACT: &str = "-c --compile -o -x -v -s -p -pg -pipe -l -L -z -T -u -e -r -shared \
                         -static -pie -Xlinker \
        -Xassembler -rpath -M -MM -MD -MMD -MP -MG -MV -MF -MT -MQ -MJ --write-dependencies \
        --write-user-dependencies -dependency-file -dependency-dot --serialize-diagnostics \
        -serialize-diagnostics \
        -gen-cdb-fragment-path -dumpdir -module-dependency-dir --coverage -coverage \
        -ftest-coverage -fstack-usage \
        -fmodule-output -fwhole-program-vtables -fvirtual-function-elimination -ffat-lto-objects \
        -H";
    const PREFIXES: &str = "-O -Wl, -Wa, -Rpass -flto -fthinlto -fsanitize -fno-sanitize \
                            -fprofile -fno-profile \
        -fcs-profile -fcoverage -fmemory-profile -fauto-profile -fxray -ftime-trace -ftime-report \
        -fproc-stat-report -save-temps --save-temps -fembed-bitcode -gsplit-dwarf -fpass-plugin \
        -fsave-optimization-record -foptimization-record -fmodule-output= -fuse-ld -fdump \
        -print-stats";
    EXACT.split_whitespace().any(|exact| exact == name)
        || PREFIXES.split_whitespace().any(|prefix| name.starts_with(prefix))
}

/// `-Wp,-MD,file` is how some build systems ask for dependencies; other words of the list stay.
fn preprocessor_words(list: &str) -> Vec<OsString> {
    let mut kept = String::new();
    let mut words = list.split(',');
    while let Some(word) = words.next() {
        match word {
            "-MD" | "-MMD" | "-MF" | "-MT" | "-MQ" => drop(words.next()),
            "-MP" | "-MG" => {}
            word => kept = format!("{kept},{word}"),
        }
    }
    if kept.is_empty() { Vec::new() } else { vec![format!("-Wp{kept}").into()] }
}

/// One line that says why; the whole text would repeat what the user's compilation printed.
fn first_error(text: &str) -> String {
    let line = text.lines().find(|line| line.contains("error:")).or(text.lines().next());
    line.unwrap_or("clang failed").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept_of(line: &str) -> String {
        let invocation =
            Invocation::parse(&line.split_whitespace().map(OsString::from).collect::<Vec<_>>());
        let words: Vec<OsString> = invocation.options().flat_map(kept).collect();
        words.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn keeps_what_the_front_end_needs() {
        let line = "-DA=1 -I inc -std=c11 -fPIC -include x.h -march=native -Xclang -x -pthread";
        assert_eq!(kept_of(line), line);
    }

    #[test]
    fn drops_what_writes_files_or_changes_code() {
        let line = "-c -o x.o -MD -MF x.d -O3 -flto=thin -fsanitize=address --coverage -Wl,-s \
                    -Wp,-MMD,y.d -la";
        assert_eq!(kept_of(line), "");
        assert_eq!(kept_of("-Wp,-D_FORTIFY_SOURCE=2,-MD,z.d,-DX"), "-Wp,-D_FORTIFY_SOURCE=2,-DX");
    }
}
