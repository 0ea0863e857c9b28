//! The output directory of a campaign.
//!
//! `corpus/`, `crashes/`, `hangs/` and `violations/` hold inputs and nothing else, so that other
//! tools can take them as they are. `parts/` holds the parts of inputs from several sources,
//! in folders of the inputs' names. `reports/` holds one text for each bug, hang and violation,
//! `stats.json` and `summary.txt` the results, `campaign.json` and `search.state` what a resumed
//! campaign must know. Every file appears complete or not at all: it is written beside its place
//! and then renamed.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::fs::{self, File, TryLockError};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};

use search::{Bug, BugKind, Entry, KeepBy, Offence, OutputError, SavedSearch, Violation};
use serde::{Deserialize, Serialize};
use sites::SiteTable;
use sources::Layout;

/// Directories that hold inputs.
pub(crate) const INPUT_DIRS: [&str; 4] = ["corpus", "crashes", "hangs", VIOLATIONS];
const VIOLATIONS: &str = "violations";
const REPORTS: &str = "reports";
const PARTS: &str = "parts";
const STATE: &str = "campaign.json";
const SEARCH: &str = "search.state";
const TEMPORARY: &str = ".writing";

/// Whether a campaign wrote here. Files get lost, so that most of what there should be is enough.
pub(crate) fn is_output_dir(dir: &Path) -> bool {
    let folders =
        INPUT_DIRS.iter().chain(&[REPORTS]).filter(|name| dir.join(name).is_dir()).count();
    folders + usize::from(dir.join(STATE).is_file()) >= MARKS
}

/// Whether a name in an output directory was given by a campaign to something that it needs.
fn is_ours(name: &str) -> bool {
    INPUT_DIRS.contains(&name) || [REPORTS, PARTS, STATE, SEARCH, TEMPORARY].contains(&name)
}

/// More than other tools' folders of results have in common with ours.
const MARKS: usize = 4;

#[derive(Debug, thiserror::Error)]
pub enum DirError {
    #[error("{}: is not empty; go on with it by --resume, or give another directory with \
             --out", .0.display())]
    NotEmpty(PathBuf),
    #[error("{}: is not the output of a campaign, so it cannot be resumed", .0.display())]
    NotACampaign(PathBuf),
    #[error("{}: there is no such directory, so no campaign to go on with; leave out --resume to \
             start one", .0.display())]
    NothingToResume(PathBuf),
    #[error("{}: is not a directory; give another place for the results with --out", .0.display())]
    NoDirectory(PathBuf),
    #[error("{}: belongs to a campaign on another program: {program}", .dir.display())]
    OtherProgram { dir: PathBuf, program: String },
    #[error("{}: another campaign is writing to it", .0.display())]
    InUse(PathBuf),
    #[error("{}", explained(.path, .error))]
    Io { path: PathBuf, error: io::Error },
    #[error(transparent)]
    Unwritable(#[from] OutputError),
}

impl DirError {
    fn io(path: &Path) -> impl FnOnce(io::Error) -> DirError {
        move |error| DirError::Io { path: path.to_owned(), error }
    }
}

/// What earlier sessions of the campaign did.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Resumption {
    pub program: String,
    pub sessions: u32,
    pub runs: u64,
    pub seconds: f64,
    /// That of the last session.
    #[serde(default)]
    pub strategy: Option<String>,
}

/// What has an input and a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum FindId {
    Bug(u32),
    Violation(u32),
}

impl FindId {
    fn number(self) -> u32 {
        match self {
            FindId::Bug(number) | FindId::Violation(number) => number,
        }
    }
}

struct Find {
    id: FindId,
    dir: &'static str,
    /// The readable part of the file's name.
    title: String,
}

/// A file with an input. It shows as its path, relative to the output directory.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct InputFile {
    dir: &'static str,
    name: String,
}

impl fmt::Display for InputFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.dir, self.name)
    }
}

impl InputFile {
    /// Where the report about it is, relative to the output directory.
    pub fn report(&self) -> PathBuf {
        report_path(&self.name)
    }
}

/// Where a find is now.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "the file that was replaced has to be removed"]
pub struct Saved {
    pub file: InputFile,
    /// Where it was before, if that is another file. It is there until [`OutputDir::remove`], so
    /// that somebody can be told about the new one first.
    pub replaced: Option<InputFile>,
    /// An earlier session found it.
    pub is_of_earlier: bool,
}

