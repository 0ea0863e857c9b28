//! The table of source lines, read from debug information: each instruction counts for the line and
//! file of its own scope, so that code from headers, macros and `#line` is counted where it was
//! written.

use crate::llvm::{self, Block, LLVMOpcode, Value};
use crate::numbering::{Numbering, intern};
use sites::{SiteKind, SourceBranch, SourceFunction, SourceLine, SourceTable};
use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};

/// The table for functions whose blocks are numbered in this order.
pub fn describe(numbering: &Numbering, functions: &[Value]) -> SourceTable {
    let table = SourceTable { outcomes: numbering.table.outcomes, ..SourceTable::default() };
    let mut description = Description { numbering, table, files: HashMap::new() };
    for &function in functions {
        description.function(function);
    }
    description.table
}

struct Description<'a> {
    numbering: &'a Numbering,
    table: SourceTable,
    files: HashMap<String, u32>,
}

impl Description<'_> {
    fn function(&mut self, function: Value) {
        let name = source_name(&llvm::name(function));
        let entry = self.table.blocks.len() as u32;
        let start = self.place(function);
        for block in llvm::blocks(function) {
            self.branch(block, &name);
            let lines = self.lines(block);
            self.table.blocks.push(lines);
        }
        if let Some(start) = start {
            let first = &mut self.table.blocks[entry as usize];
            if !first.contains(&start) {
                first.insert(0, start);
            }
            self.table.functions.push(SourceFunction { name, start, entry });
        }
    }

    fn lines(&mut self, block: Block) -> Vec<SourceLine> {
        let mut lines = Vec::new();
        for instruction in llvm::instructions(block).into_iter().filter(|&i| !is_marker(i)) {
            if let Some(place) = self.place(instruction).filter(|place| !lines.contains(place)) {
                lines.push(place);
            }
        }
        lines
    }

    fn branch(&mut self, block: Block, function: &str) {
        let Some(terminator) = llvm::terminator(block) else { return };
        let Some(number) = self.numbering.number_of(terminator) else { return };
        let Some(place) = self.place(terminator) else { return };
        let outcomes = match &self.numbering.table.sites[number as usize].kind {
            SiteKind::Branch { coverage } => vec![coverage + 1, *coverage],
            SiteKind::Switch { coverage, cases } => {
                (*coverage..=coverage + cases.len() as u32).collect()
            }
            SiteKind::Plain => return,
        };
        let block = self.table.blocks.len() as u32;
        self.table.branches.push(SourceBranch {
            place,
            function: function.to_owned(),
            block,
            outcomes,
        });
    }

    /// Where an instruction or function was written; `None` for what the compiler made up.
    fn place(&mut self, value: Value) -> Option<SourceLine> {
        let line = llvm::debug_line(value);
        if line == 0 {
            return None;
        }
        let path = absolute(&llvm::debug_directory(value), &llvm::debug_file(value))?;
        Some(SourceLine { file: intern(&mut self.files, &mut self.table.files, &path), line })
    }
}

/// Whether an instruction only tells the optimiser how long a variable lives, so that its line need
/// not run.
fn is_marker(instruction: Value) -> bool {
    llvm::opcode(instruction) == LLVMOpcode::LLVMCall
        && llvm::name(llvm::called(instruction)).starts_with("llvm.lifetime.")
}

/// The name in the source: linking appends a dot and a number to static functions that share a
/// name.
pub fn source_name(name: &str) -> String {
    let name = trace::replaced_name(name);
    name.split('.').next().filter(|start| !start.is_empty()).unwrap_or(name).to_owned()
}

/// A path without steps back, from the folder of the compilation.
pub fn absolute(directory: &str, file: &str) -> Option<String> {
    if file.is_empty() {
        return None;
    }
    let mut path = PathBuf::new();
    for component in Path::new(directory).join(file).components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir if path.file_name().is_some() => drop(path.pop()),
            other => path.push(other),
        }
    }
    Some(path.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_absolute_where_the_folder_is_known() {
        let text = |directory, file| absolute(directory, file).unwrap_or_default();
        assert_eq!(text("/build/lib", "../src/./a.c"), "/build/src/a.c");
        assert_eq!(text("/build", "/usr/include/x.h"), "/usr/include/x.h");
        assert_eq!(text("", "../a.c"), "../a.c");
        assert_eq!(text("/build", ""), "");
    }

    #[test]
    fn names_are_those_of_the_source() {
        assert_eq!(source_name("helper.12"), "helper");
        assert_eq!(source_name("_ZN1a1bEv"), "_ZN1a1bEv");
        assert_eq!(source_name(".hidden"), ".hidden");
    }
}
