//! Start of the target: before its constructors, and at its `main`.

use core::cell::Cell;
use core::ffi::{c_int, c_uint};
use runtime_core::covered::{__tg_add_coverage, __tg_keep_coverage};
use runtime_core::state::Run;
use runtime_core::{nodes, objects, os, shadow};
use runtime_models::state::models;
use runtime_models::{input, outside, words};
use runtime_process::{batch, server, snapshot};
use trace::{GiveUp, Global, Header, flags};

const _: () = assert!(
    (shadow::RESERVED + objects::RESERVED) as u64 <= trace::RESERVED_ADDRESS_SPACE,
    "the driver leaves less address space"
);

/// Called before anything else in the program: the fast paths need the first-level tables.
#[cfg(not(test))]
extern "C" fn initialise() {
    if !(shadow::reserve() && objects::reserve()) {
        os::complain(
            "tarragon: the kernel refused the address ranges of the shadow memory; allow \
             overcommit of address space (vm.overcommit_memory = 0 or 1) and lift limits on \
             virtual memory (ulimit -v)\n",
        );
        os::_exit(125);
    }
    // SAFETY: nothing of the program has run yet.
    unsafe { batch::watch_exit::<OfProcess>() };
}

#[cfg(not(test))]
#[used]
#[unsafe(link_section = ".preinit_array")]
static INITIALISE: extern "C" fn() = initialise;

/// What the instrumenter tells of the program.
#[derive(Clone, Copy)]
struct Program {
    /// The program's coverage map, page-aligned and a whole number of pages.
    coverage: *mut u8,
    coverage_len: usize,
}

/// What is known before the first run.
struct Start {
    /// A program that says itself where runs begin ([`__tarragon_init`]) and has not come there
    /// yet.
    deferred: Cell<Option<Program>>,
    /// Bytes of marks of heap objects from before the first run.
    marks_before: Cell<usize>,
}

// SAFETY: written by the thread that starts the program, before the first run.
unsafe impl Sync for Start {}

static START: Start = Start { deferred: Cell::new(None), marks_before: Cell::new(0) };

/// Called first thing in `main`. Under Tarragon this is the fork server: it returns once in every
/// run. In a program that calls [`__tarragon_init`] the server starts there.
///
/// # Safety
/// The map and the list are the program's, and of these sizes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tg_start(
    coverage: *mut u8,
    coverage_len: usize,
    globals: *mut Global,
    count: usize,
    deferred: u32,
) {
    // SAFETY: the caller's promise.
    unsafe { objects::register_globals(Run::current(), globals, count) };
    let program = Program { coverage, coverage_len };
    match deferred {
        0 => serve(&program),
        _ => START.deferred.set(Some(program)),
    }
}

/// Called by a program that has prepared what all runs need alike (AFL++'s deferred start).
#[unsafe(no_mangle)]
pub extern "C" fn __tarragon_init() {
    let Some(program) = START.deferred.take() else { return };
    let (map, len) = (program.coverage, program.coverage_len);
    // SAFETY: the map is the program's, and has this size.
    let early = unsafe { __tg_keep_coverage(map, len) };
    serve(&program);
    // SAFETY: as above; the copy has the same size.
    unsafe { __tg_add_coverage(map, len, early) };
}

/// Called after [`__tg_start`], with null if `main` takes no arguments. Input in words has to be
/// there before the program looks at them, so that a program which says itself where runs begin is
/// not waited for.
///
/// # Safety
/// These are the arguments of `main`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tg_words(count: c_int, arguments: *mut *mut u8) {
    // SAFETY: the caller's promise.
    unsafe { words::take(count, arguments) };
    if START.deferred.get().is_some() && words::any_placeholder() {
        __tarragon_init();
    }
    words::fill(Run::current());
}

fn serve(program: &Program) {
    let run = Run::current();
    outside::note_constructors();
    // SAFETY: the program has one thread yet, or its other threads end with this process.
    let header = unsafe { server::serve(|header| prepare(run, header, program)) };
    if header.is_null() {
        return run.concrete.set(true);
    }
    // SAFETY: this is where a run begins.
    unsafe { batch::begin() };
    start_run(run, header);
}

