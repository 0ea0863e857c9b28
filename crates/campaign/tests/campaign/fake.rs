//! A program without a process, and a campaign around it.

use std::cell::RefCell;
use std::io::{self, Write};
use std::path::Path;
use std::rc::Rc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use campaign::{About, Campaign, CampaignEnd, DirError, Display, DisplayMode, Hangs, OutputDir};
use search::{ExecError, Execution, Executor, Limits, Mutate, Outcome, Seed};
use sites::{Site, SiteKind, SiteTable};
use solver::{Chain, ChainOptions};

pub const PROGRAM: &str = "./fake";

/// Covers one outcome for each of the first three bytes it likes; crashes on `!`, hangs on `?`.
#[derive(Default)]
pub struct Fake;

impl Executor for Fake {
    fn run(&mut self, input: &[u8], _symbolic: bool) -> Result<Execution, ExecError> {
        let outcome = match input.first() {
            Some(b'!') => Outcome::Signal(11),
            Some(b'?') => Outcome::Timeout,
            _ => Outcome::Exit(0),
        };
        let first = input.first().copied().unwrap_or(0);
        let covered = vec![u32::from(first > b'a'), 2 + u32::from(input.len() > 2)];
        let stderr = b"something is wrong".to_vec();
        let (run_time, cpu_time) = (Duration::ZERO, Duration::ZERO);
        Ok(Execution {
            outcome,
            covered,
            counts: vec![1; 2],
            trace: None,
            bad_trace: None,
            run_time,
            cpu_time,
            stderr,
        })
    }
}

pub fn sites() -> SiteTable {
    let branch = |coverage| Site { kind: SiteKind::Branch { coverage }, ..Site::default() };
    SiteTable {
        sites: vec![Site::default(), branch(0), branch(2)],
        outcomes: 4,
        ..SiteTable::default()
    }
}

/// What a display wrote.
#[derive(Clone, Default)]
pub struct Screen(pub Rc<RefCell<Vec<u8>>>);

impl Write for Screen {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Screen {
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.borrow()).into_owned()
    }
}

/// A session of 500 runs of `mutate`.
pub fn session(dir: &Path, resume: bool, seeds: &[&[u8]]) -> Result<CampaignEnd, DirError> {
    session_on(dir, resume, seeds, Display::new(DisplayMode::Quiet, Box::new(io::sink())))
}

pub fn session_on(
    dir: &Path,
    resume: bool,
    seeds: &[&[u8]],
    display: Display,
) -> Result<CampaignEnd, DirError> {
    Ok(session_in(OutputDir::open(dir, PROGRAM, resume)?, seeds, display))
}

pub fn session_in(output: OutputDir, seeds: &[&[u8]], display: Display) -> CampaignEnd {
    let campaign = Campaign {
        bugs: None,
        executor: &mut Fake,
        solver: &mut Chain::standard(ChainOptions::default()),
        sites: &sites(),
        output,
        display,
        stop: &AtomicBool::new(false),
        layout: None,
        shrinker: None,
        limits: Limits { time: None, runs: Some(500), max_len: 8 },
        about: About {
            program: PROGRAM.to_owned(),
            strategy: "mutate".to_owned(),
            ..About::default()
        },
        hangs: Hangs::Apart,
        covered: None,
    };
    let seeds = seeds.iter().map(|&input| Seed { name: "given".to_owned(), input: input.to_vec() });
    campaign.run(&mut Mutate::default(), seeds.collect())
}
