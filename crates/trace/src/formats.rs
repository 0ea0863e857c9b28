//! Formats as `printf` reads them.

/// Flags, numbers and sizes of a conversion: what stands before its letter.
const BEFORE_LETTER: &[u8] = b"-+ #'*.$0123456789hlqjztLI";

/// Whether a function that prints with this format also stores how much it has printed (`%n`).
pub fn stores_count(mut format: impl Iterator<Item = u8>) -> bool {
    while let Some(c) = format.next() {
        if c == b'%' && format.find(|c| !BEFORE_LETTER.contains(c)) == Some(b'n') {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::stores_count;

    #[test]
    fn a_conversion_that_stores_is_told_from_text() {
        for stores in ["%n", "%d%n.", "%hhn", "%%%n", "%2$ln"] {
            assert!(stores_count(stores.bytes()), "{stores}");
        }
        for does_not in ["", "n", "%d", "%%n", "%dn", "%-5sn", "100%"] {
            assert!(!stores_count(does_not.bytes()), "{does_not}");
        }
    }
}
