//! Tokens that the program's lexers delivered, and the bytes that each was made of.
//!
//! A lexer is known by the function's name only; which bytes belong to a token follows from what
//! the lexer asked on its way. A condition is decided by the last byte that it depends on: the byte
//! that the first condition of a call is about is where its text begins. That holds for scanners
//! that look ahead, and for tables in which a state depends on all that was read. Tokens of texts
//! that are no input (a prelude) are left out.

use expr::Dag;
use trace::{Label, Op};

/// A token that a lexer delivered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivered {
    /// Which of the lexers that were named.
    pub lexer: u32,
    pub code: u64,
    /// The token's node.
    pub label: Label,
    /// Where its text begins, white space before it included; it ends where the next one's begins.
    pub start: u32,
}

/// The last input byte that each node depends on.
pub(crate) struct LastBytes {
    of_node: Vec<Option<u32>>,
}

impl LastBytes {
    pub(crate) fn new(dag: &Dag) -> LastBytes {
        let mut of_table: Vec<Option<Option<u32>>> = vec![None; dag.tables().len()];
        let mut of_node: Vec<Option<u32>> = vec![None; dag.len()];
        for label in 1..dag.len() as Label {
            let mut last = match dag.op(label) {
                Op::Input => Some(dag.node(label).a),
                Op::Ult if dag.op(dag.node(label).b) == Op::Len => offset_asked(dag, label),
                _ => {
                    let operands = dag.operands(label);
                    operands.iter().filter_map(|operand| of_node[*operand as usize]).max()
                }
            };
            if dag.op(label) == Op::Read {
                let number = dag.node(label).b as usize;
                let inside = *of_table[number].get_or_insert_with(|| {
                    dag.table_labels(label)
                        .iter()
                        .filter_map(|label| of_node[*label as usize])
                        .max()
                });
                last = last.max(inside);
            }
            of_node[label as usize] = last;
        }
        LastBytes { of_node }
    }

    pub(crate) fn of(&self, label: Label) -> Option<u32> {
        self.of_node.get(label as usize).copied().flatten()
    }
}

/// The byte that a read asks for: `i < length`.
fn offset_asked(dag: &Dag, label: Label) -> Option<u32> {
    let offset = dag.as_constant(dag.node(label).a)?;
    Some(u32::try_from(offset).unwrap_or(u32::MAX).min(dag.input_len()))
}

/// Follows the calls of lexers through the events of a run.
pub(crate) struct Calls {
    last_bytes: LastBytes,
    inside: bool,
    /// The first byte that a condition of the present call was about, those of earlier calls left
    /// out.
    first: Option<u32>,
    delivered: Vec<(Option<u32>, Delivered)>,
}

impl Calls {
    pub(crate) fn new(dag: &Dag) -> Calls {
        Calls { last_bytes: LastBytes::new(dag), inside: false, first: None, delivered: Vec::new() }
    }

    pub(crate) fn enter(&mut self) {
        (self.inside, self.first) = (true, None);
    }

    /// True for conditions of a lexer.
    pub(crate) fn takes(&mut self, label: Label) -> bool {
        if self.inside && self.first.is_none() {
            // Names are compared with those of earlier calls.
            let known = self.delivered.iter().rev().find_map(|(first, _)| *first).unwrap_or(0);
            self.first = self.last_bytes.of(label).filter(|byte| *byte >= known);
        }
        self.inside
    }

    pub(crate) fn deliver(&mut self, lexer: u32, code: u64, label: Label) {
        self.inside = false;
        self.delivered.push((self.first, Delivered { lexer, code, label, start: 0 }));
    }

    /// The tokens in order. Those before which the lexer did not look at the input are not of it,
    /// up to one at its end.
    pub(crate) fn finish(self, input_len: u32) -> Vec<Delivered> {
        let mut tokens: Vec<Delivered> = Vec::new();
        let mut ended = false;
        for (first, token) in self.delivered {
            let start = match first {
                Some(first) => first,
                None if !tokens.is_empty() && !ended => input_len,
                None => continue,
            };
            while first.is_some()
                && ended
                && tokens.last().is_some_and(|last| last.start == input_len)
            {
                tokens.pop();
            }
            ended = first.is_none();
            tokens.push(Delivered { start, ..token });
        }
        tokens
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trace::Node;

    /// Delivers one token a call, which looks at these bytes in this order; what came of it.
    fn tokens(calls: &[&[u32]]) -> Vec<(u64, u32)> {
        let mut dag = Dag::new();
        let seven = dag.constant(8, 7);
        let asks: Vec<Vec<Label>> = calls
            .iter()
            .map(|bytes| {
                let mut is_seven = |byte: &u32| {
                    let byte = dag.input(*byte);
                    dag.add(Node::binary(Op::Eq, 1, byte, seven))
                };
                bytes.iter().map(&mut is_seven).collect()
            })
            .collect();
        let mut calls = Calls::new(&dag);
        for (code, asks) in asks.iter().enumerate() {
            assert!(!calls.takes(seven), "outside of the lexer nothing is its own");
            calls.enter();
            assert!(asks.iter().all(|label| calls.takes(*label)));
            calls.deliver(0, code as u64, 1);
        }
        calls.finish(9).iter().map(|token| (token.code, token.start)).collect()
    }

    #[test]
    fn a_token_begins_at_the_first_byte_that_its_call_looks_at() {
        assert_eq!(tokens(&[&[0, 1, 2], &[2, 3], &[4]]), [(0, 0), (1, 2), (2, 4)]);
        assert_eq!(
            tokens(&[&[0, 1], &[2, 0, 1]]),
            [(0, 0), (1, 2)],
            "names are compared with earlier ones"
        );
        assert_eq!(
            tokens(&[&[3], &[1, 4]]),
            [(0, 3), (1, 4)],
            "what was looked at before does not count"
        );
    }

    #[test]
    fn what_is_no_input_has_no_tokens() {
        assert_eq!(
            tokens(&[&[], &[], &[0], &[1], &[]]),
            [(2, 0), (3, 1), (4, 9)],
            "a prelude, and the end"
        );
        assert_eq!(tokens(&[&[0], &[], &[1], &[], &[]]), [(0, 0), (2, 1), (3, 9)]);
        assert_eq!(tokens(&[&[], &[]]), []);
    }
}
