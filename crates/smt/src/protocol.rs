//! Queries and replies as text, as they go to and from the process that runs Z3.
//!
//! ```text
//! 300 5            longest answer, length of the current input
//! 110              wanted values of the roots
//! %1 = (xor …      the text form of expressions
//! ```
//!
//! The reply is `sat 0=97 4=10`, perhaps with a first word `len=5`; `unsat` and the numbers of
//! literals that contradict each other; or `unknown` and a reason.

use expr::{Dag, Label};
use solver::{Lit, Query, UnknownReason};
use std::fmt::Write;

/// A query with an expression table of its own.
#[derive(Debug)]
pub(crate) struct Request {
    pub dag: Dag,
    pub literals: Vec<Lit>,
    pub max_len: usize,
    pub current_len: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reply {
    /// Values of the bytes that matter, and the length if it does.
    Sat {
        bytes: Vec<(u32, u8)>,
        len: Option<usize>,
    },
    /// With the numbers of literals that cannot all be true.
    Unsat(Vec<u32>),
    Unknown(UnknownReason),
}

pub(crate) fn write_query(query: &Query) -> Vec<u8> {
    let labels: Vec<Label> = query.literals().map(|lit| lit.label).collect();
    let values: String = query.literals().map(|lit| if lit.value { '1' } else { '0' }).collect();
    let head = format!("{} {}\n{values}\n", query.max_len, query.current.len());
    [head, expr::print(query.dag, &labels)].concat().into_bytes()
}

impl Request {
    pub(crate) fn read(bytes: &[u8]) -> Option<Request> {
        let mut parts = std::str::from_utf8(bytes).ok()?.splitn(3, '\n');
        let (max_len, current_len) = parts.next()?.split_once(' ')?;
        let values = parts.next()?;
        let mut dag = Dag::new();
        let labels = expr::parse(parts.next()?, &mut dag).ok()?;
        let literals = labels
            .into_iter()
            .zip(values.bytes())
            .map(|(label, value)| Lit::new(label, value == b'1'));
        let literals = literals.collect();
        Some(Request {
            dag,
            literals,
            max_len: max_len.parse().ok()?,
            current_len: current_len.parse().ok()?,
        })
    }
}

impl Reply {
    pub(crate) fn write(&self) -> Vec<u8> {
        let mut text = String::new();
        // Writing to a string does not fail.
        let _ = match self {
            Reply::Sat { bytes, len } => {
                text.push_str("sat");
                let len = len.map_or(Ok(()), |len| write!(text, " len={len}"));
                len.and_then(|()| {
                    bytes.iter().try_for_each(|(index, value)| write!(text, " {index}={value}"))
                })
            }
            Reply::Unsat(core) => {
                text.push_str("unsat");
                core.iter().try_for_each(|number| write!(text, " {number}"))
            }
            Reply::Unknown(reason) => write!(text, "unknown {}", word(*reason)),
        };
        text.into_bytes()
    }

    pub(crate) fn read(bytes: &[u8]) -> Option<Reply> {
        let text = std::str::from_utf8(bytes).ok()?;
        let mut words = text.split(' ').peekable();
        match words.next()? {
            "sat" => {
                let len = words.peek().and_then(|word| word.strip_prefix("len="));
                let len = len.map(|len| len.parse()).transpose().ok()?;
                let values =
                    words.skip(usize::from(len.is_some())).map(|word| word.split_once('='));
                let bytes = values
                    .map(|pair| pair.and_then(|(i, v)| Some((i.parse().ok()?, v.parse().ok()?))));
                Some(Reply::Sat { bytes: bytes.collect::<Option<_>>()?, len })
            }
            "unsat" => {
                Some(Reply::Unsat(words.map(|word| word.parse().ok()).collect::<Option<_>>()?))
            }
            "unknown" => {
                let reason = words.next()?;
                Some(Reply::Unknown(*REASONS.iter().find(|known| word(**known) == reason)?))
            }
            _ => None,
        }
    }
}

/// The reasons that Z3's side gives.
const REASONS: [UnknownReason; 3] =
    [UnknownReason::Unsupported, UnknownReason::Timeout, UnknownReason::WrongModel];

fn word(reason: UnknownReason) -> &'static str {
    match reason {
        UnknownReason::Timeout => "timeout",
        UnknownReason::WrongModel => "model",
        _ => "unsupported",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expr::{Node, Op};

    #[test]
    fn queries_come_through() {
        let mut dag = Dag::new();
        let (a, b) = (dag.input(0), dag.input(7));
        let less = dag.add(Node::binary(Op::Ult, 1, a, b));
        let equal = dag.add(Node::binary(Op::Eq, 1, a, b));
        let path = [Lit::new(less, false)];
        let query = Query::new(&dag, &path, Lit::new(equal, true), b"12345678", 20);
        let request = Request::read(&write_query(&query)).expect("what was written");
        assert_eq!((request.max_len, request.current_len), (20, 8));
        let roots: Vec<Label> = request.literals.iter().map(|lit| lit.label).collect();
        assert_eq!(expr::print(&request.dag, &roots), expr::print(&dag, &[less, equal]));
        assert_eq!(request.literals.iter().map(|lit| lit.value).collect::<Vec<_>>(), [false, true]);
    }

    #[test]
    fn replies_come_through_and_nonsense_does_not() {
        for reply in [
            Reply::Sat { bytes: vec![(0, 97), (4, 10)], len: Some(5) },
            Reply::Sat { bytes: vec![], len: None },
            Reply::Unsat(vec![0, 3]),
            Reply::Unsat(vec![]),
            Reply::Unknown(UnknownReason::Timeout),
            Reply::Unknown(UnknownReason::Unsupported),
        ] {
            assert_eq!(Reply::read(&reply.write()), Some(reply));
        }
        for nonsense in ["", "sat 1", "sat a=1", "unsat x", "unknown", "unknown why", "maybe"] {
            assert_eq!(Reply::read(nonsense.as_bytes()), None, "{nonsense}");
        }
        assert!(Request::read(b"1 2\n1\nroot %4\n").is_none());
    }
}
