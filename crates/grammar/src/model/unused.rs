//! Parts of a grammar that stand in no sentence, as a rule by mistake.

use crate::model::language::Language;

/// Names, in the order of the grammar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unused<'l> {
    /// Rules that the start rule does not lead to.
    pub unreachable: Vec<&'l str>,
    /// Rules that derive no string.
    pub unproductive: Vec<&'l str>,
    /// Terminals that rules use and no text is: others match the same texts before them.
    pub unmatched: Vec<&'l str>,
}

impl Language {
    pub fn unused(&self) -> Unused<'_> {
        let facts = &self.analysis;
        Unused {
            unreachable: self.rules_without(&facts.reachable),
            unproductive: self.rules_without(&facts.productive),
            unmatched: self.unmatched(),
        }
    }

    /// A rule may have variants in the core: none of them has the property.
    fn rules_without(&self, has: &[bool]) -> Vec<&str> {
        let mut any = vec![false; self.grammar.rules.len()];
        for nt in self.core.nt_ids() {
            if let Some(rule) = self.core.nt(nt).rule {
                any[rule.index()] |= has[nt.index()];
            }
        }
        let rules = self.grammar.rules.iter().zip(any);
        rules.filter(|(_, any)| !any).map(|(rule, _)| rule.name.as_str()).collect()
    }

    fn unmatched(&self) -> Vec<&str> {
        let core = &self.core;
        let mut used = vec![false; self.grammar.terminals.len()];
        for terminal in core.prod_ids().flat_map(|p| core.rhs(p)).filter_map(|s| s.as_terminal()) {
            used[terminal.index()] = true;
        }
        let terminals = self.grammar.terminals.iter().zip(&self.lexemes).zip(used);
        let missing = terminals.filter(|((t, a), used)| *used && a.is_empty() && !t.end_of_input);
        missing.map(|((t, _), _)| t.name.as_str()).collect()
    }
}

impl Unused<'_> {
    /// A sentence about each kind that there is.
    pub fn notes(&self) -> Vec<String> {
        let kinds = [
            (&self.unmatched, "no text is ever one of these tokens, as earlier ones match it"),
            (&self.unproductive, "these rules derive no string"),
            (&self.unreachable, "the start rule does not lead to these rules"),
        ];
        let found = kinds.into_iter().filter(|(names, _)| !names.is_empty());
        found.map(|(names, what)| format!("{what}: {}", shortened(names))).collect()
    }
}

/// Names that are listed.
const SHOWN: usize = 8;

fn shortened(names: &[&str]) -> String {
    let shown = names[..names.len().min(SHOWN)].join(", ");
    match names.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_names_are_not_all_listed() {
        let names: Vec<String> = (0..10).map(|number| format!("r{number}")).collect();
        let unproductive = names.iter().map(String::as_str).collect();
        let unused = Unused { unreachable: vec!["x"], unproductive, unmatched: Vec::new() };
        assert_eq!(
            unused.notes(),
            [
                "these rules derive no string: r0, r1, r2, r3, r4, r5, r6, r7 and 2 more",
                "the start rule does not lead to these rules: x",
            ]
        );
    }
}
