//! Solves a conjunction of memberships over segments.
//!
//! Regular conjuncts are scanned together. One context-free conjunct is intersected with them by
//! saturation, which needs no bound and proves emptiness. Further context-free conjuncts, and
//! complements of such, are scanned with their recognizers; where their grammar is in truth
//! regular, as an automaton; and a regular superset of them is tried to prove that there is no
//! solution.

use crate::bounded::up_to;
use crate::budget::{Budget, Stop};
use crate::bytes::ByteSet;
use crate::grammar::Nonterminal;
use crate::inequalities::Inequality;
use crate::language::{GrammarId, Language, Languages, Node, UNBOUNDED};
use crate::nfa::approximate;
use crate::saturate::{Bounds, Saturation};
use crate::scan::{Conjunct, Part, Scan, SegmentId, Size, Step};
use crate::search::{Graph, Words, follow, shortest};

/// Automata of grammars may have this many states.
const APPROXIMATION: usize = 20_000;
/// Grammars are written out up to a length in at most this many steps.
const WRITTEN_OUT: usize = 1_000_000;
/// How many states the other conjuncts may have for saturation to be tried on the first.
const WORTH_SATURATING: usize = 3_000;

#[derive(Clone, Debug)]
pub struct Conjunction {
    pub conjuncts: Vec<Conjunct>,
    pub sizes: Vec<Size>,
    pub segments: Vec<SegmentId>,
    /// Conditions on the lengths of segments.
    pub inequalities: Vec<Inequality>,
}

impl Conjunction {
    /// Words for all segments, as short as possible in total; `None` if there are none.
    pub fn solve(
        mut self,
        languages: &mut Languages,
        budget: &mut Budget,
    ) -> Result<Option<Words>, Stop> {
        if !self.prepare(languages) {
            return Ok(None);
        }
        if !self.inequalities.is_empty() {
            return self.solve_measured(languages, budget);
        }
        let (hard, easy): (Vec<_>, Vec<_>) = self
            .conjuncts
            .iter()
            .cloned()
            .partition(|conjunct| languages.has_grammar(conjunct.language));
        match &hard[..] {
            [] => self.scan(languages, &easy, budget),
            [one] => match self.context_free(languages, one) {
                Some(target) => self.saturate(languages, &easy, one, target, budget),
                None => self.several(languages, hard, easy, budget),
            },
            _ => self.several(languages, hard, easy, budget),
        }
    }

    /// Takes intersections apart and turns conditions on the length of one segment into its size.
    /// False if there is no solution.
    pub fn prepare(&mut self, languages: &mut Languages) -> bool {
        let mut open = std::mem::take(&mut self.conjuncts);
        open.reverse();
        while let Some(conjunct) = open.pop() {
            match languages.node(conjunct.language).clone() {
                Node::And(parts) => open.extend(
                    parts
                        .iter()
                        .rev()
                        .map(|&language| Conjunct { parts: conjunct.parts.clone(), language }),
                ),
                _ if conjunct.language == Languages::ALL => {}
                Node::Bytes(ByteSet::FULL) if self.resize(&conjunct.parts, 1, 1) => {}
                Node::Repeat(any, least, most)
                    if matches!(languages.node(any), Node::Bytes(ByteSet::FULL))
                        && (self.resize(&conjunct.parts, least, most)
                            || self.measure(&conjunct.parts, least, most)) => {}
                _ if self.conjuncts.contains(&conjunct) => {}
                _ => self.conjuncts.push(conjunct),
            }
        }
        self.segments.iter().all(|&segment| self.sizes[segment].least <= self.sizes[segment].most)
    }

    /// Restricts the size of the only segment of `parts`; false if there is not exactly one.
    fn resize(&mut self, parts: &[Part], least: u64, most: u64) -> bool {
        let literals = literal_length(parts);
        let mut segments = segments_of(parts);
        let (Some(segment), None) = (segments.next(), segments.next()) else { return false };
        if literals > most {
            return false;
        }
        let size = &mut self.sizes[segment];
        size.least = size.least.max(least.saturating_sub(literals));
        size.most = size.most.min(most - literals);
        true
    }

