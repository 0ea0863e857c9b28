//! What each parameter of a function is for: a value, an array with its length, a text, a length.
//!
//! Types do not say how long an array is. A length is told by its name and type (`const T *a,
//! size_t n`), or by the user.

use thiserror::Error;

use crate::types::*;

/// What a parameter is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Role {
    /// Whatever its type allows.
    Value,
    /// A pointer to as many elements as this says.
    Array(Length),
    /// The number of elements of arrays.
    Length,
    /// A pointer to the number of elements of arrays.
    LengthBehind,
}

/// How long an array is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// As the parameter with this number says.
    Parameter(usize),
    /// As the number says to which that parameter points.
    Behind(usize),
    Fixed(u64),
}

/// `--length a=n`: an array, and a parameter or a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GivenLength {
    pub array: String,
    pub length: String,
}

#[derive(Debug, Error, PartialEq, Eq)]
pub enum InterfaceError {
    #[error("it takes a variable number of arguments")]
    Variadic,
    #[error("its parameter {0} has a type that cannot be made up ({1})")]
    Parameter(String, String),
    #[error("its result has a type that cannot be looked at ({0})")]
    Result(String),
    #[error("--length {0}={1}: there is no parameter {2} that fits")]
    Length(String, String, String),
}

/// The roles of a function's parameters.
pub fn roles(
    program: &Program,
    function: &Function,
    given: &[GivenLength],
) -> Result<Vec<Role>, InterfaceError> {
    let signature = &function.signature;
    if signature.is_variadic {
        return Err(InterfaceError::Variadic);
    }
    for parameter in &signature.parameters {
        check(program, parameter)?;
    }
    if let Some(result) = signature.result.filter(|ty| is_complex(program, *ty)) {
        return Err(InterfaceError::Result(program.spell(result)));
    }
    let parameters = &signature.parameters;
    let mut roles = vec![Role::Value; parameters.len()];
    guess(program, parameters, &mut roles);
    for given in given {
        apply(program, parameters, given, &mut roles)?;
    }
    Ok(roles)
}

fn check(program: &Program, parameter: &Parameter) -> Result<(), InterfaceError> {
    let is_known = match program.resolved(parameter.ty) {
        Type::Void | Type::Function(_) | Type::Array { .. } => false,
        Type::Record(record) => record.is_complete && !is_complex(program, parameter.ty),
        _ => !is_complex(program, parameter.ty),
    };
    if is_known {
        return Ok(());
    }
    let name = parameter.name.clone().unwrap_or_default();
    Err(InterfaceError::Parameter(name, program.spell(parameter.ty)))
}

/// A complex number, or a value that holds one.
fn is_complex(program: &Program, ty: TypeId) -> bool {
    match program.resolved(ty) {
        Type::Base { encoding, .. } => *encoding == Encoding::Complex,
        Type::Array { element, .. } => is_complex(program, *element),
        Type::Record(record) => record.fields.iter().any(|field| is_complex(program, field.ty)),
        _ => false,
    }
}

/// An integer with a telling name is the length of the pointers before it that have none yet.
fn guess(program: &Program, parameters: &[Parameter], roles: &mut [Role]) {
    for at in 0..parameters.len() {
        let Some(behind) = is_length(program, &parameters[at]) else { continue };
        let arrays: Vec<usize> = (0..at)
            .rev()
            .take_while(|&other| {
                roles[other] == Role::Value && is_array(program, parameters[other].ty)
            })
            .collect();
        // `strchr(s, c, n)`: the length need not follow at once.
        let arrays = match arrays.is_empty() {
            true => belonging(program, parameters, roles, at),
            false => arrays,
        };
        for &array in &arrays {
            let length = if behind { Length::Behind(at) } else { Length::Parameter(at) };
            roles[array] = Role::Array(length);
        }
        if !arrays.is_empty() {
            roles[at] = if behind { Role::LengthBehind } else { Role::Length };
        }
    }
}

/// The array whose name is in the name of the length, or the nearest one before it, or one right
/// after it that is no text (`int argc, char **argv`).
fn belonging(program: &Program, parameters: &[Parameter], roles: &[Role], at: usize) -> Vec<usize> {
    let length = lower(&parameters[at]);
    let free =
        |other: &usize| roles[*other] == Role::Value && is_array(program, parameters[*other].ty);
    let named = (0..parameters.len()).filter(free).find(|&other| {
        let name = lower(&parameters[other]);
        name.len() > 1 && length.contains(&name)
    });
    let nearest = || (0..at).rev().find(free);
    let next = || {
        let follows = |other: &usize| parameters.get(*other).is_some_and(|p| !is_text(program, p));
        Some(at + 1).filter(follows).filter(free)
    };
    named.or_else(nearest).or_else(next).into_iter().collect()
}

fn is_text(program: &Program, parameter: &Parameter) -> bool {
    let to = program.pointee(parameter.ty).unwrap_or(VOID);
    matches!(program.resolved(to), Type::Base { encoding, .. } if encoding.is_char())
}

fn lower(parameter: &Parameter) -> String {
    parameter.name.as_deref().unwrap_or_default().to_ascii_lowercase()
}

/// Whether it looks like a length, and if so whether it points to one.
fn is_length(program: &Program, parameter: &Parameter) -> Option<bool> {
    const NAMES: [&str; 13] = [
        "n", "len", "length", "size", "count", "num", "sz", "nmemb", "nelem", "cnt", "bytes", "l",
        "argc",
    ];
    const ENDS: [&str; 7] = ["len", "length", "size", "count", "num", "_n", "_sz"];
    let name = lower(parameter);
    let name = name.trim_matches('_');
    let is_named = NAMES.contains(&name)
        || ENDS.iter().any(|end| name.ends_with(end))
        || ["n_", "num_", "len_"].iter().any(|start| name.starts_with(start));
    if !is_named {
        return None;
    }
    let behind = program.pointee(parameter.ty);
    let wide = |ty| program.is_integer(ty) && program.size(ty) >= 2;
    match behind {
        Some(to) if wide(to) && name.len() > 1 => Some(true),
        None if wide(parameter.ty) => Some(false),
        _ => None,
    }
}

/// Whether it points to something of which there may be several.
fn is_array(program: &Program, ty: TypeId) -> bool {
    let Some(to) = program.pointee(ty) else { return false };
    match program.resolved(to) {
        Type::Function(_) => false,
        Type::Record(record) => record.is_complete,
        _ => true,
    }
}

fn apply(
    program: &Program,
    parameters: &[Parameter],
    given: &GivenLength,
    roles: &mut [Role],
) -> Result<(), InterfaceError> {
    let GivenLength { array, length } = given;
    let named = |name: &str| parameters.iter().position(|p| p.name.as_deref() == Some(name));
    let wrong = |name: &str| InterfaceError::Length(array.clone(), length.clone(), name.to_owned());
    let at = named(array).filter(|&at| is_array(program, parameters[at].ty));
    let at = at.ok_or_else(|| wrong(array))?;
    if let Ok(count) = length.parse() {
        roles[at] = Role::Array(Length::Fixed(count));
        return Ok(());
    }
    let by = named(length).ok_or_else(|| wrong(length))?;
    let ty = parameters[by].ty;
    (roles[at], roles[by]) = match program.pointee(ty) {
        None if program.is_integer(ty) => (Role::Array(Length::Parameter(by)), Role::Length),
        Some(to) if program.is_integer(to) => (Role::Array(Length::Behind(by)), Role::LengthBehind),
        _ => return Err(wrong(length)),
    };
    Ok(())
}
