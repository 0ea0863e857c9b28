//! Instruments one function.
//!
//! Pure computations are collected in a *region*. When something needs their labels (a branch, a
//! call, a memory access, the end of the block), the region is closed: one test whether any label
//! that flows into it is set, and only then, out of line, the calls that build the expressions. So
//! code on concrete data pays one test a region.

use crate::concrete::Concrete;
use crate::coverage::Coverage;
use crate::llvm::{self, Block, Builder, LLVMIntPredicate, LLVMOpcode, Layout, Type, Value};
use crate::memo::{Consumed, Consumer};
use crate::natural_loops;
use crate::numbering::Numbering;
use crate::runtime::Runtime;
use crate::types;
use std::collections::{HashMap, HashSet};
use trace::entry::Entry;

/// What all functions of a program share.
pub struct Program<'a> {
    pub concrete: &'a Concrete,
    pub builder: &'a Builder,
    pub runtime: &'a Runtime,
    pub layout: Layout,
    pub coverage: &'a Coverage,
    /// Functions that are instrumented.
    pub instrumented: HashSet<Value>,
    /// Names of functions that look like hashes.
    pub hashes: HashSet<String>,
    /// The list of global variables for the runtime, and its length.
    pub globals: (Value, u64),
    /// The standard streams of C++ that the program mentions.
    pub standard_streams: Vec<Value>,
    /// Functions that code which is not followed may call.
    pub reachable: HashSet<Value>,
    /// Whether the program's exit status comes back to it.
    pub reads_status: bool,
}

pub struct Function<'a> {
    pub program: &'a Program<'a>,
    pub numbering: &'a mut Numbering,
    pub function: Value,
    /// Labels of values, in the order of [`types::leaves`].
    labels: HashMap<Value, Vec<Value>>,
    /// Values that can have labels at all: not computed from constants alone.
    symbolic: HashSet<Value>,
    /// Conditions that the block branches on in which they are computed. Whoever else wants one
    /// wants it after the branch, which has decided it.
    decided: HashSet<Value>,
    /// The blocks that instructions were in before they were instrumented.
    homes: HashMap<Value, Block>,
    pending: Vec<Value>,
    pending_set: HashSet<Value>,
    /// Kept labels of variadic arguments, in functions that call `va_start`.
    pub varargs: Option<Value>,
    /// What the function hands back when it returns, if it has arrays in its frame.
    pub frame: Option<Value>,
}

/// A region that is being closed: where its slow and fast sides are written.
pub struct Closing {
    slow: Block,
    fast: Block,
    join: Value,
    region: Vec<Value>,
    /// What is done already of what ends the region.
    pub consumed: Consumed,
}

