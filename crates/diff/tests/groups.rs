//! Grouping: what is put together, and that the order of finding does not matter.

use std::collections::{BTreeMap, BTreeSet};

use diff::{Class, Difference, Group, Groups, Kind, Place, Side, Sighting, Signature, TokenKind};
use proptest::prelude::*;
use run::Outcome;

fn difference(class: Class) -> Difference {
    let outcomes = match class.stopped() {
        Some(Side::A) => [Outcome::Exit(1), Outcome::Exit(0)],
        Some(Side::B) => [Outcome::Exit(0), Outcome::Exit(1)],
        None => [Outcome::Exit(0); 2],
    };
    Difference { class, outcomes, mismatches: Vec::new() }
}

fn signature(class: Class, stopped: [&str; 2], ran: [&[&str]; 2]) -> Signature {
    let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let stopped = stopped.map(|place| Some(place.to_owned()));
    Signature::new(&difference(class), stopped, ran.map(|names| Some(set(names))))
}

fn ran(names: &[&str]) -> Place {
    Place::Ran(names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>())
}

#[test]
fn what_is_characteristic_depends_on_the_class() {
    let of = |class| signature(class, ["a.c:1", "b.c:2"], [&["f"], &["g"]]).places;
    let stopped = |place: &str| Place::Stopped(place.to_owned());
    assert_eq!(of(Class::BothAccept), [ran(&["f"]), ran(&["g"])]);
    assert_eq!(of(Class::Rejects(Side::A)), [stopped("a.c:1"), ran(&["g"])]);
    assert_eq!(of(Class::Rejects(Side::B)), [ran(&["f"]), stopped("b.c:2")]);
    assert_eq!(of(Class::Crashes(Side::A)), [stopped("a.c:1"), Place::Unknown]);
    assert_eq!(of(Class::Crashes(Side::B)), [Place::Unknown, stopped("b.c:2")]);
}

#[test]
fn programs_without_traces_are_unknown() {
    let nothing = Signature::new(&difference(Class::BothAccept), [None, None], [None, None]);
    assert_eq!(nothing.places, [Place::Unknown, Place::Unknown]);
}

#[test]
fn the_smallest_input_is_kept() {
    let mut groups = Groups::default();
    let one = signature(Class::BothAccept, ["", ""], [&["f"], &[]]);
    let other = signature(Class::BothAccept, ["", ""], [&["g"], &[]]);
    let mut add = |signature, input: &[u8]| {
        let (sighting, group) = groups.add(signature, input);
        (sighting, group.id, group.input.clone())
    };
    assert_eq!(add(&one, b"bbb"), (Sighting::New, 1, b"bbb".to_vec()));
    assert_eq!(add(&other, b"cc"), (Sighting::New, 2, b"cc".to_vec()));
    assert_eq!(add(&one, b"aaaa"), (Sighting::Known, 1, b"bbb".to_vec()));
    assert_eq!(add(&one, b"aaa"), (Sighting::Smaller, 1, b"aaa".to_vec()));
    groups.count(1);
    let counts: Vec<u64> = groups.all().iter().map(|group| group.inputs).collect();
    assert_eq!(counts, [4, 1]);
}

#[test]
fn an_input_with_another_in_it_is_like_it() {
    let mut groups = Groups::default();
    let class = Class::Rejects(Side::A);
    let at = |place| signature(class, [place, ""], [&[], &["g"]]);
    let found: [(Signature, &[u8]); 8] = [
        (signature(class, ["a.c:2", ""], [&[], &["h"]]), b"longer xy"),
        (at("a.c:5"), b"longer xy"),
        (at("a.c:1"), b"x y"),
        (at("a.c:2"), b"xy"),
        (at("a.c:3"), b"yx"),
        (at("a.c:4"), b"(xy)"),
        (at("a.c:6"), b"xz "),
        (signature(Class::BothAccept, ["", ""], [&["f"], &["g"]]), b"zxyz"),
    ];
    for (signature, input) in found {
        groups.add(&signature, input);
    }
    let like = |group: &Group| groups.plainest(group).map(|plainest| plainest.id);
    let all: Vec<Option<usize>> = groups.all().iter().map(like).collect();
    assert_eq!(all, [Some(4), None, Some(4), None, None, Some(4), None, None]);
}

#[test]
fn crashes_are_told_apart_by_their_places() {
    let mut groups = Groups::default();
    for (place, input) in [("a.c:1", b"xy".as_slice()), ("a.c:2", b"x")] {
        groups.add(&signature(Class::Crashes(Side::A), [place, ""], [&[], &[]]), input);
    }
    assert_eq!(groups.plainest(&groups.all()[0]), None);
}

fn any_signature() -> impl Strategy<Value = Signature> {
    let class = prop_oneof![
        Just(Class::BothAccept),
        Just(Class::Rejects(Side::A)),
        Just(Class::Crashes(Side::B))
    ];
    let kinds = prop::collection::vec(
        prop_oneof![
            Just(Kind::Exit),
            Just(Kind::Stdout(TokenKind::Number, TokenKind::Word)),
            Just(Kind::File(Side::A))
        ],
        0..2,
    );
    (class, kinds, prop::collection::btree_set("[fg]", 0..2)).prop_map(|(class, kinds, names)| {
        let places = [Place::Ran(names), Place::Unknown];
        Signature { class, outcomes: [String::new(), String::new()], kinds, places }
    })
}

/// Without the number, which is the order of finding.
fn content(groups: &[Group]) -> BTreeMap<Signature, (Vec<u8>, u64)> {
    let of = |group: &Group| (group.signature.clone(), (group.input.clone(), group.inputs));
    groups.iter().map(of).collect()
}

proptest! {
    #[test]
    fn groups_do_not_depend_on_the_order(
        found in prop::collection::vec((any_signature(), "[ab]{0,3}"), 0..12)
            .prop_flat_map(|found| (Just(found.clone()), Just(found).prop_shuffle())),
    ) {
        let grouped = |found: &[(Signature, String)]| {
            let mut groups = Groups::default();
            for (signature, input) in found {
                groups.add(signature, input.as_bytes());
            }
            content(groups.all())
        };
        let (found, shuffled) = found;
        prop_assert_eq!(grouped(&found), grouped(&shuffled));
    }
}
