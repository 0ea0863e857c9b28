//! Appends sections to ELF files in place.
//!
//! Nothing that exists in the file moves: section contents, a grown copy of the section names and a
//! new section table go to its end, and the file header is patched last. So loaded code and data
//! stay bit for bit what clang wrote, and a file whose writing is cut short is still the old file.

use object::elf::{self, FileHeader64, SectionHeader64};
use object::pod::{bytes_of, bytes_of_slice, from_bytes, slice_from_bytes};
use object::{LittleEndian, U32, U64};
use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::Path;
use thiserror::Error;

type Header = FileHeader64<LittleEndian>;
type Section = SectionHeader64<LittleEndian>;
const LE: LittleEndian = LittleEndian;

#[derive(Debug, Error)]
pub enum AppendError {
    #[error("not a 64-bit little-endian ELF file")]
    NotElf64,
    #[error("its section table is missing or damaged")]
    NoSections,
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

/// A section that is not loaded: no flags, no address, no alignment.
pub struct NewSection<'a> {
    pub name: &'a str,
    pub data: &'a [u8],
}

/// Appends `sections` to the file at `path`.
pub fn append(path: &Path, sections: &[NewSection]) -> Result<(), AppendError> {
    let file = OpenOptions::new().read(true).write(true).open(path)?;
    let mut image = Image::read(&file)?;
    let mut tail = Tail { start: file.metadata()?.len(), bytes: Vec::new() };
    for section in sections {
        let offset = tail.push(section.data, 1);
        image.add(section.name, offset, section.data.len() as u64);
    }
    image.place_names(&mut tail);
    image.place_table(&mut tail);
    file.write_all_at(&tail.bytes, tail.start)?;
    file.write_all_at(bytes_of(&image.header), 0)?;
    Ok(())
}

/// What will be written after the present end of the file.
struct Tail {
    start: u64,
    bytes: Vec<u8>,
}

impl Tail {
    /// Adds `data` at the next multiple of `align` and returns its offset in the file.
    fn push(&mut self, data: &[u8], align: u64) -> u64 {
        let offset = (self.start + self.bytes.len() as u64).next_multiple_of(align);
        self.bytes.resize((offset - self.start) as usize, 0);
        self.bytes.extend_from_slice(data);
        offset
    }
}

/// The parts of an ELF file that appending changes.
struct Image {
    header: Header,
    table: Vec<Section>,
    names_index: usize,
    names: Vec<u8>,
}

impl Image {
    fn read(file: &File) -> Result<Image, AppendError> {
        let header = read_header(file)?;
        let table = read_table(file, &header)?;
        let names_index = match header.e_shstrndx.get(LE) {
            elf::SHN_XINDEX => table[0].sh_link.get(LE) as usize,
            index => index as usize,
        };
        let section =
            table.get(names_index).filter(|_| names_index != 0).ok_or(AppendError::NoSections)?;
        let names = read_at(file, section.sh_offset.get(LE), section.sh_size.get(LE))?;
        Ok(Image { header, table, names_index, names })
    }

    fn add(&mut self, name: &str, offset: u64, size: u64) {
        self.table.push(Section {
            sh_name: U32::new(LE, self.names.len() as u32),
            sh_type: U32::new(LE, elf::SHT_PROGBITS),
            sh_flags: U64::new(LE, 0),
            sh_addr: U64::new(LE, 0),
            sh_offset: U64::new(LE, offset),
            sh_size: U64::new(LE, size),
            sh_link: U32::new(LE, 0),
            sh_info: U32::new(LE, 0),
            sh_addralign: U64::new(LE, 1),
            sh_entsize: U64::new(LE, 0),
        });
        self.names.extend_from_slice(name.as_bytes());
        self.names.push(0);
    }

    fn place_names(&mut self, tail: &mut Tail) {
        let offset = tail.push(&self.names, 1);
        let section = &mut self.table[self.names_index];
        section.sh_offset.set(LE, offset);
        section.sh_size.set(LE, self.names.len() as u64);
    }

    /// Counts that do not fit the file header live in the otherwise unused section 0.
    fn place_table(&mut self, tail: &mut Tail) {
        let count = self.table.len();
        match u16::try_from(count).ok().filter(|&count| count < elf::SHN_LORESERVE) {
            Some(count) => self.header.e_shnum.set(LE, count),
            None => {
                self.header.e_shnum.set(LE, 0);
                self.table[0].sh_size.set(LE, count as u64);
            }
        }
        let offset = tail.push(bytes_of_slice(&self.table), 8);
        self.header.e_shoff.set(LE, offset);
    }
}

fn read_header(file: &File) -> Result<Header, AppendError> {
    let mut bytes = vec![0; size_of::<Header>()];
    file.read_exact_at(&mut bytes, 0).map_err(|_| AppendError::NotElf64)?;
    let (header, _) = from_bytes::<Header>(&bytes).map_err(|()| AppendError::NotElf64)?;
    let ident = &header.e_ident;
    let known = ident.magic == elf::ELFMAG
        && ident.class == elf::ELFCLASS64
        && ident.data == elf::ELFDATA2LSB;
    if known { Ok(*header) } else { Err(AppendError::NotElf64) }
}

fn read_table(file: &File, header: &Header) -> Result<Vec<Section>, AppendError> {
    let offset = header.e_shoff.get(LE);
    if offset == 0 || usize::from(header.e_shentsize.get(LE)) != size_of::<Section>() {
        return Err(AppendError::NoSections);
    }
    let count = match u64::from(header.e_shnum.get(LE)) {
        0 => sections(&read_at(file, offset, size_of::<Section>() as u64)?)?[0].sh_size.get(LE),
        count => count,
    };
    let size = count.checked_mul(size_of::<Section>() as u64).filter(|&size| size != 0);
    sections(&read_at(file, offset, size.ok_or(AppendError::NoSections)?)?)
}

fn sections(bytes: &[u8]) -> Result<Vec<Section>, AppendError> {
    let count = bytes.len() / size_of::<Section>();
    let (table, _) =
        slice_from_bytes::<Section>(bytes, count).map_err(|()| AppendError::NoSections)?;
    Ok(table.to_vec())
}

fn read_at(file: &File, offset: u64, size: u64) -> Result<Vec<u8>, AppendError> {
    let end = offset.checked_add(size).ok_or(AppendError::NoSections)?;
    if end > file.metadata()?.len() {
        return Err(AppendError::NoSections);
    }
    let mut bytes = vec![0; size as usize];
    file.read_exact_at(&mut bytes, offset)?;
    Ok(bytes)
}
