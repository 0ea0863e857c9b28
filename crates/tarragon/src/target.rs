//! From the program that the user names to one that runs under the search.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail, ensure};
use campaign::{Covered, MakeCovered};
use compiler::payload::Payload;
use compiler::{DeriveOptions, Derived, Variant, derive};
use runner::{
    Limits, Runner, SANITIZER_OPTIONS, Sandbox, TargetOptions, UNDEFINED_OPTIONS, default_capacities,
};
use serde::de::DeserializeOwned;
use sites::{SiteTable, SourceTable};
use trace::Capacities;

use crate::args::{SanitizerName, Switch, TargetArgs};
use crate::executor::{RunnerExecutor, Sanitized};
use crate::loops::Loops;
use crate::plain::Plain;

/// A started target.
pub(crate) struct Target {
    pub executor: RunnerExecutor,
    pub sites: SiteTable,
    /// The command as the user gave it.
    pub command: String,
    /// What the user should know about how it runs.
    pub notes: Vec<String>,
    program: PathBuf,
    options: TargetOptions,
}

impl Target {
    pub(crate) fn start(args: &TargetArgs, max_len: usize) -> Result<Target> {
        let Some((program, arguments)) = args.command.split_first() else {
            bail!("no program was named after --")
        };
        let program = find_program(program)?;
        let derived = traced_variant(&program, &args.lexers)?;
        let sites: SiteTable = read_table(&derived.sites)?;
        let mut options = options(args, arguments, &derived.executable, &sites, max_len);
        options.show_files_of(&program);
        let traced = Runner::start(options.clone())
            .with_context(|| format!("{} cannot be tested; its traced variant", program.display()))?;
        let mut notes = notes(&traced, args.sandbox);
        notes.extend(left_out(Variant::Traced, &derived.left_out));
        let words: Vec<_> = args.command.iter().map(|word| word.to_string_lossy()).collect();
        let mut executor = RunnerExecutor::new(traced, args.timeout);
        if derived.executable != program {
            match Plain::new(&program, options.clone()) {
                Ok(plain) => executor.plain = Some(plain),
                Err(error) => {
                    notes.push(format!("finds are not confirmed on the program itself: {error}"));
                }
            }
        }
        Ok(Target { executor, sites, command: words.join(" "), notes, program, options })
    }

    /// What the sandbox denies to the program on this input, in words; `None` if nothing.
    pub(crate) fn denied(&self, input: &[u8]) -> Option<String> {
        const MOST: usize = 5;
        let options = TargetOptions { program: self.program.clone(), ..self.options.clone() };
        let denied = runner::denials(options, input).ok().filter(|denied| !denied.is_empty())?;
        let mut words: Vec<String> = denied.iter().take(MOST).map(ToString::to_string).collect();
        if denied.len() > MOST {
            words.push(format!("{} more", denied.len() - MOST));
        }
        let list = words.join(", ");
        Some(format!("the sandbox denies to the program: {list}; see --read, or --sandbox off"))
    }

    /// What makes the covered variant, for when it is wanted.
    pub(crate) fn covered(&self) -> MakeCovered<'static> {
        let (program, options) = (self.program.clone(), self.options.clone());
        Box::new(move || covered(&program, options).map_err(|error| first_line(&error)))
    }

    /// Adds the sanitized variant, unless it is off. A program for which there is none is tested without.
    pub(crate) fn add_sanitizer(&mut self, wanted: &[SanitizerName]) {
        if wanted.contains(&SanitizerName::Off) {
            return;
        }
        match sanitized(&self.program, self.options.clone(), wanted) {
            Ok((sanitized, unchanged)) => {
                self.executor.add_sanitized(sanitized);
                self.notes.extend(left_out(Variant::Sanitized, &unchanged));
            }
            Err(error) => {
                let first = first_line(&error);
                self.notes.push(format!("no sanitizer reports: {first} (--sanitizer off silences this)"));
            }
        }
    }
}

