//! From the program that the user names to one that runs under a search.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use compiler::{DeriveOptions, Surroundings, Variant, derive, with_models};
use runner::{Runner, Sandbox, TargetOptions, default_capacities};
use sites::{SiteTable, SourceTable};
use trace::Capacities;

use crate::counted::Counted;
use crate::plain::Plain;
use crate::sanitized::{Sanitized, Sanitizers};
use crate::traced::{derive_options, read_table, table_beside};
use crate::{RunnerExecutor, TargetError, Traced, find_program};

/// The program under test and how it is run.
#[derive(Clone, Debug)]
pub struct TargetSettings {
    /// The program and its arguments.
    pub command: Vec<OsString>,
    /// The same as the user knows them.
    pub shown: Vec<OsString>,
    /// Where input comes from, if that is not one place.
    pub surroundings: Option<Surroundings>,
    /// Limits of one run.
    pub timeout: Duration,
    pub memory: u64,
    pub sandbox: Sandbox,
    /// What the program may read beside its own files.
    pub read: Vec<PathBuf>,
    pub environment: Vec<(OsString, OsString)>,
    /// Functions that make tokens.
    pub lexers: Vec<String>,
    /// Files with functions that take the place of others.
    pub models: Vec<PathBuf>,
    /// Ends what is going on once it is set.
    pub stop: Option<&'static AtomicBool>,
}

/// A started target.
pub struct Target {
    pub executor: RunnerExecutor,
    pub sites: SiteTable,
    /// The command as the user gave it.
    pub command: String,
    /// What the user should know about how it runs.
    pub notes: Vec<String>,
    /// What stands in for functions, in words: `recv (server-models.c)`.
    pub models: Vec<String>,
    program: PathBuf,
    options: TargetOptions,
}

impl Target {
    pub fn start(settings: &TargetSettings, max_len: usize) -> Result<Target, TargetError> {
        let (program, arguments) = settings.command.split_first().ok_or(TargetError::NoProgram)?;
        let named = find_program(program)?;
        let Replaced { program, models, notes: replaced } =
            replace_functions(&named, &settings.models, settings.surroundings.as_ref())?;
        let traced = Traced::of(&program, &settings.lexers)?;
        let mut options = options(settings, arguments, &traced, max_len);
        options.show_files_of(&named);
        let untestable = |source| TargetError::Untestable { program: program.clone(), source };
        let runner = Runner::start(options.clone()).map_err(untestable)?;
        let executor = RunnerExecutor::new(runner, settings.timeout);
        let mut notes = sandbox_notes(&executor, settings.sandbox);
        notes.extend(left_out(Variant::Traced, &traced.left_out));
        notes.extend(replaced);
        let words: Vec<_> = settings.shown.iter().map(|word| word.to_string_lossy()).collect();
        let is_variant = traced.executable == program;
        let (sites, command) = (traced.sites, words.join(" "));
        let mut target = Target { executor, sites, command, notes, models, program, options };
        if !is_variant {
            target.add_plain();
        }
        Ok(target)
    }

    /// What the sandbox denies to the program on this input, in words; `None` if nothing.
    pub fn denied(&self, input: &[u8]) -> Option<String> {
        denied(TargetOptions { program: self.program.clone(), ..self.options.clone() }, input)
    }

    /// The covered variant, for when it is wanted.
    pub fn covered(&self) -> CoveredVariant {
        CoveredVariant { program: self.program.clone(), options: self.options.clone() }
    }

    /// Adds the sanitized variant. A program for which there is none is tested without.
    pub fn add_sanitized(&mut self, wanted: Sanitizers) {
        match Sanitized::start(&self.program, self.options.clone(), wanted) {
            Ok((sanitized, unchanged)) => {
                self.executor.add_sanitized(sanitized);
                self.notes.extend(left_out(Variant::Sanitized, &unchanged));
            }
            Err(error) => {
                let first = error.first_line();
                self.notes
                    .push(format!("no sanitizer reports: {first} (--sanitizer off silences this)"));
            }
        }
    }

