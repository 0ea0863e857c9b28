//! Regions that the runtime can look up as a whole: what they make of a byte of the input is the
//! same for every byte.
//!
//! Such a *group* is a part of a region whose instructions hang together, compute with integers and
//! pointers, and have few operands from outside and few results that others use. The runtime's side
//! is `regions.rs` there.

use crate::expressions::{comparison, is_integer_operator};
use crate::function::{Function, operands};
use crate::llvm::{self, Block, LLVMIntPredicate, LLVMOpcode, Value};
use crate::{entry, types};
use inkwell::llvm_sys::LLVMLinkage;
use inkwell::llvm_sys::core::*;
use std::collections::{HashMap, HashSet};
use trace::{Comparison, Label, PureRegion};

/// What a region ends with, and wants a label for.
#[derive(Clone, Copy)]
pub struct Consumer {
    /// The condition, what the switch is on, or the address.
    pub wanted: Value,
    pub site: u32,
    pub kind: ConsumerKind,
}

#[derive(Clone, Copy)]
pub enum ConsumerKind {
    Branch,
    /// With the list of the cases, and how many there are.
    Switch(Value, u32),
    /// Of so many bytes; what [`Function::load_at`] needs.
    Load(Value, u64),
}

impl Consumer {
    fn is_branch(&self) -> bool {
        matches!(self.kind, ConsumerKind::Branch)
    }

    /// How many operands a group may have that ends so; without a branch, only if nothing else
    /// wants its result.
    fn most_operands(&self) -> usize {
        match self.kind {
            ConsumerKind::Branch => PureRegion::MAX_OPERANDS,
            ConsumerKind::Switch(..) => 1,
            ConsumerKind::Load(..) => 2,
        }
    }
}

/// What was done on the way of a region's labels.
#[derive(Clone, Copy)]
pub enum Consumed {
    No,
    /// The branch or switch is recorded.
    Recorded,
    /// The label of what was loaded.
    Loaded(Value),
}

/// Instructions of a region that hang together.
struct Group {
    instructions: Vec<Value>,
    /// What flows in and is no constant.
    operands: Vec<Value>,
    /// Instructions whose labels are used outside of the group; what the consumer wants is the
    /// first.
    results: Vec<Value>,
    /// What ends the region, if it wants one of them.
    consumer: Option<Consumer>,
    /// Whether nothing but the consumer wants a result.
    only_for_consumer: bool,
}

impl Group {
    /// Whether the consumer is all that a group with one operand is for.
    fn asks(&self) -> bool {
        self.only_for_consumer && self.operands.len() == 1 && !self.loads()
    }

    fn loads(&self) -> bool {
        self.consumer.is_some_and(|consumer| matches!(consumer.kind, ConsumerKind::Load(..)))
    }
}