/// Derives variants side by side before they are needed, and says so once that takes a while. What fails here fails again,
/// with its message, where the variant is used.
pub(crate) fn prepare(args: &TargetArgs, variants: &[Variant], quiet: bool) {
    let Some(program) = args.command.first().and_then(|name| find_program(name).ok()) else { return };
    let Ok(options) = derive_options(&args.lexers) else { return };
    let (done, wait) = std::sync::mpsc::channel::<()>();
    std::thread::scope(|scope| {
        for &variant in variants {
            let (done, program, options) = (done.clone(), &program, &options);
            scope.spawn(move || {
                let _ = derive(program, variant, options);
                drop(done);
            });
        }
        drop(done);
        let late = wait.recv_timeout(Duration::from_secs(1)) == Err(RecvTimeoutError::Timeout);
        if late && !quiet {
            eprintln!("preparing {} (only once for each build) ...", program.display());
        }
    });
}

fn first_line(error: &anyhow::Error) -> String {
    format!("{error:#}").lines().next().unwrap_or_default().to_owned()
}

fn covered(program: &Path, mut options: TargetOptions) -> Result<Covered> {
    let derived = derive(program, Variant::Covered, &DeriveOptions::from_environment()?)?;
    let table: SourceTable = read_table(&derived.sites)?;
    options.program = derived.executable;
    let input = options.capacities.input;
    options.capacities = Capacities { input, ..default_capacities(table.coverage_len()) };
    let run_time = options.limits.run_time;
    let runner = Runner::start(options).context("the covered variant does not run")?;
    Ok(Covered { table, executor: Box::new(RunnerExecutor::new(runner, run_time)) })
}

/// How many times as long as the traced variant the sanitized one may run.
pub(crate) const PATIENCE: u32 = 4;

/// Bytes of what the sanitizers say about a run. Each place is reported once, so that this is a lot.
const MOST_REPORTED: u64 = 1 << 20;

/// The variant, and what it has unchanged.
fn sanitized(
    program: &Path,
    mut options: TargetOptions,
    wanted: &[SanitizerName],
) -> Result<(Sanitized, Vec<String>)> {
    let run_time = options.limits.run_time;
    let derived = derive(program, Variant::Sanitized, &DeriveOptions::from_environment()?)?;
    let (name, value) = SANITIZER_OPTIONS;
    options.program = derived.executable;
    let leaks = wanted.contains(&SanitizerName::Leak);
    options.environment.push((name.into(), format!("{value}:detect_leaks={}", u8::from(leaks)).into()));
    let undefined = wanted.contains(&SanitizerName::Undefined);
    let (name, value) = UNDEFINED_OPTIONS;
    options.environment.push((name.into(), value.into()));
    if undefined {
        options.environment.push(("TARRAGON_UNDEFINED".into(), "1".into()));
    }
    options.may_trace_itself = leaks;
    options.limits.run_time *= PATIENCE;
    // The sanitizer reserves more address space than any limit would leave.
    options.limits.address_space_allowance = None;
    options.capacities =
        Capacities { events: 1, nodes: 1, tables: 1, data: MOST_REPORTED, ..options.capacities };
    let runner = Runner::start(options.clone()).context("the sanitized variant does not run")?;
    let loops = Loops::new(options, run_time)?;
    Ok((Sanitized::new(runner, undefined, loops), derived.left_out))
}

fn options(
    args: &TargetArgs,
    arguments: &[OsString],
    executable: &Path,
    sites: &SiteTable,
    max_len: usize,
) -> TargetOptions {
    let mut options = TargetOptions::new(executable);
    options.arguments = arguments.iter().map(|argument| absolute_file(argument)).collect();
    options.environment = args.env.clone();
    options.readable = args.read.clone();
    options.sandbox = match args.sandbox {
        Switch::On => Sandbox::On,
        Switch::Off => Sandbox::Off,
    };
    options.limits = Limits { run_time: args.timeout, memory: args.memory, ..Limits::default() };
    options.capacities = default_capacities(sites.outcomes);
    options.capacities.input = options.capacities.input.max(max_len as u64);
    options
}

