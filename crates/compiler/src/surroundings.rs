//! C code between a program and its surroundings: it hands the parts of an input to the program, and
//! answers in the place of the system. It becomes part of the program as models of the user's do.

use crate::cache::{Cache, Key};
use sources::{Kind, Layout};
use std::io;
use std::path::{Path, PathBuf};

/// What inputs are made of, and what of the system is input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Surroundings {
    pub layout: Layout,
    /// Files of this module that answer in the place of the system, by their names.
    pub models: Vec<String>,
}

const HEADER: (&str, &str) = ("surroundings.h", include_str!("surroundings/surroundings.h"));
const SOURCES: (&str, &str) = ("sources.c", include_str!("surroundings/sources.c"));
const SETTLE: (&str, &str) = ("settle.h", include_str!("settle.h"));
const SOCKETS: (&str, &str) = ("sockets.h", include_str!("sockets.h"));
/// The table of parts, which `sources.c` includes.
const LAYOUT: &str = "layout.h";

/// What can stand in for the system: name, file and text.
const MODELS: [(&str, &str, &str); 1] =
    [(CONNECTIONS, "sessions.c", include_str!("surroundings/sessions.c"))];
/// The model that connects programs to parts of the input.
pub const CONNECTIONS: &str = "connections";

impl Surroundings {
    /// The names of what can stand in for the system.
    pub fn known_models() -> impl Iterator<Item = &'static str> {
        MODELS.iter().map(|(name, ..)| *name)
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
        let wanted = |name: &str| self.models.iter().any(|model| model == name);
        let models = MODELS.iter().filter(|(name, ..)| wanted(name));
        let models = models.map(|(_, file, text)| (*file, *text));
        let fixed = [HEADER, SETTLE, SOCKETS, SOURCES].into_iter().chain(models);
        let mut texts: Vec<(&str, String)> =
            fixed.map(|(name, text)| (name, text.into())).collect();
        texts.push((LAYOUT, table(&self.layout)));
        texts
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
    use sources::Part;

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
