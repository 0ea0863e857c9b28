//! Reads what `tarragon cc` embedded: bitcode modules and the recipe of the link.

use crate::elf::{self, AppendError, NewSection};
use crate::frame::{self, BadFrame, Frame, Kind};
use crate::recipe::Recipe;
use object::read::archive::ArchiveFile;
use object::read::elf::ElfFile64;
use object::{LittleEndian, Object, ObjectSection, ReadCache, ReadRef};
use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Frames with the bitcode of translation units.
pub const BITCODE_SECTION: &str = ".tarragon.bc";
/// Frames with recipes and the native inputs they refer to.
pub const LINK_SECTION: &str = ".tarragon.link";

/// One translation unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module {
    /// As named on the compiler's command line.
    pub source: String,
    pub bitcode: Vec<u8>,
    /// The same with the checks of clang's sanitizers, where it compiles with them.
    pub checked: Option<Vec<u8>>,
}

/// Everything embedded in one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Payload {
    pub modules: Vec<Module>,
    /// Absent in objects, and in programs linked by another program than `tarragon cc`.
    pub recipe: Option<Recipe>,
    /// Content of native inputs, by the keys that the recipe uses.
    pub natives: BTreeMap<String, Vec<u8>>,
}

#[derive(Debug, Error)]
pub enum PayloadError {
    #[error("{}: {source}", path.display())]
    Io { path: PathBuf, source: std::io::Error },
    #[error("{}: not an ELF program, library or object of this \
             machine{}", path.display(), libtool_hint(path))]
    NotElf { path: PathBuf },
    #[error(
        "{} was not built with Tarragon, or its payload was removed by llvm-strip or objcopy;\n\
         rebuild it with CC=tarragon-cc CXX=tarragon-c++",
        path.display()
    )]
    NotBuiltWithTarragon { path: PathBuf },
    #[error("{}: {source}", path.display())]
    Damaged { path: PathBuf, source: BadFrame },
    #[error("{}: damaged recipe: {source}", path.display())]
    DamagedRecipe { path: PathBuf, source: serde_json::Error },
}

impl Payload {
    /// Reads a program, shared library or object.
    pub fn read(path: &Path) -> Result<Payload, PayloadError> {
        Payload::from_sections(path, read_sections(path)?)
    }

    /// Reads one of these or an archive, of which all members count that carry bitcode.
    pub fn read_any(path: &Path) -> Result<Payload, PayloadError> {
        let io = |source| PayloadError::Io { path: path.to_owned(), source };
        let data = std::fs::read(path).map_err(io)?;
        let Ok(archive) = ArchiveFile::parse(&*data) else { return Payload::read(path) };
        let mut sections = Vec::new();
        for member in archive.members().flatten() {
            let content = member.data(&*data).unwrap_or_default();
            sections.extend(sections_of(content).unwrap_or_default());
        }
        Payload::from_sections(path, sections)
    }

    fn from_sections(path: &Path, sections: Vec<Vec<u8>>) -> Result<Payload, PayloadError> {
        if sections.is_empty() {
            return Err(PayloadError::NotBuiltWithTarragon { path: path.to_owned() });
        }
        let mut payload = Payload::default();
        for section in sections {
            let frames = frame::read_all(&section);
            for frame in
                frames.map_err(|source| PayloadError::Damaged { path: path.to_owned(), source })?
            {
                payload.add(frame).map_err(|source| PayloadError::DamagedRecipe {
                    path: path.to_owned(),
                    source,
                })?;
            }
        }
        Ok(payload)
    }

    /// Embeds it in a program that has nothing embedded.
    pub(crate) fn append_to(&self, program: &Path) -> Result<(), AppendError> {
        let (mut bitcode, mut link) = (Vec::new(), Vec::new());
        for module in &self.modules {
            frame::write(&mut bitcode, Kind::Bitcode, &module.source, &module.bitcode)?;
            if let Some(checked) = &module.checked {
                frame::write(&mut bitcode, Kind::Checked, &module.source, checked)?;
            }
        }
        for (key, content) in &self.natives {
            frame::write(&mut link, Kind::Native, key, content)?;
        }
        if let Some(recipe) = &self.recipe {
            let recipe = serde_json::to_vec(recipe).map_err(std::io::Error::from)?;
            frame::write(&mut link, Kind::Recipe, "link", &recipe)?;
        }
        let section = |name, data| NewSection { name, data };
        elf::append(program, &[section(LINK_SECTION, &link), section(BITCODE_SECTION, &bitcode)])
    }

    /// The recipe of the last link is the one of the file itself; those before came with `-r`
    /// objects, of which only the native inputs still matter.
    fn add(&mut self, frame: Frame) -> Result<(), serde_json::Error> {
        match frame.kind {
            Kind::Bitcode => {
                self.modules.push(Module { source: frame.name, bitcode: frame.data, checked: None })
            }
            Kind::Checked => {
                if let Some(module) = self.modules.last_mut() {
                    module.checked = Some(frame.data);
                }
            }
            Kind::Native => drop(self.natives.insert(frame.name, frame.data)),
            Kind::Recipe => {
                let mut recipe: Recipe = serde_json::from_slice(&frame.data)?;
                if let Some(earlier) = self.recipe.take() {
                    recipe.take_natives(earlier);
                }
                self.recipe = Some(recipe);
            }
        }
        Ok(())
    }
}

/// Libtool puts a script in the place of a program that is not installed yet.
fn libtool_hint(path: &Path) -> String {
    let wrapped = path
        .parent()
        .zip(path.file_name())
        .map(|(directory, name)| directory.join(".libs").join(name));
    let wrapped = wrapped.filter(|program| program.is_file());
    wrapped.map_or(String::new(), |program| {
        format!("; the program that it starts is {}", program.display())
    })
}

fn read_sections(path: &Path) -> Result<Vec<Vec<u8>>, PayloadError> {
    let file =
        File::open(path).map_err(|source| PayloadError::Io { path: path.to_owned(), source })?;
    let cache = ReadCache::new(file);
    sections_of(&cache).map_err(|_| PayloadError::NotElf { path: path.to_owned() })
}

fn sections_of<'data>(data: impl ReadRef<'data>) -> Result<Vec<Vec<u8>>, object::Error> {
    let elf = ElfFile64::<LittleEndian, _>::parse(data)?;
    let ours = elf
        .sections()
        .filter(|section| matches!(section.name(), Ok(BITCODE_SECTION | LINK_SECTION)));
    ours.map(|section| section.data().map(<[u8]>::to_vec)).collect()
}

/// Whether an ELF file in memory or read through a cache carries bitcode.
pub(crate) fn carries_bitcode<'data, R: ReadRef<'data>>(data: R) -> bool {
    ElfFile64::<LittleEndian, R>::parse(data)
        .is_ok_and(|elf| elf.section_by_name(BITCODE_SECTION).is_some())
}
