//! Everything that a child needs, made ready in the driver so that the child need not allocate.

use crate::error::RunnerError;
use crate::options::{INPUT_PLACEHOLDER, Sandbox, TargetOptions, WorkingDirectory};
use crate::sandbox::{self, FileRules, Filters};
use crate::words::Pieces;
use rustix::io::fcntl_dupfd_cloexec;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{CString, OsStr, OsString};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// What to start, and with which files.
pub(crate) struct Launch<'a> {
    pub target: &'a TargetOptions,
    /// Absolute path of the program.
    pub program: &'a Path,
    /// The input file.
    pub input: &'a Path,
    pub scratch: &'a Path,
    /// What the target may read.
    pub visible: &'a [PathBuf],
    /// `/dev/null` if there is none.
    pub stdout: Option<BorrowedFd<'a>>,
    pub stderr: BorrowedFd<'a>,
    pub pipes: Pipes<'a>,
    pub supervision: Supervision<'a>,
}

/// The child's ends of the pipes to the driver.
pub(crate) struct Pipes<'a> {
    pub commands: BorrowedFd<'a>,
    pub reports: BorrowedFd<'a>,
}

/// Who waits for a run.
#[derive(Clone, Copy)]
pub(crate) enum Supervision<'a> {
    /// The fork server inside the target, which shares a segment of `size` bytes with the driver.
    ByTarget { segment: BorrowedFd<'a>, size: u64 },
    /// The launched child itself; the program is a child of that.
    ByLauncher { timeout_ms: u32 },
    /// The same, which follows the program's system calls and tells of those that are denied.
    Watched { timeout_ms: u32 },
}

impl Launch<'_> {
    pub fn cannot_execute(&self, error: std::io::Error) -> RunnerError {
        RunnerError::CannotExecute { program: self.program.to_owned(), error }
    }
}

/// Which namespaces to ask for, from the best to none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Namespaces {
    /// What every user may have, where the administrator has not forbidden it.
    WithUser,
    /// Where user namespaces are forbidden but the driver is privileged.
    AsRoot,
    None,
}

impl Namespaces {
    pub fn clone_flags(self) -> i32 {
        let own = libc::CLONE_NEWPID | libc::CLONE_NEWNET | libc::CLONE_NEWIPC | libc::CLONE_NEWNS;
        match self {
            Namespaces::WithUser => own | libc::CLONE_NEWUSER,
            Namespaces::AsRoot => own,
            Namespaces::None => 0,
        }
    }
}

pub(crate) struct Plan {
    pub program: CString,
    pub arguments: StringArray,
    pub environment: StringArray,
    pub stdin: CString,
    pub directory: Option<CString>,
    pub scratch: CString,
    /// Options of the tmpfs on the scratch directory.
    pub scratch_options: CString,
    pub stdout: Option<OwnedFd>,
    pub stderr: OwnedFd,
    pub segment: Option<OwnedFd>,
    pub commands: OwnedFd,
    pub reports: OwnedFd,
    pub status: OwnedFd,
    pub sandboxed: bool,
    pub namespaces: Namespaces,
    /// Content of `uid_map` and `gid_map`.
    pub users: (CString, CString),
    pub process_limit: ProcessLimit,
    pub file_rules: Option<FileRules>,
    /// What stays in `/tmp` and `/dev/shm` when an empty directory takes their place.
    pub exposed: Exposed,
    /// Whether that directory is also `/var/tmp` and `/dev/shm`.
    pub var_tmp: bool,
    pub shm: bool,
    pub filters: Option<Filters>,
    /// Resource and value.
    pub limits: Vec<(u32, u64)>,
    /// Set if the launched child is to wait for the program.
    pub supervise_ms: Option<u32>,
    pub watches: bool,
}

