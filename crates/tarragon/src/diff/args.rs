//! What can be said to `tarragon diff`.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::{Result, bail, ensure};
use clap::{Args, Parser as _, ValueEnum};
use diff::{Aspect, Normaliser, Rules};

use crate::args::{BoundsArgs, Cli, Command, FuzzArgs, GrammarArgs, OutputArgs, TargetArgs};
use crate::sources;
use crate::strategies::{self, Registered};

#[derive(Debug, Args)]
#[command(
    override_usage = "tarragon diff [OPTIONS] -- PROGRAM_A [ARGS] -- PROGRAM_B [ARGS]",
    after_help = "\
Examples:
  tarragon diff --time 60s -- ./calc-1.0 -- ./calc-1.1       two versions; the input is on stdin
  tarragon diff --grammar awk.y --time 5m -- ./mawk -f @@ -- ./bwk -f @@
  tarragon diff --seeds tests/ -- ./mine @@ -- /usr/bin/reference @@   inputs come from ./mine \
alone
  tarragon diff --tolerance 1e-6 --normalise '-nan=nan' -- ./one -- ./two
  tarragon diff --ignore stdout -- ./parser-a -- ./parser-b  which inputs they accept, and no more
  tarragon diff --rejects 1,65 -- ./one -- ./two             other exit codes accept

Inputs are generated from A and B in turn, and run on both programs. What differs is in three \
classes: one rejects what
the other accepts, both accept and differ, one crashes. Arguments of A cannot be `--`.
Exit codes: 0 no difference, 1 differences, 2 error. Ctrl-C ends it as its time does."
)]
pub(crate) struct DiffArgs {
    /// Leave this out of the comparison; without exit, all runs that end by themselves accept
    #[arg(long, value_enum, value_name = "LIST", value_delimiter = ',')]
    pub ignore: Vec<AspectName>,
    /// Compare this, too
    #[arg(long, value_enum, value_name = "LIST", value_delimiter = ',')]
    pub compare: Vec<AspectName>,
    /// Replace what matches in outputs before they are compared; $1 is what the first group
    /// matched, \= an equals sign in the regular expression
    #[arg(long, value_name = "REGEX=REPLACEMENT", value_parser = normaliser,
        allow_hyphen_values = true)]
    pub normalise: Vec<Normaliser>,
    /// Numbers in outputs are equal if they are no further apart, absolutely or relative to the
    /// larger one
    #[arg(long, value_name = "NUMBER", value_parser = tolerance)]
    pub tolerance: Option<f64>,
    #[arg(long, help = strategies::help_of_diff(), value_parser = strategies::parser())]
    pub strategy: Option<&'static Registered>,
    #[command(flatten)]
    pub grammar: GrammarArgs,
    /// Directory (or file) with inputs to start from
    #[arg(long, value_name = "DIR")]
    pub seeds: Vec<PathBuf>,
    /// Directory for the results
    #[arg(long, value_name = "DIR", default_value = "tarragon-diff")]
    pub out: PathBuf,
    #[command(flatten)]
    pub bounds: BoundsArgs,
    #[command(flatten)]
    pub output: OutputArgs,
    #[command(flatten)]
    pub target: TargetArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AspectName {
    /// What the program prints
    Stdout,
    /// Its messages; not compared unless asked for
    Stderr,
    /// Its exit code, and with it whether it accepts
    Exit,
    /// Files that it leaves in its directory
    Files,
}

impl From<AspectName> for Aspect {
    fn from(name: AspectName) -> Aspect {
        match name {
            AspectName::Stdout => Aspect::Stdout,
            AspectName::Stderr => Aspect::Stderr,
            AspectName::Exit => Aspect::Exit,
            AspectName::Files => Aspect::Files,
        }
    }
}

fn normaliser(text: &str) -> Result<Normaliser, String> {
    Normaliser::parse(text).map_err(|error| error.to_string())
}

fn tolerance(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0);
    number.ok_or_else(|| "write a tolerance as 1e-6 or 0.001".to_owned())
}

