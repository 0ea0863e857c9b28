//! Reading grammars and inputs named on the command line.

use anyhow::{Context, Result, anyhow, bail};
use grammar::Grammar;
use grammar::language::Language;
use grammar_formats::{Format, read_path};
use std::io::Read;
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub struct GrammarArgs {
    /// The grammar; its notation is recognised by extension and content
    pub file: PathBuf,
    /// The notation: tg, bison, antlr, tree-sitter, ebnf, abnf or bnf-json
    #[arg(long)]
    pub format: Option<String>,
    /// The rule to start with
    #[arg(long)]
    pub start: Option<String>,
    /// The scanner of a grammar in two files (flex, ANTLR lexer)
    #[arg(long)]
    pub lexer: Option<PathBuf>,
    /// Do not say what of the format was left out
    #[arg(long, short)]
    pub quiet: bool,
}

/// Notes beyond this many are counted, not printed.
const NOTES_SHOWN: usize = 20;

impl GrammarArgs {
    pub fn read(&self) -> Result<Grammar> {
        let format = match &self.format {
            None => None,
            Some(name) => Some(Format::by_name(name).ok_or_else(|| unknown_format(name))?),
        };
        let read = read_path(&self.file, format, self.lexer.as_deref())?;
        if !self.quiet {
            read.notes.iter().take(NOTES_SHOWN).for_each(|note| eprintln!("note: {note}"));
            if read.notes.len() > NOTES_SHOWN {
                eprintln!("note: {} more; `check` lists all", read.notes.len() - NOTES_SHOWN);
            }
        }
        self.started(read.grammar)
    }

    /// The grammar with all notes, unprinted.
    pub fn read_with_notes(&self) -> Result<(Grammar, Vec<String>)> {
        let format = self.format.as_deref().and_then(Format::by_name);
        let read = read_path(&self.file, format, self.lexer.as_deref())?;
        let notes = read.notes.iter().map(ToString::to_string).collect();
        Ok((self.started(read.grammar)?, notes))
    }

    fn started(&self, grammar: Grammar) -> Result<Grammar> {
        match &self.start {
            None => Ok(grammar),
            Some(name) => {
                grammar.with_start(name).ok_or_else(|| anyhow!("there is no rule `{name}` to start with"))
            }
        }
    }

    pub fn language(&self) -> Result<Language> {
        Language::new(self.read()?).with_context(|| self.file.display().to_string())
    }
}

fn unknown_format(name: &str) -> anyhow::Error {
    let all: Vec<&str> = Format::ALL.iter().map(|(n, _)| *n).collect();
    anyhow!("there is no notation `{name}`; choose one of {}", all.join(", "))
}

/// An input; `-` is standard input.
pub fn input(path: &Path) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    if path.as_os_str() == "-" {
        std::io::stdin().lock().read_to_end(&mut text).context("standard input")?;
    } else {
        text = std::fs::read(path).with_context(|| path.display().to_string())?;
    }
    if text.len() > grammar::parse::MAX_INPUT {
        bail!("{}: inputs of more than {} bytes are not read", path.display(), grammar::parse::MAX_INPUT);
    }
    Ok(text)
}
