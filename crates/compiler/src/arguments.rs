//! Understands a clang command line as far as Tarragon must: what is asked for, what goes in, what
//! comes out.
//!
//! Options are only told apart from inputs and from the values of other options; what an option
//! means to clang stays clang's business. This module looks at file names, never at files.

mod inputs;
mod options;

pub use inputs::InputKind;
use options::split;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// One option with its value, or one input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Argument {
    Option(Opt),
    Input(Input),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opt {
    /// The option without its value: `-o` for both `-o file` and `-ofile`; the whole word where
    /// clang joins name and value in a way that does not matter here (`-O2`, `-Wall`).
    pub name: String,
    pub value: Option<OsString>,
    /// As on the command line.
    pub words: Vec<OsString>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    pub path: PathBuf,
    /// From `-x`.
    pub language: Option<OsString>,
    pub kind: InputKind,
}

/// How far clang goes with its inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Nothing that could carry bitcode comes out: preprocessing, assembly text, questions to the
    /// driver.
    Other,
    /// Each source becomes an object.
    Compile,
    Link,
}

#[derive(Debug)]
pub struct Invocation {
    pub arguments: Vec<Argument>,
    pub stage: Stage,
    output: Option<PathBuf>,
}

impl Invocation {
    /// `words`: the arguments after the program's name, response files expanded.
    pub fn parse(words: &[OsString]) -> Invocation {
        let arguments = parse_arguments(words);
        let output = options_of(&arguments).filter(|option| option.name == "-o").last();
        let output = output.and_then(|option| option.value.as_ref()).map(PathBuf::from);
        Invocation { stage: stage(words, &arguments), output, arguments }
    }

    pub fn inputs(&self) -> impl Iterator<Item = &Input> {
        self.arguments.iter().filter_map(|argument| match argument {
            Argument::Input(input) => Some(input),
            Argument::Option(_) => None,
        })
    }

    pub fn options(&self) -> impl Iterator<Item = &Opt> {
        options_of(&self.arguments)
    }

    /// The file that a link writes.
    pub fn linked(&self) -> PathBuf {
        self.output.clone().unwrap_or_else(|| PathBuf::from("a.out"))
    }

    /// The object that compiling `input` writes.
    pub fn object_of(&self, input: &Input) -> PathBuf {
        let named_after = || {
            Path::new(input.path.file_name().unwrap_or(input.path.as_os_str())).with_extension("o")
        };
        self.output.clone().unwrap_or_else(named_after)
    }

    /// False for `-o -` and `-o /dev/null`: there is no file to embed anything in.
    pub fn keeps_output(&self) -> bool {
        !self.output.as_deref().is_some_and(|output| output == "-" || output == "/dev/null")
    }
}

fn options_of(arguments: &[Argument]) -> impl Iterator<Item = &Opt> {
    arguments.iter().filter_map(|argument| match argument {
        Argument::Option(option) => Some(option),
        Argument::Input(_) => None,
    })
}

fn parse_arguments(words: &[OsString]) -> Vec<Argument> {
    let mut words = words.iter();
    let mut arguments = Vec::new();
    let mut language = None;
    while let Some(word) = words.next() {
        if word == "--" {
            arguments.extend(words.map(|word| Argument::Input(input(word, &language))));
            break;
        }
        if !is_option(word) {
            arguments.push(Argument::Input(input(word, &language)));
            continue;
        }
        let option = option(word, &mut words);
        if option.name == "-x" {
            language = option.value.clone().filter(|value| value != "none");
        }
        arguments.push(Argument::Option(option));
    }
    arguments
}

/// A lone `-` is an input: the standard input.
fn is_option(word: &OsStr) -> bool {
    word.as_encoded_bytes().starts_with(b"-") && word != "-"
}

fn input(word: &OsStr, language: &Option<OsString>) -> Input {
    let path = PathBuf::from(word);
    Input { kind: InputKind::of(&path, language.as_deref()), path, language: language.clone() }
}

fn option<'a>(word: &OsString, rest: &mut impl Iterator<Item = &'a OsString>) -> Opt {
    let text = word.to_string_lossy();
    let shape = split(&text);
    let mut words = vec![word.clone()];
    let mut value = shape.joined.map(OsString::from);
    if shape.takes_next {
        value = rest.next().cloned();
        words.extend(value.clone());
    }
    Opt { name: shape.name.to_owned(), value, words }
}

fn stage(words: &[OsString], arguments: &[Argument]) -> Stage {
    let internal = words.first().is_some_and(|word| word.as_encoded_bytes().starts_with(b"-cc1"));
    let inputs = arguments.iter().filter_map(|argument| match argument {
        Argument::Input(input) => Some(input.kind),
        Argument::Option(_) => None,
    });
    let kinds: Vec<InputKind> = inputs.collect();
    let produces_nothing =
        options_of(arguments).any(|option| options::ends_before_objects(&option.name));
    if internal || produces_nothing || kinds.is_empty() || kinds.contains(&InputKind::Header) {
        Stage::Other
    } else if options_of(arguments).any(|option| matches!(option.name.as_str(), "-c" | "--compile"))
    {
        Stage::Compile
    } else {
        Stage::Link
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Invocation {
        Invocation::parse(&line.split_whitespace().map(OsString::from).collect::<Vec<_>>())
    }

    fn inputs(line: &str) -> Vec<String> {
        parse(line)
            .inputs()
            .map(|input| format!("{}:{:?}", input.path.display(), input.kind))
            .collect()
    }

    #[test]
    fn values_are_not_inputs() {
        let line =
            "-o a.c -MF b.c -isystem c.c -target d.c -Xlinker e.c -xc f -x none g.o -Ih.c -- -i.c";
        assert_eq!(inputs(line), ["f:Source", "g.o:Native", "-i.c:Source"]);
    }

    #[test]
    fn outputs() {
        let object = |line: &str| {
            let invocation = parse(line);
            invocation.object_of(invocation.inputs().next().unwrap()).display().to_string()
        };
        assert_eq!(object("-c dir/a.b.c"), "a.b.o");
        assert_eq!(object("-c -odir/x.o a.c"), "dir/x.o");
        assert_eq!(object("-c --output=y.o a.c"), "y.o");
        assert_eq!(object("-xc -c -"), "-.o");
        assert_eq!(parse("a.c").linked(), Path::new("a.out"));
    }

    #[test]
    fn stages() {
        for line in [
            "-E a.c",
            "-S a.c",
            "-MM a.c",
            "-c -emit-llvm a.c",
            "-v",
            "a.h",
            "-x c++-header a",
            "-### a.c",
        ] {
            assert_eq!(parse(line).stage, Stage::Other, "{line}");
        }
        for line in ["-c a.c", "a.c -c", "-MD -c a.c", "-c a.s"] {
            assert_eq!(parse(line).stage, Stage::Compile, "{line}");
        }
        for line in ["a.c", "a.o -o b", "-shared a.o", "-r a.o"] {
            assert_eq!(parse(line).stage, Stage::Link, "{line}");
        }
    }
}
