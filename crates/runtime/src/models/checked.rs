//! The `_chk` twins that `_FORTIFY_SOURCE` brings. Where the object is too small the library's own function ends the
//! program; otherwise they are their plain twins.

use super::{copy, input, messages, stdio, wide};
use core::ffi::{c_char, c_int, c_void};

unsafe extern "C" {
    fn strlen(string: *const c_char) -> usize;
    fn strnlen(string: *const c_char, limit: usize) -> usize;
}

macro_rules! checked {
    ($($name:ident $real:ident = $plain:path:
        ($($arg:ident: $ty:ty),*) -> $result:ty, needs $needed:expr;)*) => {
        unsafe extern "C" {
            $(fn $real($($arg: $ty,)* room: usize) -> $result;)*
        }
        $(#[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($arg: $ty,)* room: usize) -> $result {
            unsafe {
                let needed: usize = $needed;
                if needed > room {
                    return $real($($arg,)* room);
                }
                $plain($($arg),*)
            }
        })*
    };
}

checked!(
    __tarragon_model___memcpy_chk __memcpy_chk = copy::__tarragon_model_memcpy:
        (to: *mut c_void, from: *const c_void, size: usize) -> *mut c_void, needs size;
    __tarragon_model___memmove_chk __memmove_chk = copy::__tarragon_model_memmove:
        (to: *mut c_void, from: *const c_void, size: usize) -> *mut c_void, needs size;
    __tarragon_model___mempcpy_chk __mempcpy_chk = copy::__tarragon_model_mempcpy:
        (to: *mut c_void, from: *const c_void, size: usize) -> *mut c_void, needs size;
    __tarragon_model___memset_chk __memset_chk = copy::__tarragon_model_memset:
        (to: *mut c_void, byte: c_int, size: usize) -> *mut c_void, needs size;
    __tarragon_model___explicit_bzero_chk __explicit_bzero_chk = copy::__tarragon_model_explicit_bzero:
        (to: *mut c_void, size: usize) -> (), needs size;
    __tarragon_model___strcpy_chk __strcpy_chk = copy::__tarragon_model_strcpy:
        (to: *mut c_char, from: *const c_char) -> *mut c_char, needs strlen(from) + 1;
    __tarragon_model___stpcpy_chk __stpcpy_chk = copy::__tarragon_model_stpcpy:
        (to: *mut c_char, from: *const c_char) -> *mut c_char, needs strlen(from) + 1;
    __tarragon_model___strncpy_chk __strncpy_chk = copy::__tarragon_model_strncpy:
        (to: *mut c_char, from: *const c_char, size: usize) -> *mut c_char, needs size;
    __tarragon_model___stpncpy_chk __stpncpy_chk = copy::__tarragon_model_stpncpy:
        (to: *mut c_char, from: *const c_char, size: usize) -> *mut c_char, needs size;
    __tarragon_model___strcat_chk __strcat_chk = copy::__tarragon_model_strcat:
        (to: *mut c_char, from: *const c_char) -> *mut c_char, needs strlen(to) + strlen(from) + 1;
    __tarragon_model___strncat_chk __strncat_chk = copy::__tarragon_model_strncat:
        (to: *mut c_char, from: *const c_char, size: usize) -> *mut c_char,
        needs strlen(to) + strnlen(from, size) + 1;
    __tarragon_model___read_chk __read_chk = input::__tarragon_model_read:
        (fd: c_int, to: *mut c_void, size: usize) -> isize, needs size;
    __tarragon_model___wcscpy_chk __wcscpy_chk = wide::__tarragon_model_wcscpy:
        (to: *mut i32, from: *const i32) -> *mut i32, needs wide::length(from) + 1;
    __tarragon_model___wcscat_chk __wcscat_chk = wide::__tarragon_model_wcscat:
        (to: *mut i32, from: *const i32) -> *mut i32, needs wide::length(to) + wide::length(from) + 1;
    __tarragon_model___wmemcpy_chk __wmemcpy_chk = wide::__tarragon_model_wmemcpy:
        (to: *mut i32, from: *const i32, count: usize) -> *mut i32, needs count;
    __tarragon_model___wmemmove_chk __wmemmove_chk = wide::__tarragon_model_wmemmove:
        (to: *mut i32, from: *const i32, count: usize) -> *mut i32, needs count;
    __tarragon_model___wmemset_chk __wmemset_chk = wide::__tarragon_model_wmemset:
        (to: *mut i32, c: i32, count: usize) -> *mut i32, needs count;
    __tarragon_model___wcsncpy_chk __wcsncpy_chk = wide::__tarragon_model_wcsncpy:
        (to: *mut i32, from: *const i32, count: usize) -> *mut i32, needs count;
);

// Functions in which the object's size is not the last argument.

unsafe extern "C" {
    fn __pread_chk(fd: c_int, to: *mut c_void, size: usize, offset: i64, room: usize) -> isize;
    fn __recv_chk(fd: c_int, to: *mut c_void, size: usize, room: usize, flags: c_int) -> isize;
    fn __recvfrom_chk(
        fd: c_int,
        to: *mut c_void,
        size: usize,
        room: usize,
        flags: c_int,
        from: *mut c_void,
        from_size: *mut u32,
    ) -> isize;
    fn __fgets_chk(to: *mut c_char, room: usize, size: c_int, stream: *mut stdio::Stream) -> *mut c_char;
    fn __fread_chk(
        to: *mut c_void,
        room: usize,
        size: usize,
        count: usize,
        stream: *mut stdio::Stream,
    ) -> usize;
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model___pread_chk(
    fd: c_int,
    to: *mut c_void,
    size: usize,
    offset: i64,
    room: usize,
) -> isize {
    unsafe {
        if size > room {
            return __pread_chk(fd, to, size, offset, room);
        }
        input::__tarragon_model_pread(fd, to, size, offset)
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model___pread64_chk(
    fd: c_int,
    to: *mut c_void,
    size: usize,
    offset: i64,
    room: usize,
) -> isize {
    unsafe { __tarragon_model___pread_chk(fd, to, size, offset, room) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model___recv_chk(
    fd: c_int,
    to: *mut c_void,
    size: usize,
    room: usize,
    flags: c_int,
) -> isize {
    unsafe {
        if size > room {
            return __recv_chk(fd, to, size, room, flags);
        }
        messages::__tarragon_model_recv(fd, to, size, flags)
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model___recvfrom_chk(
    fd: c_int,
    to: *mut c_void,
    size: usize,
    room: usize,
    flags: c_int,
    from: *mut c_void,
    from_size: *mut u32,
) -> isize {
    unsafe {
        if size > room {
            return __recvfrom_chk(fd, to, size, room, flags, from, from_size);
        }
        messages::__tarragon_model_recvfrom(fd, to, size, flags, from, from_size)
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model___fgets_chk(
    to: *mut c_char,
    room: usize,
    size: c_int,
    stream: *mut stdio::Stream,
) -> *mut c_char {
    unsafe {
        if size > 0 && size as usize > room {
            return __fgets_chk(to, room, size, stream);
        }
        stdio::__tarragon_model_fgets(to, size, stream)
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model___fread_chk(
    to: *mut c_void,
    room: usize,
    size: usize,
    count: usize,
    stream: *mut stdio::Stream,
) -> usize {
    unsafe {
        if size.saturating_mul(count) > room {
            return __fread_chk(to, room, size, count, stream);
        }
        stdio::__tarragon_model_fread(to, size, count, stream)
    }
}
