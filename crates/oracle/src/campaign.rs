//! The oracle of campaigns: bad things happen to one at a random moment, and nothing that it
//! announced is missing afterwards.
//!
//! A *trial* is a few sessions of one campaign. Each but the last is hit at a random *moment*:
//! killed, interrupted, its disk is full, its files are deleted or damaged. After each session all
//! that was announced up to then is looked for on disk. Whether an input shows a bug is asked of a
//! build of the program that tells so itself, never of Tarragon. What the oracle itself deleted or
//! damaged is not looked for.

mod announced;
mod harm;
mod judge;
mod session;
mod victim;

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use fastrand::Rng;

use crate::Finding;
use announced::Announced;
use harm::{Disk, Harm};
use session::{Session, Setting};
pub use victim::Victim;

#[derive(Clone, Debug, Default)]
pub struct Summary {
    pub trials: u64,
    /// At which something bad happened.
    pub moments: u64,
    pub sessions: u64,
    /// Finds and inputs that were announced, in all sessions.
    pub finds: u64,
    pub inputs: u64,
    /// Files that the oracle deleted or damaged.
    pub harmed: u64,
    pub triages: u64,
    /// Trials that could not have a disk of their own.
    pub without_disk: u64,
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Summary { trials, moments, sessions, finds, inputs, harmed, triages, without_disk } =
            self;
        write!(
            f,
            "campaign: {trials} trials, {moments} moments, {sessions} sessions, {finds} finds and \
             {inputs} inputs announced, {harmed} files harmed, {triages} triages, {without_disk} \
             trials \
             without a disk"
        )
    }
}

/// What is wrong with a trial.
#[derive(Clone, Debug)]
pub struct Fault {
    pub seed: u64,
    pub finding: Finding,
    /// What was done to the campaign, and what it printed.
    pub log: String,
}

/// Judges the trials of some seeds, a few at once.
pub fn judge(
    victim: &Victim,
    seeds: Range<u64>,
    at_once: usize,
    summary: &mut Summary,
) -> Result<Vec<Fault>, String> {
    let next = Mutex::new(seeds);
    let take = || next.lock().ok().and_then(|mut seeds| seeds.next());
    let work = || -> Result<(Vec<Fault>, Summary), String> {
        let (mut faults, mut summary) = (Vec::new(), Summary::default());
        while let Some(seed) = take() {
            faults.extend(Trial::new(victim, seed)?.judge(&mut summary)?);
        }
        Ok((faults, summary))
    };
    let mut faults = Vec::new();
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..at_once).map(|_| scope.spawn(work)).collect();
        for worker in workers {
            let (found, counts) = worker.join().map_err(|_| "a worker panicked".to_owned())??;
            faults.extend(found);
            summary.add(&counts);
        }
        Ok::<(), String>(())
    })?;
    faults.sort_by_key(|fault| fault.seed);
    Ok(faults)
}

impl Summary {
    fn add(&mut self, other: &Summary) {
        self.trials += other.trials;
        self.moments += other.moments;
        self.sessions += other.sessions;
        self.finds += other.finds;
        self.inputs += other.inputs;
        self.harmed += other.harmed;
        self.triages += other.triages;
        self.without_disk += other.without_disk;
    }
}

/// A campaign to which bad things happen.
struct Trial<'v> {
    victim: &'v Victim,
    seed: u64,
    rng: Rng,
    folder: tempfile::TempDir,
    announced: Announced,
    log: String,
    findings: Vec<Finding>,
}

/// One trial in so many asks `tarragon triage` in the end.
const TRIAGE: u64 = 10;

impl<'v> Trial<'v> {
    fn new(victim: &'v Victim, seed: u64) -> Result<Trial<'v>, String> {
        let folder = tempfile::TempDir::new().map_err(|error| error.to_string())?;
        Ok(Trial {
            victim,
            seed,
            rng: Rng::with_seed(seed),
            folder,
            announced: Announced::default(),
            log: String::new(),
            findings: Vec::new(),
        })
    }

    fn judge(mut self, summary: &mut Summary) -> Result<Vec<Fault>, String> {
        let harms: Vec<Harm> =
            (0..self.rng.usize(1..=2)).map(|_| Harm::random(&mut self.rng)).collect();
        let disk = self.disk(&harms, summary);
        let out = disk.as_ref().map_or(self.folder.path(), Disk::path).join("out");
        let setting = Setting::random(&mut self.rng);
        for harm in harms {
            self.session(&setting, &out, Some(&harm), disk.as_ref(), summary)?;
        }
        if let Some(disk) = &disk {
            disk.make_room()?;
        }
        if self.rng.bool() {
            summary.moments += 1;
            self.harm_between(&out);
        }
        self.session(&setting, &out, None, None, summary)?;
        if self.seed.is_multiple_of(TRIAGE) {
            self.triage(&out, summary)?;
        }
        summary.trials += 1;
        summary.harmed += self.announced.harmed_files();
        let Trial { seed, log, findings, .. } = self;
        Ok(findings.into_iter().map(|finding| Fault { seed, finding, log: log.clone() }).collect())
    }

    /// A small disk, if one is to fill up.
    fn disk(&mut self, harms: &[Harm], summary: &mut Summary) -> Option<Disk> {
        let limit = harms.iter().find_map(Harm::disk)?;
        let disk = Disk::mount(&self.folder.path().join("disk"), limit);
        summary.without_disk += u64::from(disk.is_none());
        disk
    }

    fn session(
        &mut self,
        setting: &Setting,
        out: &Path,
        harm: Option<&Harm>,
        disk: Option<&Disk>,
        summary: &mut Summary,
    ) -> Result<(), String> {
        let expected = judge::expected_notes(out, &self.announced);
        let (known, resumes) = (self.announced.plants(), out.is_dir());
        let mut session = Session::start(self.victim, setting, out, resumes, harm.is_none())?;
        self.log += &format!("session, harm {harm:?}\n");
        if let Some(harm) = harm {
            summary.moments += 1;
            let done = session.harm(harm, &mut self.rng, out, disk)?;
            self.log += &format!("  {done:?}\n");
            self.announced.harmed(done);
        }
        let ended = session.end()?;
        self.log += &ended.log();
        summary.sessions += 1;
        for event in &ended.events {
            let told = self.announced.tell(event);
            summary.finds += u64::from(told.is_find);
            summary.inputs += u64::from(told.is_input);
            self.findings.extend(told.finding);
        }
        self.announced.end_session();
        self.findings.extend(judge::ending(&ended, harm, disk.is_some(), &expected));
        self.findings.extend(judge::files(self.victim, out, &self.announced)?);
        if harm.is_none() {
            self.findings.extend(judge::report(&ended, &known, out));
        }
        Ok(())
    }

    /// Files are deleted or damaged while nobody looks.
    fn harm_between(&mut self, out: &Path) {
        let done = harm::spoil(out, &mut self.rng);
        self.log += &format!("between sessions {done:?}\n");
        self.announced.harmed(done);
        self.announced.end_session();
    }

    fn triage(&mut self, out: &Path, summary: &mut Summary) -> Result<(), String> {
        summary.triages += 1;
        self.findings.extend(judge::triage(self.victim.triage(out)?, &self.announced));
        Ok(())
    }
}

impl Fault {
    /// Writes down what happened.
    pub fn write(&self, folder: &Path) -> std::io::Result<PathBuf> {
        std::fs::create_dir_all(folder)?;
        let file = folder.join(format!("campaign-{}.txt", self.seed));
        std::fs::write(&file, format!("{}\n\n{}", self.finding, self.log))?;
        Ok(file)
    }
}