impl DiffArgs {
    pub(crate) fn rules(&self) -> Result<Rules> {
        if let Some(both) = self.ignore.iter().find(|name| self.compare.contains(name)) {
            bail!("--compare and --ignore both name {}", Aspect::from(*both));
        }
        let mut aspects: BTreeSet<Aspect> = Rules::default().aspects;
        aspects.extend(self.compare.iter().map(|name| Aspect::from(*name)));
        aspects.retain(|aspect| !self.ignore.iter().any(|name| Aspect::from(*name) == *aspect));
        Ok(Rules {
            aspects,
            normalisers: self.normalise.clone(),
            tolerance: self.tolerance,
            rejects: self.grammar.rejects.clone(),
        })
    }

    /// What `tarragon fuzz` would be told about each program.
    pub(crate) fn sides(&self) -> Result<[FuzzArgs; 2]> {
        let words = &self.target.command;
        let place = words.iter().position(|word| word == "--");
        let Some((a, [_, b @ ..])) = place.map(|place| words.split_at(place)) else {
            bail!("two programs are needed: write -- PROGRAM_A [ARGS] -- PROGRAM_B [ARGS]")
        };
        ensure!(
            !a.is_empty() && !b.is_empty(),
            "a program is missing: write -- PROGRAM_A [ARGS] -- PROGRAM_B [ARGS]"
        );
        let seed = self.bounds.seed;
        // Two searches with the same seed would make the same random choices.
        let sides = [self.side(a, seed)?, self.side(b, seed.wrapping_add(1))?];
        sides.iter().try_for_each(one_source)?;
        Ok(sides)
    }

    fn side(&self, command: &[OsString], seed: u64) -> Result<FuzzArgs> {
        let target = TargetArgs { command: command.to_vec(), ..self.target.clone() };
        Ok(FuzzArgs {
            strategy: Some(strategies::of_diff(self.strategy, !self.grammar.grammar.is_empty())?),
            grammar: self.grammar.clone(),
            seeds: self.seeds.clone(),
            bounds: BoundsArgs { seed, ..self.bounds.clone() },
            target,
            ..defaults()
        })
    }
}

/// One string is the input of both programs.
fn one_source(side: &FuzzArgs) -> Result<()> {
    let named = side.grammar.grammar.iter().chain(&side.seeds);
    let is_named = |path: &PathBuf| sources::of_source(path.as_os_str()).source.is_some();
    let is_plain = sources::surroundings(&side.target)?.is_none() && !{ named }.any(is_named);
    ensure!(
        is_plain,
        "tarragon diff takes inputs from one source, and these are several: give each program its \
         input on standard input, in one file (@@) or in its words (@{{}})"
    );
    Ok(())
}

/// Of the options that `diff` does not have.
fn defaults() -> FuzzArgs {
    match Cli::parse_from(["tarragon", "fuzz", "--", "program"]).command {
        Command::Fuzz(args) => *args,
        _ => unreachable!("the command is named"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(words: &[&str]) -> DiffArgs {
        match Cli::parse_from([&["tarragon", "diff"], words].concat()).command {
            Command::Diff(args) => *args,
            _ => panic!("another command"),
        }
    }

    #[test]
    fn the_first_dashes_separate_the_programs() {
        let sides = args(&["--", "a", "-x", "--", "b", "--", "y"]).sides().expect("two programs");
        let words = sides.map(|side| side.target.command);
        assert_eq!(words[0], ["a", "-x"]);
        assert_eq!(words[1], ["b", "--", "y"]);
        for wrong in [&["--", "a"][..], &["--", "a", "--"], &["--", "--", "b"]] {
            assert!(args(wrong).sides().is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn aspects_are_chosen() {
        let aspects = |words: &[&str]| {
            let rules = args(&[words, &["--", "a", "--", "b"]].concat()).rules();
            rules.map(|rules| rules.aspects.into_iter().collect::<Vec<_>>())
        };
        let (exit, stdout) = (Aspect::Exit, Aspect::Stdout);
        assert_eq!(aspects(&[]).expect("rules"), [exit, stdout, Aspect::Files]);
        let chosen = aspects(&["--ignore", "files,exit", "--compare", "stderr"]).expect("rules");
        assert_eq!(chosen, [stdout, Aspect::Stderr]);
        assert!(aspects(&["--ignore", "stdout", "--compare", "stdout"]).is_err());
    }
}
