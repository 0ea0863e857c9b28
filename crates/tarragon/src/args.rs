//! What can be said on the command line.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use emit::Framework;

use crate::diff::DiffArgs;
use crate::manual::{CompletionsArgs, ManArgs};
use crate::sources::SourceArgs;
use crate::strategies::{self, Registered};
use crate::unit::UnitArgs;
use crate::units::{existing, limit, memory, share, size, time, variable};

/// Whitebox test generation: runs a program, reads off what its path depended on, and solves for
/// inputs that take other paths.
#[derive(Debug, Parser)]
#[command(name = "tarragon", version, after_help = EXAMPLES)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

const EXAMPLES: &str = "\
Examples:
  tarragon cc -g -o calc calc.c                  build a program so that it can be tested
  tarragon fuzz --time 60s -- ./calc             generate inputs on standard input for a minute
  tarragon fuzz --seeds tests/ -- ./conv -i @@   start from seeds; the input is a file
  tarragon replay tarragon-out -- ./calc         run the suite that was found
  tarragon triage tarragon-out -- ./calc         which of its bugs still show, after a fix
  tarragon emit tarragon-out --as c -- ./calc    the suite as tests to be checked in
  tarragon unit abs.c --function my_abs          a test for each path of a function
  tarragon diff --time 60s -- ./one -- ./two     where two programs do not agree
  tarragon lexers ./calc                         which function makes its tokens
  tarragon grammar sample calc.tg -n 10          ten random sentences of a grammar
  tarragon solve query.hmp                       solve string constraints (tarragon solve --help)

