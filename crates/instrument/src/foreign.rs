//! Whose a function without bitcode is: one of the system's libraries, which keep nothing of what
//! they get but where it is documented, or somebody else's. The libraries that this program itself
//! is linked with know all names.

use crate::llvm::c_string;
use std::ffi::{c_char, c_int, c_void};
use std::sync::OnceLock;

unsafe extern "C" {
    fn dlopen(path: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
}

/// It brings those of C with it: what is looked for in a library is looked for in those that it
/// needs, too.
const LIBRARY: &std::ffi::CStr = c"libstdc++.so.6";
const RTLD_LAZY: c_int = 1;

/// Functions that come with every program and are in no shared library.
const LINKED: &[&str] = &["at_quick_exit", "mknod", "mknodat"];
/// Names up to their first letters: those of the compiler and of Tarragon.
const PREFIXES: &[&str] = &["llvm.", "__atomic_", "__tarragon_", "tarragon_"];

/// Whether the function belongs to none of the system's libraries.
pub fn is_foreign(name: &str) -> bool {
    static SYSTEM: OnceLock<usize> = OnceLock::new();
    // SAFETY: the library stays open.
    let system = *SYSTEM.get_or_init(|| unsafe { dlopen(LIBRARY.as_ptr(), RTLD_LAZY) } as usize);
    let is_known = LINKED.contains(&name) || PREFIXES.iter().any(|prefix| name.starts_with(prefix));
    // SAFETY: the handle is that of a library that is open.
    system != 0
        && !is_known
        && unsafe { dlsym(system as *mut c_void, c_string(name).as_ptr()) }.is_null()
}

#[cfg(test)]
mod tests {
    use super::is_foreign;

    #[test]
    fn the_systems_functions_are_told_from_others() {
        for known in
            ["glob", "cbrt", "_ZNSi3getEv", "__isoc99_sscanf", "pthread_kill", "_Unwind_Backtrace"]
        {
            assert!(!is_foreign(known), "{known}");
        }
        for other in ["inflate", "LLVMContextCreate", "xcheck"] {
            assert!(is_foreign(other), "{other}");
        }
    }
}
