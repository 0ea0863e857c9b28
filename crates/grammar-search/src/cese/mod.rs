//! CESE: all strings of a symbolic grammar, each filled by an exhaustive whitebox search in which
//! only its holes are symbolic.
//!
//! The search of one string knows nothing of the others, so its state is small and goes with it;
//! what the solver learnt stays. A string without holes is one run. A grammar without any is
//! thereby plain enumeration of its strings (`grammar-enumerate`). Nothing is claimed of a string
//! before its search has nothing left to try. After that, strings that did something of their own
//! are filled once more for each hole that can be made longer, and the solver chooses how long
//! (`lengths`).

mod lengths;
mod signature;
mod validity;

use std::collections::VecDeque;
use std::collections::hash_map::Entry;
use std::ops::Range;
use std::time::Duration;

use grammar::TerminalId;
use grammar::symbolic::{
    Measure, Position, Repeated, Sizes, Strings, StringsError, Symbolic, SymbolicString,
};
use rustc_hash::{FxHashMap, FxHashSet};
use search::{
    Claim, Completeness, Context, Enumeration, Next, Order, Origin, Proposal, Ran, SavedSearch,
    SizeCounts, Strategy, TracedPath, Whitebox, WhiteboxOptions,
};

use lengths::Lengths;
use signature::{Signature, hash_of};
use validity::Lexemes;

#[derive(Clone, Debug)]
pub struct CeseOptions {
    pub sizes: Sizes,
    /// The largest size to enumerate.
    pub largest: Option<usize>,
    /// The number of a part of the strings, and how many parts there are.
    pub shard: (u64, u64),
    /// Whether the solver is also to choose the lengths of holes.
    pub lengths: bool,
}

/// Of the inputs, one for so many others may have a repetition, and some from the beginning.
const LENGTHS_SHARE: u64 = 4;
const FREE_LENGTHS: u64 = 256;

pub struct Cese<'s> {
    symbolic: &'s Symbolic,
    strings: Strings<'s>,
    measure: Measure,
    lengths: bool,
    current: Option<Current>,
    /// The last string with a repetition, to be filled before the next string; by hole.
    repeated: VecDeque<(usize, Repeated)>,
    enumeration: Enumeration,
    completeness: Completeness,
    /// Strings by height that were explored; an ambiguous one comes again.
    explored: FxHashSet<u64>,
    /// Of what strings did.
    signatures: FxHashSet<Signature>,
    lexemes: FxHashMap<(TerminalId, usize), Option<Lexemes>>,
    /// Why no further strings can be made.
    failed: Option<StringsError>,
    /// Time that went into flips which stayed open, of all strings.
    hard_time: Duration,
}

/// The string that is being filled.
struct Current {
    string: SymbolicString,
    size: usize,
    /// `None` for a string without holes.
    whitebox: Option<Box<Whitebox<'static>>>,
    signature: Signature,
    paths: FxHashSet<u64>,
    inputs: u64,
    /// Of the input that was proposed last.
    holes: Vec<Range<usize>>,
    /// If the string has a repetition.
    lengths: Option<Lengths>,
}

impl Current {
    fn new(
        string: SymbolicString,
        size: usize,
        lengths: Option<Lengths>,
        hard_time: Duration,
    ) -> Current {
        let (signature, paths) = (Signature::default(), FxHashSet::default());
        let holes = string.holes.iter().map(|hole| hole.start..hole.start + hole.len).collect();
        let whitebox = match (&lengths, string.holes.is_empty()) {
            (Some(_), _) => Some(Box::new(Lengths::search().with_hard_time(hard_time))),
            (None, true) => None,
            (None, false) => Some(Box::new(filler().with_hard_time(hard_time))),
        };
        let mut current =
            Current { string, size, whitebox, signature, paths, inputs: 0, holes, lengths };
        current.mark_holes();
        current
    }

