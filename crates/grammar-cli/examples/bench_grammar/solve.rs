//! Token constraints: one negation in a sentence of about 200 tokens, with the prefix's state kept
//! and without.

use crate::Instant;
use fastrand::Rng;
use grammar::constraint::TerminalSet;
use grammar::language::Language;
use grammar::sample::Sampler;
use grammar::token_solver::{Prefix, TokenSolver};
use grammar::tree::Label;
use grammar::{Grammar, TerminalId};
use serde_json::{Map, Value, json};

const TOKENS: std::ops::RangeInclusive<usize> = 180..=220;
const SENTENCES: usize = 100;

pub fn measure(grammar: Grammar) -> Map<String, Value> {
    let language = Language::new(grammar).expect("a language");
    let sentences = sentences(&language);
    let tokens = sentences.iter().map(Vec::len).sum::<usize>();
    let mut out = Map::new();
    let about = json!({ "sentences": sentences.len(), "tokens each": tokens as f64 / sentences.len() as f64 });
    out.insert("solve: input".into(), about);
    let kinds = [("fixed tokens", None, SENTENCES), ("tokens, one in 20 a set", Some(20), 20)];
    for (name, loose, count) in kinds {
        let mut bench = Bench::new(&language, loose);
        sentences.iter().take(count).for_each(|sentence| bench.sentence(sentence));
        out.insert(format!("solve us: prefix of {name}, kept"), percentiles(&mut bench.kept));
        out.insert(
            format!("solve us: prefix of {name}, not kept, new"),
            percentiles(&mut bench.new),
        );
        out.insert(
            format!("solve us: prefix of {name}, not kept, seen before"),
            percentiles(&mut bench.seen),
        );
        let none = bench.none as f64 / bench.kept.len() as f64;
        out.insert(
            format!("solve: prefix of {name}"),
            json!({ "without sentence": none, "configurations": bench.solver.configs() }),
        );
    }
    out
}

/// Random sentences of the wanted length.
fn sentences(language: &Language) -> Vec<Vec<TerminalId>> {
    let mut sampler = Sampler::new(language).expect("a sampler");
    let (mut rng, mut all) = (Rng::with_seed(7), Vec::new());
    while all.len() < SENTENCES {
        let bytes = 300 + rng.usize(..700);
        let tree = sampler.tree(language.core.start, &mut rng, bytes);
        let token = |node: usize| match tree.nodes[node].label {
            Label::Token(t) => Some(t),
            Label::Prod(_) => None,
        };
        let tokens: Vec<TerminalId> = tree.tokens().filter_map(token).collect();
        if TOKENS.contains(&tokens.len()) {
            all.push(tokens);
        }
    }
    all
}

struct Bench {
    solver: TokenSolver,
    terminals: usize,
    /// Of how many tokens of the prefix one has a choice.
    loose: Option<u32>,
    rng: Rng,
    kept: Vec<f64>,
    new: Vec<f64>,
    seen: Vec<f64>,
    none: usize,
}

impl Bench {
    fn new(language: &Language, loose: Option<u32>) -> Bench {
        let (solver, terminals) = (TokenSolver::new(language), language.core.terminals());
        let (kept, new, seen) = Default::default();
        Bench { solver, terminals, loose, rng: Rng::with_seed(3), kept, new, seen, none: 0 }
    }

    fn sentence(&mut self, sentence: &[TerminalId]) {
        let sets: Vec<TerminalSet> = sentence.iter().map(|t| self.around(*t)).collect();
        let negated: Vec<TerminalSet> = sets.iter().map(TerminalSet::complement).collect();
        let last = sentence.len() - 1;
        let mut prefix = self.solver.begin();
        for timed in [true, false] {
            let start = Instant::now();
            prefix = self.push(sentence, &sets);
            std::hint::black_box(self.solver.solve_with(&prefix, last, &negated[last]));
            let times = if timed { &mut self.new } else { &mut self.seen };
            times.push(start.seconds() * 1e6);
        }
        for (i, set) in negated.iter().enumerate() {
            let start = Instant::now();
            let found = std::hint::black_box(self.solver.solve_with(&prefix, i, set));
            self.kept.push(start.seconds() * 1e6);
            self.none += usize::from(found.is_none());
        }
    }

    /// The token alone, or where it has a choice about a third of the others as well.
    fn around(&mut self, token: TerminalId) -> TerminalSet {
        let mut members = vec![token];
        if self.loose.is_some_and(|one_in| self.rng.u32(..one_in) == 0) {
            let all = (0..self.terminals).map(TerminalId::from);
            members.extend(all.filter(|_| self.rng.u32(..3) == 0));
        }
        TerminalSet::of(self.terminals, members)
    }

    fn push(&mut self, sentence: &[TerminalId], sets: &[TerminalSet]) -> Prefix {
        let mut prefix = self.solver.begin();
        for (token, set) in sentence.iter().zip(sets) {
            assert!(self.solver.push_run(&mut prefix, set, Some(*token)), "a sentence");
        }
        prefix
    }
}

fn percentiles(times: &mut [f64]) -> Value {
    times.sort_by(f64::total_cmp);
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
    json!({ "median": at(0.5), "p99": at(0.99), "max": at(1.0) })
}
