//! Functions that take a format as `printf` does.

/// Which argument of a function is its format.
pub fn position(function: &str) -> Option<u32> {
    Some(match function {
        "printf" | "vprintf" => 0,
        "fprintf" | "vfprintf" | "dprintf" | "vdprintf" | "sprintf" | "vsprintf" | "asprintf"
        | "vasprintf" | "syslog" | "vsyslog" | "__printf_chk" | "__vprintf_chk" => 1,
        "snprintf" | "vsnprintf" | "__fprintf_chk" | "__vfprintf_chk" | "__dprintf_chk"
        | "__vdprintf_chk" | "__asprintf_chk" | "__vasprintf_chk" | "__syslog_chk"
        | "__vsyslog_chk" => 2,
        "__sprintf_chk" | "__vsprintf_chk" => 3,
        "__snprintf_chk" | "__vsnprintf_chk" => 4,
        _ => return None,
    })
}
