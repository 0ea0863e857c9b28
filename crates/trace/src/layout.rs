//! The shared memory segment: a header, then regions whose places the header gives.
//!
//! The driver creates the segment and fills in the header's first half; the target fills in the
//! counters. The target may be broken in any way, so the driver checks every number that it reads
//! from here.

/// Header at offset 0 of the segment.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Header {
    pub magic: u64,
    pub version: u32,
    /// See [`flags`]. Written by the driver before each run.
    pub flags: u32,
    /// Length of the input of this run, at most `max_input_len`.
    pub input_len: u32,
    pub max_input_len: u32,
    /// Device and inode of the file that holds the input, whichever descriptor the target reads it
    /// from.
    pub input_device: u64,
    pub input_inode: u64,
    pub input: Region,
    /// One byte for each byte of the input, read with [`flags::HOLES`]; see [`marks`].
    pub holes: Region,
    /// One byte an outcome of a branch site: how often the run took it, at most 255.
    pub coverage: Region,
    pub events: Region,
    pub nodes: Region,
    /// Concrete value (low 64 bits) of each node on this run, same indices as `nodes`.
    pub values: Region,
    /// [`MAX_SHAPES`](crate::MAX_SHAPES) nodes, whose operands are numbers of shapes.
    pub shapes: Region,
    /// [`Table`] records.
    pub tables: Region,
    /// Bytes of the tables.
    pub data: Region,
    /// Set by the target before it writes anything: [`Header::VERSION`] of the runtime.
    pub runtime_version: u32,
    /// The number of coverage bytes that the target's program needs; may exceed `coverage`. Set
    /// before the greeting.
    pub coverage_needed: u32,
    /// Labels in use, label 0 included.
    pub node_count: u32,
    pub event_count: u32,
    pub table_count: u32,
    pub data_len: u32,
    pub shape_count: u32,
    /// How often each [`GiveUp`](crate::GiveUp) happened.
    pub give_ups: [u32; 32],
    /// Branches on symbolic conditions, repeated ones included.
    pub symbolic_branches: u64,
}

/// A part of the segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Region {
    /// Bytes from the start of the segment; a multiple of 4096.
    pub offset: u64,
    /// Number of elements (bytes for `input`, `coverage` and `data`).
    pub capacity: u64,
}

/// An object in memory, as it was when the run read from it at a symbolic address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Table {
    /// First byte in the `data` region.
    pub data: u32,
    pub len: u32,
    /// Offset (multiple of 4) in the `data` region of `len` labels, one a byte, as native-endian
    /// `u32`; the label of a byte is 0 if it is concrete and otherwise has 8 bits. `u32::MAX` if
    /// the whole table is concrete.
    pub labels: u32,
    pub reserved: u32,
}

/// How many elements each region holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capacities {
    pub input: u64,
    pub coverage: u64,
    pub events: u64,
    pub nodes: u64,
    pub tables: u64,
    pub data: u64,
}

pub mod flags {
    /// Give input bytes labels. Without it the run only records coverage.
    pub const SYMBOLIC: u32 = 1;
    /// Words of the program (arguments, environment variables) contain placeholders of
    /// [`words`](super::words).
    pub const WORDS: u32 = 2;
    /// Of a symbolic run: only the bytes of holes get labels, and the length none.
    pub const HOLES: u32 = 4;
}

/// What a byte of the input is in a run with [`flags::HOLES`].
pub mod marks {
    /// Always the same.
    pub const FIXED: u8 = 0;
    /// Symbolic.
    pub const HOLE: u8 = 1;
    /// One of the equal bytes of the repetition, of which there is at most one. Their number is a
    /// variable: after the input, the expressions of a run have [`COUNT_BYTES`] more input bytes,
    /// which are its value, the low byte first.
    pub const FILLER: u8 = 2;
    pub const COUNT_BYTES: u32 = 2;
}

/// What stands for the input in a program's words.
pub mod words {
    /// The next piece of the input; pieces end at zero bytes.
    pub const PIECE: &str = "@{}";
    /// As the last argument: an argument for each piece that is left, none for an empty input.
    pub const ALL: &str = "@{...}";
}

impl Header {
    pub const MAGIC: u64 = u64::from_le_bytes(*b"TARRAGON");
    pub const VERSION: u32 = 7;

