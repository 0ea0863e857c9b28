//! Events: what happened to symbolic values on the way, in program order.

use crate::node::Label;

/// Where `site` of an [`EventKind::Word`] is no function: the numbers from here on are those of
/// comparisons of one run.
pub const COMPARED: u32 = 1 << 31;

/// In place of the number of a function that is not known, as in an event of the kind
/// [`EventKind::GiveUp`].
pub const UNKNOWN_FUNCTION: u32 = u32::MAX;

/// Events of this kind in a run, and bytes of their words, at most.
pub const MAX_WORDS: usize = 1024;
pub const LONGEST_WORD: usize = 64;

/// One event of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(C)]
pub struct Event {
    /// An [`EventKind`] as a byte. Read it with [`EventKind::from_byte`].
    pub kind: u8,
    /// For branches and checks: the value that the 1-bit `label` had, 0 or 1.
    pub taken: u8,
    /// [`CheckKind`], [`ConcretiseReason`] or [`GiveUp`], depending on the kind.
    pub aux: u16,
    /// Site in the program, as numbered by the instrumenter; 0 where there is none.
    pub site: u32,
    pub label: Label,
    pub arg: u32,
}

macro_rules! byte_enum {
    ($(#[$meta:meta])* $name:ident: $repr:ty { $($(#[$doc:meta])* $variant:ident = $text:literal),* $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr($repr)]
        pub enum $name { $($(#[$doc])* $variant),* }

        impl $name {
            pub const ALL: &'static [$name] = &[$($name::$variant),*];

            pub const fn from_byte(byte: $repr) -> Option<$name> {
                if (byte as usize) < Self::ALL.len() { Some(Self::ALL[byte as usize]) } else { None }
            }

            /// Text for statistics and messages.
            pub const fn text(self) -> &'static str {
                match self { $($name::$variant => $text),* }
            }
        }
    };
}

byte_enum! {
    EventKind: u8 {
        /// A conditional branch on the 1-bit `label`. A given label is recorded once a run: later
        /// branches on it are implied. `arg` is 1 if the program branches on its negation: then its
        /// true side is the branch's false side.
        Branch = "branch",
        /// A switch on `label`. `arg` is the index of the case taken, or the number of cases for
        /// the default; the case values are in the site table.
        Switch = "switch",
        /// From here on the run is valid only for inputs where `label` has the value that it had.
        Concretise = "concretise",
        /// A property: the 1-bit `label` says that it is violated (`taken` is 0 on a run that goes
        /// on).
        Check = "check",
        /// Symbolic data was dropped.
        GiveUp = "give-up",
        /// A lexer was entered: up to its token, events are about its own work.
        LexerEntered = "lexer entered",
        /// A lexer delivered the token `label`, a `Token` node. `arg` is the number of the lexer.
        Delivered = "token delivered",
        /// What every input is like: the 1-bit `label` has another side, but nobody can go there.
        Given = "given",
        /// A word was asked about: given to a function that cannot be turned round, `site` being
        /// its number, or compared with a word of another length, then `site` is [`COMPARED`] and
        /// more, and the same for both. `arg` is the table with the word.
        Word = "word asked about",
    }
}

byte_enum! {
    CheckKind: u16 {
        DivisionByZero = "division by zero",
        DivisionOverflow = "division overflow",
        /// An address outside the object that it was computed from.
        OutOfBounds = "out of bounds",
        /// An addition, subtraction or multiplication of signed numbers.
        SignedOverflow = "signed overflow",
        /// By as many bits as the number has, or more.
        ShiftTooFar = "shift by too many bits",
        AllocationSize = "allocation of an absurd size",
        /// An access through a pointer that the input chooses.
        Pointer = "pointer from the input",
        FormatString = "input as a format",
    }
}

byte_enum! {
    ConcretiseReason: u16 {
        ReadAddress = "read at symbolic address",
        WriteAddress = "write at symbolic address",
        CallTarget = "call of symbolic function pointer",
        CopyLength = "copy of symbolic length",
        AllocationSize = "allocation of symbolic size",
        StackSize = "stack array of symbolic size",
        JumpTarget = "computed jump",
        Argument = "argument of an uninstrumented function",
        /// The run has had its share of expressions of several bytes.
        Budget = "too many expressions of several bytes",
        /// The same of a run that has more expressions of one byte than there are numbers for.
        Expressions = "too many expressions",
    }
}

byte_enum! {
    /// Why symbolic data was dropped.
    GiveUp: u16 {
        InlineAssembly = "inline assembly",
        Vector = "vector operation",
        LongDouble = "long double",
        WideInteger = "integer wider than 128 bits",
        Intrinsic = "compiler intrinsic without a model",
        External = "function without a model",
        /// The value in memory is not the one that the label stands for: uninstrumented code wrote
        /// it.
        Stale = "overwritten by uninstrumented code",
        TraceFull = "trace memory full",
        Reentry = "signal handler inside the runtime",
        ForkedChild = "forked child",
        /// A run was ended where the program would go on, or goes on in an order that is chance.
        Undecided = "end or order of a run that the input does not decide",
        Atomic = "atomic operation",
        Float = "floating-point operation without a model",
        InputTooLong = "input beyond the length limit",
        Model = "library call beyond its model",
        /// Words that were hashed before are tried instead.
        Hash = "result of a hash",
        /// Its descriptors moved without a model, or such code got its name.
        InputTaken = "input read by code that is not followed",
        /// A child inherits the input's descriptors.
        OtherProgram = "another program started",
        CameBack = "data that went through a file or a pipe",
        Arguments = "more arguments than are followed",
    }
}
