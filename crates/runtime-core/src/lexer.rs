//! Whether a lexer that the user named is running: what it asks is its own business.
//!
//! Only the outermost call counts, so a lexer may call itself or another one. A lexer that is left
//! by `longjmp` delivers nothing; that is noticed when one is entered from further up the stack.

use crate::state::Run;
use core::cell::Cell;

pub struct Lexer {
    /// Where the stack was when the outermost lexer was entered; 0 outside of lexers.
    frame: Cell<usize>,
    /// Lexers entered within it.
    depth: Cell<u32>,
    tokens: Cell<u32>,
}

impl Lexer {
    pub const NONE: Lexer =
        Lexer { frame: Cell::new(0), depth: Cell::new(0), tokens: Cell::new(0) };

    pub fn reset(&self) {
        self.frame.set(0);
        self.depth.set(0);
        self.tokens.set(0);
    }

    /// A lexer was entered with the stack here; true if it is the outermost.
    pub fn enter(&self, frame: usize) -> bool {
        let outer = self.frame.get();
        if outer != 0 && frame < outer {
            self.depth.update(|depth| depth + 1);
            return false;
        }
        self.frame.set(frame);
        self.depth.set(0);
        true
    }

    /// A lexer returns; true if it is the outermost.
    pub fn leave(&self) -> bool {
        if self.frame.get() == 0 {
            return false;
        }
        if self.depth.get() > 0 {
            self.depth.update(|depth| depth - 1);
            return false;
        }
        self.frame.set(0);
        true
    }

    /// The number of the next token.
    pub fn next_token(&self) -> u32 {
        self.tokens.replace(self.tokens.get() + 1)
    }
}

/// Whether events are a lexer's.
#[inline(always)]
pub fn inside(run: &Run) -> bool {
    run.lexer.frame.get() != 0
}
