//! Lexemes by token code, learnt from runs: texts with other tokens where there is no grammar.

use rustc_hash::FxHashMap;

use super::inputs::{Run, View};

/// The shortest lexeme of each token that was seen; empty for the token at the end of the input.
#[derive(Debug, Default)]
pub(super) struct Pieces {
    lexemes: FxHashMap<u8, Vec<u8>>,
}

impl Pieces {
    pub(super) fn learn(&mut self, run: &Run) {
        for (number, token) in run.tokens.iter().enumerate() {
            let lexeme = run.text[run.piece(number)].trim_ascii();
            let is_last = number + 1 == run.tokens.len();
            if lexeme.is_empty() && !is_last {
                continue;
            }
            let known = self.lexemes.entry(token.index).or_insert_with(|| lexeme.to_vec());
            if lexeme.len() < known.len() && !lexeme.is_empty() {
                *known = lexeme.to_vec();
            }
        }
    }

    /// The text of a token input: what did not change keeps its bytes. `None` if no lexeme of a
    /// token was seen.
    pub(super) fn spell(&self, view: &View<'_>) -> Option<Vec<u8>> {
        let Some((_, run)) = view.run.filter(|_| !view.is_spelt) else {
            return Some(view.text.to_vec());
        };
        let bytes = |range: std::ops::Range<usize>| {
            let end = range.end.min(view.text.len());
            &view.text[range.start.min(end)..end]
        };
        let mut text = bytes(0..run.piece(0).start).to_vec();
        let mut changed = false;
        for (number, (token, index)) in run.tokens.iter().zip(view.indices).enumerate() {
            let piece = bytes(run.piece(number));
            let before = piece.len() - piece.trim_ascii_start().len();
            if token.index == *index {
                separate(&mut text, piece, changed);
                text.extend_from_slice(piece);
                changed = false;
                continue;
            }
            let lexeme = self.lexemes.get(index)?;
            if lexeme.is_empty() {
                return Some(text);
            }
            text.extend_from_slice(&piece[..before]);
            separate(&mut text, lexeme, true);
            text.extend_from_slice(lexeme);
            text.extend_from_slice(&piece[before + piece.trim_ascii().len()..]);
            changed = true;
        }
        Some(text)
    }
}

/// Keeps two tokens apart that could be read as one.
fn separate(text: &mut Vec<u8>, next: &[u8], changed: bool) {
    let (Some(&left), Some(&right), true) = (text.last(), next.first(), changed) else { return };
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii();
    let is_sign = |byte: u8| byte.is_ascii_punctuation() && !b"()[]{};,".contains(&byte);
    if is_word(left) && is_word(right) || is_sign(left) && is_sign(right) {
        text.push(b' ');
    }
}
