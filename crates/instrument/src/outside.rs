//! Functions without a model: what they may do with the input. The runtime watches their calls
//! (`runtime-models/src/outside.rs`); here it is decided how closely, by what is known of the C library.

use crate::function::{Function, underlying_object};
use crate::llvm::{self, LLVMIntPredicate, LLVMOpcode, LLVMTypeKind, Value};
use crate::module::Module;
use crate::{attributes, entry, foreign, formats};
use trace::formats::stores_count;
use trace::{ConcretiseReason, GiveUp, Lent, Returned};

/// What is known of a function without a model.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Neither does it read anything, nor does it take data.
    Quiet,
    /// It returns a descriptor, and reads nothing.
    Opens,
    /// It starts another program.
    StartsProgram,
    /// It takes data, and knows files by name at most.
    Names,
    /// Nothing is known, but that it belongs to the system's libraries.
    Any,
    /// Nothing is known.
    Foreign,
}

/// Where a function that prints does so.
#[derive(Clone, Copy)]
enum Sink {
    Descriptor(u32),
    Stream(u32),
    Standard,
}

impl Sink {
    fn target(self, arguments: &[Value]) -> Option<Value> {
        match self {
            Sink::Descriptor(position) | Sink::Stream(position) => {
                arguments.get(position as usize).copied()
            }
            Sink::Standard => None,
        }
    }
}

/// What a function that prints returns.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Printed {
    /// The byte that it gets in this argument.
    Byte(u32),
    /// The count that it gets in this argument, if all goes well.
    Count(u32),
    /// Something that depends on what it gets.
    Unknown,
}

const QUIET: &[&str] = &[
    "__errno_location",
    "__ctype_b_loc",
    "__ctype_tolower_loc",
    "__ctype_toupper_loc",
    "__ctype_get_mb_cur_max",
    "__stack_chk_fail",
    "_setjmp",
    "setjmp",
    "__sigsetjmp",
    "sigsetjmp",
    "longjmp",
    "siglongjmp",
    "_longjmp",
    "__longjmp_chk",
    "_Unwind_Resume",
    "__gxx_personality_v0",
    "_ZSt9terminatev",
    "alarm",
    "atexit",
    "clearerr",
    "clock",
    "clock_gettime",
    "clock_getres",
    "closedir",
    "difftime",
    "exp",
    "fclose",
    "fcloseall",
    "feof",
    "feof_unlocked",
    "ferror",
    "ferror_unlocked",
    "fesetround",
    "fflush",
    "fflush_unlocked",
    "flockfile",
    "fsync",
    "ftruncate",
    "funlockfile",
    "getegid",
    "geteuid",
    "getgid",
    "getpagesize",
    "getpgrp",
    "getpid",
    "getppid",
    "getpriority",
    "getrlimit",
    "getrusage",
    "gettimeofday",
    "getuid",
    "isatty",
    "kill",
    "listen",
    "localeconv",
    "malloc_trim",
    "mallopt",
    "mprotect",
    "uselocale",
    "freelocale",
    "nl_langinfo",
    "pause",
    "pipe",
    "pipe2",
    "posix_fadvise",
    "raise",
    "rand",
    "random",
    "sbrk",
    "sched_yield",
    "setbuf",
    "setlinebuf",
    "setvbuf",
    "shutdown",
    "signal",
    "sigaddset",
    "sigaltstack",
    "sigdelset",
    "sigemptyset",
    "sigfillset",
    "sigismember",
    "sleep",
    "socket",
    "socketpair",
    "getsockopt",
    "getsockname",
    "getpeername",
    "srand",
    "srandom",
    "sync",
    "sysconf",
    "time",
    "times",
    "tmpfile",
    "tmpfile64",
    "tzset",
    "umask",
    "ungetc",
    "usleep",
    "wait",
    "waitpid",
];

/// Names of functions that are quiet, up to their first letters: threads, exceptions, memory of
/// C++.
const QUIET_PREFIXES: &[&str] =
    &["pthread_", "sem_", "mtx_", "cnd_", "__cxa_", "_Zn", "_Zd", "_ZNSt6thread"];

