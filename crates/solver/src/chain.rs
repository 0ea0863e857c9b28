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
use crate::stages::{FEW, MANY, OversizeStage, ProductStage, RangesStage, Selective, SlicingStage};
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
    /// Ask every stage, whatever its answers were worth so far: for who says something about all
    /// that there is.
    pub asks_all: bool,
    /// The stage that found the last input.
    found_by: Option<&'static str>,
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
    stages.add(options, Selective::shortcut(LocalStage::new(local_stages(options))));
    stages.add(options, TrivialStage);
    stages.add(options, SubsumptionStage::default());
    // On the query, in which texts are formulas now.
    stages.add(options, LoweringStage);
    // Who chooses the stages wants them asked with the effort that was chosen.
    if options.only.is_empty() {
        stages.add(options, HashingStage);
    }
    add_link(&mut stages, options, DomainLink::new(options.domain_budget), MANY);
    add_link(&mut stages, options, InversionLink::default(), MANY);
    add_link(&mut stages, options, DescentLink::new(DescentLink::DEFAULT_BUDGET), FEW);
    stages
}

/// Adds a link, asked as its answers are worth it unless the user chose it.
fn add_link(stages: &mut Stages, options: &ChainOptions, of: impl Link + 'static, tried: u32) {
    match options.only.is_empty() {
        true => stages.add(options, Selective::new(link(of), tried)),
        false => stages.add(options, link(of)),
    }
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
        let (effort, truths) = (Effort::Full, Truths::default());
        Chain { options, effort, asks_all: true, found_by: None, truths, stages }
    }

    /// Adds a link at the end unless the options leave it out.
    pub fn push(&mut self, link: Box<dyn Link>) {
        let stage = LinkStage::new(link);
        match self.options.only.is_empty() {
            true => self.stages.add(&self.options, Selective::new(stage, FEW)),
            false => self.stages.add(&self.options, stage),
        }
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
        question.asks_all = self.asks_all;
        let before: Vec<u64> = self.stages.counters().map(|(_, counters)| counters.sat).collect();
        let answer = self.stages.solve(&mut question);
        if matches!(answer, Answer::Sat(_)) {
            let after = self.stages.counters().zip(before);
            let mut found = after.filter(|((_, counters), before)| counters.sat > *before);
            self.found_by = found.next().map(|((name, _), _)| name);
        }
        answer
    }

    /// The stage that found the last input that was found.
    pub fn found_by(&self) -> Option<&'static str> {
        self.found_by
    }

    /// How many nodes a slice may have.
    fn max_nodes(&self) -> usize {
        let share = if self.effort == Effort::Quick { QUICK_SHARE } else { 1 };
        self.options.max_nodes / share
    }
}
