//! Programs in one file, built natively and with Tarragon.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::process::{Command, Stdio};

use cases::Recipe;
use tempfile::TempDir;

use crate::ast::Program;
use crate::print;

pub struct Batch {
    pub built: cases::Program,
    pub directory: TempDir,
}

/// The longest input.
pub const LONGEST: usize = 2;

impl Batch {
    pub fn build(programs: &[Program], flags: &[&str]) -> Result<Batch, String> {
        let directory = TempDir::new().map_err(|error| error.to_string())?;
        let source = directory.path().join("random.c");
        std::fs::write(&source, print::file(programs)).map_err(|error| error.to_string())?;
        let flags = flags.iter().map(|&flag| flag.to_owned()).collect();
        let recipe = Recipe { source, natives: Vec::new(), flags };
        let built = cases::Program::build(&recipe, &directory.path().join("variants"))?;
        Ok(Batch { built, directory })
    }
}

/// The leaf of every input up to a length.
pub struct Leaves {
    by_length: Vec<Vec<u32>>,
}

impl Leaves {
    /// Runs a program of a native build on all inputs.
    pub fn enumerate(
        native: &std::path::Path,
        number: usize,
        longest: usize,
    ) -> Result<Leaves, String> {
        let by_length: Result<_, String> =
            (0..=longest).map(|len| leaves(native, number, len)).collect();
        Ok(Leaves { by_length: by_length? })
    }

    pub fn of(&self, input: &[u8]) -> u32 {
        let index = input.iter().rev().fold(0, |index, byte| index << 8 | usize::from(*byte));
        self.by_length[input.len()][index]
    }

    /// One input for each leaf that inputs of these lengths have.
    pub fn representatives(&self, lengths: RangeInclusive<usize>) -> BTreeMap<u32, Vec<u8>> {
        lengths.rev().flat_map(|len| self.inputs(len).map(|(input, leaf)| (leaf, input))).collect()
    }

    /// All inputs of a length with their leaves.
    pub fn inputs(&self, len: usize) -> impl Iterator<Item = (Vec<u8>, u32)> + '_ {
        let input = move |index: usize| (0..len).map(|at| (index >> (8 * at)) as u8).collect();
        self.by_length[len].iter().enumerate().map(move |(index, leaf)| (input(index), *leaf))
    }
}

fn leaves(native: &std::path::Path, number: usize, len: usize) -> Result<Vec<u32>, String> {
    let words = [number, len].map(|word| word.to_string());
    let output = Command::new(native).args(words).stdin(Stdio::null()).output();
    let output = output.map_err(|error| error.to_string())?;
    let expected = 4usize << (8 * len);
    if !output.status.success() || output.stdout.len() != expected {
        return Err(format!("the native program {number}: {}", output.status));
    }
    let leaf = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().expect("four bytes"));
    Ok(output.stdout.chunks(4).map(leaf).collect())
}
