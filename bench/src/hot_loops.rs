//! Loops on concrete data, native against traced. Target: at most 2.5 times native.

use crate::{build, usage};
use anyhow::{Result, ensure};
use std::process::Command;

const RUNS: usize = 5;

pub fn run() -> Result<()> {
    println!("Hot loops on concrete data (user time, best of {RUNS}; native is clang -O2):");
    let scratch = tempfile::tempdir()?;
    let mut sources: Vec<_> = std::fs::read_dir(build::folder().join("hot-loops"))?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|e| e == "c"))
        .collect();
    sources.sort();
    let mut logarithms = 0.0;
    let count = sources.len();
    for source in sources {
        let name = source.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let native = scratch.path().join(format!("{name}.native"));
        build::native(std::slice::from_ref(&source), &["-O2"], &native)?;
        let traced = build::traced(&[source], &["-O2"], &scratch.path().join(&name))?;
        let (plain, plain_time) = usage::best_time(&mut Command::new(&native), RUNS)?;
        let (output, time) = usage::best_time(&mut Command::new(&traced.executable), RUNS)?;
        ensure!(plain == output, "{name}: the traced variant prints something else");
        let ratio = time.as_secs_f64() / plain_time.as_secs_f64();
        logarithms += ratio.ln();
        println!(
            "  {name:<12} native {:.3} s, traced {:.3} s: {ratio:.2} x",
            plain_time.as_secs_f64(),
            time.as_secs_f64()
        );
    }
    println!("  geometric mean: {:.2} x\n", (logarithms / count as f64).exp());
    Ok(())
}
