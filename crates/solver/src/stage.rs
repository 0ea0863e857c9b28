//! What all parts of the chain have in common: a stage answers, or it asks those after it.

use crate::chain::ChainOptions;
use crate::counters::Counters;
use crate::query::{Answer, Effort};
use crate::question::Question;

/// One part of the chain.
pub(crate) trait Stage {
    /// Name in statistics and on the command line.
    fn name(&self) -> &'static str;

    /// With less effort the stage is passed over.
    fn min_effort(&self) -> Effort {
        Effort::Quick
    }

    /// Whether the stage keeps parts of the answer in languages where a question says so. Others
    /// are passed over then.
    fn keeps_languages(&self) -> bool {
        false
    }

    /// Whether the question is of the stage's kind; if not, the stage is passed over.
    fn applies(&self, _question: &mut Question) -> bool {
        true
    }

    /// This stage's answer, or that of the rest. An input must have passed [`Question::check`].
    fn solve(&mut self, question: &mut Question, rest: Rest) -> Answer;

    /// `None` if the stage only prepares questions for others: it cannot be left out then.
    fn counters(&self) -> Option<Counters> {
        None
    }
}

/// Stages in the order in which they are asked.
#[derive(Default)]
pub(crate) struct Stages(Vec<Box<dyn Stage>>);

impl Stages {
    /// Adds a stage at the end unless the options leave it out.
    pub(crate) fn add(&mut self, options: &ChainOptions, stage: impl Stage + 'static) {
        if stage.counters().is_none() || options.allows(stage.name()) {
            self.0.push(Box::new(stage));
        }
    }

    pub(crate) fn solve(&mut self, question: &mut Question) -> Answer {
        Rest(&mut self.0).solve(question)
    }

    /// Name and counters of the stages that have any, in order.
    pub(crate) fn counters(&self) -> impl Iterator<Item = (&'static str, Counters)> + '_ {
        self.0.iter().filter_map(|stage| Some((stage.name(), stage.counters()?)))
    }
}

/// The stages after one of them.
pub(crate) struct Rest<'c>(&'c mut [Box<dyn Stage>]);

impl Rest<'_> {
    /// The answer of the first stage that the question is for, which may ask its own rest.
    pub(crate) fn solve(self, question: &mut Question) -> Answer {
        let mut stages = self.0;
        while let Some((stage, rest)) = stages.split_first_mut() {
            if question.is_for(&**stage) && stage.applies(question) {
                return stage.solve(question, Rest(rest));
            }
            stages = rest;
        }
        Answer::Unknown(question.reason)
    }
}
