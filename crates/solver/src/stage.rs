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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chain::standard_stages;
    use crate::path_solver::PathSolver;
    use crate::query::{Lit, UnknownReason};
    use crate::texts::Restrictions;
    use crate::truth::Truths;
    use expr::Dag;
    use std::cell::RefCell;
    use std::rc::Rc;
    use strings::Languages;

    type Record = Rc<RefCell<Vec<&'static str>>>;

    /// Writes its name down when it is asked.
    struct Recorder {
        name: &'static str,
        min_effort: Effort,
        keeps_languages: bool,
        applies: bool,
        asked: Record,
    }

    impl Stage for Recorder {
        fn name(&self) -> &'static str {
            self.name
        }

        fn min_effort(&self) -> Effort {
            self.min_effort
        }

        fn keeps_languages(&self) -> bool {
            self.keeps_languages
        }

        fn applies(&self, _question: &mut Question) -> bool {
            self.applies
        }

        fn solve(&mut self, question: &mut Question, rest: Rest) -> Answer {
            self.asked.borrow_mut().push(self.name);
            rest.solve(question)
        }
    }

    fn recorders(asked: &Record) -> Stages {
        let new = |name, min_effort, keeps_languages, applies| {
            let asked = Rc::clone(asked);
            Recorder { name, min_effort, keeps_languages, applies, asked }
        };
        let mut stages = Stages::default();
        let options = ChainOptions::default();
        stages.add(&options, new("glance", Effort::Glance, false, true));
        stages.add(&options, new("full", Effort::Full, false, true));
        stages.add(&options, new("other kind", Effort::Glance, true, false));
        stages.add(&options, new("languages", Effort::Quick, true, true));
        stages.add(&options, new("quick", Effort::Quick, false, true));
        stages
    }

    /// The names of the recorders that are asked, in order.
    fn asked(effort: Effort, is_restricted: bool) -> Vec<&'static str> {
        let mut dag = Dag::new();
        let goal = Lit::new(dag.constant(1, 1), true);
        let mut path = PathSolver::new(&dag, &[], &[], 0);
        let goal = path.goal(0, &[], goal);
        let (mut truths, mut languages) = (Truths::default(), Languages::default());
        let mut question = Question::new(&mut path, &goal, &mut truths, effort, 100);
        let restrictions = Restrictions { languages: &mut languages, windows: &[] };
        question.restrictions = is_restricted.then_some(restrictions);
        let asked = Record::default();
        assert!(matches!(recorders(&asked).solve(&mut question), Answer::Unknown(_)));
        asked.take()
    }

    #[test]
    fn stages_are_asked_in_the_order_of_the_list() {
        assert_eq!(asked(Effort::Full, false), ["glance", "full", "languages", "quick"]);
        assert_eq!(asked(Effort::Quick, false), ["glance", "languages", "quick"]);
        assert_eq!(asked(Effort::Glance, false), ["glance"]);
        assert_eq!(asked(Effort::Full, true), ["languages"]);
    }

    #[test]
    fn every_stage_is_in_the_list() {
        let names = |options: &ChainOptions| -> Vec<&'static str> {
            standard_stages(options).0.iter().map(|stage| stage.name()).collect()
        };
        let all = "ranges unary product oversize slicing cache strings local trivial subsumption \
                   lowering hashing domain inversion descent";
        assert_eq!(names(&ChainOptions::default()).join(" "), all);
        // Those that prepare questions cannot be left out, but for the one that saves effort.
        let only = "oversize slicing trivial lowering domain";
        assert_eq!(names(&ChainOptions::only("domain")).join(" "), only);
    }

    #[test]
    fn what_a_glance_leaves_open_is_for_more_effort() {
        let dag = &mut Dag::new();
        let goal = Lit::new(dag.constant(1, 1), true);
        let mut path = PathSolver::new(dag, &[], &[], 0);
        let goal = path.goal(0, &[], goal);
        let mut truths = Truths::default();
        let mut answer = |effort| {
            let mut question = Question::new(&mut path, &goal, &mut truths, effort, 9);
            Stages::default().solve(&mut question)
        };
        assert_eq!(answer(Effort::Glance), Answer::Unknown(UnknownReason::Budget));
        assert_eq!(answer(Effort::Quick), Answer::UNSUPPORTED);
    }
}