impl<'a> Function<'a> {
    pub fn new(
        program: &'a Program<'a>,
        numbering: &'a mut Numbering,
        function: Value,
    ) -> Function<'a> {
        Function {
            program,
            numbering,
            function,
            labels: HashMap::new(),
            symbolic: HashSet::new(),
            decided: HashSet::new(),
            homes: HashMap::new(),
            pending: Vec::new(),
            pending_set: HashSet::new(),
            varargs: None,
            frame: None,
        }
    }

    pub fn instrument(mut self) {
        let order = natural_loops::reverse_postorder(llvm::entry_block(self.function));
        let blocks: Vec<(Block, Vec<Value>)> =
            order.into_iter().map(|b| (b, llvm::instructions(b))).collect();
        self.find_decided(&blocks);
        self.find_symbolic(&blocks);
        let phis = self.add_phis(&blocks);
        self.enter(&blocks);
        for (_, instructions) in &blocks {
            for &instruction in instructions {
                if !self.program.coverage.own.contains(&instruction) {
                    self.visit(instruction);
                }
            }
        }
        self.fill_phis(&phis);
    }

    pub fn builder(&self) -> &'a Builder {
        self.program.builder
    }

    pub fn layout(&self) -> Layout {
        self.program.layout
    }

    /// Calls a function of the runtime.
    pub fn call<const N: usize>(&self, entry: Entry<N>, arguments: [Value; N]) -> Value {
        self.program.runtime.call(self.builder(), entry, arguments)
    }

    pub fn zero(&self) -> Value {
        self.builder().const_i32(0)
    }

    fn label_count(&self, value: Value) -> usize {
        types::leaves(self.layout(), llvm::type_of(value)).map_or(0, |leaves| leaves.len())
    }

    /// Labels of a value that is not pending.
    pub fn labels_of(&self, value: Value) -> Vec<Value> {
        match self.labels.get(&value) {
            Some(labels) => labels.clone(),
            None => vec![self.zero(); self.label_count(value)],
        }
    }

    /// Label of a scalar that is not pending.
    pub fn label_of(&self, value: Value) -> Value {
        self.labels_of(value).first().copied().unwrap_or(self.zero())
    }

    pub fn set_labels(&mut self, value: Value, labels: Vec<Value>) {
        self.labels.insert(value, labels);
    }

    /// False if the value surely has no label.
    pub fn may_be_symbolic(&self, value: Value) -> bool {
        self.symbolic.contains(&value)
    }

    /// Adds a pure computation to the region.
    pub fn defer(&mut self, instruction: Value) {
        if self.may_be_symbolic(instruction) {
            self.pending.push(instruction);
            self.pending_set.insert(instruction);
        }
    }

    /// Closes the region before `at`, where the labels of `used` are needed. `None` if no label can
    /// be set there. The position is then at the start of the slow side.
    pub fn close(&mut self, at: Value, used: &[Value]) -> Option<Closing> {
        self.close_with(at, used, None)
    }

    /// As [`Function::close`]; what ends the region may be done on the way.
    pub fn close_with(
        &mut self,
        at: Value,
        used: &[Value],
        consumer: Option<Consumer>,
    ) -> Option<Closing> {
        let region = std::mem::take(&mut self.pending);
        let inflow = self.inflow(&region, used);
        self.pending_set.clear();
        if inflow.is_empty() {
            for instruction in region {
                self.labels.remove(&instruction);
            }
            self.builder().before(at);
            return None;
        }
        let builder = self.builder();
        let head = llvm::split_before(builder.context, at);
        let join = llvm::block_of(at);
        let (slow, fast) = (builder.new_block(join), builder.new_block(join));
        builder.at_end(head);
        let any = inflow.into_iter().reduce(|a, b| builder.binary(LLVMOpcode::LLVMOr, a, b));
        let set =
            builder.compare(LLVMIntPredicate::LLVMIntNE, any.unwrap_or(self.zero()), self.zero());
        builder.branch(set, slow, fast);
        builder.at_end(slow);
        let consumed = self.region_labels(&region, used, consumer);
        Some(Closing { slow: self.builder().block(), fast, join: at, region, consumed })
    }

    /// Labels that flow into the region from outside, or are used at its end.
    fn inflow(&self, region: &[Value], used: &[Value]) -> Vec<Value> {
        let mut seen = HashSet::new();
        let mut inflow = Vec::new();
        let operands = region.iter().flat_map(|&i| operands(i));
        for value in operands.chain(used.iter().copied()) {
            if self.pending_set.contains(&value) || !self.may_be_symbolic(value) {
                continue;
            }
            for label in self.labels_of(value) {
                if !llvm::is_constant(label) && seen.insert(label) {
                    inflow.push(label);
                }
            }
        }
        inflow
    }

    /// Turns to the fast side; what is written there replaces what was written on the slow side.
    pub fn fast_side(&self, closing: &Closing) {
        self.builder().at_end(closing.fast);
    }

    /// Joins the two sides. `results` are pairs of a fast and a slow value of type `i32`; their
    /// merged values come back. The position is then where the region was closed.
    pub fn join(&mut self, closing: Closing, results: &[(Value, Value)]) -> Vec<Value> {
        let builder = self.builder();
        let join = llvm::block_of(closing.join);
        for side in [closing.slow, closing.fast] {
            builder.at_end(side);
            builder.jump(join);
        }
        builder.before(closing.join);
        let merge = |fast: Value, slow: Value| {
            let phi = builder.phi(builder.i32);
            llvm::add_incoming(phi, fast, closing.fast);
            llvm::add_incoming(phi, slow, closing.slow);
            phi
        };
        let zero = self.zero();
        for instruction in closing.region {
            let labels = self.labels_of(instruction).into_iter();
            let merged = labels
                .map(|l| if llvm::is_constant(l) && l == zero { l } else { merge(zero, l) })
                .collect();
            self.labels.insert(instruction, merged);
        }
        let merged = results.iter().map(|&(fast, slow)| merge(fast, slow)).collect();
        builder.before(closing.join);
        merged
    }

    /// Closes the region with nothing to do on either side.
    pub fn flush(&mut self, at: Value, used: &[Value]) {
        if let Some(closing) = self.close(at, used) {
            self.join(closing, &[]);
        }
    }

    /// A site for events of an instruction.
    pub fn site(&mut self, instruction: Value) -> Value {
        let number = self.numbering.plain(instruction);
        self.builder().const_i32(number)
    }

    fn find_decided(&mut self, blocks: &[(Block, Vec<Value>)]) {
        for (block, instructions) in blocks {
            self.homes.extend(instructions.iter().map(|instruction| (*instruction, *block)));
            let branch =
                instructions.last().copied().filter(|last| llvm::is_conditional_branch(*last));
            let condition = branch.map(llvm::condition).and_then(llvm::as_instruction);
            self.decided.extend(condition.filter(|condition| instructions.contains(condition)));
        }
    }

    /// Whether a branch has decided a condition for whoever uses it elsewhere.
    pub fn is_decided(&self, condition: Value) -> bool {
        self.decided.contains(&condition)
    }

    /// Whether a branch has decided a value before an instruction uses it.
    pub fn is_decided_for(&self, user: Value, value: Value) -> bool {
        let is_after = || {
            llvm::opcode(user) == LLVMOpcode::LLVMPHI
                || self.homes.get(&user) != self.homes.get(&value)
        };
        self.is_decided(value) && is_after()
    }

    fn find_symbolic(&mut self, blocks: &[(Block, Vec<Value>)]) {
        for i in 0..llvm::param_count(self.function) {
            self.symbolic.insert(llvm::param(self.function, i));
        }
        let mut changed = true;
        while changed {
            changed = false;
            for &instruction in blocks.iter().flat_map(|(_, instructions)| instructions) {
                if !self.symbolic.contains(&instruction) && self.becomes_symbolic(instruction) {
                    self.symbolic.insert(instruction);
                    changed = true;
                }
            }
        }
    }

    fn becomes_symbolic(&self, instruction: Value) -> bool {
        if types::leaves(self.layout(), llvm::type_of(instruction))
            .is_none_or(|leaves| leaves.is_empty())
            || self.program.coverage.own.contains(&instruction)
        {
            return false;
        }
        match llvm::opcode(instruction) {
            LLVMOpcode::LLVMLoad => {
                let pointer = llvm::operand(instruction, 0);
                !points_to_constant(pointer) || self.symbolic.contains(&pointer)
            }
            LLVMOpcode::LLVMAtomicRMW | LLVMOpcode::LLVMAtomicCmpXchg => true,
            LLVMOpcode::LLVMAlloca | LLVMOpcode::LLVMLandingPad => false,
            LLVMOpcode::LLVMCall | LLVMOpcode::LLVMInvoke => self.call_may_be_symbolic(instruction),
            LLVMOpcode::LLVMPHI => (0..llvm::phi_count(instruction))
                .any(|i| self.is_symbolic_for(instruction, llvm::phi_value(instruction, i))),
            _ => operands(instruction).any(|operand| self.is_symbolic_for(instruction, operand)),
        }
    }

    fn is_symbolic_for(&self, user: Value, value: Value) -> bool {
        self.symbolic.contains(&value) && !self.is_decided_for(user, value)
    }

    /// Phis for the labels of phis.
    fn add_phis(&mut self, blocks: &[(Block, Vec<Value>)]) -> Vec<(Value, Vec<Value>)> {
        let mut phis = Vec::new();
        for &instruction in blocks.iter().flat_map(|(_, instructions)| instructions) {
            if llvm::opcode(instruction) == LLVMOpcode::LLVMPHI && self.may_be_symbolic(instruction)
            {
                self.builder().before(instruction);
                let labels: Vec<Value> = (0..self.label_count(instruction))
                    .map(|_| self.builder().phi(self.builder().i32))
                    .collect();
                self.labels.insert(instruction, labels.clone());
                phis.push((instruction, labels));
            }
        }
        phis
    }

    fn fill_phis(&self, phis: &[(Value, Vec<Value>)]) {
        for (phi, labels) in phis {
            for (position, label) in labels.iter().enumerate() {
                for i in 0..llvm::phi_count(*phi) {
                    let incoming = self.labels_of(llvm::phi_value(*phi, i));
                    let value = incoming.get(position).copied().unwrap_or(self.zero());
                    llvm::add_incoming(*label, value, llvm::phi_block(*phi, i));
                }
            }
        }
    }

    /// A value as the 64 bits that the runtime takes: floats by their bits, wide integers by their
    /// low part.
    pub fn bits(&self, value: Value) -> Value {
        let builder = self.builder();
        builder.zext_or_trunc(self.as_integer(value), builder.i64)
    }

    /// A value as an integer of its own width.
    pub fn as_integer(&self, value: Value) -> Value {
        let builder = self.builder();
        let ty = llvm::type_of(value);
        match llvm::kind(ty) {
            llvm::LLVMTypeKind::LLVMPointerTypeKind => {
                builder.cast(LLVMOpcode::LLVMPtrToInt, value, builder.i64)
            }
            llvm::LLVMTypeKind::LLVMFloatTypeKind => {
                builder.cast(LLVMOpcode::LLVMBitCast, value, builder.i32)
            }
            llvm::LLVMTypeKind::LLVMDoubleTypeKind => {
                builder.cast(LLVMOpcode::LLVMBitCast, value, builder.i64)
            }
            _ => value,
        }
    }

    pub fn width(&self, ty: Type) -> u32 {
        types::scalar_bits(ty).unwrap_or(0)
    }
}

/// The object that a pointer is computed from, as far as this function shows.
pub fn underlying_object(mut pointer: Value) -> Value {
    loop {
        let gep = llvm::as_instruction(pointer)
            .is_some_and(|i| llvm::opcode(i) == LLVMOpcode::LLVMGetElementPtr)
            || llvm::is_constant_gep(pointer);
        if !gep {
            return pointer;
        }
        pointer = llvm::operand(pointer, 0);
    }
}

/// True if the pointer is into a constant variable: what is read there has no label of its own.
pub fn points_to_constant(pointer: Value) -> bool {
    llvm::as_global_variable(underlying_object(pointer)).is_some_and(llvm::is_global_constant)
}

/// The operands that are values (not blocks).
pub fn operands(instruction: Value) -> impl Iterator<Item = Value> {
    (0..llvm::operand_count(instruction) as u32).map(move |i| llvm::operand(instruction, i))
}
