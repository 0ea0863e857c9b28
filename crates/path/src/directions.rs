//! Check of a trace against the meaning of its expressions.
//!
//! The runtime recorded which way each branch went; evaluating the recorded condition on the same
//! input must say the same. A difference is a fault in the instrumentation, never in the program.

use expr::{Dag, Evaluator};

use crate::PathCondition;

/// A constraint whose expression does not have the value that the run took.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("constraint {index} at site {site}: the run took {taken}, the expression says {}", !taken)]
pub struct WrongDirection {
    pub index: usize,
    pub site: u32,
    pub taken: bool,
}

/// All constraints of `condition` that do not hold on the input that made it.
pub fn check_directions(dag: &Dag, condition: &PathCondition, input: &[u8]) -> Vec<WrongDirection> {
    let mut evaluator = Evaluator::new();
    let mut evaluation = evaluator.under(dag, input);
    let constraints = condition.constraints.iter().enumerate();
    constraints
        .filter(|(_, c)| evaluation.holds(c.label) != c.taken)
        .map(|(index, c)| WrongDirection { index, site: c.site, taken: c.taken })
        .collect()
}