/// Before the first run: what every run would otherwise map for itself.
fn prepare(run: &Run, header: *mut Header, program: &Program) {
    // SAFETY: the server has mapped the segment.
    let segment = unsafe { &mut *header };
    segment.coverage_needed = program.coverage_len.min(u32::MAX as usize) as u32;
    share_coverage(header, program);
    START.marks_before.set(objects::marks(run).1);
    let node_cap = segment.nodes.capacity.min(nodes::MAX_NODES) as u32;
    run.segment.set_node_cap(node_cap);
    // A variant without traces may have memory that no snapshot knows: a sanitizer's.
    if node_cap > 1 {
        // SAFETY: no run has begun.
        unsafe { snapshot::survey(is_own, Some(objects::marks(run))) };
        run.prepare(segment.input.capacity as usize);
    }
}

fn is_own(address: usize) -> bool {
    (shadow::FIRST_ADDRESS..objects::LAST_ADDRESS).contains(&address)
}

/// From here on the program's coverage map is the one in the segment.
fn share_coverage(header: *mut Header, program: &Program) {
    // SAFETY: the server has mapped the segment.
    let region = unsafe { (*header).coverage };
    if program.coverage_len as u64 <= region.capacity {
        let from = header as usize + region.offset as usize;
        // SAFETY: the map consists of whole pages of the program, which nothing else is on.
        unsafe { os::map_over(program.coverage as usize, from, program.coverage_len) };
    }
}

fn start_run(run: &Run, header: *mut Header) {
    // SAFETY: the server has mapped the segment.
    let segment = unsafe { &mut *header };
    segment.runtime_version = Header::VERSION;
    run.segment.attach(header);
    run.concrete.set(segment.flags & flags::SYMBOLIC == 0);
    if run.concrete.get() {
        return;
    }
    let is_too_long = segment.input_len as u64 > segment.input.capacity;
    // SAFETY: the segment is whole, and this process's until the run ends.
    unsafe { run.segment.open(header) };
    run.begin();
    if is_too_long {
        run.segment.count_give_up(GiveUp::InputTooLong);
    }
}

/// Called by programs that take one input after the other, at the end of each round: whether there
/// is another.
#[unsafe(no_mangle)]
pub extern "C" fn __tarragon_again() -> c_int {
    let run = Run::current();
    outside::__tg_ends();
    // SAFETY: this is where a round of the program ends.
    if !run.segment.is_attached() || !unsafe { batch::again(|| reset(run)) } {
        return 0;
    }
    start_run(run, run.segment.header());
    1
}

/// A model of a function that exists in the traced variant only, where inputs share a process:
/// whether the block of memory for the input (of AFL++'s persistent mode) is kept for all of them.
#[unsafe(no_mangle)]
pub extern "C" fn __tarragon_model_tarragon_keeps_block() -> c_int {
    1
}

/// How many inputs this process has had, the present one included, if it may have more; otherwise
/// 0.
#[unsafe(no_mangle)]
pub extern "C" fn __tarragon_round() -> c_uint {
    batch::round()
}

/// What the runtime itself has to undo before a process begins again.
#[cfg(not(test))]
struct OfProcess;

#[cfg(not(test))]
impl batch::RunState for OfProcess {
    type Kept = runtime_core::cons::Table;

    unsafe fn end() {
        outside::__tg_ends();
    }

    unsafe fn reset() -> Option<runtime_core::cons::Table> {
        let run = Run::current();
        let is_reset = run.segment.is_attached()
            && objects::reset_marks(run, START.marks_before.get())
            && reset(run);
        is_reset.then(|| run.nodes.table())
    }

    unsafe fn restore(table: runtime_core::cons::Table) {
        Run::current().nodes.restore(table);
    }
}

/// Makes the process as free of labels as a new one; false if it cannot be. Input in words came
/// before `main` once and for all, a connection is used up, and threads may still write.
fn reset(run: &Run) -> bool {
    let is_used_up =
        run.threaded.get() || input::is_connected() || run.segment.has_flag(flags::WORDS);
    if is_used_up {
        return false;
    }
    if run.symbolic.get() {
        models().reset();
    }
    run.reset()
}