/// Those that start like quiet ones, but take data.
const LOUD: &[&str] = &["__cxa_demangle"];

/// Functions that keep memory of the program or functions that give them data, and this argument is
/// what they keep.
const KEEPING: &[(&str, u32)] =
    &[("fmemopen", 0), ("fopencookie", 0), ("putenv", 0), ("hsearch", 0), ("hsearch_r", 0)];

const OPENS: &[&str] = &[
    "open",
    "open64",
    "openat",
    "openat64",
    "creat",
    "creat64",
    "__open_2",
    "__open64_2",
    "dup",
    "dup2",
    "dup3",
    "fcntl",
    "fcntl64",
    "fileno",
    "fileno_unlocked",
    "accept",
    "accept4",
];

const STARTS_PROGRAM: &[&str] = &[
    "execl",
    "execle",
    "execlp",
    "execv",
    "execve",
    "execveat",
    "execvp",
    "execvpe",
    "fexecve",
    "popen",
    "posix_spawn",
    "posix_spawnp",
    "system",
    "vfork",
    "wordexp",
];

const NAMES: &[&str] = &[
    "access",
    "basename",
    "__xpg_basename",
    "chdir",
    "chmod",
    "chown",
    "dirname",
    "euidaccess",
    "faccessat",
    "fnmatch",
    "fstatat",
    "fstatat64",
    "getcwd",
    "getenv",
    "secure_getenv",
    "getopt",
    "getopt_long",
    "getopt_long_only",
    "lchown",
    "link",
    "mkdir",
    "mkdirat",
    "mkstemp",
    "mkdtemp",
    "opendir",
    "pathconf",
    "readlink",
    "realpath",
    "__realpath_chk",
    "remove",
    "rename",
    "rmdir",
    "statfs",
    "statvfs",
    "symlink",
    "truncate",
    "unlink",
    "unlinkat",
    "utime",
    "utimes",
    "utimensat",
    "err",
    "errx",
    "verr",
    "verrx",
    "warn",
    "warnx",
    "vwarn",
    "vwarnx",
    "error",
    "strerror",
    "openlog",
    "bind",
    "connect",
    "nanosleep",
    "newlocale",
    "poll",
    "prctl",
    "pthread_setname_np",
    "select",
    "setlocale",
    "setrlimit",
    "setsockopt",
    "sigaction",
    "sigprocmask",
];

/// Functions by which a program gives a stream a buffer.
const BUFFERING: &[&str] = &["setvbuf", "setbuf", "setbuffer"];

/// `std::string` and paths as values: they read no file.
const NAME_PREFIXES: &[&str] = &[
    "_ZNSt7__cxx1112basic_string",
    "_ZNKSt7__cxx1112basic_string",
    "_ZNSt10filesystem",
    "_ZNKSt10filesystem",
];

/// Insertion into a stream of C++.
const INSERTERS: &[&str] =
    &["_ZNSo", "_ZStls", "_ZSt16__ostream_insert", "_ZSt4endl", "_ZSt5flush"];
const STANDARD_OSTREAMS: &[&str] = &["_ZSt4cout", "_ZSt4cerr", "_ZSt4clog"];

/// How assembly is named among functions through which data is lost.
const ASSEMBLY: &str = "inline assembly";

/// Functions after which the program is gone without its exit handlers.
const LAST_CALLS: &[&str] = &["_exit", "_Exit", "quick_exit"];

/// Functions between a program and its surroundings read nothing, or say what they read.
fn kind_of(call: Value, name: &str) -> Kind {
    match llvm::as_function(llvm::called(call)).is_some_and(attributes::is_own) {
        true => Kind::Quiet,
        false => kind(name),
    }
}

fn kind(name: &str) -> Kind {
    let starts = |prefixes: &[&str]| prefixes.iter().any(|prefix| name.starts_with(prefix));
    if LOUD.contains(&name) {
        return Kind::Any;
    }
    if NAMES.contains(&name) || starts(NAME_PREFIXES) {
        Kind::Names
    } else if QUIET.contains(&name) || starts(QUIET_PREFIXES) && !foreign::is_foreign(name) {
        Kind::Quiet
    } else if OPENS.contains(&name) {
        Kind::Opens
    } else if STARTS_PROGRAM.contains(&name) {
        Kind::StartsProgram
    } else if foreign::is_foreign(name) {
        Kind::Foreign
    } else {
        Kind::Any
    }
}

