//! The one thread of the driver that starts children.
//!
//! A child asks the kernel for a signal at the death of its parent, and to the kernel the parent is
//! a thread. This thread lives as long as the driver, so runners can be made and used in threads
//! that end.

use super::child;
use super::plan::Plan;
use super::process::Process;
use std::io;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, OnceLock, PoisonError};

struct Job {
    plan: *const Plan,
    flags: i32,
    answer: Sender<io::Result<Process>>,
}

// SAFETY: `spawn` keeps the plan alive and untouched until the answer has come.
unsafe impl Send for Job {}

/// Starts a copy of the driver that carries out `plan`.
pub(super) fn spawn(plan: &Plan, flags: i32) -> io::Result<Process> {
    static SPAWNER: OnceLock<Result<Mutex<Sender<Job>>, io::ErrorKind>> = OnceLock::new();
    let spawner = SPAWNER.get_or_init(start).as_ref().map_err(|&kind| io::Error::from(kind))?;
    let (answer, result) = channel();
    let job = Job { plan, flags, answer };
    let sent = spawner.lock().unwrap_or_else(PoisonError::into_inner).send(job);
    sent.map_err(|_| io::Error::other("the spawner thread has ended"))?;
    result.recv().map_err(|_| io::Error::other("the spawner thread has ended"))?
}

fn start() -> Result<Mutex<Sender<Job>>, io::ErrorKind> {
    let (jobs, queue) = channel::<Job>();
    let work = move || {
        block_signals();
        for job in queue {
            // SAFETY: the sender waits for the answer and keeps the plan until then.
            let plan = unsafe { &*job.plan };
            let _ = job.answer.send(clone_child(plan, job.flags));
        }
    };
    match std::thread::Builder::new().name("tarragon-spawner".to_owned()).spawn(work) {
        Ok(_) => Ok(Mutex::new(jobs)),
        Err(error) => Err(error.kind()),
    }
}

/// No handler of the driver's may run in a child before it has reset them.
fn block_signals() {
    // SAFETY: the set is initialised by `sigfillset` before use.
    unsafe {
        let mut all = std::mem::zeroed();
        libc::sigfillset(&mut all);
        libc::pthread_sigmask(libc::SIG_BLOCK, &all, std::ptr::null_mut());
    }
}

fn clone_child(plan: &Plan, flags: i32) -> io::Result<Process> {
    // SAFETY: without `CLONE_VM` this is a fork; the child only makes system calls and never
    // returns.
    match unsafe { child::raw_clone(flags) } {
        // SAFETY: this is the new child.
        0 => unsafe { child::run(plan) },
        pid if pid > 0 => Ok(Process::new(pid as i32, flags & libc::CLONE_NEWPID != 0)),
        _ => Err(io::Error::last_os_error()),
    }
}
