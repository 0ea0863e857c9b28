//! The chain: links are asked in order until one knows the answer.

use crate::counters::Counters;
use crate::query::{Answer, Link, Query, UnknownReason};
use expr::Evaluator;
use std::time::Instant;

/// Which links a chain has and what they may spend.
#[derive(Clone, Debug, Default)]
pub struct ChainOptions {
    /// If not empty, only links with these names are used.
    pub only: Vec<String>,
    /// Links with these names are left out.
    pub without: Vec<String>,
}

impl ChainOptions {
    pub fn allows(&self, link: &str) -> bool {
        let named = |names: &[String]| names.iter().any(|name| name == link);
        (self.only.is_empty() || named(&self.only)) && !named(&self.without)
    }
}

/// Solvers in the order in which they are asked.
pub struct Chain {
    options: ChainOptions,
    links: Vec<(Box<dyn Link>, Counters)>,
    evaluator: Evaluator,
}

impl Chain {
    /// The links of this crate. Others are added with [`Chain::push`].
    pub fn standard(options: ChainOptions) -> Chain {
        Chain { options, links: Vec::new(), evaluator: Evaluator::new() }
    }

    /// Adds a link at the end unless the options leave it out.
    pub fn push(&mut self, link: Box<dyn Link>) {
        if self.options.allows(link.name()) {
            self.links.push((link, Counters::default()));
        }
    }

    /// Name and counters of each link, in order.
    pub fn counters(&self) -> impl Iterator<Item = (&'static str, Counters)> + '_ {
        self.links.iter().map(|(link, counters)| (link.name(), *counters))
    }

    pub fn solve(&mut self, query: &Query) -> Answer {
        let mut reason = UnknownReason::Unsupported;
        for (link, counters) in &mut self.links {
            let start = Instant::now();
            let mut answer = link.solve(query);
            if let Answer::Sat(input) = &answer
                && !satisfies(&mut self.evaluator, query, input)
            {
                counters.wrong += 1;
                answer = Answer::Unknown(UnknownReason::WrongModel);
            }
            counters.count(&answer, start.elapsed());
            match answer {
                Answer::Unknown(why) => reason = why,
                answer => return answer,
            }
        }
        Answer::Unknown(reason)
    }
}

/// Checks an answer with nothing but the evaluator.
fn satisfies(evaluator: &mut Evaluator, query: &Query, input: &[u8]) -> bool {
    let mut evaluation = evaluator.under(query.dag, input);
    input.len() <= query.max_len && query.literals().all(|lit| evaluation.holds(lit.label) == lit.value)
}