/// Whether data that the call gets comes back in files at most.
pub fn only_prints(call: Value, name: &str) -> bool {
    sink(name).is_some() || is_standard_output(call, name)
}

fn sink(name: &str) -> Option<Sink> {
    Some(match name {
        "fprintf" | "vfprintf" | "__fprintf_chk" | "__vfprintf_chk" => Sink::Stream(0),
        "fputs" | "fputs_unlocked" | "fputc" | "fputc_unlocked" | "putc" | "putc_unlocked"
        | "_IO_putc" => Sink::Stream(1),
        "fwrite" | "fwrite_unlocked" => Sink::Stream(3),
        "printf" | "vprintf" | "__printf_chk" | "__vprintf_chk" | "puts" | "putchar"
        | "putchar_unlocked" => Sink::Standard,
        "write" | "pwrite" | "pwrite64" | "writev" | "pwritev" | "dprintf" | "vdprintf"
        | "__dprintf_chk" | "send" | "sendto" | "sendmsg" => Sink::Descriptor(0),
        _ => return None,
    })
}

fn printed(name: &str) -> Printed {
    match name {
        "fputc" | "fputc_unlocked" | "putc" | "putc_unlocked" | "_IO_putc" | "putchar"
        | "putchar_unlocked" => Printed::Byte(0),
        "write" | "pwrite" | "pwrite64" | "send" | "sendto" | "fwrite" | "fwrite_unlocked" => {
            Printed::Count(2)
        }
        _ => Printed::Unknown,
    }
}

/// Whether a function that prints stores how much it has printed.
enum Stored {
    Never,
    Always,
    /// If this format, which is no constant, says so.
    If(Value),
}

/// Which argument says how large the elements are that it counts.
fn element_size(name: &str) -> Option<u32> {
    matches!(name, "fwrite" | "fwrite_unlocked").then_some(1)
}

/// Whether somebody uses a result for more than to see whether the call has failed.
fn is_used(call: Value) -> bool {
    use LLVMIntPredicate::*;
    let tests_for_failure = |user: Value| {
        let constant = (llvm::opcode(user) == LLVMOpcode::LLVMICmp)
            .then(|| llvm::as_constant_int(llvm::operand(user, 1)))
            .flatten();
        let Some(constant) = constant.map(llvm::constant_signed) else { return false };
        match llvm::int_predicate(user) {
            LLVMIntSLT | LLVMIntSGE => constant == 0,
            LLVMIntEQ | LLVMIntNE | LLVMIntSGT | LLVMIntSLE => constant == -1,
            _ => false,
        }
    };
    !llvm::users(call)
        .into_iter()
        .all(|user| llvm::as_instruction(user).is_some_and(tests_for_failure))
}

/// What is known of that before the program runs.
fn stored(name: &str, arguments: &[Value]) -> Stored {
    let format = formats::position(name).and_then(|position| arguments.get(position as usize));
    let Some(&format) = format else { return Stored::Never };
    match llvm::constant_text(format) {
        Some(text) if stores_count(text.iter().copied()) => Stored::Always,
        Some(_) => Stored::Never,
        None => Stored::If(format),
    }
}