    /// A new length has brought the holes to other places.
    fn mark_holes(&mut self) {
        if let Some(lengths) = &self.lengths {
            self.holes = lengths.holes();
        }
    }

    fn first(&self) -> Vec<u8> {
        self.lengths.as_ref().map_or_else(|| self.string.text.clone(), Lengths::first)
    }

    /// The input to run for what the search proposes.
    fn lay_out(&mut self, answer: Vec<u8>) -> Option<Vec<u8>> {
        let input = match &mut self.lengths {
            Some(lengths) => lengths.lay_out(&answer)?,
            None => answer,
        };
        self.mark_holes();
        Some(input)
    }

    /// Where the lexemes in the holes are.
    fn lexeme(&self, hole: usize) -> Option<Range<usize>> {
        let place = self.string.holes.get(hole).map(|hole| hole.start..hole.start + hole.len);
        self.lengths.as_ref().map_or(place, |lengths| lengths.lexeme(hole))
    }
}

impl<'s> Cese<'s> {
    pub const NAME: &'static str = "cese";
    /// Of an enumeration without holes.
    pub const NAME_CONCRETE: &'static str = "grammar-enumerate";

    pub fn new(symbolic: &'s Symbolic, options: &CeseOptions) -> Result<Cese<'s>, StringsError> {
        let measure = options.sizes.measure;
        let enumeration = Enumeration {
            measure: if measure == Measure::Length { "length" } else { "height" }.to_owned(),
            symbolic: symbolic.has_holes(),
            ..Enumeration::default()
        };
        Ok(Cese {
            symbolic,
            strings: Strings::new(symbolic, options.sizes, options.largest, options.shard)?,
            measure,
            lengths: options.lengths && symbolic.has_holes(),
            current: None,
            repeated: VecDeque::new(),
            enumeration,
            completeness: Completeness::default(),
            explored: FxHashSet::default(),
            signatures: FxHashSet::default(),
            lexemes: FxHashMap::default(),
            failed: None,
            hard_time: Duration::ZERO,
        })
    }

    /// The counts of a size, which is the last one or a new one.
    fn counts(&mut self, size: usize) -> &mut SizeCounts {
        let sizes = &mut self.enumeration.sizes;
        if sizes.last().is_none_or(|last| last.size != size) {
            sizes.push(SizeCounts { size, ..SizeCounts::default() });
        }
        let last = sizes.len() - 1;
        &mut sizes[last]
    }

    /// Goes on to the next string.
    fn open(&mut self, context: &Context<'_>) -> Next {
        if self.has_enough_lengths() {
            self.repeated.clear();
        }
        while let Some((hole, repeated)) = self.repeated.pop_front() {
            let string = repeated.string.clone();
            self.enumeration.hole = Some(hole);
            if let Some(lengths) = Lengths::new(repeated, context.max_len) {
                let size = self.enumeration.sizes.last().map_or(0, |last| last.size);
                return self.begin(Current::new(string, size, Some(lengths), self.hard_time));
            }
        }
        self.note_position();
        let (size, string) = match self.strings.take() {
            Ok(Some(next)) => next,
            Ok(None) => return self.finish(),
            Err(error) => {
                self.failed = Some(error);
                return Next::Finished;
            }
        };
        self.enumeration.finished = size.checked_sub(1).or(self.enumeration.finished);
        if self.measure == Measure::Height && !self.explored.insert(hash_of(&string)) {
            self.counts(size).repeated += 1;
            return self.skip();
        }
        if string.text.len() > context.max_len {
            self.counts(size).too_long += 1;
            return self.skip();
        }
        self.begin(Current::new(string, size, None, self.hard_time))
    }

    fn begin(&mut self, current: Current) -> Next {
        let (input, symbolic) = (current.first(), current.whitebox.is_some());
        self.current = Some(current);
        Next::Run(Proposal { input, symbolic, origin: Origin::Enumerated })
    }

    fn skip(&mut self) -> Next {
        self.note_position();
        Next::Busy
    }

    fn finish(&mut self) -> Next {
        self.enumeration.finished = self.strings.position().size.checked_sub(1);
        self.completeness.finished = true;
        Next::Finished
    }

    /// The current string was filled.
    fn close(&mut self) {
        let Some(current) = self.current.take() else { return };
        if let Some(whitebox) = &current.whitebox {
            self.hard_time = whitebox.hard_time();
        }
        if current.lengths.is_some() {
            let counts = self.counts(current.size);
            counts.lengthened += 1;
            counts.lengthened_inputs += current.inputs;
            return;
        }
        if let Some(whitebox) = &current.whitebox {
            self.completeness.add(whitebox.completeness());
        }
        let redundant = current.whitebox.is_some() && !self.signatures.insert(current.signature);
        let counts = self.counts(current.size);
        counts.strings += 1;
        counts.redundant += u64::from(redundant);
        counts.inputs += current.inputs;
        counts.paths += current.paths.len() as u64;
        if self.lengths && !redundant {
            self.lengthen_holes(&current.string, 0);
        }
        self.enumeration.hole = self.repeated.front().map(|(hole, _)| *hole);
    }

    /// The holes of a string from `first` on are to be made longer next.
    fn lengthen_holes(&mut self, string: &SymbolicString, first: usize) {
        let holes = first..string.holes.len();
        self.repeated =
            holes.filter_map(|i| Some((i, self.symbolic.repeated(string, i)?))).collect();
    }

    /// A later session goes on with the string after this one.
    fn note_position(&mut self) {
        let Position { size, number } = self.strings.position();
        self.enumeration.next = (*size, number.to_string());
        self.enumeration.hole = None;
    }

    /// Inputs with repetitions had their share; most strings say nothing new about lengths.
    fn has_enough_lengths(&self) -> bool {
        let total = |of: fn(&SizeCounts) -> u64| self.enumeration.sizes.iter().map(of).sum::<u64>();
        let (inputs, lengthened) =
            (total(|size| size.inputs), total(|size| size.lengthened_inputs));
        lengthened >= FREE_LENGTHS + inputs / LENGTHS_SHARE
    }

    fn has_repetition(&self) -> bool {
        self.current.as_ref().is_some_and(|current| current.lengths.is_some())
    }

    /// Whether lexemes stand in the valid holes. Their automaton may be too large for an
    /// expression.
    fn is_allowed(&self, input: &[u8]) -> bool {
        let Some(current) = &self.current else { return true };
        let terminals = current.string.holes.iter().map(|hole| hole.terminal).enumerate();
        terminals.filter_map(|(i, terminal)| Some((terminal?, current.lexeme(i)?))).all(
            |(terminal, place)| {
                let lexeme = input.get(place);
                lexeme.is_some_and(|lexeme| self.symbolic.lexemes[terminal.index()].matches(lexeme))
            },
        )
    }

    /// Says in the path condition what may stand in the holes.
    fn restrict(&mut self, path: &mut TracedPath) {
        let Some(current) = &self.current else { return };
        let mut given = Vec::new();
        for hole in &current.string.holes {
            let Some(terminal) = hole.terminal else { continue };
            let lexemes = match self.lexemes.entry((terminal, hole.len)) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(new) => {
                    new.insert(Lexemes::new(&self.symbolic.lexemes[terminal.index()], hole.len))
                }
            };
            let places: Vec<usize> = match &current.lengths {
                Some(lengths) => lengths.places(hole).collect(),
                None => (hole.start..hole.start + hole.len).collect(),
            };
            given.extend(
                lexemes
                    .as_ref()
                    .and_then(|lexemes| lexemes.constraint(&mut path.trace.dag, &places)),
            );
        }
        path.condition.constraints.splice(0..0, given);
        if let Some(lengths) = &current.lengths {
            lengths.prepare(path);
        }
    }
}

