//! A stage that lately had no answers to a kind of question gets few of them.

use crate::counters::Counters;
use crate::query::{Answer, Effort};
use crate::question::Question;
use crate::stage::{Rest, Stage};
use expr::Op;
use rustc_hash::FxHashMap;

/// Another stage, asked as often as its answers are worth it.
pub(crate) struct Selective<S> {
    stage: S,
    /// Questions of a kind after which the stage has to have shown what it is worth.
    tried: u32,
    /// What the stage knows, later ones find out as well: it may always be passed over.
    is_shortcut: bool,
    returns: FxHashMap<Kind, Return>,
}

/// What questions have in common whose answers are alike: how hard to try, the goal's operator and
/// side, and about how many bytes it depends on.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Kind {
    effort: Effort,
    op: Op,
    value: bool,
    magnitude: u32,
}

/// What questions of a kind brought lately.
#[derive(Clone, Copy, Default)]
struct Return {
    asked: u32,
    answered: u32,
    /// Questions in a row that were not worth asking.
    passed_over: u32,
}

/// Questions of a kind that are tried at a stage that takes a millisecond for one, and at one that
/// takes a hundred.
pub(crate) const MANY: u32 = 64;
pub(crate) const FEW: u32 = 16;
/// One answer in so many questions is worth asking them.
const WORTH: u32 = 64;
/// Without it a question in so many is still asked.
const ONE_IN: u32 = 16;
/// Questions after which those before count half.
const RECENT: u32 = 256;

impl Kind {
    fn of(question: &Question) -> Kind {
        let lit = question.goal.lit;
        let bytes = question.goal.support.byte_count();
        Kind {
            effort: question.effort,
            op: question.path.dag.op(lit.label),
            value: lit.value,
            magnitude: (bytes + 1).ilog2(),
        }
    }
}

impl Return {
    /// Whether the next question is asked.
    fn is_due(&mut self, tried: u32) -> bool {
        let is_worth = self.asked < tried || self.answered * WORTH >= self.asked;
        self.passed_over = if is_worth { 0 } else { self.passed_over + 1 };
        is_worth || self.passed_over.is_multiple_of(ONE_IN)
    }

    fn count(&mut self, is_answered: bool) {
        if self.asked >= RECENT {
            (self.asked, self.answered) = (self.asked / 2, self.answered / 2);
        }
        self.asked += 1;
        self.answered += u32::from(is_answered);
    }
}

impl<S: Stage> Selective<S> {
    pub(crate) fn new(stage: S, tried: u32) -> Selective<S> {
        Selective { stage, tried, is_shortcut: false, returns: FxHashMap::default() }
    }

    pub(crate) fn shortcut(stage: S) -> Selective<S> {
        Selective { is_shortcut: true, ..Selective::new(stage, MANY) }
    }

    fn answered(&self) -> u64 {
        self.stage.counters().map_or(0, |Counters { sat, unsat, .. }| sat + unsat)
    }
}

impl<S: Stage> Stage for Selective<S> {
    fn name(&self) -> &'static str {
        self.stage.name()
    }

    fn min_effort(&self) -> Effort {
        self.stage.min_effort()
    }

    fn keeps_languages(&self) -> bool {
        self.stage.keeps_languages()
    }

    fn applies(&self, question: &mut Question) -> bool {
        self.stage.applies(question)
    }

    fn solve(&mut self, question: &mut Question, rest: Rest) -> Answer {
        let kind = Kind::of(question);
        let is_due = self.returns.entry(kind).or_default().is_due(self.tried);
        if !is_due && (self.is_shortcut || !question.asks_all) {
            question.passed_over |= !self.is_shortcut;
            return rest.solve(question);
        }
        let before = self.answered();
        let answer = self.stage.solve(question, rest);
        let is_answered = self.answered() > before;
        self.returns.entry(kind).or_default().count(is_answered);
        answer
    }

    fn counters(&self) -> Option<Counters> {
        self.stage.counters()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ChainOptions;
    use crate::path_solver::PathSolver;
    use crate::query::Lit;
    use crate::stage::Stages;
    use crate::truth::Truths;
    use expr::Dag;

    /// Refutes what is to be false.
    #[derive(Default)]
    struct Refuter(Counters);

    impl Stage for Refuter {
        fn name(&self) -> &'static str {
            "refuter"
        }

        fn solve(&mut self, question: &mut Question, rest: Rest) -> Answer {
            let answer = if question.goal.lit.value { Answer::UNSUPPORTED } else { Answer::Unsat };
            self.0.count(&answer, std::time::Duration::ZERO);
            if answer.is_known() { answer } else { rest.solve(question) }
        }

        fn counters(&self) -> Option<Counters> {
            Some(self.0)
        }
    }

    /// How many of so many questions are asked, and how many are said to be passed over.
    fn asked(is_shortcut: bool, asks_all: bool, values: &[bool]) -> (u64, usize) {
        let mut stages = Stages::default();
        let stage = Refuter::default();
        let stage =
            if is_shortcut { Selective::shortcut(stage) } else { Selective::new(stage, MANY) };
        stages.add(&ChainOptions::default(), stage);
        let mut dag = Dag::new();
        let (byte, zero) = (dag.input(0), dag.constant(8, 0));
        let label = dag.make_binary(Op::Eq, 1, byte, zero);
        let mut path = PathSolver::new(&dag, &[], b"a", 1);
        let mut passed_over = 0;
        for &value in values {
            let goal = path.goal(0, &[], Lit::new(label, value));
            let mut truths = Truths::default();
            let mut question = Question::new(&mut path, &goal, &mut truths, Effort::Full, 9);
            question.asks_all = asks_all;
            stages.solve(&mut question);
            passed_over += usize::from(question.passed_over);
        }
        let counters = stages.counters().next().expect("there is one");
        (counters.1.asked, passed_over)
    }

    #[test]
    fn a_stage_without_answers_gets_one_question_in_sixteen() {
        let many = (MANY + 10 * ONE_IN) as usize;
        assert_eq!(asked(false, false, &vec![true; many]), (u64::from(MANY) + 10, 150));
        assert_eq!(asked(true, true, &vec![true; many]), (u64::from(MANY) + 10, 0));
        assert_eq!(asked(false, false, &vec![false; many]), (many as u64, 0));
    }

    #[test]
    fn kinds_of_questions_are_told_apart() {
        let both: Vec<bool> = (0..2 * (MANY + ONE_IN)).map(|number| number % 2 == 0).collect();
        let refuted = u64::from(MANY + ONE_IN);
        assert_eq!(asked(false, false, &both), (refuted + u64::from(MANY) + 1, 15));
    }

    #[test]
    fn who_claims_something_has_every_question_asked() {
        assert_eq!(asked(false, true, &vec![true; 500]), (500, 0));
    }

    #[test]
    fn what_was_answered_long_ago_does_not_count() {
        let mut lately = Return { asked: RECENT, answered: RECENT, passed_over: 0 };
        let mut questions = 0;
        while lately.is_due(MANY) {
            lately.count(false);
            questions += 1;
        }
        assert!((RECENT..10 * RECENT).contains(&questions), "{questions}");
    }
}