    /// Where lengths are measured anyway, a condition on the length of several segments is one more
    /// inequality.
    fn measure(&mut self, parts: &[Part], least: u64, most: u64) -> bool {
        if self.inequalities.is_empty() {
            return false;
        }
        let literals = i128::from(literal_length(parts));
        let sum = |factor| segments_of(parts).map(|segment| (factor, segment)).collect();
        self.inequalities.push(Inequality { sum: sum(1), constant: literals - i128::from(least) });
        if most != UNBOUNDED {
            self.inequalities
                .push(Inequality { sum: sum(-1), constant: i128::from(most) - literals });
        }
        true
    }

    pub fn scan(
        &self,
        languages: &mut Languages,
        conjuncts: &[Conjunct],
        budget: &mut Budget,
    ) -> Result<Option<Words>, Stop> {
        let steps = self.segments.iter().map(|&segment| Step::Segment(segment)).collect();
        let Some(mut scan) =
            Scan::new(languages, conjuncts, steps, self.sizes.clone(), &[], budget)?
        else {
            return Ok(None);
        };
        match scan.start(languages) {
            Some(start) => shortest(&mut scan, languages, start, budget),
            None => Ok(None),
        }
    }

    /// The start symbol of a conjunct that saturation can take: context-free, and no segment twice.
    fn context_free(
        &self,
        languages: &mut Languages,
        conjunct: &Conjunct,
    ) -> Option<(GrammarId, Nonterminal)> {
        let mut seen = Vec::new();
        for segment in segments_of(&conjunct.parts) {
            if seen.contains(&segment) {
                return None;
            }
            seen.push(segment);
        }
        languages.as_context_free(conjunct.language)
    }

    fn saturate(
        &self,
        languages: &mut Languages,
        others: &[Conjunct],
        target: &Conjunct,
        (grammar, start): (GrammarId, Nonterminal),
        budget: &mut Budget,
    ) -> Result<Option<Words>, Stop> {
        let mut steps: Vec<Step> = target.parts.iter().map(step).collect();
        let visible = steps.len() as u32;
        let rest = self.segments.iter().map(|&segment| Step::Segment(segment));
        let rest: Vec<Step> = rest.filter(|step| !steps.contains(step)).collect();
        steps.extend(rest);
        let (sizes, bounds) = self.bounds(&target.parts);
        let Some(mut scan) =
            Scan::new(languages, others, steps, sizes, &[target.language], budget)?
        else {
            return Ok(None);
        };
        let graph = Graph::explore(&mut scan, languages, budget)?;
        let Some(machine) = graph.machine(visible, budget)? else { return Ok(None) };
        let Some(word) =
            Saturation::new(languages.grammar(grammar), &machine, bounds).run(start, budget)?
        else {
            return Ok(None);
        };
        let Some((mut words, place)) = follow(&scan, &graph, &word, visible, budget)? else {
            return Ok(None);
        };
        let Some(more) = shortest(&mut scan, languages, place, budget)? else { return Ok(None) };
        words.extend(more);
        Ok(Some(words))
    }

    /// If only one segment is read, its size need not be counted by the automaton: the length of
    /// the word says it.
    fn bounds(&self, parts: &[Part]) -> (Vec<Size>, Bounds) {
        let mut sizes = self.sizes.clone();
        let segments: Vec<SegmentId> = segments_of(parts).collect();
        let [segment] = segments[..] else { return (sizes, Bounds { least: 0, most: None }) };
        let size = sizes[segment];
        if size.most == UNBOUNDED {
            return (sizes, Bounds { least: 0, most: None });
        }
        let literals = literal_length(parts);
        sizes[segment] = Size { least: 0, most: UNBOUNDED };
        (sizes, Bounds { least: size.least + literals, most: Some(size.most + literals) })
    }

