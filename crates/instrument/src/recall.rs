//! Regions that the runtime can look up as a whole: what they make of a byte of the input is the same for every byte.
//!
//! Such a *group* is a part of a region whose instructions hang together, compute with integers and pointers, and have few operands from
//! outside and few results that others use. The runtime's side is `regions.rs` there.

use crate::expressions::is_integer_operator;
use crate::function::{Function, operands};
use crate::llvm::{self, LLVMIntPredicate, LLVMOpcode, Value};
use crate::types;
use inkwell::llvm_sys::LLVMLinkage;
use inkwell::llvm_sys::core::*;
use std::collections::{HashMap, HashSet};

/// What the runtime's functions take and return at most.
const MOST_OPERANDS: usize = 3;
const MOST_RESULTS: usize = 4;
const NO_BRANCH: u32 = u32::MAX;

/// A branch at the end of a region.
pub struct Ending {
    pub condition: Value,
    pub site: u32,
}

/// Instructions of a region that hang together.
struct Group {
    instructions: Vec<Value>,
    /// What flows in and is no constant.
    operands: Vec<Value>,
    /// Instructions whose labels are used outside of the group; the condition of the branch is the first.
    results: Vec<Value>,
    /// Whether the branch at the end of the region is on one of them.
    branches: bool,
    /// Whether nothing else wants a result, and there is one operand.
    only_branches: bool,
}