impl Plan {
    pub fn new(
        request: &Launch<'_>,
        namespaces: Namespaces,
        status: OwnedFd,
    ) -> Result<Plan, RunnerError> {
        let target = request.target;
        let sandboxed = target.sandbox == Sandbox::On;
        let (segment, supervise_ms) = match request.supervision {
            Supervision::ByTarget { segment, .. } => (Some(out_of_the_way(segment)?), None),
            Supervision::ByLauncher { timeout_ms } | Supervision::Watched { timeout_ms } => {
                (None, Some(timeout_ms))
            }
        };
        let elsewhere = target.input_in_file() || target.input_in_words();
        let stdin = if elsewhere { Path::new("/dev/null") } else { request.input };
        let (arguments, environment) = words(request)?;
        let process_limit = ProcessLimit::choose(namespaces, target.limits.processes);
        Ok(Plan {
            program: c_string(request.program)?,
            arguments: StringArray::new(arguments)?,
            environment: StringArray::new(environment)?,
            stdin: c_string(stdin)?,
            directory: directory(request)?,
            scratch: c_string(request.scratch)?,
            scratch_options: c_string(format!(
                "size={},nr_inodes=4096,mode=700",
                target.limits.scratch_size
            ))?,
            stdout: request.stdout.map(out_of_the_way).transpose()?,
            stderr: out_of_the_way(request.stderr)?,
            segment,
            commands: out_of_the_way(request.pipes.commands)?,
            reports: out_of_the_way(request.pipes.reports)?,
            status: out_of_the_way(status.as_fd())?,
            sandboxed,
            namespaces,
            users: id_maps()?,
            file_rules: if sandboxed { FileRules::create(request.visible) } else { None },
            exposed: Exposed::of(needed(request))?,
            var_tmp: !is_needed(request, VAR_TMP) && Path::new(VAR_TMP).is_dir(),
            shm: Path::new(SHM).is_dir(),
            filters: if sandboxed { Filters::compile(target.may_trace_itself) } else { None },
            limits: limits(request, &process_limit),
            process_limit,
            supervise_ms,
            watches: matches!(request.supervision, Supervision::Watched { .. }),
        })
    }
}

/// Strings as `execve` takes them: pointers to each, then null.
pub(crate) struct StringArray {
    pointers: Vec<*const libc::c_char>,
    _strings: Vec<CString>,
}

impl StringArray {
    fn new(strings: Vec<OsString>) -> Result<StringArray, RunnerError> {
        let strings = strings.into_iter().map(c_string).collect::<Result<Vec<_>, _>>()?;
        let pointers = strings.iter().map(|s| s.as_ptr()).chain([std::ptr::null()]).collect();
        Ok(StringArray { pointers, _strings: strings })
    }

    pub fn as_ptr(&self) -> *const *const libc::c_char {
        self.pointers.as_ptr()
    }
}

/// How the number of processes is limited.
pub(crate) enum ProcessLimit {
    /// `RLIMIT_NPROC`, which a user namespace counts by itself.
    Resource(u64),
    /// The limit does not hold for root; but since Linux 6.14 each pid namespace has a `pid_max` of
    /// its own.
    PidMax(CString),
    None,
}

impl ProcessLimit {
    fn choose(namespaces: Namespaces, processes: u32) -> ProcessLimit {
        /// The kernel never gives pids below this to later processes, and takes no smaller maximum.
        const RESERVED_PIDS: u32 = 300;
        let is_root = rustix::process::geteuid().is_root();
        let pid_max = format!("{}", RESERVED_PIDS.saturating_add(processes.max(2)));
        match namespaces {
            Namespaces::WithUser if !is_root => ProcessLimit::Resource(u64::from(processes) + 1),
            // On older kernels the same file is the limit of the whole machine.
            Namespaces::WithUser | Namespaces::AsRoot if is_root && kernel_is_at_least(6, 14) => {
                CString::new(pid_max).map_or(ProcessLimit::None, ProcessLimit::PidMax)
            }
            _ => ProcessLimit::None,
        }
    }
}

fn kernel_is_at_least(major: u32, minor: u32) -> bool {
    let release = rustix::system::uname().release().to_string_lossy().into_owned();
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(|n| n.parse().unwrap_or(0));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)) >= (major, minor)
}

