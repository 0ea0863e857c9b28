//! Packages that people ship: builds them, runs their tests, generates inputs for them, and writes
//! the table of docs/packages.md. Targets: all build and test as with clang; at most 3 times native
//! on concrete data, 20 times on symbolic text.

pub mod list;
mod measure;
mod table;
pub mod tree;

use anyhow::{Context as _, Result};
use list::{PACKAGES, Package};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Which packages, where, and for how long each.
#[derive(clap::Args)]
pub struct Options {
    /// Packages to measure (all if none is named); the table keeps earlier lines of the others
    names: Vec<String>,
    /// Folder for sources and builds, used again by the next call
    #[arg(long, default_value = "target/packages")]
    work: PathBuf,
    /// Seconds to generate inputs for each package; the table is of 60, and other lines are printed
    /// only
    #[arg(long, default_value_t = table::SECONDS)]
    seconds: u64,
    /// Measure the slowdowns alone, and put them into the table as it is
    #[arg(long)]
    slowdowns: bool,
    /// Only trace the sample, this many times, and say what a byte of it costs; for a profiler to
    /// watch
    #[arg(long, value_name = "TIMES")]
    traces: Option<usize>,
}

pub fn run(options: &Options) -> Result<()> {
    std::fs::create_dir_all(&options.work)?;
    let work = options.work.canonicalize()?;
    let time = Duration::from_secs(options.seconds);
    for package in PACKAGES
        .iter()
        .filter(|p| options.names.is_empty() || options.names.iter().any(|n| n == p.name))
    {
        println!("{}", package.name);
        if let Some(times) = options.traces {
            measure::traces(package, &work, times)?;
            continue;
        }
        if options.slowdowns {
            update_slowdowns(package, &work)?;
            continue;
        }
        let row = measure::row(package, time, &work).map_err(|error| format!("{error:#}"));
        if let Err(error) = &row {
            println!("  {error}");
        }
        let line = table::line(package.name, &date()?, &row);
        match options.seconds {
            table::SECONDS => write_line(package, line)?,
            _ => print!("{line}"),
        }
    }
    Ok(())
}

fn update_slowdowns(package: &Package, work: &Path) -> Result<()> {
    let slowdowns = measure::slowdowns(package, work)?;
    let [concrete, symbolic] = slowdowns.each_ref().map(table::times);
    println!("  concrete {concrete}, symbolic {symbolic}");
    let text = std::fs::read_to_string(table_file())?;
    Ok(std::fs::write(table_file(), table::with_slowdowns(&text, package.name, &slowdowns))?)
}

fn table_file() -> PathBuf {
    crate::build::folder().join("../docs/packages.md")
}

/// Puts a package's line into the table, which keeps those of others.
fn write_line(package: &Package, line: String) -> Result<()> {
    let file = table_file();
    let mut lines =
        std::fs::read_to_string(&file).map(|text| table::lines(&text)).unwrap_or_default();
    lines.insert(package.name.to_owned(), line);
    let ordered = PACKAGES.iter().filter_map(|package| lines.remove(package.name));
    let text = table::header(&machine()?) + &ordered.collect::<String>();
    std::fs::create_dir_all(file.with_file_name(""))?;
    std::fs::write(&file, text).with_context(|| format!("cannot write {}", file.display()))
}

fn date() -> Result<String> {
    let date = Command::new("date").args(["-u", "+%Y-%m-%d"]).output()?.stdout;
    Ok(String::from_utf8_lossy(&date).trim().to_owned())
}

fn machine() -> Result<String> {
    let memory = std::fs::read_to_string("/proc/meminfo")?;
    let kib: f64 =
        memory.split_whitespace().nth(1).and_then(|word| word.parse().ok()).unwrap_or(0.0);
    let cores = std::thread::available_parallelism()?;
    Ok(format!("{cores} cores, {:.0} GiB of memory", kib / f64::from(1 << 20)))
}
