//! Looks at the files of a link: what they are, and whether they carry bitcode.

use crate::payload::carries_bitcode;
use object::read::archive::{ArchiveFile, ArchiveMember};
use object::read::elf::ElfFile64;
use object::{FileKind, LittleEndian, Object, ObjectKind, ReadCache};
use std::fs::File;
use std::path::Path;

#[derive(Debug, PartialEq, Eq)]
pub enum Probe {
    Object {
        payload: bool,
    },
    SharedLibrary {
        payload: bool,
    },
    /// An archive without bitcode that can be used as it is.
    NativeArchive,
    /// The members without bitcode of an archive in which others carry bitcode, or which is thin.
    MixedArchive(Vec<NativeMember>),
    /// Not readable where the command line says; the linker found it elsewhere.
    Missing,
    /// A linker script, or a file that only the linker understands.
    Other,
}

#[derive(Debug, PartialEq, Eq)]
pub struct NativeMember {
    pub name: String,
    pub content: Vec<u8>,
}

/// What the file at `path` is.
pub fn probe(path: &Path) -> std::io::Result<Probe> {
    let cache = ReadCache::new(File::open(path)?);
    Ok(match FileKind::parse(&cache) {
        Ok(FileKind::Elf64) => probe_elf(&cache),
        Ok(FileKind::Archive) => {
            ArchiveProbe { cache: &cache, path }.probe().unwrap_or(Probe::Other)
        }
        _ => Probe::Other,
    })
}

fn probe_elf(cache: &ReadCache<File>) -> Probe {
    let payload = carries_bitcode(cache);
    let elf = ElfFile64::<LittleEndian, _>::parse(cache);
    match elf.map(|elf| elf.kind()) {
        Ok(ObjectKind::Dynamic | ObjectKind::Executable) => Probe::SharedLibrary { payload },
        _ => Probe::Object { payload },
    }
}

struct ArchiveProbe<'a> {
    cache: &'a ReadCache<File>,
    path: &'a Path,
}

impl ArchiveProbe<'_> {
    fn probe(&self) -> object::Result<Probe> {
        let archive = ArchiveFile::parse(self.cache)?;
        let members = archive.members().collect::<object::Result<Vec<_>>>()?;
        let mut native = Vec::new();
        for member in &members {
            if !self.has_payload(member) {
                native.push(member);
            }
        }
        if native.len() == members.len() && !archive.is_thin() {
            return Ok(Probe::NativeArchive);
        }
        native
            .into_iter()
            .map(|member| self.extract(member))
            .collect::<object::Result<_>>()
            .map(Probe::MixedArchive)
    }

    fn has_payload(&self, member: &ArchiveMember) -> bool {
        if member.is_thin() {
            let opened = File::open(self.thin_path(member));
            return opened.is_ok_and(|file| carries_bitcode(&ReadCache::new(file)));
        }
        let (offset, size) = member.file_range();
        carries_bitcode(self.cache.range(offset, size))
    }

    fn extract(&self, member: &ArchiveMember) -> object::Result<NativeMember> {
        let name = String::from_utf8_lossy(member.name()).replace('/', "_");
        let content = match member.is_thin() {
            true => std::fs::read(self.thin_path(member)).unwrap_or_default(),
            false => member.data(self.cache)?.to_vec(),
        };
        Ok(NativeMember { name, content })
    }

    /// Members of a thin archive are named relative to it.
    fn thin_path(&self, member: &ArchiveMember) -> std::path::PathBuf {
        let name = String::from_utf8_lossy(member.name()).into_owned();
        self.path.parent().unwrap_or(Path::new("")).join(name)
    }
}
