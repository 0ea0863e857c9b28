//! A grammar made ready for generation: its core, the lexemes of its terminals, and facts about
//! both.

use crate::automata::automaton::{Automaton, lexemes_of};
use crate::automata::dfa::DfaError;
use crate::model::analysis::{Analysis, INFINITE};
use crate::model::core::Core;
use crate::model::{Grammar, Lexing};

pub struct Language {
    pub grammar: Grammar,
    pub core: Core,
    /// Of each terminal that the rules use.
    pub lexemes: Vec<Automaton>,
    pub analysis: Analysis,
}

#[derive(Debug, Clone, thiserror::Error)]
pub enum LanguageError {
    #[error("the start rule `{0}` derives no string at all")]
    StartUnproductive(String),
    #[error("terminal `{0}`: {1}")]
    Terminal(String, DfaError),
}

impl Language {
    pub fn new(grammar: Grammar) -> Result<Language, LanguageError> {
        let language = Language::unchecked(grammar)?;
        let start = language.core.start;
        if !language.analysis.productive[start.index()] {
            let name = language.grammar.rule(language.grammar.start).name.clone();
            return Err(LanguageError::StartUnproductive(name));
        }
        Ok(language)
    }

    /// Also for a grammar whose start derives nothing: `check` has to report on it.
    pub fn unchecked(grammar: Grammar) -> Result<Language, LanguageError> {
        let core = Core::new(&grammar);
        let mut used = vec![false; grammar.terminals.len()];
        for terminal in core.prod_ids().flat_map(|p| core.rhs(p)).filter_map(|s| s.as_terminal()) {
            used[terminal.index()] = true;
        }
        let mut automata = Vec::new();
        for (terminal, automaton) in
            grammar.terminals.iter().zip(lexemes_of(&grammar, |t| used[t.index()]))
        {
            match automaton {
                Ok(automaton) => automata.push(automaton),
                Err(e) => return Err(LanguageError::Terminal(terminal.name.clone(), e)),
            }
        }
        let lengths: Vec<u64> =
            automata.iter().map(|a| a.min_len().map_or(INFINITE, u64::from)).collect();
        let analysis = Analysis::new(&core, &lengths);
        Ok(Language { grammar, core, lexemes: automata, analysis })
    }

    /// Do lexemes follow each other directly, without anything between them?
    pub fn is_scannerless(&self) -> bool {
        self.grammar.lexing == Lexing::Scannerless
    }
}
