//! The checked record of one run.
//!
//! The target writes its record itself and may be broken in any way, so nothing is believed before
//! it is checked here: after [`Trace::from_raw`] every event has a known kind and a label that
//! exists and has the right width.

use expr::{BadDag, Dag};
use run::RawTrace;
use trace::{Event, EventKind, GiveUp, LONGEST_WORD, Label, Op};

/// What the symbolic part of one run left behind.
#[derive(Debug)]
pub struct Trace {
    pub dag: Dag,
    pub events: Vec<Event>,
    /// How often symbolic data was dropped, by [`GiveUp`].
    pub give_ups: [u32; 32],
    /// The record was full before the run ended: constraints are missing from the end.
    pub truncated: bool,
}

#[derive(Debug, thiserror::Error)]
pub enum BadTrace {
    #[error("broken expression table: {0}")]
    Dag(#[from] BadDag),
    #[error("event {index} has the unknown kind {kind}")]
    Kind { index: usize, kind: u8 },
    #[error("event {index} refers to expression {label}, which does not exist")]
    Label { index: usize, label: Label },
    #[error("event {index} needs a condition, but expression {label} has {bits} bits")]
    Width { index: usize, label: Label, bits: u8 },
    #[error(
        "event {index} refers to table {table}, which does not exist or is too long for a word"
    )]
    Word { index: usize, table: u32 },
    #[error("event {index} delivers expression {label}, which is no token")]
    NoToken { index: usize, label: Label },
}

impl Trace {
    pub fn from_raw(raw: RawTrace) -> Result<Trace, BadTrace> {
        let RawTrace { recorded, mut events, give_ups, truncated, .. } = raw;
        let dag = Dag::from_recorded(recorded, events.iter_mut().map(|event| &mut event.label))?;
        for (index, event) in events.iter().enumerate() {
            check_event(&dag, index, event)?;
        }
        let truncated = truncated || give_ups[GiveUp::TraceFull as usize] > 0;
        Ok(Trace { dag, events, give_ups, truncated })
    }
}

fn check_event(dag: &Dag, index: usize, event: &Event) -> Result<(), BadTrace> {
    let kind =
        EventKind::from_byte(event.kind).ok_or(BadTrace::Kind { index, kind: event.kind })?;
    if matches!(kind, EventKind::GiveUp | EventKind::LexerEntered) {
        return Ok(());
    }
    if kind == EventKind::Word {
        let table = event.arg;
        let word = dag.tables().get(table as usize);
        let is_short = word.is_some_and(|word| word.bytes.len() <= LONGEST_WORD);
        return if is_short { Ok(()) } else { Err(BadTrace::Word { index, table }) };
    }
    let label = event.label;
    if label == 0 || label as usize >= dag.len() {
        return Err(BadTrace::Label { index, label });
    }
    let bits = dag.node(label).bits;
    if matches!(kind, EventKind::Branch | EventKind::Given | EventKind::Check) && bits != 1 {
        return Err(BadTrace::Width { index, label, bits });
    }
    if kind == EventKind::Delivered && dag.op(label) != Op::Token {
        return Err(BadTrace::NoToken { index, label });
    }
    Ok(())
}
