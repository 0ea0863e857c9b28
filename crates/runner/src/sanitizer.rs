//! What sanitizers print: the kind of a report and the frames of its stack.
//!
//! Only text is read here; that the program under test could print such a text itself is accepted.

/// A report of AddressSanitizer or LeakSanitizer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SanitizerReport {
    pub kind: String,
    /// Of the first stack in the report, the innermost first.
    pub frames: Vec<SanitizerFrame>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SanitizerFrame {
    pub function: String,
    /// File, line and column, or module and offset.
    pub place: String,
}

/// Options for programs that are built with AddressSanitizer: every report ends the run, deadly signals are reported
/// with their stacks, and leaks are not looked for.
pub const SANITIZER_OPTIONS: (&str, &str) = (
    "ASAN_OPTIONS",
    "abort_on_error=1:halt_on_error=1:detect_leaks=0:symbolize=1:handle_abort=1:handle_sigfpe=1:handle_sigill=1:\
     allocator_may_return_null=1:print_legend=0:print_full_thread_history=0",
);

/// Functions of the C library that end the program on behalf of their callers. They say nothing about the cause.
const ENDING: [&str; 12] = [
    "__pthread_kill_implementation",
    "__pthread_kill_internal",
    "__pthread_kill",
    "pthread_kill",
    "gsignal",
    "raise",
    "abort",
    "__assert_fail_base",
    "__assert_fail",
    "__libc_message",
    "__fortify_fail",
    "__stack_chk_fail",
];

impl SanitizerReport {
    /// The first report in what a program wrote to its standard error.
    pub fn parse(stderr: &[u8]) -> Option<SanitizerReport> {
        let text = String::from_utf8_lossy(stderr);
        let mut lines = text.lines().skip_while(|line| title(line).is_none());
        let kind = kind(title(lines.next()?)?);
        let frames = lines.skip_while(|line| frame(line).is_none()).map_while(frame);
        let frames = frames.skip_while(|frame| ENDING.contains(&frame.function.as_str())).collect();
        Some(SanitizerReport { kind, frames })
    }
}

fn title(line: &str) -> Option<&str> {
    let (_, rest) = line.strip_prefix("==")?.split_once("==ERROR: ")?;
    rest.strip_prefix("AddressSanitizer: ").or_else(|| rest.strip_prefix("LeakSanitizer: "))
}

/// Without addresses and sizes, which differ from run to run.
fn kind(title: &str) -> String {
    if title.starts_with("requested allocation size") {
        return "allocation-size-too-big".to_owned();
    }
    let end = [" on ", " in ", ": ", " ("].iter().filter_map(|end| title.find(end)).min();
    let words = &title[..end.unwrap_or(title.len())];
    words.strip_prefix("attempting ").unwrap_or(words).to_owned()
}

/// `    #0 0x4f2a in function place`
fn frame(line: &str) -> Option<SanitizerFrame> {
    let rest = line.trim_start().strip_prefix('#')?;
    let (number, rest) = rest.split_once(' ')?;
    number.parse::<u32>().ok()?;
    let (_, rest) = rest.trim_start().split_once(' ')?;
    let (function, place) = match rest.strip_prefix("in ") {
        Some(named) => split_place(named),
        None => ("?", rest),
    };
    let place = place.split(" (BuildId").next().unwrap_or(place).trim_matches(['(', ')']);
    Some(SanitizerFrame { function: function.to_owned(), place: place.to_owned() })
}

/// Names of C++ functions contain blanks, places seldom do: the place starts at the last blank before a slash, or at
/// the parenthesis around a module.
fn split_place(text: &str) -> (&str, &str) {
    let module = text.find(" (/");
    let file = || text.find(" /").or_else(|| text.rfind(' '));
    match module.or_else(file) {
        Some(at) => (&text[..at], &text[at + 1..]),
        None => (text, ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(report: &SanitizerReport) -> Vec<(&str, &str)> {
        report.frames.iter().map(|frame| (&frame.function[..], &frame.place[..])).collect()
    }

    #[test]
    fn overflow_with_source_places() {
        let text = b"reading\n\
            =================================================================\n\
            ==12==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x7b at pc 0x55 bp 0x7f sp 0x7e\n\
            WRITE of size 1 at 0x7b thread T0\n    \
            #0 0x558f in copy(char*, char const*) /src/over.c:4:62\n    \
            #1 0x558f in main /src/over.c:10:9\n    \
            #2 0x4f1b in _start (/src/over.asan+0x6abb0) (BuildId: 9ac8)\n\n\
            allocated by thread T0 here:\n    \
            #0 0x558f in malloc (/src/over.asan+0x10ff94)\n";
        let report = SanitizerReport::parse(text).unwrap();
        assert_eq!(report.kind, "heap-buffer-overflow");
        assert_eq!(
            frames(&report),
            [
                ("copy(char*, char const*)", "/src/over.c:4:62"),
                ("main", "/src/over.c:10:9"),
                ("_start", "/src/over.asan+0x6abb0")
            ]
        );
    }

    #[test]
    fn kinds_lose_what_differs_between_runs() {
        let kind = |title: &str| {
            let text = format!("==1==ERROR: AddressSanitizer: {title}\n    #0 0x1 (/p+0x2)\n");
            let report = SanitizerReport::parse(text.as_bytes()).unwrap();
            assert_eq!(frames(&report), [("?", "/p+0x2")]);
            report.kind
        };
        assert_eq!(kind("FPE on unknown address 0x55 (pc 0x55 bp 0x7f sp 0x7e T0)"), "FPE");
        assert_eq!(kind("attempting double-free on 0x60 in thread T0:"), "double-free");
        assert_eq!(kind("stack-overflow on address 0x7ffe"), "stack-overflow");
        assert_eq!(
            kind("requested allocation size 0xffff (0x1 after adjustments)"),
            "allocation-size-too-big"
        );
    }

    #[test]
    fn the_stack_starts_with_the_program() {
        let text =
            b"==7==ERROR: AddressSanitizer: ABRT on unknown address 0x7 (pc 0x7f bp 0x4 sp 0x7f T0)\n    \
            #0 0x7f in __pthread_kill_implementation nptl/pthread_kill.c:44:76\n    \
            #1 0x7f in abort stdlib/abort.c:79:7\n    \
            #2 0x55 in parse /src/parse.c:10:9\n";
        let report = SanitizerReport::parse(text).unwrap();
        assert_eq!(report.kind, "ABRT");
        assert_eq!(frames(&report), [("parse", "/src/parse.c:10:9")]);
    }

    #[test]
    fn other_text_is_no_report() {
        assert_eq!(SanitizerReport::parse(b"error: AddressSanitizer is a tool\n==1==\n"), None);
    }
}