impl Function<'_> {
    /// Writes what gives the labels of a region's instructions, from the present position on.
    /// Returns what of the consumer is done, too.
    pub fn region_labels(
        &mut self,
        region: &[Value],
        used: &[Value],
        consumer: Option<Consumer>,
    ) -> Consumed {
        let groups = self.groups(region, used, consumer);
        let alone = groups.len() == 1;
        let mut consumed = Consumed::No;
        for group in groups {
            if !self.is_looked_up(&group) {
                self.build(&group.instructions);
            } else if group.loads() {
                consumed = Consumed::Loaded(self.fetched(&group, alone));
            } else {
                if group.consumer.is_some() {
                    consumed = Consumed::Recorded;
                }
                self.looked_up(group, alone);
            }
        }
        consumed
    }

    fn build(&mut self, instructions: &[Value]) {
        for &instruction in instructions {
            let labels = self.expression(instruction);
            self.set_labels(instruction, labels);
        }
    }

    /// The parts of a region that have no operand in common.
    fn groups(&self, region: &[Value], used: &[Value], consumer: Option<Consumer>) -> Vec<Group> {
        let mut group_of: HashMap<Value, usize> = HashMap::new();
        let mut members: Vec<Vec<Value>> = Vec::new();
        for &instruction in region {
            let number = members.len();
            members.push(vec![instruction]);
            let values =
                operands(instruction).filter(|v| !llvm::is_constant(*v)).chain([instruction]);
            for value in values.collect::<Vec<_>>() {
                match group_of.insert(value, number) {
                    Some(other) if other != number => {
                        let moved = std::mem::take(&mut members[other]);
                        members[number].extend(moved);
                        group_of
                            .values_mut()
                            .filter(|group| **group == other)
                            .for_each(|group| *group = number);
                    }
                    _ => {}
                }
            }
        }
        let order: HashMap<Value, usize> =
            region.iter().enumerate().map(|(i, v)| (*v, i)).collect();
        let mut groups: Vec<Vec<Value>> =
            members.into_iter().filter(|members| !members.is_empty()).collect();
        groups.iter_mut().for_each(|members| members.sort_by_key(|member| order[member]));
        groups.sort_by_key(|members| order[&members[0]]);
        groups.into_iter().map(|members| self.group(members, used, consumer)).collect()
    }

    fn group(&self, instructions: Vec<Value>, used: &[Value], consumer: Option<Consumer>) -> Group {
        let members: HashSet<Value> = instructions.iter().copied().collect();
        let mut inflow = Vec::new();
        for value in instructions.iter().flat_map(|i| operands(*i)) {
            if !llvm::is_constant(value) && !members.contains(&value) && !inflow.contains(&value) {
                inflow.push(value);
            }
        }
        let users = |i: Value| {
            llvm::users(i).into_iter().filter(move |user| !self.is_decided_for(*user, i))
        };
        let is_used =
            |i: &Value| used.contains(i) || users(*i).any(|user| !members.contains(&user));
        let mut results: Vec<Value> = instructions.iter().copied().filter(is_used).collect();
        let wanted =
            consumer.and_then(|consumer| results.iter().position(|r| *r == consumer.wanted));
        if let Some(position) = wanted {
            results.swap(0, position);
        }
        let is_wanted_once = matches!(results[..], [result] if users(result).count() == 1);
        let only_for_consumer = wanted.is_some() && is_wanted_once;
        let is_done = |consumer: &Consumer| {
            wanted.is_some()
                && inflow.len() <= consumer.most_operands()
                && (consumer.is_branch() || only_for_consumer)
        };
        let consumer = consumer.filter(is_done);
        Group {
            instructions,
            operands: inflow,
            results,
            consumer,
            only_for_consumer: only_for_consumer && consumer.is_some(),
        }
    }

    fn is_looked_up(&self, group: &Group) -> bool {
        let calls: usize = group.instructions.iter().map(|i| self.calls_for(*i)).sum();
        let is_simple = |value: &Value| {
            let ty = llvm::type_of(*value);
            types::scalar_bits(ty).is_some_and(|bits| bits <= 64) && !types::is_float(ty)
        };
        group.operands.len() <= PureRegion::MAX_OPERANDS
            && group.results.len() <= PureRegion::MAX_RESULTS
            && calls + usize::from(group.consumer.is_some()) >= 2
            && group.instructions.iter().all(|i| is_plain(*i))
            && group.instructions.iter().chain(&group.operands).all(is_simple)
    }

    /// How many calls of the runtime an instruction takes.
    fn calls_for(&self, instruction: Value) -> usize {
        use LLVMOpcode::*;
        match llvm::opcode(instruction) {
            LLVMICmp => {
                1 + usize::from(llvm::int_predicate(instruction) == LLVMIntPredicate::LLVMIntNE)
            }
            LLVMGetElementPtr => operands(instruction).count() - 1,
            LLVMFreeze | LLVMPtrToInt | LLVMIntToPtr | LLVMBitCast => 0,
            LLVMAdd | LLVMSub | LLVMMul => 1 + usize::from(llvm::has_no_signed_wrap(instruction)),
            _ => 1,
        }
    }

    /// Goes on where the group is looked up if one of its operands has a label. A group that is the
    /// whole region is mostly reached with one.
    fn search_if_any(&self, group: &Group, alone: bool, search: Block, otherwise: Block) {
        let builder = self.builder();
        if alone {
            builder.jump(search);
        } else {
            let any = self.any_label(&group.operands);
            let is_set = builder.compare(LLVMIntPredicate::LLVMIntNE, any, self.zero());
            builder.branch(is_set, search, otherwise);
        }
        builder.at_end(search);
    }

    /// Looks the group up, and builds and notes it where that finds nothing.
    fn looked_up(&mut self, group: Group, alone: bool) {
        let builder = self.builder();
        let start = builder.block();
        let [search, build, done] = [(); 3].map(|()| builder.new_block(start));
        let region = self.description(&group);
        self.search_if_any(&group, alone, search, done);
        let kept: Vec<Vec<Value>> =
            group.operands.iter().map(|operand| self.labels_of(*operand)).collect();
        let (is_found, from_search, open) = if group.asks() {
            (self.ask(region, &group), vec![self.zero()], None)
        } else {
            let looked_up = self.lookup(region, &group);
            let labels = self.unpacked(looked_up, group.results.len());
            let zero = builder.const_int(builder.i128, 0);
            let is_found = builder.compare(LLVMIntPredicate::LLVMIntSLT, looked_up, zero);
            (is_found, labels, Some(looked_up))
        };
        builder.branch(is_found, done, build);
        builder.at_end(build);
        if let Some(looked_up) = open {
            self.use_open_labels(&group.operands, looked_up);
        }
        self.build(&group.instructions);
        let noted = self.note(region, &group);
        for (operand, labels) in group.operands.iter().zip(kept) {
            self.set_labels(*operand, labels);
        }
        let from_build = self.unpacked(noted, group.results.len());
        if let Some(consumer) = &group.consumer {
            self.record(from_build[0], consumer);
        }
        let built = builder.block();
        builder.jump(done);
        builder.at_end(done);
        for &instruction in &group.instructions {
            self.set_labels(instruction, vec![self.zero()]);
        }
        for (i, &result) in group.results.iter().enumerate() {
            let label = builder.phi(builder.i32);
            llvm::add_incoming(label, from_search[i], search);
            llvm::add_incoming(label, from_build[i], built);
            if !alone {
                llvm::add_incoming(label, self.zero(), start);
            }
            self.set_labels(result, vec![label]);
        }
    }

    /// Where a group was not found, its operands have the labels that the runtime says: none where
    /// the path fixes them.
    fn use_open_labels(&mut self, operands: &[Value], looked_up: Value) {
        let labels = self.unpacked(looked_up, operands.len());
        for (&operand, label) in operands.iter().zip(labels) {
            if !llvm::is_constant(self.label_of(operand)) {
                self.set_labels(operand, vec![label]);
            }
        }
    }

    /// Whether the runtime knows the answer, and has recorded the consumer.
    fn ask(&self, region: Value, group: &Group) -> Value {
        let builder = self.builder();
        let operand = group.operands[0];
        let label = self.label_of(operand);
        let answer = match group.consumer.map(|consumer| consumer.kind) {
            Some(ConsumerKind::Switch(list, count)) => {
                let count = builder.const_i32(count);
                self.call(
                    entry::__tg_lookup_switch,
                    [region, label, self.bits(operand), list, count],
                )
            }
            _ => self.call(
                entry::__tg_lookup_branch,
                [region, label, self.bits(operand), self.direction(group)],
            ),
        };
        builder.compare(LLVMIntPredicate::LLVMIntNE, answer, self.zero())
    }

    /// Where the branch at the end of a group goes; 0 if there is none.
    fn direction(&self, group: &Group) -> Value {
        let builder = self.builder();
        match group.consumer {
            Some(consumer) if consumer.is_branch() => {
                builder.cast(LLVMOpcode::LLVMZExt, consumer.wanted, builder.i32)
            }
            _ => self.zero(),
        }
    }

    /// The label of what is loaded at the end of a group.
    fn fetched(&mut self, group: &Group, alone: bool) -> Value {
        let builder = self.builder();
        let start = builder.block();
        let [search, missed, build, load, done] = [(); 5].map(|()| builder.new_block(start));
        let region = self.description(group);
        let Some(Consumer { wanted, kind: ConsumerKind::Load(value, size), site }) = group.consumer
        else {
            return self.zero();
        };
        self.search_if_any(group, alone, search, load);
        let found = self.fetch_label(region, group, self.bits(wanted));
        let label = builder.cast(LLVMOpcode::LLVMTrunc, found, builder.i32);
        let is_loaded = builder.compare(LLVMIntPredicate::LLVMIntSLT, found, builder.const_i64(0));
        builder.branch(is_loaded, done, missed);
        builder.at_end(missed);
        let is_located = builder.compare(LLVMIntPredicate::LLVMIntNE, found, builder.const_i64(0));
        builder.branch(is_located, load, build);
        builder.at_end(build);
        self.build(&group.instructions);
        let noted = self.note(region, group);
        let built_address = self.unpacked(noted, 1)[0];
        let built = builder.block();
        builder.jump(load);
        builder.at_end(load);
        let address = builder.phi(builder.i32);
        llvm::add_incoming(address, label, missed);
        llvm::add_incoming(address, built_address, built);
        if !alone {
            llvm::add_incoming(address, self.zero(), start);
        }
        let loaded = self.load_at(wanted, address, value, size, site);
        let end = builder.block();
        builder.jump(done);
        builder.at_end(done);
        let result = builder.phi(builder.i32);
        llvm::add_incoming(result, label, search);
        llvm::add_incoming(result, loaded, end);
        for &instruction in &group.instructions {
            self.set_labels(instruction, vec![self.zero()]);
        }
        result
    }

    /// The label and the value of each operand.
    fn flowing_in(&self, group: &Group) -> Vec<Value> {
        group.operands.iter().flat_map(|value| [self.label_of(*value), self.bits(*value)]).collect()
    }

    fn lookup(&self, region: Value, group: &Group) -> Value {
        let taken = self.direction(group);
        match self.flowing_in(group)[..] {
            [la, a] => self.call(entry::__tg_lookup1, [region, la, a, taken]),
            [la, a, lb, b] => self.call(entry::__tg_lookup2, [region, la, a, lb, b, taken]),
            [la, a, lb, b, lc, c] => {
                self.call(entry::__tg_lookup3, [region, la, a, lb, b, lc, c, taken])
            }
            _ => panic!("a group that is looked up has one to three operands"),
        }
    }

    fn fetch_label(&self, region: Value, group: &Group, address: Value) -> Value {
        match self.flowing_in(group)[..] {
            [la, a] => self.call(entry::__tg_lookup_load1, [region, la, a, address]),
            [la, a, lb, b] => self.call(entry::__tg_lookup_load2, [region, la, a, lb, b, address]),
            _ => panic!("a group that ends with a load has one or two operands"),
        }
    }

    fn note(&self, region: Value, group: &Group) -> Value {
        let builder = self.builder();
        let mut operands = self.flowing_in(group).into_iter();
        let mut next = || match (operands.next(), operands.next()) {
            (Some(label), Some(value)) => [label, value],
            _ => [builder.const_i32(Label::MAX), builder.const_i64(0)],
        };
        let [[la, a], [lb, b], [lc, c]] = [next(), next(), next()];
        let labels = group.results.iter().enumerate().map(|(i, result)| {
            let label = builder.cast(LLVMOpcode::LLVMZExt, self.label_of(*result), builder.i128);
            builder.binary(
                LLVMOpcode::LLVMShl,
                label,
                builder.const_int(builder.i128, 32 * i as u64),
            )
        });
        let packed = labels.reduce(|a, b| builder.binary(LLVMOpcode::LLVMOr, a, b));
        let labels = packed.unwrap_or(builder.const_int(builder.i128, 0));
        self.call(entry::__tg_note, [region, la, a, lb, b, lc, c, labels])
    }

    fn unpacked(&self, labels: Value, count: usize) -> Vec<Value> {
        let builder = self.builder();
        let label = |i: usize| {
            let shifted = builder.binary(
                LLVMOpcode::LLVMLShr,
                labels,
                builder.const_int(builder.i128, 32 * i as u64),
            );
            let label = builder.cast(LLVMOpcode::LLVMTrunc, shifted, builder.i32);
            // The highest bit says whether something was found.
            builder.binary(LLVMOpcode::LLVMAnd, label, builder.const_i32(i32::MAX as u32))
        };
        (0..count).map(label).collect()
    }

    /// What a group compares before its branch, as the runtime wants it, and with which constant:
    /// two operands, an operand and a constant, or the difference of two operands and a constant,
    /// of 64 bits.
    fn comparison(&self, group: &Group) -> Option<(u16, u64)> {
        let [condition] = group.results[..] else { return None };
        if !group.only_for_consumer || llvm::opcode(condition) != LLVMOpcode::LLVMICmp {
            return None;
        }
        let (op, is_negated, is_swapped) = comparison(condition);
        let [x, y] = [0, 1].map(|i| self.without_casts(llvm::operand(condition, i)));
        if self.width(llvm::type_of(llvm::operand(condition, 0))) != 64 {
            return None;
        }
        let mut compared = Comparison { op, is_negated, is_swapped, is_of_difference: false };
        let constant = llvm::as_constant_int(y).map(llvm::constant_bits);
        let operands: Vec<Value> =
            group.operands.iter().map(|operand| self.without_casts(*operand)).collect();
        if operands[..] == [x] && constant.is_some() || operands[..] == [x, y] {
            return Some((compared.number(), constant.unwrap_or(0)));
        }
        let is_difference = llvm::as_instruction(x).is_some_and(|x| {
            llvm::opcode(x) == LLVMOpcode::LLVMSub && !llvm::has_no_signed_wrap(x)
        });
        let parts = || [0, 1].map(|i| self.without_casts(llvm::operand(x, i)));
        if !is_difference || operands[..] != parts() {
            return None;
        }
        compared.is_of_difference = true;
        Some((compared.number(), constant?))
    }

    /// A pointer where it is taken for a number of its width, or a number that is extended by
    /// zeros, as the runtime's arguments are, too.
    fn without_casts(&self, mut value: Value) -> Value {
        use LLVMOpcode::*;
        let is_cast = |i: &Value| {
            matches!(llvm::opcode(*i), LLVMPtrToInt | LLVMFreeze | LLVMZExt)
                && self.width(llvm::type_of(*i)) == 64
        };
        while let Some(cast) = llvm::as_instruction(value).filter(is_cast) {
            value = llvm::operand(cast, 0);
        }
        value
    }

    fn described_consumer(&self, group: &Group) -> trace::Consumer {
        let Some(Consumer { kind, site, .. }) = group.consumer else {
            return trace::Consumer::Nothing;
        };
        match kind {
            ConsumerKind::Branch => {
                let (comparison, constant) = self.comparison(group).unwrap_or((0, 0));
                trace::Consumer::Branch { comparison, site, constant }
            }
            ConsumerKind::Switch(..) => trace::Consumer::Switch { site },
            ConsumerKind::Load(_, size) => trace::Consumer::Load { site, size: size as u32 },
        }
    }

    fn description(&self, group: &Group) -> Value {
        let builder = self.builder();
        let results = group.results.len() as u32;
        let region = PureRegion {
            results,
            only_for_consumer: group.asks(),
            consumer: self.described_consumer(group),
        };
        let mut words = region.words().map(|word| builder.const_i32(word));
        // SAFETY: the initialiser has the global's type.
        unsafe {
            let module = LLVMGetGlobalParent(self.function);
            let list = LLVMConstArray2(builder.i32, words.as_mut_ptr(), words.len() as u64);
            let global = LLVMAddGlobal(module, llvm::type_of(list), c"".as_ptr());
            LLVMSetInitializer(global, list);
            LLVMSetGlobalConstant(global, 1);
            LLVMSetLinkage(global, LLVMLinkage::LLVMInternalLinkage);
            LLVMSetAlignment(global, PureRegion::ALIGNMENT as u32);
            global
        }
    }
}

/// Instructions whose results follow from shapes alone.
fn is_plain(instruction: Value) -> bool {
    use LLVMOpcode::*;
    let opcode = llvm::opcode(instruction);
    is_integer_operator(opcode)
        || matches!(
            opcode,
            LLVMICmp
                | LLVMTrunc
                | LLVMZExt
                | LLVMSExt
                | LLVMPtrToInt
                | LLVMIntToPtr
                | LLVMBitCast
                | LLVMGetElementPtr
                | LLVMSelect
                | LLVMFreeze
        )
}
