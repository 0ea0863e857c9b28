//! Which notation a file is in, and reading it with the files it names.

use crate::{MAX_FILE, Note, Read, ReadError, abnf, antlr, bison, bnf_json, tg, tree_sitter, w3c};
use std::path::{Path, PathBuf};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    Tarragon,
    Bison,
    Antlr,
    TreeSitter,
    W3c,
    Abnf,
    BnfJson,
}

impl Format {
    pub const ALL: [(&'static str, Format); 7] = [
        ("tg", Format::Tarragon),
        ("bison", Format::Bison),
        ("antlr", Format::Antlr),
        ("tree-sitter", Format::TreeSitter),
        ("ebnf", Format::W3c),
        ("abnf", Format::Abnf),
        ("bnf-json", Format::BnfJson),
    ];

    pub fn by_name(name: &str) -> Option<Format> {
        Format::ALL.iter().find(|(n, _)| *n == name).map(|(_, f)| *f)
    }

    pub fn name(self) -> &'static str {
        Format::ALL.iter().find(|(_, f)| *f == self).expect("all are listed").0
    }

    /// By extension; for `.json` and unknown extensions by content.
    pub fn detect(file: &str, text: &str) -> Format {
        by_extension(Path::new(file)).unwrap_or_else(|| by_content(text))
    }

    /// The notation that a file is read in because of its content alone, which may be a wrong
    /// guess.
    pub fn guess(path: &Path) -> Option<Format> {
        let is_unknown = by_extension(path).is_none();
        is_unknown.then(|| load(path).ok().map(|(text, _)| by_content(&text)))?
    }
}

fn by_extension(file: &Path) -> Option<Format> {
    let extension = file.extension().and_then(|e| e.to_str()).unwrap_or("").to_lowercase();
    Some(match extension.as_str() {
        "tg" => Format::Tarragon,
        "y" | "yy" | "yacc" | "ypp" | "y++" => Format::Bison,
        "g4" | "g" => Format::Antlr,
        "abnf" => Format::Abnf,
        "ebnf" | "bnf" => Format::W3c,
        _ => return None,
    })
}

fn by_content(text: &str) -> Format {
    let start = text.trim_start_matches('\u{feff}').trim_start();
    if start.starts_with('{') || start.starts_with('[') {
        let tree_sitter = text.contains("\"rules\"") && text.contains("\"type\"");
        return if tree_sitter { Format::TreeSitter } else { Format::BnfJson };
    }
    let line_starts = |prefix: &str| text.lines().any(|l| l.trim_start().starts_with(prefix));
    if text.lines().any(|l| l.trim() == "%%") {
        Format::Bison
    } else if line_starts("grammar ")
        || line_starts("lexer grammar ")
        || line_starts("parser grammar ")
    {
        Format::Antlr
    } else if text.contains("::=") {
        Format::W3c
    } else if text.lines().any(|l| {
        l.starts_with(|c: char| c.is_ascii_alphabetic())
            && l.contains(" = ")
            && !l.trim_end().ends_with(';')
    }) && !text.contains(';')
    {
        Format::Abnf
    } else {
        Format::Tarragon
    }
}

/// Reads text that has no other files beside it.
pub fn read_text(file: &str, text: &str, format: Option<Format>) -> Result<Read, ReadError> {
    read(file, text, format, None, None)
}

/// Reads text whose tokens are in a second text, the scanner of a bison or ANTLR grammar.
pub fn read_texts(
    text: (&str, &str),
    lexer: (&str, &str),
    format: Option<Format>,
) -> Result<Read, ReadError> {
    read(text.0, text.1, format, Some((lexer.0.into(), lexer.1.into())), None)
}

/// Reads a file; `lexer` is the scanner of a bison or ANTLR grammar.
pub fn read_path(
    path: &Path,
    format: Option<Format>,
    lexer: Option<&Path>,
) -> Result<Read, ReadError> {
    let file = path.display().to_string();
    let (text, mut notes) = load(path)?;
    let lexer = lexer.map(|p| Ok((p.display().to_string(), load(p)?.0))).transpose()?;
    let folder = path.parent().map(Path::to_path_buf).unwrap_or_default();
    let mut read = read(&file, &text, format, lexer, Some(&folder))?;
    notes.append(&mut read.notes);
    Ok(Read { notes, ..read })
}

