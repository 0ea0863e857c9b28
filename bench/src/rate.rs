//! Executions per second of a small traced target on one core. Target: at least 2,000 with the sandbox on.

use crate::build;
use anyhow::{Result, ensure};
use runner::{Runner, Sandbox, TargetOptions};
use std::time::{Duration, Instant};

const TIME: Duration = Duration::from_secs(3);

pub fn run() -> Result<()> {
    println!("Executions per second of a small traced target, driver and target on one core:");
    let scratch = tempfile::tempdir()?;
    let source = build::folder().join("rate/small.c");
    let derived = build::traced(&[source], &["-O2"], &scratch.path().join("small"))?;
    stay_on_one_core()?;
    let mut rates = Vec::new();
    for (sandbox, symbolic) in [(Sandbox::Off, true), (Sandbox::On, false), (Sandbox::On, true)] {
        let mut options = TargetOptions::new(&derived.executable);
        options.sandbox = sandbox;
        let rate = measure(options, symbolic)?;
        let input = if symbolic { "symbolic" } else { "concrete" };
        println!("  sandbox {sandbox:?}, {input} input: {rate:.0}");
        rates.push(rate);
    }
    println!("  with the sandbox on, {:.2} x the rate without it\n", rates[2] / rates[0]);
    Ok(())
}

fn measure(options: TargetOptions, symbolic: bool) -> Result<f64> {
    let mut runner = Runner::start(options)?;
    let start = Instant::now();
    let mut runs = 0;
    while start.elapsed() < TIME {
        runner.run(b"(1+2)\n", symbolic)?;
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
