//! Modules of which no variant can be derived: they are set aside, and the variant has them as
//! plain code. One file with unusual assembly is no reason to have no variant of the others.

use crate::clang;
use crate::driver::Language;
use crate::payload::Module;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// If more modules than this are at fault, the reason is not in the modules.
const MAX_ASIDE: usize = 8;

/// A module that is not part of the derived code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Aside {
    pub module: usize,
    pub why: String,
}

/// Derives as much as possible of some modules: `derive` gets the numbers of those to try together.
/// Its last call succeeded and had all but the ones returned. If that cannot be, the error is that
/// of all modules together.
pub(crate) fn derive_most<E: ToString>(
    modules: usize,
    mut derive: impl FnMut(&[usize]) -> Result<(), E>,
) -> Result<Vec<Aside>, E> {
    let mut rest: Vec<usize> = (0..modules).collect();
    let mut aside = Vec::new();
    let Err(first) = derive(&rest) else { return Ok(aside) };
    while aside.len() < MAX_ASIDE && rest.len() > 1 {
        let (last, why) = first_failure(&rest, &mut derive);
        let module = rest.remove(last);
        aside.push(Aside { module, why: why.unwrap_or_else(|| first.to_string()) });
        if derive(&rest).is_ok() {
            return Ok(aside);
        }
    }
    Err(first)
}

/// The place of the first module with which those before it fail, and why. All together fail.
fn first_failure<E: ToString>(
    modules: &[usize],
    derive: &mut impl FnMut(&[usize]) -> Result<(), E>,
) -> (usize, Option<String>) {
    let (mut good, mut bad, mut why) = (0, modules.len(), None);
    while bad - good > 1 {
        let middle = good.midpoint(bad);
        match derive(&modules[..middle]) {
            Ok(()) => good = middle,
            Err(error) => (bad, why) = (middle, Some(error.to_string())),
        }
    }
    (bad - 1, why)
}

/// Compiles a module without any change.
pub(crate) fn compile(module: &Module, number: usize, folder: &Path) -> Result<PathBuf, String> {
    compile_at("-O0", module, number, folder)
}

/// The same with a level of optimisation.
pub(crate) fn compile_at(
    level: &str,
    module: &Module,
    number: usize,
    folder: &Path,
) -> Result<PathBuf, String> {
    let compiler = clang::compiler(Language::C).map_err(|missing| missing.to_string())?;
    let object = folder.join(format!("{number:04}-aside.o"));
    let mut words: Vec<OsString> =
        ["-x", "ir", level, "-fPIC", "-c", "-"].map(OsString::from).to_vec();
    words.extend(["-o".into(), object.clone().into()]);
    let mut prepared = clang::prepare(&compiler, &words).map_err(|error| error.to_string())?;
    clang::capture(&mut prepared, Some(&module.bitcode)).map(|_| object)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fails if any of `bad` is tried.
    fn without(bad: &[usize]) -> impl FnMut(&[usize]) -> Result<(), String> {
        move |tried| match tried.iter().find(|module| bad.contains(module)) {
            Some(module) => Err(format!("module {module}")),
            None => Ok(()),
        }
    }

    fn numbers(aside: &[Aside]) -> Vec<usize> {
        aside.iter().map(|aside| aside.module).collect()
    }

    #[test]
    fn exactly_the_modules_at_fault_are_set_aside() {
        for modules in 2..9 {
            for one in 0..modules {
                for other in 0..modules {
                    let mut wanted = vec![one, other];
                    wanted.sort_unstable();
                    wanted.dedup();
                    let aside = derive_most(modules, without(&wanted));
                    match wanted.len() < modules {
                        true => assert_eq!(numbers(&aside.expect("a part derives")), wanted),
                        false => assert!(aside.is_err()),
                    }
                }
            }
        }
    }

    #[test]
    fn modules_that_do_not_fit_together() {
        let clash = |tried: &[usize]| match tried.contains(&1) && tried.contains(&4) {
            true => Err("twice".to_owned()),
            false => Ok(()),
        };
        let aside = derive_most(6, clash).expect("a part derives");
        assert_eq!(aside, [Aside { module: 4, why: "twice".to_owned() }]);
    }

    #[test]
    fn a_fault_of_all_modules_is_reported_as_it_is() {
        let all = |tried: &[usize]| Err::<(), _>(format!("{} modules", tried.len()));
        assert_eq!(derive_most(20, all), Err("20 modules".to_owned()));
    }
}
