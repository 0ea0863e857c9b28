//! Names places in reports of sanitizers: functions and source lines in the place of addresses.
//!
//! A program that names them itself starts a symbolizer in each run that reports, which takes a
//! quarter of a second. Here one process of LLVM's symbolizer serves a whole campaign, and each
//! address is asked about once. Without that program reports stay as they are.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use trace::replaced_name;

/// Debian's name, and those of other systems.
const PROGRAMS: [&str; 3] =
    ["llvm-symbolizer-22", "/usr/lib/llvm-22/bin/llvm-symbolizer", "llvm-symbolizer"];

/// Function and place, the innermost of inlined ones first.
type Frames = Vec<(String, String)>;

#[derive(Default)]
pub struct Symbolizer {
    process: Option<Process>,
    /// There is none, or it has failed.
    missing: bool,
    known: HashMap<(String, String), Frames>,
    asked: u64,
}

impl Symbolizer {
    /// How often the symbolizer was asked.
    pub fn asked(&self) -> u64 {
        self.asked
    }

    /// The text with names in frames that had addresses only.
    pub fn name_places(&mut self, report: &[u8]) -> Vec<u8> {
        let text = String::from_utf8_lossy(report);
        if !text.lines().any(|line| Address::of_frame(line).is_some()) {
            return report.to_vec();
        }
        let mut named = String::with_capacity(text.len());
        let mut number = 0;
        for line in text.lines() {
            match Address::of_frame(line) {
                Some(address) => self.write_frames(&mut named, line, &address, &mut number),
                None => named += line,
            }
            named.push('\n');
        }
        named.into_bytes()
    }

    /// A frame becomes several where functions were inlined, so they are numbered anew.
    fn write_frames(&mut self, to: &mut String, line: &str, address: &Address, number: &mut u32) {
        if address.number == 0 {
            *number = 0;
        }
        let frames = self.frames(address);
        if frames.is_empty() {
            *to += &line.replacen(&format!("#{}", address.number), &format!("#{number}"), 1);
            *number += 1;
            return;
        }
        for (i, (function, place)) in frames.iter().enumerate() {
            let end = if i == 0 { "" } else { "\n" };
            *to += &format!("{end}    #{number} {} in {function} {place}", address.absolute);
            *number += 1;
        }
    }

    fn frames(&mut self, address: &Address) -> &Frames {
        let key = (address.module.to_owned(), address.offset.to_owned());
        if !self.known.contains_key(&key) {
            let frames = self.ask(address);
            self.known.insert(key.clone(), frames);
        }
        &self.known[&key]
    }

    fn ask(&mut self, address: &Address) -> Frames {
        if self.process.is_none() && !self.missing {
            self.process = PROGRAMS.iter().find_map(|program| Process::start(program));
        }
        self.asked += 1;
        let answer = self.process.as_mut().and_then(|process| process.ask(address));
        if answer.is_none() {
            self.process = None;
            self.missing = true;
        }
        let module = format!("({}+{})", address.module, address.offset);
        let frames =
            answer.unwrap_or_default().into_iter().filter(|(function, _)| function != "??");
        let place = |place: String| if is_vague(&place) { module.clone() } else { place };
        frames.map(|(function, at)| (replaced_name(&function).to_owned(), place(at))).collect()
    }
}

/// Without debug information only the name of a file may be known, and not surely. With it, code
/// that the optimiser made of several lines has a file that is sure, and no line.
fn is_vague(place: &str) -> bool {
    place.starts_with("??") || place.ends_with(":0:0") && !place.starts_with('/')
}

/// `    #1 0x55d0 (/path/of/program+0x12ab) (BuildId: …)`
struct Address<'a> {
    number: u32,
    absolute: &'a str,
    module: &'a str,
    offset: &'a str,
}

