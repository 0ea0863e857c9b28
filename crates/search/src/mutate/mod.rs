//! Changes of inputs that are worth it, with what runs did as feedback: which inputs these are
//! (`queue`), which of them is changed (`schedule`), how (`havoc`, `text`), with what the program
//! compares (`dictionary`), and what a trace tells exactly (`compared`, `invert`). Before an input
//! is changed it is made shorter (`trim`).

mod compared;
mod dictionary;
mod havoc;
mod invert;
mod queue;
mod schedule;
mod text;
mod trim;

use fastrand::Rng;
use sources::Layout;

use crate::{Context, Next, Origin, Proposal, Ran, Strategy};
use compared::{Edit, Told, told};
use dictionary::Dictionary;
use havoc::{Donors, mutate};
use queue::Queue;
use trim::Trim;

/// Mutates seeds and every input that added coverage, or took branches more often than others.
#[derive(Debug, Default)]
pub struct Mutate {
    queue: Queue,
    dictionary: Option<Dictionary>,
    /// What is done with an entry before its random changes.
    stage: Stage,
    proposed: Proposed,
    /// Runs so far with random changes, and all others.
    random_runs: u64,
    prepared_runs: u64,
    never_traces: bool,
}

#[derive(Debug, Default)]
enum Stage {
    #[default]
    Random,
    Trim(Trim),
    /// Edits of an entry that its trace told of, the last one first.
    Edits(Vec<u8>, Vec<Edit>),
}

/// What the run is for that was proposed last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Proposed {
    #[default]
    Change,
    Shorter,
    /// The trace of an entry.
    Trace(usize),
}

/// Runs with random changes for each that trims, traces or edits: some programs hardly profit.
const RANDOM_SHARE: u64 = 3;
/// What a trace counts, which takes as long as many runs.
const TRACE: u64 = 20;
/// Longer inputs are not traced.
const LONGEST_TRACED: usize = 8 << 10;
/// The most changes of one input, as a power of two.
const MAX_STACKED: u32 = 6;

impl Strategy for Mutate {
    fn name(&self) -> &'static str {
        Mutate::NAME
    }

    fn next(&mut self, context: &mut Context<'_>) -> Next {
        let next = self.next_of_stage(context.max_len).unwrap_or_else(|| self.next_entry(context));
        Next::Run(next)
    }

    fn learn(&mut self, ran: Ran<'_>, context: &mut Context<'_>) {
        if *ran.origin != Origin::Retrace {
            self.queue.learn(&ran);
        }
        match std::mem::take(&mut self.proposed) {
            Proposed::Change => {}
            Proposed::Shorter => self.learn_shorter(&ran),
            Proposed::Trace(number) => self.learn_trace(number, &ran, context),
        }
    }
}

impl Mutate {
    pub const NAME: &str = "mutate";

    /// Leaves traces to others.
    pub fn without_traces() -> Mutate {
        Mutate { never_traces: true, ..Mutate::default() }
    }

    /// A single change of what was found, which is not worth a look at the whole program.
    pub(crate) fn once(context: &mut Context<'_>) -> Proposal {
        let found = context.corpus.entries();
        let mut pick = || match found.len() {
            0 => &[],
            count => &found[context.rng.usize(0..count)].input[..],
        };
        let (input, other) = (pick(), pick());
        let donors = Donors { other, dictionary: &Dictionary::default() };
        change(input, donors, context.max_len, context.rng)
    }

    fn next_of_stage(&mut self, max_len: usize) -> Option<Proposal> {
        match &mut self.stage {
            Stage::Random => None,
            Stage::Trim(trim) => {
                let shorter = trim.next()?;
                self.proposed = Proposed::Shorter;
                self.prepared_runs += 1;
                Some(concrete(shorter))
            }
            Stage::Edits(input, edits) => {
                let mut edited = edits.pop()?.apply(input);
                self.prepared_runs += 1;
                edited.truncate(max_len);
                Some(concrete(edited))
            }
        }
    }

    fn next_entry(&mut self, context: &mut Context<'_>) -> Proposal {
        self.stage = Stage::Random;
        let Some(number) = schedule::pick(&self.queue, context.rng) else {
            return self.random(None, context);
        };
        let prepared = match self.prepared_runs * RANDOM_SHARE <= self.random_runs {
            true => self.begin_trim(number).or_else(|| self.begin_trace(number)),
            false => None,
        };
        prepared.unwrap_or_else(|| self.random(Some(number), context))
    }

