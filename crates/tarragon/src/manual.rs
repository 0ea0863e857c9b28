//! Completions for shells, and pages for `man`, from the command line's own description.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::Verdict;
use crate::args::Cli;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tarragon completions bash >~/.local/share/bash-completion/completions/tarragon
  tarragon completions zsh >~/.zfunc/_tarragon
  tarragon completions fish >~/.config/fish/completions/tarragon.fish")]
pub(crate) struct CompletionsArgs {
    #[arg(value_enum)]
    pub shell: Shell,
}

#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// Directory for the pages, tarragon.1 and one for each sub-command
    pub directory: PathBuf,
}

pub(crate) fn completions(args: &CompletionsArgs) -> anyhow::Result<Verdict> {
    // Made in memory, because the generator panics where a pipe is closed.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "tarragon", &mut script);
    io::stdout().write_all(&script)?;
    Ok(Verdict::NoBug)
}

pub(crate) fn man(args: &ManArgs) -> anyhow::Result<Verdict> {
    std::fs::create_dir_all(&args.directory)?;
    clap_mangen::generate_to(Cli::command(), &args.directory)?;
    Ok(Verdict::NoBug)
}
