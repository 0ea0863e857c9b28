//! Random programs from csmith, built with clang and with Tarragon: they must print the same, and
//! under symbolic input every recorded condition must evaluate to the direction taken.
//!
//! `TARRAGON_CSMITH_SEEDS=FROM..TO cargo test --release -p cases --test csmith` is the long run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use cases::{Agreement, Program, Recipe, Tracer, Twins, perturb};
use libtest_mimic::{Arguments, Trial};
use tempfile::TempDir;

const SIZE: [&str; 6] = ["--max-funcs", "5", "--max-block-depth", "3", "--max-block-size", "3"];

/// Some programs of csmith never end, and clang's optimiser makes some of these end (seed 89, a
/// loop of gotos). So the plain build is not optimised; traced builds always are.
const FLAGS: [&str; 2] = ["-O0", "-I/usr/include/csmith"];

#[derive(Default)]
struct Totals {
    compared: AtomicUsize,
    too_slow: AtomicUsize,
    without_globals: AtomicUsize,
    conditions: AtomicUsize,
}

fn main() {
    let mut arguments = Arguments::from_args();
    arguments.test_threads.get_or_insert(2);
    let totals = Arc::new(Totals::default());
    let conclusion =
        libtest_mimic::run(&arguments, seeds().map(|seed| trial(seed, totals.clone())).collect());
    let count = |counter: &AtomicUsize| counter.load(Ordering::Relaxed);
    println!(
        "{} runs compared, {} conditions checked; {} programs too slow, {} without scalar globals",
        count(&totals.compared),
        count(&totals.conditions),
        count(&totals.too_slow),
        count(&totals.without_globals),
    );
    conclusion.exit();
}

/// The seeds to test: those of `TARRAGON_CSMITH_SEEDS`, otherwise a few.
fn seeds() -> std::ops::Range<u64> {
    let Ok(text) = std::env::var("TARRAGON_CSMITH_SEEDS") else { return 1..5 };
    let bounds =
        text.split_once("..").and_then(|(from, to)| Some(from.parse().ok()?..to.parse().ok()?));
    bounds.expect("TARRAGON_CSMITH_SEEDS is FROM..TO")
}

fn trial(seed: u64, totals: Arc<Totals>) -> Trial {
    needs::test(format!("seed_{seed}"), move || -> needs::Tested {
        needs::program("csmith")?;
        check(seed, &totals).unwrap_or_else(|fault| panic!("{fault}"));
        Ok(())
    })
}

fn check(seed: u64, totals: &Totals) -> Result<(), String> {
    let directory = TempDir::new().map_err(|error| error.to_string())?;
    let Some(source) = generate(seed, directory.path())? else {
        totals.without_globals.fetch_add(1, Ordering::Relaxed);
        return Ok(());
    };
    let flags = FLAGS.map(str::to_owned).to_vec();
    let program = Program::build(
        &Recipe { source, natives: Vec::new(), flags },
        &directory.path().join("variants"),
    )?;
    let mut twins = Twins::new(&program, &[])?;
    let mut tracer = Tracer::start(&program, &[])?;
    for input in inputs(seed) {
        match twins.compare(&mut tracer, &input)? {
            Agreement::Same => totals.compared.fetch_add(1, Ordering::Relaxed),
            Agreement::TooSlow => {
                totals.too_slow.fetch_add(1, Ordering::Relaxed);
                break;
            }
        };
    }
    totals.conditions.fetch_add(tracer.constraints(), Ordering::Relaxed);
    match tracer.faults() {
        [] => Ok(()),
        faults => Err(faults.join("; ")),
    }
}

fn generate(seed: u64, directory: &Path) -> Result<Option<PathBuf>, String> {
    let output = Command::new("csmith")
        .args(["--seed", &seed.to_string()])
        .args(SIZE)
        .current_dir(directory)
        .output();
    let output = output.map_err(|error| error.to_string())?;
    let Some(source) = perturb(&String::from_utf8_lossy(&output.stdout)) else { return Ok(None) };
    let file = directory.join("random.c");
    fs::write(&file, source).map_err(|error| error.to_string())?;
    Ok(Some(file))
}

/// Nothing, so that the program is the original one, then bytes that differ from seed to seed.
fn inputs(seed: u64) -> [Vec<u8>; 3] {
    let byte = |i: u64| (seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (8 * i)) as u8;
    [Vec::new(), (0..8).map(byte).collect(), (0..5).map(|i| byte(i) | 0x80).collect()]
}
