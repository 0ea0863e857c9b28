//! Deliveries that a user wrote: the way back from `next_token:arg0->token.val` to memory.

use super::debug::{self, DebugType};
use super::notation::returns_through_memory;
use crate::llvm::{self, LLVMTypeKind, Value};
use crate::module::Module;
use anyhow::{Context as _, Result, bail, ensure};

/// Where a named lexer leaves its token.
pub enum Written {
    Result,
    Memory {
        base: Value,
        /// Bytes to add to the address; between two of them a pointer is read.
        steps: Vec<u64>,
        /// Bytes of the token.
        size: u64,
    },
}

/// Tokens at offsets in bytes are what `int` is, as debug information does not say more.
const DEFAULT_SIZE: u64 = 4;

/// The delivery of a function that a place (after the colon) stands for; no place is the result.
pub fn delivery(module: &Module, function: Value, place: Option<&str>) -> Result<Written> {
    let Some(place) = place else {
        let result = llvm::return_type(llvm::value_type(function));
        let is_number = llvm::kind(result) == LLVMTypeKind::LLVMIntegerTypeKind
            && (8..=64).contains(&llvm::int_width(result));
        ensure!(
            is_number,
            "{} does not return a number; say where its token is: NAME:PLACE",
            llvm::name(function)
        );
        return Ok(Written::Result);
    };
    let (is_pointed_to, rest) = place.strip_prefix('*').map_or((false, place), |rest| (true, rest));
    let end = rest.find(['.', '-', '+']).unwrap_or(rest.len());
    let (base, path) = rest.split_at(end);
    let mut walk = Walk::begin(module, function, base, is_pointed_to)?;
    for (step, part) in parts(path)? {
        walk.go(step, part)?;
    }
    walk.end()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    /// `.`
    Within,
    /// `->`
    Behind,
}

/// `.a->b+4` as its steps.
fn parts(path: &str) -> Result<Vec<(Step, &str)>> {
    let mut found = Vec::new();
    let mut rest = path;
    while !rest.is_empty() {
        let (step, after) = if let Some(after) = rest.strip_prefix("->") {
            (Step::Behind, after)
        } else if let Some(after) = rest.strip_prefix('.') {
            (Step::Within, after)
        } else if rest.starts_with('+') {
            (Step::Within, rest)
        } else {
            bail!(
                "`{rest}` is no part of a place: fields come after `.` or `->`, offsets after `+`"
            );
        };
        let sign = usize::from(after.starts_with('+'));
        let end = after[sign..].find(['.', '-', '+']).map_or(after.len(), |end| end + sign);
        ensure!(
            end > sign,
            "a field or an offset is missing after `{}`",
            &path[..path.len() - after.len()]
        );
        found.push((step, &after[..end]));
        rest = &after[end..];
    }
    Ok(found)
}

struct Walk {
    base: Value,
    steps: Vec<u64>,
    /// The object reached; `None` where debug information says nothing.
    ty: Option<DebugType>,
    /// An argument that no step has followed yet.
    is_pointer: bool,
    size: Option<u64>,
}

impl Walk {
    fn begin(module: &Module, function: Value, base: &str, is_pointed_to: bool) -> Result<Walk> {
        let hidden = returns_through_memory(function) as u32;
        if base == "result" {
            ensure!(hidden == 1, "{} does not return a struct in memory", llvm::name(function));
            let ty = debug::result_type(module.context, function);
            return Ok(Walk {
                base: llvm::param(function, 0),
                steps: vec![0],
                ty,
                is_pointer: false,
                size: None,
            });
        }
        if let Some(number) = base.strip_prefix("arg").and_then(|number| number.parse::<u32>().ok())
        {
            let count = llvm::param_count(function) - hidden;
            ensure!(
                number < count,
                "{} has {count} arguments, counted from 0",
                llvm::name(function)
            );
            let base = llvm::param(function, number + hidden);
            ensure!(
                llvm::kind(llvm::type_of(base)) == LLVMTypeKind::LLVMPointerTypeKind,
                "argument {number} of {} is no pointer",
                llvm::name(function)
            );
            let types = debug::parameter_types(module.context, function).unwrap_or_default();
            let ty = types.get(number as usize).copied().flatten().and_then(DebugType::pointee);
            return Ok(Walk { base, steps: vec![0], ty, is_pointer: !is_pointed_to, size: None });
        }
        let global = module.globals().into_iter().find(|global| llvm::name(*global) == base);
        let global = global.with_context(|| {
            format!("there is neither an argument nor a variable named `{base}`")
        })?;
        let ty = debug::global_type(module.context, global);
        let own = llvm::value_type(global);
        let is_number = llvm::kind(own) == LLVMTypeKind::LLVMIntegerTypeKind;
        let size = is_number.then(|| module.layout().store_size(own));
        Ok(Walk { base: global, steps: vec![0], ty, is_pointer: false, size })
    }

    fn go(&mut self, step: Step, part: &str) -> Result<()> {
        if step == Step::Behind && !self.is_pointer {
            self.ty = self.ty.and_then(DebugType::pointee);
            self.steps.push(0);
        }
        self.is_pointer = false;
        self.size = None;
        let offset = match part.strip_prefix('+') {
            Some(number) => {
                self.ty = None;
                number.parse().with_context(|| format!("`{number}` is no number of bytes"))?
            }
            None => {
                let ty = self.ty.with_context(|| {
                    format!(
                        "debug information does not say where `{part}` is; give its offset in \
                         bytes: `+8`"
                    )
                })?;
                let (offset, ty) =
                    ty.member(part).with_context(|| format!("there is no field `{part}`"))?;
                self.ty = Some(ty);
                offset
            }
        };
        if let Some(last) = self.steps.last_mut() {
            *last += offset;
        }
        Ok(())
    }

    fn end(self) -> Result<Written> {
        ensure!(!self.is_pointer, "an argument is a pointer: `*arg0` is the number it points to");
        let size = self.size.or(self.ty.map(DebugType::bytes)).unwrap_or(DEFAULT_SIZE);
        ensure!(matches!(size, 1 | 2 | 4 | 8), "what is there has {size} bytes, so it is no token");
        Ok(Written::Memory { base: self.base, steps: self.steps, size })
    }
}
