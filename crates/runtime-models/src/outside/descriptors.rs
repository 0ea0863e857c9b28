//! Descriptors that are open on the input, and whether somebody has read from them.

use super::{keeping_errno, known};
use crate::stdio::{self, Stream};
use core::cell::Cell;
use core::ffi::c_int;
use core::ptr::null_mut;
use runtime_core::os;

unsafe extern "C" {
    fn ioctl(fd: c_int, request: u64, ...) -> c_int;
}

/// A descriptor that is open on the input.
#[derive(Clone, Copy)]
struct Watched {
    fd: c_int,
    /// The stream that reads through it, if one is known; it is open.
    stream: *mut Stream,
    /// Where the descriptor and the stream stood when they were looked at last.
    descriptor_at: i64,
    stream_at: i64,
}

impl Watched {
    const NONE: Watched = Watched { fd: -1, stream: null_mut(), descriptor_at: 0, stream_at: 0 };

    /// As it stands now.
    fn now(self) -> Watched {
        keeping_errno(|| {
            let descriptor_at = position(self.fd);
            let stream_at = self.stream_position(descriptor_at);
            Watched { descriptor_at, stream_at, ..self }
        })
    }

    fn stream_position(self, descriptor_at: i64) -> i64 {
        if self.stream.is_null() {
            return 0;
        }
        // SAFETY: the stream is open, as whoever named it has promised.
        unsafe { stdio::position_before(self.stream, descriptor_at) }
    }
}

/// How far a descriptor has got. A socket has no position, but the less is left in it the further
/// it is.
fn position(fd: c_int) -> i64 {
    const FIONREAD: u64 = 0x541b;
    let position = os::lseek(fd, 0, os::SEEK_CUR);
    if position >= 0 {
        return position;
    }
    let mut left: c_int = 0;
    // SAFETY: this request writes one `int`.
    let failed = unsafe { ioctl(fd, FIONREAD, &raw mut left) } != 0;
    if failed { position } else { -i64::from(left) }
}

const MAX_FDS: usize = 8;

/// All that are known.
pub struct Descriptors {
    fds: [Cell<Watched>; MAX_FDS],
    count: Cell<usize>,
}

impl Descriptors {
    pub const NEW: Descriptors =
        Descriptors { fds: [const { Cell::new(Watched::NONE) }; MAX_FDS], count: Cell::new(0) };

    /// A run ends.
    pub fn reset(&self) {
        self.fds.iter().for_each(|watched| watched.set(Watched::NONE));
        self.count.set(0);
    }

    pub fn any(&self) -> bool {
        self.count.get() != 0
    }

    fn all(&self) -> impl Iterator<Item = &Cell<Watched>> {
        self.fds.iter().take(self.count.get())
    }

    fn watch(&self, fd: c_int, stream: *mut Stream) {
        let place = match self.all().find(|watched| watched.get().fd == fd) {
            Some(known) if stream.is_null() || known.get().stream == stream => return,
            Some(known) => known,
            None => {
                let Some(free) = self.fds.get(self.count.get()) else { return };
                self.count.update(|count| count + 1);
                free
            }
        };
        place.set(Watched { fd, stream, ..Watched::NONE }.now());
    }

    /// Whether somebody has read from one of them since they were looked at, which they are again.
    /// What moved only in a stream's buffer counts `in_buffers`: the program itself reads there
    /// with `getc_unlocked`.
    pub fn were_read(&self, in_buffers: bool) -> bool {
        let mut were = false;
        for watched in self.all() {
            let (before, now) = (watched.get(), watched.get().now());
            watched.set(now);
            let is_ahead = now.stream_at > before.stream_at;
            were |= now.descriptor_at > before.descriptor_at || is_ahead && in_buffers;
        }
        were
    }
}

/// The descriptor is open on the input.
pub fn watch(fd: c_int) {
    known().descriptors.watch(fd, null_mut());
}

/// The same, and this stream reads through it.
///
/// # Safety
/// The stream is open until [`unwatch_stream`].
pub unsafe fn watch_stream(fd: c_int, stream: *mut Stream) {
    known().descriptors.watch(fd, stream);
}

/// The stream is about to be closed.
pub fn unwatch_stream(stream: *mut Stream) {
    for watched in &known().descriptors.fds {
        if watched.get().stream == stream {
            watched.update(|watched| Watched { stream: null_mut(), ..watched });
        }
    }
}
