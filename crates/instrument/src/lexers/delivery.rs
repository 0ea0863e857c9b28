//! Where a function could deliver a token: its result, memory that an argument leads to, a global
//! variable.

use super::place::{Place, constant_offset, is_gep};
use super::program::{Program, Store, results};
use crate::llvm::{self, LLVMOpcode, LLVMTypeKind, Value};

/// One way in which a function hands out numbers.
pub struct Delivery {
    pub route: Route,
    /// The numbers: operands of returns or stores.
    pub values: Vec<Value>,
}

#[derive(Clone, PartialEq, Eq)]
pub enum Route {
    Result,
    Memory { root: Root, steps: Vec<i64>, place: Place },
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Root {
    Argument(u32),
    Global(Value),
}

/// All deliveries of a function. Its helpers may store into globals for it.
pub fn deliveries(program: &Program, function: Value, cluster: &[Value]) -> Vec<Delivery> {
    let mut found = Vec::new();
    let result = llvm::return_type(llvm::value_type(function));
    if is_number(result) {
        found.push(Delivery { route: Route::Result, values: results(function) });
    }
    for &member in cluster {
        for store in
            program.stores(member).iter().filter(|store| is_number(llvm::type_of(store.value)))
        {
            let route = route(program, function, store);
            let counts = |route: &Route| member == function || is_global(route);
            let Some(route) = route.filter(counts) else { continue };
            match found.iter_mut().find(|delivery| delivery.route == route) {
                Some(delivery) => delivery.values.push(store.value),
                None => found.push(Delivery { route, values: vec![store.value] }),
            }
        }
    }
    found
}

fn is_global(route: &Route) -> bool {
    matches!(route, Route::Memory { root: Root::Global(_), .. })
}

/// Whether values of this type can be token codes. One bit says yes or no.
fn is_number(ty: llvm::Type) -> bool {
    llvm::kind(ty) == LLVMTypeKind::LLVMIntegerTypeKind && (8..=64).contains(&llvm::int_width(ty))
}

fn route(program: &Program, function: Value, store: &Store) -> Option<Route> {
    let (root, steps) = trail(program, function, store.pointer)?;
    Some(Route::Memory { root, steps, place: store.place.clone()? })
}

/// How an address is reached from an argument or a global: offsets, with a pointer read between two
/// of them.
fn trail(program: &Program, function: Value, pointer: Value) -> Option<(Root, Vec<i64>)> {
    if let Some(global) = llvm::as_global_variable(pointer) {
        return Some((Root::Global(global), vec![0]));
    }
    if llvm::as_argument(pointer).is_some() {
        let position =
            (0..llvm::param_count(function)).find(|i| llvm::param(function, *i) == pointer)?;
        return Some((Root::Argument(position), vec![0]));
    }
    if is_gep(pointer) {
        let offset = constant_offset(program.layout, pointer)?;
        let (root, mut steps) = trail(program, function, llvm::operand(pointer, 0))?;
        let last = steps.last_mut()?;
        *last = last.checked_add(offset)?;
        return Some((root, steps));
    }
    let load =
        llvm::as_instruction(pointer).filter(|i| llvm::opcode(*i) == LLVMOpcode::LLVMLoad)?;
    let (root, mut steps) = trail(program, function, llvm::operand(load, 0))?;
    steps.push(0);
    Some((root, steps))
}
