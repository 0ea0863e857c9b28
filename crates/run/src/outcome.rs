//! How a run ended.

use std::fmt;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    Exit(i32),
    Signal(i32),
    /// Killed at the time limit.
    Timeout,
    /// Best effort: killed by the kernel for want of memory, or by a signal near the memory limit.
    OutOfMemory,
}

impl Outcome {
    /// Whether the program broke: a signal, no mere exit code, and none that it was sent.
    pub fn is_crash(self) -> bool {
        matches!(self, Outcome::Signal(_)) && !self.was_sent()
    }

    /// Whether it is a signal that no mistake brings about: somebody sends it, such as a script
    /// that kills itself, or a timer.
    pub fn was_sent(self) -> bool {
        // SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGTERM, SIGVTALRM, SIGPROF, SIGIO,
        // SIGPWR.
        matches!(self, Outcome::Signal(1 | 2 | 3 | 10 | 12 | 14 | 15 | 26 | 27 | 29 | 30))
    }
}

/// The one text form: in reports, in the names of bugs and in messages.
impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outcome::Exit(code) => write!(f, "exit {code}"),
            Outcome::Signal(number) => match signal_name(*number) {
                Some(name) => f.write_str(name),
                None => write!(f, "signal {number}"),
            },
            Outcome::Timeout => f.write_str("timeout"),
            Outcome::OutOfMemory => f.write_str("out of memory"),
        }
    }
}

/// Names of the signals that programs usually die of.
fn signal_name(number: i32) -> Option<&'static str> {
    Some(match number {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        5 => "SIGTRAP",
        6 => "SIGABRT",
        7 => "SIGBUS",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        14 => "SIGALRM",
        15 => "SIGTERM",
        24 => "SIGXCPU",
        25 => "SIGXFSZ",
        31 => "SIGSYS",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_have_one_text_form() {
        let texts = [
            (Outcome::Exit(3), "exit 3"),
            (Outcome::Signal(11), "SIGSEGV"),
            (Outcome::Signal(40), "signal 40"),
            (Outcome::Timeout, "timeout"),
            (Outcome::OutOfMemory, "out of memory"),
        ];
        for (outcome, text) in texts {
            assert_eq!(outcome.to_string(), text);
        }
    }

    #[test]
    fn only_signals_are_crashes() {
        assert!(Outcome::Signal(6).is_crash() && Outcome::Signal(13).is_crash());
        let terminated = Outcome::Signal(15);
        assert!(terminated.was_sent());
        for outcome in [Outcome::Exit(1), Outcome::Timeout, Outcome::OutOfMemory, terminated] {
            assert!(!outcome.is_crash(), "{outcome}");
        }
    }
}
