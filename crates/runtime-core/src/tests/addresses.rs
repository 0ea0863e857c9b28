//! Reads and writes at symbolic addresses: when memory is copied into the trace, and what a run may
//! spend on that.

use super::{TestRun, now};
use crate::build::{self, Value};
use crate::{address, nodes, shadow};
use trace::{EventKind, Label, Op};

/// An array whose index is the input's first byte.
struct Array {
    bytes: Vec<u8>,
    _run: TestRun,
}

impl Array {
    fn new(len: usize) -> Array {
        let run = TestRun::start(&[1, 2, 3, 4]);
        let array = Array { bytes: vec![0; len], _run: run };
        now().snapshots.prepare();
        now().snapshots.reset();
        shadow::clear(array.start(), len);
        array
    }

    fn start(&self) -> usize {
        self.bytes.as_ptr() as usize
    }

    /// Address and label of the element that the first byte chooses.
    fn chosen(&self) -> (usize, Label) {
        let index = Value::new(build::zext(now(), 8, 64, nodes::input_value(now(), 0)), 1);
        let label = build::binary(now(), Op::Add, 64, index, Value::concrete(self.start() as u64));
        (self.start() + 1, label)
    }

    fn read(&self) -> Label {
        let (at, label) = self.chosen();
        address::__tg_load_at(at, label, self.bytes[1].into(), 1, self.start(), self.bytes.len(), 0)
    }

    fn write(&self) {
        let (at, label) = self.chosen();
        address::__tg_store_at(at, label, 0, 0, 1, self.start(), self.bytes.len(), 0);
    }
}

fn tables() -> u32 {
    // SAFETY: a run is going on.
    now().segment.table_count()
}

#[test]
fn an_object_with_labels_is_copied_again_only_after_it_changed() {
    let mut array = Array::new(16);
    array.bytes[5] = 2;
    shadow::set_entry(now(), array.start() + 5, nodes::input_byte(now(), 1));
    let first = array.read();
    assert_ne!(first, 0);
    assert_eq!((array.read(), tables()), (first, 1));
    array.bytes[7] = 3;
    let after_byte = array.read();
    assert_eq!((after_byte == first, tables()), (false, 2));
    shadow::set_entry(now(), array.start() + 7, nodes::input_byte(now(), 2));
    let after_label = array.read();
    assert_eq!((after_label == after_byte, tables()), (false, 3));
}

/// How many addresses the run has fixed.
fn fixed() -> usize {
    // SAFETY: a run is going on, and has this many events.
    let events = (0..now().segment.event_count()).map(|number| now().segment.event(number));
    events.filter(|event| event.kind == EventKind::Concretise as u8).count()
}

#[test]
fn writes_are_spread_until_the_limit_of_a_run() {
    let array = Array::new(256);
    for _ in 0..address::MAX_SPREAD / 256 {
        array.write();
    }
    assert_eq!(fixed(), 0);
    array.write();
    array.write();
    assert_eq!(fixed(), 1);
}
