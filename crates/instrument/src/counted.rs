//! The counted variant: it counts the rounds of each loop and keeps the operands of the conditions
//! that can end it. It has the fork server and keeps no labels.
//!
//! The counters are the coverage map ([`sites::LoopTable`]). All of it is straight code in front of
//! what the program does; nothing is optimised before, so that operands have their names.

use crate::coverage::Coverage;
use crate::llvm::LLVMTypeKind;
use crate::llvm::{self, Block, Builder, LLVMIntPredicate, LLVMOpcode, LLVMRealPredicate, Value};
use crate::module::Module;
use crate::natural_loops::{self, NaturalLoop};
use crate::numbering::{Numbering, demangled};
use crate::operands::Names;
use crate::runtime::{Runtime, main_start};
use crate::{constructors, instrumentable, source, words};
use anyhow::Result;
use inkwell::llvm_sys::core::LLVMGetDebugLocColumn;
use sites::{LAST_ROUNDS, LoopExit, LoopSite, LoopTable, Operand, OperandKind};

const AFTER: &str = "always-inline,globaldce,\
    function(sroa<modify-cfg>,early-cse<memssa>,simplifycfg)";

pub fn instrument(module: &Module, builder: &Builder, numbering: &Numbering) -> Result<LoopTable> {
    let defined = instrumentable(module);
    let mut table = LoopTable::default();
    let found: Vec<(NaturalLoop, u32)> = defined
        .iter()
        .flat_map(|&function| natural_loops::find(function))
        .zip(0..)
        .inspect(|(found, _)| table.loops.push(describe(numbering, found)))
        .collect();
    let exits: Vec<Exit> =
        defined.iter().flat_map(|&function| exits(module, numbering, function, &found)).collect();
    table.exits.extend(exits.iter().map(|exit| exit.described.clone()));
    let coverage = Coverage::new(module, builder, table.len());
    let counters = Counters { builder, coverage: &coverage, table: &table };
    for (number, exit) in exits.iter().enumerate() {
        counters.passed(exit, number as u32);
    }
    for (found, number) in &found {
        counters.count(found, *number);
    }
    let runtime = Runtime::link_without_models(module, builder)?;
    if let Some(at) = main_start(&defined) {
        builder.before(at);
        runtime.start(builder, &coverage, (builder.null(), 0));
    }
    words::insert(module, builder, &runtime);
    constructors::place(module);
    module.verify()?;
    module.forget_source();
    module.run_passes(AFTER)?;
    Ok(table)
}

fn describe(numbering: &Numbering, found: &NaturalLoop) -> LoopSite {
    let function = llvm::name(llvm::function_of(found.head));
    // The way back has the place of the whole statement.
    let latches = found.latches.iter().filter_map(|block| llvm::terminator(*block));
    let mut places = latches.chain(llvm::instructions(found.head)).filter_map(place);
    let branches = found.blocks.iter().filter_map(|block| llvm::terminator(*block));
    let mut branches: Vec<u32> =
        branches.filter_map(|branch| numbering.number_of(branch)).collect();
    branches.sort_unstable();
    LoopSite {
        function: demangled(&source::source_name(&function)),
        place: places.next().unwrap_or_default(),
        branches,
    }
}

/// Path, line and column.
fn place(instruction: Value) -> Option<String> {
    let (line, file) = (llvm::debug_line(instruction), llvm::debug_file(instruction));
    let path = source::absolute(&llvm::debug_directory(instruction), &file)?;
    // SAFETY: the handle is an instruction.
    let column = unsafe { LLVMGetDebugLocColumn(instruction) };
    (line != 0).then(|| format!("{path}:{line}:{column}"))
}

/// Where a loop can be left, and what is compared there.
struct Exit {
    /// The instruction before which the operands are there.
    at: Value,
    operands: Vec<Value>,
    described: LoopExit,
}

/// A branch or switch as the source has it: `a && b` is two of them, although the compiler joins
/// both in a phi node.
struct Decision {
    at: Value,
    condition: Value,
    block: Block,
    targets: Vec<Block>,
    site: u32,
    place: String,
    is_branch: bool,
}

