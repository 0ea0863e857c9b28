//! What the stages of the chain are asked, refined as they need it.
//!
//! A question starts as a goal on a prepared path. Its [`Component`], the literals that share
//! variables with the goal, is found when a stage asks for it. One stage cuts the slice out, and
//! only from then on there is a [`Query`]. So what is answered early costs no copy.

use crate::byte_set::ByteSet;
use crate::checker::Checker;
use crate::components::Slot;
use crate::counters::Counters;
use crate::length_set::LengthSet;
use crate::path_solver::PathSolver;
use crate::query::{Answer, Effort, Lit, Query, UnknownReason};
use crate::slice::{Slice, Slicer};
use crate::stage::Stage;
use crate::texts::Restrictions;
use crate::truth::Truths;
use expr::Support;
use std::rc::Rc;

/// What is asked for beyond the path itself.
pub(crate) struct Goal<'g> {
    /// How many literals of the path must hold.
    pub prefix: usize,
    /// Further literals that must hold.
    pub extra: &'g [Lit],
    pub lit: Lit,
    pub support: Support,
}

/// What hangs together with a goal.
pub(crate) struct Component {
    /// Roots of the components that the goal belongs to.
    pub roots: Vec<Slot>,
    /// Numbers of literals of the path, in order.
    pub literals: Vec<u32>,
}

/// How far a question is refined.
pub(crate) enum Form {
    Goal,
    Slice(Box<Slice>),
    /// There is no slice because it would be too large.
    TooLarge,
    /// The slice is known to be too hard.
    GivenUp,
}

/// See the module.
pub(crate) struct Question<'q, 'a> {
    pub path: &'q mut PathSolver<'a>,
    pub goal: &'q Goal<'q>,
    /// Functions of one variable, shared by all questions to a chain.
    pub truths: &'q mut Truths,
    pub effort: Effort,
    /// How many nodes a slice may have.
    pub max_nodes: usize,
    /// Languages that parts of the answer must belong to.
    pub restrictions: Option<Restrictions<'q>>,
    pub form: Form,
    component: Option<Rc<Component>>,
    /// Why there is no answer so far.
    pub reason: UnknownReason,
    /// After "unsat": numbers of literals of the query that cannot all be true, if known.
    pub core: Option<Vec<u32>>,
    /// Whether all stages are asked that may have an answer, whatever they are worth.
    pub asks_all: bool,
    /// A stage that may have had an answer was not asked.
    pub passed_over: bool,
    /// The answer is one with other bytes as they are, and not worth keeping for the slice.
    pub is_local: bool,
}

/// A query, and what may be used while it is looked at.
pub(crate) struct View<'v, 'a> {
    pub query: Query<'v>,
    pub truths: &'v mut Truths,
    pub restrictions: Option<Restrictions<'v>>,
    pub check: Check<'v, 'a>,
}

/// Accepts or rejects a proposed input, by evaluation.
pub(crate) struct Check<'v, 'a> {
    checker: &'v mut Checker<'a>,
    goal: &'v Goal<'v>,
}

impl Check<'_, '_> {
    pub(crate) fn passes(&mut self, input: &[u8]) -> bool {
        self.checker.check(input, self.goal.prefix, self.goal.extra, self.goal.lit)
    }
}

impl<'q, 'a> Question<'q, 'a> {
    pub(crate) fn new(
        path: &'q mut PathSolver<'a>,
        goal: &'q Goal<'q>,
        truths: &'q mut Truths,
        effort: Effort,
        max_nodes: usize,
    ) -> Question<'q, 'a> {
        // What a glance leaves open is for more effort.
        let is_glance = effort == Effort::Glance;
        let reason = if is_glance { UnknownReason::Budget } else { UnknownReason::Unsupported };
        Question {
            path,
            goal,
            truths,
            effort,
            max_nodes,
            restrictions: None,
            form: Form::Goal,
            component: None,
            reason,
            core: None,
            asks_all: true,
            passed_over: false,
            is_local: false,
        }
    }