#[derive(Debug)]
pub struct OutputDir {
    dir: PathBuf,
    /// Held as long as the campaign writes here.
    _lock: File,
    earlier: Resumption,
    /// Of this session.
    strategy: Option<String>,
    /// What is wrong with what earlier sessions left.
    notes: Vec<String>,
    /// Inputs that are there, by directory and content. Two bugs may have the same input, in a file
    /// each.
    present: HashMap<(&'static str, Vec<u8>), Vec<String>>,
    /// Highest number that a file name starts with.
    highest: u32,
    /// The file of each find of this session.
    files: HashMap<FindId, InputFile>,
    /// Files that were there before.
    of_earlier: HashSet<InputFile>,
}

impl OutputDir {
    /// Whether a directory can be opened, as far as a look from outside tells.
    pub fn check(dir: &Path, resume: bool) -> Result<(), DirError> {
        match fs::metadata(dir) {
            Ok(metadata) if !metadata.is_dir() => Err(DirError::NoDirectory(dir.to_owned())),
            Err(error) if resume && error.kind() == io::ErrorKind::NotFound => {
                Err(DirError::NothingToResume(dir.to_owned()))
            }
            _ => Ok(()),
        }
    }

    /// Makes the directory, or takes over what an earlier session left there.
    pub fn open(dir: &Path, program: &str, resume: bool) -> Result<OutputDir, DirError> {
        OutputDir::check(dir, resume)?;
        fs::create_dir_all(dir).map_err(DirError::io(dir))?;
        let lock = lock(dir)?;
        let mut notes = Vec::new();
        let earlier = earlier_sessions(dir, program, resume, &mut notes)?;
        let mut output = OutputDir {
            dir: dir.to_owned(),
            _lock: lock,
            earlier,
            strategy: None,
            notes,
            present: HashMap::new(),
            highest: 0,
            files: HashMap::new(),
            of_earlier: HashSet::new(),
        };
        // Before anything else: by it a later session knows that it may go on here.
        output.save_state(0, 0.0)?;
        for name in INPUT_DIRS.iter().chain(&[REPORTS]) {
            let path = dir.join(name);
            fs::create_dir_all(&path).map_err(DirError::io(&path))?;
        }
        output.index();
        output.of_earlier = output.files_present();
        Ok(output)
    }

    fn files_present(&self) -> HashSet<InputFile> {
        let files = self.present.iter().flat_map(|((dir, _), names)| {
            names.iter().map(|name| InputFile { dir, name: name.clone() })
        });
        files.collect()
    }

    pub fn path(&self) -> &Path {
        &self.dir
    }

    /// The strategy of the campaign in a directory, if it says one.
    pub fn strategy_of(dir: &Path) -> Option<String> {
        let state = fs::read(dir.join(STATE)).ok()?;
        serde_json::from_slice::<Resumption>(&state).ok()?.strategy
    }

    /// What a later session goes on with.
    pub fn set_strategy(&mut self, name: &str) {
        self.strategy = Some(name.to_owned());
    }

    pub fn earlier(&self) -> &Resumption {
        &self.earlier
    }

    /// What the user should know about the files that were there.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Highest number that an input's name starts with; new ones count from there.
    pub fn highest_number(&self) -> u32 {
        self.highest
    }

    /// Inputs that make the program tamper with what it shares with Tarragon, of earlier sessions,
    /// the smallest first.
    pub fn offenders(&self) -> Vec<(InputFile, Vec<u8>)> {
        let title = format!("-{}", Offence::TITLE);
        let files = self.present.iter().flat_map(|((dir, input), names)| {
            names.iter().map(move |name| (InputFile { dir, name: name.clone() }, input.clone()))
        });
        let mut offending: Vec<_> = files.filter(|(file, _)| file.name.contains(&title)).collect();
        offending.sort_by_key(|(file, input)| (input.len(), input.clone(), file.name.clone()));
        offending
    }

    /// A bug of an earlier session is one of this session, too.
    pub fn adopt(&mut self, bug: u32, file: InputFile) {
        self.files.entry(FindId::Bug(bug)).or_insert(file);
    }

