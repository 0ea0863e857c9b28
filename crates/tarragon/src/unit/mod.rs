//! `tarragon unit`: tests of single functions.
//!
//! A harness for the functions is written and built (`code`, `build`), each function is searched
//! like any other program (`explore`), each path that was found is run once more to be described
//! (`describe`), those that differ in nothing but shapes that nobody looks at become one (`merge`),
//! and the results are printed and written (`results`, `table`).

mod args;
mod build;
mod code;
mod describe;
mod explore;
mod header;
mod merge;
mod paths;
mod results;
mod table;

use anyhow::{Context, Result, bail};
use campaign::stop_on_signals;

use crate::Verdict;
pub(crate) use args::UnitArgs;
use build::Built;
use code::Code;
use results::Results;

pub(crate) fn unit(args: &UnitArgs) -> Result<Verdict> {
    if args.out.join(results::FILE).exists() {
        bail!(
            "{} holds earlier results; name another directory with --out, or remove it",
            args.out.display()
        );
    }
    let stop = stop_on_signals().context("cannot listen to signals")?;
    let code = Code::read(args)?;
    let (harness, skipped) = code.harness(args)?;
    let built = Built::new(args, &code, harness)?;
    for (name, why) in &skipped {
        note(args, &format!("{name} is left out: {why}"));
    }
    let mut results = Results::new(args, &code, &built, skipped);
    runner::keep_to_one_processor();
    for number in 0..built.harness.subjects.len() {
        if stop.load(std::sync::atomic::Ordering::Relaxed) {
            break;
        }
        let explored = explore::explore(args, &built, number, stop)?;
        let function = describe::describe(args, &code, &built, number, explored)?;
        table::print(args, &function);
        results.functions.push(function);
    }
    results.write(args)?;
    table::print_end(args, &results);
    Ok(if results.has_bugs() { Verdict::BugsFound } else { Verdict::NoBug })
}

fn note(args: &UnitArgs, text: &str) {
    if !args.output.quiet && !args.output.json {
        eprintln!("note: {text}");
    }
}