fn exits(
    module: &Module,
    numbering: &Numbering,
    function: Value,
    found: &[(NaturalLoop, u32)],
) -> Vec<Exit> {
    let own: Vec<&(NaturalLoop, u32)> =
        found.iter().filter(|(found, _)| llvm::function_of(found.head) == function).collect();
    if own.is_empty() {
        return Vec::new();
    }
    let names = Names::of(module.context, function);
    let terminators = llvm::blocks(function).into_iter().filter_map(llvm::terminator);
    let decisions = terminators.flat_map(|terminator| decisions(numbering, terminator));
    decisions.filter_map(|decision| exit(&names, &own, decision)).collect()
}

fn decisions(numbering: &Numbering, terminator: Value) -> Vec<Decision> {
    let Some(site) = numbering.number_of(terminator) else { return Vec::new() };
    let is_branch = llvm::is_conditional_branch(terminator);
    let condition = match is_branch {
        true => llvm::condition(terminator),
        false => llvm::operand(terminator, 0),
    };
    let block = llvm::block_of(terminator);
    let place = place(terminator).unwrap_or_default();
    let targets = llvm::successors(terminator);
    let decision = |at: Value, condition: Value, targets: Vec<Block>| {
        let (block, place) = (llvm::block_of(at), place.clone());
        Decision { at, condition, block, targets, site, place, is_branch }
    };
    let Some(phi) = phi_of(block, condition) else {
        let targets = targets.into_iter().map(|target| beyond(block, target)).collect();
        return vec![decision(terminator, condition, targets)];
    };
    let incoming =
        (0..llvm::phi_count(phi)).map(|i| (llvm::phi_value(phi, i), llvm::phi_block(phi, i)));
    let computed = incoming.filter(|(value, _)| llvm::as_constant_int(*value).is_none());
    computed
        .filter_map(|(value, from)| {
            // What a call that may throw returns is there after it only.
            let at = llvm::terminator(from).filter(|at| *at != value)?;
            Some(decision(at, value, targets.clone()))
        })
        .collect()
}

/// A condition that is a phi node of its own block.
fn phi_of(block: Block, condition: Value) -> Option<Value> {
    let phi = llvm::as_instruction(condition)?;
    (llvm::opcode(phi) == LLVMOpcode::LLVMPHI && llvm::block_of(phi) == block).then_some(phi)
}

/// Where control goes from a block through another one that only asks what was known before.
fn beyond(from: Block, through: Block) -> Block {
    let known = || {
        let branch = llvm::terminator(through).filter(|end| llvm::is_conditional_branch(*end))?;
        let phi = phi_of(through, llvm::condition(branch))?;
        let number = (0..llvm::phi_count(phi)).find(|i| llvm::phi_block(phi, *i) == from)?;
        let value = llvm::as_constant_int(llvm::phi_value(phi, number))?;
        Some(llvm::successor(branch, u32::from(llvm::constant_bits(value) == 0)))
    };
    known().unwrap_or(through)
}

/// `None` for what leaves no loop.
fn exit(names: &Names, own: &[&(NaturalLoop, u32)], decision: Decision) -> Option<Exit> {
    let Decision { at, condition, block, targets, site, place, is_branch } = decision;
    let leaves = |found: &NaturalLoop| {
        found.blocks.contains(&block) && targets.iter().any(|to| !found.blocks.contains(to))
    };
    let left: Vec<&&(NaturalLoop, u32)> = own.iter().filter(|(found, _)| leaves(found)).collect();
    let loops: Vec<u32> = left.iter().map(|(_, number)| *number).collect();
    let stays = left.iter().all(|(found, _)| found.blocks.contains(&targets[0]));
    if loops.is_empty() {
        return None;
    }
    let compared = is_branch.then(|| compared(condition, stays)).flatten();
    let (operands, signs) = match compared {
        Some((operands, sign, kind)) => (operands, Some((sign, kind))),
        None => (vec![condition], is_branch.then_some((if stays { "!=" } else { "==" }, None))),
    };
    let kind = signs.and_then(|(_, kind)| kind);
    let zero = || Operand { name: Some("0".to_owned()), kind: OperandKind::Constant };
    let right = || operands.get(1).map_or_else(zero, |right| operand(names, *right, kind));
    let comparison = signs.map(|(sign, _)| (sign.to_owned(), right()));
    let left = operand(names, operands[0], kind);
    let described = LoopExit { loops, site, place, left, comparison };
    Some(Exit { at, operands, described })
}