impl Function<'_> {
    /// Whether the result of a function that prints may have a label.
    pub fn printed_may_be_symbolic(&self, call: Value) -> bool {
        self.returned_argument(call).is_some_and(|(argument, _)| self.may_be_symbolic(argument))
    }

    /// The argument that a function that prints returns, and how.
    fn returned_argument(&self, call: Value) -> Option<(Value, Returned)> {
        let name = llvm::name(llvm::as_function(llvm::called(call))?);
        sink(&name)?;
        let (position, kind) = match printed(&name) {
            Printed::Byte(position) => (position, Returned::Byte),
            Printed::Count(position) => (position, Returned::Count),
            Printed::Unknown => return None,
        };
        (position < llvm::argument_count(call)).then(|| (llvm::operand(call, position), kind))
    }

    /// A function that prints has returned: the builder stands after it.
    pub fn label_printed(&mut self, call: Value, name: &str) {
        let Some((argument, kind)) =
            self.returned_argument(call).filter(|_| self.may_be_symbolic(call))
        else {
            return;
        };
        let site = self.site(call);
        let builder = self.builder();
        let number = builder.const_i32(self.numbering.external(name));
        let label = self.label_of(argument);
        let values = [self.bits(argument), self.bits(call)];
        let arguments = [label, values[0], values[1], builder.const_i32(kind as u32), number, site];
        let label = self.call(entry::__tgi_printed_result, arguments);
        self.set_labels(call, vec![label]);
    }

    /// A function that only prints is about to be called. What it prints to a file may come back,
    /// and how much that was, too.
    pub fn watch_output(&mut self, call: Value, name: &str, arguments: &[Value]) {
        if LAST_CALLS.contains(&name) {
            self.builder().before(call);
            self.call(entry::__tg_ends, []);
        }
        if let Some(sink) = sink(name) {
            self.watch_sink(call, name, arguments, sink);
        }
        self.watch_count(call, name, arguments);
    }

    fn watch_sink(&mut self, call: Value, name: &str, arguments: &[Value], sink: Sink) {
        let to = sink.target(arguments);
        if to.is_none() && !matches!(sink, Sink::Standard) {
            return;
        }
        let number = self.numbering.external(name);
        let data: Vec<Value> =
            arguments.iter().copied().filter(|argument| Some(*argument) != to).collect();
        let site = self.site(call);
        // What it returns hangs on these, too.
        let size = element_size(name).and_then(|position| arguments.get(position as usize));
        let fixed: Vec<Value> = to.into_iter().chain(size.copied()).collect();
        let used: Vec<Value> = data.iter().copied().chain(to).collect();
        if let Some(closing) = self.close(call, &used) {
            for value in fixed {
                if self.may_be_symbolic(value) {
                    self.concretise(self.label_of(value), ConcretiseReason::Argument, call);
                }
            }
            let any = self.any_label(&data);
            let any = self.join(closing, &[(self.zero(), any)]);
            self.tell_output(number, sink, to, site);
            for label in any {
                self.call(entry::__tg_printed, [label]);
            }
        } else {
            self.tell_output(number, sink, to, site);
        }
        self.lend(call, (name, number), &data, Lent::Output);
    }

    /// How much a function prints hangs on what it gets, and comes back if somebody uses its result
    /// or the format has it stored.
    fn watch_count(&mut self, call: Value, name: &str, arguments: &[Value]) {
        let is_told = sink(name).is_some() && printed(name) == Printed::Unknown && is_used(call);
        let stored = if is_told { Stored::Always } else { stored(name, arguments) };
        let is_stored = match stored {
            Stored::Never => return,
            Stored::Always => None,
            Stored::If(format) => {
                let builder = self.builder();
                builder.before(call);
                let stores = self.call(entry::__tg_stores_count, [format]);
                Some(builder.compare(LLVMIntPredicate::LLVMIntNE, stores, self.zero()))
            }
        };
        let number = self.numbering.external(name);
        let site = self.site(call);
        let to = sink(name).and_then(|sink| sink.target(arguments));
        let data: Vec<Value> =
            arguments.iter().copied().filter(|argument| Some(*argument) != to).collect();
        if let Some(closing) = self.close(call, &data) {
            let (any, builder) = (self.any_label(&data), self.builder());
            let lost = is_stored.map_or(any, |is| builder.select(is, any, self.zero()));
            let reason = builder.const_i32(GiveUp::External as u32);
            self.call(entry::__tg_give_up, [lost, reason, site, builder.const_i32(number)]);
            self.join(closing, &[]);
        }
        self.lend_if(is_stored, call, (name, number), &data, Lent::Counted);
    }

    fn tell_output(&self, number: u32, sink: Sink, to: Option<Value>, site: Value) {
        let builder = self.builder();
        let kind = match sink {
            Sink::Descriptor(_) => trace::Sink::Descriptor,
            Sink::Stream(_) => trace::Sink::Stream,
            Sink::Standard => trace::Sink::StandardOutput,
        };
        let to = to.map_or(builder.const_i64(0), |to| self.bits(to));
        let kind = builder.const_i32(kind as u32);
        self.call(entry::__tg_output, [builder.const_i32(number), to, kind, site]);
    }

    /// The program gives a stream a buffer. One that nobody else uses does not matter.
    fn watch_buffer(&mut self, call: Value, arguments: &[Value]) {
        let &[stream, buffer, ..] = arguments else { return };
        let only_buffers = |user: Value| {
            let called = llvm::as_instruction(user)
                .filter(|user| llvm::opcode(*user) == LLVMOpcode::LLVMCall)
                .and_then(|user| llvm::as_function(llvm::called(user)));
            called.map(llvm::name).is_some_and(|name| {
                BUFFERING.contains(&name.as_str()) || name.starts_with("llvm.lifetime.")
            })
        };
        let is_variable =
            llvm::as_global_variable(buffer).or_else(|| llvm::as_alloca(buffer)).is_some();
        if is_variable && llvm::users(buffer).into_iter().all(only_buffers) {
            return;
        }
        self.builder().before(call);
        self.call(entry::__tg_buffered, [self.bits(stream), self.bits(buffer)]);
    }

    /// Assembly that may enter the kernel or call a function may read the input.
    pub fn watch_assembly(&mut self, call: Value) -> bool {
        let enters = llvm::asm_text(llvm::called(call));
        let enters =
            ["syscall", "sysenter", "int $$0x80", "call"].iter().any(|word| enters.contains(word));
        if enters {
            let site = self.site(call);
            let builder = self.builder();
            builder.before(call);
            let number = builder.const_i32(self.numbering.external(ASSEMBLY));
            self.call(entry::__tgi_outside, [number, site]);
        }
        enters
    }

    /// Such assembly is done: the builder stands after it.
    pub fn watch_assembly_end(&mut self) {
        let number = self.numbering.external(ASSEMBLY);
        self.call(entry::__tg_back, [self.builder().const_i32(number)]);
    }

    /// A function without a model is about to be called.
    pub fn watch_call(&mut self, call: Value, name: &str, arguments: &[Value]) {
        let kind = kind_of(call, name);
        if BUFFERING.contains(&name) {
            self.watch_buffer(call, arguments);
        }
        if kind == Kind::Quiet {
            return;
        }
        self.builder().before(call);
        let number = self.numbering.external(name);
        let way = match kind {
            Kind::Any => Lent::Any,
            Kind::Foreign => Lent::Foreign,
            _ => Lent::NoFiles,
        };
        self.lend(call, (name, number), arguments, way);
        let site = self.site(call);
        let number = self.builder().const_i32(number);
        if kind == Kind::Foreign {
            self.call(entry::__tg_foreign, [number, self.bits(llvm::called(call)), site]);
        }
        if keeps_memory(name, arguments) {
            self.call(entry::__tg_keeps, [number, site]);
        }
        if kind == Kind::StartsProgram {
            self.call(entry::__tg_child, [number, site]);
        } else if matches!(kind, Kind::Any | Kind::Foreign) {
            self.call(entry::__tgi_outside, [number, site]);
        }
    }

    /// It has returned: the builder stands after it.
    pub fn watch_return(&mut self, call: Value, name: &str) {
        let number = self.numbering.external(name);
        let builder = self.builder();
        let kind = kind_of(call, name);
        if matches!(kind, Kind::Any | Kind::Foreign) {
            self.call(entry::__tg_back, [builder.const_i32(number)]);
        } else if kind == Kind::Opens && self.width(llvm::type_of(call)) == 32 {
            self.call(entry::__tg_opened, [call]);
        }
    }

    /// Null in place of what goes to a standard stream of C++: nothing of that comes back.
    pub fn unless_printed(&self, call: Value, name: &str, value: Value) -> Value {
        if !is_inserter(name) {
            return value;
        }
        let builder = self.builder();
        let stream = llvm::operand(call, 0);
        let nothing = builder.const_int(llvm::type_of(value), 0);
        self.program.standard_streams.iter().fold(value, |value, standard| {
            let is = builder.compare(LLVMIntPredicate::LLVMIntEQ, stream, *standard);
            builder.select(is, nothing, value)
        })
    }

    /// Tells the runtime of the memory that a function gets.
    fn lend(&mut self, call: Value, function: (&str, u32), arguments: &[Value], way: Lent) {
        self.lend_if(None, call, function, arguments, way);
    }

    /// The same where the condition holds.
    fn lend_if(
        &mut self,
        condition: Option<Value>,
        call: Value,
        (name, number): (&str, u32),
        arguments: &[Value],
        way: Lent,
    ) {
        let pointers = arguments.iter().copied().filter(|argument| {
            llvm::kind(llvm::type_of(*argument)) == LLVMTypeKind::LLVMPointerTypeKind
                && (matches!(way, Lent::Any | Lent::Foreign)
                    || !crate::function::points_to_constant(*argument))
                && llvm::as_function(*argument).is_none()
                && !llvm::is_null(*argument)
        });
        let pointers: Vec<Value> = pointers.collect();
        if pointers.is_empty() {
            return;
        }
        let site = self.site(call);
        for pointer in pointers {
            let builder = self.builder();
            let size = builder.const_i64(self.known_size(pointer));
            let (number, way) = (builder.const_i32(number), builder.const_i32(way as u32));
            let pointer = self.unless_printed(call, name, self.bits(pointer));
            let pointer = condition
                .map_or(pointer, |holds| builder.select(holds, pointer, builder.const_i64(0)));
            self.call(entry::__tg_lend, [number, pointer, size, way, site]);
        }
    }

    /// The size of a local variable, or one that others define, that a pointer is the start of; 0
    /// if it is no such pointer.
    pub fn known_size(&self, pointer: Value) -> u64 {
        if let Some(global) = llvm::as_global_variable(pointer) {
            return self.layout().size_if_known(llvm::value_type(global));
        }
        let Some(alloca) = llvm::as_alloca(pointer) else { return 0 };
        let count = llvm::as_constant_int(llvm::operand(alloca, 0)).map(llvm::constant_bits);
        count.map_or(0, |count| {
            count.saturating_mul(self.layout().size(llvm::allocated_type(alloca)))
        })
    }
}

