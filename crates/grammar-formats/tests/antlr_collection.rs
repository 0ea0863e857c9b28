//! The grammars-v4 collection, where it lies beside the repository: all are read, and their
//! examples parse.

use grammar::parse::{Parser, line_column};
use std::path::{Path, PathBuf};

/// Examples that cannot parse, with the reason.
const EXCEPTIONS: &[(&str, &str)] = &[
    (
        "union_member_storage_class.c",
        "the grammar has no storage class in members: the example is an error test",
    ),
    ("019_smarttab_expandtab_spec.lua", "comments are read by Java code (HandleComment)"),
];

fn main() {
    needs::run(needs::tests![all_grammars_are_read_and_examples_parse]);
}

fn folders(root: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(root).expect("a folder").map(|e| e.expect("an entry").path());
    let mut all: Vec<PathBuf> = entries.filter(|p| p.is_dir()).collect();
    all.sort();
    all
}

/// The parser grammar, or the combined one.
fn main_grammar(folder: &Path) -> PathBuf {
    let entries = std::fs::read_dir(folder).expect("a folder").map(|e| e.expect("an entry").path());
    let mut all: Vec<PathBuf> =
        entries.filter(|p| p.extension().is_some_and(|e| e == "g4")).collect();
    all.sort();
    let named = |suffix: &str| all.iter().find(|p| p.to_string_lossy().ends_with(suffix));
    let main = named("Parser.g4").or_else(|| {
        all.iter().find(|p| {
            let text = std::fs::read_to_string(p).unwrap_or_default();
            !text.lines().any(|l| l.trim_start().starts_with("lexer grammar"))
        })
    });
    main.expect("a grammar").clone()
}

fn all_grammars_are_read_and_examples_parse() -> needs::Tested {
    let root = needs::data("antlr")?;
    let (mut read, mut parsed, mut failures) = (0, 0, Vec::new());
    for folder in folders(&root) {
        let main = main_grammar(&folder);
        let grammar = match grammar_formats::read_path(&main, None, None) {
            Ok(found) => found.grammar,
            Err(e) => {
                failures.push(e.to_string());
                continue;
            }
        };
        read += 1;
        let mut parser = Parser::new(&grammar).expect("small automata");
        let Ok(examples) = std::fs::read_dir(folder.join("examples")) else { continue };
        for example in examples.map(|e| e.expect("an entry").path()) {
            match check(&mut parser, &example) {
                Ok(()) => parsed += 1,
                Err(e) => failures.push(e),
            }
        }
    }
    eprintln!(
        "{read} grammars read, {parsed} examples parse, {} listed as exceptions",
        EXCEPTIONS.len()
    );
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(read >= 55);
    Ok(())
}

fn check(parser: &mut Parser, example: &Path) -> Result<(), String> {
    let name = example.file_name().expect("a file").to_string_lossy().into_owned();
    let text = std::fs::read(example).expect("a file");
    let excepted = EXCEPTIONS.iter().any(|(n, _)| *n == name);
    match parser.check(&text) {
        Ok(()) if excepted => Err(format!("{name} parses now: take it off the list")),
        Ok(()) => {
            let tree = parser.parse(&text).map_err(|_| format!("{name}: no tree"))?;
            assert!(!tree.nodes.is_empty());
            Ok(())
        }
        Err(_) if excepted => Ok(()),
        Err(stuck) => {
            let (line, column) = line_column(&text, stuck.pos);
            Err(format!("{}:{line}:{column}", example.display()))
        }
    }
}