impl Address<'_> {
    fn of_frame(line: &str) -> Option<Address<'_>> {
        let (number, rest) = line.trim_start().strip_prefix('#')?.split_once(' ')?;
        let (absolute, rest) = rest.trim_start().split_once(' ')?;
        let inner = rest.trim_start().strip_prefix('(')?;
        let inner = inner.split_once(')')?.0;
        let (module, offset) = inner.rsplit_once('+')?;
        let number = number.parse().ok()?;
        // The program wrote this: other files than regular ones may never answer.
        let is_file = Path::new(module).is_file() && !module.contains('"');
        (is_file && offset.starts_with("0x")).then_some(Address {
            number,
            absolute,
            module,
            offset,
        })
    }
}

/// A running `llvm-symbolizer`.
struct Process {
    child: Child,
    questions: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Process {
    fn start(program: &str) -> Option<Process> {
        let mut command = Command::new(program);
        command.args(["--inlines", "--demangle"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        command.env_remove("DEBUGINFOD_URLS");
        let mut child = command.spawn().ok()?;
        let questions = child.stdin.take()?;
        let answers = BufReader::new(child.stdout.take()?);
        Some(Process { child, questions, answers })
    }

    /// `None` if the process is gone.
    fn ask(&mut self, address: &Address) -> Option<Frames> {
        writeln!(self.questions, "CODE \"{}\" {}", address.module, address.offset).ok()?;
        self.questions.flush().ok()?;
        let mut frames = Frames::new();
        loop {
            let function = self.line()?;
            if function.is_empty() {
                return Some(frames);
            }
            frames.push((function, self.line()?));
        }
    }

    fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        let read = self.answers.read_line(&mut line).ok()?;
        (read > 0).then(|| line.trim_end().to_owned())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Its work is done, whatever it says.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A report as the sanitizers write it, about two functions of this very program.
    fn report(number: u32) -> String {
        let program = std::env::current_exe().unwrap();
        let program = program.display();
        format!(
            "a.c:1:2: runtime error: {number}\n    #0 0x55d0{number:04}  ({program}+0x1) \
             (BuildId: 12)\n    \
             #1 0x55d1{number:04}  ({program}+0x2) (BuildId: 12)\n    #2 0x7f00  \
             (/no/such/file+0x3)\n\n\
             SUMMARY: UndefinedBehaviorSanitizer: undefined-behavior a.c:1:2 \n"
        )
    }

    #[test]
    fn a_mistake_that_every_run_shows_is_asked_about_once() {
        let mut symbolizer = Symbolizer::default();
        for number in 0..100 {
            let named =
                String::from_utf8(symbolizer.name_places(report(number).as_bytes())).unwrap();
            // An address has a line for each function that is inlined there.
            assert!(named.lines().count() >= report(number).lines().count(), "{named}");
        }
        assert_eq!(symbolizer.asked(), 2);
    }

    #[test]
    fn inlined_functions_get_frames_of_their_own() {
        let mut symbolizer = Symbolizer { missing: true, ..Symbolizer::default() };
        let frames = [("inner", "a.c:1:2"), ("outer", "a.c:3:4")];
        let frames = frames.map(|(function, place)| (function.to_owned(), place.to_owned()));
        let program = std::env::current_exe().unwrap().display().to_string();
        symbolizer.known.insert((program.clone(), "0x1".to_owned()), frames.to_vec());
        let text = format!("    #0 0x55  ({program}+0x1)\n    #1 0x66  ({program}+0x2)\nSUMMARY\n");
        let named = String::from_utf8(symbolizer.name_places(text.as_bytes())).unwrap();
        assert_eq!(
            named,
            format!(
                "    #0 0x55 in inner a.c:1:2\n    #1 0x55 in outer a.c:3:4\n    \
                 #2 0x66  ({program}+0x2)\nSUMMARY\n"
            )
        );
    }

    #[test]
    fn code_without_a_line_is_still_of_its_file() {
        assert!(!is_vague("/src/a.c:0:0") && !is_vague("/src/a.c:7:3"));
        assert!(is_vague("??:0:0") && is_vague("a.c:0:0"));
    }

    #[test]
    fn other_text_stays() {
        let text = b"#1 is the best (of all)\n\xff#2 0x1 (/dev/null+0x1)\n";
        assert_eq!(Symbolizer::default().name_places(text), text);
    }
}
