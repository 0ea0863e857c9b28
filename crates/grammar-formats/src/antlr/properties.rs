//! Unicode properties that ANTLR knows and regular expressions of Rust do not: blocks, and ANTLR's
//! own names about emoji.

use super::blocks::BLOCKS;
use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, HirKind};

/// The characters of `\\p{name}`.
pub fn property(name: &str) -> Option<ClassUnicode> {
    parse(&format!("\\p{{{name}}}")).or_else(|| parse(emoji(name)?)).or_else(|| block(name))
}

fn parse(syntax: &str) -> Option<ClassUnicode> {
    match regex_syntax::parse(syntax).ok()?.into_kind() {
        HirKind::Class(Class::Unicode(class)) => Some(class),
        _ => None,
    }
}

fn emoji(name: &str) -> Option<&'static str> {
    Some(match plain(name).as_str() {
        "emojipresentation=emojidefault" => r"[\p{Emoji}&&\p{Emoji_Presentation}]",
        "emojipresentation=textdefault" => r"[\p{Emoji}--\p{Emoji_Presentation}]",
        "emojipresentation=text" => r"\P{Emoji}",
        "emojirk" => r"[0-9#*]",
        "emojinrk" => r"[\p{Emoji}--[0-9#*]]",
        _ => return None,
    })
}

/// `InGreek_and_Coptic`, `Block=…` or `Blk=…`.
fn block(name: &str) -> Option<ClassUnicode> {
    let name = plain(name);
    let prefixes = ["block=", "blk=", "in"];
    let wanted = prefixes.iter().find_map(|prefix| name.strip_prefix(prefix))?;
    let (_, from, to) = BLOCKS.iter().find(|(block, ..)| plain(block) == wanted)?;
    Some(ClassUnicode::new([ClassUnicodeRange::new(char::from_u32(*from)?, char::from_u32(*to)?)]))
}

/// Case, blanks, hyphens and underscores do not count.
fn plain(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, ' ' | '-' | '_')).map(|c| c.to_ascii_lowercase()).collect()
}