/// Both sides of a comparison, the sign with which it holds if it has this result, and how its
/// sides are shown.
fn compared(
    condition: Value,
    result: bool,
) -> Option<(Vec<Value>, &'static str, Option<OperandKind>)> {
    use LLVMIntPredicate as Int;
    use LLVMRealPredicate as Real;
    let compare = llvm::as_instruction(condition)?;
    let sides = || vec![llvm::operand(compare, 0), llvm::operand(compare, 1)];
    let signs = ["==", "!=", "<", ">=", ">", "<="];
    let (sign, kind) = match llvm::opcode(compare) {
        LLVMOpcode::LLVMICmp => match llvm::int_predicate(compare) {
            Int::LLVMIntEQ => (0, None),
            Int::LLVMIntNE => (1, None),
            Int::LLVMIntSLT => (2, Some(OperandKind::Signed)),
            Int::LLVMIntSGE => (3, Some(OperandKind::Signed)),
            Int::LLVMIntSGT => (4, Some(OperandKind::Signed)),
            Int::LLVMIntSLE => (5, Some(OperandKind::Signed)),
            Int::LLVMIntULT => (2, Some(OperandKind::Unsigned)),
            Int::LLVMIntUGE => (3, Some(OperandKind::Unsigned)),
            Int::LLVMIntUGT => (4, Some(OperandKind::Unsigned)),
            Int::LLVMIntULE => (5, Some(OperandKind::Unsigned)),
        },
        LLVMOpcode::LLVMFCmp => match llvm::real_predicate(compare) {
            Real::LLVMRealOEQ | Real::LLVMRealUEQ => (0, None),
            Real::LLVMRealONE | Real::LLVMRealUNE => (1, None),
            Real::LLVMRealOLT | Real::LLVMRealULT => (2, None),
            Real::LLVMRealOGE | Real::LLVMRealUGE => (3, None),
            Real::LLVMRealOGT | Real::LLVMRealUGT => (4, None),
            Real::LLVMRealOLE | Real::LLVMRealULE => (5, None),
            _ => return None,
        },
        _ => return None,
    };
    // Signs stand beside their opposites.
    Some((sides(), signs[if result { sign } else { sign ^ 1 }], kind))
}

fn operand(names: &Names, value: Value, kind: Option<OperandKind>) -> Operand {
    let name = names.value(value);
    let kind = match llvm::kind(llvm::type_of(value)) {
        _ if llvm::is_constant(value) && name.is_some() => OperandKind::Constant,
        LLVMTypeKind::LLVMPointerTypeKind => OperandKind::Pointer,
        LLVMTypeKind::LLVMFloatTypeKind | LLVMTypeKind::LLVMDoubleTypeKind => OperandKind::Float,
        LLVMTypeKind::LLVMIntegerTypeKind => match llvm::int_width(llvm::type_of(value)) {
            1 => OperandKind::Unsigned,
            2..=64 => kind.unwrap_or_default(),
            _ => OperandKind::TooLarge,
        },
        _ => OperandKind::TooLarge,
    };
    Operand { name, kind }
}

struct Counters<'a> {
    builder: &'a Builder,
    coverage: &'a Coverage,
    table: &'a LoopTable,
}

