//! The target that the command line names.

use std::ffi::OsString;
use std::sync::atomic::AtomicBool;

use anyhow::Result;
use campaign::{Covered, Display, DisplayMode, MakeCovered, Preparing};
use compiler::{Variant, accepts_connections};
use executor::{Preparation, Sanitizers, Target, TargetSettings, find_program};
use runner::Sandbox;
use trace::words;

use crate::args::{SanitizerName, Switch, TargetArgs};
use crate::sources;

pub(crate) fn start(args: &TargetArgs, max_len: usize) -> Result<Target> {
    start_until(None, args, max_len)
}

/// Its runs end once `stop` is set.
pub(crate) fn start_until(
    stop: Option<&'static AtomicBool>,
    args: &TargetArgs,
    max_len: usize,
) -> Result<Target> {
    let mut target = Target::start(&TargetSettings { stop, ..settings(args)? }, max_len)?;
    target.notes.extend(misspelt_placeholders(args));
    target.notes.extend(more_connections(args));
    Ok(target)
}

/// A server that gets one connection only does not show what it does with the next.
fn more_connections(args: &TargetArgs) -> Option<String> {
    let program = find_program(args.command.first()?).ok()?;
    let gets_one = !args.sources.any_connection() && accepts_connections(&program);
    let note = "the program takes connections and gets one: --connections 2 gives it two, with \
                several messages each";
    gets_one.then(|| note.to_owned())
}

/// Variables that change what programs print: they are these where nobody says otherwise.
pub(crate) const PINNED: [(&str, &str); 2] = [("LC_ALL", "C.UTF-8"), ("TZ", "UTC")];

/// As the command line says, in a place that is the same everywhere.
pub(crate) fn pinned_settings(args: &TargetArgs) -> Result<TargetSettings> {
    let mut settings = settings(args)?;
    let pinned = PINNED.iter().map(|(name, value)| (name.into(), value.into()));
    settings.environment = pinned.chain(settings.environment).collect();
    Ok(settings)
}

/// Words that look as if the input should be in them, but it is not.
fn misspelt_placeholders(args: &TargetArgs) -> impl Iterator<Item = String> {
    let arguments = args.command.get(1..).unwrap_or_default();
    let last = arguments.len().wrapping_sub(1);
    let is_all = move |(i, word): &(usize, &OsString)| *i == last && *word == words::ALL;
    let arguments =
        arguments.iter().enumerate().filter(move |at| !is_all(at)).map(|(_, word)| word);
    let all =
        arguments.chain(args.env.iter().map(|(_, value)| value)).map(|word| word.to_string_lossy());
    let misspelt = all.filter(|word| word.replace(words::PIECE, "").contains("@{"));
    misspelt.map(|word| {
        format!(
            "{word} is passed on as it stands: the input is @{{}}, or @{{...}} as the last argument"
        )
    })
}

/// Derives variants before they are needed, and says so once that takes a while.
pub(crate) fn prepare(args: &TargetArgs, variants: &[Variant], display: &mut Display) {
    // What is wrong with the settings is said where they are used.
    let Ok(settings) = settings(args) else { return };
    executor::prepare(&settings, variants, |Preparation { program, variant, ready, of, time }| {
        let (program, variant) = (program.display().to_string(), variant.map(Variant::name));
        let seconds = time.as_secs_f64();
        display.preparing(&Preparing { program: &program, variant, ready, of, seconds });
    });
}

/// For commands that print nothing else while they prepare.
pub(crate) fn lines(is_quiet: bool) -> Display {
    let mode = if is_quiet { DisplayMode::Quiet } else { DisplayMode::Lines };
    Display::new(mode, Box::new(std::io::stderr()))
}

/// Adds the sanitized variant, unless it is off.
pub(crate) fn add_sanitized(target: &mut Target, wanted: &[SanitizerName]) {
    if !wanted.contains(&SanitizerName::Off) {
        let undefined = wanted.contains(&SanitizerName::Undefined);
        let leaks = wanted.contains(&SanitizerName::Leak);
        target.add_sanitized(Sanitizers { undefined, leaks });
    }
}

/// What makes the covered variant, for when it is wanted.
pub(crate) fn covered(target: &Target) -> MakeCovered<'static> {
    let variant = target.covered();
    Box::new(move || {
        let (table, executor) = variant.start().map_err(|error| error.first_line())?;
        Ok(Covered { table, executor: Box::new(executor) })
    })
}

pub(crate) fn settings(args: &TargetArgs) -> Result<TargetSettings> {
    let confinement = &args.confinement;
    let surroundings = sources::surroundings(args)?;
    let (mut command, mut environment) = (args.command.clone(), args.env.clone());
    if surroundings.is_some() {
        sources::mark_words(&mut command, &mut environment);
    }
    Ok(TargetSettings {
        command,
        shown: args.command.clone(),
        surroundings,
        timeout: confinement.timeout,
        memory: confinement.memory,
        sandbox: match confinement.sandbox {
            Switch::On => Sandbox::On,
            Switch::Off => Sandbox::Off,
        },
        read: confinement.read.clone(),
        environment,
        lexers: args.lexers.clone(),
        models: args.models.models.clone(),
        stop: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Cli, Command};
    use clap::Parser as _;

    fn misspelt(arguments: &[&str]) -> Vec<String> {
        let words = [&["tarragon", "trace", "input", "--", "./program"], arguments].concat();
        let Command::Trace(args) = Cli::parse_from(words).command else {
            panic!("another command")
        };
        misspelt_placeholders(&args.target).collect()
    }

    #[test]
    fn words_that_nearly_are_placeholders_are_pointed_out() {
        assert_eq!(misspelt(&["-x", "a@{}b@{}", "@@", "@{...}"]), [""; 0]);
        assert_eq!(misspelt(&["@{"]).len(), 1);
        assert_eq!(misspelt(&["@{}@{x}"]).len(), 1);
        let early = misspelt(&["@{...}", "-x"]);
        assert!(early[0].starts_with("@{...} is passed on as it stands"), "{early:?}");
    }
}
