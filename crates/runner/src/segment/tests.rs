//! A target in this process: writes into the segment as the runtime would, or worse.

use super::*;
use proptest::prelude::*;
use trace::flags;

const CAPACITIES: Capacities =
    Capacities { input: 100, coverage: 50, events: 40, nodes: 300, tables: 10, data: 4000 };

impl Segment {
    fn scribble(&self, change: impl FnOnce(&mut Header)) {
        let mut header = self.read_header();
        change(&mut header);
        // SAFETY: the mapping starts with a header.
        unsafe { self.memory.as_mut_ptr().cast::<Header>().write_volatile(header) }
    }

    fn put<T: Plain>(&self, region: Region, index: usize, element: T) {
        // SAFETY: the tests stay within the regions.
        unsafe { self.at(region.offset).cast::<T>().add(index).write(element) }
    }
}

fn segment() -> Segment {
    Segment::new(&CAPACITIES).unwrap()
}

#[test]
fn what_was_written_comes_out() {
    let mut segment = segment();
    segment.prepare(b"ab", flags::SYMBOLIC).unwrap();
    let header = segment.header;
    segment.put(header.nodes, 1, Node::constant(8, 7));
    segment.put(header.values, 1, 7u64);
    segment.put(header.events, 0, Event { site: 5, ..Event::default() });
    segment.put(header.tables, 0, Table { data: 3, len: 2, labels: 8, reserved: 0 });
    segment.put(header.data, 4, b'x');
    segment.put(Region { offset: header.data.offset + 8, capacity: 2 }, 1, 77u32);
    segment.put(header.coverage, 49, 1u8);
    segment.scribble(|h| (h.node_count, h.event_count, h.table_count, h.data_len) = (2, 1, 1, 16));
    let trace = segment.collect().unwrap();
    assert_eq!(trace.recorded.nodes, [Node::default(), Node::constant(8, 7)]);
    assert_eq!(trace.recorded.values, [0, 7]);
    assert_eq!(trace.events, [Event { site: 5, ..Event::default() }]);
    let table = TableData { bytes: vec![0, b'x'], labels: Some(vec![0, 77]) };
    assert_eq!(trace.recorded.tables, [table]);
    assert_eq!(trace.recorded.input_len, 2);
    segment.collect_coverage();
    assert_eq!(segment.coverage().iter().position(|&byte| byte == 1), Some(49));
}

#[test]
fn a_new_run_starts_clean() {
    let mut segment = segment();
    segment.put(segment.header.coverage, 0, 1u8);
    segment.scribble(|h| (h.node_count, h.magic) = (9, 0));
    segment.prepare(b"", 0).unwrap();
    segment.collect_coverage();
    assert_eq!(segment.collect().unwrap().recorded.nodes.len(), 0);
    assert!(segment.coverage().iter().all(|&byte| byte == 0));
}

#[test]
fn the_count_of_a_repetition_comes_after_the_input() {
    let mut segment = segment();
    let mut symbolic_bytes = |repetition| {
        segment.restrict(Some(&[0..1, 2..3]), repetition);
        segment.prepare(b"abc", flags::SYMBOLIC).unwrap();
        segment.collect().unwrap().recorded.input_len
    };
    assert_eq!(symbolic_bytes(Some(1..2)), 3 + trace::marks::COUNT_BYTES);
    assert_eq!(symbolic_bytes(None), 3);
}

