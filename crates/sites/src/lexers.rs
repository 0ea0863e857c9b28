//! Functions that look like a program's tokenization function, as the instrumenter finds them.

use serde::{Deserialize, Serialize};

/// One proposal. Lists of proposals have the most likely one first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LexerProposal {
    /// The function and where it delivers its token: `yylex`, `next_token:arg0->token.val`,
    /// `next:tok`.
    pub lexer: String,
    /// The function's symbol.
    pub function: String,
    /// Source file; empty if it is not known.
    pub file: String,
    /// 0 if it is not known.
    pub line: u32,
    /// Only good for comparing proposals for one program.
    pub score: u32,
    /// One sentence each.
    pub reasons: Vec<String>,
}