    /// A header with all regions placed, and the size of the segment that it describes.
    pub fn new(capacities: &Capacities) -> (Header, u64) {
        const PAGE: u64 = 4096;
        let mut end = (size_of::<Header>() as u64).next_multiple_of(PAGE);
        let mut place = |capacity: u64, element: usize| {
            let region = Region { offset: end, capacity };
            end = (end + capacity * element as u64).next_multiple_of(PAGE);
            region
        };
        let header = Header {
            magic: Header::MAGIC,
            version: Header::VERSION,
            flags: 0,
            input_len: 0,
            max_input_len: capacities.input as u32,
            input_device: 0,
            input_inode: 0,
            input: place(capacities.input, 1),
            holes: place(capacities.input, 1),
            coverage: place(capacities.coverage, 1),
            events: place(capacities.events, size_of::<crate::Event>()),
            nodes: place(capacities.nodes, size_of::<crate::Node>()),
            values: place(capacities.nodes, size_of::<u64>()),
            shapes: place(u64::from(crate::MAX_SHAPES), size_of::<crate::Node>()),
            tables: place(capacities.tables, size_of::<Table>()),
            data: place(capacities.data, 1),
            runtime_version: 0,
            coverage_needed: 0,
            node_count: 0,
            event_count: 0,
            table_count: 0,
            data_len: 0,
            shape_count: 0,
            give_ups: [0; 32],
            symbolic_branches: 0,
        };
        (header, end)
    }
}

/// Address space that the runtime reserves at most for labels, beyond what the target itself uses.
/// A limit on a target's address space has to leave room for it.
pub const RESERVED_ADDRESS_SPACE: u64 = 64 << 30;

/// An allocation beyond this number of bytes is taken for a mistake.
pub const MAX_MEMORY: u64 = 2 << 30;

/// Size of the block of each thread of a target in which labels travel; the instrumenter reserves
/// it.
pub const TLS_BYTES: usize = 4096;

/// Descriptors that the driver leaves open for the fork server in the target.
#[derive(Clone, Copy, Debug)]
pub struct ServerFds {
    pub segment: i32,
    pub commands: i32,
    pub reports: i32,
    /// The first of three copies of the standard streams, which a process makes that takes several
    /// inputs.
    pub copies: i32,
}

pub const SERVER_FDS: ServerFds =
    ServerFds { segment: 195, commands: 196, reports: 197, copies: 198 };

/// Messages between the driver and the fork server; each is sent with one `write` and is
/// native-endian.
pub mod server {
    /// Environment variable that tells a target that it runs under Tarragon; its value is the
    /// decimal [`Header::VERSION`](super::Header::VERSION).
    pub const ENV: &core::ffi::CStr = c"TARRAGON_SERVER";

    /// Driver to server: run the input that is in the segment. While a run waits for another input,
    /// it takes the command itself, and reports.
    #[derive(Clone, Copy, Debug, Default)]
    #[repr(C)]
    pub struct Command {
        pub timeout_ms: u32,
        /// Processor time that the run may take, in microseconds; 0 for any.
        pub cpu_us: u32,
        /// 1 if the run may share its process with those before and after it.
        pub may_share: u32,
        /// For the report to repeat: a program may write to the descriptors of its server.
        pub number: u32,
    }

    /// Server to driver. The first report after the start has `kind` [`HELLO`], later ones [`DONE`]
    /// or [`ENDED`]. The first two words keep their places in every version: a driver reads them
    /// from a greeting of any length.
    #[derive(Clone, Copy, Debug, Default)]
    #[repr(C)]
    pub struct Report {
        pub kind: u32,
        /// In a greeting the version of the server; later the error number if it could not fork, or
        /// 0.
        pub detail: u32,
        /// As from `waitpid`.
        pub wait_status: i32,
        /// 1 if the server killed the run at its time limit.
        pub timed_out: u32,
        /// Largest resident set of the run, in KiB.
        pub max_rss_kib: u32,
        /// Processes of the run that were still alive at its end and were killed.
        pub stray_children: u32,
        pub run_time_us: u64,
        /// Processor time of the run, which load on the machine does not change.
        pub cpu_time_us: u64,
        /// 1 if the run's process had another input before, or waits for one.
        pub shared: u32,
        /// That of the command.
        pub number: u32,
    }

    /// What a run that takes several inputs is doing, in memory that it shares with its server.
    #[derive(Clone, Copy, Debug, Default)]
    #[repr(C)]
    pub struct Progress {
        /// One of the states below.
        pub state: u32,
        pub inputs: u32,
        pub command: Command,
        /// When the command was begun, in microseconds of the monotonic clock.
        pub started_us: u64,
        /// Processor time of the process at that moment.
        pub cpu_before_us: u64,
    }

    impl Progress {
        /// Waits for a command. One for a process of its own is left to the server.
        pub const WAITS: u32 = 0;
        /// Carries out the command.
        pub const RUNS: u32 = 1;
    }

    pub const HELLO: u32 = 0x5447_0001;
    pub const DONE: u32 = 0x5447_0002;
    /// A run that takes several inputs ended without a report from the server, and without a
    /// command that waits for it: either it was waiting for one, or it wrote over its [`Progress`].
    pub const ENDED: u32 = 0x5447_0003;
}
