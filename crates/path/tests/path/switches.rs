//! Switches against the plain meaning of a switch.

use expr::Evaluator;
use path::{PathCondition, RawTrace, Recorded, Trace};
use proptest::prelude::*;
use sites::{Site, SiteKind, SiteTable};
use trace::{Event, EventKind, Node};

fn site_table(cases: &[u64]) -> SiteTable {
    let switch =
        Site { kind: SiteKind::Switch { coverage: 10, cases: cases.to_vec() }, ..Site::default() };
    SiteTable { sites: vec![Site::default(), switch], outcomes: 300, ..SiteTable::default() }
}

/// The case that a run on `byte` takes.
fn taken(cases: &[u64], byte: u8) -> usize {
    cases.iter().position(|&value| value == byte.into()).unwrap_or(cases.len())
}

fn switched_on(cases: &[u64], byte: u8) -> Trace {
    let event = Event {
        kind: EventKind::Switch as u8,
        site: 1,
        label: 1,
        arg: taken(cases, byte) as u32,
        ..Event::default()
    };
    let (nodes, values) = (vec![Node::default(); 3], vec![0, byte.into(), 1]);
    let recorded = Recorded { nodes, values, input_len: 1, ..Recorded::default() };
    let raw = RawTrace { recorded, events: vec![event], ..RawTrace::default() };
    Trace::from_raw(raw).expect("sound")
}

proptest! {
    #[test]
    fn every_direction_is_met_by_exactly_its_bytes(
        cases in prop::collection::vec(prop_oneof![0..6_u64, 250..256_u64, 97..123_u64], 0..20),
        byte: u8,
    ) {
        let sites = site_table(&cases);
        let mut trace = switched_on(&cases, byte);
        let condition = PathCondition::new(&mut trace, &sites);
        if cases.is_empty() {
            prop_assert!(condition.is_empty());
            return Ok(());
        }
        let constraint = condition.constraints[0].clone();
        prop_assert_eq!(constraint.outcome, Some(10 + taken(&cases, byte) as u32));
        let mut directions = constraint.other_directions(&sites);
        directions.push(taken(&cases, byte) as u64);
        let mut evaluator = Evaluator::new();
        for other in 0..=255_u8 {
            let mut met = Vec::new();
            for &direction in &directions {
                let flip = constraint.flip(direction, &mut trace.dag, &sites).expect("cases");
                if evaluator.under(&trace.dag, &[other]).holds(flip.label) == flip.value {
                    met.push(direction as usize);
                }
            }
            prop_assert_eq!(met, vec![taken(&cases, other)], "byte {}", other);
        }
    }
}
