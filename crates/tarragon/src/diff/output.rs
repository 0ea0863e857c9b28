//! The directory of a cross-check: a folder for each difference, and the inputs that were kept.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use diff::{Difference, Mismatch, Observation, Place, Side, Sighting, Signature};
use serde::Serialize;
use trace::words;

const DIFFERENCES: &str = "differences";
const INPUTS: &str = "inputs";
/// Where a folder is until it is complete.
const WRITING: &str = ".writing";
/// Where a folder is while a better one takes its place.
const REPLACED: &str = ".replaced";

pub(crate) struct Output {
    dir: PathBuf,
    /// Programs with their arguments.
    commands: [Vec<OsString>; 2],
    /// Folders of the groups and what they are about, by their numbers.
    folders: Vec<(PathBuf, String)>,
    kept: u32,
}

/// A difference with what shows it.
#[derive(Clone, Debug)]
pub(crate) struct Find {
    pub input: Vec<u8>,
    pub difference: Difference,
    pub runs: [Observation; 2],
}

/// What is said about a difference, on disk and to machines.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Report {
    pub text: String,
    pub class: &'static str,
    /// How A and B ended.
    pub outcomes: [String; 2],
    pub mismatches: Vec<Mismatch>,
    pub bytes: usize,
    /// What puts it in its group.
    pub places: [Place; 2],
    /// What runs A and B on the input again.
    pub commands: [String; 2],
}

/// What became of a find.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Event {
    #[serde(skip)]
    pub sighting: Sighting,
    pub id: usize,
    /// Relative to the output directory.
    pub folder: PathBuf,
    #[serde(flatten)]
    pub report: Report,
}

