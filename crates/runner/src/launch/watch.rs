//! Follows the system calls of a program and tells the driver about those that the sandbox denies.
//!
//! As in the rest of a launch: only system calls, no allocation, no panics. Calls are followed by
//! `ptrace`, which costs far too much for all runs.

use crate::denials::{CALLS, MAX_PATH, Message};
use libc::{c_int, c_long, c_void};
use std::ptr::null_mut;

/// Follows `program`, which has asked to be traced and stopped itself, until it ends or its time is
/// over.
///
/// # Safety
/// `program` must be a child of this process that nobody else waits for.
pub(super) unsafe fn watch(program: c_int, timeout_ms: u32, reports: c_int) {
    const OPTIONS: c_int = libc::PTRACE_O_TRACESYSGOOD
        | libc::PTRACE_O_TRACECLONE
        | libc::PTRACE_O_TRACEFORK
        | libc::PTRACE_O_TRACEVFORK
        | libc::PTRACE_O_EXITKILL;
    // SAFETY: the caller gives the child to us; the structures are valid.
    unsafe {
        let deadline = now_ms().saturating_add(i64::from(timeout_ms));
        let mut status = 0;
        libc::waitpid(program, &mut status, libc::__WALL);
        libc::ptrace(libc::PTRACE_SETOPTIONS, program, null_mut::<c_void>(), OPTIONS as c_long);
        libc::ptrace(libc::PTRACE_SYSCALL, program, null_mut::<c_void>(), null_mut::<c_void>());
        while now_ms() < deadline {
            match libc::waitpid(-1, &mut status, libc::__WALL | libc::WNOHANG) {
                0 => {
                    libc::sched_yield();
                }
                process if process > 0 && libc::WIFSTOPPED(status) => {
                    go_on(process, status, reports)
                }
                process if process < 0 || process == program => return,
                _ => {}
            }
        }
    }
}

/// Lets a process go on that has stopped, after a look at the call that it made.
unsafe fn go_on(process: c_int, status: c_int, reports: c_int) {
    const CALL: c_int = libc::SIGTRAP | 0x80;
    // SAFETY: the process is stopped and ours.
    unsafe {
        let signal = libc::WSTOPSIG(status);
        if signal == CALL {
            look(process, reports);
        }
        // Stops of ours are no signals to the program.
        let own = [CALL, libc::SIGTRAP, libc::SIGSTOP].contains(&signal);
        let deliver = if own { 0 } else { signal };
        libc::ptrace(libc::PTRACE_SYSCALL, process, null_mut::<c_void>(), c_long::from(deliver));
    }
}

/// A call that comes back with one of these errors was denied. At its entry it has another result.
const DENIED: [i64; 3] = [-(libc::EACCES as i64), -(libc::EPERM as i64), -(libc::EROFS as i64)];

unsafe fn look(process: c_int, reports: c_int) {
    // SAFETY: the process is stopped; the structures are valid.
    unsafe {
        let mut registers: libc::user_regs_struct = std::mem::zeroed();
        let place = (&raw mut registers).cast::<c_void>();
        if libc::ptrace(libc::PTRACE_GETREGS, process, null_mut::<c_void>(), place) != 0
            || !DENIED.contains(&(registers.rax as i64))
        {
            return;
        }
        let Some(known) = CALLS.iter().position(|call| call.number == registers.orig_rax) else {
            return;
        };
        let mut message = Message { call: known as u32, path: [0; MAX_PATH] };
        let arguments = [registers.rdi, registers.rsi, registers.rdx];
        if let Some(&path) = CALLS[known].path.and_then(|argument| arguments.get(argument)) {
            copy_text(process, path, &mut message.path);
        }
        libc::send(reports, (&raw const message).cast(), size_of::<Message>(), libc::MSG_NOSIGNAL);
    }
}

/// Copies a string of the process, as much as has room in front of a zero.
unsafe fn copy_text(process: c_int, from: u64, to: &mut [u8; MAX_PATH]) {
    const WORD: usize = size_of::<c_long>();
    for (at, part) in to[..MAX_PATH - WORD].chunks_exact_mut(WORD).enumerate() {
        // SAFETY: a read that fails gives a word of ones or an error, and no harm.
        let word = unsafe {
            let address = (from as usize).wrapping_add(at * WORD) as *mut c_void;
            *libc::__errno_location() = 0;
            let word = libc::ptrace(libc::PTRACE_PEEKDATA, process, address, null_mut::<c_void>());
            if *libc::__errno_location() != 0 {
                return;
            }
            word.to_ne_bytes()
        };
        part.copy_from_slice(&word);
        if word.contains(&0) {
            return;
        }
    }
}

fn now_ms() -> i64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the structure is valid for writing.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    time.tv_sec.saturating_mul(1000).saturating_add(time.tv_nsec / 1_000_000)
}
