//! How strings and verdicts are written.

use std::io::Write;

use serde_json::{Map, Value, json};

/// A word as HAMPI's input language writes it: what cannot be printed is `\ddd`.
pub fn quoted(word: &[u8]) -> String {
    let mut text = String::from("\"");
    for &byte in word {
        match byte {
            b'"' | b'\\' => text.extend(['\\', char::from(byte)]),
            b' '..=b'~' => text.push(char::from(byte)),
            _ => text.push_str(&format!("\\{byte:03}")),
        }
    }
    text.push('"');
    text
}

/// The words of variables: as text, and as bytes in hexadecimal.
pub fn assignment(names: &[String], words: &[Vec<u8>]) -> Value {
    let mut object = Map::new();
    for (name, word) in names.iter().zip(words) {
        let hex: String = word.iter().map(|byte| format!("{byte:02x}")).collect();
        let text = quoted(word);
        object.insert(name.clone(), json!({ "text": text[1..text.len() - 1], "hex": hex }));
    }
    Value::Object(object)
}

/// Prints a line. A reader that went away is no error.
pub fn line(text: impl std::fmt::Display) -> bool {
    writeln!(std::io::stdout().lock(), "{text}").is_ok()
}
