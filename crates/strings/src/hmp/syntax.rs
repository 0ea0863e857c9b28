//! What a file says, before names are looked up.

use rustc_hash::FxHashMap;

use crate::bytes::ByteSet;
use crate::grammar::{Grammar, Nonterminal};
use crate::scan::Size;

/// A name, and where it stands in the file.
#[derive(Clone, Copy, Debug)]
pub struct Name<'t> {
    pub text: &'t [u8],
    pub at: usize,
}

#[derive(Debug)]
pub enum Regular<'t> {
    Name(Name<'t>),
    Literal(Vec<u8>),
    Bytes(ByteSet),
    /// A language cut down to lengths; none given means all of it.
    Fix(Name<'t>, Option<Size>),
    Or(Vec<Regular<'t>>),
    And(Vec<Regular<'t>>),
    Concat(Vec<Regular<'t>>),
    Not(Box<Regular<'t>>),
    Repeat(Box<Regular<'t>>, u64, u64),
}

#[derive(Debug)]
pub enum Value<'t> {
    Name(Name<'t>),
    Literal(Vec<u8>),
    Concat(Vec<Value<'t>>),
    Slice(Name<'t>, u64, u64),
}

#[derive(Debug)]
pub enum Assertion<'t> {
    In(Value<'t>, Regular<'t>),
    Contains(Value<'t>, Value<'t>),
    Equals(Value<'t>, Value<'t>),
    Not(Box<Assertion<'t>>),
    And(Vec<Assertion<'t>>),
    Or(Vec<Assertion<'t>>),
}

#[derive(Debug, Default)]
pub struct File<'t> {
    pub variables: Vec<(Name<'t>, Size)>,
    pub grammar: Grammar,
    pub nonterminals: FxHashMap<&'t [u8], Nonterminal>,
    /// By nonterminal: where it was first mentioned, and whether it is defined.
    pub mentions: Vec<(usize, bool)>,
    /// The `cfg` that was defined last.
    pub last_rule: Option<Name<'t>>,
    pub regulars: Vec<(Name<'t>, Regular<'t>)>,
    pub values: Vec<(Name<'t>, Value<'t>)>,
    pub assertions: Vec<Assertion<'t>>,
}
