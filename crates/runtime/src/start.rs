//! Start of the target: before its constructors, and at its `main`.

use crate::covered::{__tg_add_coverage, __tg_keep_coverage};
use crate::models::{input, lexers, stdio};
use crate::objects;
use crate::state::{self, STATE};
use crate::{
    address, budget, calls, events, lengths, nodes, os, outside, regions, samples, shadow, shapes, stretches,
};
use runtime_process::{batch, server, snapshot};
use trace::{GiveUp, Global, Header, flags, marks};

const _: () = assert!(
    (shadow::RESERVED + objects::RESERVED) as u64 <= trace::RESERVED_ADDRESS_SPACE,
    "the driver leaves less address space"
);

/// Called before anything else in the program: the fast paths need the first-level tables.
#[cfg(not(test))]
unsafe extern "C" fn initialise() {
    unsafe {
        if !(shadow::reserve() && objects::reserve()) {
            os::complain(
                "tarragon: the kernel refused the address ranges of the shadow memory; allow overcommit of \
                 address space (vm.overcommit_memory = 0 or 1) and lift limits on virtual memory (ulimit -v)\n",
            );
            os::_exit(125);
        }
        batch::watch_exit::<Run>();
    }
}

#[cfg(not(test))]
#[used]
#[unsafe(link_section = ".preinit_array")]
static INITIALISE: unsafe extern "C" fn() = initialise;

/// What the instrumenter tells of the program.
#[derive(Clone, Copy)]
struct Program {
    /// The program's coverage map, page-aligned and a whole number of pages.
    coverage: *mut u8,
    coverage_len: usize,
}

/// A program that says itself where runs begin ([`__tarragon_init`]) and has not come there yet.
static mut DEFERRED: Option<Program> = None;

/// Called first thing in `main`. Under Tarragon this is the fork server: it returns once in every run. In a program that
/// calls [`__tarragon_init`] the server starts there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tg_start(
    coverage: *mut u8,
    coverage_len: usize,
    globals: *mut Global,
    count: usize,
    deferred: u32,
) {
    unsafe {
        objects::register_globals(globals, count);
        let program = Program { coverage, coverage_len };
        if deferred == 0 {
            return serve(&program);
        }
        DEFERRED = Some(program);
    }
}

/// Called by a program that has prepared what all runs need alike (AFL++'s deferred start).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_init() {
    unsafe {
        let Some(program) = DEFERRED.take() else { return };
        let (map, len) = (program.coverage, program.coverage_len);
        let early = __tg_keep_coverage(map, len);
        serve(&program);
        __tg_add_coverage(map, len, early);
    }
}

pub unsafe fn is_deferred() -> bool {
    unsafe { DEFERRED.is_some() }
}

unsafe fn serve(program: &Program) {
    unsafe {
        let header = server::serve(|header| prepare(header, program));
        if header.is_null() {
            state::CONCRETE = true;
            return;
        }
        batch::begin();
        start_run(header);
    }
}

/// Before the first run: what every run would otherwise map for itself.
unsafe fn prepare(header: *mut Header, program: &Program) {
    unsafe {
        (*header).coverage_needed = program.coverage_len.min(u32::MAX as usize) as u32;
        share_coverage(header, program.coverage, program.coverage_len);
        MARKS_BEFORE = objects::marks().1;
        STATE.node_cap = (*header).nodes.capacity.min(nodes::MOST_NODES) as u32;
        // A variant without traces may have memory that no snapshot knows: a sanitizer's.
        if STATE.node_cap > 1 {
            snapshot::survey(is_own, Some(objects::marks()));
            address::prepare();
            samples::prepare();
            shadow::prepare();
            events::prepare(STATE.node_cap);
            shapes::prepare((*header).input.capacity as usize);
            regions::prepare();
            nodes::prepare();
        }
    }
}

/// Bytes of marks of heap objects from before the first run.
static mut MARKS_BEFORE: usize = 0;

fn is_own(address: usize) -> bool {
    (shadow::FIRST_ADDRESS..objects::LAST_ADDRESS).contains(&address)
}