    /// Inputs that earlier sessions left, with the names of their files: those of finds come last,
    /// so that none is kept for what it covers. Among each other the smallest come first.
    pub fn inputs(&self) -> Vec<(String, Vec<u8>)> {
        let place = |dir: &str| INPUT_DIRS.iter().position(|name| *name == dir);
        let all = self.present.iter().flat_map(|((dir, input), names)| {
            names.iter().map(move |name| ((place(dir), input.len(), name.clone()), input.clone()))
        });
        let mut all: Vec<_> = all.collect();
        all.sort();
        all.into_iter().map(|((_, _, name), input)| (name, input)).collect()
    }

    /// Bugs and hangs of earlier sessions that did not show in this one.
    pub fn not_shown(&self) -> usize {
        let is_find = |file: &&InputFile| file.dir != "corpus" && file.dir != VIOLATIONS;
        let is_shown = |file: &InputFile| self.files.values().any(|shown| shown == file);
        self.of_earlier.iter().filter(is_find).filter(|file| !is_shown(file)).count()
    }

    /// Writes an input that is kept, and says where it is, relative to the directory.
    pub fn save_entry(&mut self, entry: &Entry) -> Result<String, OutputError> {
        let there =
            self.present.get(&("corpus", entry.input.clone())).and_then(|names| names.first());
        let new = || format!("{:06}-{}", entry.id, short(&entry.origin.to_string()));
        let known = there.cloned();
        let is_new = known.is_none();
        let file = InputFile { dir: "corpus", name: known.unwrap_or_else(new) };
        self.write_input(&file, &entry.input)?;
        if is_new {
            self.remember(&file, &entry.input);
        }
        Ok(file.to_string())
    }

    /// Writes the input of a bug and its report. The larger one that was there is either replaced
    /// at once or to be removed.
    pub fn save_bug(&mut self, bug: &Bug, report: &str) -> Result<Saved, OutputError> {
        let find =
            Find { id: FindId::Bug(bug.id), dir: dir_of(bug.kind), title: short(&file_title(bug)) };
        self.save_find(find, &bug.input, report)
    }

    /// The same for a property that does not hold.
    pub fn save_violation(
        &mut self,
        violation: &Violation,
        report: &str,
    ) -> Result<Saved, OutputError> {
        let title = short(&format!("violates {}", violation.kind.text()));
        let find = Find { id: FindId::Violation(violation.id), dir: VIOLATIONS, title };
        self.save_find(find, &violation.input, report)
    }

    /// No other find has the file, so that what replaces it is always an input of the same find.
    /// The new one is there before the old one goes.
    fn save_find(&mut self, find: Find, input: &[u8], report: &str) -> Result<Saved, OutputError> {
        let Find { id, dir, title } = find;
        let before = self.files.get(&id).cloned();
        let name = match (self.earlier_file(dir, input, &title, report), &before) {
            (Some(name), _) => name,
            (None, Some(old)) if old.dir == dir && has_title(&old.name, &title) => old.name.clone(),
            (None, Some(old)) => self.free_name(dir, number_of(&old.name), &title),
            (None, None) => self.free_name(dir, id.number(), &title),
        };
        let file = InputFile { dir, name };
        self.save_input(&file, input)?;
        self.write(file.report(), report.as_bytes())?;
        self.files.insert(id, file.clone());
        let is_of_earlier = self.of_earlier.contains(&file);
        Ok(Saved { replaced: before.filter(|before| *before != file), file, is_of_earlier })
    }

    /// The file that an earlier session wrote for this find: one with its input and title that no
    /// other find has. Several may be so, and the reports decide among them. The file of another
    /// find is never taken: a smaller input would replace its only one.
    fn earlier_file(
        &self,
        dir: &'static str,
        input: &[u8],
        title: &str,
        report: &str,
    ) -> Option<String> {
        let names = self.present.get(&(dir, input.to_vec()))?;
        let is_free =
            |name: &str| !self.files.values().any(|file| file.dir == dir && file.name == name);
        let candidates = names.iter().filter(|name| is_free(name) && has_title(name, title));
        let ranked = candidates.filter_map(|name| {
            let there = fs::read(self.dir.join(report_path(name))).unwrap_or_default();
            Some((likeness(&String::from_utf8_lossy(&there), report)?, name))
        });
        ranked.max_by_key(|(likeness, _)| *likeness).map(|(_, name)| name.clone())
    }

