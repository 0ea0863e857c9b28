//! All flips of a run of a program that looks for words: operations on texts with the link that
//! reads them, against formulas over single bytes with the links that there are otherwise.

use crate::build;
use crate::flips::{Asked, RecordedPath, Recorder, best};
use anyhow::Result;
use expr::{Dag, Importer, Label};
use solver::Lit;

/// Bytes of text that the program reads.
const SIZES: [usize; 3] = [60, 240, 960];

pub fn run() -> Result<()> {
    let scratch = tempfile::tempdir()?;
    let source = build::folder().join("texts/orders.c");
    let traced = build::traced(&[source], &["-O1"], &scratch.path().join("orders"))?;
    println!("All flips of one run of a program that looks for words:");
    let mut recorder = Recorder::new(traced, Vec::new())?;
    for size in SIZES {
        let texts = recorder.record(text(size))?;
        let formulas = lowered(&texts);
        let flips = texts.flips.len();
        println!("  {size} bytes, {} constraints, {flips} flips", texts.lits.len());
        println!(
            "    expressions: {} with texts, {} as formulas",
            needed(&texts),
            needed(&formulas)
        );
        let [with, without] =
            [&texts, &formulas].map(|recorded| best(|| Asked::chain(recorded, flips)));
        println!("    texts    {with}");
        println!("    formulas {without}");
        println!("    ratio {:.1}", with.rate() / without.rate());
        println!("{}", with.links());
    }
    Ok(())
}

/// Lines of a few words.
fn text(size: usize) -> Vec<u8> {
    let line = b"two pots of thyme, one of sage; by monday\n";
    line.iter().copied().cycle().take(size - 1).chain(*b"\n").collect()
}

/// The same without operations on texts.
fn lowered(recorded: &RecordedPath) -> RecordedPath {
    let (mut dag, mut importer) = (Dag::new(), Importer::lowering());
    let mut lower =
        |lit: &Lit| Lit { label: importer.import(&recorded.dag, lit.label, &mut dag), ..*lit };
    let lits = recorded.lits.iter().map(&mut lower).collect();
    let flips = recorded.flips.iter().map(|(prefix, goal)| (*prefix, lower(goal))).collect();
    RecordedPath { dag, lits, input: recorded.input.clone(), flips }
}

/// How many nodes the path and its flips are made of, bytes of the input left out.
fn needed(recorded: &RecordedPath) -> usize {
    let mut seen = vec![false; recorded.dag.len()];
    let goals = recorded.flips.iter().map(|(_, goal)| goal);
    let mut open: Vec<Label> = recorded.lits.iter().chain(goals).map(|lit| lit.label).collect();
    let mut count = 0;
    while let Some(label) = open.pop() {
        if label == 0 || std::mem::replace(&mut seen[label as usize], true) {
            continue;
        }
        let operands = recorded.dag.operands(label);
        count +=
            usize::from(recorded.dag.op(label).arity() > 0 || recorded.dag.op(label).is_text());
        open.extend(operands.iter().chain(recorded.dag.table_labels(label)));
    }
    count
}
