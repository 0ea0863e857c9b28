//! CESE: all strings of a symbolic grammar, each filled by an exhaustive whitebox search in which only its holes are symbolic.
//!
//! The search of one string knows nothing of the others, so its state is small and goes with it; what the solver learnt stays.
//! A string without holes is one run. A grammar without any is thereby plain enumeration of its strings (`grammar-enumerate`).
//! Nothing is claimed of a string before its search has nothing left to try.

mod signature;
mod validity;

use std::collections::hash_map::Entry;
use std::ops::Range;

use grammar::TerminalId;
use grammar::symbolic::{Measure, Position, Sizes, Strings, StringsError, Symbolic, SymbolicString};
use rustc_hash::{FxHashMap, FxHashSet};
use search::{
    Claim, Completeness, Context, Enumeration, Next, Order, Origin, Proposal, Ran, SavedSearch, SizeCounts,
    Strategy, TracedPath, Whitebox, WhiteboxOptions,
};

use signature::{Signature, hash_of};
use validity::Lexemes;

#[derive(Clone, Debug)]
pub struct CeseOptions {
    pub sizes: Sizes,
    /// The largest size to enumerate.
    pub largest: Option<usize>,
    /// The number of a part of the strings, and how many parts there are.
    pub shard: (u64, u64),
}

pub struct Cese<'s> {
    symbolic: &'s Symbolic,
    strings: Strings<'s>,
    measure: Measure,
    current: Option<Current>,
    enumeration: Enumeration,
    completeness: Completeness,
    /// Strings by height that were explored; an ambiguous one comes again.
    explored: FxHashSet<u64>,
    /// Of what strings did.
    signatures: FxHashSet<Signature>,
    lexemes: FxHashMap<(TerminalId, usize), Option<Lexemes>>,
    /// Why no further strings can be made.
    failed: Option<StringsError>,
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
}

impl<'s> Cese<'s> {
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
            current: None,
            enumeration,
            completeness: Completeness::default(),
            explored: FxHashSet::default(),
            signatures: FxHashSet::default(),
            lexemes: FxHashMap::default(),
            failed: None,
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
        let input = string.text.clone();
        let whitebox = (!string.holes.is_empty()).then(|| Box::new(filler(&string)));
        let symbolic = whitebox.is_some();
        let (signature, paths) = (Signature::default(), FxHashSet::default());
        self.current = Some(Current { string, size, whitebox, signature, paths, inputs: 0 });
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

    /// All paths of the current string were explored.
    fn close(&mut self) {
        let Some(current) = self.current.take() else { return };
        if let Some(whitebox) = &current.whitebox {
            self.completeness.add(whitebox.completeness());
        }
        let redundant = current.whitebox.is_some() && !self.signatures.insert(current.signature);
        let counts = self.counts(current.size);
        counts.strings += 1;
        counts.redundant += u64::from(redundant);
        counts.inputs += current.inputs;
        counts.paths += current.paths.len() as u64;
        self.note_position();
    }

    /// A later session goes on with the string after this one.
    fn note_position(&mut self) {
        let Position { size, number } = self.strings.position();
        self.enumeration.next = (*size, number.to_string());
    }

    /// Whether lexemes stand in the valid holes. Their automaton may be too large for an expression.
    fn is_allowed(&self, input: &[u8]) -> bool {
        let holes = self.current.iter().flat_map(|current| &current.string.holes);
        holes.filter_map(|hole| Some((hole.terminal?, hole.start..hole.start + hole.len))).all(
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
            given.extend(lexemes.as_ref().and_then(|lexemes| lexemes.constraint(&mut path.dag, hole.start)));
        }
        path.condition.constraints.splice(0..0, given);
    }
}

/// The search that fills the holes of a string.
fn filler(string: &SymbolicString) -> Whitebox<'static> {
    let holes: Vec<Range<usize>> =
        string.holes.iter().map(|hole| hole.start..hole.start + hole.len).collect();
    Whitebox::new(WhiteboxOptions {
        order: Order::DepthFirst,
        exhaustive: true,
        optimistic: false,
        holes: Some(holes),
        ..WhiteboxOptions::default()
    })
}

impl Strategy for Cese<'_> {
    fn name(&self) -> &'static str {
        if self.symbolic.has_holes() { "cese" } else { "grammar-enumerate" }
    }

    fn next(&mut self, context: &mut Context<'_>) -> Next {
        let Some(current) = &mut self.current else { return self.open(context) };
        let next = current.whitebox.as_mut().map_or(Next::Finished, |whitebox| whitebox.next(context));
        if matches!(next, Next::Finished) {
            self.close();
            return self.open(context);
        }
        match next {
            Next::Run(proposal) if !self.is_allowed(&proposal.input) => {
                self.completeness.unknown_answers += 1;
                Next::Busy
            }
            next => next,
        }
    }

    fn learn(&mut self, mut ran: Ran<'_>, context: &mut Context<'_>) {
        let Some(current) = &mut self.current else { return };
        current.inputs += 1;
        let path = ran.path.as_ref().map_or(ran.covered, |path| path.condition.control_hash());
        current.paths.insert(path);
        if let Some(path) = &ran.path {
            current.signature.add(path, &current.string.holes, (ran.covered, ran.ending));
        }
        if let Some(path) = &mut ran.path {
            self.restrict(path);
        }
        if let Some(whitebox) = self.current.as_mut().and_then(|current| current.whitebox.as_mut()) {
            whitebox.learn(ran, context);
        }
    }

    fn holes(&self) -> Option<&[Range<usize>]> {
        self.current.as_ref()?.whitebox.as_ref()?.holes()
    }

    fn claim(&self) -> Option<Claim> {
        let mut claim = Claim::about_strings(self.enumeration.clone(), self.completeness.clone());
        if let Some(error) = &self.failed {
            claim.text = format!("{}; no larger strings: {error}", claim.text);
        }
        Some(claim)
    }

    fn queue(&self) -> usize {
        self.current
            .as_ref()
            .and_then(|current| current.whitebox.as_ref())
            .map_or(0, |whitebox| whitebox.queue())
    }

    fn save(&self) -> Option<SavedSearch> {
        let (completeness, enumeration) = (self.completeness.clone(), Some(self.enumeration.clone()));
        Some(SavedSearch { completeness, enumeration, ..SavedSearch::default() })
    }

    fn restore(&mut self, saved: &SavedSearch) {
        let Some(enumeration) = &saved.enumeration else { return };
        let (size, number) = &enumeration.next;
        self.strings.seek(Position { size: *size, number: number.parse().unwrap_or_default() });
        self.enumeration = enumeration.clone();
        self.completeness = Completeness { finished: false, ..saved.completeness.clone() };
    }
}
