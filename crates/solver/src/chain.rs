//! The chain: links are asked in order until one knows the answer.

use crate::cache::{Cache, Question};
use crate::counters::Counters;
use crate::descent::DescentLink;
use crate::domain::DomainLink;
use crate::inversion::InversionLink;
use crate::lowered::Lowered;
use crate::mixing::is_hashed;
use crate::path_solver::PathSolver;
use crate::query::{Answer, Effort, Link, Query, UnknownReason};
use crate::subsumption::{Literals, Subsumption};
use crate::text_link::{self, Restrictions};
use crate::truth::Truths;
use std::time::Instant;

/// Which links a chain has and what they may spend.
#[derive(Clone, Debug)]
pub struct ChainOptions {
    /// If not empty, only links with these names are used.
    pub only: Vec<String>,
    /// Links with these names are left out.
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
    /// Only the link with this name.
    pub fn only(link: &str) -> ChainOptions {
        ChainOptions { only: vec![link.to_string()], ..ChainOptions::default() }
    }

    pub fn allows(&self, link: &str) -> bool {
        let named = |names: &[String]| names.iter().any(|name| name == link);
        (self.only.is_empty() || named(&self.only)) && !named(&self.without)
    }
}

/// Solvers in the order in which they are asked.
pub struct Chain {
    pub(crate) options: ChainOptions,
    /// How hard to try from now on.
    pub effort: Effort,
    /// Conditions on one byte or on the length alone, answered before anything is copied.
    pub(crate) truths: Truths,
    /// Goals that no input at all can meet.
    pub(crate) ranges: Stage,
    pub(crate) unary: Stage,
    /// Goals whose bytes have few values left.
    pub(crate) product: Stage,
    /// Questions about texts, and answers within languages.
    pub(crate) texts: Stage,
    /// Solving with all bytes fixed that the goal does not mention.
    pub(crate) local: Stage,
    local_links: Vec<Box<dyn Link>>,
    cache: Cache,
    caching: Stage,
    subsumption: Subsumption,
    subsuming: Stage,
    links: Vec<(Box<dyn Link>, Counters)>,
}

/// What the cache knows about a question.
pub(crate) enum Recalled {
    Answer(Answer),
    /// The same was asked before, and the links had no answer.
    GivenUp(UnknownReason),
    /// Nothing; with the question, if the answer is to be kept.
    New(Option<Question>),
}

/// A part of the chain that is not a link.
pub(crate) struct Stage {
    pub name: &'static str,
    pub enabled: bool,
    pub counters: Counters,
    /// Questions in a row that were not worth asking.
    passed_over: u64,
}

impl Stage {
    /// Questions after which a stage has to have shown what it is worth, answers that show it, and how many questions
    /// one without them still gets.
    const TRIED: u64 = 64;
    const WORTH: u64 = 64;
    const ONE_IN: u64 = 8;

    /// False for most questions to a stage that hardly ever has an answer.
    pub(crate) fn is_worth_asking(&mut self) -> bool {
        let Counters { asked, sat, .. } = self.counters;
        let is_worth = asked < Stage::TRIED || sat * Stage::WORTH >= asked;
        self.passed_over = if is_worth { 0 } else { self.passed_over + 1 };
        is_worth || self.passed_over.is_multiple_of(Stage::ONE_IN)
    }

    fn new(name: &'static str, options: &ChainOptions) -> Stage {
        Stage { name, enabled: options.allows(name), counters: Counters::default(), passed_over: 0 }
    }
}

/// What part of the nodes a slice may have that is solved quickly.
const QUICK_SHARE: usize = 4;

/// What part of the domain solver's budget is spent on a query with most bytes fixed.
const LOCAL_SHARE: u64 = 8;

fn local_links(options: &ChainOptions) -> Vec<Box<dyn Link>> {
    let links: [Box<dyn Link>; 3] = [
        Box::new(DomainLink::new(options.domain_budget / LOCAL_SHARE)),
        Box::<InversionLink>::default(),
        Box::new(DescentLink::new(DescentLink::DEFAULT_BUDGET / LOCAL_SHARE)),
    ];
    // An option that leaves all but "local" out still means its links.
    links.into_iter().filter(|link| !options.without.iter().any(|name| name == link.name())).collect()
}