impl Function<'_> {
    /// Writes what gives the labels of a region's instructions, from the present position on. Returns whether the branch is done, too.
    pub fn region_labels(&mut self, region: &[Value], used: &[Value], ending: Option<&Ending>) -> bool {
        let groups = self.groups(region, used, ending);
        let alone = groups.len() == 1;
        let mut branches = false;
        for group in groups {
            if self.is_looked_up(&group) {
                branches |= group.branches;
                self.looked_up(group, alone, ending);
            } else {
                self.build(&group.instructions);
            }
        }
        branches
    }

    fn build(&mut self, instructions: &[Value]) {
        for &instruction in instructions {
            let labels = self.expression(instruction);
            self.set_labels(instruction, labels);
        }
    }

    /// The parts of a region that have no operand in common.
    fn groups(&self, region: &[Value], used: &[Value], ending: Option<&Ending>) -> Vec<Group> {
        let mut group_of: HashMap<Value, usize> = HashMap::new();
        let mut members: Vec<Vec<Value>> = Vec::new();
        for &instruction in region {
            let number = members.len();
            members.push(vec![instruction]);
            let values = operands(instruction).filter(|v| !llvm::is_constant(*v)).chain([instruction]);
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
        let order: HashMap<Value, usize> = region.iter().enumerate().map(|(i, v)| (*v, i)).collect();
        let mut groups: Vec<Vec<Value>> = members.into_iter().filter(|members| !members.is_empty()).collect();
        groups.iter_mut().for_each(|members| members.sort_by_key(|member| order[member]));
        groups.sort_by_key(|members| order[&members[0]]);
        groups.into_iter().map(|members| self.group(members, used, ending)).collect()
    }

    fn group(&self, instructions: Vec<Value>, used: &[Value], ending: Option<&Ending>) -> Group {
        let members: HashSet<Value> = instructions.iter().copied().collect();
        let mut inflow = Vec::new();
        for value in instructions.iter().flat_map(|i| operands(*i)) {
            if !llvm::is_constant(value) && !members.contains(&value) && !inflow.contains(&value) {
                inflow.push(value);
            }
        }
        let is_used =
            |i: &Value| used.contains(i) || llvm::users(*i).iter().any(|user| !members.contains(user));
        let mut results: Vec<Value> = instructions.iter().copied().filter(is_used).collect();
        let condition = ending.and_then(|ending| results.iter().position(|r| *r == ending.condition));
        if let Some(position) = condition {
            results.swap(0, position);
        }
        let branches = condition.is_some();
        let is_wanted_once = matches!(results[..], [result] if llvm::users(result).len() == 1);
        let only_branches = branches && is_wanted_once && inflow.len() == 1;
        Group { instructions, operands: inflow, results, branches, only_branches }
    }

    fn is_looked_up(&self, group: &Group) -> bool {
        let calls: usize = group.instructions.iter().map(|i| self.calls_for(*i)).sum();
        let is_simple = |value: &Value| {
            let ty = llvm::type_of(*value);
            types::scalar_bits(ty).is_some_and(|bits| bits <= 64) && !types::is_float(ty)
        };
        group.operands.len() <= MOST_OPERANDS
            && group.results.len() <= MOST_RESULTS
            && calls + usize::from(group.branches) >= 2
            && group.instructions.iter().all(|i| is_plain(*i))
            && group.instructions.iter().chain(&group.operands).all(is_simple)
    }

    /// How many calls of the runtime an instruction takes.
    fn calls_for(&self, instruction: Value) -> usize {
        use LLVMOpcode::*;
        match llvm::opcode(instruction) {
            LLVMICmp => 1 + usize::from(llvm::int_predicate(instruction) == LLVMIntPredicate::LLVMIntNE),
            LLVMGetElementPtr => operands(instruction).count() - 1,
            LLVMFreeze | LLVMPtrToInt | LLVMIntToPtr | LLVMBitCast => 0,
            LLVMAdd | LLVMSub | LLVMMul => 1 + usize::from(llvm::has_no_signed_wrap(instruction)),
            _ => 1,
        }
    }

    /// Looks the group up, and builds and notes it where that finds nothing.
    fn looked_up(&mut self, group: Group, alone: bool, ending: Option<&Ending>) {
        let builder = self.builder();
        let start = builder.block();
        let [search, build, done] = [(); 3].map(|()| builder.new_block(start));
        let region = self.description(&group, ending);
        if alone {
            builder.jump(search);
        } else {
            let any = self.any_label(&group.operands);
            let is_set = builder.compare(LLVMIntPredicate::LLVMIntNE, any, self.zero());
            builder.branch(is_set, search, done);
        }
        builder.at_end(search);
        let (is_found, from_search) = if group.only_branches {
            (self.ask(region, &group, ending), vec![self.zero()])
        } else {
            let recalled = self.recall(region, &group, ending);
            let labels = self.unpacked(recalled, group.results.len());
            let zero = builder.const_int(builder.i128, 0);
            (builder.compare(LLVMIntPredicate::LLVMIntSLT, recalled, zero), labels)
        };
        builder.branch(is_found, done, build);
        builder.at_end(build);
        self.build(&group.instructions);
        let noted = self.note(region, &group);
        let from_build = self.unpacked(noted, group.results.len());
        if let Some(ending) = ending.filter(|_| group.branches) {
            self.record_branch(from_build[0], ending);
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

    fn ask(&self, region: Value, group: &Group, ending: Option<&Ending>) -> Value {
        let builder = self.builder();
        let label = self.label_of(group.operands[0]);
        let answer = self.call("__tg_ask", &[region, label, self.direction(group, ending)]);
        builder.compare(LLVMIntPredicate::LLVMIntNE, answer, self.zero())
    }

    /// Where the branch at the end of a group goes; 0 if there is none.
    fn direction(&self, group: &Group, ending: Option<&Ending>) -> Value {
        let builder = self.builder();
        match ending.filter(|_| group.branches) {
            Some(ending) => builder.cast(LLVMOpcode::LLVMZExt, ending.condition, builder.i32),
            None => self.zero(),
        }
    }

    fn recall(&self, region: Value, group: &Group, ending: Option<&Ending>) -> Value {
        let taken = self.direction(group, ending);
        let pairs = group.operands.iter().flat_map(|value| [self.label_of(*value), self.bits(*value)]);
        let arguments: Vec<Value> = [region].into_iter().chain(pairs).chain([taken]).collect();
        self.call(&format!("__tg_recall{}", group.operands.len()), &arguments)
    }

    fn note(&self, region: Value, group: &Group) -> Value {
        let builder = self.builder();
        let pairs = group.operands.iter().flat_map(|value| [self.label_of(*value), self.bits(*value)]);
        let none = [builder.const_i32(u32::MAX), builder.const_i64(0)].into_iter().cycle();
        let mut arguments: Vec<Value> = [region].into_iter().chain(pairs).chain(none).take(7).collect();
        let labels = group.results.iter().enumerate().map(|(i, result)| {
            let label = builder.cast(LLVMOpcode::LLVMZExt, self.label_of(*result), builder.i128);
            builder.binary(LLVMOpcode::LLVMShl, label, builder.const_int(builder.i128, 32 * i as u64))
        });
        let packed = labels.reduce(|a, b| builder.binary(LLVMOpcode::LLVMOr, a, b));
        arguments.push(packed.unwrap_or(builder.const_int(builder.i128, 0)));
        self.call("__tg_note", &arguments)
    }

    fn unpacked(&self, labels: Value, count: usize) -> Vec<Value> {
        let builder = self.builder();
        let label = |i: usize| {
            let shifted =
                builder.binary(LLVMOpcode::LLVMLShr, labels, builder.const_int(builder.i128, 32 * i as u64));
            let label = builder.cast(LLVMOpcode::LLVMTrunc, shifted, builder.i32);
            // The highest bit says whether something was found.
            builder.binary(LLVMOpcode::LLVMAnd, label, builder.const_i32(i32::MAX as u32))
        };
        (0..count).map(label).collect()
    }

    /// The constant that the runtime calls `Region`.
    fn description(&self, group: &Group, ending: Option<&Ending>) -> Value {
        let builder = self.builder();
        let branch = ending.filter(|_| group.branches).map_or(NO_BRANCH, |ending| ending.site);
        let fields = [group.results.len() as u32, branch, u32::from(group.only_branches)];
        let mut fields = fields.map(|number| builder.const_i32(number));
        // SAFETY: the initialiser has the global's type.
        unsafe {
            let module = LLVMGetGlobalParent(self.function);
            let list = LLVMConstArray2(builder.i32, fields.as_mut_ptr(), fields.len() as u64);
            let global = LLVMAddGlobal(module, llvm::type_of(list), c"".as_ptr());
            LLVMSetInitializer(global, list);
            LLVMSetGlobalConstant(global, 1);
            LLVMSetLinkage(global, LLVMLinkage::LLVMInternalLinkage);
            LLVMSetAlignment(global, 8);
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
