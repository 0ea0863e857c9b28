//! Smaller sentences that still do what matters.

use grammar::language::Language;
use grammar::parse::Parser;
use grammar::shrink::{OneByOne, Shrinker as TreeShrinker};
use shrink::{Bytes, Holds, Shrinker};

/// Makes sentences smaller on their trees first, and stays in the language. What is no sentence has
/// bytes removed.
pub struct SentenceShrinker<'l> {
    language: &'l Language,
}

impl<'l> SentenceShrinker<'l> {
    pub fn new(language: &'l Language) -> SentenceShrinker<'l> {
        SentenceShrinker { language }
    }

    /// Nothing if the input is no sentence.
    fn on_trees(&self, input: &[u8], holds: &mut Holds<'_>) -> Option<Vec<u8>> {
        let mut parser = Parser::new(&self.language.grammar).ok()?;
        let tree = parser.parse(input).ok()?;
        let sentence_holds =
            |text: &[u8]| if parser.check(text).is_ok() { holds(text) } else { Some(false) };
        let mut interesting = OneByOne::new(sentence_holds);
        TreeShrinker::new(&mut interesting).shrink(self.language, input, Some(tree)).ok()
    }
}

impl Shrinker for SentenceShrinker<'_> {
    fn shrink(&mut self, input: &[u8], holds: &mut Holds<'_>) -> Vec<u8> {
        self.on_trees(input, holds).unwrap_or_else(|| Bytes.shrink(input, holds))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shrunk(input: &[u8], holds: impl Fn(&[u8]) -> bool) -> String {
        let text = "grammar g; s: '{' (e ';')* '}'; e: N | e '+' e | '(' e ')'; N: [0-9]+;";
        let read = grammar_formats::read_text("g.g4", text, None).expect("a grammar");
        let language = Language::new(read.grammar).expect("sentences");
        let small = SentenceShrinker::new(&language).shrink(input, &mut |text| Some(holds(text)));
        String::from_utf8_lossy(&small).into_owned()
    }

    #[test]
    fn sentences_stay_sentences() {
        let has_plus = |text: &[u8]| text.contains(&b'+');
        assert_eq!(shrunk(b"{12;((3+45));6;}", has_plus), "{3+0;}");
    }

    #[test]
    fn nothing_is_asked_after_the_last_answer() {
        let text = "grammar g; s: 'a'*;";
        let read = grammar_formats::read_text("g.g4", text, None).expect("a grammar");
        let language = Language::new(read.grammar).expect("sentences");
        let mut asked = 0;
        let small = SentenceShrinker::new(&language).shrink(&[b'a'; 50], &mut |_| {
            asked += 1;
            (asked < 5).then_some(asked == 1)
        });
        assert_eq!((small.len(), asked), (50, 5));
    }

    #[test]
    fn other_inputs_lose_bytes() {
        let has_plus = |text: &[u8]| text.contains(&b'+');
        assert_eq!(shrunk(b"{12;((3+45);6;}", has_plus), "+");
    }
}
