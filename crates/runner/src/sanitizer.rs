//! What sanitizers print: the kind of a report and the frames of its stack.
//!
//! Only text is read here; the caller sees to it that it is not the program's.

/// A report of AddressSanitizer, LeakSanitizer, UndefinedBehaviorSanitizer, or the variant's own
/// checks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SanitizerReport {
    pub kind: String,
    /// Whether the run ended with it.
    pub fatal: bool,
    /// Of the first stack in the report, the innermost first.
    pub frames: Vec<SanitizerFrame>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SanitizerFrame {
    pub function: String,
    /// File, line and column, or module and offset.
    pub place: String,
}

impl SanitizerFrame {
    fn has_source(&self) -> bool {
        self.place.contains(':')
    }

    /// Libraries have no source, or one that is not here: theirs was built elsewhere, or is a
    /// header of the system.
    fn is_of_program(&self) -> bool {
        self.has_source() && self.place.starts_with('/') && !self.place.starts_with("/usr/")
    }
}

/// What the sanitized variant prints before each stack of a run that is sampled.
const SAMPLE: &str = "==Tarragon: sample";

/// Options for programs that are built with AddressSanitizer: every report ends the run, deadly
/// signals are reported with their stacks, also if the program has a handler for them (2), as most
/// handlers do no more than that. Places are named by a [`crate::Symbolizer`], since starting one
/// takes longer than most runs. Whether leaks are looked for is for the caller to add.
pub const SANITIZER_OPTIONS: (&str, &str) = (
    "ASAN_OPTIONS",
    "abort_on_error=1:halt_on_error=1:symbolize=0:handle_segv=2:handle_sigbus=2:handle_abort=2:\
     handle_sigfpe=2:handle_sigill=2:handle_sigtrap=2:\
     max_allocation_size_mb=2048:print_legend=0:print_full_thread_history=0",
);

/// Options for UndefinedBehaviorSanitizer: a report has a stack and names its kind, and the run
/// goes on.
pub const UNDEFINED_OPTIONS: (&str, &str) =
    ("UBSAN_OPTIONS", "print_stacktrace=1:report_error_type=1:halt_on_error=0:symbolize=0");

