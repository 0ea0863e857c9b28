//! Programs for tests: closures over symbolic values that record what a traced process would, and
//! an executor that runs them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;
use std::time::Duration;

use path::{PathCondition, RawTrace, Recorded, Step, Trace};
use search::{Diagnosis, ExecError, Execution, Executor, Outcome};
use sites::{Site, SiteKind, SiteTable};
use trace::{CheckKind, Event, EventKind, GiveUp, Label, Node, Op};

/// The site of "is there a byte i?".
pub const EOF: u32 = 1;

/// A value with its expression; label 0 if it is concrete.
#[derive(Clone, Copy, Debug)]
pub struct Value {
    label: Label,
    pub number: u64,
    bits: u8,
}

/// What a running program can do.
pub struct Machine<'a> {
    input: &'a [u8],
    marks: &'a Marks,
    /// All that the program decided, symbolic or not.
    steps: Vec<Step>,
    sites: &'a SiteTable,
    nodes: Vec<Node>,
    values: Vec<u64>,
    known: HashMap<Node, Label>,
    branched: BTreeSet<Label>,
    events: Vec<Event>,
    covered: BTreeMap<u32, u8>,
    give_ups: [u32; 32],
}

impl<'a> Machine<'a> {
    fn new(input: &'a [u8], marks: &'a Marks, sites: &'a SiteTable) -> Machine<'a> {
        let mut machine = Machine {
            input,
            marks,
            steps: Vec::new(),
            sites,
            nodes: vec![Node::default()],
            values: vec![0],
            known: HashMap::new(),
            branched: BTreeSet::new(),
            events: Vec::new(),
            covered: BTreeMap::new(),
            give_ups: [0; 32],
        };
        for (index, byte) in marks.extended(input).into_iter().enumerate() {
            machine.node(
                Node { op: Op::Input as u8, bits: 8, a: index as u32, ..Node::default() },
                byte.into(),
            );
        }
        machine.node(Node { op: Op::Len as u8, bits: 64, ..Node::default() }, input.len() as u64);
        machine
    }

    fn node(&mut self, node: Node, number: u64) -> Value {
        let next = self.nodes.len() as Label;
        let label = *self.known.entry(node).or_insert(next);
        if label == next {
            self.nodes.push(node);
            self.values.push(number);
        }
        Value { label, number, bits: node.bits }
    }

    pub fn constant(&mut self, like: Value, number: u64) -> Value {
        self.node(Node::constant(like.bits, number), number)
    }

    /// Input byte `index`, if there is one; asking is a branch.
    pub fn byte(&mut self, index: usize) -> Option<Value> {
        let holes = self.marks.holes.as_ref();
        let label = if holes.is_none() { 1 + self.input.len() as Label } else { 0 };
        let len = Value { label, number: self.input.len() as u64, bits: 64 };
        let place = self.node(Node::constant(64, index as u64), index as u64);
        let exists = self.binary(Op::Ult, place, len, u64::from(index < self.input.len()));
        let symbolic = holes.is_none_or(|holes| holes.iter().any(|hole| hole.contains(&index)));
        self.branch(EOF, exists).then(|| Value {
            label: if symbolic { 1 + index as Label } else { 0 },
            number: self.input[index].into(),
            bits: 8,
        })
    }

    /// How many bytes the repetition has, if there is one.
    pub fn count(&mut self) -> Option<Value> {
        let number = self.marks.repetition.as_ref()?.len() as u64;
        let byte = |index: usize, number: u64| Value { label: 1 + index as Label, number, bits: 8 };
        let len = self.input.len();
        Some(self.join(byte(len + 1, number >> 8), byte(len, number & 0xFF)))
    }

    fn is_concrete(&self, value: Value) -> bool {
        value.label == 0 || self.nodes[value.label as usize].op == Op::Const as u8
    }

    /// The label of a value that has or needs one.
    fn labelled(&mut self, value: Value) -> Label {
        if value.label == 0 { self.constant(value, value.number).label } else { value.label }
    }

    /// The byte without telling anybody that the program looked at it.
    pub fn hidden_byte(&self, index: usize) -> Option<u8> {
        self.input.get(index).copied()
    }

    fn binary(&mut self, op: Op, a: Value, b: Value, number: u64) -> Value {
        let bits = if matches!(op, Op::Eq | Op::Ult) { 1 } else { a.bits };
        if self.is_concrete(a) && self.is_concrete(b) {
            return Value { label: 0, number, bits };
        }
        let (a, b) = (self.labelled(a), self.labelled(b));
        self.node(Node::binary(op, bits, a, b), number)
    }

    pub fn eq(&mut self, a: Value, number: u8) -> Value {
        let b = self.constant(a, number.into());
        self.binary(Op::Eq, a, b, u64::from(a.number == b.number))
    }

    pub fn less(&mut self, a: Value, number: u8) -> Value {
        let b = self.constant(a, number.into());
        self.binary(Op::Ult, a, b, u64::from(a.number < b.number))
    }

    /// Whether a number is above a constant.
    pub fn above(&mut self, a: Value, number: u64) -> Value {
        let b = self.constant(a, number);
        self.binary(Op::Ult, b, a, u64::from(a.number > number))
    }

    /// A condition that does not depend on the input.
    pub fn concrete(&self, holds: bool) -> Value {
        Value { label: 0, number: u64::from(holds), bits: 1 }
    }

    pub fn same(&mut self, a: Value, b: Value) -> Value {
        self.binary(Op::Eq, a, b, u64::from(a.number == b.number))
    }

    /// `high` and `low` as one number of twice the width.
    pub fn join(&mut self, high: Value, low: Value) -> Value {
        let (bits, number) = (high.bits + low.bits, high.number << low.bits | low.number);
        let (high, low) = (self.labelled(high), self.labelled(low));
        self.node(Node::binary(Op::Concat, bits, high, low), number)
    }

    pub fn xor(&mut self, a: Value, b: Value) -> Value {
        self.binary(Op::Xor, a, b, a.number ^ b.number)
    }

    fn event(&mut self, kind: EventKind, site: u32, value: Value) -> Event {
        Event {
            kind: kind as u8,
            taken: value.number as u8,
            site,
            label: value.label,
            ..Event::default()
        }
    }

    pub fn branch(&mut self, site: u32, condition: Value) -> bool {
        self.cover(site, condition.number as u32);
        self.steps.push(Step { site, direction: condition.number });
        if condition.label != 0 && self.branched.insert(condition.label) {
            let event = self.event(EventKind::Branch, site, condition);
            self.events.push(event);
        }
        condition.number != 0
    }

    /// The number of the case taken.
    pub fn switch(&mut self, site: u32, on: Value) -> usize {
        let SiteKind::Switch { cases, .. } = &self.sites.sites[site as usize].kind else {
            panic!("no switch")
        };
        let case = cases.iter().position(|&value| value == on.number).unwrap_or(cases.len());
        self.cover(site, case as u32);
        self.steps.push(Step { site, direction: case as u64 });
        if on.label != 0 {
            let event = Event { arg: case as u32, ..self.event(EventKind::Switch, site, on) };
            self.events.push(event);
        }
        case
    }

    pub fn concretise(&mut self, site: u32, value: Value) -> u64 {
        let event = self.event(EventKind::Concretise, site, value);
        self.events.push(event);
        value.number
    }

    /// Records whether the divisor is zero, and says so.
    pub fn check_divisor(&mut self, site: u32, divisor: Value) -> bool {
        let zero = self.eq(divisor, 0);
        let event = Event {
            aux: CheckKind::DivisionByZero as u16,
            ..self.event(EventKind::Check, site, zero)
        };
        self.events.push(event);
        zero.number == 1
    }

    pub fn give_up(&mut self, reason: GiveUp) {
        self.give_ups[reason as usize] += 1;
    }

    fn cover(&mut self, site: u32, direction: u32) {
        match self.sites.sites[site as usize].kind {
            SiteKind::Branch { coverage } | SiteKind::Switch { coverage, .. } => {
                let count = self.covered.entry(coverage + direction).or_default();
                *count = count.saturating_add(1);
            }
            SiteKind::Plain => {}
        }
    }

    fn trace(&mut self) -> Trace {
        let recorded = Recorded {
            nodes: std::mem::take(&mut self.nodes),
            values: std::mem::take(&mut self.values),
            input_len: self.marks.extended(self.input).len() as u32,
            ..Recorded::default()
        };
        let events = std::mem::take(&mut self.events);
        let raw = RawTrace { recorded, events, give_ups: self.give_ups, ..RawTrace::default() };
        Trace::from_raw(raw).expect("machines write sound traces")
    }
}

type Body<'a> = dyn Fn(&mut Machine<'_>) -> Outcome + 'a;