/// Accepts or rejects a proposed input.
pub(crate) type Check<'c> = dyn FnMut(&[u8]) -> bool + 'c;

impl Chain {
    /// Names of the parts of the standard chain, in order; Z3 comes from the `smt` crate.
    pub const NAMES: [&'static str; 10] = [
        "ranges",
        "unary",
        "product",
        "strings",
        "local",
        Cache::NAME,
        Subsumption::NAME,
        DomainLink::NAME,
        InversionLink::NAME,
        DescentLink::NAME,
    ];

    /// The links of this crate. Others are added with [`Chain::push`].
    pub fn standard(options: ChainOptions) -> Chain {
        let mut chain = Chain {
            effort: Effort::Full,
            truths: Truths::default(),
            ranges: Stage::new(Chain::NAMES[0], &options),
            unary: Stage::new(Chain::NAMES[1], &options),
            product: Stage::new(Chain::NAMES[2], &options),
            texts: Stage::new(Chain::NAMES[3], &options),
            local: Stage::new(Chain::NAMES[4], &options),
            local_links: local_links(&options),
            cache: Cache::default(),
            caching: Stage::new(Cache::NAME, &options),
            subsumption: Subsumption::default(),
            subsuming: Stage::new(Subsumption::NAME, &options),
            links: Vec::new(),
            options,
        };
        chain.push(Box::new(DomainLink::new(chain.options.domain_budget)));
        chain.push(Box::<InversionLink>::default());
        chain.push(Box::new(DescentLink::new(DescentLink::DEFAULT_BUDGET)));
        chain
    }

    /// Adds a link at the end unless the options leave it out.
    pub fn push(&mut self, link: Box<dyn Link>) {
        if self.options.allows(link.name()) {
            self.links.push((link, Counters::default()));
        }
    }

    /// How many nodes a slice may have.
    pub(crate) fn max_nodes(&self) -> usize {
        if self.effort == Effort::Quick {
            self.options.max_nodes / QUICK_SHARE
        } else {
            self.options.max_nodes
        }
    }

