//! Frames: how named pieces of data are laid out in the sections that Tarragon adds to object
//! files.
//!
//! Linkers concatenate sections without telling where one input ends, so every piece carries its
//! own length:
//!
//! ```text
//! magic: 8 bytes | kind: u32 | name length: u32 | stored length: u64 | original length: u64 | name | zstd data
//! ```
//!
//! Numbers are little-endian. Zero bytes between frames are padding that a linker may insert.

use thiserror::Error;

const MAGIC: &[u8; 8] = b"TARRAGN\x01";

/// Bitcode is not aligned to bytes: higher levels cost compile time and gain little.
const COMPRESSION: i32 = 3;

/// No translation unit comes near this; a larger length means a damaged file, not an allocation to
/// attempt.
const LARGEST: u64 = 8 << 30;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Bitcode = 1,
    Recipe = 2,
    Native = 3,
    /// The translation unit of the bitcode before it once more, with the checks of clang's
    /// sanitizers.
    Checked = 4,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    pub kind: Kind,
    pub name: String,
    pub data: Vec<u8>,
}

#[derive(Debug, Error)]
#[error("damaged payload at byte {at}: {what}")]
pub struct BadFrame {
    at: usize,
    what: &'static str,
}

/// Appends a frame to `section`.
pub fn write(section: &mut Vec<u8>, kind: Kind, name: &str, data: &[u8]) -> std::io::Result<()> {
    let stored = zstd::bulk::compress(data, COMPRESSION)?;
    section.extend_from_slice(MAGIC);
    section.extend_from_slice(&(kind as u32).to_le_bytes());
    section.extend_from_slice(&(name.len() as u32).to_le_bytes());
    section.extend_from_slice(&(stored.len() as u64).to_le_bytes());
    section.extend_from_slice(&(data.len() as u64).to_le_bytes());
    section.extend_from_slice(name.as_bytes());
    section.extend_from_slice(&stored);
    Ok(())
}

/// All frames of one section, in order.
pub fn read_all(section: &[u8]) -> Result<Vec<Frame>, BadFrame> {
    let mut reader = Reader { section, at: 0 };
    let mut frames = Vec::new();
    while reader.skip_padding() {
        frames.push(reader.frame()?);
    }
    Ok(frames)
}

struct Reader<'a> {
    section: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    /// False at the end of the section.
    fn skip_padding(&mut self) -> bool {
        self.at += self.section[self.at..].iter().take_while(|&&byte| byte == 0).count();
        self.at < self.section.len()
    }

    fn frame(&mut self) -> Result<Frame, BadFrame> {
        if self.take(MAGIC.len() as u64)? != MAGIC {
            return Err(self.bad(
                "unknown magic number; was the file built with another version of Tarragon?",
            ));
        }
        let kind = match self.number(4)? {
            1 => Kind::Bitcode,
            2 => Kind::Recipe,
            3 => Kind::Native,
            4 => Kind::Checked,
            _ => return Err(self.bad("unknown kind of frame")),
        };
        let name_length = self.number(4)?;
        let stored_length = self.number(8)?;
        let length = self.number(8)?;
        let name = String::from_utf8_lossy(self.take(name_length)?).into_owned();
        let stored = self.take(stored_length)?;
        Ok(Frame { kind, name, data: self.unpack(stored, length)? })
    }

    fn unpack(&self, stored: &[u8], length: u64) -> Result<Vec<u8>, BadFrame> {
        if length > LARGEST {
            return Err(self.bad("impossible length"));
        }
        let data = zstd::bulk::decompress(stored, length as usize)
            .map_err(|_| self.bad("compressed data cannot be read"))?;
        if data.len() as u64 == length {
            Ok(data)
        } else {
            Err(self.bad("length differs from its header"))
        }
    }

    fn number(&mut self, bytes: usize) -> Result<u64, BadFrame> {
        let taken = self.take(bytes as u64)?;
        Ok(taken.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte)))
    }

    fn take(&mut self, length: u64) -> Result<&'a [u8], BadFrame> {
        let rest = &self.section[self.at..];
        let taken = usize::try_from(length).ok().and_then(|length| rest.get(..length));
        let taken = taken.ok_or_else(|| self.bad("cut short"))?;
        self.at += taken.len();
        Ok(taken)
    }

    fn bad(&self, what: &'static str) -> BadFrame {
        BadFrame { at: self.at, what }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn frames() -> impl Strategy<Value = Vec<(Frame, usize)>> {
        let kind = [Kind::Bitcode, Kind::Recipe, Kind::Native, Kind::Checked];
        let kind = proptest::sample::select(kind.to_vec());
        let data = proptest::collection::vec(any::<u8>(), 0..200);
        let frame =
            (kind, ".{0,12}", data).prop_map(|(kind, name, data)| Frame { kind, name, data });
        proptest::collection::vec((frame, 0..9_usize), 0..5)
    }

    proptest! {
        #[test]
        fn reads_what_was_written_through_padding(frames in frames()) {
            let mut section = Vec::new();
            for (frame, padding) in &frames {
                write(&mut section, frame.kind, &frame.name, &frame.data).unwrap();
                section.resize(section.len() + padding, 0);
            }
            let expected: Vec<Frame> = frames.into_iter().map(|(frame, _)| frame).collect();
            prop_assert_eq!(read_all(&section).unwrap(), expected);
        }

        #[test]
        fn damaged_sections_are_errors(frames in frames(), cut in 1..40_usize, flip in any::<usize>()) {
            let mut section = Vec::new();
            for (frame, _) in &frames {
                write(&mut section, frame.kind, &frame.name, &frame.data).unwrap();
            }
            if let Some(at) = (!section.is_empty()).then(|| flip % section.len()) {
                let mut flipped = section.clone();
                flipped[at] ^= 0xff;
                let _ = read_all(&flipped);
                section.truncate(section.len().saturating_sub(cut));
                prop_assert!(read_all(&section).map(|read| read.len() < frames.len()).unwrap_or(true));
            }
        }
    }
}
