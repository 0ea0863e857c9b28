//! Expressions of one input byte as functions: the table of their 256 values.
//!
//! Functions are shared by content, and so is every application of an operator to them. A parser's
//! long chain of table reads over one token goes through few different functions, so most of its
//! nodes cost one lookup.

use crate::dag::{Dag, op_of, operands_of};
use crate::semantics::{Operator, narrow};
use crate::texts::Operation;
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use trace::{ByteSet, Label, Node, Op};

/// The value of an expression for each value of its byte.
pub type Values = [u64; 256];

/// Functions and applications beyond these numbers are forgotten.
const MAX_FUNCTIONS: usize = 1 << 14;
const MAX_APPLICATIONS: usize = 1 << 20;

/// Functions of a byte, of any number of Dags.
#[derive(Default)]
pub struct Functions {
    values: Vec<Arc<Values>>,
    /// For each function, the bytes for which it is 1.
    ones: Vec<ByteSet>,
    by_content: FxHashMap<u64, u32>,
    applications: FxHashMap<Application, u32>,
    constants: FxHashMap<u64, u32>,
    identity: Option<u32>,
    tables: FxHashMap<Arc<[u8]>, u32>,
    table_bytes: Vec<Arc<[u8]>>,
    generation: u64,
}

/// An operator and the functions that it is applied to, in few words to hash; a read has a table in
/// place of its second operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Application([u64; 2]);

impl Application {
    fn new(Operator { op, bits, operand_bits, low }: Operator, [a, b, c]: [u32; 3]) -> Application {
        let operator = u32::from_le_bytes([op as u8, bits, operand_bits, low]);
        let pair = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        Application([pair(operator, a), pair(b, c)])
    }
}

/// The functions of the nodes of one Dag.
#[derive(Default)]
pub struct FunctionMap {
    functions: Vec<Known>,
    tables: FxHashMap<u32, u32>,
    stack: Vec<Label>,
    generation: u64,
}

/// What is known about a node.
#[derive(Clone, Copy, Default)]
enum Known {
    #[default]
    Nothing,
    Function(u32),
    /// It cannot be a function of a byte.
    None,
}

impl Functions {
    /// The values of `label`, which depends on at most one input byte. `None` where a word does not
    /// hold them or what they are made from, or where they depend on the length.
    pub fn of(&mut self, map: &mut FunctionMap, dag: &Dag, label: Label) -> Option<&Arc<Values>> {
        self.number(map, dag, label).map(|number| &self.values[number])
    }

    /// For which values of its byte `label`, which depends on at most one input byte, is 1.
    pub fn ones(&mut self, map: &mut FunctionMap, dag: &Dag, label: Label) -> Option<ByteSet> {
        self.number(map, dag, label).map(|number| self.ones[number])
    }

    fn number(&mut self, map: &mut FunctionMap, dag: &Dag, label: Label) -> Option<usize> {
        if self.values.len() > MAX_FUNCTIONS || self.applications.len() > MAX_APPLICATIONS {
            *self = Functions { generation: self.generation + 1, ..Functions::default() };
        }
        if map.generation != self.generation {
            *map = FunctionMap { generation: self.generation, ..FunctionMap::default() };
        }
        if map.functions.len() < dag.len() {
            map.functions.resize(dag.len(), Known::Nothing);
        }
        map.stack.push(label);
        while let Some(&top) = map.stack.last() {
            if map.knows(top) {
                map.stack.pop();
            } else if !map.waits_for(&dag.operands(top))
                && !map.waits_for(&self.cells(map, dag, top))
            {
                let function = self.make(map, dag, top);
                map.functions[top as usize] = function.map_or(Known::None, Known::Function);
                map.stack.pop();
            }
        }
        map.get(label).map(|number| number as usize)
    }

    fn make(&mut self, map: &mut FunctionMap, dag: &Dag, label: Label) -> Option<u32> {
        let node = dag.node(label);
        if node.bits > 64 {
            return None;
        }
        match op_of(node) {
            Op::Const | Op::Token => {
                let value = node.const_value();
                Some(self.constant(value))
            }
            Op::Input => Some(self.identity()),
            Op::Len => None,
            Op::Find | Op::Compare => self.text(map, dag, node),
            Op::Read if dag.table(node.b).labels.is_some() => self.read_symbolic(map, dag, node),
            Op::Read => {
                let table = self.table(map, dag, node.b);
                Some(self.apply(operator(dag, node), [map.get(node.a)?, table, 0]))
            }
            _ => {
                let mut operands = [0; 3];
                for (operand, label) in
                    operands.iter_mut().zip(operands_of(node)).filter(|(_, label)| *label != 0)
                {
                    *operand = map.get(label)?;
                }
                let operator = operator(dag, node);
                (operator.operand_bits <= 64).then(|| self.apply(operator, operands))
            }
        }
    }

    fn apply(&mut self, operator: Operator, operands: [u32; 3]) -> u32 {
        let application = Application::new(operator, operands);
        if let Some(&known) = self.applications.get(&application) {
            return known;
        }
        let [a, b, c] = operands.map(|number| number as usize);
        let values = &self.values;
        let result: Values = if operator.op == Op::Read {
            let (offsets, table) = (&values[a], &self.table_bytes[b]);
            std::array::from_fn(|byte| read(table, offsets[byte], operator.bits))
        } else {
            let (a, b, c) = (&values[a], &values[b], &values[c]);
            std::array::from_fn(|byte| narrow::apply(operator, a[byte], b[byte], c[byte]))
        };
        let number = self.intern(result);
        self.applications.insert(application, number);
        number
    }

