//! Processes of one run: a program that forks goes on in all of them, and each writes the trace.
//!
//! The trace is in shared memory, but what is known of it (where a node is found again, which byte
//! functions there are) is each process's own. So one process writes at a time, as one thread does,
//! and whoever writes after another first learns what that one has added ([`Family::enter`]).
//! Events stand in the order in which the processes ran. What the path implies stays each process's
//! own, too: it knows less then, but nothing wrong.

use crate::state::Run;
use crate::{os, shapes};
use core::cell::Cell;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicU32, Ordering};

/// What the processes of a run share beside the trace. All zeros is nobody inside.
struct Shared {
    /// The process that is inside; 0 if none is.
    inside: AtomicU32,
    /// The process that was inside last.
    last: AtomicU32,
    /// One more than the number of a function by which labelled data has left a process.
    left: AtomicU32,
}

/// How far a process knows the trace.
#[derive(Clone, Copy)]
struct Known {
    nodes: u32,
    tables: u32,
}

pub struct Family {
    /// Null in a process that has neither forked nor was forked by the program.
    shared: Cell<*mut Shared>,
    process: Cell<u32>,
    known: Cell<Known>,
}

/// How often a process gives way to the one that is inside. That one may have been killed there.
const PATIENCE: u32 = 20_000;

impl Family {
    pub const NEW: Family = Family {
        shared: Cell::new(null_mut()),
        process: Cell::new(0),
        known: Cell::new(Known { nodes: 0, tables: 0 }),
    };

    fn shared(&self) -> Option<&'static Shared> {
        let shared = self.shared.get();
        // SAFETY: the memory is never given back, and written as atomic numbers only.
        (!shared.is_null()).then(|| unsafe { &*shared })
    }

    /// Whether the program has forked.
    pub fn is_founded(&self) -> bool {
        !self.shared.get().is_null()
    }

    /// The program is about to fork. False if its children cannot write the trace.
    pub fn found(&self, run: &Run) -> bool {
        if self.shared.get().is_null() {
            self.shared.set(os::allocate_shared(size_of::<Shared>()).cast());
            self.process.set(os::process());
        }
        run.threaded.set(true);
        self.note_known(run);
        self.shared().is_some()
    }

    /// This process was forked just now.
    pub fn join(&self) {
        self.process.set(os::process());
    }

    /// A process has ended, perhaps while it was inside.
    pub fn bury(&self, process: u32) {
        if let Some(shared) = self.shared() {
            let (leave, order) = (0, Ordering::SeqCst);
            _ = shared.inside.compare_exchange(process, leave, order, order);
        }
    }

    /// Waits until no other process writes the trace, and learns what others have written.
    pub fn enter(&self, run: &Run) {
        let Some(shared) = self.shared() else { return };
        let process = self.process.get();
        for _ in 0..PATIENCE {
            let (from, to) = (Ordering::Acquire, Ordering::Relaxed);
            if shared.inside.compare_exchange(0, process, from, to).is_ok() {
                break;
            }
            os::sched_yield();
        }
        shared.inside.store(process, Ordering::Relaxed);
        if shared.last.swap(process, Ordering::Relaxed) != process {
            self.learn(run);
        }
    }

    /// Labelled data has left this process: another may read it.
    pub fn note_left(&self, function: u32) {
        if let Some(shared) = self.shared() {
            shared.left.store(function.wrapping_add(1), Ordering::Relaxed);
        }
    }

    /// The function by which it has, if any process has sent some.
    pub fn take_left(&self) -> Option<u32> {
        self.shared()?.left.swap(0, Ordering::Relaxed).checked_sub(1)
    }

    pub fn leave(&self, run: &Run) {
        let Some(shared) = self.shared() else { return };
        self.note_known(run);
        shared.inside.store(0, Ordering::Release);
    }

    fn note_known(&self, run: &Run) {
        if run.symbolic.get() {
            let (nodes, tables) = (run.segment.node_count(), run.segment.table_count());
            self.known.set(Known { nodes, tables });
        }
    }

    /// Takes over what another process has added to the trace.
    fn learn(&self, run: &Run) {
        if run.symbolic.get() {
            let Known { nodes, tables } = self.known.get();
            run.nodes.adopt(&run.segment, nodes);
            run.snapshots.adopt(tables, run.segment.table_count());
            shapes::adopt(run);
        }
    }
}