    /// Name and counters of each part, in order.
    pub fn counters(&self) -> impl Iterator<Item = (&'static str, Counters)> + '_ {
        let stages = [
            &self.ranges,
            &self.unary,
            &self.product,
            &self.texts,
            &self.local,
            &self.caching,
            &self.subsuming,
        ]
        .into_iter()
        .filter(|stage| stage.enabled);
        let stages = stages.map(|stage| (stage.name, stage.counters));
        stages.chain(self.links.iter().map(|(link, counters)| (link.name(), *counters)))
    }

    /// Answers one query. For many queries about one path, use a [`PathSolver`].
    pub fn solve(&mut self, query: &Query) -> Answer {
        let mut path = PathSolver::new(query.dag, query.path, query.current, query.max_len);
        path.set_filler(query.filler);
        path.solve(self, query.path.len(), &[], query.goal)
    }

    /// What is known about a query that is a slice already.
    pub(crate) fn recall(&mut self, query: &Query, check: &mut Check) -> Recalled {
        if !self.caching.enabled {
            return Recalled::New(None);
        }
        let start = Instant::now();
        let question = Question::new(query);
        let (known, given_up) = match self.cache.get(&question, query) {
            Some(known) => (known, true),
            None => (Answer::Unknown(UnknownReason::Unsupported), false),
        };
        let known = checked(known, check, &mut self.caching.counters);
        self.caching.counters.count(&known, start.elapsed());
        match known {
            Answer::Unknown(reason) if given_up => Recalled::GivenUp(reason),
            Answer::Unknown(_) => Recalled::New(Some(question)),
            answer => Recalled::Answer(answer),
        }
    }

    /// An answer to a query about texts that is a slice already; `None` if there is none.
    pub(crate) fn solve_texts(&mut self, query: &Query, check: &mut Check) -> Option<Answer> {
        if !self.texts.enabled || !text_link::has_texts(query.dag) {
            return None;
        }
        let start = Instant::now();
        let answer = checked(text_link::solve(&mut self.truths, query), check, &mut self.texts.counters);
        self.texts.counters.count(&answer, start.elapsed());
        (!matches!(answer, Answer::Unknown(_))).then_some(answer)
    }

    /// As [`Chain::solve_texts`] for any query, with parts of the answer in languages.
    pub(crate) fn solve_within(
        &mut self,
        query: &Query,
        restrictions: &mut Restrictions,
        check: &mut Check,
    ) -> Answer {
        if !self.texts.enabled {
            return Answer::Unknown(UnknownReason::Unsupported);
        }
        let start = Instant::now();
        let answer = text_link::solve_within(&mut self.truths, query, restrictions);
        let answer = checked(answer, check, &mut self.texts.counters);
        self.texts.counters.count(&answer, start.elapsed());
        answer
    }

    /// Keeps an answer in the cache.
    pub(crate) fn remember(&mut self, question: Question, answer: &Answer) {
        self.cache.put(question, answer);
    }

    /// Asks the subsumption cache and then the links about a query that is a slice already.
    pub(crate) fn solve_slice(
        &mut self,
        query: &Query,
        question: Option<Question>,
        check: &mut Check,
    ) -> Answer {
        let answer = self.ask_subsumption(query, check);
        // What a quick attempt does not know is not known to be hard.
        let final_word = query.effort == Effort::Full || !matches!(answer, Answer::Unknown(_));
        if let Some(question) = question.filter(|_| final_word) {
            self.cache.put(question, &answer);
        }
        answer
    }

    fn ask_subsumption(&mut self, query: &Query, check: &mut Check) -> Answer {
        if !self.subsuming.enabled {
            return self.ask_links(query, check).0;
        }
        let start = Instant::now();
        let literals = Literals::new(query);
        let known = self.subsumption.get(&literals, query, check);
        self.subsuming.counters.count(&known, start.elapsed());
        if !matches!(known, Answer::Unknown(_)) {
            return known;
        }
        let (answer, link) = self.ask_links(query, check);
        let core = link.and_then(|link| self.links[link].0.core());
        self.subsumption.put(&literals, query, &answer, core);
        answer
    }

    /// Asks about a query in which bytes were fixed: only "sat" carries over.
    pub(crate) fn solve_locally(&mut self, query: &Query, check: &mut Check) -> Answer {
        let Some(lowered) = Lowered::new(query, self.max_nodes()) else {
            return Answer::Unknown(UnknownReason::Budget);
        };
        let query = &lowered.query(query);
        let query = &self.sensible(query);
        for link in self.local_links.iter_mut().filter(|link| is_asked(&***link, query)) {
            match checked(link.solve(query), check, &mut self.local.counters) {
                Answer::Sat(input) => return Answer::Sat(input),
                Answer::Unsat => break,
                Answer::Unknown(_) => {}
            }
        }
        Answer::Unknown(UnknownReason::Unsupported)
    }

    /// The query with the effort that it is worth. Who chooses the links wants them asked as they are.
    fn sensible<'q>(&self, query: &Query<'q>) -> Query<'q> {
        let hopeless = query.effort == Effort::Full && self.options.only.is_empty() && is_hashed(query);
        Query { effort: if hopeless { Effort::Quick } else { query.effort }, ..*query }
    }

    /// The answer, and the number of the link that gave it.
    fn ask_links(&mut self, query: &Query, check: &mut Check) -> (Answer, Option<usize>) {
        let Some(lowered) = Lowered::new(query, self.max_nodes()) else {
            return (Answer::Unknown(UnknownReason::Budget), None);
        };
        let query = &lowered.query(query);
        let mut reason = UnknownReason::Unsupported;
        let query = &self.sensible(query);
        for (number, (link, counters)) in self.links.iter_mut().enumerate() {
            if !is_asked(&**link, query) {
                continue;
            }
            let start = Instant::now();
            let answer = checked(link.solve(query), check, counters);
            counters.count(&answer, start.elapsed());
            match answer {
                Answer::Unknown(why) => reason = why,
                answer => return (answer, Some(number)),
            }
        }
        (Answer::Unknown(reason), None)
    }
}

/// Whether the link does what the query's effort allows.
fn is_asked(link: &dyn Link, query: &Query) -> bool {
    query.effort == Effort::Full || link.can_be_quick()
}

/// Believes no input that does not pass the check.
fn checked(answer: Answer, check: &mut Check, counters: &mut Counters) -> Answer {
    match answer {
        Answer::Sat(input) if !check(&input) => {
            counters.wrong += 1;
            Answer::Unknown(UnknownReason::WrongModel)
        }
        answer => answer,
    }
}
