//! The target that the command line names.

use anyhow::Result;
use campaign::{Covered, MakeCovered};
use compiler::Variant;
use executor::{Sanitizers, Target, TargetSettings};
use runner::Sandbox;

use crate::args::{SanitizerName, Switch, TargetArgs};

pub(crate) fn start(args: &TargetArgs, max_len: usize) -> Result<Target> {
    Ok(Target::start(&settings(args), max_len)?)
}

/// Derives variants before they are needed, and says so once that takes a while.
pub(crate) fn prepare(args: &TargetArgs, variants: &[Variant], quiet: bool) {
    executor::prepare(&settings(args), variants, |program| {
        if !quiet {
            eprintln!("preparing {} (only once for each build) ...", program.display());
        }
    });
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

fn settings(args: &TargetArgs) -> TargetSettings {
    TargetSettings {
        command: args.command.clone(),
        timeout: args.timeout,
        memory: args.memory,
        sandbox: match args.sandbox {
            Switch::On => Sandbox::On,
            Switch::Off => Sandbox::Off,
        },
        read: args.read.clone(),
        environment: args.env.clone(),
        lexers: args.lexers.clone(),
    }
}
