//! What the program says about sentences of the grammar.
//!
//! A grammar is mostly a little off, and then the program's verdict counts. Here a part of the
//! inputs is parsed, and it is counted how many sentences the program rejected, in all and with
//! each production: those that stand out are where the two differ.

use grammar::dfa::DfaError;
use grammar::language::Language;
use grammar::parse::Parser;
use grammar::tree::{Label, Tree};
use search::{Context, Next, Outcome, Ran, SavedSearch, Strategy};
use std::collections::BTreeSet;

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

    fn wrapped(&self) -> Option<&dyn Strategy> {
        Some(&*self.strategy)
    }

    fn restore(&mut self, saved: &SavedSearch) {
        self.strategy.restore(saved);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use search::{Whitebox, WhiteboxOptions};

    #[test]
    fn what_is_wrapped_answers_for_itself() {
        let read = grammar_formats::read_text("letters.tg", "start = \"a\" | \"b\" ;", None);
        let language = Language::new(read.expect("a grammar").grammar).expect("productive");
        let inner = || Box::new(Whitebox::new(WhiteboxOptions::default()));
        let verdicts = Verdicts::new(inner(), &language, Vec::new()).unwrap();
        let answers = |strategy: &dyn Strategy| {
            let questions = [Strategy::takes_any_input, Strategy::accounts_for_all];
            (strategy.name(), questions.map(|question| question(strategy)), strategy.queue())
        };
        assert_eq!(answers(&verdicts), answers(&*inner()));
        assert!(verdicts.takes_any_input(), "the search would end where it could go on");
    }
}
