//! Measures runs per second of a trivial target: `cargo run --release -p runner --example exec_rate
//! [SECONDS]`. Driver and target share one core. The rate by processor time is what an idle machine
//! would reach.

#[path = "../tests/support/mod.rs"]
mod support;

use runner::{Runner, Sandbox, TargetOptions};
use std::time::{Duration, Instant};

fn main() {
    let seconds = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(2);
    let program = support::target("trivial");
    stay_on_one_core();
    for (sandbox, symbolic) in [(Sandbox::On, false), (Sandbox::On, true), (Sandbox::Off, false)] {
        let mut options = TargetOptions::new(&program);
        options.sandbox = sandbox;
        let (elapsed, processor) = measure(options, symbolic, Duration::from_secs(seconds));
        print!("sandbox {sandbox:?}, symbolic {symbolic}: {elapsed:.0} runs/s on one core, ");
        println!("{processor:.0} runs per second of processor time");
    }
}

/// Runs per second of time and of processor time.
fn measure(options: TargetOptions, symbolic: bool, time: Duration) -> (f64, f64) {
    let used_before = processor_time();
    let mut runner = Runner::start(options).expect("the target starts");
    let start = Instant::now();
    let mut runs = 0;
    while start.elapsed() < time {
        runner.run(b"1+2", symbolic).expect("the target runs");
        runs += 1;
    }
    let elapsed = start.elapsed();
    drop(runner);
    let used = processor_time() - used_before;
    (f64::from(runs) / elapsed.as_secs_f64(), f64::from(runs) / used.as_secs_f64())
}

/// Of this process and of all that it has waited for.
fn processor_time() -> Duration {
    [libc::RUSAGE_SELF, libc::RUSAGE_CHILDREN]
        .map(|who| {
            // SAFETY: the structure is valid for writing, and all zeros are a valid value of it.
            let usage: libc::rusage = unsafe {
                let mut usage = std::mem::zeroed();
                libc::getrusage(who, &mut usage);
                usage
            };
            [usage.ru_utime, usage.ru_stime].map(|time| {
                Duration::from_secs(time.tv_sec as u64) + Duration::from_micros(time.tv_usec as u64)
            })
        })
        .as_flattened()
        .iter()
        .sum()
}

/// Children inherit the core.
fn stay_on_one_core() {
    // SAFETY: the set is initialised by `CPU_ZERO` before use.
    unsafe {
        let mut cores = std::mem::zeroed();
        libc::CPU_ZERO(&mut cores);
        libc::CPU_SET(0, &mut cores);
        libc::sched_setaffinity(0, size_of_val(&cores), &cores);
    }
}
