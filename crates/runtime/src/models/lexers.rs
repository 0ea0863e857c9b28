//! Named lexers: what they deliver becomes a token, and what they do on the way is told apart.
//!
//! The instrumenter puts calls of these functions into the functions that the user named: one at the entry, one before each
//! return. Only the outermost call counts, so a lexer may call itself or another one. A lexer that is left by `longjmp`
//! delivers nothing; that is noticed when one is entered from further up the stack.

use super::{answer, call_site, set_label};
use crate::calls::Args;
use crate::{calls, events, nodes, shadow, state};
use trace::{Event, EventKind, Label, Node};

/// Where the stack was when the outermost lexer was entered; 0 outside of lexers.
static mut FRAME: usize = 0;
/// Lexers entered within it.
static mut DEPTH: u32 = 0;
static mut TOKENS: u32 = 0;

/// Whether events are a lexer's.
pub(crate) unsafe fn inside() -> bool {
    unsafe { FRAME != 0 }
}

/// Makes ready for another run in this process.
pub unsafe fn forget() {
    unsafe { (FRAME, DEPTH, TOKENS) = (0, 0, 0) };
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
        if FRAME != 0 && frame < FRAME {
            DEPTH += 1;
            return;
        }
        (FRAME, DEPTH) = (frame, 0);
        if let Some(_entered) = state::enter() {
            let kind = EventKind::LexerEntered as u8;
            events::push(Event { kind, site: call_site(), ..Event::default() });
        }
    }
}

/// True if the outermost lexer returns.
unsafe fn leave() -> bool {
    unsafe {
        if !state::active() || FRAME == 0 {
            return false;
        }
        if DEPTH > 0 {
            DEPTH -= 1;
            return false;
        }
        FRAME = 0;
        true
    }
}

/// The node of a new token, with the guard held.
unsafe fn deliver(code: u64, lexer: u32) -> Label {
    unsafe {
        let label = nodes::make(Node::token(TOKENS, code), code);
        TOKENS += 1;
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
        if leave()
            && let Some(_entered) = state::enter()
        {
            answer(deliver(code, lexer));
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
        let Some(_entered) = state::enter() else { return };
        let size = size as usize;
        let code = shadow::read_value(place as usize, size);
        let token = deliver(code, lexer);
        if token != 0 {
            set_label(place, nodes::extract(token, 0, 8 * size as u32, code), size);
        }
    }
}
