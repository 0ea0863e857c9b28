//! What each kind of event becomes.

use path::{
    ConstraintKind, PathCondition, Purpose, RawTrace, Recorded, Trace, WrongDirection,
    check_directions,
};
use sites::{Site, SiteKind, SiteTable};
use trace::{CheckKind, Event, EventKind, Label, Node, Op};

const LESS: Label = 3;
const WIDE: Label = 4;

/// One input byte, `x`; node 3 is never true (`input[0] < input[0]`), node 4 is the byte in 128
/// bits.
fn trace(events: Vec<Event>) -> Trace {
    let nodes = vec![
        Node::default(),
        Node::default(),
        Node::default(),
        Node::binary(Op::Ult, 1, 1, 1),
        Node::unary(Op::ZExt, 128, 1),
    ];
    let values = vec![0, b'x'.into(), 1, 0, b'x'.into()];
    let recorded = Recorded { nodes, values, input_len: 1, ..Recorded::default() };
    Trace::from_raw(RawTrace { recorded, events, ..RawTrace::default() }).expect("sound")
}

fn sites() -> SiteTable {
    let branch = Site { kind: SiteKind::Branch { coverage: 4 }, ..Site::default() };
    SiteTable {
        sites: vec![Site::default(), branch, Site::default()],
        outcomes: 6,
        ..SiteTable::default()
    }
}

fn event(kind: EventKind, site: u32, label: Label) -> Event {
    Event { kind: kind as u8, site, label, ..Event::default() }
}

#[test]
fn a_branch_has_one_other_side() {
    let mut trace = trace(vec![event(EventKind::Branch, 1, LESS)]);
    let condition = PathCondition::new(&mut trace, &sites());
    let [constraint] = &condition.constraints[..] else { panic!("{condition:?}") };
    assert_eq!((constraint.taken, constraint.outcome), (false, Some(4)));
    assert_eq!(constraint.other_directions(&sites()), [1]);
    assert_eq!(constraint.outcome_of(1, &sites()), Some(5));
    assert_eq!(constraint.purpose(1), Purpose::Cover);
}

#[test]
fn coverage_counts_what_the_program_branches_on() {
    let negated = Event { arg: 1, ..event(EventKind::Branch, 1, LESS) };
    let mut trace = trace(vec![negated]);
    let condition = PathCondition::new(&mut trace, &sites());
    let constraint = &condition.constraints[0];
    assert_eq!((constraint.taken, constraint.outcome), (false, Some(5)));
    assert_eq!(constraint.outcome_of(1, &sites()), Some(4));
}

#[test]
fn what_was_asserted_is_not_asserted_again() {
    let branch = event(EventKind::Branch, 1, LESS);
    let mut trace = trace(vec![branch, branch, event(EventKind::Branch, 2, LESS)]);
    assert_eq!(PathCondition::new(&mut trace, &sites()).len(), 1);
}

#[test]
fn a_check_is_violated_on_purpose_only_in_one_direction() {
    let check = Event { aux: CheckKind::OutOfBounds as u16, ..event(EventKind::Check, 2, LESS) };
    let mut trace = trace(vec![check]);
    let condition = PathCondition::new(&mut trace, &sites());
    let constraint = &condition.constraints[0];
    assert_eq!(constraint.kind, ConstraintKind::Check(CheckKind::OutOfBounds));
    assert_eq!(constraint.purpose(1), Purpose::Violate(CheckKind::OutOfBounds));
    assert_eq!(constraint.purpose(0), Purpose::Cover);
    assert_eq!(constraint.outcome_of(1, &sites()), None);
}

#[test]
fn a_fixed_value_holds_and_has_no_other_side() {
    for label in [1, WIDE] {
        let mut trace = trace(vec![event(EventKind::Concretise, 2, label)]);
        let condition = PathCondition::new(&mut trace, &sites());
        assert!(matches!(
            condition.constraints[0].kind,
            ConstraintKind::Concretise { value: 0x78, .. }
        ));
        assert_eq!(condition.constraints[0].other_directions(&sites()), []);
        assert_eq!(check_directions(&trace.dag, &condition, b"x"), []);
        assert_eq!(
            check_directions(&trace.dag, &condition, b"y").len(),
            1,
            "other inputs break it"
        );
    }
}

#[test]
fn a_lie_is_found() {
    let mut trace = trace(vec![Event { taken: 1, ..event(EventKind::Branch, 1, LESS) }]);
    let condition = PathCondition::new(&mut trace, &sites());
    let wrong = check_directions(&trace.dag, &condition, b"x");
    assert_eq!(wrong, [WrongDirection { index: 0, site: 1, taken: true }]);
    assert_eq!(
        wrong[0].to_string(),
        "constraint 0 at site 1: the run took true, the expression says false"
    );
}

#[test]
fn paths_with_equal_control_flow_have_equal_hashes() {
    let hash = |events| PathCondition::new(&mut trace(events), &sites()).control_hash();
    let branch = event(EventKind::Branch, 1, LESS);
    let fixed = event(EventKind::Concretise, 2, 1);
    assert_eq!(hash(vec![branch]), hash(vec![fixed, branch]));
    assert_ne!(hash(vec![branch]), hash(vec![Event { taken: 1, ..branch }]));
    assert_ne!(hash(vec![branch]), hash(vec![]));
}

#[test]
fn what_a_lexer_asks_is_given() {
    let nodes = vec![
        Node::default(),
        Node::default(),
        Node::default(),
        Node::binary(Op::Ult, 1, 1, 1),
        Node::token(0, 300),
        Node::unary(Op::Not, 1, 3),
    ];
    let values = vec![0, b'x'.into(), 1, 0, 300, 1];
    let outside = Event { taken: 1, ..event(EventKind::Branch, 1, 5) };
    let events = vec![
        event(EventKind::LexerEntered, 0, 0),
        event(EventKind::Branch, 1, LESS),
        event(EventKind::Delivered, 0, 4),
        outside,
    ];
    let recorded = Recorded { nodes, values, input_len: 1, ..Recorded::default() };
    let raw = RawTrace { recorded, events, ..RawTrace::default() };
    let condition = PathCondition::new(&mut Trace::from_raw(raw).expect("sound"), &sites());
    let labels =
        |of: &[path::Constraint]| of.iter().map(|constraint| constraint.label).collect::<Vec<_>>();
    assert_eq!((labels(&condition.constraints), labels(&condition.given)), (vec![5], vec![LESS]));
    assert_eq!(condition.tokens.len(), 1);
}