/// The program runs in a directory of its own, so an argument that names a file from here gets its full path. A directory
/// does only if it is written like one: `.` can mean anything.
fn absolute_file(argument: &OsStr) -> OsString {
    let path = Path::new(argument);
    let is_path = path.is_file() || path.is_dir() && argument.as_encoded_bytes().contains(&b'/');
    if path.is_relative() && is_path {
        return std::path::absolute(path).map_or_else(|_| argument.to_owned(), PathBuf::into_os_string);
    }
    argument.to_owned()
}

/// The file that the user means: a path, or a name that is found in `PATH`.
pub(crate) fn find_program(name: &OsStr) -> Result<PathBuf> {
    let path = PathBuf::from(name);
    let found = if path.exists() || path.components().count() > 1 { path } else { in_search_path(&path)? };
    let metadata = fs::metadata(&found).map_err(|error| unusable(&found, &error))?;
    if !metadata.is_file() {
        bail!("{}: is not a program", found.display());
    }
    File::open(&found).map_err(|error| unusable(&found, &error))?;
    Ok(found)
}

fn unusable(program: &Path, error: &io::Error) -> anyhow::Error {
    let program = program.display();
    match error.kind() {
        io::ErrorKind::NotFound => anyhow!("{program}: there is no such program"),
        io::ErrorKind::PermissionDenied => anyhow!("{program}: no permission to read the program"),
        _ => anyhow!("{program}: cannot be used as the program: {error}"),
    }
}

fn in_search_path(name: &Path) -> Result<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let candidates = std::env::split_paths(&path).map(|dir| dir.join(name));
    let found = candidates.into_iter().find(|candidate| candidate.is_file());
    found.with_context(|| format!("{}: there is no such program here or in PATH", name.display()))
}

/// Derives the traced variant, unless the program is one already: a site table lies beside it then. The payload is
/// looked for first, because a program that was not built with Tarragon is the likelier mistake.
fn traced_variant(program: &Path, lexers: &[String]) -> Result<Derived> {
    let mut sites = program.as_os_str().to_owned();
    sites.push(".sites.json");
    let sites = PathBuf::from(sites);
    if sites.is_file() {
        ensure!(lexers.is_empty(), "{}: --lexer needs the program itself, not a variant", program.display());
        return Ok(Derived { executable: program.to_owned(), sites, left_out: Vec::new() });
    }
    Payload::read(program)?;
    Ok(derive(program, Variant::Traced, &derive_options(lexers)?)?)
}

fn derive_options(lexers: &[String]) -> Result<DeriveOptions> {
    Ok(DeriveOptions { lexers: lexers.to_vec(), ..DeriveOptions::from_environment()? })
}

fn read_table<T: DeserializeOwned>(path: &Path) -> Result<T> {
    let text = fs::read(path).with_context(|| format!("{}: cannot read the site table", path.display()))?;
    serde_json::from_slice(&text).with_context(|| format!("{}: not a site table", path.display()))
}

/// Of which source files there is no variant.
pub(crate) fn left_out(variant: Variant, files: &[String]) -> Vec<String> {
    let variant = variant.name();
    files.iter().map(|file| format!("not {variant}, so it runs unchanged: {file}")).collect()
}

/// What the sandbox does not do, because it is off or because the kernel does not offer it.
fn notes(runner: &Runner, sandbox: Switch) -> Vec<String> {
    let why = match sandbox {
        Switch::On => "sandbox incomplete",
        Switch::Off => "sandbox off",
    };
    runner.sandbox().missing.iter().map(|missing| format!("{why}: {missing}")).collect()
}
