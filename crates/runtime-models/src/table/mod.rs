//! The table of models: a row for each library function says its name and aliases, what its
//! arguments are for, and its effect. From a row come the functions that stand in for the library
//! function and its aliases, its declaration, and a value of plain data.
//!
//! ```text
//! width name | alias... (argument: Role, ...) -> Role { effect }
//! ```
//!
//! An effect is one of
//!
//! * `after kernel[parameters]`: the library acts; then, with the guard held, the kernel says how
//!   the result depends on the arguments: `kernel(run, parameters..., labels, arguments...,
//!   result)`;
//! * `instead kernel[parameters]`: the kernel acts: `kernel(run, parameters..., labels,
//!   arguments...)`;
//! * `call function(values...)`: another function of the table does it;
//! * `checked function(values...) needs size`: the same, if the role [`Room`](Role::Room) has room;
//! * `variadic function(values...)`: the same for a function with variable arguments.

mod call;
pub mod roles;

pub use roles::Role;
use runtime_core::state::Run;
use trace::ConcretiseReason;

/// Elements of a function that knows bytes.
#[allow(non_camel_case_types)]
pub(super) type byte = u8;
/// Elements of a function that knows wide characters: `wchar_t`.
#[allow(non_camel_case_types)]
pub(super) type wide = i32;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    Byte,
    Wide,
}

/// A row as plain data, for tests and documents.
#[derive(Clone, Copy, Debug)]
pub struct Model {
    pub name: &'static str,
    /// Other names of the same function.
    pub aliases: &'static [&'static str],
    pub width: Width,
    pub arguments: &'static [(&'static str, Role)],
    pub result: Role,
    /// As the row says it.
    pub effect: &'static str,
}

/// The functions of a table.
macro_rules! models {
    ($($width:ident $name:ident $(| $alias:ident)* ($($arg:ident: $role:ident),*) -> $result:ident
        $effect:tt)*) => {
        /// The library's own functions; some models call none.
        #[allow(dead_code)]
        pub(crate) mod real {
            use super::*;
            unsafe extern "C" {
                $(pub fn $name($($arg: role!($role $width)),*) -> role!($result $width);)*
            }
        }
        variadic_models! { $($width $name $(| $alias)* ($($arg: $role),*) -> $result $effect)* }
    };
}

/// The functions of a table that are not declared.
macro_rules! variadic_models {
    ($($width:ident $name:ident $(| $alias:ident)* ($($arg:ident: $role:ident),*) -> $result:ident
        $effect:tt)*) => {
        pub const MODELS: &[Model] = &[$(Model {
            name: stringify!($name),
            aliases: &[$(stringify!($alias)),*],
            width: width!($width),
            arguments: &[$((stringify!($arg), Role::$role)),*],
            result: Role::$result,
            effect: stringify!($effect),
        }),*];
        $(model! { $effect $width $name [$($alias)*] ($($arg: $role),*) -> $result })*
    };
}

/// The functions of a row.
macro_rules! model {
    ({ variadic $target:ident($($value:expr),*) } $width:ident $name:ident []
        ($($arg:ident: $role:ident),*) -> $result:ident) => {
        /// # Safety
        /// As of the library's function.
        #[unsafe(export_name = concat!("__tarragon_variadic_", stringify!($name)))]
        pub unsafe extern "C" fn $name($($arg: role!($role $width)),*) -> role!($result $width) {
            // SAFETY: the same call of the program, by another name.
            unsafe { $target($($value),*) }
        }
    };
    ($effect:tt $width:ident $name:ident [$($alias:ident)*]
        ($($arg:ident: $role:ident),*) -> $result:ident) => {
        /// # Safety
        /// As of the library's function.
        #[unsafe(export_name = concat!("__tarragon_model_", stringify!($name)))]
        pub unsafe extern "C" fn $name($($arg: role!($role $width)),*) -> role!($result $width) {
            body!($effect $width $name ($($arg: $role),*))
        }
        aliases! { [$($alias)*] $width $name($($arg: $role),*) -> $result }
    };
}

macro_rules! aliases {
    ([] $($row:tt)*) => {};
    ([$alias:ident $($more:ident)*] $width:ident $name:ident($($arg:ident: $role:ident),*)
        -> $result:ident) => {
        #[allow(non_snake_case)]
        /// # Safety
        /// As of the library's function.
        #[unsafe(export_name = concat!("__tarragon_model_", stringify!($alias)))]
        pub unsafe extern "C" fn $alias($($arg: role!($role $width)),*) -> role!($result $width) {
            // SAFETY: the same call of the program, by another name.
            unsafe { $name($($arg),*) }
        }
        aliases! { [$($more)*] $width $name($($arg: $role),*) -> $result }
    };
}

/// What a function of a row does.
macro_rules! body {
    ({ after $kernel:path $([$($parameter:expr),*])? } $width:ident $name:ident
        ($($arg:ident: $role:ident),*)) => {{
        let run = Run::current();
        const ROLES: &[Role; arguments!($($arg)*)] = &[$(Role::$role),*];
        const REASON: Option<ConcretiseReason> = call::reason(ROLES);
        let labels = call::begin::<$width, _>(run, REASON, ROLES, || [$($arg as usize),*]);
        // SAFETY: the program's own call.
        let result = unsafe { real::$name($($arg),*) };
        call::record(run, |run| $kernel(run, $($($parameter,)*)? &labels, $($arg,)* result));
        result
    }};
    ({ instead $kernel:path $([$($parameter:expr),*])? } $width:ident $name:ident
        ($($arg:ident: $role:ident),*)) => {{
        let run = Run::current();
        const ROLES: &[Role; arguments!($($arg)*)] = &[$(Role::$role),*];
        const REASON: Option<ConcretiseReason> = call::reason(ROLES);
        let labels = call::begin::<$width, _>(run, REASON, ROLES, || [$($arg as usize),*]);
        $kernel(run, $($($parameter,)*)? &labels, $($arg),*)
    }};
    ({ call $target:ident($($value:expr),*) } $width:ident $name:ident
        ($($arg:ident: $role:ident),*)) => {
        // SAFETY: the same call of the program, by another name.
        unsafe { $target($($value),*) }
    };
    ({ checked $target:ident($($value:expr),*) needs $needed:expr } $width:ident $name:ident
        ($($arg:ident: $role:ident),*)) => {{
        let (needed, room): (usize, usize) = ($needed, room!($($arg: $role),*));
        if needed > room {
            // SAFETY: the program's own call, which the library ends the program for.
            return unsafe { real::$name($($arg),*) };
        }
        call::drop_room(&[$(Role::$role),*]);
        // SAFETY: the same call of the program, by another name.
        unsafe { $target($($value),*) }
    }};
}

/// How many there are.
macro_rules! arguments {
    () => { 0 };
    ($first:ident $($more:ident)*) => { 1 + arguments!($($more)*) };
}

/// The argument that says how much room there is.
macro_rules! room {
    ($arg:ident: Room $($more:tt)*) => { $arg };
    ($arg:ident: $role:ident, $($more:tt)*) => { room!($($more)*) };
}

macro_rules! role {
    ($role:ident $width:ident) => {
        <roles::typed::$role as roles::Typed<$width>>::Type
    };
}

macro_rules! width {
    (byte) => {
        Width::Byte
    };
    (wide) => {
        Width::Wide
    };
}

mod rows;
#[cfg(test)]
mod tests;

pub use rows::*;
