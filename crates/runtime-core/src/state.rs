//! What the runtime knows of the current run.
//!
//! There is one [`Run`] a process. It is written before the target's `main` starts and then only
//! under the runtime's own guard ([`enter`]), so threads and signal handlers of the target never
//! see it half-written. Its parts are cells: expressions are built by functions that call each
//! other with the whole of it, and none may hold a part to itself.

use crate::address::Snapshots;
use crate::budget::Budget;
use crate::cons::Cons;
use crate::events::Log;
use crate::facts::Facts;
use crate::family::Family;
use crate::hashes::Hashes;
use crate::lexer::Lexer;
use crate::objects::Objects;
use crate::regions::Regions;
use crate::repetitions::{self, Repetition, allocations::Allocations};
use crate::segment::Segment;
use crate::shadow::Shadow;
use crate::shapes::Shapes;
use crate::texts::Copies;
use crate::{nodes, os, shadow, shapes, tls};
use core::cell::Cell;
use core::sync::atomic::{AtomicU32, Ordering};
use trace::{GiveUp, marks};

pub struct Run {
    pub segment: Segment,
    /// Input bytes get labels in this run.
    pub symbolic: Cell<bool>,
    /// The target has started a thread or a process: take the lock.
    pub threaded: Cell<bool>,
    /// Nothing is symbolic in this run, so that functions run in their concrete versions. Not so
    /// before the first run begins: functions that are active then may see runs of both kinds.
    pub concrete: Cell<bool>,
    lock: AtomicU32,
    /// The processes that the program has forked.
    pub family: Family,
    pub nodes: Cons,
    pub shadow: Shadow,
    pub objects: Objects,
    pub shapes: Shapes,
    pub regions: Regions,
    pub facts: Facts,
    pub log: Log,
    pub budget: Budget,
    pub lexer: Lexer,
    pub snapshots: Snapshots,
    pub hashes: Hashes,
    pub copies: Copies,
    pub repetition: Cell<Repetition>,
    pub allocations: Allocations,
}

/// The one run of this process.
struct OfProcess(Run);

// SAFETY: the guard lets one thread in at a time. What is read without it is whole at any moment:
// numbers and pointers, which other threads do not change while they matter.
unsafe impl Sync for OfProcess {}

static RUN: OfProcess = OfProcess(Run {
    segment: Segment::NONE,
    symbolic: Cell::new(false),
    threaded: Cell::new(false),
    concrete: Cell::new(false),
    lock: AtomicU32::new(0),
    family: Family::NEW,
    nodes: Cons::NEW,
    shadow: Shadow::NEW,
    objects: Objects::NEW,
    shapes: Shapes::NEW,
    regions: Regions::NEW,
    facts: Facts::NEW,
    log: Log::NEW,
    budget: Budget::NEW,
    lexer: Lexer::NONE,
    snapshots: Snapshots::NEW,
    hashes: Hashes::NEW,
    copies: Copies::NEW,
    repetition: Cell::new(Repetition::NONE),
    allocations: Allocations::NEW,
});

impl Run {
    #[inline(always)]
    pub fn current() -> &'static Run {
        &RUN.0
    }

    /// Before the first run: memory that every run would otherwise map for itself. There is room
    /// for this much input, and the segment knows for how many nodes.
    pub fn prepare(&self, max_input: usize) {
        self.snapshots.prepare();
        self.hashes.prepare();
        shadow::prepare(self);
        self.facts.prepare(self.segment.node_cap());
        shapes::prepare(self, max_input);
        self.regions.prepare();
        self.nodes.prepare(&self.segment);
    }

    /// What every run with labels begins with; the segment is open. The parts build on each other:
    /// byte functions are at places of the input's nodes, the budget depends on whether there are
    /// any, and the nodes of a repetition replace those of its bytes.
    pub fn begin(&self) {
        self.symbolic.set(true);
        let len = self.segment.input_len();
        let repetition = repetitions::find(self, len);
        let inputs = len + repetition.map_or(0, |_| marks::COUNT_BYTES);
        if !nodes::start(self, inputs) {
            self.symbolic.set(false);
            return self.segment.count_give_up(GiveUp::InputTooLong);
        }
        self.log.start(&self.segment);
        self.facts.lengths.start(&self.segment);
        shapes::start(self, if repetition.is_some() { 0 } else { len });
        self.budget.start(self);
        repetitions::start(self, repetition);
    }

    /// Makes the process as free of labels as a new one; false if it cannot be.
    pub fn reset(&self) -> bool {
        if !self.symbolic.replace(false) {
            return true;
        }
        self.facts.reset(self.segment.node_count().min(self.segment.node_cap()));
        self.shapes.reset();
        self.snapshots.reset();
        self.hashes.reset();
        self.lexer.reset();
        tls::reset();
        shadow::reset(self) && self.nodes.reset()
    }

    /// This process was forked by the program just now: no other thread of it is inside.
    pub fn join_family(&self) {
        self.lock.store(0, Ordering::Relaxed);
        self.family.join();
    }
}

/// Asked at the entry of functions that have a concrete version.
#[unsafe(no_mangle)]
pub extern "C" fn __tgi_is_concrete() -> u32 {
    u32::from(Run::current().concrete.get())
}

/// The functions that are called from here on keep no labels, or do again, in the middle of a run:
/// only around those that write no memory, so that no label becomes void. Returns whether that was
/// so. Not with threads, which all see it.
pub fn run_concretely(run: &Run, concretely: bool) -> bool {
    if run.threaded.get() && !run.concrete.get() {
        return false;
    }
    tls::drop_labels_in_flight();
    run.concrete.replace(concretely)
}

/// A guard on the run's state.
pub struct Entered(&'static Run);

/// Enters the runtime, or answers `None` where a signal handler interrupted the runtime on this
/// thread.
#[inline(always)]
pub fn enter(run: &Run) -> Option<Entered> {
    let tls = tls::tls();
    if tls.busy.get() != 0 {
        return None;
    }
    tls.busy.set(1);
    if run.threaded.get() {
        lock(run);
    }
    Some(Entered(Run::current()))
}

impl Drop for Entered {
    #[inline(always)]
    fn drop(&mut self) {
        if self.0.threaded.get() {
            self.0.family.leave(self.0);
            self.0.lock.store(0, Ordering::Release);
        }
        tls::tls().busy.set(0);
    }
}

#[cold]
fn lock(run: &Run) {
    while run.lock.compare_exchange_weak(0, 1, Ordering::Acquire, Ordering::Relaxed).is_err() {
        os::sched_yield();
    }
    run.family.enter(run);
}

/// True while input bytes have labels.
#[inline(always)]
pub fn active(run: &Run) -> bool {
    run.symbolic.get()
}
