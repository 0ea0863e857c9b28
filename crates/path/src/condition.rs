//! Path conditions: constraints in program order, and the ways to leave the path at each.
//!
//! A condition that was already asserted earlier on the path is not listed again: it is implied,
//! and its negation could never be satisfied. Expressions of flips are made on demand, because most
//! flips of a long run are never tried.

use rustc_hash::FxHashSet;

use expr::Dag;
use sites::{SiteKind, SiteTable};
use trace::{CheckKind, ConcretiseReason, Event, EventKind, Label, Op};

use crate::Trace;
use crate::switch;
use crate::tokens::{Calls, Delivered};
use crate::words::{self, Word};

/// One conjunct of a path condition: the 1-bit expression `label` has the value `taken`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constraint {
    pub label: Label,
    pub taken: bool,
    pub site: u32,
    pub kind: ConstraintKind,
    /// The program branches on the label's negation, so that coverage counts the other way round.
    pub negated: bool,
    /// Coverage index of the direction taken, if the site is one that coverage counts.
    pub outcome: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ConstraintKind {
    Branch,
    /// A switch on the expression `on`; `index` is the case taken, or the number of cases for the
    /// default.
    Case {
        on: Label,
        index: u32,
    },
    /// The expression `on` kept the value that it had; there is no other side to go to. Where it
    /// `is_target`, it is a pointer through which the program calls or jumps, so that another value
    /// is another way.
    Concretise {
        on: Label,
        value: u64,
        is_target: bool,
    },
    /// A property; the constraint's label says that it is violated.
    Check(CheckKind),
    /// Nothing that the run did: what inputs have to be like. There is no other side.
    Given,
}

/// A way to leave the path at a constraint: the expression `label` gets the value `value`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flip {
    pub label: Label,
    pub value: bool,
}

/// What a flip is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// Reach the other side.
    Cover,
    /// Violate a property.
    Violate(CheckKind),
}

/// One step of a path as the program sees it: where, and which way. Equal for equal paths whatever
/// the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Step {
    pub site: u32,
    /// 0 or 1 for branches and checks, the case for switches, the value for concretisations.
    pub direction: u64,
}

impl Step {
    /// Hash of a path that is one step longer than one with the given hash.
    pub fn after(self, hash: u64) -> u64 {
        fold(
            hash ^ 0x9e37_79b9_7f4a_7c15,
            fold(
                u64::from(self.site) ^ 0xd1b5_4a32_d192_ed03,
                self.direction ^ 0x8bb8_4b93_962e_acc9,
            ),
        )
    }
}

/// Both halves of the product: every bit of the result depends on all bits of both numbers.
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

#[derive(Clone, Debug, Default)]
pub struct PathCondition {
    pub constraints: Vec<Constraint>,
    /// What the lexers delivered that the program was derived with. Their own conditions are not
    /// among the constraints.
    pub tokens: Vec<Delivered>,
    /// The conditions of these lexers: inputs that meet them, too, have the same tokens.
    pub given: Vec<Constraint>,
    pub words: Vec<Word>,
}

impl PathCondition {
    /// Reads the events of a trace in order. Adds expressions for switches and concretisations to
    /// its table.
    pub fn new(trace: &mut Trace, sites: &SiteTable) -> PathCondition {
        let is_delivery = |event: &Event| event.kind == EventKind::Delivered as u8;
        let mut calls = trace.events.iter().any(is_delivery).then(|| Calls::new(&trace.dag));
        let mut builder = Builder {
            dag: &mut trace.dag,
            sites,
            asserted: Asserted::default(),
            of_lexers: Asserted::default(),
        };
        for event in &trace.events {
            if !calls.as_mut().is_some_and(|calls| builder.lexer_event(event, calls)) {
                builder.event(event);
            }
        }
        let (constraints, given) = (builder.asserted.constraints, builder.of_lexers.constraints);
        let tokens = calls.map_or_else(Vec::new, |calls| calls.finish(trace.dag.input_len()));
        PathCondition {
            constraints,
            tokens,
            given,
            words: words::asked_about(&trace.events, &trace.dag),
        }
    }

    pub fn len(&self) -> usize {
        self.constraints.len()
    }

    pub fn is_empty(&self) -> bool {
        self.constraints.is_empty()
    }