fn load(path: &Path) -> Result<(String, Vec<Note>), ReadError> {
    let file = path.display().to_string();
    let error = |message: String| ReadError { file: file.clone(), line: 0, column: 0, message };
    let unreadable = |e: std::io::Error| match e.kind() {
        std::io::ErrorKind::NotFound => error("there is no such file".to_owned()),
        _ => error(e.to_string()),
    };
    let size = std::fs::metadata(path).map_err(unreadable)?.len();
    if size > MAX_FILE as u64 {
        return Err(error(format!("the file has {size} bytes; at most {MAX_FILE} are read")));
    }
    let bytes = std::fs::read(path).map_err(unreadable)?;
    match String::from_utf8(bytes) {
        Ok(text) => Ok((text, Vec::new())),
        Err(e) => {
            let valid = e.utf8_error().valid_up_to();
            let before = String::from_utf8_lossy(&e.as_bytes()[..valid]).into_owned();
            let (line, column) = crate::cursor::line_column(&before, valid);
            let bytes = e.into_bytes();
            if bytes.contains(&0) {
                let message = "this is not text: invalid UTF-8 and NUL bytes".to_string();
                return Err(ReadError { file, line, column, message });
            }
            // Old grammars are often in Latin-1.
            let text = bytes.iter().map(|b| *b as char).collect();
            let note = Note { file, line, column, text: "invalid UTF-8: read as Latin-1".into() };
            Ok((text, vec![note]))
        }
    }
}

fn read(
    file: &str,
    text: &str,
    format: Option<Format>,
    lexer: Option<(String, String)>,
    folder: Option<&PathBuf>,
) -> Result<Read, ReadError> {
    let format = format.unwrap_or_else(|| Format::detect(file, text));
    let loader = |name: &str| -> Option<(String, String)> {
        if name == "--scanner" {
            return lexer.clone();
        }
        let plain = name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-');
        if !plain {
            return None;
        }
        // Build tools keep imported grammars in a folder `imports`.
        let folders = [folder?.clone(), folder?.join("imports"), folder?.join("../imports")];
        folders.iter().map(|f| f.join(format!("{name}.g4"))).find_map(|path| {
            let text = load(&path).ok()?.0;
            Some((path.display().to_string(), text))
        })
    };
    match format {
        Format::Tarragon => tg::read(file, text),
        Format::Antlr => antlr::read(file, text, &loader),
        Format::Bison => {
            let scanner = lexer.clone().or_else(|| folder.and_then(|_| sibling_scanner(file)));
            bison::read(file, text, scanner.as_ref().map(|(f, t)| (f.as_str(), t.as_str())))
        }
        Format::TreeSitter => tree_sitter::read(file, text),
        Format::W3c => w3c::read(file, text),
        Format::Abnf => abnf::read(file, text),
        Format::BnfJson => bnf_json::read(file, text),
    }
}

/// `calc.l` or `calc.lex` beside `calc.y`; `scan.l` or `lexer.l` if it is the only one.
fn sibling_scanner(file: &str) -> Option<(String, String)> {
    let path = Path::new(file);
    for extension in ["l", "lex", "ll", "lpp"] {
        let beside = path.with_extension(extension);
        if let Some((text, _)) = beside.is_file().then(|| load(&beside).ok()).flatten() {
            return Some((beside.display().to_string(), text));
        }
    }
    let entries = std::fs::read_dir(path.parent()?).ok()?;
    let scanners: Vec<PathBuf> = entries
        .filter_map(|e| e.ok().map(|e| e.path()))
        .filter(|p| matches!(p.extension().and_then(|e| e.to_str()), Some("l" | "lex" | "ll")))
        .collect();
    match &scanners[..] {
        [only] => Some((only.display().to_string(), load(only).ok()?.0)),
        _ => None,
    }
}
