use super::*;
use expr::{FunctionMap, Node, Op, Supports};
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

/// Bytes 0 and on, with their domains.
struct Bytes<'b> {
    /// How many literals at the beginning of the path hold in any case.
    implied: u32,
    dag: &'b Dag,
    domains: &'b [(ByteSet, Option<u8>)],
    supports: Supports,
    functions: expr::Functions,
    map: FunctionMap,
}

impl Ground for Bytes<'_> {
    fn ties(&self, number: u32) -> bool {
        number >= self.implied
    }

    fn part(&mut self, label: Label) -> Option<Part> {
        let id = self.supports.of(self.dag, label);
        let Some(byte) = self.supports.get(id).single_byte() else { return Some(Part::Node) };
        let values = Arc::clone(self.functions.of(&mut self.map, self.dag, label)?);
        Some(Part::Function { byte, values })
    }

    fn stage(&mut self, label: Label, bytes: &[u32]) -> u32 {
        let id = self.supports.of(self.dag, label);
        let places = (1..).zip(bytes).filter(|(_, byte)| self.supports.get(id).contains(**byte));
        places.map(|(place, _)| place).max().unwrap_or(0)
    }

    fn domain(&mut self, byte: u32) -> (ByteSet, Option<u8>) {
        self.domains[byte as usize]
    }
}

type Found = Option<Option<Vec<(u32, u8)>>>;

/// Asks about bytes in this order.
fn solve_in_order(
    dag: &Dag,
    lits: &[Lit],
    domains: &[(ByteSet, Option<u8>)],
    bytes: &[u32],
) -> Found {
    // The goal's own nodes, in a literal that no question is about.
    let implied = [lits[0]];
    let path: Vec<Lit> = implied.into_iter().chain(lits.iter().rev().copied()).collect();
    let (supports, functions, map) =
        (Supports::new(), expr::Functions::default(), FunctionMap::default());
    let mut ground = Bytes { implied: 1, dag, domains, supports, functions, map };
    let mut product = Product::default();
    let numbers: Vec<u32> = (1..path.len() as u32).collect();
    let mut found = None;
    // Each literal is the goal after those before it, the last question coming first; earlier ones
    // leave marks behind.
    for prefix in [path.len() - 1, 1, path.len() - 1] {
        let numbers = &numbers[..prefix - 1];
        let query =
            ProductQuery { path: &path, numbers, goal: path[prefix], bytes, prefix: prefix as u32 };
        found = product.solve(dag, &query, &mut ground);
    }
    found
}

fn solve(dag: &Dag, lits: &[Lit], domains: &[(ByteSet, Option<u8>)]) -> Found {
    let bytes: Vec<u32> = (0..domains.len() as u32).collect();
    solve_in_order(dag, lits, domains, &bytes)
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
    let parity: Arc<Values> = Arc::new(std::array::from_fn(|value| value as u64 & 1));
    let quarter: Arc<Values> = Arc::new(std::array::from_fn(|value| value as u64 >> 6));
    assert_eq!(told_apart(b"bdxay".to_vec(), &[Arc::clone(&parity)]), b"ba");
    assert_eq!(told_apart(b"bB4dxay".to_vec(), &[parity, quarter]), b"b4a");
    assert_eq!(told_apart(b"xyz".to_vec(), &[]), b"x");
    assert_eq!(told_apart(Vec::new(), &[]), b"");
}

#[test]
fn does_not_try_too_many() {
    let (dag, lit) = product(11);
    assert_eq!(solve(&dag, &[lit], &[(ByteSet::ALL, None), (ByteSet::ALL, None)]), None);
}

/// A read from a table of expressions, compared with a number: what a write at a symbolic place
/// leaves.
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
        prop_assert_eq!(found, expected.clone());
        let reversed = solve_in_order(&dag, &lits, &domains, &[2, 0, 1]).expect("few combinations");
        prop_assert_eq!(reversed.is_some(), expected.is_some());
        for (byte, value) in reversed.iter().flatten() {
            prop_assert!(domains[*byte as usize].0.contains(*value));
        }
        let input = reversed.map(|values| values.into_iter().collect::<std::collections::BTreeMap<u32, u8>>());
        let mut evaluator = expr::Evaluator::new();
        let input: Vec<u8> = input.iter().flatten().map(|(_, value)| *value).collect();
        let mut evaluation = evaluator.under(&dag, &input);
        prop_assert!(input.is_empty() || lits.iter().all(|lit| evaluation.holds(lit.label) == lit.value));
    }
}