/// Runs a program and remembers what it was run on and which paths it took.
pub struct Fake<'a> {
    body: Box<Body<'a>>,
    pub sites: SiteTable,
    pub inputs: Vec<Vec<u8>>,
    pub paths: BTreeSet<Vec<Step>>,
    /// With the steps that do not depend on symbolic bytes.
    pub whole_paths: BTreeSet<Vec<Step>>,
    /// Inputs that a build that checks more objects to, if there is such a build.
    pub objects_to: Option<fn(&[u8]) -> bool>,
    pub examined: Vec<Vec<u8>>,
    /// How long runs take that hang; others take a millisecond.
    pub hang_time: Duration,
    marks: Marks,
}

/// What of an input is symbolic.
#[derive(Clone, Default)]
struct Marks {
    /// The only symbolic bytes, if not everything is symbolic.
    holes: Option<Vec<Range<usize>>>,
    repetition: Option<Range<usize>>,
}

impl Marks {
    /// The input with the number of bytes in the repetition after it.
    fn extended(&self, input: &[u8]) -> Vec<u8> {
        let count =
            self.repetition.iter().flat_map(|repetition| (repetition.len() as u16).to_le_bytes());
        input.iter().copied().chain(count).collect()
    }
}

impl<'a> Fake<'a> {
    /// Sites 2 and up are of the given kinds: `[]` a branch, anything else the cases of a switch.
    pub fn new(switches: &[&[u64]], body: impl Fn(&mut Machine<'_>) -> Outcome + 'a) -> Fake<'a> {
        Fake {
            body: Box::new(body),
            sites: site_table(switches),
            inputs: Vec::new(),
            paths: BTreeSet::new(),
            whole_paths: BTreeSet::new(),
            objects_to: None,
            examined: Vec::new(),
            hang_time: Duration::from_millis(1),
            marks: Marks::default(),
        }
    }
}