#[test]
fn holes_are_marked_for_each_input_and_forgotten_when_all_is_symbolic() {
    let mut segment = segment();
    let marks = |segment: &Segment, len: usize| -> Vec<u8> {
        // SAFETY: the region has room for the longest input.
        (0..len)
            .map(|index| unsafe { segment.at(segment.header.holes.offset).add(index).read() })
            .collect()
    };
    segment.restrict(Some(&[1..2, 3..6]), None);
    segment.prepare(b"abcdefgh", flags::SYMBOLIC).unwrap();
    assert_eq!(marks(&segment, 8), [0, 1, 0, 1, 1, 1, 0, 0]);
    assert_eq!(segment.read_header().flags, flags::SYMBOLIC | flags::HOLES);
    segment.restrict(Some(&[0..1, 4..5]), Some(1..4));
    segment.prepare(b"abbbc", flags::SYMBOLIC).unwrap();
    assert_eq!(marks(&segment, 5), [1, 2, 2, 2, 1], "a repetition within a hole");
    segment.restrict(Some(&[]), None);
    segment.prepare(b"abc", flags::SYMBOLIC).unwrap();
    assert_eq!(marks(&segment, 3), [0, 0, 0]);
    segment.restrict(None, None);
    segment.prepare(b"abc", flags::SYMBOLIC).unwrap();
    assert_eq!(segment.read_header().flags, flags::SYMBOLIC);
    assert!(segment.collect().is_ok());
}

#[test]
fn the_memory_of_a_large_trace_is_given_back() {
    let mut segment = Segment::new(&Capacities { events: 8 << 20, ..CAPACITIES }).unwrap();
    let blocks = |segment: &Segment| rustix::fs::fstat(&segment.file).unwrap().st_blocks;
    for index in (0..8 << 20).step_by(256) {
        segment.put(segment.header.events, index, Event::default());
    }
    segment.scribble(|h| h.event_count = 8 << 20);
    let before = blocks(&segment);
    segment.prepare(b"next", flags::SYMBOLIC).unwrap();
    assert!(blocks(&segment) < before / 100);
    assert!(segment.collect().is_ok());
}

#[test]
fn an_input_that_does_not_fit_is_refused() {
    let mut segment = segment();
    assert!(segment.prepare(&[0; 100], flags::SYMBOLIC).is_ok());
    assert!(matches!(
        segment.prepare(&[0; 101], flags::SYMBOLIC),
        Err(RunnerError::InputTooLong { len: 101, max: 100 })
    ));
}

#[test]
fn a_changed_region_is_corruption() {
    let segment = segment();
    segment.scribble(|h| h.nodes.capacity = u64::MAX);
    assert_eq!(segment.collect().unwrap_err(), SegmentCorrupted { what: "header" });
}

#[test]
fn tables_cannot_claim_the_same_memory_without_end() {
    let segment = segment();
    for index in 0..10 {
        let table = Table { data: 0, len: 4000, labels: u32::MAX, reserved: 0 };
        segment.put(segment.header.tables, index, table);
    }
    segment.scribble(|h| h.table_count = 10);
    assert_eq!(segment.collect().unwrap_err(), SegmentCorrupted { what: "place of a table" });
}

proptest! {
    /// Whatever the counters and the table say, collecting neither panics nor reads outside.
    #[test]
    fn any_numbers_are_survived(counts: [u32; 4], table: [u32; 3], small: bool) {
        let segment = segment();
        let limit = |n: u32| if small { n % 64 } else { n };
        let record = Table { data: limit(table[0]), len: limit(table[1]), labels: limit(table[2]), reserved: 0 };
        segment.put(segment.header.tables, 0, record);
        segment.scribble(|h| {
            (h.node_count, h.event_count) = (limit(counts[0]), limit(counts[1]));
            (h.table_count, h.data_len) = (counts[2] % 2, counts[3]);
        });
        if let Ok(trace) = segment.collect() {
            let Recorded { nodes, values, .. } = trace.recorded;
            prop_assert_eq!(nodes.len(), values.len());
            prop_assert!(nodes.len() <= 300 && trace.events.len() <= 40);
        }
    }
}

#[test]
fn reports_are_not_longer_than_their_place() {
    let mut segment = segment();
    segment.prepare(b"", 0).unwrap();
    assert_eq!(segment.reports(), b"");
    segment.put(segment.header.data, 0, b'r');
    segment.put(segment.header.data, 1, b'e');
    segment.scribble(|h| h.data_len = 2);
    assert_eq!(segment.reports(), b"re");
    segment.scribble(|h| h.data_len = u32::MAX);
    assert_eq!(segment.reports().len() as u64, CAPACITIES.data);
    segment.prepare(b"", 0).unwrap();
    assert_eq!(segment.reports(), b"", "those of the run before");
}
