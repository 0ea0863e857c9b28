//! Answers within languages.

use super::{Goal, PathSolver, meets};
use crate::chain::Chain;
use crate::query::{Answer, Lit, UnknownReason};
use crate::text_link::Restrictions;

impl PathSolver<'_> {
    /// As [`PathSolver::solve`], with parts of the answer in languages. "Unsat" means that no input at all will do; otherwise
    /// what is not found is unknown.
    pub fn solve_within(
        &mut self,
        chain: &mut Chain,
        prefix: usize,
        goal: Lit,
        restrictions: &mut Restrictions,
    ) -> Answer {
        let id = self.supports.of(self.dag, goal.label);
        let support = self.supports.get(id).clone();
        let mut goal = Goal { prefix, extra: &[], goal, support, roots: Vec::new(), literals: Vec::new() };
        self.collect(&mut goal);
        let slice = self.slice(chain, &goal);
        let query = slice.as_ref().and_then(|slice| self.slice_query(chain, slice));
        match (&slice, query) {
            (Some(slice), _) if slice.is_contradictory() => Answer::Unsat,
            (_, Some(query)) => {
                chain.solve_within(&query, restrictions, &mut meets(&mut self.checker, &goal))
            }
            _ => Answer::Unknown(UnknownReason::Budget),
        }
    }
}
