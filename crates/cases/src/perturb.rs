//! Makes a program of csmith depend on its input.
//!
//! Such programs read nothing. At the start of their computation, some of their scalar globals are
//! xor-ed with bytes of stdin; at the end of the input they keep their values, so that on no input
//! the program is the original.

/// More globals than this are not changed.
const MAX_GLOBALS: usize = 8;

/// The source with reads of the input; `None` if it has no global that can be changed.
pub fn perturb(source: &str) -> Option<String> {
    let globals: Vec<&str> = source.lines().filter_map(scalar_global).take(MAX_GLOBALS).collect();
    let (before, after) = source.rsplit_once("    func_1();")?;
    let reads: String =
        globals.iter().map(|name| format!("    {name} ^= tarragon_next();\n")).collect();
    let next = "static int tarragon_next(void) { int c = getchar(); return c == EOF ? 0 : c; }\n";
    let (head, main) = before.rsplit_once("int main (")?;
    (!globals.is_empty())
        .then(|| format!("{head}{next}int main ({main}{reads}    func_1();{after}"))
}

/// The name in a line like `static int32_t g_2 = 0x1AL;`. Arrays, pointers, constants and volatiles
/// do not match.
fn scalar_global(line: &str) -> Option<&str> {
    let mut words = line.strip_prefix("static ")?.split(' ');
    let ty = words.next()?;
    let name = words.next()?;
    let integer = ty.trim_start_matches('u').strip_prefix("int")?.strip_suffix("_t")?;
    let scalar = integer.parse::<u32>().is_ok() && words.next() == Some("=");
    (scalar && name.strip_prefix("g_")?.parse::<u32>().is_ok()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_globals_that_can_be_changed() {
        assert_eq!(scalar_global("static uint16_t g_12 = 0x1AL;"), Some("g_12"));
        assert_eq!(scalar_global("static int32_t g_7[3] = {1, 2, 3};"), None);
        assert_eq!(scalar_global("static int32_t *g_8 = &g_7[1];"), None);
        assert_eq!(scalar_global("static const int32_t g_9 = 1;"), None);
        assert_eq!(scalar_global("static volatile int32_t g_9 = 1;"), None);
    }

    #[test]
    fn reads_before_the_computation() {
        let source = "static int8_t g_1 = 3;\nint main (int argc)\n{\n    func_1();\n}\n";
        let changed = perturb(source).expect("a global");
        assert!(changed.contains("{\n    g_1 ^= tarragon_next();\n    func_1();\n}"), "{changed}");
    }
}
