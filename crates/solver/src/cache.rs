//! Answers by the structure of the query, with input bytes numbered by their order: the same
//! constraints on other bytes, or in another run, are answered at once.

use crate::digest::{Digest, Key};
use crate::query::{Answer, Effort, Query, UnknownReason};
use expr::{Dag, Label, Op, Supports};
use rustc_hash::FxHashMap;

/// Answers beyond this number are forgotten.
const MAX_ENTRIES: usize = 1 << 18;

/// See the module.
///
/// Should two queries share a digest after all, a wrong "sat" would not pass the chain's check.
#[derive(Default)]
pub(crate) struct Cache {
    answers: FxHashMap<Key, Known>,
}

enum Known {
    /// Values of the bytes in order, and the length if it matters.
    Sat(Vec<u8>, Option<usize>),
    Unsat,
    /// The links gave up with this effort. They would again with no more of it, but other current
    /// bytes may still lead to an answer.
    Unknown(UnknownReason, Effort),
}

/// What a query is known by, with the bytes that its answer gives values to.
pub(crate) struct CacheKey {
    key: Key,
    bytes: Vec<u32>,
    uses_len: bool,
}

impl CacheKey {
    pub fn new(query: &Query) -> CacheKey {
        let mut supports = Supports::new();
        let mut all = expr::SupportId::EMPTY;
        for lit in query.literals() {
            let support = supports.of(query.dag, lit.label);
            all = supports.union(all, support);
        }
        let support = supports.get(all);
        let (bytes, uses_len) = (support.bytes().collect::<Vec<u32>>(), support.uses_len());
        let key = digest(query, &bytes, uses_len);
        CacheKey { key, bytes, uses_len }
    }
}

impl Cache {
    pub fn get(&self, key: &CacheKey, query: &Query) -> Option<Answer> {
        Some(match self.answers.get(&key.key)? {
            Known::Unsat => Answer::Unsat,
            Known::Unknown(_, effort) if *effort < query.effort => return None,
            Known::Unknown(reason, _) => Answer::Unknown(*reason),
            Known::Sat(values, len) => {
                let bytes = key.bytes.iter().copied().zip(values.iter().copied());
                Answer::Sat(query.input_with(bytes, *len))
            }
        })
    }

    pub fn put(&mut self, key: CacheKey, answer: &Answer, effort: Effort) {
        let known = match answer {
            Answer::Unknown(reason) => Known::Unknown(*reason, effort),
            Answer::Unsat => Known::Unsat,
            Answer::Sat(input) => {
                let value = |&byte: &u32| input.get(byte as usize).copied().unwrap_or(0);
                Known::Sat(
                    key.bytes.iter().map(value).collect(),
                    key.uses_len.then_some(input.len()),
                )
            }
        };
        if self.answers.len() >= MAX_ENTRIES {
            self.answers.clear();
        }
        self.answers.insert(key.key, known);
    }
}

fn digest(query: &Query, bytes: &[u32], uses_len: bool) -> Key {
    let mut digest = Digest::new();
    digest.word(if uses_len { query.max_len as u64 } else { u64::MAX });
    let mut number: FxHashMap<Label, u64> = FxHashMap::default();
    let mut tables = Vec::new();
    let mut stack = Vec::new();
    for lit in query.literals() {
        stack.push(lit.label);
        while let Some(&label) = stack.last() {
            let dag = query.dag;
            if !number.contains_key(&label) && push_operands(dag, label, &number, &mut stack) {
                continue;
            }
            stack.pop();
            if !number.contains_key(&label) {
                node(dag, label, &number, bytes, &mut digest);
                table(dag, label, &number, &mut tables, &mut digest);
                number.insert(label, number.len() as u64);
            }
        }
        digest.word(number[&lit.label] << 1 | u64::from(lit.value));
    }
    digest.finish()
}

fn push_operands(
    dag: &Dag,
    label: Label,
    number: &FxHashMap<Label, u64>,
    stack: &mut Vec<Label>,
) -> bool {
    let before = stack.len();
    let operands = dag.operands(label);
    let operands = operands.iter().chain(dag.table_labels(label));
    stack.extend(operands.filter(|&&operand| operand != 0 && !number.contains_key(&operand)));
    stack.len() > before
}

fn node(
    dag: &Dag,
    label: Label,
    number: &FxHashMap<Label, u64>,
    bytes: &[u32],
    digest: &mut Digest,
) {
    let node = dag.node(label);
    digest.word(u64::from(node.op) | u64::from(node.bits) << 8 | u64::from(node.aux) << 16);
    match dag.op(label) {
        Op::Const | Op::Token => digest.word(node.const_value()),
        Op::Input => digest.word(bytes.partition_point(|&byte| byte < node.a) as u64),
        op => {
            for operand in &dag.operands(label)[..op.arity()] {
                digest.word(number[operand]);
            }
        }
    }
}

/// A table's content counts where it is first read.
fn table(
    dag: &Dag,
    label: Label,
    number: &FxHashMap<Label, u64>,
    tables: &mut Vec<u32>,
    digest: &mut Digest,
) {
    let node = dag.node(label);
    if !dag.op(label).has_table() {
        return;
    }
    if dag.op(label).is_text() {
        digest.bytes(&dag.table(node.c).bytes);
    }
    let table = node.b;
    let known = tables.iter().position(|&other| other == table);
    digest.word(known.unwrap_or(tables.len()) as u64);
    if known.is_none() {
        tables.push(table);
        digest.bytes(&dag.table(table).bytes);
        for (index, cell) in dag.table_cells(table) {
            digest.word(u64::from(*index));
            digest.word(number[cell]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::Lit;

    #[test]
    fn what_a_quick_attempt_leaves_open_is_open_to_more_effort() {
        let mut dag = Dag::new();
        let (byte, zero) = (dag.input(0), dag.constant(8, 0));
        let goal = Lit::new(dag.make_binary(Op::Eq, 1, byte, zero), true);
        let with = |effort| Query { effort, ..Query::new(&dag, &[], goal, b"a", 1) };
        let (quick, full) = (with(Effort::Quick), with(Effort::Full));
        let mut cache = Cache::default();
        let open = Answer::Unknown(UnknownReason::Budget);
        cache.put(CacheKey::new(&quick), &open, Effort::Quick);
        assert_eq!(cache.get(&CacheKey::new(&quick), &quick), Some(open.clone()));
        assert_eq!(cache.get(&CacheKey::new(&full), &full), None);
        cache.put(CacheKey::new(&full), &open, Effort::Full);
        assert_eq!(cache.get(&CacheKey::new(&quick), &quick), Some(open.clone()));
        assert_eq!(cache.get(&CacheKey::new(&full), &full), Some(open));
    }
}
