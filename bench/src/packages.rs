//! Packages that people ship: builds them, runs their tests, generates inputs for them, and writes the table of
//! docs/packages.md. Targets: all build and test as with clang; at most 3 times native on concrete data, 20 times on
//! symbolic text.

pub mod list;
mod measure;
mod table;
pub mod tree;

use anyhow::{Context as _, Result};
use list::{PACKAGES, Package};
use measure::Row;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Which packages, where, and for how long each.
#[derive(clap::Args)]
pub struct Options {
    /// Packages to measure (all if none is named); the table keeps earlier lines of the others
    names: Vec<String>,
    /// Folder for sources, builds and measured lines, used again by the next call
    #[arg(long, default_value = "target/packages")]
    work: PathBuf,
    /// Seconds to generate inputs for each package
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// Measure the slowdowns alone, and put them into the table as it is
    #[arg(long)]
    slowdowns: bool,
}

pub fn run(options: &Options) -> Result<()> {
    std::fs::create_dir_all(options.work.join("rows"))?;
    let work = options.work.canonicalize()?;
    let time = Duration::from_secs(options.seconds);
    for package in
        PACKAGES.iter().filter(|p| options.names.is_empty() || options.names.iter().any(|n| n == p.name))
    {
        println!("{}", package.name);
        if options.slowdowns {
            update_slowdowns(package, &work)?;
            continue;
        }
        let row = measure::row(package, time, &work).map_err(|error| format!("{error:#}"));
        if let Err(error) = &row {
            println!("  {error}");
        }
        std::fs::write(row_file(&work, package), serde_json::to_vec(&row)?)?;
        write_table(&work, options.seconds)?;
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

fn row_file(work: &Path, package: &Package) -> PathBuf {
    work.join("rows").join(format!("{}.json", package.name))
}

fn write_table(work: &Path, seconds: u64) -> Result<()> {
    let mut rows: Vec<(String, Result<Row, String>)> = Vec::new();
    for package in &PACKAGES {
        if let Ok(row) = std::fs::read(row_file(work, package)) {
            rows.push((package.name.to_owned(), serde_json::from_slice(&row)?));
        }
    }
    let date = Command::new("date").args(["-u", "+%Y-%m-%d"]).output()?.stdout;
    let text = table::render(&rows, String::from_utf8_lossy(&date).trim(), &machine()?, seconds);
    let file = table_file();
    std::fs::create_dir_all(file.with_file_name(""))?;
    std::fs::write(&file, text).with_context(|| format!("cannot write {}", file.display()))
}

fn machine() -> Result<String> {
    let memory = std::fs::read_to_string("/proc/meminfo")?;
    let kib: f64 = memory.split_whitespace().nth(1).and_then(|word| word.parse().ok()).unwrap_or(0.0);
    let cores = std::thread::available_parallelism()?;
    Ok(format!("{cores} cores, {:.0} GiB of memory", kib / f64::from(1 << 20)))
}