impl Counters<'_> {
    fn word(&self, number: u32) -> Value {
        let offset = self.builder.const_i64(8 * u64::from(number));
        self.builder.offset(self.coverage.map, offset)
    }

    fn load(&self, word: u32) -> Value {
        self.builder.load(self.builder.i64, self.word(word))
    }

    fn add_one(&self, value: Value) -> Value {
        self.builder.binary(LLVMOpcode::LLVMAdd, value, self.builder.const_i64(1))
    }

    fn count(&self, found: &NaturalLoop, number: u32) {
        let first = self.table.word_of_loop(number);
        if let Some(at) = crate::visit::first_insertion(found.head) {
            self.builder.before(at);
            self.round(first);
        }
        // Whoever is in such a block is not in the loop, however it was left.
        let left = found.blocks.iter().flat_map(|block| llvm::terminator(*block));
        let mut outside: Vec<Block> = left.flat_map(llvm::successors).collect();
        outside.retain(|block| !found.blocks.contains(block));
        outside.sort_unstable();
        outside.dedup();
        for at in outside.into_iter().filter_map(crate::visit::first_insertion) {
            self.builder.before(at);
            self.builder.store(self.builder.const_i64(0), self.word(first));
        }
    }

    /// At the head: the first round since the loop was left enters it.
    fn round(&self, first: u32) {
        let (builder, one) = (self.builder, self.builder.const_i64(1));
        let [runs, rounds, entered, entries] = [0, 1, 2, 3].map(|word| self.load(first + word));
        let clock = self.add_one(self.load(0));
        let zero = builder.const_i64(0);
        let is_new = builder.compare(LLVMIntPredicate::LLVMIntEQ, runs, zero);
        let more = builder.select(is_new, self.add_one(entries), entries);
        let values = [
            one,
            builder.select(is_new, one, self.add_one(rounds)),
            builder.select(is_new, clock, entered),
            more,
        ];
        for (value, word) in values.into_iter().zip(first..) {
            builder.store(value, self.word(word));
        }
        builder.store(clock, self.word(0));
    }

    /// Before the branch: keeps the operands.
    fn passed(&self, exit: &Exit, number: u32) {
        let (builder, first) = (self.builder, self.table.word_of_exit(number));
        builder.before(exit.at);
        let count = self.load(first);
        let last = builder.const_i64(u64::from(LAST_ROUNDS) - 1);
        let slot = builder.binary(LLVMOpcode::LLVMAnd, count, last);
        let bytes = builder.binary(LLVMOpcode::LLVMMul, slot, builder.const_i64(16));
        let LoopExit { left, comparison, .. } = &exit.described;
        let sides = std::iter::once(left).chain(comparison.iter().map(|(_, right)| right));
        for ((operand, side), word) in exit.operands.iter().zip(sides).zip(first + 1..) {
            if let Some(bits) = self.bits(*operand, side.kind == OperandKind::Signed) {
                builder.store(bits, builder.offset(self.word(word), bytes));
            }
        }
        builder.store(self.add_one(count), self.word(first));
    }

    /// An operand as a word; `None` for what does not fit.
    fn bits(&self, value: Value, is_signed: bool) -> Option<Value> {
        let (builder, ty) = (self.builder, llvm::type_of(value));
        match llvm::kind(ty) {
            LLVMTypeKind::LLVMIntegerTypeKind if llvm::int_width(ty) > 64 => None,
            LLVMTypeKind::LLVMIntegerTypeKind if is_signed => {
                Some(builder.sext_or_trunc(value, builder.i64))
            }
            LLVMTypeKind::LLVMIntegerTypeKind => Some(builder.zext_or_trunc(value, builder.i64)),
            LLVMTypeKind::LLVMPointerTypeKind => {
                Some(builder.cast(LLVMOpcode::LLVMPtrToInt, value, builder.i64))
            }
            LLVMTypeKind::LLVMDoubleTypeKind => {
                Some(builder.cast(LLVMOpcode::LLVMBitCast, value, builder.i64))
            }
            LLVMTypeKind::LLVMFloatTypeKind => {
                let wide = builder.cast(LLVMOpcode::LLVMFPExt, value, llvm::double_beside(ty));
                Some(builder.cast(LLVMOpcode::LLVMBitCast, wide, builder.i64))
            }
            _ => None,
        }
    }
}
