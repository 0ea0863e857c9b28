//! A grammar with everything it imports and the lexer whose tokens it uses.

use super::syntax::{self, File, Kind, Place, RuleAst};
use crate::{Note, ReadError};
use std::collections::HashSet;

/// Finds other grammars by name: (file name, text).
pub type Loader<'l> = dyn Fn(&str) -> Option<(String, String)> + 'l;

pub struct Unit {
    pub kind: Kind,
    pub parser_rules: Vec<RuleAst>,
    pub lexer_rules: Vec<RuleAst>,
    pub tokens: Vec<String>,
    pub ignore_case: bool,
    pub has_lexer: bool,
    /// Of all rules so far.
    names: HashSet<String>,
}

const MAX_FILES: usize = 50;

pub fn gather(
    file: &str,
    text: &str,
    loader: &Loader,
    notes: &mut Vec<Note>,
) -> Result<Unit, ReadError> {
    let main = syntax::parse(file, text, notes)?;
    let mut unit = Unit {
        kind: main.kind,
        parser_rules: Vec::new(),
        lexer_rules: Vec::new(),
        tokens: Vec::new(),
        ignore_case: false,
        has_lexer: main.kind != Kind::Parser,
        names: HashSet::new(),
    };
    let vocabulary = vocabulary(&main);
    let name = main.name.clone();
    let kind = main.kind;
    unit.add(file, main, loader, notes)?;
    if kind == Kind::Parser {
        unit.add_lexer(file, &name, vocabulary, loader, notes)?;
    }
    Ok(unit)
}

fn vocabulary(file: &File) -> Option<(String, Place)> {
    let option = file.options.iter().find(|o| o.name == "tokenVocab")?;
    Some((option.value.trim_matches('\'').to_string(), option.at.clone()))
}

impl Unit {
    fn add_lexer(
        &mut self,
        file: &str,
        name: &str,
        vocabulary: Option<(String, Place)>,
        loader: &Loader,
        notes: &mut Vec<Note>,
    ) -> Result<(), ReadError> {
        let sibling = name.strip_suffix("Parser").map(|base| format!("{base}Lexer"));
        let named = vocabulary.as_ref().map(|(name, _)| name.clone());
        let wanted = [Some("--scanner".to_string()), named, sibling];
        let Some((lexer_file, text)) = wanted.iter().flatten().find_map(|name| loader(name)) else {
            const WRITTEN: &str = "was not found: tokens are written by their names";
            notes.push(match vocabulary {
                Some((name, at)) => at.note(format!("{name} {WRITTEN}")),
                None => Note {
                    file: file.into(),
                    line: 1,
                    column: 1,
                    text: format!("its lexer {WRITTEN}"),
                },
            });
            return Ok(());
        };
        let lexer = syntax::parse(&lexer_file, &text, notes)?;
        self.has_lexer = true;
        self.add(&lexer_file, lexer, loader, notes)
    }

    /// Adds a file and its imports; a rule that exists already is kept.
    fn add(
        &mut self,
        file: &str,
        main: File,
        loader: &Loader,
        notes: &mut Vec<Note>,
    ) -> Result<(), ReadError> {
        let mut todo = vec![(file.to_string(), main)];
        let mut seen: Vec<String> = Vec::new();
        let mut next = 0;
        while next < todo.len() && next < MAX_FILES {
            let imports = std::mem::take(&mut todo[next].1.imports);
            for (import, at) in imports {
                if seen.contains(&import) {
                    continue;
                }
                seen.push(import.clone());
                match loader(&import) {
                    Some((file, text)) => {
                        let parsed = syntax::parse(&file, &text, notes)?;
                        todo.push((file, parsed));
                    }
                    None => {
                        return Err(
                            at.error(format!("the imported grammar `{import}` was not found"))
                        );
                    }
                }
            }
            next += 1;
        }
        for (_, file) in todo {
            self.take(file);
        }
        Ok(())
    }

    fn take(&mut self, file: File) {
        let flag = file.options.iter().find(|o| o.name == "caseInsensitive");
        let ignore_case = flag.is_some_and(|o| o.value == "true");
        self.tokens.extend(file.tokens);
        for mut rule in file.rules {
            let list =
                if rule.is_lexical() { &mut self.lexer_rules } else { &mut self.parser_rules };
            if !self.names.insert(rule.name.clone()) {
                continue;
            }
            rule.ignore_case = rule.ignore_case.or(Some(ignore_case));
            list.push(rule);
        }
        self.ignore_case |= ignore_case;
    }
}