    /// The number and the title, with a further number if there is such a file.
    fn free_name(&self, dir: &'static str, number: u32, title: &str) -> String {
        let base = format!("{number:06}-{title}");
        let is_taken = |name: &str| {
            self.present
                .iter()
                .any(|((there, _), names)| *there == dir && names.iter().any(|n| n == name))
        };
        let again = (2..).map(|number: u32| format!("{base}-{number}"));
        std::iter::once(base.clone()).chain(again).find(|name| !is_taken(name)).unwrap_or(base)
    }

    /// Where the input of a bug is, relative to the directory.
    pub fn bug_file(&self, bug: u32) -> Option<String> {
        self.file(FindId::Bug(bug))
    }

    pub fn violation_file(&self, violation: u32) -> Option<String> {
        self.file(FindId::Violation(violation))
    }

    fn file(&self, find: FindId) -> Option<String> {
        self.files.get(&find).map(ToString::to_string)
    }

    /// Writes down what all sessions did up to now.
    pub fn save_state(&self, runs: u64, seconds: f64) -> Result<(), OutputError> {
        let state = Resumption {
            program: self.earlier.program.clone(),
            sessions: self.earlier.sessions + 1,
            runs: self.earlier.runs + runs,
            seconds: self.earlier.seconds + seconds,
            strategy: self.strategy.clone().or_else(|| self.earlier.strategy.clone()),
        };
        self.write(PathBuf::from(STATE), to_json(&state)?.as_bytes())
    }

    /// Writes down what the search has yet to do.
    pub fn save_search(
        &self,
        saved: &SavedSearch,
        sites: &SiteTable,
        kept_by: KeepBy,
    ) -> Result<(), OutputError> {
        let mut bytes = postcard::to_stdvec(&(fingerprint(sites, kept_by), saved))
            .map_err(|e| OutputError(e.to_string()))?;
        bytes.extend(checksum(&bytes));
        self.write(PathBuf::from(SEARCH), &bytes)
    }

    /// What an earlier session had yet to do; `None` if there was none. An error says why that is
    /// of no use, such as that the program was built anew since: its places have other numbers
    /// then. A session that keeps an input for each path cannot go on where others have been.
    pub fn saved_search(
        &self,
        sites: &SiteTable,
        kept_by: KeepBy,
    ) -> Result<Option<SavedSearch>, String> {
        let useless = |why: String| {
            format!(
                "{SEARCH} {why}; the campaign goes on from its inputs, without what was yet to be \
                 tried"
            )
        };
        let bytes = match fs::read(self.dir.join(SEARCH)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            read => read.map_err(|error| useless(format!("cannot be read ({error})")))?,
        };
        let damaged = || useless("is damaged".to_owned());
        let (bytes, sum) = bytes.split_last_chunk().ok_or_else(damaged)?;
        if checksum(bytes) != *sum {
            return Err(damaged());
        }
        let (build, saved): (u64, SavedSearch) =
            postcard::from_bytes(bytes).map_err(|_| damaged())?;
        let by_coverage = build == fingerprint(sites, KeepBy::Coverage);
        if by_coverage && kept_by == KeepBy::Paths {
            return Err(useless("is of a session that did not keep an input for each path".into()));
        }
        if !by_coverage && build != fingerprint(sites, KeepBy::Paths) {
            return Err(useless("is about another build of the program".to_owned()));
        }
        Ok(Some(saved))
    }

    /// Writes a file of the given relative path.
    pub fn write(&self, name: PathBuf, bytes: &[u8]) -> Result<(), OutputError> {
        let (temporary, path) = (self.dir.join(TEMPORARY), self.dir.join(name));
        let write = || fs::write(&temporary, bytes).and_then(|()| fs::rename(&temporary, &path));
        let again = || path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| write());
        let written = match write() {
            // Somebody removed the directory, or what was to be renamed.
            Err(error) if error.kind() == io::ErrorKind::NotFound => again(),
            written => written,
        };
        written.map_err(|error| {
            // The error that counts is the first one; a leftover is overwritten or harmless.
            let _ = fs::remove_file(&temporary);
            OutputError(explained(&path, &error))
        })
    }

    /// Writes the input of a find, whose file may hold another one of it.
    fn save_input(&mut self, file: &InputFile, input: &[u8]) -> Result<(), OutputError> {
        self.write_input(file, input)?;
        self.forget(file);
        self.remember(file, input);
        Ok(())
    }

