//! Reading grammars and inputs named on the command line.

use anyhow::{Context, Result, anyhow, bail};
use grammar::Grammar;
use grammar::language::Language;
use grammar_formats::{Format, Read, read_path};
use std::io::Read as _;
use std::path::{Path, PathBuf};

#[derive(clap::Args, Debug)]
pub struct GrammarArgs {
    /// The grammar; its notation is recognised by extension and content
    pub file: PathBuf,
    /// The notation, if it is not the one that extension and content say
    #[arg(long, value_parser = notations())]
    pub format: Option<String>,
    /// The rule to start with
    #[arg(long, value_name = "RULE")]
    pub start: Option<String>,
    /// The scanner of a grammar in two files (flex, ANTLR lexer)
    #[arg(long, alias = "lexer", value_name = "FILE")]
    pub scanner: Option<PathBuf>,
    /// Do not say what of the format was left out
    #[arg(long, short)]
    pub quiet: bool,
}

/// Notes beyond this many are counted, not printed.
const NOTES_SHOWN: usize = 20;

impl GrammarArgs {
    pub fn read(&self) -> Result<Grammar> {
        let read = self.read_file()?;
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
        let read = self.read_file()?;
        let notes = read.notes.iter().map(ToString::to_string).collect();
        Ok((self.started(read.grammar)?, notes))
    }

    fn read_file(&self) -> Result<Read> {
        let format = self.format.as_deref().and_then(Format::by_name);
        read_path(&self.file, format, self.scanner.as_deref()).map_err(|error| match Format::guess(
            &self.file,
        )
        .filter(|_| format.is_none())
        {
            Some(guess) => {
                anyhow!(
                    "{error} (the file was read as {}; --format names another notation)",
                    guess.name()
                )
            }
            None => error.into(),
        })
    }

    fn started(&self, grammar: Grammar) -> Result<Grammar> {
        match &self.start {
            None => Ok(grammar),
            Some(name) => grammar
                .with_start(name)
                .ok_or_else(|| anyhow!("there is no rule `{name}` to start with")),
        }
    }

    pub fn is_antlr(&self) -> bool {
        match &self.format {
            Some(format) => format == "antlr",
            None => self.file.extension().is_some_and(|e| e == "g4"),
        }
    }

    pub fn language(&self) -> Result<Language> {
        Language::new(self.read()?).with_context(|| self.file.display().to_string())
    }
}

fn notations() -> Vec<&'static str> {
    Format::ALL.iter().map(|(name, _)| *name).collect()
}

/// An input; `-` is standard input.
pub fn input(path: &Path) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    let limit = grammar::parse::MAX_INPUT as u64 + 1;
    if path.as_os_str() == "-" {
        std::io::stdin().lock().take(limit).read_to_end(&mut text).context("standard input")?;
    } else {
        let file = std::fs::File::open(path).with_context(|| path.display().to_string())?;
        file.take(limit).read_to_end(&mut text).with_context(|| path.display().to_string())?;
    }
    if text.len() > grammar::parse::MAX_INPUT {
        bail!(
            "{}: inputs of more than {} bytes are not read",
            path.display(),
            grammar::parse::MAX_INPUT
        );
    }
    Ok(text)
}
