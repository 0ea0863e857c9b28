//! Questions to the solver about one run.
//!
//! What all flips of a run have in common is prepared once, when the first of them is tried, and
//! kept with its trace.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use expr::Dag;
use path::{Constraint, ConstraintKind, Flip};
use rustc_hash::FxHashSet;
use self_cell::self_cell;
use sites::SiteTable;
use solver::{Answer, Chain, Lit, Narrowed, PathSolver, Restrictions};
use sources::Layout;
use trace::Label;

/// The path that a [`PathSolver`] borrows from.
struct Path {
    dag: Arc<Dag>,
    lits: Narrowed,
    input: Arc<[u8]>,
    max_len: usize,
}

self_cell! {
    struct Prepared {
        owner: Path,
        #[not_covariant]
        dependent: PathSolver,
    }
}

impl Prepared {
    fn make(path: Path) -> Prepared {
        Prepared::new(path, |path| {
            let mut solver = PathSolver::new(&path.dag, &path.lits.lits, &path.input, path.max_len);
            if let Some(layout) = Layout::of(&path.input) {
                solver.set_numbers(layout.numbers().collect());
            }
            solver
        })
    }

    /// An input that meets the first `prefix` literals of the path and the goal.
    fn solve(&mut self, chain: &mut Chain, prefix: usize, goal: Lit) -> Answer {
        self.with_dependent_mut(|path, solver| {
            let goal = path.lits.narrow_goal(prefix, goal);
            solver.solve(chain, path.lits.count(prefix), &[], goal)
        })
    }
}

/// Answers questions about the flips of one run.
pub(crate) struct Questions {
    dag: Arc<Dag>,
    input: Arc<[u8]>,
    max_len: usize,
    /// Conditions of all directions of each switch, by site and the expression switched on.
    cases: HashMap<(u32, Label), Vec<Option<Flip>>>,
    /// Literals that come before those of the path.
    given: Vec<Lit>,
    strict: Prepared,
    optimistic: Option<Optimistic>,
    /// Constraints that fix the value of a concretisation.
    fixed: FxHashSet<u32>,
    /// Texts near this run's input, by token, with where they leave its path.
    pub(crate) neighbours: HashMap<usize, Vec<(Departure, Vec<u8>)>>,
}

/// Where an input leaves a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Departure {
    /// The first constraint that it does not meet, those of concretisations left out.
    pub index: usize,
    /// It meets those too.
    pub exact: bool,
}

/// The path without the constraints of concretisations.
struct Optimistic {
    path: Prepared,
    /// How many of the first n constraints are left.
    left: Vec<u32>,
}

impl Questions {
    pub(crate) fn new(
        mut dag: Dag,
        given: &[Constraint],
        constraints: &[Constraint],
        input: &[u8],
        max_len: usize,
        sites: &SiteTable,
    ) -> Questions {
        let cases = case_flips(&mut dag, constraints, sites);
        let fixed = (0..)
            .zip(constraints)
            .filter(|(_, c)| c.is_concretisation())
            .map(|(index, _)| index)
            .collect();
        let given: Vec<Lit> = given.iter().map(lit).collect();
        let lits =
            Narrowed::new(&mut dag, given.iter().copied().chain(constraints.iter().map(lit)));
        let (dag, input): (Arc<Dag>, Arc<[u8]>) = (Arc::new(dag), input.into());
        let strict = Prepared::make(Path {
            dag: Arc::clone(&dag),
            lits,
            input: Arc::clone(&input),
            max_len,
        });
        Questions {
            dag,
            input,
            max_len,
            cases,
            given,
            strict,
            optimistic: None,
            fixed,
            neighbours: HashMap::new(),
        }
    }

    /// The literal that sends a run in `direction` at `constraint`.
    pub(crate) fn goal(&self, constraint: &Constraint, direction: u64) -> Option<Lit> {
        match constraint.kind {
            ConstraintKind::Branch | ConstraintKind::Check(_) => {
                Some(Lit::new(constraint.label, direction != 0))
            }
            ConstraintKind::Concretise { .. } | ConstraintKind::Given => None,
            ConstraintKind::Case { on, .. } => {
                let flip = (*self.cases.get(&(constraint.site, on))?.get(direction as usize)?)?;
                Some(Lit::new(flip.label, flip.value))
            }
        }
    }

    /// As [`Questions::ask`], with parts of the answer in languages.
    pub(crate) fn ask_within(
        &mut self,
        chain: &mut Chain,
        prefix: usize,
        goal: Lit,
        restrictions: &mut Restrictions<'_>,
    ) -> Answer {
        let prefix = self.given.len() + prefix;
        self.strict.with_dependent_mut(|path, solver| {
            let goal = path.lits.narrow_goal(prefix, goal);
            solver.solve_within(chain, path.lits.count(prefix), goal, restrictions)
        })
    }

