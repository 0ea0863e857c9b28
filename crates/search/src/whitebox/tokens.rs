//! Sentences with another token: the turns of a search within a language that need no solver.

use super::expand::Plan;
use super::question::Departure;
use super::shares::Work;
use super::store::Live;
use super::{Expected, Whitebox, hash_of};
use crate::{Context, Next, Origin, Outcome, Proposal, Ran};
use std::time::Duration;

/// Sentences that were run before that are drawn in a row before the language counts as exhausted.
const FRESH_TRIES: u32 = 1000;
/// Of the changed sentences that only have new tokens together, one in so many is traced.
const TRACED_ONE_IN: u64 = 8;
/// What is solved within the grammar keeps to one in so many parts of the time, after a while and
/// as long as there are new sentences: programs that run in microseconds would wait for it.
const GRAMMAR_ONE_IN: u32 = 16;
const GRAMMAR_FREE: Duration = Duration::from_secs(1);

impl Whitebox<'_> {
    /// The turns of a search within a language.
    pub(super) fn next_within(&mut self, context: &mut Context<'_>) -> Next {
        let flips = self.worklist.len() + self.hard.len() > 0 || self.ready.is_some();
        let traces = !self.untraced.is_empty();
        let changes = self.changes.len() + self.names.len() > 0;
        let elapsed = context.clock.elapsed();
        let solved = context.stats.times.grammar.saturating_sub(GRAMMAR_FREE / GRAMMAR_ONE_IN);
        let is_free = self.exhausted || solved * GRAMMAR_ONE_IN <= elapsed;
        let there = |work| match work {
            Work::Flips => flips && is_free,
            Work::Traces => traces,
            Work::Changes => changes && is_free,
            Work::Fresh => !self.exhausted,
        };
        match self.shares.next(elapsed, there) {
            Some(Work::Changes) => self.attempt_change(context),
            Some(Work::Fresh) => self.attempt_fresh(context),
            Some(Work::Flips) => {
                self.pop(context).map_or(Next::Busy, |turn| self.attempt(turn, context))
            }
            Some(Work::Traces) => self.trace_next(),
            None if context.has_end => self.trace_known(context),
            None => Next::Finished,
        }
    }

    /// No sentence is new, but most of those that were run have no trace: those that are drawn now
    /// get one. The search ends when that is true of all of them, too.
    fn trace_known(&mut self, context: &mut Context<'_>) -> Next {
        for _ in 0..FRESH_TRIES {
            let random = context.rng.u64(..);
            let input = self.sentences.as_mut().and_then(|sentences| sentences.fresh(random));
            let input = input.filter(|input| input.len() <= context.max_len);
            if let Some(input) = input.filter(|input| self.traced.insert(hash_of(input))) {
                context.stats.restarts += 1;
                return Next::Run(Proposal { input, symbolic: true, origin: Origin::Random });
            }
        }
        context.stats.drawn_in_vain = u64::from(FRESH_TRIES);
        Next::Finished
    }

    /// Runs a sentence again that did something new, for its trace.
    fn trace_next(&mut self) -> Next {
        let run = |input| Next::Run(Proposal { input, symbolic: true, origin: Origin::Change });
        self.untraced.pop_front().map_or(Next::Busy, run)
    }

    /// As `expand`, with what may be changed about the tokens. Nothing is flipped about a run that
    /// shows nothing new: there are more than enough others. Children of what crashes or hangs do
    /// the same.
    pub(super) fn expand_sentence(
        &mut self,
        (input, outcome): (&[u8], Outcome),
        live: Live,
        (bound, score): (usize, usize),
        context: &mut Context<'_>,
    ) {
        let Some(sentences) = &mut self.sentences else { return };
        let started = context.clock.elapsed();
        self.changes.saw(sentences.keys(input));
        let ends_well = matches!(outcome, Outcome::Exit(_));
        let changes = if ends_well && score > 0 { sentences.changes(input) } else { Vec::new() };
        context.stats.times.grammar += context.clock.elapsed().saturating_sub(started);
        if score > 0 {
            self.expand(input, live, Plan { bound, score, changes, ..Plan::default() }, context);
        }
    }

    fn attempt_change(&mut self, context: &mut Context<'_>) -> Next {
        // Both in turn, as long as there are both.
        self.changed_last = !self.changed_last;
        if (self.changed_last || self.changes.len() == 0)
            && let Some(next) = self.attempt_name(context)
        {
            return next;
        }
        let (Some((run, change)), Some(sentences)) = (self.changes.pop(), &mut self.sentences)
        else {
            return Next::Busy;
        };
        let started = context.clock.elapsed();
        let input = self.store.input(run).map(<[u8]>::to_vec);
        let is_new =
            |text: &Vec<u8>| text.len() <= context.max_len && !self.inputs.contains(&hash_of(text));
        let text = input.as_ref().and_then(|input| sentences.change(input, change)).filter(is_new);
        let text = text.filter(|text| sentences.contains(text));
        let prefix = match (&text, &input, self.store.live(run)) {
            (Some(text), Some(input), Some(live)) => leave(live, input, text, context),
            _ => Leave::Unknown,
        };
        context.stats.times.grammar += context.clock.elapsed().saturating_sub(started);
        let prefix = match (text, prefix) {
            (None, _) | (_, Leave::Never) => None,
            (Some(text), Leave::Unknown) => Some((text, None)),
            (Some(text), Leave::At(index, hash)) => Some((text, Some((index, hash)))),
        };
        let Some((input, prefix)) = prefix else {
            self.store.finished_flip(run);
            return Next::Busy;
        };
        self.inputs.insert(hash_of(&input));
        context.stats.sentences.changed += 1;
        self.expected = Some(Expected::Change { run: Some(run), prefix });
        Next::Run(Proposal { input, symbolic: false, origin: Origin::Change })
    }

    /// Starts anew somewhere else, unless the language has nothing new to offer.
    fn attempt_fresh(&mut self, context: &mut Context<'_>) -> Next {
        for _ in 0..FRESH_TRIES {
            let random = context.rng.u64(..);
            let input = self.sentences.as_mut().and_then(|sentences| sentences.fresh(random));
            let input = input.filter(|input| input.len() <= context.max_len);
            if let Some(input) = input.filter(|input| self.inputs.insert(hash_of(input))) {
                self.expected = Some(Expected::Change { run: None, prefix: None });
                return Next::Run(Proposal { input, symbolic: false, origin: Origin::Random });
            }
        }
        self.exhausted = true;
        Next::Busy
    }

    /// What did something new is material for fresh sentences, unless their runs would hang as
    /// well.
    pub(super) fn keep(&mut self, ran: &Ran<'_>) {
        let Some(sentences) = &mut self.sentences else { return };
        let is_new = ran.new_outcomes > 0 || matches!(ran.origin, Origin::Seed(_));
        if is_new && ran.outcome != Outcome::Timeout {
            sentences.keep(ran.input);
        }
        if ran.outcome == Outcome::Exit(0) {
            sentences.ended_well(ran.input);
        }
    }

    /// Runs of changed sentences have no trace, because most show nothing new, and those of other
    /// strategies neither. Those that do are run once more, and some of the others, which are the
    /// beginning of longer ones.
    pub(super) fn learn_untraced(&mut self, ran: &Ran<'_>) {
        let Some(sentences) = &mut self.sentences else { return };
        let is_new = self.changes.saw(sentences.keys(ran.input));
        self.unremarkable += u64::from(ran.new_outcomes == 0 && is_new);
        let deserves =
            ran.new_outcomes > 0 || is_new && self.unremarkable.is_multiple_of(TRACED_ONE_IN);
        if deserves && matches!(ran.outcome, Outcome::Exit(_)) {
            self.untraced.push_back(ran.input.to_vec());
        }
    }
}

/// Whether a text leaves the path of a run, as far as that is known.
enum Leave {
    At(usize, u64),
    Never,
    Unknown,
}

fn leave(live: &mut Live, input: &[u8], text: &[u8], context: &Context<'_>) -> Leave {
    let departure = live.questions(input, context.max_len, context.sites).1.departure(text);
    match departure {
        None => Leave::Never,
        Some(Departure { index, exact: true }) => Leave::At(index, live.hashes[index]),
        Some(_) => Leave::Unknown,
    }
}
