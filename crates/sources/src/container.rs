//! Containers: made of parts, taken apart, and brought into their one form.

use std::ops::Range;

use thiserror::Error;

use crate::layout::{Kind, Layout, MARK, Part};

/// The bytes of each part, in the order of the layout. Parts of choices may be short: what is
/// missing is zero.
pub type Parts = Vec<Vec<u8>>;

#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ContainerError {
    #[error("it is no container: those begin with `{MARK}`")]
    NoContainer,
    #[error("it is a container for other sources: {0}")]
    OtherSources(String),
}

impl Layout {
    /// A container with these parts, which are cut where they are too long.
    pub fn join(&self, parts: &[Vec<u8>]) -> Vec<u8> {
        let mut container = self.line().to_vec();
        let missing = Vec::new();
        for (part, bytes) in
            self.parts().iter().zip(parts.iter().chain(std::iter::repeat(&missing)))
        {
            push(&mut container, part, &bytes[..bytes.len().min(part.capacity)]);
        }
        container
    }

    /// What is in a container. One that ends early goes on with zeros.
    pub fn split(&self, container: &[u8]) -> Result<Parts, ContainerError> {
        self.check(container)?;
        Ok(self.places().map(|(part, place)| taken(part, container, place.start)).collect())
    }

    /// How much is in a container: bytes of data and texts, and choices that are not the usual one.
    pub fn content(&self, container: &[u8]) -> usize {
        let count = |(part, place): (&Part, Range<usize>)| match part.kind {
            Kind::Choices => {
                taken(part, container, place.start).iter().filter(|b| **b != 0).count()
            }
            Kind::Data | Kind::Text => length(part, container, place.start),
        };
        self.places().map(count).sum()
    }

    /// Whether the parts of the container are these.
    pub fn check(&self, container: &[u8]) -> Result<(), ContainerError> {
        if container.starts_with(self.line()) {
            return Ok(());
        }
        Err(match Layout::of(container) {
            Some(other) => ContainerError::OtherSources(other.to_string()),
            None => ContainerError::NoContainer,
        })
    }

    /// The one form of what somebody made of a container: with its line, with lengths that are
    /// possible, with zeros where nothing is, and as long as it has to be.
    pub fn normalise(&self, container: &mut Vec<u8>) {
        container.resize(self.size(), 0);
        container[..self.line().len()].copy_from_slice(self.line());
        for (part, place) in self.places() {
            let len = length(part, container, place.start);
            container[place.start + len..place.end].fill(0);
            if part.kind == Kind::Data {
                write_length(part, &mut container[place.start - part.head()..place.start], len);
            }
        }
    }
}

fn push(container: &mut Vec<u8>, part: &Part, bytes: &[u8]) {
    let is_text = part.kind == Kind::Text;
    let end = bytes.iter().position(|byte| is_text && *byte == 0).unwrap_or(bytes.len());
    let (start, bytes) = (container.len(), &bytes[..end]);
    container.resize(start + part.head() + part.capacity, 0);
    write_length(part, &mut container[start..start + part.head()], bytes.len());
    container[start + part.head()..][..bytes.len()].copy_from_slice(bytes);
}

fn write_length(part: &Part, head: &mut [u8], len: usize) {
    head.copy_from_slice(&len.to_le_bytes()[..part.head()]);
}

/// The length of a part whose bytes begin at `start`.
fn length(part: &Part, container: &[u8], start: usize) -> usize {
    let byte = |at: usize| usize::from(container.get(at).copied().unwrap_or(0));
    let read = match part.kind {
        Kind::Choices => part.capacity,
        Kind::Text => (start..).take_while(|at| byte(*at) != 0).take(part.capacity).count(),
        Kind::Data => (start - part.head()..start).rev().fold(0, |len, at| len << 8 | byte(at)),
    };
    read.min(part.capacity)
}

fn taken(part: &Part, container: &[u8], start: usize) -> Vec<u8> {
    let len = length(part, container, start);
    let there = container.get(start..).unwrap_or_default();
    let mut bytes = there[..there.len().min(len)].to_vec();
    bytes.resize(len, 0);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout() -> Layout {
        let (data, others) = (
            [Part::data("a", 3), Part::data("b", 300)],
            [Part::choices("c", 2), Part::text("d", 3)],
        );
        Layout::new(data.into_iter().chain(others).collect()).unwrap()
    }

    #[test]
    fn what_is_joined_is_split_again() {
        let layout = layout();
        let long = vec![b'x'; 257];
        let container = layout.join(&[b"ab".to_vec(), long.clone(), vec![7], b"x\0y".to_vec()]);
        assert_eq!(container.len(), layout.size());
        assert_eq!(layout.content(&container), 2 + 257 + 1 + 1);
        let text = b"x".to_vec();
        assert_eq!(layout.split(&container).unwrap(), [b"ab".to_vec(), long, vec![7, 0], text]);
        let full = layout.join(&[vec![], vec![], vec![], b"xyzu".to_vec()]);
        assert_eq!(layout.split(&full).unwrap()[3], b"xyz");
        let cut = layout.join(&[b"abcd".to_vec()]);
        assert_eq!(layout.split(&cut).unwrap()[0], b"abc");
    }

    #[test]
    fn whatever_comes_has_one_form_afterwards() {
        let layout = layout();
        let mut rng = 1u32;
        for size in [0, 10, layout.size(), layout.size() + 9] {
            let byte = |_| {
                rng = rng.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (rng >> 24) as u8
            };
            let mut container: Vec<u8> = (0..size).map(byte).collect();
            layout.normalise(&mut container);
            let parts = layout.split(&container).unwrap();
            assert_eq!(layout.join(&parts), container);
        }
    }

    #[test]
    fn others_are_told_apart() {
        let layout = layout();
        assert_eq!(layout.check(b"GET /"), Err(ContainerError::NoContainer));
        let other = Layout::new(vec![Part::data("stdin", 9)]).unwrap();
        let error = layout.check(&other.join(&[])).unwrap_err();
        assert_eq!(error.to_string(), "it is a container for other sources: stdin=9");
    }
}
