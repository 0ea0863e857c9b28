//! Named lexers: what they deliver becomes a token, and what they do on the way is told apart.
//!
//! The instrumenter puts calls of these functions into the functions that the user named: one at
//! the entry, one before each return. Only the outermost call counts
//! ([`Lexer`](runtime_core::lexer::Lexer)).

use super::{answer, call_site, guarded, set_label};
use runtime_core::calls::Args;
use runtime_core::state::Run;
use runtime_core::{calls, events, nodes, shadow, state};
use trace::{Event, EventKind, Label, Node};

#[unsafe(no_mangle)]
#[inline(never)]
pub extern "C" fn __tarragon_model_tarragon_lexer_entered() {
    let run = Run::current();
    calls::__tgi_args_taken();
    if !state::active(run) {
        return;
    }
    let here = 0u8;
    let frame = core::hint::black_box(&raw const here) as usize;
    if run.lexer.enter(frame) {
        let kind = EventKind::LexerEntered as u8;
        guarded(|run| events::push(run, Event { kind, site: call_site(), ..Event::default() }));
    }
}

/// True if the outermost lexer returns.
fn leave(run: &Run) -> bool {
    state::active(run) && run.lexer.leave()
}

/// The node of a new token, with the guard held.
fn deliver(run: &Run, code: u64, lexer: u32) -> Label {
    let label = nodes::make(run, Node::token(run.lexer.next_token(), code), code);
    if label != 0 {
        let kind = EventKind::Delivered as u8;
        events::push(run, Event { kind, site: call_site(), label, arg: lexer, ..Event::default() });
    }
    label
}

/// A lexer returns this.
#[unsafe(no_mangle)]
pub extern "C" fn __tarragon_model_tarragon_token(code: u64, lexer: u32) -> u64 {
    let run = Run::current();
    let args = Args::take();
    answer(args.label(0));
    if leave(run) {
        guarded(|run| answer(deliver(run, code, lexer)));
    }
    code
}

/// A lexer returns and leaves its token in memory.
///
/// # Safety
/// There are so many bytes at the place.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_tarragon_token_at(place: *mut u8, size: u64, lexer: u32) {
    let run = Run::current();
    calls::__tgi_args_taken();
    if !matches!(size, 1 | 2 | 4 | 8) || !leave(run) {
        return;
    }
    let size = size as usize;
    guarded(|run| {
        let code = shadow::read_value(place as usize, size);
        let token = deliver(run, code, lexer);
        if token != 0 {
            set_label(run, place, nodes::extract(run, token, 0, 8 * size as u32, code), size);
        }
    });
}