    /// The same question about another slice.
    pub(crate) fn about(&mut self, slice: Slice) -> Question<'_, 'a> {
        let (effort, max_nodes) = (self.effort, self.max_nodes);
        let question = Question::new(self.path, self.goal, self.truths, effort, max_nodes);
        Question { form: Form::Slice(Box::new(slice)), ..question }
    }

    /// Whether effort and restrictions let a stage be asked.
    pub(crate) fn is_for(&self, stage: &dyn Stage) -> bool {
        let is_restricted = self.restrictions.is_some();
        stage.min_effort() <= self.effort && (!is_restricted || stage.keeps_languages())
    }

    /// Whether all that must hold but the goal holds on the current input.
    pub(crate) fn is_flip(&self) -> bool {
        self.goal.extra.is_empty() && !self.path.checker.violated_before(self.goal.prefix)
    }

    pub(crate) fn component(&mut self) -> Rc<Component> {
        let (path, goal) = (&mut *self.path, self.goal);
        Rc::clone(self.component.get_or_insert_with(|| Rc::new(path.component(goal))))
    }

    /// Leaves the question to stages that need no slice of it.
    pub(crate) fn close(&mut self, form: Form, reason: UnknownReason) {
        self.form = form;
        self.reason = reason;
    }

    /// `None` if there is no slice, or none of its literals is left.
    pub(crate) fn query(&self) -> Option<Query<'_>> {
        let Form::Slice(slice) = &self.form else { return None };
        let (path, goal) = slice.split_goal()?;
        Some(Query { dag: &slice.dag, path, effort: self.effort, ..self.path.query(goal) })
    }

    /// The query with what may be used beside it.
    pub(crate) fn view(&mut self) -> Option<View<'_, 'a>> {
        let Form::Slice(slice) = &self.form else { return None };
        let (path, goal) = slice.split_goal()?;
        let query = Query { dag: &slice.dag, path, effort: self.effort, ..self.path.query(goal) };
        let restrictions = self.restrictions.as_mut().map(Restrictions::reborrow);
        let check = Check { checker: &mut self.path.checker, goal: self.goal };
        Some(View { query, truths: self.truths, restrictions, check })
    }

    /// Whether an input meets the goal, and the path before it.
    pub(crate) fn check(&mut self, input: &[u8]) -> bool {
        Check { checker: &mut self.path.checker, goal: self.goal }.passes(input)
    }

    /// Believes no input that does not pass the check.
    pub(crate) fn checked(&mut self, answer: Answer, counters: &mut Counters) -> Answer {
        match answer {
            Answer::Sat(input) if !self.check(&input) => {
                counters.wrong += 1;
                Answer::Unknown(UnknownReason::WrongModel)
            }
            answer => answer,
        }
    }

    /// The values of a byte that the path's literals on it alone allow.
    pub(crate) fn byte_domain(&mut self, byte: u32) -> ByteSet {
        let prefix = self.goal.prefix as u32;
        let PathSolver { dag, path, domains, .. } = &mut *self.path;
        domains.byte(self.truths, dag, path, byte, prefix)
    }

    /// Likewise for the length.
    pub(crate) fn length_domain(&mut self) -> LengthSet {
        let prefix = self.goal.prefix as u32;
        let PathSolver { dag, path, domains, max_len, .. } = &mut *self.path;
        domains.length(self.truths, dag, path, prefix, *max_len as u64)
    }

    /// What the path says about the length alone, if that is one interval.
    pub(crate) fn length_interval(&mut self) -> Option<(u64, u64)> {
        match *self.length_domain().intervals() {
            [interval] => Some(interval),
            _ => None,
        }
    }

    /// Adds what the path says about the length alone to a slice.
    pub(crate) fn add_length(&mut self, slicer: &mut Slicer) {
        let (first, last) = self.length_interval().unwrap_or((0, self.path.max_len as u64));
        slicer.require_length(first.max(self.path.needed_len(self.goal)));
        slicer.limit_length(last);
    }
}
