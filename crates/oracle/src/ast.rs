//! Small C programs as trees.
//!
//! Expressions and statements are uniform nodes, an operator with its operands, so that one
//! traversal serves the generator and the shrinker. Every use of an operand casts it, so that any
//! expression can stand for any other. No program has undefined behaviour on any input (signed
//! arithmetic wraps: `-fwrapv`).

/// An integer type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ty {
    pub name: &'static str,
    pub bits: u32,
    pub signed: bool,
}

const fn ty(name: &'static str, bits: u32, signed: bool) -> Ty {
    Ty { name, bits, signed }
}

pub const BOOL: Ty = ty("_Bool", 1, false);
pub const I32: Ty = ty("i32", 32, true);
pub const U32: Ty = ty("u32", 32, false);

/// All types, by growing width.
pub const TYPES: [Ty; 11] = [
    BOOL,
    ty("i8", 8, true),
    ty("u8", 8, false),
    ty("i16", 16, true),
    ty("u16", 16, false),
    I32,
    U32,
    ty("i64", 64, true),
    ty("u64", 64, false),
    ty("i128", 128, true),
    ty("u128", 128, false),
];

#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    pub op: Op,
    pub args: Vec<Expr>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Op {
    Const(Ty, i64),
    /// A byte of the input.
    Byte(usize),
    /// The length of the input.
    Len,
    Var(usize),
    /// A prefix operator.
    Prefix(&'static str, Ty),
    /// An infix operator on operands of a type.
    Infix(&'static str, Ty),
    /// A division whose divisor is made odd and positive, or is tested.
    Masked(&'static str, Ty),
    Guarded(&'static str, Ty),
    Shift(&'static str, Ty),
    Compare(&'static str, Ty),
    /// Short-circuit operators.
    Both,
    Either,
    Choice,
    Cast(Ty),
    /// An element of a table.
    Element(usize),
    /// A function of one number in the prelude or the C library.
    Function(&'static str),
    /// A function of two numbers of a type in the prelude.
    OfTwo(&'static str, Ty),
    /// A question about the text that the input is, or about a number and a constant text.
    Text(&'static str, Vec<u8>),
    Load(Region, usize, Ty),
    /// A byte of a region at a computed place.
    At(Region),
    BitField(usize),
    /// A member of a struct that went through functions by value.
    Member(&'static str, usize),
    /// A call through a table of functions.
    Indirect,
    /// A comparison or an arithmetic operator on floating-point numbers.
    Float(&'static str, f32),
}

/// Memory of 32 bytes that values are stored to and loaded from, at any place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region(pub &'static str);

/// The third lies across a boundary of 64 KiB in its middle.
pub const REGIONS: [Region; 4] =
    [Region("stack"), Region("global"), Region("straddling"), Region("heap")];

#[derive(Clone, Debug, PartialEq)]
pub struct Stmt {
    pub op: StmtOp,
    pub exprs: Vec<Expr>,
    pub bodies: Vec<Vec<Stmt>>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum StmtOp {
    Assign(usize),
    /// With the bodies of both sides.
    If,
    /// Of a value of a type: a body for each group of values, which may fall through, and one for
    /// the others.
    Switch(Ty, Vec<(Vec<i64>, bool)>),
    /// At most so many iterations, by a computed bound; the variable counts them.
    Count(u32, usize),
    /// At most so many iterations, until a condition holds.
    Until(u32),
    Store(Region, usize, Ty),
    StoreAt(Region),
    SetBitField(usize),
    /// Only of tables that change.
    SetElement(usize),
    /// At most seven bytes, by a computed length.
    Copy((Region, usize), (Region, usize)),
    Fill(Region, usize),
    Return,
    /// An error of `plants`, with its number there; the expression decides.
    Plant(usize),
}

/// How a program gets its input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reader(pub &'static str);

pub const READERS: [Reader; 4] =
    [Reader("by_read"), Reader("by_getchar"), Reader("by_fread"), Reader("by_fgets")];

#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    pub ty: Ty,
    pub kind: TableKind,
    /// As many as a power of two.
    pub values: Vec<i64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableKind {
    Constant,
    /// Static memory, filled when the program starts.
    Filled,
    Local,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    /// Bytes of input.
    pub bytes: usize,
    pub reader: Reader,
    pub vars: Vec<(Ty, i64)>,
    pub tables: Vec<Table>,
    pub body: Vec<Stmt>,
}

/// Widths of the bit-fields of the prelude's struct.
pub const BIT_FIELDS: usize = 6;

impl Expr {
    pub fn new(op: Op, args: Vec<Expr>) -> Expr {
        Expr { op, args }
    }

    pub fn leaf(op: Op) -> Expr {
        Expr { op, args: Vec::new() }
    }

    pub fn size(&self) -> usize {
        1 + self.args.iter().map(Expr::size).sum::<usize>()
    }
}

impl Stmt {
    pub fn new(op: StmtOp, exprs: Vec<Expr>, bodies: Vec<Vec<Stmt>>) -> Stmt {
        Stmt { op, exprs, bodies }
    }

    fn size(&self) -> usize {
        let exprs: usize = self.exprs.iter().map(Expr::size).sum();
        1 + exprs + self.bodies.iter().flatten().map(Stmt::size).sum::<usize>()
    }
}

impl Program {
    /// How many nodes it has.
    pub fn size(&self) -> usize {
        self.body.iter().map(Stmt::size).sum()
    }
}
