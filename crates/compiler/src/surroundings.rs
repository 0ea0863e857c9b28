//! C code between a program and its surroundings: it hands the parts of an input to the program,
//! and answers in the place of the system. It becomes part of the program as models of the user's
//! do.

use crate::cache::{Cache, Key};
use sources::{Kind, Layout, Part};
use std::io;
use std::path::{Path, PathBuf};

/// What inputs are made of, and what of the system is input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Surroundings {
    pub layout: Layout,
    pub models: Vec<SystemModel>,
    /// Calls that fail in a run, at most.
    pub max_faults: usize,
}

/// What answers in the place of the system, with answers from the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SystemModel {
    Faults,
    Files,
    Time,
    Random,
    Ids,
    Variables,
}

/// Names that a program opens, and variables that it asks for, that have a part of their own.
const FILES: usize = 4;
const VARIABLES: usize = 4;
/// What is known of a file beside its content: `FACTS` of `files.c`.
const FACTS: usize = 8;

impl SystemModel {
    pub const ALL: [SystemModel; 6] = [
        SystemModel::Faults,
        SystemModel::Files,
        SystemModel::Time,
        SystemModel::Random,
        SystemModel::Ids,
        SystemModel::Variables,
    ];

    pub fn name(self) -> &'static str {
        match self {
            SystemModel::Faults => "faults",
            SystemModel::Files => "files",
            SystemModel::Time => "time",
            SystemModel::Random => "random",
            SystemModel::Ids => "ids",
            SystemModel::Variables => "variables",
        }
    }

    fn source(self) -> (&'static str, &'static str) {
        match self {
            SystemModel::Faults => ("faults.c", include_str!("surroundings/faults.c")),
            SystemModel::Files => ("files.c", include_str!("surroundings/files.c")),
            SystemModel::Time => ("time.c", include_str!("surroundings/time.c")),
            SystemModel::Random => ("random.c", include_str!("surroundings/random.c")),
            SystemModel::Ids => ("ids.c", include_str!("surroundings/ids.c")),
            SystemModel::Variables => ("variables.c", include_str!("surroundings/variables.c")),
        }
    }

    /// The parts of the input that it answers from, each with the size that it has if nobody says
    /// another.
    pub fn parts(self) -> Vec<Part> {
        let (files, variables) = (1..=FILES, 1..=VARIABLES);
        match self {
            SystemModel::Faults => vec![Part::choices("faults", 64)],
            SystemModel::Files => std::iter::once(Part::choices("files", FILES * FACTS))
                .chain(files.map(|number| Part::data(format!("file{number}"), 255)))
                .collect(),
            SystemModel::Time => vec![Part::choices("time", 13)],
            SystemModel::Random => vec![Part::choices("random", 64)],
            SystemModel::Ids => vec![Part::choices("ids", 12)],
            SystemModel::Variables => std::iter::once(Part::choices("variables", VARIABLES))
                .chain(variables.map(|number| Part::text(format!("variable{number}"), 64)))
                .collect(),
        }
    }

    /// Whether the size of its part of choices can be another: those of the others have their
    /// meaning.
    pub fn has_any_size(self) -> bool {
        matches!(self, SystemModel::Faults | SystemModel::Random)
    }
}

const HEADER: (&str, &str) = ("surroundings.h", include_str!("surroundings/surroundings.h"));
const SOURCES: (&str, &str) = ("sources.c", include_str!("surroundings/sources.c"));
const SESSIONS: (&str, &str) = ("sessions.c", include_str!("surroundings/sessions.c"));
const SETTLE: (&str, &str) = ("settle.h", include_str!("settle.h"));
const SOCKETS: (&str, &str) = ("sockets.h", include_str!("sockets.h"));
/// The table of parts, which `sources.c` includes.
const LAYOUT: &str = "layout.h";
/// What is asked for, which files of models include.
const MODELS: &str = "models.h";

