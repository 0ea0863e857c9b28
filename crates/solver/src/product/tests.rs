use super::*;
use expr::{FunctionMap, Functions, Node, Op, Supports};
use proptest::prelude::*;

/// a * b = `product`, for two bytes of an input.
fn product(product: u64) -> (Dag, Lit) {
    let nodes = vec![Node::default(); 4];
    let mut dag = Dag::from_raw(nodes, vec![0; 4], Vec::new(), 2).expect("a Dag of two bytes");
    let label = dag.add(Node::binary(Op::Mul, 8, 1, 2));
    let constant = dag.add(Node::constant(8, product));
    let label = dag.add(Node::binary(Op::Eq, 1, label, constant));
    (dag, Lit::new(label, true))
}

/// Adds all that the literals are made of, as a path solver does. All bytes below `bytes` are choices.
fn look_at(product: &mut Product, dag: &Dag, lits: &[Lit], bytes: usize) {
    let (mut supports, mut functions, mut map) =
        (Supports::new(), Functions::default(), FunctionMap::default());
    product.start(dag, bytes);
    lits.iter().for_each(|lit| product.reach(lit.label));
    while let Some(label) = product.next() {
        let id = supports.of(dag, label);
        let support = supports.get(id);
        match (support.single_byte(), support.last_byte()) {
            (Some(byte), _) => {
                let values = functions.of(&mut map, dag, label).expect("narrow");
                product.add_function(label, byte + 1, Arc::clone(values));
            }
            (None, last) => product.add_node(dag, label, last.map_or(0, |last| last + 1)),
        }
    }
}

type Found = Option<Option<Vec<(u32, u8)>>>;

fn solve(dag: &Dag, lits: &[Lit], domains: &[(ByteSet, Option<u8>)]) -> Found {
    let mut product = Product::default();
    look_at(&mut product, dag, lits, domains.len());
    let choices =
        (0..).zip(domains).map(|(byte, (set, current))| product.choice(byte + 1, byte, *set, *current));
    let choices: Vec<Choice> = choices.collect();
    product.solve(dag, lits, &choices)
}

fn digits(current: u8) -> (ByteSet, Option<u8>) {
    ((2..10).collect(), Some(current))
}

#[test]
fn finds_a_combination_near_the_current_one() {
    let (dag, lit) = product(24);
    let domains = [digits(6), digits(7)];
    assert_eq!(solve(&dag, &[lit], &domains), Some(Some(vec![(0, 6), (1, 4)])));
    assert_eq!(solve(&dag, &[lit.negated()], &domains), Some(Some(vec![(0, 6), (1, 7)])));
}

#[test]
fn says_that_there_is_none() {
    let (dag, lit) = product(11);
    assert_eq!(solve(&dag, &[lit], &[digits(6), digits(7)]), Some(None));
    assert_eq!(solve(&dag, &[lit], &[digits(6), (ByteSet::EMPTY, None)]), Some(None));
}

#[test]
fn values_that_no_function_tells_apart_are_one() {
    let (dag, _) = product(0);
    let choose = |current, function: Option<fn(usize) -> u64>| {
        let mut product = Product::default();
        product.start(&dag, 1);
        if let Some(function) = function {
            product.reach(1);
            product.add_function(1, 1, Arc::new(std::array::from_fn(function)));
        }
        product.choice(1, 0, ByteSet::ALL, Some(current)).values
    };
    assert_eq!(choose(b'b', Some(|value| value as u64 & 1)), b"ba");
    assert_eq!(choose(b'x', None), b"x");
}

#[test]
fn does_not_try_too_many() {
    let (dag, lit) = product(11);
    assert_eq!(solve(&dag, &[lit], &[(ByteSet::ALL, None), (ByteSet::ALL, None)]), None);
}

/// A read from a table of expressions, compared with a number: what a write at a symbolic place leaves.
fn written_table(cells: &[u8], index: u8, value: u64) -> (Dag, Lit) {
    let mut dag = Dag::new();
    let bytes: Vec<Label> = (0..3).map(|byte| dag.input(byte)).collect();
    let mut labels = Vec::new();
    for (place, &cell) in cells.iter().enumerate() {
        let place = dag.add(Node::constant(8, place as u64));
        let here = dag.add(Node::binary(Op::Eq, 1, bytes[0], place));
        let old = dag.add(Node::constant(8, cell.into()));
        let new = bytes[1 + usize::from(cell & 1)];
        labels.push(dag.add(Node { op: Op::Ite as u8, bits: 8, aux: 0, a: here, b: new, c: old }));
    }
    let table = expr::TableData { bytes: vec![0; cells.len()], labels: Some(labels) };
    let table = dag.add_table(table).expect("labels fit");
    let mask = dag.add(Node::constant(8, index.into()));
    let offset = dag.add(Node::binary(Op::And, 8, bytes[2], mask));
    let offset = dag.add(Node::unary(Op::ZExt, 64, offset));
    let read = dag.add(Node { op: Op::Read as u8, bits: 8, aux: 0, a: offset, b: table, c: 0 });
    let value = dag.add(Node::constant(8, value));
    let label = dag.add(Node::binary(Op::Ult, 1, read, value));
    (dag, Lit::new(label, true))
}

/// Evaluates the literals on every combination, the last byte changing fastest.
fn brute_force(dag: &Dag, lits: &[Lit], domains: &[(ByteSet, Option<u8>)]) -> Option<Vec<u8>> {
    let mut inputs: Vec<Vec<u8>> = vec![Vec::new()];
    for (set, current) in domains {
        let longer = |input: &Vec<u8>| {
            let input = input.clone();
            set.preferred(*current).map(move |value| [&input[..], &[value]].concat())
        };
        inputs = inputs.iter().flat_map(longer).collect();
    }
    let mut evaluator = expr::Evaluator::new();
    inputs.into_iter().find(|input| {
        let mut evaluation = evaluator.under(dag, input);
        lits.iter().all(|lit| evaluation.holds(lit.label) == lit.value)
    })
}

proptest! {
    #[test]
    fn agrees_with_all_combinations(
        cells in prop::collection::vec(0u8..8, 1..6),
        index: u8,
        (first, second) in (0u64..9, 0u64..9),
        values in prop::collection::vec((any::<bool>(), prop::collection::vec(0u8..9, 0..6)), 3),
        truth: (bool, bool),
    ) {
        let (mut dag, lit) = written_table(&cells, index, first);
        let bytes: Vec<Label> = (0..3).map(|byte| dag.input(byte)).collect();
        let sum = dag.add(Node::binary(Op::Add, 8, bytes[0], bytes[2]));
        let second = dag.add(Node::constant(8, second));
        let other = dag.add(Node::binary(Op::Eq, 1, sum, second));
        let lits = [Lit { value: truth.0, ..lit }, Lit::new(other, truth.1)];
        let domains: Vec<(ByteSet, Option<u8>)> = values
            .iter()
            .map(|(has_current, set)| (set.iter().copied().collect(), set.first().copied().filter(|_| *has_current)))
            .collect();
        let expected = brute_force(&dag, &lits, &domains);
        let found = solve(&dag, &lits, &domains).expect("few combinations");
        let found = found.map(|values| values.into_iter().map(|(_, value)| value).collect());
        prop_assert_eq!(found, expected);
    }
}
