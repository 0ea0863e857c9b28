//! What models remember between calls, in one value.

use super::lexers::Lexers;
use super::stdio::Streams;
use trace::Label;

pub(super) struct ModelState {
    /// The socket through which the input comes, if it does: its device and inode.
    pub connection: Option<(u64, u64)>,
    /// Bytes of the input that came from a descriptor without a position, such as a socket.
    pub received: u64,
    pub streams: Streams,
    /// The rest that `strtok` keeps between calls.
    pub token_rest: *mut u8,
    /// The label of the size that `operator new` is asked for, until the object is there.
    pub new_size: Label,
    pub lexers: Lexers,
}

/// Written as the program calls models. All but `streams`, `token_rest` and `lexers`, which are as
/// safe with threads as the library's own functions, are written with the guard held.
pub(super) static mut MODEL_STATE: ModelState = ModelState {
    connection: None,
    received: 0,
    streams: Streams::NONE,
    token_rest: core::ptr::null_mut(),
    new_size: 0,
    lexers: Lexers::OUTSIDE,
};

impl ModelState {
    /// Makes ready for another run in this process. What the program itself goes on with stays: its
    /// connection, and what `strtok` has not cut yet.
    pub(super) fn reset(&mut self) {
        self.received = 0;
        self.streams = Streams::NONE;
        self.new_size = 0;
        self.lexers = Lexers::OUTSIDE;
    }
}
