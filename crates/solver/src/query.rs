//! Queries and answers.

use expr::{Dag, Label};

/// Asserts that a 1-bit node has a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Lit {
    pub label: Label,
    pub value: bool,
}

impl Lit {
    pub fn new(label: Label, value: bool) -> Lit {
        Lit { label, value }
    }

    /// The literal that is true when this one is false.
    pub fn negated(self) -> Lit {
        Lit { value: !self.value, ..self }
    }
}

/// Is there an input that makes all of `path` and the `goal` true?
///
/// The literals must not constrain more than they say: any list will do, so a caller that wants an
/// optimistic answer leaves literals out.
#[derive(Clone, Copy, Debug)]
pub struct Query<'a> {
    pub dag: &'a Dag,
    /// Literals before the goal, in program order.
    pub path: &'a [Lit],
    pub goal: Lit,
    /// The input of the recorded run. Answers change as few of its bytes as they can.
    pub current: &'a [u8],
    /// Longest input that may be answered.
    pub max_len: usize,
    /// What new bytes are when the input grows and nothing constrains them.
    pub filler: u8,
    pub effort: Effort,
}

/// How hard to try.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Effort {
    /// What takes microseconds: ranges, and conditions on one byte alone.
    Glance,
    /// What takes about a millisecond: for a search that has many other questions.
    Quick,
    #[default]
    Full,
}

impl<'a> Query<'a> {
    pub const DEFAULT_FILLER: u8 = b'0';

    pub fn new(
        dag: &'a Dag,
        path: &'a [Lit],
        goal: Lit,
        current: &'a [u8],
        max_len: usize,
    ) -> Query<'a> {
        Query {
            dag,
            path,
            goal,
            current,
            max_len,
            filler: Query::DEFAULT_FILLER,
            effort: Effort::Full,
        }
    }

    /// All literals, the goal last.
    pub fn literals(&self) -> impl DoubleEndedIterator<Item = Lit> + '_ {
        self.path.iter().copied().chain([self.goal])
    }

    /// The current input with other bytes and, if `len` is given, another length.
    pub fn input_with(
        &self,
        bytes: impl IntoIterator<Item = (u32, u8)>,
        len: Option<usize>,
    ) -> Vec<u8> {
        let mut input = self.current.to_vec();
        input.resize(len.unwrap_or(input.len()), self.filler);
        for (index, value) in bytes {
            if let Some(byte) = input.get_mut(index as usize) {
                *byte = value;
            }
        }
        input
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// A complete input.
    Sat(Vec<u8>),
    Unsat,
    Unknown(UnknownReason),
}

impl Answer {
    pub(crate) const UNSUPPORTED: Answer = Answer::Unknown(UnknownReason::Unsupported);

    pub(crate) fn is_known(&self) -> bool {
        !matches!(self, Answer::Unknown(_))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnknownReason {
    /// The query is outside what the solver can do.
    Unsupported,
    /// The solver's limit of steps or states was reached.
    Budget,
    /// The solver's time limit was reached.
    Timeout,
    /// A proposed input did not pass the check.
    WrongModel,
    /// The solver's process did not keep its time limit and was ended.
    Overrun,
    /// The solver's process ended by itself.
    Crash,
}

/// A solver that needs nothing but a query. The chain makes a stage of it.
pub trait Link {
    /// Name in statistics and on the command line.
    fn name(&self) -> &'static str;

    fn solve(&mut self, query: &Query) -> Answer;

    /// With less effort the link is not asked.
    fn min_effort(&self) -> Effort {
        Effort::Full
    }

    /// After the answer "unsat": numbers of literals of the query, in the order of
    /// [`Query::literals`], that cannot all be true. `None` if the link does not tell.
    fn core(&self) -> Option<&[u32]> {
        None
    }
}
