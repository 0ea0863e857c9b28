//! The shared memory of driver and target, as the driver sees it.
//!
//! A target may write anything anywhere in it. So the driver keeps the header that it made, writes
//! it anew before each run, and copies out only what lies within the regions of its own header.

use crate::error::RunnerError;
use memmap2::{MmapOptions, MmapRaw};
use run::{RawTrace, Recorded, TableData};
use rustix::fs::{
    FallocateFlags, MemfdFlags, SealFlags, fallocate, fcntl_add_seals, ftruncate, memfd_create,
};
use std::ops::Range;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use trace::{Capacities, Event, GiveUp, Header, Label, Node, Region, Table, marks};

/// The target wrote over the header of the segment or left numbers in it that cannot be right.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the target overwrote the trace memory ({what})")]
pub struct SegmentCorrupted {
    pub what: &'static str,
}

/// A sealed memory file of fixed size, mapped.
pub struct Segment {
    file: OwnedFd,
    memory: MmapRaw,
    header: Header,
    coverage: Vec<u8>,
    /// [`marks`] of the input of the next runs; `None` if all of it is symbolic, and its length.
    holes: Option<Vec<u8>>,
    /// How many symbolic bytes after the input say how long its repetition is.
    count_bytes: u32,
}

impl Segment {
    pub fn new(capacities: &Capacities) -> Result<Segment, RunnerError> {
        let (mut header, size) = Header::new(capacities);
        // A target of any other version does not get past its greeting.
        header.runtime_version = Header::VERSION;
        let file = create_sealed(size).map_err(RunnerError::system("create shared memory"))?;
        let memory = MmapOptions::new()
            .len(size as usize)
            .map_raw(&file)
            .map_err(RunnerError::system("map shared memory"))?;
        let coverage = vec![0; capacities.coverage as usize];
        let segment = Segment { file, memory, header, coverage, holes: None, count_bytes: 0 };
        segment.write_header();
        Ok(segment)
    }

    pub fn size(&self) -> u64 {
        self.memory.len() as u64
    }

    pub fn max_input_len(&self) -> u64 {
        self.header.input.capacity
    }

    /// Tells the target which file is the input.
    pub fn set_input_identity(&mut self, device: u64, inode: u64) {
        (self.header.input_device, self.header.input_inode) = (device, inode);
        self.write_header();
    }

    /// Whether the program's outcomes fit. Asked before the first run, which may write over what
    /// the program said.
    pub fn check_coverage(&self) -> Result<(), RunnerError> {
        let (needed, have) = (self.read_header().coverage_needed, self.header.coverage.capacity);
        if u64::from(needed) > have {
            Err(RunnerError::CoverageMismatch { needed, have })
        } else {
            Ok(())
        }
    }

    /// Makes only these bytes of the next inputs symbolic, and not the length; without holes,
    /// everything. With holes there may be a repetition: equal bytes whose number is symbolic.
    pub fn restrict(&mut self, holes: Option<&[Range<usize>]>, repetition: Option<Range<usize>>) {
        let max = self.max_input_len() as usize;
        self.count_bytes = repetition.as_ref().map_or(0, |_| marks::COUNT_BYTES);
        self.holes = holes.map(|holes| {
            let parts = holes.iter().map(|hole| (hole, marks::HOLE));
            let parts =
                parts.chain(repetition.iter().map(|repetition| (repetition, marks::FILLER)));
            let end = parts.clone().map(|(part, _)| part.end).max().unwrap_or(0).min(max);
            let mut mask = vec![marks::FIXED; end];
            for (part, mark) in parts {
                mask[part.start.min(end)..part.end.min(end)].fill(mark);
            }
            mask
        });
    }

