//! The compilers: run clang as asked, then embed what variants need into what it wrote.
//!
//! The user's command goes to clang unchanged (but for `-flto`, and headers of ours where a source
//! mentions them), so exit codes, diagnostics, dependency files and native code are clang's own.
//! The compilations to bitcode (as it is, and with the checks of clang's sanitizers) run at the
//! same time and are silent; if the first of them alone fails, a warning says so and the build goes
//! on.

use crate::arguments::{Input, InputKind, Invocation, Stage};
use crate::bitcode::{Again, Bitcode};
use crate::clang;
use crate::elf::{self, AppendError, NewSection};
use crate::frame::{self, Kind};
use crate::headers;
use crate::link::{self, Compiled};
use crate::payload::{BITCODE_SECTION, LINK_SECTION};
use crate::response;
use serde::{Deserialize, Serialize};
use std::ffi::{OsStr, OsString};
use std::fs::Metadata;
use std::io::{Read, Write};
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};

/// Which of clang's drivers does the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Language {
    C,
    Cxx,
}

impl Language {
    fn command_name(self) -> &'static str {
        match self {
            Language::C => "tarragon cc",
            Language::Cxx => "tarragon c++",
        }
    }
}

/// What a shell answers when a command is missing.
const NOT_FOUND: i32 = 127;

/// `tarragon cc ARGS` and `tarragon c++ ARGS`. Returns the exit code.
pub fn run(language: Language, args: Vec<OsString>) -> i32 {
    match clang::compiler(language) {
        Ok(compiler) => Driver::new(language, compiler, args).run(),
        Err(missing) => {
            eprintln!("{}: error: {missing}", language.command_name());
            NOT_FOUND
        }
    }
}

struct Driver {
    language: Language,
    compiler: PathBuf,
    /// What clang is started with.
    words: Vec<OsString>,
    invocation: Invocation,
}

impl Driver {
    fn new(language: Language, compiler: PathBuf, args: Vec<OsString>) -> Driver {
        let expanded = response::expand(&args);
        let without_lto = without_lto(&expanded);
        let mut words =
            if without_lto.len() == expanded.len() { args } else { without_lto.clone() };
        let mut invocation = Invocation::parse(&without_lto);
        let added = headers::options(&invocation);
        if !added.is_empty() {
            words.splice(0..0, added.iter().cloned());
            invocation = Invocation::parse(&[added, without_lto.clone()].concat());
        }
        let driver = Driver { language, compiler, words, invocation };
        if without_lto.len() != expanded.len() {
            driver.say(
                "note",
                "-flto is ignored: Tarragon optimises whole programs when it derives a variant",
            );
        }
        driver
    }

    fn run(&self) -> i32 {
        let result = match self.invocation.stage {
            Stage::Compile | Stage::Link if self.invocation.keeps_output() => self.run_twice(),
            _ => self.run_clang(None),
        };
        match result {
            Ok(status) => exit_code(status),
            Err(error) => {
                self.say("error", &format!("cannot run {}: {error}", self.compiler.display()));
                NOT_FOUND
            }
        }
    }

    fn run_clang(&self, stdin: Option<&[u8]>) -> std::io::Result<ExitStatus> {
        let mut prepared = clang::prepare(&self.compiler, &self.words)?;
        if stdin.is_some() {
            prepared.command.stdin(Stdio::piped());
        }
        let mut child = prepared.command.spawn()?;
        if let (Some(mut pipe), Some(text)) = (child.stdin.take(), stdin) {
            // If clang stops reading early, it says why on its own.
            let _ = pipe.write_all(text);
        }
        child.wait()
    }

    /// The user's compilation and the one to bitcode, side by side.
    fn run_twice(&self) -> std::io::Result<ExitStatus> {
        let before = Stamp::of(&self.invocation.linked());
        let stdin = self.read_stdin()?;
        let again = Again {
            compiler: &self.compiler,
            invocation: &self.invocation,
            stdin: stdin.as_deref(),
        };
        let (status, compiled) = std::thread::scope(|scope| {
            let compiled = scope.spawn(|| self.compile_again(&again));
            (self.run_clang(stdin.as_deref()), compiled.join().unwrap_or_default())
        });
        let status = status?;
        let nothing_linked =
            self.invocation.stage == Stage::Link && Stamp::of(&self.invocation.linked()) == before;
        if status.success() && !nothing_linked {
            self.embed(compiled);
        }
        Ok(status)
    }

    /// A source on the standard input can be read only once, but is needed twice.
    fn read_stdin(&self) -> std::io::Result<Option<Vec<u8>>> {
        if !self.invocation.inputs().any(|input| input.path == OsStr::new("-")) {
            return Ok(None);
        }
        let mut text = Vec::new();
        std::io::stdin().read_to_end(&mut text)?;
        Ok(Some(text))
    }

