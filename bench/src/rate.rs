//! Executions per second of a small traced target on one core. Target: at least 2,000 with the
//! sandbox on.

use crate::build;
use anyhow::{Result, ensure};
use runner::{Runner, RunnerError, Sandbox, TargetOptions};
use std::time::{Duration, Instant};

const TIME: Duration = Duration::from_secs(3);

pub fn run() -> Result<()> {
    println!("Executions per second of small traced targets, driver and target on one core:");
    let scratch = tempfile::tempdir()?;
    let build = |name: &str, flags: &[&str]| {
        let source = build::folder().join("rate").join(name).with_extension("c");
        build::traced(&[source], flags, &scratch.path().join(name))
    };
    let program = build("small", &["-O2"])?;
    let harness = build("harness", &["-O2", "-fsanitize=fuzzer"])?;
    stay_on_one_core()?;
    let mut rates = Vec::new();
    for (sandbox, symbolic) in [(Sandbox::Off, true), (Sandbox::On, false), (Sandbox::On, true)] {
        let mut options = TargetOptions::new(&program.executable);
        options.sandbox = sandbox;
        let rate = measure(options, |runner| runner.run(INPUT, symbolic).map(drop))?;
        println!("  program, sandbox {sandbox:?}, {} input: {rate:.0}", name(symbolic));
        rates.push(rate);
    }
    println!("  with the sandbox on, {:.2} x the rate without it", rates[2] / rates[0]);
    for symbolic in [false, true] {
        let options = || TargetOptions::new(&harness.executable);
        let own = measure(options(), |runner| runner.run(INPUT, symbolic).map(drop))?;
        let shared = measure(options(), |runner| runner.run_shared(INPUT, symbolic).map(drop))?;
        println!(
            "  harness, {} input: {own:.0} in processes of their own, {shared:.0} in shared ones, \
             {:.1} x",
            name(symbolic),
            shared / own
        );
    }
    println!();
    Ok(())
}

const INPUT: &[u8] = b"(1+2)\n";

fn name(symbolic: bool) -> &'static str {
    if symbolic { "symbolic" } else { "concrete" }
}

fn measure(
    options: TargetOptions,
    mut run: impl FnMut(&mut Runner) -> Result<(), RunnerError>,
) -> Result<f64> {
    let mut runner = Runner::start(options)?;
    let start = Instant::now();
    let mut runs = 0;
    while start.elapsed() < TIME {
        run(&mut runner)?;
        runs += 1;
    }
    Ok(f64::from(runs) / start.elapsed().as_secs_f64())
}

/// Children inherit the core.
fn stay_on_one_core() -> Result<()> {
    // SAFETY: the set is initialised before it is used.
    let result = unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(0, &mut set);
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &set)
    };
    ensure!(result == 0, "cannot stay on one core: {}", std::io::Error::last_os_error());
    Ok(())
}