    /// Writes an input, unless the file holds it. It is looked at, because somebody may have
    /// removed it.
    fn write_input(&self, file: &InputFile, input: &[u8]) -> Result<(), OutputError> {
        let path = Path::new(file.dir).join(&file.name);
        match fs::read(self.dir.join(&path)) {
            Ok(there) if there == input => Ok(()),
            _ => self.write_parts(&path, input).and_then(|()| self.write(path, input)),
        }
    }

    /// The parts of an input from several sources, as plain files.
    fn write_parts(&self, path: &Path, input: &[u8]) -> Result<(), OutputError> {
        let Some(layout) = Layout::of(input) else { return Ok(()) };
        let folder = Path::new(PARTS).join(path);
        let made = fs::create_dir_all(self.dir.join(&folder));
        made.map_err(|error| OutputError(explained(&self.dir.join(&folder), &error)))?;
        let parts = layout.split(input).unwrap_or_default();
        layout.parts().iter().zip(&parts).try_for_each(|(part, bytes)| {
            self.write(folder.join(part.name.replace('/', "_")), bytes)
        })
    }

    fn remember(&mut self, file: &InputFile, input: &[u8]) {
        self.present.entry((file.dir, input.to_vec())).or_default().push(file.name.clone());
    }

    /// Removes an input that another file of the same find replaces. The report goes first: without
    /// an input it says nothing, while an input without one is run again.
    pub fn remove(&mut self, file: &InputFile, by: &InputFile) {
        // A file that somebody else removed is as good as one that we remove.
        if file.name != by.name {
            let _ = fs::remove_file(self.dir.join(file.report()));
        }
        let path = Path::new(file.dir).join(&file.name);
        let _ = fs::remove_file(self.dir.join(&path));
        let _ = fs::remove_dir_all(self.dir.join(PARTS).join(&path));
        self.forget(file);
    }

    fn forget(&mut self, file: &InputFile) {
        self.present.retain(|(there, _), names| {
            if *there == file.dir {
                names.retain(|name| *name != file.name);
            }
            !names.is_empty()
        });
    }

    /// Learns which inputs are there. One that cannot be read is no reason to do without the
    /// others.
    fn index(&mut self) {
        for dir in INPUT_DIRS {
            for name in names_in(&self.dir.join(dir)) {
                self.highest = self.highest.max(number_of(&name));
                match fs::read(self.dir.join(dir).join(&name)) {
                    Ok(bytes) => self.present.entry((dir, bytes)).or_default().push(name),
                    Err(error) => {
                        self.notes
                            .push(format!("{dir}/{name} cannot be read and is left out: {error}"));
                    }
                }
            }
        }
        self.notes.extend(self.lost_inputs());
    }

    /// A report has an input, unless somebody removed that.
    fn lost_inputs(&self) -> Option<String> {
        let names: HashSet<&str> = self.present.values().flatten().map(String::as_str).collect();
        let is_lost =
            |report: &String| report.strip_suffix(".txt").is_some_and(|name| !names.contains(name));
        let mut lost = names_in(&self.dir.join(REPORTS)).into_iter().filter(is_lost);
        let first = lost.next()?;
        let more = match lost.count() {
            0 => String::new(),
            count => format!(" (and {count} more)"),
        };
        Some(format!("the input that {REPORTS}/{first}{more} is about is missing"))
    }
}

/// What went wrong with a file, and how to go on.
fn explained(path: &Path, error: &io::Error) -> String {
    let path = path.display();
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => format!(
            "the disk is full ({path}); what was found before is kept: make room and go on with \
             --resume"
        ),
        io::ErrorKind::FileTooLarge => format!(
            "{path}: the limit on file sizes (ulimit -f) is reached; raise it and go on with \
             --resume"
        ),
        _ => format!("{path}: {error}"),
    }
}

fn lock(dir: &Path) -> Result<File, DirError> {
    let file = File::open(dir).map_err(DirError::io(dir))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(DirError::InUse(dir.to_owned())),
        Err(TryLockError::Error(error)) => Err(DirError::Io { path: dir.to_owned(), error }),
    }
}