    /// Trims an entry that is the cheapest one for something. Containers have a fixed size.
    fn begin_trim(&mut self, number: usize) -> Option<Proposal> {
        let is_cheapest = self.queue.is_cheapest(number);
        let entry = self.queue.entry(number)?;
        let is_short = entry.input.len() < trim::SHORTEST;
        if !is_cheapest || is_short || Layout::of(&entry.input).is_some() {
            return None;
        }
        let signature = entry.untrimmed.take()?;
        self.stage = Stage::Trim(Trim::new(number, &entry.input, signature));
        self.next_of_stage(usize::MAX)
    }

    fn learn_shorter(&mut self, ran: &Ran<'_>) {
        if let Stage::Trim(trim) = &mut self.stage
            && trim.learn(ran.input, ran.hits)
        {
            self.queue.shorten(trim.entry, ran.input, ran.hits);
        }
    }

    fn begin_trace(&mut self, number: usize) -> Option<Proposal> {
        let is_cheapest = self.queue.is_cheapest(number);
        let entry = self.queue.entry(number).filter(|_| !self.never_traces)?;
        let is_telling = is_cheapest || entry.new_outcomes > 0;
        if entry.is_traced || entry.hangs || !is_telling || entry.input.len() > LONGEST_TRACED {
            return None;
        }
        entry.is_traced = true;
        self.prepared_runs += TRACE;
        self.proposed = Proposed::Trace(number);
        Some(Proposal { input: entry.input.clone(), symbolic: true, origin: Origin::Retrace })
    }

    fn learn_trace(&mut self, number: usize, ran: &Ran<'_>, context: &mut Context<'_>) {
        let (Some(path), Some(entry)) = (&ran.path, self.queue.entry(number)) else { return };
        let Told { mut edits, words } = told(path, ran.input, (context.sites, context.coverage));
        if Layout::of(ran.input).is_some() {
            edits.retain(|edit| edit.place.len() == edit.bytes.len());
        }
        edits.reverse();
        self.stage = Stage::Edits(entry.input.clone(), edits);
        let dictionary = self.dictionary_of(context);
        words.iter().for_each(|word| dictionary.learn(word));
    }

    fn dictionary_of(&mut self, context: &Context<'_>) -> &mut Dictionary {
        self.dictionary.get_or_insert_with(|| Dictionary::of(context.sites))
    }

    /// Random changes of an entry, or of nothing.
    fn random(&mut self, number: Option<usize>, context: &mut Context<'_>) -> Proposal {
        self.random_runs += 1;
        if let Some(entry) = number.and_then(|number| self.queue.entry(number)) {
            entry.turns = entry.turns.saturating_add(1);
        }
        let entries = self.queue.entries();
        let other = number.map_or(0, |_| context.rng.usize(0..entries.len()));
        let input = |number: usize| entries.get(number).map_or(&[][..], |entry| &entry.input);
        let dictionary = self.dictionary.get_or_insert_with(|| Dictionary::of(context.sites));
        let donors = Donors { other: input(other), dictionary };
        change(number.map_or(&[], input), donors, context.max_len, context.rng)
    }
}

fn concrete(input: Vec<u8>) -> Proposal {
    Proposal { input, symbolic: false, origin: Origin::Mutation }
}

/// A random number of changes, on top of each other.
fn change(input: &[u8], donors: Donors<'_>, max_len: usize, rng: &mut Rng) -> Proposal {
    let rounds = 1 << rng.u32(0..=MAX_STACKED);
    if let Some(layout) = Layout::of(input) {
        return concrete(change_parts(&layout, input, rounds, donors, rng));
    }
    let mut input = input.to_vec();
    for _ in 0..rounds {
        mutate(&mut input, donors, rng);
        input.truncate(max_len);
    }
    concrete(input)
}

/// The parts of a container change each by itself, mostly few of them.
fn change_parts(
    layout: &Layout,
    input: &[u8],
    rounds: u32,
    Donors { other, dictionary }: Donors<'_>,
    rng: &mut Rng,
) -> Vec<u8> {
    let mut parts = layout.split(input).unwrap_or_default();
    let others = layout.split(other).unwrap_or_else(|_| vec![Vec::new(); parts.len()]);
    let mut number = 0;
    for round in 0..rounds {
        if round == 0 || rng.u32(0..4) == 0 {
            number = rng.usize(0..parts.len().max(1));
        }
        let (Some(bytes), Some(part)) = (parts.get_mut(number), layout.parts().get(number)) else {
            break;
        };
        mutate(bytes, Donors { other: &others[number], dictionary }, rng);
        bytes.truncate(part.capacity);
    }
    layout.join(&parts)
}