    fn compile_again<'a>(&'a self, again: &Again) -> Vec<(&'a Input, Compiled)> {
        self.invocation
            .inputs()
            .filter_map(|input| Some((input, self.compile_input(again, input)?)))
            .collect()
    }

    /// `None` where nothing needs to be compiled again: native inputs, and assembly that becomes an
    /// object.
    fn compile_input(&self, again: &Again, input: &Input) -> Option<Compiled> {
        let linking = self.invocation.stage == Stage::Link;
        match input.kind {
            InputKind::Source => Some(match again.bitcode(input) {
                Ok(bitcode) => Compiled::Bitcode(bitcode),
                Err(reason) => {
                    let object = if linking { again.object(input).ok() } else { None };
                    Compiled::NoBitcode { reason, object }
                }
            }),
            InputKind::Assembly | InputKind::Foreign if linking => {
                Some(again.object(input).map_or_else(
                    |reason| Compiled::NoBitcode { reason, object: None },
                    Compiled::Native,
                ))
            }
            _ => None,
        }
    }

    fn embed(&self, compiled: Vec<(&Input, Compiled)>) {
        for (input, compiled) in &compiled {
            if let Compiled::NoBitcode { reason, .. } = compiled {
                self.warn_no_bitcode(&input.path, reason);
            }
        }
        match self.invocation.stage {
            Stage::Compile => {
                compiled.iter().for_each(|(input, compiled)| self.embed_in_object(input, compiled))
            }
            _ => self.embed_in_program(&compiled),
        }
    }

    fn embed_in_object(&self, input: &Input, compiled: &Compiled) {
        let Compiled::Bitcode(bitcode) = compiled else { return };
        let object = self.invocation.object_of(input);
        let written =
            bitcode_section([(input, bitcode)]).map_err(AppendError::Io).and_then(|data| {
                elf::append(&object, &[NewSection { name: BITCODE_SECTION, data: &data }])
            });
        if let Err(error) = written {
            self.warn_no_bitcode(&input.path, &format!("{}: {error}", object.display()));
        }
    }

    fn embed_in_program(&self, compiled: &[(&Input, Compiled)]) {
        let program = self.invocation.linked();
        if let Err(error) = self.append_to_program(&program, compiled) {
            self.say("warning", &format!("no recipe for {}: {error}", program.display()));
        }
    }

    fn append_to_program(
        &self,
        program: &Path,
        compiled: &[(&Input, Compiled)],
    ) -> Result<(), AppendError> {
        let recorded = link::record(self.language, &self.invocation, compiled)?;
        for path in &recorded.too_large {
            let text =
                format!("{} is too large to embed; variants will need it in place", path.display());
            self.say("note", &text);
        }
        let modules = compiled.iter().filter_map(|(input, compiled)| match compiled {
            Compiled::Bitcode(bitcode) => Some((*input, bitcode)),
            _ => None,
        });
        let bitcode = bitcode_section(modules)?;
        let link = recorded.section()?;
        let mut sections = vec![NewSection { name: LINK_SECTION, data: &link }];
        if !bitcode.is_empty() {
            sections.push(NewSection { name: BITCODE_SECTION, data: &bitcode });
        }
        elf::append(program, &sections)
    }

    fn warn_no_bitcode(&self, source: &Path, reason: &str) {
        self.say("warning", &format!("no bitcode for {}: {reason}", source.display()));
    }

    fn say(&self, severity: &str, text: &str) {
        eprintln!("{}: {severity}: {text}", self.language.command_name());
    }
}

/// Tells whether a file was written: a link such as `-Wl,--version` succeeds without writing one.
#[derive(PartialEq)]
struct Stamp(Option<(u64, i64, i64, u64)>);

impl Stamp {
    fn of(path: &Path) -> Stamp {
        let stamp = |data: Metadata| (data.ino(), data.mtime(), data.mtime_nsec(), data.len());
        Stamp(std::fs::metadata(path).ok().filter(Metadata::is_file).map(stamp))
    }
}

fn bitcode_section<'a>(
    modules: impl IntoIterator<Item = (&'a Input, &'a Bitcode)>,
) -> std::io::Result<Vec<u8>> {
    let mut section = Vec::new();
    for (input, bitcode) in modules {
        let name = input.path.to_string_lossy();
        frame::write(&mut section, Kind::Bitcode, &name, &bitcode.plain)?;
        if let Some(checked) = &bitcode.checked {
            frame::write(&mut section, Kind::Checked, &name, checked)?;
        }
    }
    Ok(section)
}

/// Link-time optimisation would replace native objects by bitcode that no linker can concatenate.
fn without_lto(words: &[OsString]) -> Vec<OsString> {
    const EXACT: &str =
        "-flto -ffat-lto-objects -fwhole-program-vtables -fvirtual-function-elimination";
    const PREFIXES: &str = "-flto= -flto- -fthinlto-index=";
    let is_lto = |word: &OsString| {
        let word = word.to_string_lossy();
        EXACT.split(' ').any(|exact| exact == word)
            || PREFIXES.split(' ').any(|prefix| word.starts_with(prefix))
    };
    words.iter().filter(|word| !is_lto(word)).cloned().collect()
}

fn exit_code(status: ExitStatus) -> i32 {
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0))
}
