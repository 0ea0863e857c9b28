//! Builds the harness as a user would: with Tarragon's own compiler.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use compiler::DeriveOptions;
use unit::{Function, Harness, Origin};

use super::UnitArgs;
use super::code::Code;

pub(crate) struct Built {
    pub harness: Harness,
    pub program: PathBuf,
    /// The length of the input.
    pub tape: u64,
}

impl Built {
    pub fn new(args: &UnitArgs, code: &Code, mut harness: Harness) -> Result<Built> {
        std::fs::create_dir_all(&args.out)
            .with_context(|| format!("{}: cannot be made", args.out.display()))?;
        let out = args.out.canonicalize()?;
        let program = out.join("harness");
        let named = named(args, &harness);
        if code.is_linked || needs_opening(code, &named) {
            let base = match code.is_linked {
                true => code.files[0].clone(),
                false => link(args, code, &mut harness, &out.join("linked"))?,
            };
            replace_main(&base, code, &harness, &named, &program)?;
            let tape = harness.tape(&code.program);
            return Ok(Built { harness, program, tape });
        }
        let missing = compile(args, code, &harness, &program)?;
        if !missing.is_empty() {
            harness.stubs = stubs(args, code, &missing)?;
            let still = compile(args, code, &harness, &program)?;
            if !still.is_empty() {
                bail!("these functions have no body: {}", list(&still));
            }
        }
        let tape = harness.tape(&code.program);
        Ok(Built { harness, program, tape })
    }
}

/// All that the user names in the program.
fn named(args: &UnitArgs, harness: &Harness) -> Vec<String> {
    let functions = harness.subjects.iter().map(|subject| &subject.function.name);
    let others = harness.subjects.iter().filter_map(|subject| subject.against.as_ref());
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let conditions = args.assume.iter().chain(&args.check);
    let words = conditions.flat_map(|condition| condition.split(|c| !is_word(c)));
    let words = words.filter(|word| word.starts_with(|c: char| !c.is_ascii_digit()));
    let named = functions.chain(others).chain(&args.globals).map(String::as_str).chain(words);
    named.map(str::to_owned).collect::<BTreeSet<_>>().into_iter().collect()
}

/// Whether no other object could link what the harness names.
fn needs_opening(code: &Code, named: &[String]) -> bool {
    let is_object = matches!(code.origin, Origin::Objects);
    is_object && (code.has_main() || named.iter().any(|name| code.is_static(name)))
}

/// A program of the objects, in which a harness can take the place of `main`.
fn link(args: &UnitArgs, code: &Code, harness: &mut Harness, base: &Path) -> Result<PathBuf> {
    let missing = link_with(args, code, base, &[])?;
    if !missing.is_empty() {
        harness.stubs = stubs(args, code, &missing)?;
        link_with(args, code, base, &["-Wl,--unresolved-symbols=ignore-all"])?;
    }
    Ok(base.to_owned())
}

/// All of an archive is linked: what is static there is asked for by no other file.
fn link_with(args: &UnitArgs, code: &Code, base: &Path, more: &[&str]) -> Result<BTreeSet<String>> {
    let main = base.with_extension("c");
    std::fs::write(&main, if code.has_main() { "" } else { "int main(void) { return 0; }\n" })
        .with_context(|| format!("{}: cannot be written", main.display()))?;
    let mut words: Vec<OsString> = more.iter().map(OsString::from).collect();
    words.extend(args.options.iter().cloned());
    words.extend([main.into(), "-Wl,--whole-archive".into()]);
    words.extend(code.files.iter().map(OsString::from));
    words.push("-Wl,--no-whole-archive".into());
    run_compiler(args, words, base)
}

/// The program with the harness for its `main`.
fn replace_main(
    base: &Path,
    code: &Code,
    harness: &Harness,
    opened: &[String],
    program: &Path,
) -> Result<()> {
    let source = write(code, harness, program)?;
    let options = DeriveOptions::from_environment()?;
    std::fs::copy(compiler::with_entry(base, &source, opened, &options)?, program)?;
    Ok(())
}

