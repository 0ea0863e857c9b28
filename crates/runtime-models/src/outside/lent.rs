//! Memory that functions without a model get, and functions that print: what has labels among it,
//! and whether it is the input's name.
//!
//! Functions of the system's libraries use it while they are called. Others without bitcode may
//! keep the address for later calls, and see the program's variables.

use super::reach::{Memory, Search, is_address};
use super::{enter, keeping_errno, known, output, prepare};
use crate::input::named;
use core::cell::Cell;
use runtime_core::state::Run;
use runtime_core::{events, objects};
use trace::GiveUp;

/// What a function may do with memory that it gets, as it stands in arguments.
mod ways {
    use trace::Lent;
    pub const ANY: u32 = Lent::Any as u32;
    pub const OUTPUT: u32 = Lent::Output as u32;
    pub const COUNTED: u32 = Lent::Counted as u32;
    pub const FOREIGN: u32 = Lent::Foreign as u32;
}

unsafe extern "C" {
    static __executable_start: u8;
    #[link_name = "_end"]
    static PROGRAM_END: u8;
}

/// More pointers than this are not remembered: then anything may have been kept.
const MAX_LENT: usize = 32;
/// How far into an object pointers to names are expected.
const NAME_BYTES: usize = 64;
/// Looking for a file by name takes a microsecond.
const MAX_NAMES: u32 = 20_000;

/// Memory that code without bitcode got, and may have kept the address of.
pub struct Loans {
    lent: [Cell<usize>; MAX_LENT],
    count: Cell<usize>,
    /// There was more.
    is_cut: Cell<bool>,
    /// A function of none of the system's libraries was called.
    has_foreign: Cell<bool>,
    /// Pointers that may still be looked at for the input's name.
    names: Cell<u32>,
}

impl Loans {
    pub const NEW: Loans = Loans {
        lent: [const { Cell::new(0) }; MAX_LENT],
        count: Cell::new(0),
        is_cut: Cell::new(false),
        has_foreign: Cell::new(false),
        names: Cell::new(MAX_NAMES),
    };

    /// A run ends.
    pub fn reset(&self) {
        self.lent.iter().for_each(|lent| lent.set(0));
        self.count.set(0);
        self.is_cut.set(false);
        self.has_foreign.set(false);
        self.names.set(MAX_NAMES);
    }

    fn all(&self) -> impl Iterator<Item = usize> {
        self.lent.iter().take(self.count.get()).map(Cell::get)
    }

    /// Code without bitcode may keep the pointer.
    fn add(&self, pointer: usize) {
        if self.all().any(|lent| lent == pointer) {
            return;
        }
        match self.lent.get(self.count.get()) {
            Some(free) => {
                free.set(pointer);
                self.count.update(|count| count + 1);
            }
            None => self.is_cut.set(true),
        }
    }
}

/// A function without a model, or one that prints, gets a pointer to memory of `size` bytes, 0 if
/// that is not known.
#[unsafe(no_mangle)]
pub extern "C" fn __tg_lend(function: u32, pointer: usize, size: usize, way: u32, site: u32) {
    let run = Run::current();
    if !is_address(pointer) || way == ways::OUTPUT && !known().output.matters() {
        return;
    }
    let Some(_entered) = enter(run) else { return };
    let memory = Memory::at(run, pointer, size);
    if way == ways::FOREIGN {
        known().loans.add(pointer);
    }
    if finds_label(run, memory, way) {
        match way {
            ways::OUTPUT => output::note_printed(run),
            _ => events::give_up(run, GiveUp::External, site, function),
        }
    }
    let opens_files = way == ways::ANY || way == ways::FOREIGN;
    if opens_files && holds_name(run, pointer, memory) {
        events::give_up(run, GiveUp::InputTaken, site, function);
        known().has_name.set(false);
    }
}

/// Whether a function that may do this with the memory finds a label there.
fn finds_label(run: &Run, memory: Memory, way: u32) -> bool {
    match way {
        ways::OUTPUT | ways::COUNTED | ways::FOREIGN => Search::from(memory).finds_label(run),
        _ => {
            let is_led_to = |word| Memory::at(run, word, 0).is_symbolic(run);
            memory.is_symbolic(run) || memory.words().any(is_led_to)
        }
    }
}

/// Whether the input's name is at the pointer, or where the first words there lead to.
fn holds_name(run: &Run, pointer: usize, memory: Memory) -> bool {
    is_name(run, pointer) || memory.words_of(NAME_BYTES).any(|word| is_name(run, word))
}

/// Whether there is the input's name at the address.
fn is_name(run: &Run, address: usize) -> bool {
    prepare(run);
    let names = &known().loans.names;
    if !known().has_name.get() || names.get() == 0 {
        return false;
    }
    names.set(names.get() - 1);
    // SAFETY: it is the kernel that reads the path, and it only fails where there is no memory.
    keeping_errno(|| unsafe { named(run, address as *const _) }).is_some()
}

/// A function is about to be called that is neither the program's nor one of the system's
/// libraries. It may use what it got earlier; and variables of the program, if it was linked with
/// it.
#[unsafe(no_mangle)]
pub extern "C" fn __tg_foreign(function: u32, address: usize, site: u32) {
    let run = Run::current();
    let Some(_entered) = enter(run) else { return };
    known().loans.has_foreign.set(true);
    if sees_others(run, address) {
        events::give_up(run, GiveUp::External, site, function);
    }
}

/// Whether code at the address that is not followed, and not the system's, sees a label in what it
/// got earlier, or in variables.
pub(super) fn sees_others(run: &Run, address: usize) -> bool {
    known().loans.has_foreign.get()
        && (sees_kept_memory(run) || is_in_program(address) && sees_variables(run))
}

fn is_in_program(address: usize) -> bool {
    // The linker defines both ends.
    let (start, end) = (&raw const __executable_start, &raw const PROGRAM_END);
    (start as usize..end as usize).contains(&address)
}

fn sees_kept_memory(run: &Run) -> bool {
    let loans = &known().loans;
    let sees = |pointer| Search::from(Memory::at(run, pointer, 0)).finds_label(run);
    loans.is_cut.get() && known().was_used.get() || loans.all().any(sees)
}

fn sees_variables(run: &Run) -> bool {
    let mut variables = objects::visible_globals(run);
    variables.any(|variable| Search::from(Memory::of(variable)).finds_label(run))
}
