//! Expression nodes: the hash-consed, append-only table that a run builds.
//!
//! A node's operands always have smaller labels than the node itself, so label order is a
//! topological order.

/// Index of a node in the expression table. 0 means "concrete: no expression".
///
/// Labels `1..=input_len` are the input bytes in order; label `1 + input_len` is the input's
/// length. In a run's memory, labels with the bit [`SHAPED`](crate::SHAPED) stand for expressions
/// of one byte, those with the bit [`LENGTH`](crate::LENGTH) for conditions on the length.
pub type Label = u32;

/// One expression node. All values are bit-vectors of 1 to 128 bits; floats are their bit patterns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(C)]
pub struct Node {
    /// An [`Op`] as a byte. Read it with [`Op::from_byte`]: a broken target can write anything
    /// here.
    pub op: u8,
    /// Width of the result in bits, 1 to 128.
    pub bits: u8,
    /// Lowest extracted bit for `Extract`, a combination of [`text`] flags for `Find` and
    /// `Compare`, otherwise 0.
    pub aux: u16,
    pub a: u32,
    pub b: u32,
    pub c: u32,
}

impl Node {
    pub const fn constant(bits: u8, value: u64) -> Node {
        Node { op: Op::Const as u8, bits, aux: 0, a: 0, b: value as u32, c: (value >> 32) as u32 }
    }

    pub const fn unary(op: Op, bits: u8, a: Label) -> Node {
        Node { op: op as u8, bits, aux: 0, a, b: 0, c: 0 }
    }

    pub const fn binary(op: Op, bits: u8, a: Label, b: Label) -> Node {
        Node { op: op as u8, bits, aux: 0, a, b, c: 0 }
    }

    /// Token number `number`, which was delivered as `code`.
    pub const fn token(number: u32, code: u64) -> Node {
        Node { a: number, op: Op::Token as u8, ..Node::constant(64, code) }
    }

    /// Value of a `Const` or `Token` node.
    pub const fn const_value(&self) -> u64 {
        self.b as u64 | (self.c as u64) << 32
    }
}

macro_rules! ops {
    ($($(#[$doc:meta])* $name:ident = $text:literal / $arity:literal),* $(,)?) => {
        /// Operators. Shifts by at least the width, and division by zero, are as in SMT-LIB
        /// (`x << big = 0`, `x udiv 0 = all ones`, `x urem 0 = x`), so that every node has a value.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Op { $($(#[$doc])* $name),* }

        impl Op {
            pub const ALL: &'static [Op] = &[$(Op::$name),*];

            /// Name in the text form of expressions.
            pub const fn name(self) -> &'static str {
                match self { $(Op::$name => $text),* }
            }

            /// How many of `a`, `b`, `c` are labels of operands.
            #[inline]
            pub const fn arity(self) -> usize {
                match self { $(Op::$name => $arity),* }
            }
        }
    };
}

ops! {
    /// At most 64 significant bits, in `b` (low) and `c` (high); zero-extended to `bits`.
    Const = "const" / 0,
    /// Input byte number `a`; 8 bits.
    Input = "input" / 0,
    /// Length of the input in bytes; 64 bits.
    Len = "len" / 0,
    /// What a lexer delivered as its token number `a`; 64 bits, which are in `b` and `c` as those
    /// of a constant. A constant for everyone who does not put a variable in its place.
    Token = "token" / 0,
    Add = "add" / 2,
    Sub = "sub" / 2,
    Mul = "mul" / 2,
    UDiv = "udiv" / 2,
    SDiv = "sdiv" / 2,
    URem = "urem" / 2,
    SRem = "srem" / 2,
    And = "and" / 2,
    Or = "or" / 2,
    Xor = "xor" / 2,
    Shl = "shl" / 2,
    LShr = "lshr" / 2,
    AShr = "ashr" / 2,
    Not = "not" / 1,
    /// Comparisons have 1 bit; their operands have equal widths.
    Eq = "eq" / 2,
    Ult = "ult" / 2,
    Ule = "ule" / 2,
    Slt = "slt" / 2,
    Sle = "sle" / 2,
    ZExt = "zext" / 1,
    SExt = "sext" / 1,
    /// Bits `aux .. aux + bits` of `a`.
    Extract = "extract" / 1,
    /// `a` holds the high bits, `b` the low bits.
    Concat = "concat" / 2,
    /// `a` has 1 bit; `b` if it is 1, otherwise `c`.
    Ite = "ite" / 3,
    /// Little-endian read of `bits / 8` bytes at byte offset `a` (64 bits, unsigned) of table
    /// number `b`. Bytes outside the table read as 0; the trace carries a bounds event where that
    /// matters.
    Read = "read" / 1,
    /// Reversal of bytes; `bits` is a multiple of 8.
    Bswap = "bswap" / 1,
    Ctpop = "ctpop" / 1,
    /// Leading zeros; the width for operand 0.
    Ctlz = "ctlz" / 1,
    /// Trailing zeros; the width for operand 0.
    Cttz = "cttz" / 1,
    /// Floating-point operators work on 32 or 64 bits, IEEE 754, round to nearest even.
    FAdd = "fadd" / 2,
    FSub = "fsub" / 2,
    FMul = "fmul" / 2,
    FDiv = "fdiv" / 2,
    /// C's `fmod`.
    FRem = "frem" / 2,
    FSqrt = "fsqrt" / 1,
    /// Ordered comparisons: false if an operand is NaN.
    FEq = "feq" / 2,
    FLt = "flt" / 2,
    FLe = "fle" / 2,
    /// 1 if an operand is NaN.
    FUno = "funo" / 2,
    /// Between 32 and 64 bits.
    FConv = "fconv" / 1,
    /// Float to integer, towards zero; a value that does not fit has no meaning (it evaluates to a
    /// saturated value, NaN to 0).
    FToS = "ftos" / 1,
    FToU = "ftou" / 1,
    SToF = "stof" / 1,
    UToF = "utof" / 1,
    /// Where the pattern, the content of table `c`, first stands in the text, that of table `b`;
    /// the number of the text's bytes if it does not. 64 bits; see [`text`] for variations. Only
    /// the text may have symbolic bytes.
    Find = "find" / 0,
    /// -1, 0 or 1 (32 bits) as the text, table `b`, is less than, equal to or greater than the
    /// pattern, table `c`, of which both only as many bytes count as the shorter has.
    Compare = "compare" / 0,
}

/// Variations of `Find` and `Compare`.
pub mod text {
    /// A 0 in the text ends it: nothing is found after it, and two texts that are equal up to it
    /// are equal.
    pub const TERMINATED: u16 = 1;
    /// Find the last place, not the first.
    pub const LAST: u16 = 2;
    /// Upper-case letters of ASCII count as lower-case ones.
    pub const FOLD: u16 = 4;
    /// Find one byte that is among the pattern's.
    pub const SET: u16 = 8;
    /// With [`SET`]: that is not among them.
    pub const NEGATED: u16 = 16;

    pub const ALL: u16 = TERMINATED | LAST | FOLD | SET | NEGATED;
}

impl Op {
    /// Whether `b` is the number of a table.
    pub const fn has_table(self) -> bool {
        matches!(self, Op::Read | Op::Find | Op::Compare)
    }

    /// Whether `b` is a text and `c` a pattern.
    pub const fn is_text(self) -> bool {
        matches!(self, Op::Find | Op::Compare)
    }

    #[inline]
    pub const fn from_byte(byte: u8) -> Option<Op> {
        if (byte as usize) < Op::ALL.len() { Some(Op::ALL[byte as usize]) } else { None }
    }
}