    /// Hash of the control flow alone: sites and directions, without the values of concretisations.
    pub fn control_hash(&self) -> u64 {
        let control = self.constraints.iter().filter(|c| !c.is_concretisation());
        control.fold(0, |hash, constraint| constraint.step().after(hash))
    }
}

impl Constraint {
    pub fn is_concretisation(&self) -> bool {
        matches!(self.kind, ConstraintKind::Concretise { .. })
    }

    /// A call or jump through a pointer that depends on the input.
    pub fn is_target(&self) -> bool {
        matches!(self.kind, ConstraintKind::Concretise { is_target: true, .. })
    }

    /// A property that does not hold on this run.
    pub fn is_violated_check(&self) -> bool {
        matches!(self.kind, ConstraintKind::Check(_)) && self.taken
    }

    pub fn step(&self) -> Step {
        let direction = match self.kind {
            ConstraintKind::Branch | ConstraintKind::Check(_) | ConstraintKind::Given => {
                u64::from(self.taken)
            }
            ConstraintKind::Case { index, .. } => u64::from(index),
            ConstraintKind::Concretise { value, .. } => value,
        };
        Step { site: self.site, direction }
    }

    /// The directions that leave the path here, in a fixed order.
    pub fn other_directions(&self, sites: &SiteTable) -> Vec<u64> {
        match self.kind {
            ConstraintKind::Branch | ConstraintKind::Check(_) => vec![u64::from(!self.taken)],
            ConstraintKind::Case { on: _, index } => {
                other_cases(switch_cases(sites, self.site), index)
            }
            ConstraintKind::Concretise { .. } | ConstraintKind::Given => Vec::new(),
        }
    }

    /// The number of cases of the switch, which is also the direction of its default.
    pub fn case_count(&self, sites: &SiteTable) -> u64 {
        switch_cases(sites, self.site).len() as u64
    }

    pub fn purpose(&self, direction: u64) -> Purpose {
        match self.kind {
            ConstraintKind::Check(kind) if direction == 1 => Purpose::Violate(kind),
            _ => Purpose::Cover,
        }
    }

    /// Coverage index of another direction of this constraint's site.
    pub fn outcome_of(&self, direction: u64, sites: &SiteTable) -> Option<u32> {
        match self.kind {
            ConstraintKind::Branch => {
                outcome(sites, self.site, direction ^ u64::from(self.negated))
            }
            ConstraintKind::Case { .. } => outcome(sites, self.site, direction),
            ConstraintKind::Concretise { .. }
            | ConstraintKind::Check(_)
            | ConstraintKind::Given => None,
        }
    }

    /// The condition under which a run goes in `direction` here.
    pub fn flip(&self, direction: u64, dag: &mut Dag, sites: &SiteTable) -> Option<Flip> {
        match self.kind {
            ConstraintKind::Branch | ConstraintKind::Check(_) => {
                Some(Flip { label: self.label, value: direction != 0 })
            }
            ConstraintKind::Case { on, .. } => {
                case_flip(dag, on, switch_cases(sites, self.site), direction)
            }
            ConstraintKind::Concretise { .. } | ConstraintKind::Given => None,
        }
    }
}

fn case_flip(dag: &mut Dag, on: Label, cases: &[u64], direction: u64) -> Option<Flip> {
    match cases.get(direction as usize) {
        Some(&value) => Some(Flip { label: switch::equals(dag, on, value), value: true }),
        None => Some(Flip { label: switch::any_case(dag, on, cases)?, value: false }),
    }
}

/// Every other case whose value is not one that an earlier case has, and the default.
fn other_cases(cases: &[u64], taken: u32) -> Vec<u64> {
    let mut values: FxHashSet<u64> = cases.get(taken as usize).copied().into_iter().collect();
    let mut others: Vec<u64> = Vec::with_capacity(cases.len());
    for (index, &value) in cases.iter().enumerate() {
        if values.insert(value) {
            others.push(index as u64);
        }
    }
    if (taken as usize) < cases.len() {
        others.push(cases.len() as u64);
    }
    others
}

fn switch_cases(sites: &SiteTable, site: u32) -> &[u64] {
    match sites.sites.get(site as usize).map(|site| &site.kind) {
        Some(SiteKind::Switch { cases, .. }) => cases,
        _ => &[],
    }
}

fn outcome(sites: &SiteTable, site: u32, direction: u64) -> Option<u32> {
    match sites.sites.get(site as usize)?.kind {
        SiteKind::Plain => None,
        SiteKind::Branch { coverage } | SiteKind::Switch { coverage, .. } => {
            coverage.checked_add(direction as u32)
        }
    }
}

