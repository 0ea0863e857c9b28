//! Random lexemes of a terminal.

use crate::automata::automaton::Automaton;
use crate::sampling::below;
use fastrand::Rng;

/// How the lexemes of a terminal are drawn.
pub(crate) enum Lexeme {
    Literal(Box<[u8]>),
    OneOf(Box<[u8]>),
    Walk(Walk),
    None,
    /// Not asked for yet: few of a large grammar's terminals ever are.
    Unmade,
}

impl Lexeme {
    pub fn new(automaton: &Automaton) -> Lexeme {
        if automaton.is_empty() {
            return Lexeme::None;
        }
        if let Some(only) = automaton.single() {
            return Lexeme::Literal(only.into());
        }
        match (automaton.edges.all(), &automaton.accepts[..]) {
            ([edge], [_, true]) => Lexeme::OneOf(edge.bytes.clone().into()),
            _ => Lexeme::Walk(Walk::new(automaton)),
        }
    }

    #[cold]
    fn make(&mut self, automaton: &Automaton) -> &mut Lexeme {
        *self = Lexeme::new(automaton);
        self
    }

    /// Appends a lexeme of `automaton`, which this is made of; returns how much longer than the
    /// shortest it is.
    #[inline]
    pub fn draw(
        &mut self,
        automaton: &Automaton,
        rng: &mut Rng,
        extra: u32,
        out: &mut Vec<u8>,
    ) -> u32 {
        match self {
            Lexeme::Literal(text) => {
                if let [byte] = text[..] {
                    out.push(byte);
                } else {
                    out.extend_from_slice(text);
                }
                0
            }
            Lexeme::OneOf(bytes) => {
                out.push(bytes[below(rng.u64(..), bytes.len() as u32) as usize]);
                0
            }
            Lexeme::Walk(walk) => walk.draw(rng, extra, out),
            Lexeme::None => 0,
            Lexeme::Unmade => self.make(automaton).draw(automaton, rng, extra, out),
        }
    }
}

/// A random walk through an automaton. Printable ASCII is preferred, so that the text can be read.
pub(crate) struct Walk {
    states: Vec<WalkState>,
    steps: Vec<(u8, u32)>,
    least: u32,
}

struct WalkState {
    /// Ranges of `steps`: all, printable, and towards the end.
    all: (u32, u32),
    nice: (u32, u32),
    home: (u32, u32),
    accepts: bool,
    /// Least number of bytes to acceptance.
    distance: u32,
    /// Largest distance after one step.
    reach: u32,
}

impl Walk {
    fn new(automaton: &Automaton) -> Walk {
        let distance = automaton.distances();
        let mut walk = Walk { states: Vec::new(), steps: Vec::new(), least: distance[0] };
        for (state, edges) in automaton.edges.iter().enumerate() {
            let all = || edges.iter().flat_map(|e| e.bytes.iter().map(move |b| (*b, e.to)));
            let nearer = |to: u32| distance[to as usize] < distance[state];
            let every = walk.push(all());
            let mut nice = walk.push(all().filter(|(b, _)| (b' '..=b'~').contains(b)));
            if nice.0 == nice.1 {
                nice = every;
            }
            let home = walk.push(all().filter(|(b, to)| nearer(*to) && (b' '..=b'~').contains(b)));
            let home = if home.0 == home.1 {
                walk.push(all().filter(|(_, to)| nearer(*to)))
            } else {
                home
            };
            walk.states.push(WalkState {
                all: every,
                nice,
                home,
                accepts: automaton.accepts[state],
                distance: distance[state],
                reach: edges.iter().map(|e| distance[e.to as usize]).max().unwrap_or(0),
            });
        }
        walk
    }

    fn push(&mut self, steps: impl Iterator<Item = (u8, u32)>) -> (u32, u32) {
        let from = self.steps.len() as u32;
        self.steps.extend(steps);
        (from, self.steps.len() as u32)
    }

    #[inline]
    fn draw(&self, rng: &mut Rng, extra: u32, out: &mut Vec<u8>) -> u32 {
        let allowed = self.least + extra;
        let (mut state, mut used) = (&self.states[0], 0);
        loop {
            let random = rng.u64(..);
            let left = allowed - used;
            let stuck = state.all.0 == state.all.1;
            if state.accepts && (stuck || left == 0 || random & 3 == 0) {
                return used - self.least;
            }
            // After a free step the way home must fit into what is left.
            let (from, to) = if left <= state.reach || left == 0 {
                if state.accepts && state.home.0 == state.home.1 {
                    return used - self.least;
                }
                state.home
            } else if random & 0x3f0 == 0 {
                state.all
            } else {
                state.nice
            };
            let (byte, next) = self.steps[(from + below(random, to - from)) as usize];
            out.push(byte);
            used += 1;
            state = &self.states[next as usize];
            debug_assert!(used + state.distance <= allowed);
        }
    }
}
