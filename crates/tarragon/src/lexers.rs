//! `tarragon lexers`: functions that look like the program's tokenization function.

use std::io::{self, Write};

use anyhow::{Context, Result};
use compiler::{DeriveOptions, propose_lexers};
use executor::{Replaced, find_program, replace_functions};
use sites::LexerProposal;

use crate::Verdict;
use crate::args::LexersArgs;

pub(crate) fn lexers(args: &LexersArgs) -> Result<Verdict> {
    let named = find_program(args.program.as_os_str())?;
    let Replaced { program, notes, .. } = replace_functions(&named, &args.models.models, None)?;
    notes.iter().for_each(|note| eprintln!("note: {note}"));
    let options = DeriveOptions::from_environment()?;
    let answer = propose_lexers(&program, &options.instrument)?;
    let mut proposals: Vec<LexerProposal> =
        serde_json::from_slice(&answer).context("tarragon-instrument gave no list of proposals")?;
    proposals.truncate(args.most);
    for (rank, proposal) in (1..).zip(&proposals) {
        let text = match args.json {
            true => serde_json::to_string(proposal)?,
            false => text(rank, proposal),
        };
        // A reader that went away is no error.
        let _ = writeln!(io::stdout(), "{text}");
    }
    if proposals.is_empty() {
        eprintln!("no function of {} looks like a lexer", named.display());
        return Ok(Verdict::NothingFound);
    }
    Ok(Verdict::NoBug)
}

fn text(rank: usize, proposal: &LexerProposal) -> String {
    let LexerProposal { lexer, file, line, score, reasons, .. } = proposal;
    let place = if file.is_empty() { String::new() } else { format!("  {file}:{line}") };
    let reasons: String = reasons.iter().map(|reason| format!("\n     {reason}")).collect();
    format!("{rank}. {lexer}{place}  (score {score}){reasons}")
}
