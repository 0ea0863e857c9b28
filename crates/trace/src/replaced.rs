//! Names of functions that models have replaced.

/// How they begin, where a model still calls what it replaced.
pub const REPLACED: &str = "__real_";

/// What the program calls the function.
pub fn replaced_name(name: &str) -> &str {
    name.strip_prefix(REPLACED).unwrap_or(name)
}