/// The program's arguments and environment. The input is put into them here unless a fork server
/// does that.
fn words(request: &Launch<'_>) -> Result<(Vec<OsString>, Vec<OsString>), RunnerError> {
    let (mut arguments, mut environment) = (arguments(request), environment(request));
    let has_server = matches!(request.supervision, Supervision::ByTarget { .. });
    if !has_server && request.target.input_in_words() {
        let input =
            std::fs::read(request.input).map_err(RunnerError::system("read the input file"))?;
        let mut pieces = Pieces::of(&input);
        arguments = pieces.fill_arguments(arguments);
        environment = environment.iter().map(|variable| pieces.fill(variable)).collect();
    }
    arguments.insert(0, request.program.as_os_str().to_owned());
    Ok((arguments, environment))
}

/// Without the program's name.
fn arguments(request: &Launch<'_>) -> Vec<OsString> {
    let fill = |argument: &OsString| {
        replace(argument, INPUT_PLACEHOLDER.as_bytes(), request.input.as_os_str())
    };
    request.target.arguments.iter().map(fill).collect()
}

fn replace(text: &OsStr, from: &[u8], to: &OsStr) -> OsString {
    let text = text.as_bytes();
    let mut result = Vec::new();
    let mut start = 0;
    for at in memchr::memmem::find_iter(text, from) {
        result.extend_from_slice(&text[start..at]);
        result.extend_from_slice(to.as_bytes());
        start = at + from.len();
    }
    result.extend_from_slice(&text[start..]);
    OsString::from_vec(result)
}

/// Variables of the driver's, then those for every target, then the user's, then the server's.
fn environment(request: &Launch<'_>) -> Vec<OsString> {
    let mut variables: BTreeMap<OsString, OsString> = match request.target.sandbox {
        Sandbox::On => sandbox::environment().into_iter().collect(),
        Sandbox::Off => std::env::vars_os().collect(),
    };
    let scratch = request.scratch.as_os_str();
    for name in ["HOME", "TMPDIR"] {
        variables.insert(name.into(), scratch.into());
    }
    // Sockets of the target are connected to the input.
    variables.insert("TARRAGON_CONNECTION".into(), "1".into());
    variables.extend(request.target.environment.iter().cloned());
    let server = OsString::from_vec(trace::server::ENV.to_bytes().to_vec());
    variables.remove(&server);
    if let Supervision::ByTarget { .. } = request.supervision {
        variables.insert(server, trace::Header::VERSION.to_string().into());
        // What the program forks is part of the run.
        variables.insert("TARRAGON_FOLLOWS".into(), "1".into());
        // Resolve symbols once, in the server, and not again in each run.
        variables.insert("LD_BIND_NOW".into(), "1".into());
    }
    variables.into_iter().map(|(name, value)| join(name, &value)).collect()
}

const TMP: &str = "/tmp";
const VAR_TMP: &str = "/var/tmp";
const SHM: &str = "/dev/shm";

/// What lies in `/tmp` and `/dev/shm` and is needed by the target. What lies beside it is not
/// shown.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Exposed {
    pub paths: Vec<CString>,
    /// Directories on the way there, the upper ones first.
    pub parents: Vec<CString>,
    /// The names at the top of all this.
    pub names: Vec<CString>,
}

impl Exposed {
    fn of(needed: impl Iterator<Item = PathBuf>) -> Result<Exposed, RunnerError> {
        let needed: BTreeSet<PathBuf> =
            needed.filter(|path| root_of(path).is_some_and(|root| path != root)).collect();
        let is_within = |path: &Path| path.ancestors().skip(1).any(|above| needed.contains(above));
        let paths: Vec<&PathBuf> = needed.iter().filter(|path| !is_within(path)).collect();
        let (mut parents, mut names) = (BTreeSet::new(), BTreeSet::new());
        for (path, root) in paths.iter().filter_map(|path| Some((path, root_of(path)?))) {
            parents.extend(path.ancestors().skip(1).take_while(|above| *above != root));
            let below = path.strip_prefix(root).ok().and_then(|below| below.components().next());
            names.extend(below.map(|name| name.as_os_str()));
        }
        Ok(Exposed {
            paths: paths.into_iter().map(c_string).collect::<Result<_, _>>()?,
            parents: parents.into_iter().map(c_string).collect::<Result<_, _>>()?,
            names: names.into_iter().map(c_string).collect::<Result<_, _>>()?,
        })
    }
}

/// The directory that is replaced and that a path lies in.
fn root_of(path: &Path) -> Option<&'static Path> {
    [TMP, SHM].map(Path::new).into_iter().find(|root| path.starts_with(root))
}