impl Surroundings {
    /// The part with the sizes of messages.
    pub const MESSAGES: &str = "messages";

    /// What the part of a connection is called; the first has the number 1.
    pub fn connection(number: u8) -> String {
        format!("connection{number}")
    }

    fn has_connections(&self) -> bool {
        self.layout.position(&Surroundings::connection(1)).is_some()
    }

    /// The files to compile, from the cache or written now.
    pub(crate) fn files(&self, cache: &Path) -> io::Result<Vec<PathBuf>> {
        let texts = self.texts();
        let mut key = Key::new();
        key.add(b"surroundings");
        texts.iter().for_each(|(name, text)| {
            key.add(name.as_bytes());
            key.add(text.as_bytes());
        });
        let write = |folder: &Path| {
            texts.iter().try_for_each(|(name, text)| std::fs::write(folder.join(name), text))
        };
        let folder = Cache::open(cache)?.folder(&key.finish(), write)?;
        let sources = texts.iter().map(|(name, _)| folder.join(name));
        Ok(sources.filter(|file| file.extension().is_some_and(|end| end == "c")).collect())
    }

    fn texts(&self) -> Vec<(&str, String)> {
        let models = self.models.iter().map(|model| model.source());
        let sessions = self.has_connections().then_some(SESSIONS);
        let fixed = [HEADER, SETTLE, SOCKETS, SOURCES].into_iter().chain(models).chain(sessions);
        let mut texts: Vec<(&str, String)> =
            fixed.map(|(name, text)| (name, text.into())).collect();
        texts.push((LAYOUT, table(&self.layout)));
        texts.push((MODELS, self.definitions()));
        texts
    }

    /// What of the system is input, as macros.
    fn definitions(&self) -> String {
        let macros = self.models.iter().map(|model| match model {
            SystemModel::Faults => format!("#define TARRAGON_FAULTS {}\n", self.max_faults),
            SystemModel::Files => format!("#define TARRAGON_FILES {FILES}\n"),
            SystemModel::Variables => format!("#define TARRAGON_VARIABLES {VARIABLES}\n"),
            SystemModel::Ids => "#define TARRAGON_IDS\n".to_owned(),
            SystemModel::Time | SystemModel::Random => String::new(),
        });
        let sessions = self.has_connections().then(|| "#define TARRAGON_SESSIONS\n".to_owned());
        macros.chain(sessions).collect()
    }
}

/// The parts as C. Names have no character that C would take for another.
fn table(layout: &Layout) -> String {
    let line = String::from_utf8_lossy(layout.line());
    let mut text = format!(
        "#include \"surroundings.h\"\n#define TARRAGON_LINE {line:?}\n\
         static unsigned char tarragon_container[{}];\n\
         static struct tarragon_part tarragon_parts[] = {{\n",
        layout.size()
    );
    for (part, place) in layout.places() {
        let (start, capacity, head) = (place.start, part.capacity, part.head());
        let length = if part.kind == Kind::Data { 0 } else { capacity };
        text += &format!(
            "    {{ {:?}, tarragon_container + {start}, {length}, {capacity}, {start}, {head} }},\n",
            part.name
        );
    }
    text + "};\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_every_part() {
        let layout = Layout::new(vec![Part::data("stdin", 4), Part::choices("faults", 2)]).unwrap();
        let text = table(&layout);
        let start = layout.line().len();
        assert!(
            text.contains(r#"#define TARRAGON_LINE "tarragon container 1: stdin=4 faults=2!\n""#)
        );
        let stdin = format!("{{ \"stdin\", tarragon_container + {0}, 0, 4, {0}, 1 }}", start + 1);
        assert!(text.contains(&stdin), "{text}");
        let faults = format!("{{ \"faults\", tarragon_container + {0}, 2, 2, {0}, 0 }}", start + 5);
        assert!(text.contains(&faults), "{text}");
    }
}
