//! What the search for lexers asks of a whole program: who calls whom, and who reads what is stored
//! somewhere.

use super::place::{Place, place};
use crate::attributes;
use crate::llvm::{self, LLVMOpcode, Layout, Type, Value};
use crate::module::Module;
use crate::source::source_name;
use std::collections::{HashMap, HashSet};

pub struct Program {
    pub layout: Layout,
    /// The functions that the program defines, in its order.
    pub functions: Vec<Value>,
    /// Calls that may reach a function. Calls through pointers reach every function of their type
    /// whose address is taken.
    calls: HashMap<Value, Vec<Value>>,
    callers: HashMap<Value, Vec<Value>>,
    callees: HashMap<Value, Vec<Value>>,
    /// Without calls through pointers.
    direct_callees: HashMap<Value, Vec<Value>>,
    loads: HashMap<Place, Vec<Value>>,
    stores: HashMap<Value, Vec<Store>>,
}

#[derive(Clone)]
pub struct Store {
    pub value: Value,
    pub pointer: Value,
    pub place: Option<Place>,
}

impl Program {
    pub fn new(module: &Module) -> Program {
        let defined = |function: &Value| attributes::can_be_instrumented(*function);
        let functions: Vec<Value> = module.functions().into_iter().filter(defined).collect();
        let mut program = Program {
            layout: module.layout(),
            calls: HashMap::new(),
            callers: HashMap::new(),
            direct_callees: HashMap::new(),
            callees: HashMap::new(),
            loads: HashMap::new(),
            stores: HashMap::new(),
            functions,
        };
        let pointed_at = program.pointed_at();
        for function in program.functions.clone() {
            for instruction in instructions(function) {
                program.add(function, instruction, &pointed_at);
            }
        }
        program
    }

    pub fn calls(&self, function: Value) -> &[Value] {
        listed(&self.calls, function)
    }

    /// Functions that call `function`, without it.
    pub fn callers(&self, function: Value) -> &[Value] {
        listed(&self.callers, function)
    }

    /// Functions that `function` calls, defined or not.
    pub fn callees(&self, function: Value) -> &[Value] {
        listed(&self.callees, function)
    }

    pub fn loads(&self, place: &Place) -> &[Value] {
        self.loads.get(place).map_or(&[], Vec::as_slice)
    }

    pub fn stores(&self, function: Value) -> &[Store] {
        listed(&self.stores, function)
    }

    /// A function with its helpers: those that are called from nowhere else.
    pub fn cluster(&self, function: Value) -> Vec<Value> {
        let mut cluster = vec![function];
        let mut inside: HashMap<Value, usize> = HashMap::new();
        let mut next = 0;
        while let Some(&member) = cluster.get(next) {
            for &callee in self.callees(member).iter().filter(|callee| **callee != member) {
                let callers = inside.entry(callee).or_default();
                *callers += 1;
                let owned = *callers == self.callers(callee).len() && !llvm::is_declaration(callee);
                if owned && callee != function {
                    cluster.push(callee);
                }
            }
            next += 1;
        }
        cluster
    }

    /// Whether a function calls itself, maybe through others. Calls through pointers do not count:
    /// what they reach is a guess, and a wrong one makes everything recursive.
    pub fn is_recursive(&self, function: Value) -> bool {
        let further = |from| listed(&self.direct_callees, from);
        let mut seen: HashSet<Value> = HashSet::new();
        let mut open = further(function).to_vec();
        while let Some(next) = open.pop() {
            if seen.insert(next) {
                open.extend(further(next));
            }
        }
        seen.contains(&function)
    }

    /// Functions that `function` reaches in at most `depth` calls, with itself.
    pub fn reach(&self, function: Value, depth: usize) -> Vec<Value> {
        let mut found = vec![function];
        let mut seen = HashSet::from([function]);
        let mut start = 0;
        for _ in 0..depth {
            let end = found.len();
            for member in start..end {
                let new = self
                    .callees(found[member])
                    .iter()
                    .copied()
                    .filter(|callee| seen.insert(*callee));
                found.extend(new.collect::<Vec<_>>());
            }
            start = end;
        }
        found
    }

    fn add(&mut self, function: Value, instruction: Value, pointed_at: &HashMap<Type, Vec<Value>>) {
        match llvm::opcode(instruction) {
            LLVMOpcode::LLVMLoad => {
                if let Some(place) = place(self.layout, llvm::operand(instruction, 0)) {
                    self.loads.entry(place).or_default().push(instruction);
                }
            }
            LLVMOpcode::LLVMStore => {
                let (value, pointer) =
                    (llvm::operand(instruction, 0), llvm::operand(instruction, 1));
                let store = Store { value, pointer, place: place(self.layout, pointer) };
                self.stores.entry(function).or_default().push(store);
            }
            LLVMOpcode::LLVMCall | LLVMOpcode::LLVMInvoke => {
                let direct = llvm::as_function(llvm::called(instruction));
                let by_type =
                    || pointed_at.get(&llvm::called_type(instruction)).cloned().unwrap_or_default();
                if let Some(callee) = direct {
                    add_once(&mut self.direct_callees, function, callee);
                }
                for callee in direct.map_or_else(by_type, |callee| vec![callee]) {
                    self.add_call(function, instruction, callee);
                }
            }
            _ => {}
        }
    }

    fn add_call(&mut self, caller: Value, call: Value, callee: Value) {
        self.calls.entry(callee).or_default().push(call);
        add_once(&mut self.callees, caller, callee);
        if caller != callee {
            add_once(&mut self.callers, callee, caller);
        }
    }

    /// Functions whose address is taken, by type.
    fn pointed_at(&self) -> HashMap<Type, Vec<Value>> {
        let mut found: HashMap<Type, Vec<Value>> = HashMap::new();
        for &function in &self.functions {
            let is_call = |user: Value| is_call(user) && llvm::called(user) == function;
            if !llvm::users(function).into_iter().all(is_call) {
                found.entry(llvm::value_type(function)).or_default().push(function);
            }
        }
        found
    }
}

fn listed<T>(lists: &HashMap<Value, Vec<T>>, of: Value) -> &[T] {
    lists.get(&of).map_or(&[], Vec::as_slice)
}

fn add_once(lists: &mut HashMap<Value, Vec<Value>>, of: Value, value: Value) {
    let list = lists.entry(of).or_default();
    if !list.contains(&value) {
        list.push(value);
    }
}

/// A function's name in the source.
pub fn name(function: Value) -> String {
    source_name(&llvm::name(function))
}

pub fn instructions(function: Value) -> impl Iterator<Item = Value> {
    llvm::blocks(function).into_iter().flat_map(llvm::instructions)
}

pub fn caller_of(call: Value) -> Value {
    llvm::function_of(llvm::block_of(call))
}

pub fn is_call(value: Value) -> bool {
    llvm::as_instruction(value).is_some_and(|instruction| {
        matches!(llvm::opcode(instruction), LLVMOpcode::LLVMCall | LLVMOpcode::LLVMInvoke)
    })
}

/// The operands of a function's return instructions.
pub fn results(function: Value) -> Vec<Value> {
    let returns = instructions(function)
        .filter(|instruction| llvm::opcode(*instruction) == LLVMOpcode::LLVMRet);
    returns.filter(|ret| llvm::operand_count(*ret) == 1).map(|ret| llvm::operand(ret, 0)).collect()
}