struct Builder<'a> {
    dag: &'a mut Dag,
    sites: &'a SiteTable,
    asserted: Asserted,
    of_lexers: Asserted,
}

#[derive(Default)]
struct Asserted {
    /// Labels that were already asserted.
    seen: FxHashSet<Label>,
    constraints: Vec<Constraint>,
}

impl Builder<'_> {
    fn event(&mut self, event: &Event) {
        match EventKind::from_byte(event.kind) {
            Some(EventKind::Branch) => self.condition(event, ConstraintKind::Branch),
            Some(EventKind::Given) => self.condition(event, ConstraintKind::Given),
            Some(EventKind::Check) => self.check(event),
            Some(EventKind::Switch) => self.switch(event),
            Some(EventKind::Concretise) => self.concretise(event),
            Some(
                EventKind::GiveUp
                | EventKind::LexerEntered
                | EventKind::Delivered
                | EventKind::Word,
            )
            | None => {}
        }
    }

    /// True for events that are not about the program outside of its lexers.
    fn lexer_event(&mut self, event: &Event, calls: &mut Calls) -> bool {
        match EventKind::from_byte(event.kind) {
            Some(EventKind::LexerEntered) => calls.enter(),
            Some(EventKind::Delivered) => {
                let code = self.dag.node(event.label).const_value();
                calls.deliver(event.arg, code, event.label);
            }
            Some(EventKind::GiveUp | EventKind::Word) | None => return false,
            Some(_) => {
                let is_lexers = calls.takes(event.label);
                if is_lexers {
                    std::mem::swap(&mut self.asserted, &mut self.of_lexers);
                    self.event(event);
                    std::mem::swap(&mut self.asserted, &mut self.of_lexers);
                }
                return is_lexers;
            }
        }
        true
    }

    fn condition(&mut self, event: &Event, kind: ConstraintKind) {
        let negated = kind == ConstraintKind::Branch && event.arg == 1;
        self.push_constraint(event.site, event.label, event.taken != 0, kind, negated);
    }

    fn check(&mut self, event: &Event) {
        if let Some(kind) = CheckKind::from_byte(event.aux) {
            self.condition(event, ConstraintKind::Check(kind));
        }
    }

    fn switch(&mut self, event: &Event) {
        let cases = switch_cases(self.sites, event.site);
        let kind = ConstraintKind::Case { on: event.label, index: event.arg };
        if let Some(flip) = case_flip(self.dag, event.label, cases, u64::from(event.arg)) {
            self.push(event.site, flip.label, flip.value, kind);
        }
    }

    /// Only the low 64 bits of a wider value are known, so only these are fixed.
    fn concretise(&mut self, event: &Event) {
        let value = self.dag.value(event.label);
        let low = low_half(self.dag, event.label);
        let label = switch::equals(self.dag, low, value);
        let is_target = matches!(
            ConcretiseReason::from_byte(event.aux),
            Some(ConcretiseReason::CallTarget | ConcretiseReason::JumpTarget)
        );
        self.push(
            event.site,
            label,
            true,
            ConstraintKind::Concretise { on: low, value, is_target },
        );
    }

    fn push(&mut self, site: u32, label: Label, taken: bool, kind: ConstraintKind) {
        self.push_constraint(site, label, taken, kind, false);
    }

    fn push_constraint(
        &mut self,
        site: u32,
        label: Label,
        taken: bool,
        kind: ConstraintKind,
        negated: bool,
    ) {
        // A check that every input on this path violates says that the run has to be looked at.
        let is_violation = matches!(kind, ConstraintKind::Check(_)) && taken;
        let says_nothing = self.dag.node(label).op == Op::Const as u8 && !is_violation;
        if says_nothing || !self.asserted.seen.insert(label) {
            return;
        }
        let mut constraint = Constraint { label, taken, site, kind, negated, outcome: None };
        constraint.outcome = constraint.outcome_of(constraint.step().direction, self.sites);
        self.asserted.constraints.push(constraint);
    }
}

fn low_half(dag: &mut Dag, label: Label) -> Label {
    if dag.node(label).bits <= 64 {
        return label;
    }
    let mut low = trace::Node::unary(Op::Extract, 64, label);
    low.aux = 0;
    dag.add(low)
}