/// Names in a directory, sorted: names of new files depend on the order.
fn names_in(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn earlier_sessions(
    dir: &Path,
    program: &str,
    resume: bool,
    notes: &mut Vec<String>,
) -> Result<Resumption, DirError> {
    let mut entries = fs::read_dir(dir).map_err(DirError::io(dir))?.flatten();
    let nothing = Resumption { program: program.to_owned(), ..Resumption::default() };
    // A session that ended before its first file was complete left nothing.
    if entries.all(|entry| entry.file_name() == TEMPORARY) {
        return Ok(nothing);
    }
    if !resume {
        return Err(DirError::NotEmpty(dir.to_owned()));
    }
    let state = match fs::read(dir.join(STATE)) {
        Ok(state) => serde_json::from_slice::<Resumption>(&state).map_err(|_| "is damaged"),
        Err(_) => Err("is missing"),
    };
    let state = match state {
        Ok(state) => state,
        Err(why) if is_output_dir(dir) || names_in(dir).iter().all(|name| is_ours(name)) => {
            notes.push(format!(
                "{STATE} {why}; the campaign goes on from the inputs that are there, and does not \
                 count \
                 what earlier sessions did"
            ));
            nothing
        }
        Err(_) => return Err(DirError::NotACampaign(dir.to_owned())),
    };
    if state.program != program {
        return Err(DirError::OtherProgram { dir: dir.to_owned(), program: state.program });
    }
    Ok(state)
}

fn dir_of(kind: BugKind) -> &'static str {
    match kind {
        BugKind::Hang => "hangs",
        BugKind::Crash(_) | BugKind::Deadlock | BugKind::OutOfMemory | BugKind::Reported => {
            "crashes"
        }
    }
}

fn file_title(bug: &Bug) -> String {
    match bug.kind {
        BugKind::Reported => bug.title(),
        kind => kind.to_string(),
    }
}

/// Of the report about an input, relative to the directory.
pub(crate) fn report_path(name: &str) -> PathBuf {
    Path::new(REPORTS).join(format!("{name}.txt"))
}

/// Whether a file was named for a title, maybe with a further number.
fn has_title(name: &str, title: &str) -> bool {
    let rest = name.split_once('-').and_then(|(_, rest)| rest.strip_prefix(title));
    let is_number = |rest: &str| rest.strip_prefix('-').is_some_and(|n| n.parse::<u32>().is_ok());
    rest.is_some_and(|rest| rest.is_empty() || is_number(rest))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Likeness {
    /// The same kind in the same function: lines move when a program is changed.
    Function,
    /// There is no report that would say otherwise.
    Unknown,
    Same,
}

/// Whether the report in the directory and a new one are about the same find.
fn likeness(there: &str, report: &str) -> Option<Likeness> {
    fn line<'a>(of: &'a str, keys: &[&str]) -> Option<&'a str> {
        of.lines().find(|line| keys.iter().any(|key| line.starts_with(key)))
    }
    let kind = |of| line(of, &["kind ", "property "]);
    let [here, new] = [there, report].map(|of| line(of, &["where "]));
    let function = |place: Option<&str>| Some(place?.rsplit_once(" (")?.1.to_owned());
    match kind(there) {
        None => Some(Likeness::Unknown),
        other if other != kind(report) => None,
        _ if here == new => Some(Likeness::Same),
        _ => (function(here) == function(new)).then_some(Likeness::Function),
    }
}

fn number_of(name: &str) -> u32 {
    name.split('-').next().and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// Differs between builds of a program that number their places differently, and by what was kept.
fn fingerprint(sites: &SiteTable, kept_by: KeepBy) -> u64 {
    let mut hasher = DefaultHasher::new();
    format!("{sites:?}").hash(&mut hasher);
    match kept_by {
        KeepBy::Coverage => hasher.finish(),
        KeepBy::Paths => !hasher.finish(),
    }
}

/// Differs where bytes do: paths that wrongly count as explored would make claims of completeness
/// wrong.
fn checksum(bytes: &[u8]) -> [u8; 8] {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    hasher.finish().to_le_bytes()
}

/// Text as part of a file name.
fn short(text: &str) -> String {
    let plain = text
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || c == '.' { c.to_ascii_lowercase() } else { '-' });
    plain.take(40).collect()
}

pub(crate) fn to_json(value: &impl Serialize) -> Result<String, OutputError> {
    serde_json::to_string_pretty(value)
        .map(|text| text + "\n")
        .map_err(|error| OutputError(error.to_string()))
}
