//! Runs for tests, on memory of their own, without a target.

use crate::state::Run;
use crate::{objects, shadow, shapes};
use std::sync::{Mutex, MutexGuard, Once};
use trace::{Capacities, Event, Header, Node, Table, flags};

/// The runtime's state is one a process, so tests take turns.
static TURN: Mutex<()> = Mutex::new(());

const NODES: u32 = 1 << 16;
const MAX_INPUT: u64 = 4096;

/// A run in this process.
pub struct TestRun {
    _turn: MutexGuard<'static, ()>,
    pub segment: Vec<u64>,
}

/// Nodes, their values, byte functions, and tables without labels.
pub struct Recording {
    pub nodes: Vec<Node>,
    pub values: Vec<u64>,
    pub shapes: Vec<Node>,
    pub tables: Vec<Vec<u8>>,
}

/// The run that goes on.
pub fn now() -> &'static Run {
    Run::current()
}

impl TestRun {
    pub fn start(input: &[u8]) -> TestRun {
        TestRun::marked(input, None)
    }

    /// A run in which only holes, and the number of filler bytes, are symbolic.
    pub fn with_marks(input: &[u8], marks: &[u8]) -> TestRun {
        TestRun::marked(input, Some(marks))
    }

    fn marked(input: &[u8], marks: Option<&[u8]>) -> TestRun {
        static RESERVE: Once = Once::new();
        let turn = TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        RESERVE.call_once(|| {
            assert!(shadow::reserve() && objects::reserve());
            now().facts.prepare(NODES);
            shapes::prepare(now(), MAX_INPUT as usize);
            now().regions.prepare();
        });
        let capacities = Capacities {
            input: MAX_INPUT,
            coverage: 4096,
            events: 4096,
            nodes: NODES.into(),
            tables: 64,
            data: 1 << 16,
        };
        let (mut header, size) = Header::new(&capacities);
        header.input_len = input.len() as u32;
        header.flags = if marks.is_some() { flags::HOLES } else { 0 };
        let mut segment = vec![0u64; size as usize / 8];
        let bytes = segment.as_mut_ptr().cast::<u8>();
        // SAFETY: the segment has the size and alignment that its header says, and lives as long as
        // the run.
        unsafe {
            bytes.cast::<Header>().write(header);
            put(input, bytes.add(header.input.offset as usize));
            put(marks.unwrap_or_default(), bytes.add(header.holes.offset as usize));
        }
        TestRun::begin(segment, turn)
    }

    fn begin(mut segment: Vec<u64>, turn: MutexGuard<'static, ()>) -> TestRun {
        let run = now();
        run.symbolic.set(true);
        run.segment.attach(segment.as_mut_ptr().cast());
        run.segment.set_node_count(NODES);
        run.segment.set_node_cap(NODES);
        run.reset();
        run.segment.set_node_count(0);
        // SAFETY: a whole segment, which nothing else uses.
        unsafe { run.segment.open(segment.as_mut_ptr().cast()) };
        run.begin();
        TestRun { _turn: turn, segment }
    }

    /// What the driver would find of the run so far.
    pub fn recording(&self) -> Recording {
        let (segment, header) = (&now().segment, self.segment.as_ptr().cast::<Header>());
        // SAFETY: the segment has a header.
        let (shapes, count) = unsafe { ((*header).shapes.offset as usize, (*header).shape_count) };
        let shapes = self.segment.as_ptr().cast::<u8>().wrapping_add(shapes).cast::<Node>();
        let bytes = |table: Table| {
            // SAFETY: the bytes of a table are in the segment.
            unsafe {
                core::slice::from_raw_parts(segment.data(table.data), table.len as usize).to_vec()
            }
        };
        Recording {
            nodes: (0..segment.node_count()).map(|label| segment.node(label)).collect(),
            values: (0..segment.node_count()).map(|label| segment.value(label)).collect(),
            // SAFETY: there are as many shapes in the segment.
            shapes: unsafe { core::slice::from_raw_parts(shapes, count as usize).to_vec() },
            tables: (0..segment.table_count()).map(|number| bytes(segment.table(number))).collect(),
        }
    }

    pub fn events(&self) -> Vec<Event> {
        (0..now().segment.event_count()).map(|number| now().segment.event(number)).collect()
    }
}

/// # Safety
/// There is room for the bytes.
unsafe fn put(bytes: &[u8], to: *mut u8) {
    // SAFETY: the caller's promise.
    unsafe { core::ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len()) };
}