/// The search that fills the holes of a string.
fn filler() -> Whitebox<'static> {
    Whitebox::new(WhiteboxOptions {
        order: Order::DepthFirst,
        exhaustive: true,
        optimistic: false,
        ..WhiteboxOptions::default()
    })
}

impl Strategy for Cese<'_> {
    fn name(&self) -> &'static str {
        if self.symbolic.has_holes() { Cese::NAME } else { Cese::NAME_CONCRETE }
    }

    fn next(&mut self, context: &mut Context<'_>) -> Next {
        let Some(current) = &mut self.current else { return self.open(context) };
        let is_done = current.lengths.is_some() && Lengths::is_done(current.inputs);
        let next = match &mut current.whitebox {
            Some(whitebox) if !is_done => whitebox.next(context),
            _ => Next::Finished,
        };
        let Proposal { input, symbolic, origin } = match next {
            Next::Run(proposal) => proposal,
            Next::Busy => return Next::Busy,
            Next::Finished => {
                self.close();
                return self.open(context);
            }
        };
        let input = current.lay_out(input);
        match input.filter(|input| self.is_allowed(input)) {
            Some(input) => Next::Run(Proposal { input, symbolic, origin }),
            None => {
                self.completeness.unknown_answers += u64::from(!self.has_repetition());
                Next::Busy
            }
        }
    }

    fn learn(&mut self, mut ran: Ran<'_>, context: &mut Context<'_>) {
        let Some(current) = &mut self.current else { return };
        current.inputs += 1;
        let path = ran.path.as_ref().map_or(ran.covered, |path| path.condition.control_hash());
        current.paths.insert(path);
        if let Some(path) = &ran.path {
            current.signature.add(path, &current.string.holes, (ran.covered, ran.outcome));
        }
        if let Some(path) = &mut ran.path {
            self.restrict(path);
        }
        let Some(Current { whitebox: Some(whitebox), lengths, .. }) = &mut self.current else {
            return;
        };
        match lengths {
            Some(lengths) => {
                let input = lengths.extended(ran.input);
                whitebox.learn(Ran { input: &input, ..ran }, context);
            }
            None => whitebox.learn(ran, context),
        }
    }

    fn holes(&self) -> Option<&[Range<usize>]> {
        let current = self.current.as_ref()?;
        current.whitebox.is_some().then_some(&current.holes)
    }

    fn repetition(&self) -> Option<Range<usize>> {
        Some(self.current.as_ref()?.lengths.as_ref()?.repetition())
    }

    fn claim(&self) -> Option<Claim> {
        let mut claim = Claim::about_strings(self.enumeration.clone(), self.completeness.clone());
        if let Some(error) = &self.failed {
            claim.text = format!("{}; no larger strings: {error}", claim.text);
        }
        Some(claim)
    }

    fn accounts_for_all(&self) -> bool {
        true
    }

    fn queue(&self) -> usize {
        self.current
            .as_ref()
            .and_then(|current| current.whitebox.as_ref())
            .map_or(0, |whitebox| whitebox.queue())
    }

    fn save(&self) -> Option<SavedSearch> {
        let (completeness, enumeration) =
            (self.completeness.clone(), Some(self.enumeration.clone()));
        Some(SavedSearch { completeness, enumeration, ..SavedSearch::default() })
    }

    fn restore(&mut self, saved: &SavedSearch) {
        let Some(enumeration) = &saved.enumeration else { return };
        let (size, number) = &enumeration.next;
        self.strings.seek(Position { size: *size, number: number.parse().unwrap_or_default() });
        self.enumeration = enumeration.clone();
        if let Some(hole) = enumeration.hole
            && let Ok(Some((_, string))) = self.strings.take()
        {
            self.lengthen_holes(&string, hole);
        }
        self.completeness = Completeness { finished: false, ..saved.completeness.clone() };
    }
}
