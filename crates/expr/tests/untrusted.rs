//! Whatever a broken target writes, building a Dag gives an error or a Dag that evaluates.

use expr::{Assignment, BadDag, Dag, Label, Node, Op, Recorded, TableData};
use proptest::prelude::*;
use trace::{LENGTH, Places, SHAPED};

fn node() -> impl Strategy<Value = Node> {
    let bits = prop_oneof![Just(1u8), Just(8), Just(32), Just(64), any::<u8>()];
    (0u8..64, bits, 0u16..70, 0u32..20, 0u32..20, 0u32..20)
        .prop_map(|(op, bits, aux, a, b, c)| Node { op, bits, aux, a, b, c })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(5000))]

    #[test]
    fn raw_data_never_panics(
        nodes in prop::collection::vec(node(), 0..20),
        labels in prop::collection::vec(0u32..20, 0..6),
        input_len in 0u32..6,
        cut in 0usize..3,
    ) {
        let tables = [TableData { bytes: vec![1; 4], labels: Some(labels) }, TableData::concrete(vec![5])];
        // Cutting away bad nodes at the end finds prefixes that are accepted.
        for len in (0..=nodes.len()).rev() {
            let prefix = nodes[..len].to_vec();
            let values = vec![0; len];
            if let Ok(dag) = Dag::from_raw(prefix, values, tables[cut.min(1)..].to_vec(), input_len) {
                for label in 1..dag.len() as u32 {
                    dag.eval(label, &Assignment::new([9, 8, 7]));
                    dag.support(label);
                }
            }
        }
    }
}

/// Labels with and without a node.
fn label() -> impl Strategy<Value = Label> {
    prop_oneof![
        0u32..20,
        (0u32..64).prop_map(|rest| SHAPED | rest),
        (0u32..5, 0u32..9).prop_map(length),
        any::<u32>()
    ]
}

fn length((kind, number): (u32, u32)) -> Label {
    LENGTH | kind << 22 | number
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(5000))]

    /// Shapes that do not exist, that use later ones or no byte, at places beyond the input.
    #[test]
    fn recorded_data_never_panics(
        mut nodes in prop::collection::vec((node(), label()), 0..12),
        shapes in prop::collection::vec(node(), 1..12),
        labels in prop::collection::vec(label(), 4),
        mut used in prop::collection::vec(label(), 0..12),
        input_len in 0u32..6,
    ) {
        for (node, label) in &mut nodes {
            node.a = *label;
        }
        let nodes: Vec<Node> = nodes.into_iter().map(|(node, _)| node).collect();
        let tables = vec![TableData { bytes: vec![1; 4], labels: Some(labels) }, TableData::concrete(vec![5])];
        for len in (0..=nodes.len()).rev() {
            let recorded = Recorded {
                nodes: nodes[..len].to_vec(),
                values: vec![0; len],
                tables: tables.clone(),
                shapes: shapes.clone(),
                input_len,
            };
            if let Ok(dag) = Dag::from_recorded(recorded, used.iter_mut()) {
                prop_assert!(used.iter().all(|label| *label == Label::MAX || (*label as usize) < dag.len()));
                for label in 1..dag.len() as u32 {
                    dag.eval(label, &Assignment::new([9, 8, 7]));
                }
                return Ok(());
            }
        }
    }
}