impl Output {
    /// Whether the directory can be opened.
    pub(crate) fn check(dir: &Path) -> Result<()> {
        match fs::read_dir(dir).map(|mut entries| entries.next().is_some()) {
            Ok(true) => {
                bail!("{}: is not empty; give another directory with --out", dir.display())
            }
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => bail!(
                "{}: is not a directory; give another place for the results with --out",
                dir.display()
            ),
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(error).with_context(|| dir.display().to_string())
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn open(dir: &Path, commands: [Vec<OsString>; 2]) -> Result<Output> {
        Output::check(dir)?;
        fs::create_dir_all(dir).with_context(|| dir.display().to_string())?;
        for name in [DIFFERENCES, INPUTS] {
            // Two that start at once do not share it.
            fs::create_dir(dir.join(name)).with_context(|| dir.display().to_string())?;
        }
        Ok(Output { dir: dir.to_owned(), commands, folders: Vec::new(), kept: 0 })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.dir
    }

    /// The folder of a group, and what it is about.
    pub(crate) fn about(&self, id: usize) -> (String, String) {
        let (folder, text) = &self.folders[id - 1];
        (folder.display().to_string(), text.clone())
    }

    /// The programs with their arguments.
    pub(crate) fn programs(&self) -> [String; 2] {
        self.commands.each_ref().map(|words| {
            words.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
        })
    }

    /// Writes an input that added coverage, and says where it is.
    pub(crate) fn keep(&mut self, side: Side, input: &[u8]) -> Result<PathBuf> {
        self.kept += 1;
        let side = side.to_string().to_lowercase();
        let file = Path::new(INPUTS).join(format!("{:06}-{side}", self.kept));
        self.write(&file, input)?;
        Ok(file)
    }

    pub(crate) fn write(&self, file: &Path, content: &[u8]) -> Result<()> {
        let beside = self.dir.join(WRITING);
        let there = self.dir.join(file);
        let written = fs::write(&beside, content).and_then(|()| fs::rename(&beside, &there));
        written.with_context(|| there.display().to_string())
    }

    /// Writes a find before it is known whether its group is.
    pub(crate) fn add(&mut self, find: &Find, signature: &Signature) -> Result<PathBuf> {
        let number = self.folders.len() + 1;
        let slug = find.difference.class.slug();
        let folder = Path::new(DIFFERENCES).join(format!("{number:03}-{slug}"));
        self.write_folder(&folder, find, signature)?;
        Ok(folder)
    }

    /// The find is in the folder where it was added, and its smaller version belongs to the group
    /// with this number.
    pub(crate) fn settle(
        &mut self,
        added: PathBuf,
        (sighting, id): (Sighting, usize),
        small: &Find,
        signature: &Signature,
    ) -> Result<Event> {
        if sighting == Sighting::New {
            self.folders.push((added.clone(), String::new()));
        }
        let folder = self.folders[id - 1].0.clone();
        let report = self.report(&folder, small, signature);
        if sighting != Sighting::Known {
            self.write_folder(&folder, small, signature)?;
            self.folders[id - 1].1.clone_from(&report.text);
        }
        if folder != added {
            let added = self.dir.join(added);
            fs::remove_dir_all(&added).with_context(|| added.display().to_string())?;
        }
        Ok(Event { sighting, id, folder, report })
    }

    /// A folder appears complete. The one that it replaces is there until then.
    fn write_folder(&self, folder: &Path, find: &Find, signature: &Signature) -> Result<()> {
        let (there, beside) = (self.dir.join(folder), self.dir.join(WRITING));
        let written = self.fill(&beside, folder, find, signature).and_then(|()| {
            if !there.exists() {
                return fs::rename(&beside, &there);
            }
            let old = self.dir.join(REPLACED);
            fs::rename(&there, &old)?;
            fs::rename(&beside, &there)?;
            fs::remove_dir_all(&old)
        });
        written.with_context(|| there.display().to_string())
    }

    fn fill(
        &self,
        beside: &Path,
        folder: &Path,
        find: &Find,
        signature: &Signature,
    ) -> io::Result<()> {
        fs::create_dir(beside)?;
        fs::write(beside.join("input"), &find.input)?;
        for (side, run) in ["a", "b"].into_iter().zip(&find.runs) {
            fs::write(beside.join(format!("{side}.stdout")), &run.stdout)?;
            fs::write(beside.join(format!("{side}.stderr")), &run.stderr)?;
            // Names are the program's, so that they are no paths here.
            for (name, content) in run.files.iter().filter(|(name, _)| !name.ends_with('/')) {
                let name = name.replace('/', "_");
                fs::write(beside.join(format!("{side}.file.{name:.100}")), content)?;
            }
        }
        let report = self.report(folder, find, signature);
        fs::write(beside.join("report.json"), serde_json::to_vec_pretty(&report)?)?;
        fs::write(beside.join("report.txt"), report.page())
    }

    fn report(&self, folder: &Path, find: &Find, signature: &Signature) -> Report {
        let Difference { class, mismatches, .. } = &find.difference;
        let input = self.dir.join(folder).join("input");
        let first = mismatches.first().map(|mismatch| format!(" ({mismatch})"));
        let first = first.or_else(|| Some(format!(": {}", find.says()?)));
        Report {
            text: format!("{class}{}", first.unwrap_or_default()),
            class: class.slug(),
            outcomes: signature.outcomes.clone(),
            mismatches: mismatches.clone(),
            bytes: find.input.len(),
            places: signature.places.clone(),
            commands: self.commands.each_ref().map(|words| command(words, &input)),
        }
    }
}

impl Find {
    /// Why a program stopped, in its own words: the first line of its messages.
    fn says(&self) -> Option<String> {
        const SHOWN: usize = 80;
        let stopped = self.difference.class.stopped()?;
        let text = String::from_utf8_lossy(&self.runs[stopped.index()].stderr).into_owned();
        let line = text.lines().find(|line| !line.trim().is_empty())?;
        Some(line.chars().filter(|char| !char.is_control()).take(SHOWN).collect())
    }
}

impl Report {
    fn page(&self) -> String {
        let mut page = format!("{}\n", self.text);
        let sides = Side::BOTH.iter().zip(&self.outcomes).zip(&self.places).zip(&self.commands);
        for (((side, outcome), place), command) in sides {
            let place = match place {
                Place::Unknown => String::new(),
                Place::Stopped(place) => format!(" at {place}"),
                Place::Ran(names) => {
                    format!(" after {}", names.iter().cloned().collect::<Vec<_>>().join(", "))
                }
            };
            page += &format!("\n{side}       {outcome}{place}\nagain   {command}\n");
        }
        for mismatch in &self.mismatches {
            page += &format!("\n{mismatch}\n");
        }
        page
    }
}

/// What runs a program on the input, for a shell.
fn command(words: &[OsString], input: &Path) -> String {
    let file = quoted(&input.to_string_lossy());
    let all: Vec<String> = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let has = |placeholder: &str| all.iter().any(|word| word.contains(placeholder));
    let text = |word: &String| match word {
        word if word.contains("@@") => quoted(&word.replace("@@", &input.to_string_lossy())),
        word if word.contains(words::PIECE) || word == words::ALL => format!("\"$(cat {file})\""),
        word => quoted(word),
    };
    let line = all.iter().map(text).collect::<Vec<_>>().join(" ");
    let in_words = has("@@") || has(words::PIECE) || all.iter().any(|word| word == words::ALL);
    if in_words { line } else { format!("{line} <{file}") }
}

fn quoted(word: &str) -> String {
    let is_plain = |char: char| char.is_alphanumeric() || "-_./=+:,%@".contains(char);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_can_be_pasted() {
        let shown = |words: &[&str]| {
            let words: Vec<OsString> = words.iter().map(Into::into).collect();
            command(&words, Path::new("out/my dir/input"))
        };
        assert_eq!(shown(&["./a", "-x y"]), "./a '-x y' <'out/my dir/input'");
        assert_eq!(shown(&["./a", "-f", "@@"]), "./a -f 'out/my dir/input'");
        assert_eq!(shown(&["./a", "@{}"]), "./a \"$(cat 'out/my dir/input')\"");
    }
}
