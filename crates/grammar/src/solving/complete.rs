//! `complete`: a cheapest completion of a prefix to a sentence.
//!
//! Cheapest means fewest bytes of lexemes; what is written between tokens does not count. With a
//! lexer, the prefix may end inside a lexeme, which is then finished first if that is cheaper.

use crate::automata::dfa::DfaError;
use crate::lexing::lexer::{Expected, Lexer, Place, StackId};
use crate::lexing::spell::Speller;
use crate::model::TerminalId;
use crate::model::bytes::ByteCore;
use crate::model::core::Core;
use crate::model::language::Language;
use context_free::earley::completion::Completion;
use context_free::earley::recognize::{Config, Recognizer};

pub struct Completer {
    recognizer: Recognizer,
    completion: Completion,
    text: Text,
}

enum Text {
    Bytes(Box<ByteCore>),
    /// The speller's lexer also reads the prefix, so that both mean the same by a stack of modes.
    Tokens {
        speller: Box<Speller>,
        shortest: Vec<Vec<u8>>,
    },
}

struct At<'r>(&'r Recognizer, Config);

impl Expected for At<'_> {
    fn allows(&self, terminal: TerminalId) -> bool {
        self.0.allows(self.1, terminal)
    }
}

/// One way to go on after a prefix.
struct Way {
    cost: u64,
    /// After the last token.
    config: Config,
    /// Of the last token's lexeme.
    rest: Vec<u8>,
    /// Of a token that ends where the prefix does, or with `rest`.
    last: Option<Open>,
}

/// A token that may go on: its terminal, where it begins, and what was before it.
#[derive(Clone, Copy)]
struct Open {
    terminal: TerminalId,
    start: usize,
    stack: StackId,
}

/// A prefix as tokens: where each begins, what it is, and the configuration before it.
#[derive(Clone, Copy)]
struct Step {
    place: Place,
    start: usize,
    end: usize,
    terminal: TerminalId,
    before: Config,
}

impl Completer {
    pub fn new(language: &Language) -> Result<Completer, DfaError> {
        if language.is_scannerless() {
            let bytes = ByteCore::new(&language.core, &language.lexemes);
            let recognizer = bytes.core.recognizer();
            let completion = Completion::new(
                &bytes.core.productions,
                &recognizer,
                &vec![1; bytes.core.terminals()],
            );
            return Ok(Completer { recognizer, completion, text: Text::Bytes(Box::new(bytes)) });
        }
        let core: &Core = &language.core;
        let recognizer = core.recognizer();
        let shortest: Vec<Option<Vec<u8>>> =
            language.lexemes.iter().map(|a| a.shortest()).collect();
        let price = |s: &Option<Vec<u8>>| {
            s.as_ref().map_or(crate::model::analysis::INFINITE, |s| s.len() as u64)
        };
        let cost: Vec<u64> = shortest.iter().map(price).collect();
        let completion = Completion::new(&core.productions, &recognizer, &cost);
        let text = Text::Tokens {
            speller: Box::new(Speller::new(&language.grammar)?),
            shortest: shortest.into_iter().map(Option::unwrap_or_default).collect(),
        };
        Ok(Completer { recognizer, completion, text })
    }

    pub fn recognizer(&mut self) -> &mut Recognizer {
        &mut self.recognizer
    }

    /// What to append to `prefix`; `Err` has the position from which no sentence begins so.
    pub fn complete(&mut self, prefix: &[u8]) -> Result<Vec<u8>, usize> {
        match &self.text {
            Text::Bytes(_) => self.complete_bytes(prefix),
            Text::Tokens { .. } => self.complete_tokens(prefix),
        }
    }

    /// The configuration after a prefix of a scannerless grammar, ready to be completed.
    pub fn after_bytes(&mut self, prefix: &[u8]) -> Result<Config, usize> {
        let Text::Bytes(bytes) = &self.text else { return Err(0) };
        let mut config = self.recognizer.begin();
        for (i, byte) in prefix.iter().enumerate() {
            config = self.recognizer.advance(config, bytes.class(*byte)).ok_or(i)?;
            self.completion.prepare(&self.recognizer, config);
        }
        Ok(config)
    }

    /// Least cost to complete a configuration, and the terminals that do it.
    pub fn cost(&mut self, config: Config) -> Option<u64> {
        self.completion.cost(&self.recognizer, config)
    }

    pub fn terminals(&mut self, config: Config) -> Option<Vec<TerminalId>> {
        self.completion.terminals(&self.recognizer, config)
    }

