//! Tests that are more than a comparison with clang.

use crate::check::{Outcome, Twins, same};
use compiler::payload::{Payload, PayloadError};
use compiler::recipe::Item;
use compiler::{DeriveError, Derived, Variant, derive, derive_to};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

pub type Special = fn() -> Outcome;

pub fn all() -> Vec<(&'static str, Special)> {
    vec![
        ("derive: not built with Tarragon", not_built_with_tarragon),
        ("derive: a script of libtool", libtool_script),
        ("derive: linked by Tarragon, compiled by another", no_modules),
        ("derive: instrumenter fails", instrumenter_fails),
        ("derive: instrumenter missing", instrumenter_missing),
        ("derive: cached, and concurrent derivations agree", cached),
        ("derive: a change of the instrumenter is noticed", instrumenter_changes),
        ("derive_to: executable and site table are copied", derived_to),
        ("derive: program linked by the linker itself", linked_by_another_driver),
        ("payload: damage is an error", damaged_payload),
        ("recipe: libraries with payload are noted", recipe_notes_libraries),
        ("cc: bitcode alone fails", bitcode_alone_fails),
    ]
}

fn cc(twins: &Twins, words: &str) -> Outcome<Output> {
    let mut command = Command::new(twins.program("tarragon-cc"));
    Ok(command.args(words.split_whitespace()).current_dir(twins.path("tarragon")).output()?)
}

fn build(words: &str) -> Outcome<(Twins, PathBuf)> {
    let twins = Twins::new()?;
    let output = cc(&twins, &format!("{words} -o program"))?;
    same("stderr", "", &String::from_utf8_lossy(&output.stderr))?;
    let program = twins.path("tarragon/program");
    Ok((twins, program))
}

fn expect_error(result: Result<Derived, DeriveError>, words: &[&str]) -> Outcome {
    let Err(error) = result else { return Err("an error was expected".into()) };
    let text = error.to_string();
    match words.iter().all(|word| text.contains(word)) {
        true => Ok(()),
        false => Err(format!("{text:?} does not contain all of {words:?}").into()),
    }
}

fn not_built_with_tarragon() -> Outcome {
    let twins = Twins::new()?;
    let derive = |path: &str| derive(Path::new(path), Variant::Traced, &twins.options());
    expect_error(derive("/bin/true"), &["/true", "not built with Tarragon", "CC=tarragon-cc"])?;
    expect_error(derive("/etc/passwd"), &["/etc/passwd", "not an ELF"])?;
    expect_error(derive("/no/such/program"), &["/no/such/program", "No such file"])
}

fn libtool_script() -> Outcome {
    let twins = Twins::new()?;
    let script = twins.path("program");
    std::fs::write(&script, "#!/bin/sh\nexec .libs/program\n")?;
    let derived = || derive(&script, Variant::Traced, &twins.options());
    expect_error(derived(), &["/program: not an ELF program, library or object of this machine"])?;
    std::fs::create_dir(twins.path(".libs"))?;
    std::fs::write(twins.path(".libs/program"), "")?;
    expect_error(derived(), &["the program that it starts is", ".libs/program"])
}

fn no_modules() -> Outcome {
    let twins = Twins::new()?;
    let compile = Command::new("clang-22")
        .args(["-c", "hello.c"])
        .current_dir(twins.path("tarragon"))
        .status()?;
    same("clang works", &true, &compile.success())?;
    cc(&twins, "hello.o -o program")?;
    let program = twins.path("tarragon/program");
    expect_error(
        derive(&program, Variant::Traced, &twins.options()),
        &["program", "none of its code"],
    )
}

fn script(twins: &Twins, text: &str) -> Outcome<PathBuf> {
    let path = twins.path("instrument.sh");
    std::fs::write(&path, format!("#!/bin/sh\n{text}\n"))?;
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755))?;
    Ok(path)
}

fn instrumenter_fails() -> Outcome {
    let (twins, program) = build("hello.c")?;
    let mut options = twins.options();
    options.instrument = script(&twins, "echo cannot do that >&2; exit 4")?;
    expect_error(
        derive(&program, Variant::Traced, &options),
        &["cannot do that", "exit status: 4", "program"],
    )?;
    same("nothing is left", &0, &std::fs::read_dir(&options.cache)?.count())
}

fn instrumenter_missing() -> Outcome {
    let (twins, program) = build("hello.c")?;
    let mut options = twins.options();
    options.instrument = twins.path("nowhere");
    expect_error(derive(&program, Variant::Traced, &options), &["nowhere", "TARRAGON_INSTRUMENT"])
}

