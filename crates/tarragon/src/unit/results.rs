//! The results as data: what `unit.json` and `--json` hold.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use serde::Serialize;
use unit::{Case, MadeUp, Origin};

use super::UnitArgs;
use super::build::Built;
use super::code::Code;

/// The file in the output directory.
pub(crate) const FILE: &str = "unit.json";

#[derive(Debug, Serialize)]
pub(crate) struct Results {
    pub version: &'static str,
    /// The file that was named.
    pub file: String,
    /// Whether `files` are sources, which can be included, or objects, which are linked.
    pub kind: &'static str,
    pub files: Vec<String>,
    /// Words after `--`.
    pub options: Vec<String>,
    /// The objects have a `main`, so that no other can be linked to them.
    pub has_main: bool,
    pub harness: String,
    pub program: String,
    pub assume: Vec<String>,
    pub check: Vec<String>,
    /// Functions without a body whose results were made up, by their prototypes.
    pub stubs: Vec<String>,
    /// These, and callbacks, as C source defines them.
    pub made_up: Vec<MadeUp>,
    /// What C source has to declare that calls functions of objects.
    pub declarations: String,
    pub functions: Vec<Function>,
    /// Functions that could not be tested, with the reasons.
    pub skipped: BTreeMap<String, String>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Function {
    pub name: String,
    pub prototype: String,
    /// The type of its result, if it has one.
    pub result: Option<String>,
    pub is_static: bool,
    /// The file that defines it.
    pub source: String,
    pub line: u64,
    /// The function it is compared with.
    pub against: Option<String>,
    pub complete: bool,
    pub completeness: String,
    pub runs: u64,
    pub seconds: f64,
    /// One for each path, and one for each bug that is on none of these.
    pub paths: Vec<Row>,
    /// Paths on which the two functions differ, by what differs.
    pub differences: BTreeMap<String, Vec<usize>>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Row {
    /// Counts from 1.
    pub number: usize,
    /// It shows a bug on a path that another row is for.
    pub of_bug: bool,
    #[serde(skip)]
    pub shape: Vec<u64>,
    /// Relative to the output directory.
    pub input: String,
    #[serde(flatten)]
    pub case: Case,
    pub outcome: Outcome,
    /// What the other function did.
    pub against: Option<Other>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Other {
    pub result: Option<unit::Value>,
    pub writes: Vec<unit::Write>,
    pub outcome: Outcome,
    /// In what the two differ: `result`, `memory`, `outcome`.
    pub differs: Vec<&'static str>,
}

/// How a call ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Outcome {
    /// `returned`, `crashed`, `violated`, `exited`, `stopped` (in a function without a body that
    /// never returns), `timeout`.
    pub kind: &'static str,
    pub signal: Option<String>,
    pub code: Option<i32>,
    /// What a build that checks more says, each with its place.
    pub reports: Vec<String>,
}

impl Outcome {
    pub fn is_bug(&self) -> bool {
        matches!(self.kind, "crashed" | "violated") || !self.reports.is_empty()
    }

    pub fn text(&self) -> String {
        let text = match (&self.signal, self.code) {
            (Some(signal), _) if self.kind == "crashed" => signal.clone(),
            (_, Some(code)) if self.kind == "exited" => format!("exit {code}"),
            _ => self.kind.to_owned(),
        };
        match self.reports.is_empty() {
            true => text,
            false => format!("{text} ({})", self.reports.join("; ")),
        }
    }
}

impl Results {
    pub fn new(
        args: &UnitArgs,
        code: &Code,
        built: &Built,
        skipped: BTreeMap<String, String>,
    ) -> Results {
        Results {
            version: env!("CARGO_PKG_VERSION"),
            file: args.file.display().to_string(),
            kind: match code.origin {
                Origin::Sources(_) => "sources",
                Origin::Objects if code.is_linked => "program",
                Origin::Objects => "objects",
            },
            files: code.files.iter().map(|file| file.display().to_string()).collect(),
            options: args.options.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
            has_main: matches!(code.origin, Origin::Objects) && code.has_main(),
            harness: unit::FILE.to_owned(),
            program: "harness".to_owned(),
            assume: args.assume.clone(),
            check: args.check.clone(),
            stubs: built.harness.stubs.iter().map(|stub| code.program.prototype(stub)).collect(),
            made_up: built.harness.made_up(&code.program),
            declarations: built.harness.declarations(&code.program),
            functions: Vec::new(),
            skipped,
        }
    }

    pub fn has_bugs(&self) -> bool {
        self.functions.iter().any(|function| {
            function.paths.iter().any(|row| row.outcome.is_bug())
                || !function.differences.is_empty()
        })
    }

    pub fn write(&self, args: &UnitArgs) -> Result<()> {
        let path = args.out.join(FILE);
        let text = serde_json::to_string_pretty(self)?;
        let new = path.with_extension("json.new");
        std::fs::write(&new, text)
            .and_then(|()| std::fs::rename(&new, &path))
            .with_context(|| format!("{}: cannot be written", path.display()))
    }
}
