//! Start of the target: before its constructors, and at its `main`.

use crate::objects::{self, Global};
use crate::state::STATE;
use crate::{events, nodes, os, server, shadow};
use trace::{GiveUp, Header, flags};

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
    }
}

#[cfg(not(test))]
#[used]
#[unsafe(link_section = ".preinit_array")]
static INITIALISE: unsafe extern "C" fn() = initialise;

/// Called first thing in `main`. Under Tarragon this is the fork server: it returns once in every run.
///
/// `coverage` is the program's coverage map, page-aligned and a whole number of pages.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tg_start(
    coverage: *mut u8,
    coverage_len: usize,
    globals: *mut Global,
    count: usize,
) {
    unsafe {
        objects::register_globals(globals, count);
        let header = server::serve(|header| prepare(header, coverage, coverage_len));
        if header.is_null() {
            return;
        }
        (*header).coverage_needed = coverage_len.min(u32::MAX as usize) as u32;
        start_run(header);
    }
}

/// Before the first run: what every run would otherwise map for itself.
unsafe fn prepare(header: *mut Header, coverage: *mut u8, coverage_len: usize) {
    unsafe {
        share_coverage(header, coverage, coverage_len);
        STATE.node_cap = (*header).nodes.capacity.min(nodes::MOST_NODES) as u32;
        events::prepare(STATE.node_cap);
        nodes::prepare();
    }
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
        if (*header).flags & flags::SYMBOLIC == 0 {
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
        nodes::start(region((*header).input.offset));
        if (*header).input_len as u64 > (*header).input.capacity {
            crate::state::count_give_up(GiveUp::InputTooLong);
        }
    }
}