/// Functions that end the program, or report, on behalf of their callers. They say nothing about
/// the cause.
const ENDING: [&str; 16] = [
    "__sanitizer_print_stack_trace",
    "__tarragon_report",
    "__tarragon_violated",
    "__tarragon_format",
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
    /// The reports in what a program wrote to its standard error: any number that it survived, and
    /// one that it did not. One that it survived at the place where it then ended is the same
    /// mistake.
    pub fn parse(stderr: &[u8]) -> Vec<SanitizerReport> {
        let text = String::from_utf8_lossy(stderr);
        let mut lines = text.lines();
        let mut reports: Vec<SanitizerReport> = Vec::new();
        while let Some(title) = lines.by_ref().find_map(title) {
            let frames = lines.clone().skip_while(|line| frame(line).is_none()).map_while(frame);
            let frames: Vec<SanitizerFrame> = frames.collect();
            // Interpreters have run-time errors of their own, which come without a summary.
            let Some(kind) = title.kind(lines.clone()) else { continue };
            let kind = if kind == "ABRT" { way_to_abort(&frames).to_owned() } else { kind };
            reports.push(SanitizerReport { kind, fatal: title.is_fatal(), frames: causes(frames) });
            if title.is_fatal() {
                break;
            }
        }
        if let Some(mut last) = reports.pop_if(|last| last.fatal) {
            let is_same =
                |report: &SanitizerReport| report.line() == last.line() && report.line().is_some();
            let (same, mut others): (Vec<_>, Vec<_>) = reports.into_iter().partition(is_same);
            if let Some(survived) = same.into_iter().next_back().filter(|_| last.kind == "FPE") {
                // The signal is one for every division that fails.
                last.kind = survived.kind;
            }
            others.push(last);
            return others;
        }
        reports
    }

    /// Function and source line of the innermost frame.
    fn line(&self) -> Option<(&str, &str)> {
        let frame = self.frames.first().filter(|frame| frame.has_source())?;
        let mut parts = frame.place.splitn(3, ':');
        let file = parts.next()?.len();
        let line = parts.next()?.len();
        Some((&frame.function, &frame.place[..file + 1 + line]))
    }

    /// What a run printed before it was sampled.
    pub fn before_samples(stderr: &[u8]) -> &[u8] {
        let at = stderr.windows(SAMPLE.len()).position(|text| text == SAMPLE.as_bytes());
        &stderr[..at.unwrap_or(stderr.len())]
    }

    /// The stacks of a run that was sampled, each with the frames of the program only, the
    /// outermost first.
    pub fn samples(stderr: &[u8]) -> Vec<Vec<SanitizerFrame>> {
        let text = String::from_utf8_lossy(stderr);
        let stacks = text.split(SAMPLE).skip(1).map(|sample| {
            let lines = sample.lines().skip_while(|line| frame(line).is_none());
            let mut frames: Vec<SanitizerFrame> = lines.map_while(frame).collect();
            match frames.iter().any(SanitizerFrame::is_of_program) {
                true => frames.retain(SanitizerFrame::is_of_program),
                false => frames.retain(SanitizerFrame::has_source),
            }
            frames.reverse();
            frames
        });
        stacks.filter(|frames| !frames.is_empty()).collect()
    }

    /// Where the threads of a run are that was asked for all of them: the function of a library in
    /// which each is, and the frames of the program that called it, the innermost first.
    pub fn threads(stderr: &[u8]) -> Vec<(String, Vec<SanitizerFrame>)> {
        let text = String::from_utf8_lossy(stderr);
        let threads = text.split(SAMPLE).skip(1).filter_map(|sample| {
            let lines = sample.lines().skip_while(|line| frame(line).is_none());
            let mut frames: Vec<SanitizerFrame> = lines.map_while(frame).collect();
            let first = frames.iter().position(SanitizerFrame::is_of_program)?;
            let called = frames[..first].last().map_or("", |frame| frame.function.as_str());
            let called = called.rsplit("interceptor_").next().unwrap_or(called);
            let called = called.trim_start_matches('_').to_owned();
            frames.drain(..first);
            frames.retain(SanitizerFrame::is_of_program);
            Some((called, frames))
        });
        threads.collect()
    }
}

/// Without the innermost frames that say nothing about the cause: those of [`ENDING`], and those of
/// libraries, such as the sanitizer's own `malloc` and `strlen`, if there is something of the
/// program further out.
fn causes(mut frames: Vec<SanitizerFrame>) -> Vec<SanitizerFrame> {
    let is_ending = |frame: &&SanitizerFrame| ENDING.contains(&frame.function.as_str());
    frames.drain(..frames.iter().take_while(is_ending).count());
    let of_program = frames.iter().position(SanitizerFrame::is_of_program);
    if let Some(first) = of_program.or_else(|| frames.iter().position(SanitizerFrame::has_source)) {
        frames.drain(..first);
    }
    frames
}

/// What a program aborts by, as far as its stack tells: assertions and exceptions are causes where
/// they are, `abort` is called in helpers on behalf of others.
fn way_to_abort(frames: &[SanitizerFrame]) -> &'static str {
    let inner = frames.iter().take_while(|frame| !frame.is_of_program());
    let mut functions = inner.map(|frame| frame.function.as_str());
    let way = functions.find_map(|function| match function {
        "__assert_fail" | "__assert_perror_fail" => Some("failed-assertion"),
        "__cxa_throw" | "__cxa_rethrow" | "std::terminate()" => Some("uncaught-exception"),
        _ => None,
    });
    way.unwrap_or("ABRT")
}

/// How a report begins.
enum Title<'a> {
    /// Of AddressSanitizer or LeakSanitizer.
    Fatal(&'a str),
    /// Of a check of the variant's own.
    Own(&'a str),
    /// Of UndefinedBehaviorSanitizer, which names the kind at the end.
    Undefined,
}

impl Title<'_> {
    fn is_fatal(&self) -> bool {
        matches!(self, Title::Fatal(_))
    }

    /// `None` if the program wrote what only begins like a report.
    fn kind<'t>(&self, below: impl Iterator<Item = &'t str>) -> Option<String> {
        match self {
            Title::Fatal(title) | Title::Own(title) => Some(kind(title)),
            Title::Undefined => {
                let mut own = below.take_while(|line| title(line).is_none());
                let summary = own.find_map(|line| line.strip_prefix(UNDEFINED_SUMMARY))?;
                Some(summary.split(' ').next().unwrap_or(summary).to_owned())
            }
        }
    }
}