    /// Makes the segment ready for a run on `input`, which must fit. For `flags` see
    /// [`trace::flags`].
    pub fn prepare(&mut self, input: &[u8], flags: u32) -> Result<(), RunnerError> {
        let max = self.max_input_len();
        if input.len() as u64 > max {
            return Err(RunnerError::InputTooLong { len: input.len(), max });
        }
        self.release_large_trace();
        self.header.flags = flags | if self.holes.is_some() { trace::flags::HOLES } else { 0 };
        self.header.input_len = input.len() as u32;
        self.write_header();
        let coverage = self.header.coverage;
        // SAFETY: both ranges lie in the mapping, as `Header::new` placed them; the input's length
        // was checked.
        unsafe {
            std::ptr::copy_nonoverlapping(
                input.as_ptr(),
                self.at(self.header.input.offset),
                input.len(),
            );
            std::ptr::write_bytes(self.at(coverage.offset), 0, coverage.capacity as usize);
        }
        self.write_holes(input.len());
        Ok(())
    }

    fn write_holes(&self, len: usize) {
        let Some(mask) = &self.holes else { return };
        let marked = mask.len().min(len);
        // SAFETY: the region lies in the mapping and has room for as many bytes as the input, whose
        // length was checked.
        unsafe {
            let to = self.at(self.header.holes.offset);
            std::ptr::copy_nonoverlapping(mask.as_ptr(), to, marked);
            std::ptr::write_bytes(to.add(marked), 0, len - marked);
        }
    }

    /// Gives the memory of an uncommonly large trace back, which would otherwise stay for good.
    fn release_large_trace(&self) {
        const LARGE: u64 = 64 << 20;
        let seen = self.read_header();
        let nodes = u64::from(seen.node_count) * (size_of::<Node>() + size_of::<u64>()) as u64;
        let events = u64::from(seen.event_count) * size_of::<Event>() as u64;
        if nodes + events + u64::from(seen.data_len) >= LARGE {
            let start = self.header.events.offset;
            let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
            // Without it the memory stays in use and is used again.
            let _ = fallocate(&self.file, flags, start, self.size() - start);
        }
    }

    /// Takes a copy of the coverage of the run that is over.
    pub fn collect_coverage(&mut self) {
        let region = self.header.coverage;
        // SAFETY: the region lies in the mapping and `coverage` has its length.
        unsafe {
            let from = self.at(region.offset);
            std::ptr::copy_nonoverlapping(from, self.coverage.as_mut_ptr(), self.coverage.len());
        }
    }

    pub fn coverage(&self) -> &[u8] {
        &self.coverage
    }

    /// What the run's sanitizer said, in the place of the data of tables, which other variants
    /// have.
    pub fn reports(&self) -> Vec<u8> {
        let region = self.header.data;
        let len = u64::from(self.read_header().data_len).min(region.capacity);
        self.copy(&region, len as u32, "length of reports").unwrap_or_default()
    }

    /// Copies out what the run wrote.
    pub fn collect(&self) -> Result<RawTrace, SegmentCorrupted> {
        let seen = self.read_header();
        self.check_untouched(&seen)?;
        let header = &self.header;
        let recorded = Recorded {
            nodes: self.copy(&header.nodes, seen.node_count, "number of nodes")?,
            values: self.copy(&header.values, seen.node_count, "number of values")?,
            tables: self.copy_tables(&seen)?,
            shapes: self.copy(&header.shapes, seen.shape_count, "number of shapes")?,
            input_len: header.input_len + self.count_bytes,
        };
        Ok(RawTrace {
            recorded,
            events: self.copy(&header.events, seen.event_count, "number of events")?,
            give_ups: seen.give_ups,
            truncated: seen.give_ups[GiveUp::TraceFull as usize] > 0,
            symbolic_branches: seen.symbolic_branches,
        })
    }

    /// The half of the header that belongs to the driver.
    fn check_untouched(&self, seen: &Header) -> Result<(), SegmentCorrupted> {
        let regions = |h: &Header| {
            [h.input, h.holes, h.coverage, h.events, h.nodes, h.values, h.shapes, h.tables, h.data]
        };
        let numbers =
            |h: &Header| (h.magic, h.version, h.flags, h.input_len, h.input_device, h.input_inode);
        let same = numbers(seen) == numbers(&self.header) && regions(seen) == regions(&self.header);
        if same { Ok(()) } else { Err(SegmentCorrupted { what: "header" }) }
    }

