//! The part of Tarragon that is linked, as bitcode, into instrumented targets: where it starts.
//!
//! [`runtime_core`] keeps labels and builds expressions, [`runtime_models`] stands in for library
//! functions, [`runtime_process`] takes one input after the other. None may allocate through the
//! target's allocator, panic, use the standard library, or change what the target does.
//!
//! Functions named `__tg_*` are called by instrumented code, which inlines those named `__tgi_*`
//! always; the table of all of them is [`trace::entry`]. Functions named `__tarragon_model_*`
//! replace the library function of that name.
#![cfg_attr(not(test), no_std)]

mod entry;
pub mod start;

#[cfg(tarragon_bitcode)]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    runtime_core::os::abort()
}
