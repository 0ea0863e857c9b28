//! What is known of a language from the facts of its parts: bounds of lengths and whether it has
//! the empty word.

use super::{Language, Languages, Node, UNBOUNDED};

/// What is known of a language without looking further.
#[derive(Clone, Copy, Debug)]
pub(super) struct Facts {
    pub nullable: bool,
    pub shortest: u64,
    pub longest: u64,
    pub has_grammar: bool,
}

impl Languages {
    pub(super) fn compute_facts(&self, node: &Node) -> Facts {
        let of = |language: &Language| self.facts[language.0 as usize];
        let leaf =
            |nullable, shortest, longest| Facts { nullable, shortest, longest, has_grammar: false };
        match node {
            Node::Epsilon => leaf(true, 0, 0),
            Node::Bytes(_) => leaf(false, 1, 1),
            Node::Concat(a, b) => {
                let (a, b) = (of(a), of(b));
                Facts {
                    nullable: a.nullable && b.nullable,
                    shortest: a.shortest.saturating_add(b.shortest),
                    longest: a.longest.saturating_add(b.longest),
                    has_grammar: a.has_grammar || b.has_grammar,
                }
            }
            Node::Or(parts) => Facts {
                nullable: parts.iter().any(|part| of(part).nullable),
                shortest: parts.iter().map(|part| of(part).shortest).min().unwrap_or(u64::MAX),
                longest: parts.iter().map(|part| of(part).longest).max().unwrap_or(0),
                has_grammar: parts.iter().any(|part| of(part).has_grammar),
            },
            Node::And(parts) => Facts {
                nullable: parts.iter().all(|part| of(part).nullable),
                shortest: parts.iter().map(|part| of(part).shortest).max().unwrap_or(0),
                longest: parts.iter().map(|part| of(part).longest).min().unwrap_or(UNBOUNDED),
                has_grammar: parts.iter().any(|part| of(part).has_grammar),
            },
            Node::Not(inner) => Facts {
                nullable: !of(inner).nullable,
                shortest: u64::from(of(inner).nullable),
                longest: UNBOUNDED,
                has_grammar: of(inner).has_grammar,
            },
            Node::Star(inner) => Facts {
                nullable: true,
                shortest: 0,
                longest: UNBOUNDED,
                has_grammar: of(inner).has_grammar,
            },
            Node::Repeat(inner, least, most) => Facts {
                nullable: *least == 0 || of(inner).nullable,
                shortest: of(inner).shortest.saturating_mul(*least),
                longest: of(inner).longest.saturating_mul(*most),
                has_grammar: of(inner).has_grammar,
            },
            Node::Grammar(grammar, state) => {
                let recognizer = &self.recognizers[grammar.0 as usize];
                Facts {
                    nullable: recognizer.accepting(*state),
                    shortest: recognizer.shortest(*state),
                    longest: UNBOUNDED,
                    has_grammar: true,
                }
            }
            Node::Nfa(nfa, states) => {
                let nfa = &self.nfas[*nfa as usize];
                leaf(nfa.accepts(states), nfa.shortest(states), UNBOUNDED)
            }
        }
    }
}
