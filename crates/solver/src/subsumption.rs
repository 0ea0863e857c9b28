//! Answers that follow from answers to other questions.
//!
//! A question that contains literals known to contradict each other (an *unsat core*) has no
//! answer. An input that was found for the same goal after another path may do for this path too;
//! whether it does is found out by evaluation.
//!
//! Literals are known by a digest of their structure, input bytes by their number: runs of one
//! program share their beginnings, so that the same literal on the same bytes comes again in other
//! runs.

use crate::digest::{Digest, Key};
use crate::query::{Answer, Lit, Query, UnknownReason};
use expr::{Dag, Label, Op};
use rustc_hash::{FxHashMap, FxHashSet};

/// See the module.
#[derive(Default)]
pub(crate) struct Subsumption {
    /// Cores by their last literal, which is the goal that they were found for as a rule.
    cores: FxHashMap<Key, Vec<Box<[Key]>>>,
    /// Inputs by the goal that they were found for, the latest last.
    models: FxHashMap<Key, Vec<Model>>,
    entries: usize,
}

/// Values of bytes, and the length if it matters.
#[derive(Clone, PartialEq, Eq)]
struct Model {
    bytes: Vec<(u32, u8)>,
    len: Option<usize>,
}

/// Entries beyond this number make room by forgetting all.
const MAX_ENTRIES: usize = 1 << 18;
/// Cores and models that are kept for one literal.
const MAX_EACH: usize = 8;

/// A question's literals, in its order, as keys.
pub(crate) struct Literals(Vec<Key>);

impl Subsumption {
    /// "unsat" is certain; an input is a guess that must be checked.
    pub(crate) fn get(
        &self,
        literals: &Literals,
        query: &Query,
        check: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Answer {
        if self.contains_core(literals) {
            return Answer::Unsat;
        }
        let goal = literals.0.last().and_then(|goal| self.models.get(goal));
        let inputs = goal.into_iter().flatten().rev();
        let mut inputs =
            inputs.map(|model| query.input_with(model.bytes.iter().copied(), model.len));
        inputs
            .find(|input| check(input))
            .map_or(Answer::Unknown(UnknownReason::Unsupported), Answer::Sat)
    }

    fn contains_core(&self, literals: &Literals) -> bool {
        let mut cores =
            literals.0.iter().filter_map(|key| self.cores.get(key)).flatten().peekable();
        if cores.peek().is_none() {
            return false;
        }
        let all: FxHashSet<Key> = literals.0.iter().copied().collect();
        cores.any(|core| core.iter().all(|key| all.contains(key)))
    }

    /// Remembers an answer. `core` are numbers of literals that contradict each other; all do if
    /// there is none.
    pub(crate) fn put(
        &mut self,
        literals: &Literals,
        current: &[u8],
        answer: &Answer,
        core: Option<&[u32]>,
    ) {
        let Some(&goal) = literals.0.last() else { return };
        if self.entries >= MAX_ENTRIES {
            *self = Subsumption::default();
        }
        match answer {
            Answer::Unknown(_) => return,
            Answer::Unsat => self.put_core(literals, core),
            Answer::Sat(input) => {
                let model = Model::new(current, input);
                keep(self.models.entry(goal).or_default(), model);
            }
        }
        self.entries += 1;
    }

    fn put_core(&mut self, literals: &Literals, core: Option<&[u32]>) {
        let chosen = |core: &[u32]| {
            core.iter().filter_map(|&number| literals.0.get(number as usize)).copied().collect()
        };
        let mut core: Vec<Key> = core.map_or_else(|| literals.0.clone(), chosen);
        let Some(last) = core.pop() else { return };
        core.sort_unstable();
        keep(self.cores.entry(last).or_default(), core.into());
    }
}

/// Adds at the end, unless it is there, and forgets the first if there are too many.
fn keep<T: PartialEq>(list: &mut Vec<T>, item: T) {
    if list.contains(&item) {
        return;
    }
    if list.len() >= MAX_EACH {
        list.remove(0);
    }
    list.push(item);
}

impl Model {
    /// What differs from the current input.
    fn new(current: &[u8], input: &[u8]) -> Model {
        let changed = |&(index, byte): &(usize, &u8)| current.get(index) != Some(byte);
        let bytes = input
            .iter()
            .enumerate()
            .filter(changed)
            .map(|(index, &byte)| (index as u32, byte))
            .collect();
        Model { bytes, len: (input.len() != current.len()).then_some(input.len()) }
    }
}

impl Literals {
    pub(crate) fn new(query: &Query) -> Literals {
        let mut keys = Keys {
            query,
            of_node: vec![None; query.dag.len()],
            of_table: FxHashMap::default(),
            stack: Vec::new(),
        };
        Literals(query.literals().map(|lit| keys.literal(lit)).collect())
    }
}

/// Digests of nodes.
struct Keys<'q> {
    query: &'q Query<'q>,
    of_node: Vec<Option<Key>>,
    of_table: FxHashMap<u32, Key>,
    stack: Vec<Label>,
}

impl Keys<'_> {
    fn literal(&mut self, lit: Lit) -> Key {
        let mut digest = Digest::new();
        let key = self.node(lit.label);
        digest.key(key);
        digest.word(u64::from(lit.value));
        digest.finish()
    }

    fn node(&mut self, label: Label) -> Key {
        self.stack.push(label);
        while let Some(&top) = self.stack.last() {
            let waiting = self.stack.len();
            if self.of_node[top as usize].is_none() && !self.push_operands(top) {
                self.of_node[top as usize] = Some(self.combine(top));
            }
            if self.stack.len() == waiting {
                self.stack.pop();
            }
        }
        self.known(label)
    }

    fn known(&self, label: Label) -> Key {
        self.of_node[label as usize].unwrap_or_default()
    }

    /// Pushes the operands without a key; true if there are any.
    fn push_operands(&mut self, label: Label) -> bool {
        let dag: &Dag = self.query.dag;
        let before = self.stack.len();
        let operands = dag.operands(label);
        let operands = operands.iter().chain(dag.table_labels(label));
        let unknown =
            operands.filter(|&&operand| operand != 0 && self.of_node[operand as usize].is_none());
        self.stack.extend(unknown);
        self.stack.len() > before
    }

    fn combine(&mut self, label: Label) -> Key {
        let dag = self.query.dag;
        let node = dag.node(label);
        let mut digest = Digest::new();
        digest.word(u64::from(node.op) | u64::from(node.bits) << 8 | u64::from(node.aux) << 16);
        match dag.op(label) {
            Op::Const | Op::Token => digest.word(node.const_value()),
            Op::Input => digest.word(u64::from(node.a)),
            // How long an input may be is part of the question.
            Op::Len => digest.word(self.query.max_len as u64),
            op => {
                for &operand in &dag.operands(label)[..op.arity()] {
                    digest.key(self.known(operand));
                }
            }
        }
        if dag.op(label).has_table() {
            let table = self.table(node.b);
            digest.key(table);
        }
        if dag.op(label).is_text() {
            let pattern = self.table(node.c);
            digest.key(pattern);
        }
        digest.finish()
    }

    fn table(&mut self, number: u32) -> Key {
        if let Some(&key) = self.of_table.get(&number) {
            return key;
        }
        let dag = self.query.dag;
        let mut digest = Digest::new();
        digest.bytes(&dag.table(number).bytes);
        for &(index, label) in dag.table_cells(number) {
            digest.word(u64::from(index));
            digest.key(self.known(label));
        }
        let key = digest.finish();
        self.of_table.insert(number, key);
        key
    }
}
