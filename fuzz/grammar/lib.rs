//! What the fuzz targets do; the tests of the readers use the same library calls.

use grammar::Core;
use grammar::parse::Parser;
use grammar_formats::{Format, read_text};

/// Reads `data` in a notation; what is read must have a core, and Tarragon's notation must read it back.
pub fn read(format: &str, data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let format = Format::by_name(format).expect("a notation");
    let Ok(read) = read_text("fuzz", text, Some(format)) else { return };
    let core = Core::new(&read.grammar);
    assert!(core.start.index() < core.nts.len());
    let written = grammar_formats::to_tg(&read.grammar);
    let _ = read_text("written.tg", &written, Some(Format::Tarragon));
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
