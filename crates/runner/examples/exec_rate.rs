//! Measures runs per second of a trivial target: `cargo run --release -p runner --example exec_rate [SECONDS]`.
//! Driver and target share one core.

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
        let rate = measure(options, symbolic, Duration::from_secs(seconds));
        println!("sandbox {sandbox:?}, symbolic {symbolic}: {rate:.0} runs/s on one core");
    }
}

fn measure(options: TargetOptions, symbolic: bool, time: Duration) -> f64 {
    let mut runner = Runner::start(options).expect("the target starts");
    let start = Instant::now();
    let mut runs = 0;
    while start.elapsed() < time {
        runner.run(b"1+2", symbolic).expect("the target runs");
        runs += 1;
    }
    f64::from(runs) / start.elapsed().as_secs_f64()
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
