//! Words that the program asked about: whether it knows them, or which of those that it knows they
//! are.
//!
//! A hash cannot be turned round, and a comparison with a longer word cannot come out equal,
//! however the bytes of this run are changed. But each word that was asked about tells what else
//! could be asked about in the same place.

use std::ops::Range;

use expr::{Dag, Op, TableData};
use trace::{COMPARED, Event, EventKind, Label, MAX_WORDS};

/// Steps of computing between the input and a byte of a word.
const MAX_STEPS: usize = 8;

/// Who asked; words with the same asker may stand for each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Asker {
    /// A function with this number, in all runs.
    Function(u32),
    /// A comparison of this run.
    Comparison(u32),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    pub asker: Asker,
    pub text: Vec<u8>,
    /// The bytes of the input that the word was made of, if each byte of the word was made of the
    /// next one of the input. What they are in the input is not known here.
    pub place: Option<Range<usize>>,
}

/// The words of a run, in program order.
pub(crate) fn asked_about(events: &[Event], dag: &Dag) -> Vec<Word> {
    let words = events.iter().filter(|event| event.kind == EventKind::Word as u8);
    words
        .take(MAX_WORDS)
        .filter_map(|event| {
            let table = dag.tables().get(event.arg as usize)?;
            let asker = match event.site.checked_sub(COMPARED) {
                Some(number) => Asker::Comparison(number),
                None => Asker::Function(event.site),
            };
            Some(Word { asker, text: table.bytes.clone(), place: place(table, dag) })
        })
        .collect()
}

/// Where all bytes of a table come from, if that is one piece of the input.
fn place(table: &TableData, dag: &Dag) -> Option<Range<usize>> {
    let labels = table.labels.as_ref()?;
    let start = source(*labels.first()?, dag)?;
    let is_piece = (start..).zip(labels).all(|(place, label)| source(*label, dag) == Some(place));
    is_piece.then(|| start..start + labels.len())
}

/// The only byte of the input that a value is made of, in few steps. Text that went through a
/// decoder stays a piece of the input, and so does text that ends where the input ends: each of its
/// bytes is a zero on the condition that the length is another.
fn source(label: Label, dag: &Dag) -> Option<usize> {
    let mut at = label;
    for _ in 0..MAX_STEPS {
        if at != 0 && dag.op(at) == Op::Input {
            return Some(dag.node(at).a as usize);
        }
        let is_variable = |label: &Label| *label != 0 && dag.op(*label) != Op::Const;
        let conditions = usize::from(dag.op(at) == Op::Ite);
        let mut operands = dag.operands(at).into_iter().skip(conditions).filter(is_variable);
        at = operands.next().filter(|first| operands.all(|other| other == *first))?;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use trace::Node;

    /// The words of a run in which one was asked about that has these labels.
    fn asked(dag: &mut Dag, labels: Option<Vec<Label>>, site: u32) -> Vec<Word> {
        let table = TableData { bytes: b"abc".to_vec(), labels };
        let arg = dag.add_table(table).expect("labels that exist");
        let events = [EventKind::GiveUp, EventKind::Word].map(|kind| Event {
            kind: kind as u8,
            site,
            arg,
            ..Event::default()
        });
        asked_about(&events, dag)
    }

    #[test]
    fn a_word_has_a_place_if_it_is_a_piece_of_the_input() {
        let mut dag = Dag::new();
        let bytes: Vec<Label> = (0..9).map(|byte| dag.input(byte)).collect();
        let sum = dag.add(Node::binary(Op::Add, 8, bytes[4], bytes[5]));
        let mask = dag.constant(8, 0x7f);
        let decoded = dag.add(Node::binary(Op::And, 8, bytes[5], mask));
        let (len, zero) = (dag.input_length(), dag.constant(8, 0));
        let ends = dag.constant(dag.bits(len), 5);
        let ends = dag.add(Node::binary(Op::Eq, 1, len, ends));
        let ended =
            dag.add(Node { op: Op::Ite as u8, bits: 8, aux: 0, a: ends, b: zero, c: bytes[5] });
        let mut place = |labels: Option<Vec<Label>>| {
            let words = asked(&mut dag, labels, 7);
            assert_eq!(words.len(), 1, "other events are no words");
            assert_eq!((words[0].asker, &words[0].text[..]), (Asker::Function(7), &b"abc"[..]));
            words[0].place.clone()
        };
        assert_eq!(place(Some(vec![bytes[4], bytes[5], bytes[6]])), Some(4..7));
        assert_eq!(place(None), None, "a word of the program");
        assert_eq!(place(Some(vec![bytes[4], bytes[6], bytes[7]])), None, "a gap");
        assert_eq!(place(Some(vec![bytes[4], 0, bytes[6]])), None, "a byte that is no input");
        assert_eq!(place(Some(vec![bytes[4], sum, bytes[6]])), None, "a byte that was made of two");
        assert_eq!(
            place(Some(vec![bytes[4], decoded, bytes[6]])),
            Some(4..7),
            "a byte that was decoded"
        );
        assert_eq!(
            place(Some(vec![bytes[4], ended, bytes[6]])),
            Some(4..7),
            "a byte that the end may cut off"
        );
    }

    #[test]
    fn comparisons_have_numbers_of_their_own() {
        assert_eq!(asked(&mut Dag::new(), None, COMPARED | 3)[0].asker, Asker::Comparison(3));
    }
}