Exit codes: 0 no bug, 1 bugs found, 2 error.";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Generate inputs and look for bugs
    Fuzz(Box<FuzzArgs>),
    /// Run a suite of inputs and measure its coverage
    Replay(ReplayArgs),
    /// Check two programs against each other
    Diff(Box<DiffArgs>),
    /// Say which bugs of campaigns still show, by cause
    Triage(TriageArgs),
    /// Turn a suite into tests that can be checked in: C, C++, Rust, shell, Python, Java
    Emit(EmitArgs),
    /// Show what the path of one input depended on
    Trace(TraceArgs),
    /// Test single functions: a test for each path
    Unit(Box<UnitArgs>),
    /// Propose functions that look like the program's lexer
    Lexers(LexersArgs),
    /// Write a variant of a program to a file
    Variant(VariantArgs),
    /// Read, check, count, enumerate, sample, parse, complete, mutate, shrink with a grammar
    #[command(after_help = grammar_cli::EXAMPLES)]
    Grammar {
        #[command(subcommand)]
        command: grammar_cli::Command,
    },
    /// Solve constraints over strings, regular and context-free languages
    Solve(strings_cli::Args),
    /// Print completions for a shell
    Completions(CompletionsArgs),
    /// Write pages for `man`
    Man(ManArgs),
    /// Compile C as clang does (all options are clang's)
    Cc {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
    /// Compile C++ as clang++ does (all options are clang's)
    #[command(name = "c++")]
    Cxx {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tarragon fuzz --time 60s -- ./calc
  tarragon fuzz --strategy mutate --seeds corpus/ --max-runs 100000 --seed 7 -- ./conv -i @@
  tarragon fuzz --exhaustive --max-len 4 -- ./parser
  tarragon fuzz --exhaustive --max-len 4 --keep-by paths -- ./parser   a test for each path
  tarragon fuzz --strategy cese --grammar calc.tg --max-len 5 -- ./calc   all paths of all short \
  sentences
  tarragon fuzz --grammar json.g4 --time 60s -- ./parser   no run is wasted on what its parser \
  throws away
  tarragon fuzz -- ./expr '@{}'                        the input is an argument
  tarragon fuzz --env 'CONFIG=@{}' -- ./tool           the input is an environment variable
  tarragon fuzz --model recv.c -- ./server             functions of recv.c replace those of the \
  server
  tarragon fuzz --resume --time 1h -- ./calc
  tarragon fuzz --stop-on-bug --time 10m -- ./calc     in a script: exit code 1 if there is a bug

Exit codes: 0 no bug, 1 bugs found, 2 error. Hangs count with --hangs bugs only. Ctrl-C ends a \
campaign as its time does,
with the same codes; a second one ends it at once, with 2.")]
pub(crate) struct FuzzArgs {
    #[arg(long, help = strategies::help(), value_parser = strategies::parser())]
    pub strategy: Option<&'static Registered>,
    #[command(flatten)]
    pub grammar: GrammarArgs,
    #[command(flatten)]
    pub enumeration: EnumerationArgs,
    /// Directory (or file) with inputs to start from, or with those of one source
    #[arg(long, value_name = "[SOURCE=]DIR")]
    pub seeds: Vec<PathBuf>,
    /// Directory for the results
    #[arg(long, value_name = "DIR", default_value = "tarragon-out")]
    pub out: PathBuf,
    /// Which inputs are kept in corpus/
    #[arg(long, value_enum, default_value_t = KeepByName::Coverage)]
    pub keep_by: KeepByName,
    #[command(flatten)]
    pub bounds: BoundsArgs,
    /// Explore all paths, and say whether that was achieved
    #[arg(long)]
    pub exhaustive: bool,
    /// All inputs have exactly this length, which is not symbolic (whitebox)
    #[arg(long, value_name = "N")]
    pub fixed_len: Option<usize>,
    /// Flip no constraint beyond this number on a path
    #[arg(long, value_name = "N")]
    pub max_depth: Option<usize>,
    /// Which flips come first (whitebox)
    #[arg(long, value_enum, default_value_t = OrderName::Generational)]
    pub order: OrderName,
    /// Memory for traces that wait; those beyond it are made again when needed
    #[arg(long, value_name = "SIZE", value_parser = size, default_value = "512M")]
    pub trace_memory: u64,
    /// Solvers to use, separated by commas; with a minus in front: to leave out (-z3)
    #[arg(long, value_name = "LIST", value_delimiter = ',', allow_hyphen_values = true)]
    pub solver: Vec<String>,
    /// Time limit of one question to Z3
    #[arg(long, value_name = "TIME", value_parser = time, default_value = "1s")]
    pub solver_timeout: Duration,
    #[command(flatten)]
    pub checks: CheckArgs,
    /// Measure at the end which lines of the source all inputs cover together, and write lcov.info
    #[arg(long, value_enum, default_value_t = Switch::On)]
    pub lcov: Switch,
    /// Give each input a process of its own. Otherwise a process takes many, in the loop of a
    /// harness (libFuzzer, AFL++ persistent mode) or by beginning again with its memory as it was,
    /// and what is new there is believed only if it happens in a process of its own, too
    #[arg(long)]
    pub fresh_process: bool,
    /// Go on with the campaign in the output directory
    #[arg(long)]
    pub resume: bool,
    #[command(flatten)]
    pub output: OutputArgs,
    #[command(flatten)]
    pub target: TargetArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tarragon replay tarragon-out -- ./calc
  tarragon replay tests/a.txt tests/more/ -- ./conv -i @@
  tarragon replay tarragon-out --minimise suite -- ./calc
  tarragon replay tarragon-out --lcov calc.info -- ./calc && genhtml --branch-coverage calc.info \
  -o html

The outcome is that of the program itself, reports are of its sanitized variant, coverage is of \
its traced variant.
Exit codes: 0 no bug, 1 bugs found, 2 error. Hangs count with --hangs bugs only.")]
pub(crate) struct ReplayArgs {
    /// Inputs: files, directories, or the output directory of a campaign
    #[arg(required = true, value_name = "DIR")]
    pub inputs: Vec<PathBuf>,
    /// Copy inputs that cover the same branch outcomes, as few as are found, into this new
    /// directory
    #[arg(long, value_name = "DIR")]
    pub minimise: Option<PathBuf>,
    /// Write which lines of the source they cover, in the format of lcov
    #[arg(long, value_name = "FILE")]
    pub lcov: Option<PathBuf>,
    #[command(flatten)]
    pub checks: CheckArgs,
    #[command(flatten)]
    pub output: OutputArgs,
    #[command(flatten)]
    pub target: TargetArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tarragon triage tarragon-out -- ./calc             after a fix: which bugs are gone
  tarragon triage monday/ tuesday/ -- ./calc         what the campaigns found together, by cause
  tarragon triage reported/ -- ./conv -i @@          a folder of inputs

The program may be another build than the campaigns had; it gets its input in the way that its \
command says.
Exit codes: 0 no bug shows, 1 a bug shows, 2 error. Hangs count with --hangs bugs only.")]
pub(crate) struct TriageArgs {
    /// Output directories of campaigns, of which crashes/ and hangs/ are run, or other directories
    /// and files
    #[arg(required = true, value_name = "DIR")]
    pub inputs: Vec<PathBuf>,
    #[command(flatten)]
    pub checks: CheckArgs,
    #[command(flatten)]
    pub output: OutputArgs,
    #[command(flatten)]
    pub target: TargetArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tarragon emit tarragon-out --as gtest -- ./calc
  tarragon emit tarragon-unit --as gtest           tests of functions, of tarragon unit
  tarragon emit tarragon-out --as pytest -o tests/calc -- ./calc
  tarragon emit samples/ --as shell --stderr -- ./convert -i @@
  tarragon emit tarragon-out --as rust --by-output -- ./expr '@{}'   few tests

Each test says what the program was seen to do: review it. Bugs become tests that are marked as \
known failures. Functions can be tested in c, gtest and criterion.
Exit codes: 0 the tests were written, 2 error.")]
#[command(mut_arg("command", |command| command.required(false)))]
pub(crate) struct EmitArgs {
    /// Inputs: files, directories, or the output directory of a campaign or of tarragon unit
    #[arg(required = true, value_name = "DIR")]
    pub inputs: Vec<PathBuf>,
    /// The test framework
    #[arg(long = "as", value_name = "FRAMEWORK", value_parser = framework())]
    pub framework: Framework,
    /// Directory for the tests, new or empty
    #[arg(short = 'o', long = "output", value_name = "DIR", default_value = "tarragon-tests")]
    pub directory: PathBuf,
    /// A test for each input, and not only for the smallest of those that do the same
    #[arg(long)]
    pub all: bool,
    /// Inputs do the same if the program ends alike and prints the same, whatever they cover
    #[arg(long, conflicts_with = "all")]
    pub by_output: bool,
    /// Assert standard error, too
    #[arg(long)]
    pub stderr: bool,
    /// Runs of each input; what is not the same in all of them is not asserted
    #[arg(long, value_name = "N", default_value_t = 3,
        value_parser = clap::value_parser!(u16).range(1..))]
    pub runs: u16,
    #[command(flatten)]
    pub output: OutputArgs,
    #[command(flatten)]
    pub target: TargetArgs,
}

fn framework() -> impl TypedValueParser<Value = Framework> {
    let value = |framework: Framework| PossibleValue::new(framework.name()).help(framework.about());
    let named = |name: String| Framework::ALL.into_iter().find(|known| known.name() == name);
    PossibleValuesParser::new(Framework::ALL.map(value))
        .try_map(move |name| named(name).ok_or("there is no such framework"))
}

/// What counts as a bug.
#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// What to look for in a build that checks more, in which everything that was found runs once
    /// more
    #[arg(long, value_enum, value_name = "LIST", value_delimiter = ',',
        default_values_t = [SanitizerName::Address, SanitizerName::Undefined])]
    pub sanitizer: Vec<SanitizerName>,
    /// What becomes of inputs on which the program does not end in time
    #[arg(long, value_enum, default_value_t = HangsName::Apart)]
    pub hangs: HangsName,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum KeepByName {
    /// Those that added coverage of branch outcomes
    Coverage,
    /// One for each path that was taken; each input has a process of its own
    Paths,
}

impl From<KeepByName> for search::KeepBy {
    fn from(name: KeepByName) -> search::KeepBy {
        match name {
            KeepByName::Coverage => search::KeepBy::Coverage,
            KeepByName::Paths => search::KeepBy::Paths,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum HangsName {
    /// They are listed, but no bugs: the exit code does not tell of them
    Apart,
    /// They are bugs
    Bugs,
    /// They are not looked into
    Off,
}

impl From<HangsName> for campaign::Hangs {
    fn from(name: HangsName) -> campaign::Hangs {
        match name {
            HangsName::Apart => campaign::Hangs::Apart,
            HangsName::Bugs => campaign::Hangs::Bugs,
            HangsName::Off => campaign::Hangs::Off,
        }
    }
}

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  tarragon trace tarragon-out/corpus/000001-seed -- ./calc")]
pub(crate) struct TraceArgs {
    /// The input
    pub input: PathBuf,
    /// Print the expression of each constraint
    #[arg(long)]
    pub expressions: bool,
    #[command(flatten)]
    pub target: TargetArgs,
}

#[derive(Debug, Args)]
pub(crate) struct OutputArgs {
    /// Print nothing but errors
    #[arg(long, conflicts_with = "json")]
    pub quiet: bool,
    /// Print one JSON object a line
    #[arg(long)]
    pub json: bool,
}

/// The grammar of the input.
#[derive(Clone, Debug, Args)]
pub(crate) struct GrammarArgs {
    /// Grammar of the input, or of one source, in any notation that `tarragon grammar` reads
    #[arg(long, value_name = "[SOURCE=]FILE")]
    pub grammar: Vec<PathBuf>,
    /// Notation of the grammar, if it is not the one that extension and content say
    #[arg(long, value_name = "NOTATION", requires = "grammar")]
    pub grammar_format: Option<String>,
    /// Rule of the grammar to start with
    #[arg(long, value_name = "RULE", requires = "grammar")]
    pub start: Option<String>,
    /// Scanner of a grammar in two files (flex, ANTLR lexer)
    #[arg(long, value_name = "FILE", requires = "grammar")]
    pub scanner: Option<PathBuf>,
    /// Exit codes with which the program rejects its input, separated by commas [default: all but
    /// 0]; with a grammar, the summary of `fuzz` says which rules are behind it
    #[arg(long, value_name = "CODES", value_delimiter = ',')]
    pub rejects: Vec<i32>,
    /// Codes that the program's lexer (--lexer) has for terminals: a header of bison's, or lines
    /// like `NUMBER = 258`; those that neither it nor the program's enumerations name are learnt
    #[arg(long, value_name = "FILE", requires = "grammar")]
    pub token_codes: Option<PathBuf>,
}

/// What strategies that go through all strings of a grammar do.
#[derive(Debug, Args)]
#[command(next_help_heading = "All strings of a grammar (cese, grammar-enumerate)")]
pub(crate) struct EnumerationArgs {
    /// What the size of a string is; smaller ones come first, up to --max-len or --max-height
    #[arg(long, value_enum, default_value_t = MeasureName::Length)]
    pub by: MeasureName,
    /// Greatest height of a derivation, with --by height
    #[arg(long, value_name = "H")]
    pub max_height: Option<usize>,
    /// The i-th of n equal parts of the strings, i from 0
    #[arg(long, value_name = "I/N", value_parser = share)]
    pub shard: Option<(u64, u64)>,
    /// Let the solver choose how long a hole is, up to --max-len, where the grammar sets no limit
    /// (cese)
    #[arg(long, value_enum, default_value_t = Switch::On)]
    pub lengths: Switch,
    #[command(flatten)]
    pub abstraction: grammar_cli::AbstractionArgs,
}

/// Bytes of the longest input, if nobody says more.
pub(crate) const DEFAULT_MAX_LEN: usize = 4096;

/// How long a search goes on, where it starts and how far it goes.
#[derive(Clone, Debug, Args)]
pub(crate) struct BoundsArgs {
    /// Stop after this time (60s, 5m, 1h)
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub time: Option<Duration>,
    /// Stop after this number of runs
    #[arg(long, value_name = "N")]
    pub max_runs: Option<u64>,
    /// Stop at the first bug (or difference), or when there are N of them
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true,
        default_missing_value = "1", value_parser = clap::value_parser!(u32).range(1..))]
    pub stop_on_bug: Option<u32>,
    /// Start of all randomness: the same seed and number of runs give the same result, unless a
    /// strategy solves (those share their time by the clock)
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub seed: u64,
    /// Longest input in bytes
    #[arg(long, value_name = "N", default_value_t = DEFAULT_MAX_LEN)]
    pub max_len: usize,
}

/// What a run may use and see.
#[derive(Clone, Debug, Args)]
pub(crate) struct ConfinementArgs {
    /// Time limit of one run
    #[arg(long, value_name = "TIME", value_parser = limit, default_value = "1s")]
    pub timeout: Duration,
    /// Memory limit of one run
    #[arg(long, value_name = "SIZE", value_parser = memory, default_value = "512M")]
    pub memory: u64,
    /// Confine the program: no network, no writing outside a scratch directory, no reading but of
    /// its own files and harmless ones of the system, few environment variables
    #[arg(long, value_enum, default_value_t = Switch::On)]
    pub sandbox: Switch,
    /// Let the program read this file or directory, too; those that its arguments name it may read
    /// anyway
    #[arg(long, value_name = "PATH", value_parser = existing)]
    pub read: Vec<PathBuf>,
}

/// The program under test and how it is run.
#[derive(Clone, Debug, Args)]
pub(crate) struct TargetArgs {
    #[command(flatten)]
    pub confinement: ConfinementArgs,
    /// Set an environment variable of the program, or pass one of yours on; @{} in the value stands
    /// for the input
    #[arg(long, value_name = "NAME[=VALUE]", value_parser = variable)]
    pub env: Vec<(OsString, OsString)>,
    /// A function that makes tokens, and where it leaves them (see `tarragon lexers`): they are
    /// symbolic, and what it does itself is not looked at
    #[arg(long = "lexer", value_name = "FUNCTION[:PLACE]")]
    pub lexers: Vec<String>,
    #[command(flatten)]
    pub models: ModelArgs,
    #[command(flatten)]
    pub sources: SourceArgs,
    /// The program, built with `tarragon cc`, and its arguments; @@ stands for a file with the
    /// input (@@1, @@2 for several files with their own), @{} for the input itself up to a zero byte
    /// (the next @{} goes on after it), @{...} at the end for as many arguments as it has
    #[arg(last = true, required = true, value_name = "PROGRAM [ARGS]")]
    pub command: Vec<OsString>,
}

/// Functions that take the place of others.
#[derive(Clone, Debug, Args)]
pub(crate) struct ModelArgs {
    /// C or C++ file with functions that take the place of those of the same name, in the program
    /// and in what it calls of libraries; may be given several times
    #[arg(long = "model", value_name = "FILE")]
    pub models: Vec<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tarragon lexers ./calc
  tarragon lexers --json ./calc

Exit codes: 0 there is a proposal, 1 there is none, 2 error.")]
pub(crate) struct LexersArgs {
    /// A program that was built with `tarragon cc`
    pub program: PathBuf,
    #[command(flatten)]
    pub models: ModelArgs,
    /// Most proposals to print
    #[arg(short = 'n', long, value_name = "N", default_value_t = 5)]
    pub most: usize,
    /// Print one JSON object a line
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct VariantArgs {
    #[arg(value_enum)]
    pub variant: VariantName,
    /// A program that was built with `tarragon cc`
    pub program: PathBuf,
    #[command(flatten)]
    pub models: ModelArgs,
    /// A C source whose `main` takes the place of the program's
    #[arg(long, value_name = "FILE", conflicts_with = "models")]
    pub main: Option<PathBuf>,
    /// A static function or variable of the program that the source of --main uses
    #[arg(long = "open", value_name = "NAME", requires = "main")]
    pub opened: Vec<String>,
    /// Where to write the variant; the table of a traced or covered one goes beside it
    #[arg(short, long, value_name = "OUT")]
    pub output: PathBuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SanitizerName {
    /// Overflows, use after free, and the stack of every crash, by AddressSanitizer
    Address,
    /// Signed overflow, shifts by too many bits, input as a format
    Undefined,
    /// Memory that is never freed, by LeakSanitizer
    Leak,
    /// Nothing, and no such build is made
    Off,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum MeasureName {
    /// Bytes of its tokens
    Length,
    /// Of its derivation
    Height,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OrderName {
    /// What promises new coverage first
    Generational,
    /// The last branch of the last run first
    DepthFirst,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Switch {
    On,
    Off,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum VariantName {
    /// As it is, for --main and --model
    Plain,
    /// Records its path condition
    Traced,
    /// Checks its memory accesses with AddressSanitizer
    Sanitized,
    /// Records which of its lines run
    Covered,
    /// Counts the rounds of its loops
    Counted,
}
