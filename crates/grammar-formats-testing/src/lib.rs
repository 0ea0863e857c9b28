//! What the readers must do with any text: not panic, and give a grammar that is sound.
//!
//! Tests give it damaged grammars, the targets in `fuzz/grammar` whatever libFuzzer makes. Nothing
//! else may depend on it, and it depends on nothing but the readers: the targets are built with
//! coverage of everything.

use grammar::parse::Parser;
use grammar::{Core, Grammar};
use grammar_formats::{Format, read_text, read_texts};

/// The rules that a scanner is read for.
const PARSER: &str = "%token A B 300 C \"c\"\n%%\ns: A s B | C | '+' | %empty ;\n";

/// Reads `data` in a notation; what is read must have a core, and Tarragon's notation must read it
/// back.
pub fn read(format: &str, data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let format = Format::by_name(format).expect("a notation");
    let Ok(read) = read_text("fuzz", text, Some(format)) else { return };
    check(&read.grammar);
}

/// Reads `data` as the flex scanner of a bison grammar.
pub fn read_flex(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(read) = read_texts(("fuzz.y", PARSER), ("fuzz.l", text), Some(Format::Bison)) else {
        return;
    };
    check(&read.grammar);
}

fn check(grammar: &Grammar) {
    let core = Core::new(grammar);
    assert!(core.start.index() < core.nts.len());
    let written = grammar_formats::to_tg(grammar);
    if let Err(error) = read_text("written.tg", &written, Some(Format::Tarragon)) {
        panic!("{error}\n{written}");
    }
}

/// A grammar, a NUL, and an input: both engines agree on whether it is a sentence.
pub fn parse(data: &[u8]) {
    let Some(split) = data.iter().position(|b| *b == 0) else { return };
    let Ok(text) = std::str::from_utf8(&data[..split]) else { return };
    let Ok(read) = read_text("fuzz.tg", text, Some(Format::Tarragon)) else { return };
    let Ok(mut parser) = Parser::new(&read.grammar) else { return };
    let input = &data[split + 1..data.len().min(split + 200)];
    assert_eq!(parser.check(input).is_ok(), parser.parse(input).is_ok());
}
