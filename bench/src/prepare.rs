//! What it costs to prepare a program: processor time of the variants that a campaign waits for,
//! against a plain build of the same sources. Target: at most 5 times.

use crate::build;
use crate::packages::tree::tool;
use crate::usage::children_time;
use anyhow::{Context as _, Result};
use compiler::{DeriveOptions, Variant, derive};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Which programs, and where their sources are unpacked.
#[derive(clap::Args)]
pub struct Options {
    /// Programs to prepare: tinyscheme, lua5.4, duktape, sqlite3, libxml2 (all if none is named)
    names: Vec<String>,
    /// Folder for sources, used again by the next call
    #[arg(long, default_value = "target/prepare")]
    work: PathBuf,
    /// The instrumenter, if not the one of this build: to compare two of them
    #[arg(long, value_name = "FILE")]
    instrument: Option<PathBuf>,
}

/// A program that one call of a compiler builds. Its texts are for a shell in the folder of its
/// sources.
struct Program {
    /// Of the Debian source package.
    name: &'static str,
    /// Makes what the compilation needs; it is not measured.
    configure: &'static str,
    /// Options and sources.
    words: &'static str,
}

const PROGRAMS: [Program; 5] = [
    Program {
        name: "tinyscheme",
        configure: "true",
        words: "-DUSE_DL=1 -DSUN_DL=1 -DUSE_INTERFACE=1 scheme.c dynload.c -ldl -lm",
    },
    Program {
        name: "lua5.4",
        configure: "true",
        words: "-std=gnu99 -DLUA_USE_POSIX $(ls src/l*.c | grep -v luac.c) -lm",
    },
    Program {
        name: "duktape",
        configure: "true",
        words: "-Isrc -Iexamples/cmdline src/duktape.c examples/cmdline/duk_cmdline.c -lm",
    },
    Program {
        name: "sqlite3",
        configure: "test -f shell.c || (./configure && make sqlite3.c shell.c)",
        words: "-I. sqlite3.c shell.c -lm",
    },
    Program {
        name: "libxml2",
        configure: "test -f config.h || ./configure --without-python --without-lzma --without-zlib",
        words: "-I. -Iinclude -DHAVE_CONFIG_H $(ls *.c | \
                grep -Ev '^(test|run|trio|xmlcatalog|xzlib|gentest|DOCBparser)') -lm",
    },
];

/// Those that `tarragon fuzz` prepares if nothing else is said.
const VARIANTS: [Variant; 3] = [Variant::Traced, Variant::Sanitized, Variant::Covered];

pub fn run(options: &Options) -> Result<()> {
    std::fs::create_dir_all(&options.work)?;
    let work = options.work.canonicalize()?;
    println!("Processor time to prepare a program, in seconds (target: 5 times clang -O2):");
    println!("| program | clang -O2 | traced | sanitized | covered | all | times |");
    println!("|---|---|---|---|---|---|---|");
    let is_wanted =
        |p: &&Program| options.names.is_empty() || options.names.iter().any(|n| n == p.name);
    for program in PROGRAMS.iter().filter(is_wanted) {
        let row = row(program, &work, options.instrument.as_deref());
        println!("{}", row.with_context(|| format!("{} is not prepared", program.name))?);
    }
    Ok(())
}

fn row(program: &Program, work: &Path, instrument: Option<&Path>) -> Result<String> {
    let folder = work.join(program.name);
    if !folder.exists() {
        build::debian_source(program.name, work)?;
    }
    shell(&folder, program.configure)?;
    let scratch = tempfile::tempdir()?;
    let plain = compile(program, &folder, "clang-22".as_ref(), &scratch.path().join("plain"))?;
    let carrier = scratch.path().join(program.name);
    compile(program, &folder, tool("tarragon-cc")?.as_os_str(), &carrier)?;
    let mut derivation = DeriveOptions::from_environment()?;
    derivation.cache = scratch.path().join("cache");
    derivation.instrument = instrument.map_or(derivation.instrument, Path::to_owned);
    let mut row = format!("| {} | {plain:.1} |", program.name);
    let mut all = 0.0;
    for variant in VARIANTS {
        let (made, time) = timed(|| derive(&carrier, variant, &derivation));
        made?;
        row += &format!(" {time:.1} |");
        all += time;
    }
    Ok(format!("{row} {all:.1} | {:.1} |", all / plain))
}

/// Builds the program; how long that took.
fn compile(program: &Program, folder: &Path, compiler: &OsStr, out: &Path) -> Result<f64> {
    let line =
        format!("{} -O2 -w {} -o {}", compiler.to_string_lossy(), program.words, out.display());
    let (built, time) = timed(|| shell(folder, &line));
    built.map(|()| time)
}

fn shell(folder: &Path, line: &str) -> Result<()> {
    build::run(Command::new("sh").args(["-c", line]).current_dir(folder).stdout(Stdio::null()))
}

/// With the processor time of child processes, in seconds.
fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let before = children_time();
    let result = work();
    (result, (children_time() - before).as_secs_f64())
}
