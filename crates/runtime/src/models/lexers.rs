//! Named lexers: what they deliver becomes a token, and what they do on the way is told apart.
//!
//! The instrumenter puts calls of these functions into the functions that the user named: one at
//! the entry, one before each return. Only the outermost call counts, so a lexer may call itself or
//! another one. A lexer that is left by `longjmp` delivers nothing; that is noticed when one is
//! entered from further up the stack.

use super::state::MODEL_STATE;
use super::{answer, call_site, guarded, set_label};
use crate::calls::Args;
use crate::{calls, events, nodes, shadow, state};
use trace::{Event, EventKind, Label, Node};

/// Where the program is with its lexers.
pub(super) struct Lexers {
    /// Where the stack was when the outermost lexer was entered; 0 outside of lexers.
    frame: usize,
    /// Lexers entered within it.
    depth: u32,
    tokens: u32,
}

impl Lexers {
    pub(super) const OUTSIDE: Lexers = Lexers { frame: 0, depth: 0, tokens: 0 };

    /// Enters a lexer; true if it is the outermost.
    fn enter(&mut self, frame: usize) -> bool {
        if self.frame != 0 && frame < self.frame {
            self.depth += 1;
            return false;
        }
        (self.frame, self.depth) = (frame, 0);
        true
    }

    /// Leaves a lexer; true if it is the outermost.
    fn leave(&mut self) -> bool {
        if self.frame == 0 {
            return false;
        }
        if self.depth > 0 {
            self.depth -= 1;
            return false;
        }
        self.frame = 0;
        true
    }
}

/// Whether events are a lexer's.
pub(crate) unsafe fn inside() -> bool {
    unsafe { MODEL_STATE.lexers.frame != 0 }
}

/// Makes ready for another run in this process.
pub unsafe fn forget() {
    unsafe { MODEL_STATE.reset() };
}

#[unsafe(no_mangle)]
#[inline(never)]
pub unsafe extern "C" fn __tarragon_model_tarragon_lexer_entered() {
    unsafe {
        calls::__tgi_args_taken();
        if !state::active() {
            return;
        }
        let here = 0u8;
        let frame = core::hint::black_box(&raw const here) as usize;
        if MODEL_STATE.lexers.enter(frame) {
            let kind = EventKind::LexerEntered as u8;
            guarded(|| events::push(Event { kind, site: call_site(), ..Event::default() }));
        }
    }
}

/// True if the outermost lexer returns.
unsafe fn leave() -> bool {
    unsafe { state::active() && MODEL_STATE.lexers.leave() }
}

/// The node of a new token, with the guard held.
unsafe fn deliver(code: u64, lexer: u32) -> Label {
    unsafe {
        let label = nodes::make(Node::token(MODEL_STATE.lexers.tokens, code), code);
        MODEL_STATE.lexers.tokens += 1;
        if label != 0 {
            let kind = EventKind::Delivered as u8;
            events::push(Event { kind, site: call_site(), label, arg: lexer, ..Event::default() });
        }
        label
    }
}

/// A lexer returns this.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_tarragon_token(code: u64, lexer: u32) -> u64 {
    unsafe {
        let args = Args::take();
        answer(args.label(0));
        if leave() {
            guarded(|| answer(deliver(code, lexer)));
        }
        code
    }
}

/// A lexer returns and leaves its token in memory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_tarragon_token_at(place: *mut u8, size: u64, lexer: u32) {
    unsafe {
        calls::__tgi_args_taken();
        if !matches!(size, 1 | 2 | 4 | 8) || !leave() {
            return;
        }
        let size = size as usize;
        guarded(|| {
            let code = shadow::read_value(place as usize, size);
            let token = deliver(code, lexer);
            if token != 0 {
                set_label(place, nodes::extract(token, 0, 8 * size as u32, code), size);
            }
        });
    }
}