/// Whether the function keeps what the program may fill later.
fn keeps_memory(name: &str, arguments: &[Value]) -> bool {
    let only_looks = name.starts_with("hsearch") && arguments.get(2).is_some_and(|v| is_zero(*v));
    let kept = KEEPING.iter().find(|(keeping, _)| *keeping == name).map(|(_, position)| *position);
    let kept = kept.and_then(|position| arguments.get(position as usize));
    kept.is_some_and(|kept| name == "fopencookie" || !crate::function::points_to_constant(*kept))
        && !only_looks
}

fn is_zero(value: Value) -> bool {
    llvm::as_constant_int(value).is_some_and(|value| llvm::constant_bits(value) == 0)
}

fn is_inserter(name: &str) -> bool {
    INSERTERS.iter().any(|prefix| name.starts_with(prefix))
}

/// The standard streams of C++ that the program mentions.
pub fn standard_streams(module: &Module) -> Vec<Value> {
    let mut globals = module.globals();
    globals.retain(|global| STANDARD_OSTREAMS.contains(&llvm::name(*global).as_str()));
    globals
}

/// Whether the call puts something into one of the standard streams of C++, also in a chain of such
/// calls.
fn is_standard_output(call: Value, name: &str) -> bool {
    if !is_inserter(name) {
        return false;
    }
    let mut call = call;
    loop {
        let stream = llvm::operand(call, 0);
        if let Some(variable) = llvm::as_global_variable(underlying_object(stream)) {
            return STANDARD_OSTREAMS.contains(&llvm::name(variable).as_str());
        }
        let inner = llvm::as_instruction(stream).filter(|inner| {
            matches!(llvm::opcode(*inner), LLVMOpcode::LLVMCall | LLVMOpcode::LLVMInvoke)
        });
        let function = inner.and_then(|inner| llvm::as_function(llvm::called(inner)));
        match (inner, function) {
            (Some(inner), Some(function)) if is_inserter(&llvm::name(function)) => call = inner,
            _ => return false,
        }
    }
}