fn write(code: &Code, harness: &Harness, program: &Path) -> Result<PathBuf> {
    let source = program.with_file_name(unit::FILE);
    std::fs::write(&source, harness.text(&code.program))
        .with_context(|| format!("{}: cannot be written", source.display()))?;
    Ok(source)
}

/// Names without a definition.
fn compile(
    args: &UnitArgs,
    code: &Code,
    harness: &Harness,
    program: &Path,
) -> Result<BTreeSet<String>> {
    let source = write(code, harness, program)?;
    let mut words: Vec<OsString> = args.options.clone();
    words.push(source.into());
    if let Origin::Objects = harness.origin {
        words.extend(code.files.iter().map(OsString::from));
    }
    run_compiler(args, words, program)
}

/// Names without a definition; an error where anything else is wrong.
fn run_compiler(args: &UnitArgs, more: Vec<OsString>, program: &Path) -> Result<BTreeSet<String>> {
    let mut words: Vec<OsString> = vec!["cc".into(), "-g".into(), "-w".into(), "-o".into()];
    words.push(program.into());
    words.extend(more);
    words.push("-lm".into());
    let output = Command::new(std::env::current_exe()?)
        .args(words)
        .output()
        .context("the compiler cannot be started")?;
    let text = String::from_utf8_lossy(&output.stderr);
    let missing = undefined(&text);
    if !output.status.success() && missing.is_empty() {
        let conditions: Vec<&str> =
            args.assume.iter().chain(&args.check).map(String::as_str).collect();
        let conditions = match conditions.is_empty() {
            true => String::new(),
            false => format!(" (are these conditions right C? {})", conditions.join("; ")),
        };
        bail!("the harness does not compile{conditions}:\n{}", text.trim_end());
    }
    Ok(missing)
}

/// What linkers say of names that nobody defines.
fn undefined(text: &str) -> BTreeSet<String> {
    let name = |line: &str| {
        let (_, gnu) = line.split_once("undefined reference to `").unwrap_or_default();
        let (_, lld) = line.split_once("undefined symbol: ").unwrap_or_default();
        let name = if gnu.is_empty() { lld } else { gnu.split('\'').next().unwrap_or_default() };
        Some(name.trim().to_owned()).filter(|name| !name.is_empty())
    };
    text.lines().filter_map(name).collect()
}

fn stubs(args: &UnitArgs, code: &Code, missing: &BTreeSet<String>) -> Result<Vec<Function>> {
    if !args.stub_externals {
        bail!(
            "these functions have no body: {}; add sources or libraries after --, or let them \
             return any value with --stub-externals",
            list(missing)
        );
    }
    let (known, unknown): (BTreeSet<_>, BTreeSet<_>) =
        missing.iter().cloned().partition(|name| code.program.function(name).is_some());
    if !unknown.is_empty() {
        bail!(
            "the code calls no functions of these names, so that they cannot be stubs; they may be \
             variables: {}; add the sources that define them after --",
            list(&unknown)
        );
    }
    Ok(known.iter().filter_map(|name| code.program.function(name)).cloned().collect())
}

fn list(names: &BTreeSet<String>) -> String {
    names.iter().map(String::as_str).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_names_are_read_from_what_linkers_say() {
        let gnu = "/usr/bin/ld: x.o: in function `f':\nx.c:3:(.text+0x7): undefined reference to \
                   `poll_it'\n";
        let lld = "ld.lld: error: undefined symbol: send_it\n>>> referenced by x.c:3\n";
        assert_eq!(undefined(gnu), BTreeSet::from(["poll_it".to_owned()]));
        assert_eq!(undefined(lld), BTreeSet::from(["send_it".to_owned()]));
        assert_eq!(undefined("x.c:1:1: error: expected identifier"), BTreeSet::new());
    }
}
