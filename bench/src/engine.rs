//! All benchmarks of the engine.

use anyhow::Result;

pub fn run() -> Result<()> {
    crate::hot_loops::run()?;
    crate::json::run()?;
    crate::rate::run()
}