    fn add_plain(&mut self) {
        match Plain::new(&self.program, self.options.clone()) {
            Ok(plain) => {
                self.executor.add_plain(plain);
                let (program, options) = (self.program.clone(), self.options.clone());
                self.executor.add_counted(Counted::new(program, options, self.sites.clone()));
            }
            Err(error) => {
                self.notes.push(format!("finds are not confirmed on the program itself: {error}"));
            }
        }
    }
}

/// What the sandbox denies to a program, in words; `None` if nothing.
pub(crate) fn denied(options: TargetOptions, input: &[u8]) -> Option<String> {
    const MAX_SHOWN: usize = 5;
    let denied = runner::denials(options, input).ok().filter(|denied| !denied.is_empty())?;
    let mut words: Vec<String> = denied.iter().take(MAX_SHOWN).map(ToString::to_string).collect();
    if denied.len() > MAX_SHOWN {
        words.push(format!("{} more", denied.len() - MAX_SHOWN));
    }
    let list = words.join(", ");
    Some(format!("the sandbox denies to the program: {list}; see --read, or --sandbox off"))
}

/// The covered variant of a target: not even derived yet.
pub struct CoveredVariant {
    program: PathBuf,
    options: TargetOptions,
}

impl CoveredVariant {
    /// The table of its lines, and what runs it.
    pub fn start(self) -> Result<(SourceTable, RunnerExecutor), TargetError> {
        let CoveredVariant { program, mut options } = self;
        let derived = derive(&program, Variant::Covered, &DeriveOptions::from_environment()?)?;
        let table: SourceTable = read_table(&derived.sites)?;
        options.program = derived.executable;
        let input = options.capacities.input;
        options.capacities = Capacities { input, ..default_capacities(table.coverage_len()) };
        let run_time = options.limits.run_time;
        let does_not_run = |source| TargetError::DoesNotRun { variant: Variant::Covered, source };
        let runner = Runner::start(options).map_err(does_not_run)?;
        Ok((table, RunnerExecutor::new(runner, run_time)))
    }
}

/// What those who wait for variants are told, once that takes a while.
#[derive(Clone, Copy, Debug)]
pub struct Preparation<'a> {
    /// The program that the user named.
    pub program: &'a Path,
    /// The variant that is there now; `None` if there is nothing new.
    pub variant: Option<Variant>,
    pub ready: usize,
    pub of: usize,
    pub time: Duration,
}

/// Preparation that takes no longer is not worth a word.
const SILENCE: Duration = Duration::from_secs(1);
/// After that something is said at least so often.
const SIGN_OF_LIFE: Duration = Duration::from_secs(10);

