//! What was observed, whatever the framework.

/// The tests of one program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suite {
    /// Files, classes and groups of tests are named after it.
    pub name: String,
    /// Path of the program, from where the tests are started or absolute.
    pub program: String,
    /// The directory that the files will be in, from where the tests are started.
    pub directory: String,
    /// What the tests were made of, for people.
    pub origin: String,
    /// A run that takes longer does not end.
    pub seconds: u64,
    /// Variables that each run gets.
    pub environment: Vec<(String, String)>,
    pub markers: Markers,
    pub cases: Vec<Case>,
}

/// What stands for paths that differ from run to run, in arguments and in expected output. It must
/// not be in any of them by chance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Markers {
    /// The file with the input.
    pub input: String,
    /// The directory in which the tests are started.
    pub here: String,
    /// The program, in output only.
    pub program: String,
}

impl Markers {
    /// Markers that are not in any of these texts.
    pub fn outside<'a>(texts: impl Iterator<Item = &'a [u8]> + Clone) -> Markers {
        let marker = |name: &str| {
            let numbers = std::iter::once(String::new()).chain((2..).map(|n: u32| n.to_string()));
            let mut markers = numbers.map(|number| format!("@{name}{number}@"));
            let is_free = |marker: &String| {
                let marker = marker.as_bytes();
                !texts.clone().any(|text| text.windows(marker.len()).any(|part| part == marker))
            };
            markers.find(is_free).unwrap_or_default()
        };
        Markers { input: marker("INPUT"), here: marker("HERE"), program: marker("PROGRAM") }
    }
}

/// One test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// Lower case, digits and underlines; no other test has it.
    pub name: String,
    /// What whoever reviews the test should know, a line each.
    pub remarks: Vec<String>,
    /// Why the test would fail today, where it would: the program crashes or does not end. Such a
    /// test asserts that it does neither, and is marked in the framework's own way.
    pub known_failure: Option<KnownFailure>,
    pub run: Run,
    pub expected: Expected,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownFailure {
    pub reason: String,
    /// It was seen in all runs, so that a run without it says that it is gone.
    pub always: bool,
}

/// How the program is started.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Run {
    /// After the program's name; with markers, and no zero bytes.
    pub arguments: Vec<Vec<u8>>,
    /// Variables of this run, whose values are made of the input.
    pub environment: Vec<(String, Vec<u8>)>,
    /// What is in the file with the input, and on standard input if that is where it goes;
    /// otherwise that is empty.
    pub input: Vec<u8>,
    pub on_stdin: bool,
}

/// What is asserted. The program always has to end by itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expected {
    pub exit: Option<i32>,
    /// With markers, as `stderr`.
    pub stdout: Option<Vec<u8>>,
    pub stderr: Option<Vec<u8>>,
}