fn is_needed(request: &Launch<'_>, directory: &str) -> bool {
    needed(request).any(|path| path.starts_with(directory))
}

/// By the names that the target knows, and where these lead.
fn needed<'a>(request: &'a Launch<'_>) -> impl Iterator<Item = PathBuf> + 'a {
    let own = [request.program, request.input, request.scratch];
    let all = own.into_iter().chain(request.visible.iter().map(PathBuf::as_path));
    all.flat_map(|path| [path.canonicalize().unwrap_or_default(), path.to_owned()])
}

fn join(mut name: OsString, value: &OsStr) -> OsString {
    name.push("=");
    name.push(value);
    name
}

fn directory(request: &Launch<'_>) -> Result<Option<CString>, RunnerError> {
    match &request.target.working_directory {
        WorkingDirectory::Scratch => c_string(request.scratch).map(Some),
        WorkingDirectory::Keep => Ok(None),
        WorkingDirectory::At(path) => c_string(path).map(Some),
    }
}

fn limits(request: &Launch<'_>, processes: &ProcessLimit) -> Vec<(u32, u64)> {
    /// The fork server's descriptors and those of the launch must fit below the limit.
    const FEWEST_FILES: u32 = 256;
    let limits = &request.target.limits;
    let mut list = vec![
        // With 1, unlike 0, the kernel does not start a crash handler (apport, systemd) either.
        (libc::RLIMIT_CORE, 1),
        (libc::RLIMIT_FSIZE, limits.file_size),
        (libc::RLIMIT_NOFILE, u64::from(limits.open_files.max(FEWEST_FILES))),
    ];
    if let Some(allowance) = limits.address_space_allowance {
        let segment =
            if let Supervision::ByTarget { size, .. } = request.supervision { size } else { 0 };
        list.push((
            libc::RLIMIT_AS,
            limits.memory.saturating_add(allowance).saturating_add(segment),
        ));
    }
    if let ProcessLimit::Resource(count) = processes {
        list.push((libc::RLIMIT_NPROC, *count));
    }
    list
}

/// The driver's own user and group, under the same numbers.
fn id_maps() -> Result<(CString, CString), RunnerError> {
    let uid = rustix::process::geteuid().as_raw();
    let gid = rustix::process::getegid().as_raw();
    Ok((c_string(format!("{uid} {uid} 1"))?, c_string(format!("{gid} {gid} 1"))?))
}

/// A copy of the descriptor with a number that no fixed descriptor of the child has.
fn out_of_the_way(fd: BorrowedFd<'_>) -> Result<OwnedFd, RunnerError> {
    const FIRST: i32 = trace::SERVER_FDS.reports + 1;
    fcntl_dupfd_cloexec(fd, FIRST).map_err(RunnerError::system("copy a descriptor"))
}

fn c_string(text: impl AsRef<OsStr>) -> Result<CString, RunnerError> {
    CString::new(text.as_ref().as_bytes()).map_err(|_| RunnerError::ZeroByte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_exposed_but_what_is_needed() {
        let needed = [
            "/tmp/a/b/program",
            "/tmp/a/b",
            "/tmp/a/c/data",
            "/tmp",
            "/usr/lib",
            "/dev/shm/t/input",
        ];
        let exposed = Exposed::of(needed.into_iter().map(PathBuf::from)).unwrap();
        let texts = |list: &[CString]| {
            list.iter().map(|c| c.to_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(texts(&exposed.paths), ["/dev/shm/t/input", "/tmp/a/b", "/tmp/a/c/data"]);
        assert_eq!(texts(&exposed.parents), ["/dev/shm/t", "/tmp/a", "/tmp/a/c"]);
        assert_eq!(texts(&exposed.names), ["a", "t"]);
    }

    #[test]
    fn placeholders_are_replaced_wherever_they_stand() {
        let fill =
            |text: &str| replace(text.as_ref(), b"@@", "/in".as_ref()).into_string().unwrap();
        assert_eq!(fill("@@"), "/in");
        assert_eq!(fill("--file=@@,@@!"), "--file=/in,/in!");
        assert_eq!(fill("a@b"), "a@b");
    }
}