/// `(b + 1) * b` at two places, and a condition on the length: each is there once, with its value.
#[test]
fn shapes_become_nodes_where_they_are_used() {
    let sum = Node::binary(Op::Add, 8, 0, 1);
    let shapes = vec![Node::default(), Node::constant(8, 1), sum, Node::binary(Op::Mul, 8, 2, 0)];
    let at = |shape, place| Places::of(2).label(shape, place);
    let nodes = vec![
        Node::default(),
        Node::default(),
        Node::default(),
        Node::default(),
        Node::binary(Op::Sub, 8, at(3, 1), at(3, 0)),
    ];
    let recorded = Recorded {
        nodes,
        values: vec![0, 10, 20, 2, 254],
        tables: Vec::new(),
        shapes,
        input_len: 2,
    };
    let mut used = [4, at(3, 1), at(2, 0), length((3, 2)), at(1, 0), 9, at(9, 0)];
    let dag = Dag::from_recorded(recorded, used.iter_mut()).expect("sound");
    let [difference, product, sum, condition, constant, ..] = used;
    let input = Assignment::new([3, 5]);
    let values =
        [difference, product, sum, condition, constant].map(|label| dag.eval(label, &input));
    assert_eq!(values, [18, 30, 4, 1, 1]);
    let recorded = [difference, product, sum, condition, constant].map(|label| dag.value(label));
    assert_eq!(recorded, [254, 420 % 256, 11, 1, 1]);
    assert_eq!(used[5..], [Label::MAX; 2]);
    assert_eq!(dag.len(), 1 + 2 + 1 + 1 + 2 * 2 + 1 + 3);
}

fn with_node(node: Node, tables: Vec<TableData>) -> Result<Dag, BadDag> {
    let nodes = vec![Node::default(), Node::default(), Node::default(), node];
    Dag::from_raw(nodes, vec![0; 4], tables, 1)
}

#[test]
fn input_nodes_are_given() {
    let dag = with_node(Node::unary(Op::ZExt, 32, 1), vec![]).expect("a good node");
    assert_eq!((dag.op(1), dag.op(2)), (Op::Input, Op::Len));
    assert_eq!(dag.eval(3, &Assignment::new(*b"a")), 97);
}

#[test]
fn each_defect_has_its_error() {
    let read = Node { op: Op::Read as u8, bits: 8, aux: 0, a: 2, b: 0, c: 0 };
    let later = TableData { bytes: vec![0], labels: Some(vec![3]) };
    let wrong_len = TableData { bytes: vec![0], labels: Some(vec![]) };
    let cases = [
        (with_node(Node { op: 255, bits: 1, ..Node::default() }, vec![]), "unknown operator 255"),
        (with_node(Node::unary(Op::Not, 8, 3), vec![]), "operand 3 does not come before it"),
        (with_node(Node::unary(Op::Not, 8, 0), vec![]), "operand 0 does not come before it"),
        (with_node(Node::binary(Op::Add, 8, 1, 2), vec![]), "widths do not fit operator add"),
        (with_node(Node::constant(129, 0), vec![]), "widths do not fit operator const"),
        (
            with_node(Node { op: Op::Input as u8, bits: 8, a: 1, ..Node::default() }, vec![]),
            "input byte 1",
        ),
        (with_node(read, vec![]), "table 0 does not exist"),
        (with_node(read, vec![later]), "table 0"),
        (with_node(read, vec![wrong_len]), "table 0: its labels do not match its bytes"),
        (Dag::from_raw(vec![], vec![], vec![], 0), "0 nodes cannot hold"),
        (Dag::from_raw(vec![Node::default(); 2], vec![], vec![], 0), "2 nodes but 0 values"),
    ];
    for (result, expected) in cases {
        let error = result.expect_err(expected).to_string();
        assert!(error.contains(expected), "{error:?} should contain {expected:?}");
    }
}

#[test]
fn text_errors_point_at_the_place() {
    let mut dag = Dag::new();
    let error = expr::parse("%1 = (add 8 (input 0) (input 1))\nroot %2\n", &mut dag)
        .expect_err("undefined");
    assert_eq!(error.to_string(), "line 2, column 8: %2 is not defined above");
    let error = expr::parse("%1 = (frob 8)", &mut dag).expect_err("no operator");
    assert_eq!(error.to_string(), "line 1, column 11: expected an operator");
    let error = expr::parse("%1 = (add 9 (input 0) (input 1))", &mut dag).expect_err("width");
    assert!(error.to_string().contains("widths do not fit operator add"));
}
