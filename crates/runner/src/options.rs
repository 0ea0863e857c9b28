//! What to run and within which limits.

use crate::error::RunnerError;
use crate::sandbox::is_wide;
use crate::words;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use trace::Capacities;

/// Stands for the path of the input file in a target's arguments. Without it the input comes on
/// stdin.
pub const INPUT_PLACEHOLDER: &str = "@@";

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// A target and how to run it.
#[derive(Clone, Debug)]
pub struct TargetOptions {
    /// Path of the executable; a name without a slash is searched for in `PATH`.
    pub program: PathBuf,
    /// Arguments after the program's name. [`INPUT_PLACEHOLDER`], also inside an argument, becomes
    /// the path of a file with the input; the placeholders of [`trace::words`] become the input
    /// itself.
    pub arguments: Vec<OsString>,
    /// Variables to set on top of those that every target gets, in a sandbox a few harmless ones of
    /// the driver's, otherwise all of them; their values may be the input, too. The arguments take
    /// the first pieces of the input, then the variables in the order of their names.
    pub environment: Vec<(OsString, OsString)>,
    pub sandbox: Sandbox,
    /// Files and directories that a target in a sandbox may read beside its program, its libraries,
    /// what its words name, and the harmless part of the system.
    pub readable: Vec<PathBuf>,
    pub limits: Limits,
    pub working_directory: WorkingDirectory,
    /// Keep what the target prints on stdout (up to the file size limit) instead of dropping it.
    pub capture_stdout: bool,
    /// Keep the files that a plain program leaves in its scratch directory.
    pub capture_files: bool,
    /// Sizes of the trace; see [`default_capacities`].
    pub capacities: Capacities,
    /// How long a target may take to reach `main`.
    pub start_timeout: Duration,
    /// Let the target use `ptrace`, within its own namespace, as LeakSanitizer does.
    pub may_trace_itself: bool,
    /// Once this is set, runs that go on are ended, and no more begin.
    pub stop: Option<&'static AtomicBool>,
}

impl TargetOptions {
    pub fn new(program: impl Into<PathBuf>) -> TargetOptions {
        TargetOptions {
            program: program.into(),
            arguments: Vec::new(),
            environment: Vec::new(),
            sandbox: Sandbox::On,
            readable: Vec::new(),
            limits: Limits::default(),
            working_directory: WorkingDirectory::Scratch,
            capture_stdout: false,
            capture_files: false,
            capacities: default_capacities(0),
            start_timeout: Duration::from_secs(10),
            may_trace_itself: false,
            stop: None,
        }
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed))
    }

    /// An error if no run may begin or go on.
    pub(crate) fn check_stop(&self) -> Result<(), RunnerError> {
        if self.is_stopped() { Err(RunnerError::Interrupted) } else { Ok(()) }
    }

    /// Lets the target read what lies beside `program`, from which it was made, and in the present
    /// directory, unless that is a home directory or the like.
    pub fn show_files_of(&mut self, program: &Path) {
        let program = std::path::absolute(program).unwrap_or_else(|_| program.to_owned());
        let beside = program.parent().map(Path::to_owned);
        let directories = beside.into_iter().chain(std::env::current_dir());
        self.readable.extend(directories.filter(|directory| !is_wide(directory)));
        self.readable.push(program);
    }

    /// Whether the input goes into a file that the arguments name.
    pub fn input_in_file(&self) -> bool {
        let placeholder = INPUT_PLACEHOLDER.as_bytes();
        self.arguments
            .iter()
            .any(|a| memchr::memmem::find(a.as_encoded_bytes(), placeholder).is_some())
    }

    /// Whether the input goes into arguments or environment variables.
    pub fn input_in_words(&self) -> bool {
        let values = self.environment.iter().map(|(_, value)| value);
        self.arguments.iter().chain(values).any(|word| words::waits(word))
    }
}

/// Sizes for programs with `outcomes` branch outcomes. The memory is sparse: what is not used costs
/// nothing. Coverage is whole pages, because targets map it over a variable of their own.
pub fn default_capacities(outcomes: u32) -> Capacities {
    Capacities {
        input: MIB,
        coverage: u64::from(outcomes).max(16 * KIB).next_multiple_of(4 * KIB),
        events: 4 * MIB,
        nodes: 8 * MIB,
        tables: 64 * KIB,
        data: 64 * MIB,
    }
}

/// Whether a target is confined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sandbox {
    /// Everything that the kernel offers; [`SandboxReport`](crate::SandboxReport) says what that
    /// is.
    #[default]
    On,
    /// The target can do what the user can: use the network, write and delete any file of the
    /// user's, signal other processes. Limits of time, memory and file size hold, and child
    /// processes are still ended after each run, but a child that takes pains to hide may survive.
    Off,
}

/// Limits of one run.
#[derive(Clone, Debug)]
pub struct Limits {
    pub run_time: Duration,
    /// Processor time, of targets with a fork server only; `None` sets no limit. A run that reaches
    /// it ends as at `run_time`.
    pub cpu_time: Option<Duration>,
    /// Memory of each process of the run in bytes.
    pub memory: u64,
    /// Address space beyond `memory` for what is reserved but never filled: the runtime's shadow.
    /// `None` sets no limit on memory at all, which builds with AddressSanitizer need.
    pub address_space_allowance: Option<u64>,
    /// Size of each file that is written, captured output included.
    pub file_size: u64,
    /// Size of all files in the scratch directory together (where a tmpfs can be mounted there).
    pub scratch_size: u64,
    /// Processes and threads that exist at once.
    pub processes: u32,
    pub open_files: u32,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            run_time: Duration::from_secs(1),
            cpu_time: None,
            memory: 2 * GIB,
            address_space_allowance: Some(trace::RESERVED_ADDRESS_SPACE),
            file_size: 16 * MIB,
            scratch_size: 64 * MIB,
            processes: 64,
            open_files: 512,
        }
    }
}

/// Where a target runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum WorkingDirectory {
    /// In its scratch directory, which is empty at the start of each run. Relative paths in the
    /// arguments do not lead to the user's files then.
    #[default]
    Scratch,
    /// Where the driver runs.
    Keep,
    At(PathBuf),
}
