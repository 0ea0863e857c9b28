//! The fork server alone, as a library for C programs: `tarragon_test_serve()`.
#![no_std]

use runtime_process::{batch, server, snapshot, sys};

/// What the instrumented `main` calls first.
///
/// # Safety
/// See `server::serve`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tarragon_test_serve() -> *mut trace::Header {
    unsafe { server::serve(|_| ()) }
}

/// What belongs to a run here: nothing.
struct Nothing;

impl batch::RunState for Nothing {
    type Kept = ();

    unsafe fn end() {}

    unsafe fn reset() -> Option<()> {
        Some(())
    }

    unsafe fn restore((): ()) {}
}

/// As above, in a program that begins again when it exits.
///
/// # Safety
/// See `server::serve`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tarragon_test_serve_rewound() -> *mut trace::Header {
    unsafe {
        batch::watch_exit::<Nothing>();
        let header = server::serve(|_| snapshot::survey(|_| false, None));
        batch::begin();
        header
    }
}

/// What a loop over inputs calls at the end of each round.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tarragon_test_again() -> core::ffi::c_int {
    unsafe { batch::again(|| true).into() }
}

/// Sets a coverage byte.
///
/// # Safety
/// `header` is null or comes from `tarragon_test_serve`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tarragon_test_cover(header: *mut trace::Header, outcome: usize) {
    unsafe {
        if !header.is_null() {
            *header.cast::<u8>().add((*header).coverage.offset as usize).add(outcome) = 1;
        }
    }
}

/// Writes one event with the first input byte as its site.
///
/// # Safety
/// As above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tarragon_test_event(header: *mut trace::Header) {
    unsafe {
        if header.is_null() || (*header).flags & trace::flags::SYMBOLIC == 0 {
            return;
        }
        let base = header.cast::<u8>();
        let site = u32::from(*base.add((*header).input.offset as usize));
        let event = trace::Event { site, ..trace::Event::default() };
        base.add((*header).events.offset as usize).cast::<trace::Event>().write(event);
        (*header).event_count = 1;
    }
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    sys::_exit(99)
}