/// Derives variants side by side before they are needed, and tells about it once that takes a
/// while. What fails here fails again, with its message, where the variant is used.
pub fn prepare(settings: &TargetSettings, variants: &[Variant], tell: impl FnMut(Preparation<'_>)) {
    let named = settings.command.first().and_then(|name| find_program(name).ok());
    let Some(named) = named else { return };
    let surroundings = settings.surroundings.as_ref();
    let replaced = replace_functions(&named, &settings.models, surroundings);
    let Ok(Replaced { program, .. }) = replaced else { return };
    let Ok(options) = derive_options(&settings.lexers) else { return };
    let (done, wait) = std::sync::mpsc::channel::<Variant>();
    std::thread::scope(|scope| {
        for &variant in variants {
            let (done, program, options) = (done.clone(), &program, &options);
            scope.spawn(move || {
                if derive(program, variant, options).is_ok() {
                    let _ = done.send(variant);
                }
            });
        }
        drop(done);
        await_variants(&wait, (&named, variants.len()), tell);
    });
}

fn await_variants(
    wait: &Receiver<Variant>,
    (program, of): (&Path, usize),
    mut tell: impl FnMut(Preparation<'_>),
) {
    let started = Instant::now();
    let (mut ready, mut told) = (0, None);
    loop {
        let next = told.map_or(SILENCE, |told| told + SIGN_OF_LIFE);
        let news = wait.recv_timeout(next.saturating_sub(started.elapsed()));
        ready += usize::from(news.is_ok());
        let time = started.elapsed();
        match news {
            Err(RecvTimeoutError::Disconnected) => return,
            Ok(_) if told.is_none() => continue,
            Ok(_) | Err(RecvTimeoutError::Timeout) => told = Some(time),
        }
        tell(Preparation { program, variant: news.ok(), ready, of, time });
    }
}

/// The program that is tested: the one that the user named, or that with models in it.
pub struct Replaced {
    pub program: PathBuf,
    /// What stands in for functions, in words.
    pub models: Vec<String>,
    /// What the user should know about that.
    pub notes: Vec<String>,
}

/// Puts functions of `models` in the place of others in `program`, and code between it and its
/// surroundings.
pub fn replace_functions(
    program: &Path,
    models: &[PathBuf],
    surroundings: Option<&Surroundings>,
) -> Result<Replaced, TargetError> {
    if models.is_empty() && surroundings.is_none() {
        let (models, notes) = (Vec::new(), Vec::new());
        return Ok(Replaced { program: program.to_owned(), models, notes });
    }
    if table_beside(program).is_some() {
        return Err(TargetError::ModelOfVariant { program: program.to_owned() });
    }
    let modelled = with_models(program, models, surroundings, &DeriveOptions::from_environment()?)?;
    let words = |(name, file): &(String, PathBuf)| format!("{name} ({})", file.display());
    let models = modelled.replaced.iter().map(words).collect();
    Ok(Replaced { program: modelled.program, models, notes: modelled.notes })
}

fn options(
    settings: &TargetSettings,
    arguments: &[OsString],
    traced: &Traced,
    max_len: usize,
) -> TargetOptions {
    let mut options = traced.options(Vec::new(), settings.timeout);
    settle(&mut options, settings, arguments);
    options.capacities.input = options.capacities.input.max(max_len as u64);
    options
}

/// What the user says about how the program runs, in all its variants.
pub(crate) fn settle(
    options: &mut TargetOptions,
    settings: &TargetSettings,
    arguments: &[OsString],
) {
    options.arguments = arguments.iter().map(|argument| absolute_file(argument)).collect();
    options.environment = settings.environment.clone();
    options.readable = settings.read.clone();
    options.sandbox = settings.sandbox;
    options.limits.memory = settings.memory;
    options.stop = settings.stop;
}

/// The program runs in a directory of its own, so an argument that names a file from here gets its
/// full path. A directory does only if it is written like one: `.` can mean anything.
pub(crate) fn absolute_file(argument: &OsStr) -> OsString {
    match is_file_here(argument) {
        true => std::path::absolute(argument)
            .map_or_else(|_| argument.to_owned(), PathBuf::into_os_string),
        false => argument.to_owned(),
    }
}

pub(crate) fn is_file_here(argument: &OsStr) -> bool {
    let path = Path::new(argument);
    let is_path = path.is_file() || path.is_dir() && argument.as_encoded_bytes().contains(&b'/');
    path.is_relative() && is_path
}

/// Of which source files there is no variant.
pub fn left_out(variant: Variant, files: &[String]) -> Vec<String> {
    let variant = variant.name();
    files.iter().map(|file| format!("not {variant}, so it runs unchanged: {file}")).collect()
}

/// What the sandbox does not do, because it is off or because the kernel does not offer it.
fn sandbox_notes(executor: &RunnerExecutor, sandbox: Sandbox) -> Vec<String> {
    let why = match sandbox {
        Sandbox::On => "sandbox incomplete",
        Sandbox::Off => "sandbox off",
    };
    executor.sandbox().missing.iter().map(|missing| format!("{why}: {missing}")).collect()
}