    fn copy_tables(&self, seen: &Header) -> Result<Vec<TableData>, SegmentCorrupted> {
        let records: Vec<Table> =
            self.copy(&self.header.tables, seen.table_count, "number of tables")?;
        // Tables do not overlap, so a sum past the region is a lie that could cost terabytes.
        let mut left = self.header.data.capacity;
        records.iter().map(|record| self.copy_table(record, &mut left)).collect()
    }

    fn copy_table(&self, record: &Table, left: &mut u64) -> Result<TableData, SegmentCorrupted> {
        const WHAT: SegmentCorrupted = SegmentCorrupted { what: "place of a table" };
        let concrete = record.labels == u32::MAX;
        let size = u64::from(record.len) * if concrete { 1 } else { 5 };
        *left = left.checked_sub(size).ok_or(WHAT)?;
        let bytes = self.copy(&self.part_of_data(record.data, 1)?, record.len, WHAT.what)?;
        if concrete {
            return Ok(TableData::concrete(bytes));
        }
        let labels = self.copy(
            &self.part_of_data(record.labels, size_of::<Label>() as u64)?,
            record.len,
            WHAT.what,
        )?;
        Ok(TableData { bytes, labels: Some(labels) })
    }

    /// The rest of the data region from `start`, counted in elements of `size` bytes.
    fn part_of_data(&self, start: u32, size: u64) -> Result<Region, SegmentCorrupted> {
        let data = self.header.data;
        let start = u64::from(start);
        if start > data.capacity || !start.is_multiple_of(size) {
            return Err(SegmentCorrupted { what: "place of a table" });
        }
        Ok(Region { offset: data.offset + start, capacity: (data.capacity - start) / size })
    }

    /// Copies the first `count` elements of a region of this segment.
    fn copy<T: Plain>(
        &self,
        region: &Region,
        count: u32,
        what: &'static str,
    ) -> Result<Vec<T>, SegmentCorrupted> {
        if u64::from(count) > region.capacity {
            return Err(SegmentCorrupted { what });
        }
        let count = count as usize;
        let mut elements = Vec::with_capacity(count);
        // SAFETY: `count` elements lie within the region and the region within the mapping; every
        // bit pattern is a `T`. The regions are page-aligned and table labels a multiple of 4 into
        // one.
        unsafe {
            std::ptr::copy_nonoverlapping(
                self.at(region.offset).cast::<T>(),
                elements.as_mut_ptr(),
                count,
            );
            elements.set_len(count);
        }
        Ok(elements)
    }

    fn read_header(&self) -> Header {
        // SAFETY: the mapping starts with a header, which is plain numbers.
        unsafe { self.memory.as_ptr().cast::<Header>().read_volatile() }
    }

    fn write_header(&self) {
        // SAFETY: as for `read_header`.
        unsafe { self.memory.as_mut_ptr().cast::<Header>().write_volatile(self.header) }
    }

    /// # Safety
    /// `offset` must lie within the mapping.
    unsafe fn at(&self, offset: u64) -> *mut u8 {
        // SAFETY: as the caller says.
        unsafe { self.memory.as_mut_ptr().add(offset as usize) }
    }
}

impl AsFd for Segment {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// Types without padding for which every bit pattern is valid.
///
/// # Safety
/// As said.
unsafe trait Plain: Copy {}
// SAFETY: an integer.
unsafe impl Plain for u8 {}
// SAFETY: an integer.
unsafe impl Plain for u32 {}
// SAFETY: an integer.
unsafe impl Plain for u64 {}
// SAFETY: integers only.
unsafe impl Plain for Node {}
// SAFETY: integers only.
unsafe impl Plain for Event {}
// SAFETY: integers only.
unsafe impl Plain for Table {}

/// The size is sealed: a target that shortened the file would otherwise make the driver fault.
fn create_sealed(size: u64) -> rustix::io::Result<OwnedFd> {
    let file = memfd_create(c"tarragon-segment", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
    ftruncate(&file, size)?;
    fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
    Ok(file)
}

#[cfg(test)]
mod tests;