    fn complete_bytes(&mut self, prefix: &[u8]) -> Result<Vec<u8>, usize> {
        let config = self.after_bytes(prefix)?;
        let classes = self.terminals(config).ok_or(prefix.len())?;
        let Text::Bytes(bytes) = &self.text else { unreachable!("checked by the caller") };
        Ok(classes
            .iter()
            .map(|c| crate::lexing::mode::friendliest(&bytes.classes[c.index()]))
            .collect())
    }

    fn complete_tokens(&mut self, prefix: &[u8]) -> Result<Vec<u8>, usize> {
        let (steps, after, place, failed) = self.read(prefix)?;
        // The last lexeme may be unfinished: so may a rest that is no token at all.
        let touching = steps.last().filter(|last| last.end == prefix.len());
        let open = match (failed, touching) {
            (Some(start), _) => Some((place.stack, after, start)),
            (None, Some(last)) => Some((last.place.stack, last.before, last.start)),
            _ => None,
        };
        let mut best: Option<Way> = None;
        if failed.is_none()
            && let Some(cost) = self.cost(after)
        {
            let last = touching.map(|s| Open {
                terminal: s.terminal,
                start: s.start,
                stack: s.place.stack,
            });
            best = Some(Way { cost, config: after, rest: Vec::new(), last });
        }
        if let Some((stack, before, start)) = open {
            for (terminal, rest) in self.lexer().unfinished(stack, &prefix[start..]) {
                let Some(config) = self.recognizer.advance(before, terminal) else { continue };
                let Some(cost) = self.completion.cost(&self.recognizer, config) else { continue };
                let cost = cost + rest.len() as u64;
                if best.as_ref().is_none_or(|b| cost < b.cost) {
                    best = Some(Way {
                        cost,
                        config,
                        rest,
                        last: Some(Open { terminal, start, stack }),
                    });
                }
            }
        }
        let best = best.ok_or(failed.unwrap_or(prefix.len()))?;
        Ok(self.spell(prefix, &best, place.stack))
    }

    /// The rest of the open lexeme, then the tokens that complete the sentence. `stack` is that
    /// after the prefix.
    fn spell(&mut self, prefix: &[u8], way: &Way, stack: StackId) -> Vec<u8> {
        let tokens = self.terminals(way.config).unwrap_or_default();
        let mut out = Vec::new();
        let (mut keep, mut stack) = (0, stack);
        if let Some(open) = way.last {
            out = [&prefix[open.start..], &way.rest].concat();
            stack = self.lexer().after_lexeme(open.stack, open.terminal, &out);
            keep = prefix.len() - open.start;
        }
        let Text::Tokens { speller, shortest } = &mut self.text else {
            unreachable!("tokens only")
        };
        speller.resume(stack, out.len());
        tokens.iter().for_each(|t| speller.write(&mut out, *t, &shortest[t.index()]));
        out.split_off(keep)
    }

    fn lexer(&mut self) -> &mut Lexer {
        let Text::Tokens { speller, .. } = &mut self.text else { unreachable!("tokens only") };
        speller.lexer().expect("tokens come from a lexer")
    }

    /// Tokens of a prefix, as far as they are tokens. The last value is where they stop being.
    #[allow(clippy::type_complexity)]
    fn read(&mut self, prefix: &[u8]) -> Result<(Vec<Step>, Config, Place, Option<usize>), usize> {
        let (mut config, mut place) = (self.recognizer.begin(), self.lexer().begin());
        let mut steps = Vec::new();
        let Text::Tokens { speller, .. } = &mut self.text else {
            unreachable!("checked by the caller")
        };
        let lexer = speller.lexer().expect("tokens come from a lexer");
        loop {
            let mut candidates = Vec::new();
            let at_end =
                lexer.candidates(prefix, place, &At(&self.recognizer, config), &mut candidates);
            let allowed = candidates.iter().find(|c| self.recognizer.allows(config, c.terminal));
            let Some(token) = allowed else {
                if at_end && candidates.is_empty() {
                    return Ok((steps, config, place, None));
                }
                let pos = candidates
                    .first()
                    .map_or_else(|| lexer.after_skipped(prefix, place), |c| c.start as usize);
                return Ok((steps, config, place, Some(pos)));
            };
            steps.push(Step {
                place,
                start: token.start as usize,
                end: token.next.pos as usize,
                terminal: token.terminal,
                before: config,
            });
            config = self.recognizer.advance(config, token.terminal).expect("allowed");
            self.completion.prepare(&self.recognizer, config);
            place = token.next;
        }
    }
}
