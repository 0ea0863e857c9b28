//! The chain: stages are asked in order until one knows the answer.

use crate::counters::Counters;
use crate::descent::DescentLink;
use crate::domain::DomainLink;
use crate::inversion::InversionLink;
use crate::path_solver::PathSolver;
use crate::query::{Answer, Effort, Link, Query};
use crate::question::{Goal, Question};
use crate::stage::Stages;
use crate::stages::{CacheStage, HashingStage, LinkStage, LocalStage, LoweringStage};
use crate::stages::{OversizeStage, ProductStage, RangesStage, Selective, SlicingStage};
use crate::stages::{StringsStage, SubsumptionStage, TrivialStage, UnaryStage};
use crate::texts::Restrictions;
use crate::truth::Truths;

/// Which stages a chain has and what they may spend.
#[derive(Clone, Debug)]
pub struct ChainOptions {
    /// If not empty, only stages with these names are used.
    pub only: Vec<String>,
    /// Stages with these names are left out.
    pub without: Vec<String>,
    /// Instructions that the domain solver may take for one query.
    pub domain_budget: u64,
    /// Slices with more nodes than this are not tried.
    pub max_nodes: usize,
}

impl Default for ChainOptions {
    fn default() -> ChainOptions {
        let domain_budget = DomainLink::DEFAULT_BUDGET;
        ChainOptions { only: Vec::new(), without: Vec::new(), domain_budget, max_nodes: 4_000 }
    }
}

impl ChainOptions {
    /// Only the stage with this name.
    pub fn only(stage: &str) -> ChainOptions {
        ChainOptions { only: vec![stage.to_string()], ..ChainOptions::default() }
    }

    pub fn allows(&self, stage: &str) -> bool {
        let named = |names: &[String]| names.iter().any(|name| name == stage);
        (self.only.is_empty() || named(&self.only)) && !named(&self.without)
    }
}

/// Stages in the order in which they are asked, and what they share.
pub struct Chain {
    options: ChainOptions,
    /// How hard to try from now on.
    pub effort: Effort,
    /// Functions of one variable, known from all paths.
    truths: Truths,
    stages: Stages,
}

/// What part of the nodes a slice may have that is solved quickly.
const QUICK_SHARE: usize = 4;

/// What part of a budget is spent on a query with most bytes fixed.
const LOCAL_SHARE: u64 = 8;

/// The stages of this crate: their order here is the order in which they are asked.
pub(crate) fn standard_stages(options: &ChainOptions) -> Stages {
    let mut stages = Stages::default();
    // On the goal's own nodes.
    stages.add(options, RangesStage::default());
    stages.add(options, UnaryStage::default());
    stages.add(options, ProductStage::default());
    // On the slice.
    stages.add(options, OversizeStage);
    stages.add(options, SlicingStage);
    stages.add(options, CacheStage::default());
    stages.add(options, StringsStage::default());
    stages.add(options, Selective::new(LocalStage::new(local_stages(options))));
    stages.add(options, TrivialStage);
    stages.add(options, SubsumptionStage::default());
    // On the query, in which texts are formulas now.
    stages.add(options, LoweringStage);
    // Who chooses the stages wants them asked with the effort that was chosen.
    if options.only.is_empty() {
        stages.add(options, HashingStage);
    }
    stages.add(options, link(DomainLink::new(options.domain_budget)));
    stages.add(options, link(InversionLink::default()));
    stages.add(options, link(DescentLink::new(DescentLink::DEFAULT_BUDGET)));
    stages
}

/// The stages that are asked about a slice with most bytes fixed.
fn local_stages(options: &ChainOptions) -> Stages {
    // An option that leaves all but "local" out still means its links.
    let all = &ChainOptions { only: Vec::new(), ..options.clone() };
    let mut stages = Stages::default();
    stages.add(all, LoweringStage);
    if options.only.is_empty() {
        stages.add(all, HashingStage);
    }
    stages.add(all, link(DomainLink::new(options.domain_budget / LOCAL_SHARE)));
    stages.add(all, link(InversionLink::default()));
    stages.add(all, link(DescentLink::new(DescentLink::DEFAULT_BUDGET / LOCAL_SHARE)));
    stages
}

fn link(link: impl Link + 'static) -> LinkStage {
    LinkStage::new(Box::new(link))
}

impl Chain {
    /// The stages of this crate. Others are added with [`Chain::push`].
    pub fn standard(options: ChainOptions) -> Chain {
        let stages = standard_stages(&options);
        Chain { options, effort: Effort::Full, truths: Truths::default(), stages }
    }

    /// Adds a link at the end unless the options leave it out.
    pub fn push(&mut self, link: Box<dyn Link>) {
        self.stages.add(&self.options, LinkStage::new(link));
    }

    /// Name and counters of each stage, in order.
    pub fn counters(&self) -> impl Iterator<Item = (&'static str, Counters)> + '_ {
        self.stages.counters()
    }

    /// Answers one query. For many queries about one path, use a [`PathSolver`].
    pub fn solve(&mut self, query: &Query) -> Answer {
        let mut path = PathSolver::new(query.dag, query.path, query.current, query.max_len);
        path.set_filler(query.filler);
        path.solve(self, query.path.len(), &[], query.goal)
    }

    /// Asks the stages about a goal on a path, with parts of the answer in languages if there are
    /// restrictions.
    pub(crate) fn answer(
        &mut self,
        path: &mut PathSolver,
        goal: &Goal,
        restrictions: Option<Restrictions>,
    ) -> Answer {
        let max_nodes = self.max_nodes();
        let mut question = Question::new(path, goal, &mut self.truths, self.effort, max_nodes);
        question.restrictions = restrictions;
        self.stages.solve(&mut question)
    }

    /// How many nodes a slice may have.
    fn max_nodes(&self) -> usize {
        let share = if self.effort == Effort::Quick { QUICK_SHARE } else { 1 };
        self.options.max_nodes / share
    }
}