const UNDEFINED_SUMMARY: &str = "SUMMARY: UndefinedBehaviorSanitizer: ";

fn title(line: &str) -> Option<Title<'_>> {
    if line.contains(": runtime error: ") {
        return Some(Title::Undefined);
    }
    let (_, rest) = line.strip_prefix("==")?.split_once("==ERROR: ")?;
    let fatal =
        rest.strip_prefix("AddressSanitizer: ").or_else(|| rest.strip_prefix("LeakSanitizer: "));
    fatal.map(Title::Fatal).or_else(|| rest.strip_prefix("Tarragon: ").map(Title::Own))
}

/// Without addresses and sizes, which differ from run to run.
fn kind(title: &str) -> String {
    if title.starts_with("requested allocation size") {
        return "allocation-size-too-big".to_owned();
    }
    if title.starts_with("detected memory leaks") {
        return "memory-leak".to_owned();
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

/// Names of C++ functions contain blanks, places seldom do: the place starts at the last blank
/// before a slash, or at the parenthesis around a module.
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

    fn the_report(text: &[u8]) -> SanitizerReport {
        let mut reports = SanitizerReport::parse(text);
        assert_eq!(reports.len(), 1);
        reports.remove(0)
    }

    #[test]
    fn a_program_goes_on_after_some_reports() {
        let text = b"==3==ERROR: Tarragon: signed-overflow\n    \
            #0 0x7f in __sanitizer_print_stack_trace (/p+0x1)\n    #1 0x55 in add /src/a.c:1:2\n\
            ==3==ERROR: Tarragon: shift-too-far\n    #0 0x55 in shift /src/a.c:3:4\n\
            ==3==ERROR: AddressSanitizer: SEGV on unknown address\n    #0 0x55 in main \
            /src/a.c:5:6\n";
        let reports = SanitizerReport::parse(text);
        let seen: Vec<_> =
            reports.iter().map(|r| (&r.kind[..], r.fatal, &r.frames[0].function[..])).collect();
        assert_eq!(
            seen,
            [
                ("signed-overflow", false, "add"),
                ("shift-too-far", false, "shift"),
                ("SEGV", true, "main")
            ]
        );
    }

    #[test]
    fn undefined_behaviour_names_its_kind_at_the_end() {
        let text = b"a.c:1:2: runtime error: division by zero\n    #0 0x55 in divide \
                     /src/a.c:1:2\n\n\
            SUMMARY: UndefinedBehaviorSanitizer: integer-divide-by-zero a.c:1:2 \n\
            a.c:9:9: runtime error: shift exponent 40 is too large\n    #0 0x55 in shift \
            /src/a.c:9:9\n\n\
            SUMMARY: UndefinedBehaviorSanitizer: invalid-shift-exponent a.c:9:9 \n";
        let kinds = |text: &[u8]| {
            let reports = SanitizerReport::parse(text).into_iter();
            reports.map(|report| (report.kind, report.fatal)).collect::<Vec<_>>()
        };
        let survived = [
            ("integer-divide-by-zero".to_owned(), false),
            ("invalid-shift-exponent".to_owned(), false),
        ];
        assert_eq!(kinds(text), survived);
        // The run then ends at the first of these places: one mistake, not two.
        let mut ended = text.to_vec();
        ended.extend(
            b"==3==ERROR: AddressSanitizer: FPE on unknown address\n    #0 0x55 in divide \
              /src/a.c:1:5\n",
        );
        assert_eq!(kinds(&ended), [survived[1].clone(), (survived[0].0.clone(), true)]);
    }

    #[test]
    fn run_time_errors_of_an_interpreter_are_its_own() {
        let text = b"line 1: runtime error: too many steps\n\
            a.c:1:2: runtime error: division by zero\n    #0 0x55 in divide /src/a.c:1:2\n\n\
            SUMMARY: UndefinedBehaviorSanitizer: integer-divide-by-zero a.c:1:2 \n\
            a.sp:1:2: runtime error: no such name\n";
        let kinds: Vec<String> = SanitizerReport::parse(text).into_iter().map(|r| r.kind).collect();
        assert_eq!(kinds, ["integer-divide-by-zero"]);
    }

    fn frames(report: &SanitizerReport) -> Vec<(&str, &str)> {
        report.frames.iter().map(|frame| (&frame.function[..], &frame.place[..])).collect()
    }

    #[test]
    fn overflow_with_source_places() {
        let text = b"reading\n\
            =================================================================\n\
            ==12==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x7b at pc 0x55 bp \
            0x7f sp 0x7e\n\
            WRITE of size 1 at 0x7b thread T0\n    \
            #0 0x558f in copy(char*, char const*) /src/over.c:4:62\n    \
            #1 0x558f in main /src/over.c:10:9\n    \
            #2 0x4f1b in _start (/src/over.asan+0x6abb0) (BuildId: 9ac8)\n\n\
            allocated by thread T0 here:\n    \
            #0 0x558f in malloc (/src/over.asan+0x10ff94)\n";
        let report = the_report(text);
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
            let report = the_report(text.as_bytes());
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
            b"==7==ERROR: AddressSanitizer: ABRT on unknown address 0x7 (pc 0x7f bp 0x4 sp 0x7f \
              T0)\n    \
            #0 0x7f in __pthread_kill_implementation nptl/pthread_kill.c:44:76\n    \
            #1 0x7f in abort stdlib/abort.c:79:7\n    \
            #2 0x55 in parse /src/parse.c:10:9\n";
        let report = the_report(text);
        assert_eq!(report.kind, "ABRT");
        assert_eq!(frames(&report), [("parse", "/src/parse.c:10:9")]);
    }

    #[test]
    fn programs_abort_for_different_reasons() {
        let kind = |by: &str| {
            let text = format!(
                "==7==ERROR: AddressSanitizer: ABRT on unknown address 0x7\n    \
                 #0 0x7f in abort stdlib/abort.c:79:7\n    #1 0x7f in {by} (/lib/libx.so+0x9)\n    \
                 #2 0x55 in parse /src/parse.c:10:9\n    #3 0x55 in __assert_fail /src/own.c:1:1\n"
            );
            the_report(text.as_bytes()).kind
        };
        assert_eq!(kind("__assert_fail"), "failed-assertion");
        assert_eq!(kind("std::terminate()"), "uncaught-exception");
        assert_eq!(kind("raise"), "ABRT");
    }

    #[test]
    fn libraries_are_not_the_cause() {
        let text =
            b"==7==ERROR: AddressSanitizer: SEGV on unknown address 0x7 (pc 0x7f bp 0x4 sp 0x7f \
              T0)\n    \
            #0 0x7f in __strlen_avx2 string/../sysdeps/x86_64/multiarch/strlen-avx2.S:76\n    \
            #1 0x7f in strlen (/src/p.asan+0x10ff94)\n    \
            #2 0x55 in length /usr/include/c++/12/bits/char_traits.h:395:9\n    \
            #3 0x55 in parse /src/parse.cc:10:9\n";
        assert_eq!(frames(&the_report(text)), [("parse", "/src/parse.cc:10:9")]);
    }

    #[test]
    fn samples_are_stacks_of_the_program() {
        let text = b"oops\n==Tarragon: sample\n    #0 0x1 in sample (/p+0x1)\n    #1 0x2 \
              (/lib/libc.so.6+0x2)\n    \
            #2 0x3 in run /src/a.c:7:3\n    #3 0x4 in main /src/a.c:20:1\n\n\
            ==Tarragon: sample\n    #0 0x1 in sample (/p+0x1)\n    #1 0x4 in main /src/a.c:21:1\n";
        let samples = SanitizerReport::samples(text);
        let names = |frames: &Vec<SanitizerFrame>| -> Vec<String> {
            frames.iter().map(|frame| frame.function.clone()).collect()
        };
        let names: Vec<_> = samples.iter().map(names).collect();
        assert_eq!(names, [vec!["main", "run"], vec!["main"]]);
    }

    #[test]
    fn other_text_is_no_report() {
        assert_eq!(SanitizerReport::parse(b"error: AddressSanitizer is a tool\n==1==\n"), []);
    }
}
