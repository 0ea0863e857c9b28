//! "These bytes are a lexeme" as an expression.
//!
//! With d the automaton of the lexemes: s₁ = T₁[b₁], sᵢ = Tᵢ[256·sᵢ₋₁ + bᵢ], and the last table
//! says 1 where d accepts. Tables are read as the program's own are, so a hole of one byte is a
//! condition on one byte, and longer ones are chains of reads: both are what the solvers are
//! quickest at.

use expr::{Dag, TableData};
use grammar::automaton::Automaton;
use path::{Constraint, ConstraintKind};
use trace::{Label, Node, Op};

/// The lexemes of one length.
pub(crate) struct Lexemes {
    /// The table for each byte. State 0 has no way on, and the last table has 1 for lexemes.
    tables: Vec<Vec<u8>>,
}

impl Lexemes {
    /// `None` if the automaton has too many states for states of one byte.
    pub(crate) fn new(automaton: &Automaton, len: usize) -> Option<Lexemes> {
        let mut states: Vec<u32> = vec![0];
        let mut tables = Vec::new();
        for place in 0..len {
            let first = usize::from(place > 0);
            let mut table = vec![0u8; (states.len() + first) * 256];
            let mut next: Vec<u32> = Vec::new();
            for (row, state) in (first..).zip(&states) {
                for edge in automaton.edges.get(*state as usize)? {
                    let target = match place + 1 == len {
                        true => u8::from(automaton.accepts[edge.to as usize]),
                        false => number(&mut next, edge.to)?,
                    };
                    edge.bytes
                        .iter()
                        .for_each(|byte| table[row * 256 + usize::from(*byte)] = target);
                }
            }
            tables.push(table);
            states = next;
        }
        Some(Lexemes { tables })
    }

    /// That a lexeme stands at these places.
    pub(crate) fn constraint(&self, dag: &mut Dag, places: &[usize]) -> Option<Constraint> {
        let mut state: Option<Label> = None;
        for (place, table) in places.iter().zip(&self.tables) {
            let byte = dag.input(*place as u32);
            let index = match state {
                None => byte,
                Some(state) => dag.add(Node::binary(Op::Concat, 16, state, byte)),
            };
            let offset = dag.add(Node::unary(Op::ZExt, 64, index));
            let table = dag.add_table(TableData::concrete(table.clone())).ok()?;
            state = Some(dag.add(Node {
                op: Op::Read as u8,
                bits: 8,
                aux: 0,
                a: offset,
                b: table,
                c: 0,
            }));
        }
        let label = path::equals(dag, state?, 1);
        Some(given(label))
    }
}

/// That an expression holds of every input.
pub(crate) fn given(label: Label) -> Constraint {
    let kind = ConstraintKind::Given;
    Constraint { label, taken: true, site: 0, kind, negated: false, outcome: None }
}

/// The number of a state, from 1 on.
fn number(states: &mut Vec<u32>, state: u32) -> Option<u8> {
    let known = states.iter().position(|known| *known == state);
    let at = known.unwrap_or_else(|| {
        states.push(state);
        states.len() - 1
    });
    u8::try_from(at + 1).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use grammar::Pattern;
    use grammar::automaton::own_lexemes;

    #[test]
    fn the_expression_holds_of_lexemes_only() {
        for pattern in ["[a-c]", "[ab]+", "a|bc|cab", "\"[ab]*\"", "(ab|c)+"] {
            let automaton =
                own_lexemes(&Pattern::parse(pattern).expect("a pattern")).expect("small");
            for len in 1..=4usize {
                let lexemes = Lexemes::new(&automaton, len).expect("few states");
                let mut dag = Dag::new();
                let places: Vec<usize> = (1..=len).collect();
                let constraint = lexemes.constraint(&mut dag, &places).expect("a constraint");
                for number in 0..4usize.pow(len as u32) {
                    let word: Vec<u8> = (0..len).map(|i| b"abc\""[number >> (2 * i) & 3]).collect();
                    let input = [b"x", &word[..], b"y"].concat();
                    let holds = expr::Evaluator::new().under(&dag, &input).holds(constraint.label);
                    assert_eq!(holds, automaton.matches(&word), "{pattern} {word:?}");
                }
            }
        }
    }
}