    /// An input that meets the first `prefix` constraints and the goal.
    pub(crate) fn ask(&mut self, chain: &mut Chain, prefix: usize, goal: Lit) -> Answer {
        self.strict.solve(chain, self.given.len() + prefix, goal)
    }

    pub(crate) fn is_true(&mut self, lit: Lit, input: &[u8]) -> bool {
        self.strict.with_dependent_mut(|_, solver| solver.is_true(lit, input))
    }

    /// Where an input leaves the path; `None` if it does not.
    pub(crate) fn departure(&mut self, input: &[u8]) -> Option<Departure> {
        let (fixed, given) = (&self.fixed, self.given.len());
        self.strict.with_dependent_mut(|path, solver| {
            let mut exact = true;
            let origins = solver.departures(input).map(|index| path.lits.origin(index));
            let of_path = origins.filter_map(|index| index.checked_sub(given));
            let mut departures =
                of_path.inspect(|index| exact &= !fixed.contains(&(*index as u32)));
            let index = departures.find(|index| !fixed.contains(&(*index as u32)))?;
            drop(departures);
            Some(Departure { index, exact })
        })
    }

    /// The last input byte that the goal depends on.
    pub(crate) fn last_byte(&mut self, goal: Lit) -> Option<usize> {
        self.strict.with_dependent_mut(|_, solver| solver.last_byte(goal))
    }

    /// An input that meets the first `prefix` constraints and on which the value that the next one
    /// fixes is none of `known`. Rare enough to prepare the path anew.
    pub(crate) fn ask_other_value(
        &mut self,
        chain: &mut Chain,
        constraints: &[Constraint],
        prefix: usize,
        known: &BTreeSet<u64>,
    ) -> Option<Answer> {
        let fixed = &constraints[prefix];
        let ConstraintKind::Concretise { on, value, .. } = fixed.kind else { return None };
        let others: Vec<u64> = known.iter().copied().filter(|other| *other != value).collect();
        // Most values cannot be others at all, which needs no new expressions.
        if others.is_empty() {
            return Some(self.ask(chain, prefix, lit(fixed).negated()));
        }
        let mut dag = Dag::clone(&self.dag);
        let others: Vec<Lit> = others
            .into_iter()
            .map(|other| Lit::new(path::equals(&mut dag, on, other), false))
            .collect();
        let lits: Vec<Lit> =
            self.given.iter().copied().chain(constraints.iter().map(lit)).collect();
        let mut solver = PathSolver::new(&dag, &lits, &self.input, self.max_len);
        Some(solver.solve(chain, self.given.len() + prefix, &others, lit(fixed).negated()))
    }

    /// As [`Questions::ask`], without what is given and the constraints that fix concretised
    /// values; `None` if there are none before the goal. The run decides whether that was right.
    pub(crate) fn ask_optimistically(
        &mut self,
        chain: &mut Chain,
        constraints: &[Constraint],
        prefix: usize,
        goal: Lit,
    ) -> Option<Answer> {
        if self.given.is_empty() && !constraints[..prefix].iter().any(Constraint::is_concretisation)
        {
            return None;
        }
        let (dag, input, max_len) = (&self.dag, &self.input, self.max_len);
        let Optimistic { path, left } = self.optimistic.get_or_insert_with(|| {
            let mut dag = Dag::clone(dag);
            let left = constraints.iter().filter(|c| !c.is_concretisation()).map(lit);
            let lits = Narrowed::new(&mut dag, left);
            let path = Path { dag: Arc::new(dag), lits, input: Arc::clone(input), max_len };
            Optimistic { path: Prepared::make(path), left: count_left(constraints) }
        });
        Some(path.solve(chain, left[prefix] as usize, goal))
    }
}

fn lit(constraint: &Constraint) -> Lit {
    Lit::new(constraint.label, constraint.taken)
}

fn count_left(constraints: &[Constraint]) -> Vec<u32> {
    let mut left = vec![0];
    for constraint in constraints {
        left.push(left[left.len() - 1] + u32::from(!constraint.is_concretisation()));
    }
    left
}

fn case_flips(
    dag: &mut Dag,
    constraints: &[Constraint],
    sites: &SiteTable,
) -> HashMap<(u32, Label), Vec<Option<Flip>>> {
    let mut flips = HashMap::new();
    for constraint in constraints {
        let ConstraintKind::Case { on, .. } = constraint.kind else { continue };
        flips.entry((constraint.site, on)).or_insert_with(|| {
            let directions = 0..=constraint.case_count(sites);
            directions.map(|direction| constraint.flip(direction, dag, sites)).collect()
        });
    }
    flips
}
