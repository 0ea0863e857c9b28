//! What the program says about sentences of the grammar.
//!
//! A grammar is mostly a little off, and then the program's verdict counts. Here a part of the
//! inputs is parsed, and it is counted how many sentences the program rejected, in all and with
//! each production: those that stand out are where the two differ.

use grammar::dfa::DfaError;
use grammar::language::Language;
use grammar::parse::Parser;
use grammar::tree::{Label, Tree};
use search::{Claim, Context, Next, Outcome, Ran, SavedSearch, Strategy};
use std::collections::BTreeSet;
use std::ops::Range;

/// Looks at what another strategy runs.
pub struct Verdicts<'l> {
    strategy: Box<dyn Strategy + 'l>,
    language: &'l Language,
    parser: Parser,
    /// Exit codes that mean no; all but 0 if there are none.
    rejects: Vec<i32>,
    runs: u64,
}

/// The first runs are all looked at, then one in so many.
const FIRST: u64 = 64;
const ONE_IN: u64 = 16;

impl<'l> Verdicts<'l> {
    pub fn new(
        strategy: Box<dyn Strategy + 'l>,
        language: &'l Language,
        rejects: Vec<i32>,
    ) -> Result<Verdicts<'l>, DfaError> {
        Ok(Verdicts {
            strategy,
            language,
            parser: Parser::new(&language.grammar)?,
            rejects,
            runs: 0,
        })
    }

    fn count(&mut self, ran: &Ran<'_>, context: &mut Context<'_>) {
        self.runs += 1;
        let Outcome::Exit(code) = ran.outcome else { return };
        if self.runs > FIRST && !self.runs.is_multiple_of(ONE_IN) {
            return;
        }
        let Ok(tree) = self.parser.parse(ran.input) else { return };
        let rejected =
            if self.rejects.is_empty() { code != 0 } else { self.rejects.contains(&code) };
        context.stats.verdicts.count(rejected);
        for production in self.productions(&tree) {
            context.stats.productions.entry(production).or_default().count(rejected);
        }
    }

    /// Names of the productions of a tree, each once.
    fn productions(&self, tree: &Tree) -> BTreeSet<String> {
        let core = &self.language.core;
        let name = |label: &Label| match label {
            Label::Prod(id) => {
                let production = core.prod(*id);
                let nonterminal = core.nt(core.lhs(*id));
                let single = core.prods_of(core.lhs(*id)).count() == 1;
                nonterminal.rule?;
                Some(match single {
                    true => nonterminal.name.clone(),
                    false => format!("{} (alternative {})", nonterminal.name, production.alt + 1),
                })
            }
            Label::Token(_) => None,
        };
        tree.nodes.iter().filter_map(|node| name(&node.label)).collect()
    }
}

impl Strategy for Verdicts<'_> {
    fn name(&self) -> &'static str {
        self.strategy.name()
    }

    fn next(&mut self, context: &mut Context<'_>) -> Next {
        self.strategy.next(context)
    }

    fn learn(&mut self, ran: Ran<'_>, context: &mut Context<'_>) {
        self.count(&ran, context);
        self.strategy.learn(ran, context);
    }

    fn queue(&self) -> usize {
        self.strategy.queue()
    }

    fn save(&self) -> Option<SavedSearch> {
        self.strategy.save()
    }

    fn restore(&mut self, saved: &SavedSearch) {
        self.strategy.restore(saved);
    }

    fn holes(&self) -> Option<&[Range<usize>]> {
        self.strategy.holes()
    }

    fn repetition(&self) -> Option<Range<usize>> {
        self.strategy.repetition()
    }

    fn claim(&self) -> Option<Claim> {
        self.strategy.claim()
    }

    fn accounts_for_all(&self) -> bool {
        self.strategy.accounts_for_all()
    }
}