fn cached() -> Outcome {
    let (twins, program) = build("use_shapes.c shapes.c")?;
    let derive =
        || derive(&program, Variant::Traced, &twins.options()).map_err(|error| error.to_string());
    let all: Vec<_> = std::thread::scope(|scope| {
        let started: Vec<_> = (0..4).map(|_| scope.spawn(derive)).collect();
        started.into_iter().map(|thread| thread.join().expect("derive does not panic")).collect()
    });
    same("all succeed", &true, &all.iter().all(Result::is_ok))?;
    let made = std::fs::metadata(&derive()?.executable)?.modified()?;
    same("derived once", &made, &std::fs::metadata(&derive()?.executable)?.modified()?)?;
    same("all the same", &1, &all.into_iter().collect::<std::collections::HashSet<_>>().len())?;
    same("nothing but the variant is left", &1, &std::fs::read_dir(twins.path("cache"))?.count())
}

fn instrumenter_changes() -> Outcome {
    let (twins, program) = build("hello.c")?;
    let mut options = twins.options();
    let first = derive(&program, Variant::Traced, &options)?;
    let stand_in = options.instrument.display().to_string();
    options.instrument = script(&twins, &format!("exec {stand_in} \"$@\""))?;
    let second = derive(&program, Variant::Traced, &options)?;
    same("another key", &false, &(first.executable == second.executable))
}

fn derived_to() -> Outcome {
    let (twins, program) = build("hello.c")?;
    let out = twins.path("traced");
    let derived = derive_to(&program, Variant::Traced, &out, &twins.options())?;
    same(
        "place",
        &(out.clone(), twins.path("traced.sites.json")),
        &(derived.executable, derived.sites.clone()),
    )?;
    same("exit code", &Some(3), &Command::new(out).output()?.status.code())?;
    same("site table", &true, &derived.sites.is_file())
}

fn linked_by_another_driver() -> Outcome {
    let twins = Twins::new()?;
    cc(&twins, "-c hello.c")?;
    let link = Command::new("clang-22")
        .args(["hello.o", "-o", "program"])
        .current_dir(twins.path("tarragon"))
        .status()?;
    same("clang works", &true, &link.success())?;
    let derived = derive(&twins.path("tarragon/program"), Variant::Traced, &twins.options())?;
    same("exit code", &Some(3), &Command::new(derived.executable).output()?.status.code())
}

fn damaged_payload() -> Outcome {
    let (twins, program) = build("hello.c")?;
    let mut bytes = std::fs::read(&program)?;
    let magic = bytes
        .windows(7)
        .position(|window| window == b"TARRAGN")
        .ok_or("no frame in the program")?;
    bytes[magic + 60] ^= 0x55;
    std::fs::write(&program, bytes)?;
    let damaged = matches!(Payload::read(&program), Err(PayloadError::Damaged { .. }));
    same("damage is seen", &true, &damaged)?;
    expect_error(
        derive(&program, Variant::Traced, &twins.options()),
        &["program", "damaged payload"],
    )
}

fn recipe_notes_libraries() -> Outcome {
    let twins = Twins::new()?;
    cc(&twins, "-shared -fPIC shapes.c -o libshapes.so")?;
    cc(&twins, "use_both.c edges.c triple.s -L. -lshapes -lm -o program")?;
    let recipe = Payload::read(&twins.path("tarragon/program"))?.recipe.ok_or("no recipe")?;
    let library = twins.path("tarragon/libshapes.so").canonicalize()?;
    let shared = Item::SharedLibrary { path: library, by_name: true, payload: true };
    same("shared library with payload", &true, &recipe.items.contains(&shared))?;
    same("system library by name", &true, &recipe.items.contains(&Item::Library("m".to_owned())))?;
    same("assembly is named", &["triple.s".to_owned()][..], &recipe.without_bitcode[..])
}

/// A compiler that refuses to emit bitcode stands for whatever may go wrong in the second
/// compilation.
fn bitcode_alone_fails() -> Outcome {
    let twins = Twins::new()?;
    let fake = twins.path("fake");
    std::fs::create_dir(&fake)?;
    let refuse = "#!/bin/sh\ncase \"$*\" in *-emit-llvm*) echo 'x.c:1:1: error: refused' >&2; \
                  exit 1;; esac\n";
    let real = Command::new("sh").args(["-c", "command -v clang-22"]).output()?.stdout;
    let real = String::from_utf8_lossy(&real);
    std::fs::write(fake.join("clang-22"), format!("{refuse}exec {} \"$@\"\n", real.trim()))?;
    std::fs::set_permissions(fake.join("clang-22"), std::fs::Permissions::from_mode(0o755))?;
    let path = format!("{}:{}", fake.display(), std::env::var("PATH")?);
    let mut command = Command::new(twins.program("tarragon-cc"));
    command
        .args(["hello.c", "-o", "program"])
        .env("PATH", path)
        .current_dir(twins.path("tarragon"));
    let output = command.output()?;
    same("exit code", &Some(0), &output.status.code())?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    same(
        "warning",
        "tarragon cc: warning: no bitcode for hello.c: x.c:1:1: error: refused\n",
        &said,
    )?;
    let payload = Payload::read(&twins.path("tarragon/program"))?;
    same("the object stands in", &1, &payload.natives.len())
}
