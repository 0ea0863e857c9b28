//! Traces from targets that wrote nonsense.

use expr::TableData;
use path::{BadTrace, RawTrace, Recorded, Trace};
use proptest::prelude::*;
use sites::SiteTable;
use trace::{Event, EventKind, GiveUp, Node, Op};

fn raw(events: Vec<Event>) -> RawTrace {
    let compare = Node::binary(Op::Ult, 1, 1, 1);
    let nodes = vec![Node::default(), Node::default(), Node::default(), compare];
    let values = vec![0; nodes.len()];
    let recorded = Recorded { nodes, values, input_len: 1, ..Recorded::default() };
    RawTrace { recorded, events, ..RawTrace::default() }
}

fn event(kind: u8, label: u32) -> Event {
    Event { kind, label, ..Event::default() }
}

#[test]
fn each_fault_has_its_error() {
    let branch = EventKind::Branch as u8;
    assert!(Trace::from_raw(raw(vec![event(branch, 3)])).is_ok());
    assert!(matches!(
        Trace::from_raw(raw(vec![event(99, 3)])),
        Err(BadTrace::Kind { index: 0, kind: 99 })
    ));
    assert!(matches!(
        Trace::from_raw(raw(vec![event(branch, 4)])),
        Err(BadTrace::Label { label: 4, .. })
    ));
    assert!(matches!(
        Trace::from_raw(raw(vec![event(branch, 0)])),
        Err(BadTrace::Label { label: 0, .. })
    ));
    assert!(matches!(
        Trace::from_raw(raw(vec![event(branch, 1)])),
        Err(BadTrace::Width { bits: 8, .. })
    ));
    assert!(
        Trace::from_raw(raw(vec![event(EventKind::Switch as u8, 1)])).is_ok(),
        "switches have any width"
    );
    assert!(Trace::from_raw(raw(vec![event(EventKind::GiveUp as u8, 0)])).is_ok());
    assert!(matches!(
        Trace::from_raw(raw(vec![event(EventKind::Word as u8, 0)])),
        Err(BadTrace::Word { index: 0, table: 0 })
    ));
    let with_word = |len: usize| {
        let word = TableData::concrete(vec![b'a'; len]);
        let mut raw = raw(vec![event(EventKind::Word as u8, 0)]);
        raw.recorded.tables = vec![word];
        raw
    };
    assert!(Trace::from_raw(with_word(64)).is_ok());
    assert!(matches!(Trace::from_raw(with_word(65)), Err(BadTrace::Word { .. })));
    assert!(matches!(Trace::from_raw(RawTrace::default()), Err(BadTrace::Dag(_))));
}

#[test]
fn a_full_record_is_a_truncated_one() {
    let mut full = raw(Vec::new());
    full.give_ups[GiveUp::TraceFull as usize] = 1;
    assert!(Trace::from_raw(full).is_ok_and(|trace| trace.truncated));
}

proptest! {
    #[test]
    fn random_events_never_panic(
        fields in prop::collection::vec((0..7_u8, any::<u8>(), 0..6_u16, 0..5_u32, 0..6_u32, any::<u32>()), 0..20),
    ) {
        let make = |(kind, taken, aux, site, label, arg)| Event { kind, taken, aux, site, label, arg };
        let events = fields.into_iter().map(make).collect();
        if let Ok(mut trace) = Trace::from_raw(raw(events)) {
            let condition = path::PathCondition::new(&mut trace, &SiteTable::default());
            path::check_directions(&trace.dag, &condition, b"x");
        }
    }
}
