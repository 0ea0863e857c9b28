//! What the instrumenter writes into a program as constants, and the runtime reads there.

/// A group of pure instructions that the runtime looks up as a whole. Its address tells it from
/// others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct PureRegion {
    /// How many labels of it are used elsewhere, at most [`PureRegion::MAX_RESULTS`].
    pub results: u32,
    /// It has one operand, and nothing but the branch or switch at its end uses a result.
    pub only_for_consumer: bool,
    pub consumer: Consumer,
}

/// What a region ends with, its first result being the condition, the value or the address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Consumer {
    Nothing = Consumer::NOTHING,
    Branch {
        /// The [number](crate::Comparison::number) of the comparison that the condition is; 0 if it
        /// is none that the length of the input may have a part in.
        comparison: u16,
        site: u32,
        /// What is compared with, if that is a constant.
        constant: u64,
    } = Consumer::BRANCH,
    Switch {
        site: u32,
    } = Consumer::SWITCH,
    /// Of so many bytes.
    Load {
        site: u32,
        size: u32,
    } = Consumer::LOAD,
}

impl Consumer {
    const NOTHING: u8 = 0;
    const BRANCH: u8 = 1;
    const SWITCH: u8 = 2;
    const LOAD: u8 = 3;

    /// The site of the branch, if one ends the region.
    #[inline(always)]
    pub const fn branch(self) -> Option<u32> {
        match self {
            Consumer::Branch { site, .. } => Some(site),
            _ => None,
        }
    }

    /// As in memory: the first byte says what it is.
    const fn words(self) -> [u32; 4] {
        match self {
            Consumer::Nothing => [Consumer::NOTHING as u32, 0, 0, 0],
            Consumer::Branch { comparison, site, constant } => {
                let first = Consumer::BRANCH as u32 | (comparison as u32) << 16;
                [first, site, constant as u32, (constant >> 32) as u32]
            }
            Consumer::Switch { site } => [Consumer::SWITCH as u32, site, 0, 0],
            Consumer::Load { site, size } => [Consumer::LOAD as u32, site, size, 0],
        }
    }
}

impl PureRegion {
    /// What the runtime's functions take and return at most.
    pub const MAX_OPERANDS: usize = 3;
    pub const MAX_RESULTS: usize = 4;
    pub const WORDS: usize = size_of::<PureRegion>() / 4;
    pub const ALIGNMENT: usize = align_of::<PureRegion>();

    /// As in the memory of a target, which is little-endian. The runtime's tables are indexed by
    /// addresses of regions, so the size of a region matters.
    pub const fn words(&self) -> [u32; PureRegion::WORDS] {
        let [a, b, c, d] = self.consumer.words();
        [self.results, self.only_for_consumer as u32, a, b, c, d]
    }
}

/// A global variable of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Global {
    pub start: usize,
    pub extent: Extent,
}

/// A size in bytes; the top bits say more about the variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct Extent(u64);

impl Extent {
    const CONSTANT: u64 = 1 << 63;
    const VISIBLE: u64 = 1 << 62;

    pub const fn new(size: u64, is_constant: bool, is_visible: bool) -> Extent {
        let constant = if is_constant { Extent::CONSTANT } else { 0 };
        Extent(size | constant | if is_visible { Extent::VISIBLE } else { 0 })
    }

    pub const fn number(self) -> u64 {
        self.0
    }

    pub const fn size(self) -> usize {
        (self.0 & !(Extent::CONSTANT | Extent::VISIBLE)) as usize
    }

    pub const fn is_constant(self) -> bool {
        self.0 & Extent::CONSTANT != 0
    }

    /// Code elsewhere can name the variable.
    pub const fn is_visible(self) -> bool {
        self.0 & Extent::VISIBLE != 0
    }
}

/// `struct __va_list_tag` of x86-64.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct VaList {
    pub gp_offset: u32,
    pub fp_offset: u32,
    pub overflow_area: *mut u8,
    pub save_area: *mut u8,
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONSUMERS: [Consumer; 4] = [
        Consumer::Nothing,
        Consumer::Branch { comparison: 0xFACE, site: 0x1234_5678, constant: 0x0102_0304_0506_0708 },
        Consumer::Switch { site: 0x8765_4321 },
        Consumer::Load { site: 0x1357_9BDF, size: 16 },
    ];

    #[test]
    fn words_are_the_memory() {
        for consumer in CONSUMERS {
            for only_for_consumer in [false, true] {
                let region = PureRegion { results: 3, only_for_consumer, consumer };
                let words = region.words();
                // SAFETY: the words are as many bytes as a region has, and valid as one if this
                // test does not fail.
                let read = unsafe { words.as_ptr().cast::<PureRegion>().read_unaligned() };
                assert_eq!(read, region);
            }
        }
    }

    #[test]
    fn an_extent_says_everything() {
        for (is_constant, is_visible) in
            [(false, false), (false, true), (true, false), (true, true)]
        {
            let extent = Extent::new(4096, is_constant, is_visible);
            let read = (extent.size(), extent.is_constant(), extent.is_visible());
            assert_eq!(read, (4096, is_constant, is_visible));
        }
    }
}