    /// Several context-free conjuncts, or one that saturation cannot take.
    fn several(
        &self,
        languages: &mut Languages,
        hard: Vec<Conjunct>,
        mut easy: Vec<Conjunct>,
        budget: &mut Budget,
    ) -> Result<Option<Words>, Stop> {
        let mut open = Vec::new();
        for conjunct in hard {
            match exact(languages, &conjunct) {
                Some(regular) if !open.is_empty() || !is_leaf(languages, &conjunct) => {
                    easy.push(regular)
                }
                _ => open.push(conjunct),
            }
        }
        for conjunct in &open {
            if let Some(target) = self.context_free(languages, conjunct)
                && self.saturate(languages, &easy, conjunct, target, budget)?.is_none()
            {
                return Ok(None);
            }
        }
        let open = match &open[..] {
            [] => return self.scan(languages, &easy, budget),
            [one] => match self.context_free(languages, one) {
                Some(target) => return self.saturate(languages, &easy, one, target, budget),
                None => open,
            },
            _ => open,
        };
        if self.superset_is_empty(languages, &open, &easy, budget)? {
            return Ok(None);
        }
        self.recognize(languages, &open, easy, budget)
    }

    /// Whether a regular superset of all but one context-free conjunct leaves no solution.
    fn superset_is_empty(
        &self,
        languages: &mut Languages,
        open: &[Conjunct],
        easy: &[Conjunct],
        budget: &mut Budget,
    ) -> Result<bool, Stop> {
        if self.is_bounded() {
            return Ok(false);
        }
        for (i, target) in open.iter().enumerate() {
            let Some(start) = self.context_free(languages, target) else { continue };
            let mut relaxed = easy.to_vec();
            for (_, other) in open.iter().enumerate().filter(|&(j, _)| j != i) {
                relaxed.extend(superset(languages, other));
            }
            let mut small = budget.with_limit(100 * WORTH_SATURATING);
            match self.saturate(languages, &relaxed, target, start, &mut small) {
                Ok(None) => return Ok(true),
                Err(Stop::Time) => return Err(Stop::Time),
                _ => {}
            }
        }
        Ok(false)
    }

    /// No segment can be longer than this in a solution.
    pub fn longest_segment(&self, languages: &Languages) -> u64 {
        let longest = |segment: &SegmentId| {
            let around =
                self.conjuncts.iter().filter(|c| segments_of(&c.parts).any(|s| s == *segment));
            let bound = around.map(|conjunct| languages.longest(conjunct.language)).min();
            bound.unwrap_or(UNBOUNDED).min(self.sizes[*segment].most)
        };
        self.segments.iter().map(longest).max().unwrap_or(0)
    }

    fn is_bounded(&self) -> bool {
        self.segments.iter().all(|&segment| self.sizes[segment].most != UNBOUNDED)
    }

    /// Follows the recognizers of all context-free conjuncts; saturates the first if the others are
    /// small.
    fn recognize(
        &self,
        languages: &mut Languages,
        open: &[Conjunct],
        easy: Vec<Conjunct>,
        budget: &mut Budget,
    ) -> Result<Option<Words>, Stop> {
        let open: Vec<Conjunct> =
            open.iter().map(|conjunct| self.with_length(languages, conjunct)).collect();
        if self.is_bounded() && open.len() > 1 {
            let (first, rest) = (&open[0], &open[1..]);
            if let Node::And(parts) = languages.node(first.language).clone()
                && let Some(&leaf) = parts.iter().find(|&&part| languages.has_grammar(part))
            {
                let target = Conjunct { parts: first.parts.clone(), language: leaf };
                let others: Vec<Conjunct> = easy.iter().chain(rest).cloned().collect();
                let mut small = budget.with_limit(WORTH_SATURATING);
                if let Some(start) = self.context_free(languages, &target) {
                    match self.saturate(languages, &others, &target, start, &mut small) {
                        Err(Stop::Memory(_)) => {}
                        other => return other,
                    }
                }
            }
        }
        let mut all = easy;
        for conjunct in open {
            let written_out = self.written_out(languages, &conjunct, budget)?;
            all.push(written_out.unwrap_or(conjunct));
        }
        self.scan(languages, &all, budget)
    }