    fn constant(&mut self, value: u64) -> u32 {
        if let Some(&known) = self.constants.get(&value) {
            return known;
        }
        let number = self.intern([value; 256]);
        self.constants.insert(value, number);
        number
    }

    fn identity(&mut self) -> u32 {
        let number =
            self.identity.unwrap_or_else(|| self.intern(std::array::from_fn(|byte| byte as u64)));
        self.identity = Some(number);
        number
    }

    /// Functions whose hashes collide are not shared, which costs nothing but memory.
    fn intern(&mut self, values: Values) -> u32 {
        let mut hasher = FxHasher::default();
        values.hash(&mut hasher);
        let next = self.values.len() as u32;
        let number = *self.by_content.entry(hasher.finish()).or_insert(next);
        if self.values.get(number as usize).is_some_and(|known| **known == values) {
            return number;
        }
        self.ones.push(ByteSet::whose(&values, |value| value == 1));
        self.values.push(Arc::new(values));
        next
    }

    /// The number of a table without symbolic bytes, by content.
    fn table(&mut self, map: &mut FunctionMap, dag: &Dag, number: u32) -> u32 {
        *map.tables.entry(number).or_insert_with(|| {
            let bytes = &dag.table(number).bytes[..];
            if let Some(&known) = self.tables.get(bytes) {
                return known;
            }
            let (next, bytes): (u32, Arc<[u8]>) = (self.table_bytes.len() as u32, bytes.into());
            self.table_bytes.push(Arc::clone(&bytes));
            self.tables.insert(bytes, next);
            next
        })
    }

    /// The symbolic bytes of a text, and those that a read can get to, once the function of its
    /// offset is known.
    fn cells(&self, map: &FunctionMap, dag: &Dag, label: Label) -> Vec<Label> {
        let node = dag.node(label);
        if dag.table_labels(label).is_empty() {
            return Vec::new();
        }
        if op_of(node).is_text() {
            return dag.table_labels(label).to_vec();
        }
        let Some(offsets) = map.get(node.a) else { return Vec::new() };
        let mut offsets: Vec<u64> = self.values[offsets as usize].to_vec();
        offsets.sort_unstable();
        offsets.dedup();
        let places = offsets.iter().flat_map(|&offset| places(offset, node.bits));
        places.map(|place| dag.table(node.b).label(place)).collect()
    }

    fn text(&mut self, map: &FunctionMap, dag: &Dag, node: &Node) -> Option<u32> {
        let (text, pattern) = (dag.table(node.b), &dag.table(node.c).bytes);
        let operation = Operation::new(node, pattern);
        let mut cells = Vec::with_capacity(text.bytes.len());
        for at in 0..text.bytes.len() as u64 {
            cells.push(match text.label(at) {
                0 => None,
                label => Some(map.get(label)? as usize),
            });
        }
        let cell = |at: usize, byte: usize| match cells[at] {
            None => text.bytes[at],
            Some(number) => self.values[number][byte] as u8,
        };
        let values = std::array::from_fn(|byte| operation.apply(cells.len(), |at| cell(at, byte)));
        Some(self.intern(values))
    }

    fn read_symbolic(&mut self, map: &FunctionMap, dag: &Dag, node: &Node) -> Option<u32> {
        let (table, offsets) = (dag.table(node.b), &self.values[map.get(node.a)? as usize]);
        let mut values = [0; 256];
        for (byte, value) in values.iter_mut().enumerate() {
            for place in places(offsets[byte], node.bits).rev() {
                let cell = match table.label(place) {
                    0 => u64::from(table.byte(place)),
                    label => self.values[map.get(label)? as usize][byte],
                };
                *value = *value << 8 | cell;
            }
        }
        Some(self.intern(values))
    }
}

impl FunctionMap {
    /// Pushes the operands that have no entry yet; true if there are any.
    fn waits_for(&mut self, operands: &[Label]) -> bool {
        let before = self.stack.len();
        for &label in operands {
            if label != 0 && !self.knows(label) {
                self.stack.push(label);
            }
        }
        self.stack.len() > before
    }

    fn knows(&self, label: Label) -> bool {
        !matches!(self.functions[label as usize], Known::Nothing)
    }

    fn get(&self, label: Label) -> Option<u32> {
        match self.functions[label as usize] {
            Known::Function(number) => Some(number),
            Known::Nothing | Known::None => None,
        }
    }
}

fn operator(dag: &Dag, node: &Node) -> Operator {
    let op = op_of(node);
    Operator { op, bits: node.bits, operand_bits: dag.bits(node.a) as u8, low: node.aux as u8 }
}

/// Where the bytes of a value at `offset` are, lowest first. What no memory holds reads as 0.
fn places(offset: u64, bits: u8) -> impl DoubleEndedIterator<Item = u64> {
    (0..u64::from(bits / 8)).map(move |index| offset.saturating_add(index))
}

fn read(table: &[u8], offset: u64, bits: u8) -> u64 {
    let byte = |place: u64| {
        usize::try_from(place).ok().and_then(|place| table.get(place)).copied().unwrap_or(0)
    };
    places(offset, bits).rev().fold(0, |value, place| value << 8 | u64::from(byte(place)))
}
