//! One session of a campaign, as a process whose events are read.

use std::io::{BufReader, Read as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use fastrand::Rng;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use serde_json::Value;

use super::announced::Event;
use super::harm::{Disk, Harm, Spoilt, limit_files, spoil};
use super::victim::{TIMEOUT, Victim};

/// What all sessions of a campaign have in common.
pub(super) struct Setting {
    strategy: &'static str,
    has_seeds: bool,
    seed: u64,
    /// Of sessions that are hit.
    milliseconds: u64,
}

impl Setting {
    pub fn random(rng: &mut Rng) -> Setting {
        Setting {
            strategy: ["whitebox", "whitebox", "auto", "mutate"][rng.usize(..4)],
            has_seeds: rng.bool(),
            seed: rng.u64(..1000),
            milliseconds: rng.u64(500..=1500),
        }
    }
}

/// A session that takes longer does not end.
const PATIENCE: Duration = Duration::from_secs(120);

/// The latest moment after the start.
const LATEST_MS: u64 = 2000;

pub(super) struct Session {
    child: Child,
    events: JoinHandle<Vec<Event>>,
    errors: JoinHandle<String>,
}

/// What a session left behind.
pub(super) struct Ended {
    pub events: Vec<Event>,
    pub errors: String,
    /// `None` if it did not end.
    pub status: Option<ExitStatus>,
}

impl Session {
    pub fn start(
        victim: &Victim,
        setting: &Setting,
        out: &Path,
        resumes: bool,
        is_last: bool,
    ) -> Result<Session, String> {
        let mut command = victim.tarragon("fuzz")?;
        command.args(["--json", "--lcov", "off", "--timeout", TIMEOUT, "--out"]).arg(out);
        command.args(["--strategy", setting.strategy, "--seed", &setting.seed.to_string()]);
        // The last one has time to run everything that others left.
        let time = if is_last { 60_000 } else { setting.milliseconds };
        command.args(["--time", &format!("{time}ms")]);
        command.args(if is_last { &["--max-runs", "150"][..] } else { &[] });
        command.args(if setting.has_seeds { &["--seeds", "seeds"][..] } else { &[] });
        command.args(resumes.then_some("--resume")).args(["--", "./victim"]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let mut child = command.spawn().map_err(|error| error.to_string())?;
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let out = out.to_owned();
        let events = std::thread::spawn(move || {
            stdout.map_or_else(Vec::new, |stdout| read_events(BufReader::new(stdout), &out))
        });
        let errors = std::thread::spawn(move || {
            let mut text = Vec::new();
            // What can be read is what there is.
            let _ = stderr.map(|mut stderr| stderr.read_to_end(&mut text));
            String::from_utf8_lossy(&text).into_owned()
        });
        Ok(Session { child, events, errors })
    }

    /// Waits for the moment, and does it. Returns the files that were touched.
    pub fn harm(
        &mut self,
        harm: &Harm,
        rng: &mut Rng,
        out: &Path,
        disk: Option<&Disk>,
    ) -> Result<Spoilt, String> {
        self.wait(Duration::from_millis(rng.u64(..LATEST_MS)))?;
        let mut spoilt = Spoilt::default();
        match harm {
            Harm::Kill => self.signal(Signal::KILL),
            Harm::KillAll => self.signal_all(Signal::KILL),
            Harm::StopAndKill => {
                self.signal(Signal::STOP);
                self.wait(Duration::from_millis(rng.u64(..200)))?;
                self.signal(Signal::KILL);
            }
            Harm::Interrupt(signal) => self.signal(*signal),
            Harm::InterruptTwice => {
                self.signal(Signal::INT);
                self.wait(Duration::from_millis(rng.u64(..50)))?;
                self.signal(Signal::INT);
            }
            Harm::Disk { fill: true, .. } => _ = disk.map(Disk::fill),
            Harm::Disk { fill: false, .. } => {}
            Harm::FileLimit(bytes) => limit_files(self.pid(), *bytes),
            Harm::Spoil { kills } => {
                spoilt = self.while_stopped(|| spoil(out, rng));
                if *kills {
                    self.wait(Duration::from_millis(500))?;
                    self.signal(Signal::KILL);
                }
            }
        }
        Ok(spoilt)
    }

    /// The campaign writes nothing meanwhile, so that it is known what is touched.
    fn while_stopped(&mut self, act: impl FnOnce() -> Spoilt) -> Spoilt {
        self.signal(Signal::STOP);
        let until = Instant::now() + Duration::from_secs(10);
        while !self.is_stopped() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(1));
        }
        let spoilt = act();
        self.signal(Signal::CONT);
        spoilt
    }

    /// Stopped or at its end.
    fn is_stopped(&self) -> bool {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id()));
        let state = |stat: String| stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
        stat.map_or(true, |stat| state(stat).is_none_or(|state| "TtZX".contains(state)))
    }

    /// Sleeps, at most until the process ends.
    fn wait(&mut self, time: Duration) -> Result<(), String> {
        let until = Instant::now() + time;
        while Instant::now() < until {
            if self.child.try_wait().map_err(|error| error.to_string())?.is_some() {
                break;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        Ok(())
    }

    fn pid(&self) -> Option<Pid> {
        Pid::from_raw(self.child.id() as i32)
    }

    // A process that has ended is not there to get a signal.
    fn signal(&self, signal: Signal) {
        let _ = self.pid().map(|pid| kill_process(pid, signal));
    }

    fn signal_all(&self, signal: Signal) {
        let _ = self.pid().map(|pid| kill_process_group(pid, signal));
    }

    pub fn end(mut self) -> Result<Ended, String> {
        self.wait(PATIENCE)?;
        let status = self.child.try_wait().map_err(|error| error.to_string())?;
        if status.is_none() {
            self.signal_all(Signal::KILL);
            self.child.wait().map_err(|error| error.to_string())?;
        }
        let events = self.events.join().map_err(|_| "the reader of events panicked".to_owned())?;
        let errors = self.errors.join().map_err(|_| "the reader of errors panicked".to_owned())?;
        Ok(Ended { events, errors, status })
    }
}

/// Reads what is printed, and the inputs that it names the moment it names them.
fn read_events(lines: impl std::io::BufRead, out: &Path) -> Vec<Event> {
    let complete = lines.split(b'\n').map_while(Result::ok);
    let values = complete.filter_map(|line| serde_json::from_slice(&line).ok());
    let event = |value: Value| {
        let file = value["file"].as_str().filter(|_| value["event"] == "input");
        let path: Option<PathBuf> = file.map(|file| out.join(file));
        Event { contents: path.and_then(|path| std::fs::read(path).ok()), value }
    };
    values.map(event).collect()
}

impl Ended {
    /// The last event of a session that ended well.
    pub fn report(&self) -> Option<&Value> {
        self.events.iter().map(|event| &event.value).find(|event| event["event"] == "end")
    }

    /// What it had to say about the directory that it met.
    pub fn notes(&self) -> Vec<&str> {
        let events = self.events.iter().filter(|event| event.value["event"] == "note");
        events.filter_map(|event| event.value["text"].as_str()).collect()
    }

    pub fn log(&self) -> String {
        let mut log = format!("  ended: {:?}\n", self.status);
        for Event { value, .. } in &self.events {
            let word = |key: &str| value[key].as_str().unwrap_or_default();
            let words = ["event", "what", "text", "file", "was", "stopped"].map(word);
            if word("event") != "progress" {
                log += &format!("    {}\n", words.join(" "));
            }
        }
        log + &self.errors
    }
}