    /// The conjunct with automata in place of its grammars that are right for words of the lengths
    /// in question; `None` if they would be large.
    pub fn written_out(
        &self,
        languages: &mut Languages,
        conjunct: &Conjunct,
        budget: &Budget,
    ) -> Result<Option<Conjunct>, Stop> {
        let longest = self.longest(conjunct);
        let mut stop = Ok(());
        let language = languages.map_grammars(conjunct.language, &mut |languages, leaf| {
            let (grammar, start) = languages.as_context_free(leaf)?;
            let mut small = budget.with_limit(WRITTEN_OUT.min(budget.left()));
            match up_to(languages.grammar(grammar), start, longest, &mut small) {
                Ok(nfa) => Some(languages.add_nfa(nfa)),
                Err(Stop::Time) => {
                    stop = Err(Stop::Time);
                    None
                }
                Err(_) => None,
            }
        });
        stop?;
        Ok(language.map(|language| Conjunct { parts: conjunct.parts.clone(), language }))
    }

    /// No word of the conjunct is longer than this.
    fn longest(&self, conjunct: &Conjunct) -> u64 {
        let sizes = segments_of(&conjunct.parts).map(|segment| self.sizes[segment].most);
        sizes.fold(literal_length(&conjunct.parts), u64::saturating_add)
    }

    /// Adds what is known of the length of a conjunct's word, so that hopeless prefixes are seen at
    /// once.
    pub fn with_length(&self, languages: &mut Languages, conjunct: &Conjunct) -> Conjunct {
        let literals = literal_length(&conjunct.parts);
        let sizes = segments_of(&conjunct.parts).map(|segment| self.sizes[segment].least);
        let (least, most) = (sizes.fold(literals, u64::saturating_add), self.longest(conjunct));
        if most == UNBOUNDED {
            return conjunct.clone();
        }
        let lengths = languages.lengths(least, most);
        Conjunct {
            parts: conjunct.parts.clone(),
            language: languages.and([conjunct.language, lengths]),
        }
    }
}

pub fn segments_of(parts: &[Part]) -> impl Iterator<Item = SegmentId> + '_ {
    parts.iter().filter_map(|part| match part {
        Part::Segment(segment) => Some(*segment),
        Part::Literal(_) => None,
    })
}

fn literal_length(parts: &[Part]) -> u64 {
    let length = |part: &Part| match part {
        Part::Literal(text) => text.len() as u64,
        Part::Segment(_) => 0,
    };
    parts.iter().map(length).sum()
}

fn step(part: &Part) -> Step {
    match part {
        Part::Literal(text) => Step::Literal(text.clone()),
        Part::Segment(segment) => Step::Segment(*segment),
    }
}

fn is_leaf(languages: &Languages, conjunct: &Conjunct) -> bool {
    matches!(languages.node(conjunct.language), Node::Grammar(..))
}

/// The conjunct with automata in place of its grammars, if all of these are regular.
pub fn exact(languages: &mut Languages, conjunct: &Conjunct) -> Option<Conjunct> {
    let language = languages
        .map_grammars(conjunct.language, &mut |languages, leaf| regular(languages, leaf, true))?;
    Some(Conjunct { parts: conjunct.parts.clone(), language })
}

/// A regular superset of a context-free conjunct.
fn superset(languages: &mut Languages, conjunct: &Conjunct) -> Option<Conjunct> {
    let language =
        is_leaf(languages, conjunct).then(|| regular(languages, conjunct.language, false))??;
    Some(Conjunct { parts: conjunct.parts.clone(), language })
}

fn regular(languages: &mut Languages, leaf: Language, must_be_exact: bool) -> Option<Language> {
    let known = match languages.approximations.get(&leaf) {
        Some(&known) => known,
        None => {
            let (grammar, start) = languages.as_context_free(leaf)?;
            let new = approximate(languages.grammar(grammar), start, APPROXIMATION)
                .map(|approximation| (languages.add_nfa(approximation.nfa), approximation.exact));
            languages.approximations.insert(leaf, new);
            new
        }
    };
    known.filter(|&(_, exact)| exact || !must_be_exact).map(|(language, _)| language)
}