/// From here on the program's coverage map is the one in the segment.
unsafe fn share_coverage(header: *mut Header, coverage: *mut u8, len: usize) {
    unsafe {
        let region = (*header).coverage;
        if len as u64 <= region.capacity {
            os::map_over(coverage as usize, header as usize + region.offset as usize, len);
        }
    }
}

unsafe fn start_run(header: *mut Header) {
    unsafe {
        let region = move |offset: u64| header.cast::<u8>().add(offset as usize);
        STATE.header = header;
        (*header).runtime_version = Header::VERSION;
        state::CONCRETE = (*header).flags & flags::SYMBOLIC == 0;
        if state::CONCRETE {
            return;
        }
        STATE.symbolic = true;
        STATE.input_len = (*header).input_len;
        STATE.nodes = region((*header).nodes.offset).cast();
        STATE.values = region((*header).values.offset).cast();
        STATE.events = region((*header).events.offset).cast();
        STATE.event_cap = (*header).events.capacity.min(u32::MAX as u64) as u32;
        STATE.holes = match (*header).flags & flags::HOLES {
            0 => core::ptr::null(),
            _ => region((*header).holes.offset),
        };
        begin(region((*header).input.offset));
        if (*header).input_len as u64 > (*header).input.capacity {
            state::count_give_up(GiveUp::InputTooLong);
        }
    }
}

/// What every run with labels begins with. The parts build on each other: shapes are at places of
/// the input's nodes, the budget depends on whether there are any, and the nodes of a stretch
/// replace those of its bytes.
pub(crate) unsafe fn begin(input: *const u8) {
    unsafe {
        let len = STATE.input_len;
        let stretch = stretches::find(len);
        let inputs = len + stretch.map_or(0, |_| marks::COUNT_BYTES);
        if !nodes::start(input, inputs) {
            STATE.symbolic = false;
            return state::count_give_up(GiveUp::InputTooLong);
        }
        events::start();
        lengths::start();
        shapes::start(input, if stretch.is_some() { 0 } else { len });
        budget::start();
        stretches::start(stretch);
    }
}

/// Called by programs that take one input after the other, at the end of each round: whether there is another.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_again() -> core::ffi::c_int {
    unsafe {
        let header = STATE.header;
        outside::__tg_ends();
        if header.is_null() || !batch::again(|| forget_run(header)) {
            return 0;
        }
        start_run(header);
        1
    }
}

/// A model of a function that exists in the traced variant only, where inputs share a process: whether the block of memory for
/// the input (of AFL++'s persistent mode) is kept for all of them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_tarragon_keeps_block() -> core::ffi::c_int {
    1
}

/// How many inputs this process has had, the present one included, if it may have more; otherwise 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_round() -> core::ffi::c_uint {
    batch::round()
}

/// What the runtime itself has to undo before a process begins again.
#[cfg(not(test))]
struct Run;

#[cfg(not(test))]
impl batch::RunState for Run {
    type Kept = nodes::Cons;

    unsafe fn end() {
        unsafe { outside::__tg_ends() };
    }

    unsafe fn reset() -> Option<nodes::Cons> {
        unsafe {
            let header = STATE.header;
            let forgotten = !header.is_null() && objects::forget_marks(MARKS_BEFORE) && forget_run(header);
            forgotten.then(|| nodes::table())
        }
    }

    unsafe fn restore(table: nodes::Cons) {
        unsafe { nodes::use_table(table) };
    }
}

/// Makes the process as free of labels as a new one; false if it cannot be. Input in words came before `main` once and for all,
/// a connection is used up, and threads may still write.
unsafe fn forget_run(header: *mut Header) -> bool {
    unsafe {
        if STATE.threaded || input::is_connected() || (*header).flags & flags::WORDS != 0 {
            return false;
        }
        if !STATE.symbolic {
            return true;
        }
        STATE.symbolic = false;
        events::forget((*header).node_count);
        shapes::forget();
        address::forget_snapshots();
        samples::forget();
        stdio::forget_streams();
        outside::forget();
        calls::forget();
        lexers::forget();
        shadow::forget() && nodes::forget()
    }
}