fn site_table(switches: &[&[u64]]) -> SiteTable {
    let mut table =
        SiteTable { sites: vec![Site::default(), Site::default()], ..SiteTable::default() };
    for cases in switches {
        let coverage = table.outcomes;
        let kind = match cases {
            [] => SiteKind::Branch { coverage },
            cases => SiteKind::Switch { coverage, cases: cases.to_vec() },
        };
        table.outcomes += cases.len().max(1) as u32 + 1;
        table.sites.push(Site { kind, ..Site::default() });
    }
    table
}

impl Executor for Fake<'_> {
    fn run(&mut self, input: &[u8], symbolic: bool) -> Result<Execution, ExecError> {
        let mut machine = Machine::new(input, &self.marks, &self.sites);
        let outcome = (self.body)(&mut machine);
        self.whole_paths.insert(std::mem::take(&mut machine.steps));
        let (covered, counts) = std::mem::take(&mut machine.covered).into_iter().unzip();
        let mut trace = machine.trace();
        let condition = PathCondition::new(&mut trace, &self.sites);
        assert_eq!(
            path::check_directions(&trace.dag, &condition, &self.marks.extended(input)),
            [],
            "the machine lies"
        );
        self.paths.insert(condition.constraints.iter().map(path::Constraint::step).collect());
        self.inputs.push(input.to_vec());
        Ok(Execution {
            outcome,
            covered,
            counts,
            trace: symbolic.then(|| Machine::again(input, &self.marks, &self.sites, &*self.body)),
            bad_trace: None,
            run_time: if outcome == Outcome::Timeout {
                self.hang_time
            } else {
                Duration::from_millis(1)
            },
            cpu_time: Duration::ZERO,
            stderr: Vec::new(),
        })
    }

    fn can_examine(&self) -> bool {
        self.objects_to.is_some()
    }

    fn examine(&mut self, input: &[u8]) -> Result<Vec<Diagnosis>, ExecError> {
        self.examined.push(input.to_vec());
        let objects = self.objects_to.is_some_and(|objects| objects(input));
        let kind = "overflow".to_owned();
        let diagnosis = Diagnosis {
            kind,
            fatal: true,
            frames: Vec::new(),
            report: Vec::new(),
            hidden: None,
            rounds: None,
        };
        Ok(if objects { vec![diagnosis] } else { Vec::new() })
    }

    fn restrict(&mut self, holes: Option<&[Range<usize>]>, repetition: Option<Range<usize>>) {
        self.marks = Marks { holes: holes.map(<[Range<usize>]>::to_vec), repetition };
    }
}

impl Machine<'_> {
    fn again(input: &[u8], marks: &Marks, sites: &SiteTable, body: &Body<'_>) -> Trace {
        let mut machine = Machine::new(input, marks, sites);
        body(&mut machine);
        machine.trace()
    }
}
