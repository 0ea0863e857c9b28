//! Input from several sources, as the command line says: which parts an input has, and where in the
//! program's words they belong.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use campaign::read_inputs;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use compiler::{Surroundings, SystemModel};
use grammar::language::Language;
use runner::INPUT_PLACEHOLDER;
use search::Seed;
use sources::{ContainerError, Kind, Layout, Part};
use trace::words;

use crate::args::{FuzzArgs, GrammarArgs, TargetArgs};
use crate::fuzz;

/// Where input comes from beside what the words of the program say.
#[derive(Clone, Debug, Args)]
pub(crate) struct SourceArgs {
    /// Another source of input, with its own bytes: stdin; or the size of one that the program's
    /// words name: @@, @@1, word1 (the first @{} of the arguments), env:NAME, words (@{...}); or
    /// connection1 and so on; may be given several times
    #[arg(long = "source", value_name = "NAME[=SIZE]", value_parser = named_size)]
    pub sources: Vec<(String, Option<usize>)>,
    /// What of the system is input, too: files (those that the program opens by names of its
    /// own), time, random, ids (of processes and users), variables (of the environment), faults
    /// (calls that fail)
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        value_parser = PossibleValuesParser::new(SystemModel::ALL.map(SystemModel::name)).map(model)
    )]
    pub env_model: Vec<SystemModel>,
    /// Calls that fail in a run at most, with --env-model faults
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1,
        value_parser = clap::value_parser!(u32).range(1..),
        requires = "env_model"
    )]
    pub max_faults: u32,
    /// The program gets this many connections or datagrams, one after the other or at once, each a
    /// source with the name connection1, connection2 and so on
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u8).range(1..=i64::from(MOST_CONNECTIONS))
    )]
    pub connections: Option<u8>,
    /// Where the first N messages of connections end is input as well, so that the program reads a
    /// message in pieces, or several one after the other
    #[arg(long, value_name = "N", default_value_t = 8)]
    pub messages: u8,
}

impl SourceArgs {
    /// The input comes from where the program's words say, and from nowhere else.
    pub(crate) const NONE: SourceArgs = SourceArgs {
        sources: Vec::new(),
        env_model: Vec::new(),
        max_faults: 1,
        connections: None,
        messages: 0,
    };

    /// Whether connections are sources of their own.
    pub(crate) fn any_connection(&self) -> bool {
        !self.parts_of_connections().is_empty()
    }

    /// The connections of the program, all up to the last one that is named, and how they are cut.
    fn parts_of_connections(&self) -> Vec<Part> {
        let named = self.sources.iter().filter_map(|(name, _)| connection(name));
        let count = named.chain(self.connections).max().unwrap_or(0);
        let sizes = usize::from(if count > 0 { self.messages } else { 0 });
        let connections = (1..=count).map(Surroundings::connection);
        let parts = connections.map(|name| Part::data(name, CAPACITY));
        parts.chain((sizes > 0).then(|| Part::choices(Surroundings::MESSAGES, sizes))).collect()
    }

    /// What of the system is input, each once and in a fixed order.
    fn models(&self) -> Vec<SystemModel> {
        BTreeSet::from_iter(self.env_model.iter().copied()).into_iter().collect()
    }

    /// The parts of the input that the system answers from.
    fn of_system(&self) -> Vec<Part> {
        self.models().into_iter().flat_map(SystemModel::parts).collect()
    }
}

fn model(name: String) -> SystemModel {
    let mut all = SystemModel::ALL.into_iter();
    // The parser lets known names pass only.
    all.find(|model| model.name() == name).unwrap_or(SystemModel::Faults)
}

const MOST_CONNECTIONS: u8 = 12;

/// Bytes that a source has room for if nobody says more.
const CAPACITY: usize = 255;
const STDIN: &str = "stdin";
/// All arguments that stand for `@{...}`.
const WORDS: &str = "words";
/// What names of single words begin with, and of variables.
const WORD: &str = "word";
const VARIABLE: &str = "env:";

fn named_size(text: &str) -> Result<(String, Option<usize>), String> {
    let (name, size) = match text.split_once('=') {
        None => (text, None),
        Some((name, size)) => {
            let size = size.parse().ok().filter(|size| *size > 0);
            (name, Some(size.ok_or("write a source as NAME=SIZE, with its size in bytes")?))
        }
    };
    match is_known(name) {
        true => Ok((name.to_owned(), size)),
        false => Err(format!(
            "there is no source {name}; there are: stdin, @@, @@1, word1, env:NAME, words, \
             connection1 to connection{MOST_CONNECTIONS}, and those of --env-model"
        )),
    }
}

fn is_known(name: &str) -> bool {
    let number = name.strip_prefix(WORD).map(str::parse::<u32>);
    [STDIN, WORDS, Surroundings::MESSAGES].contains(&name)
        || connection(name).is_some()
        || number.is_some_and(|number| number.is_ok())
        || name.strip_prefix(VARIABLE).is_some_and(|variable| !variable.is_empty())
        || file_mark(name.as_bytes()) == Some(name.len())
        || SystemModel::ALL.iter().any(|model| model.parts().iter().any(|part| part.name == name))
}

/// The number of a connection.
fn connection(name: &str) -> Option<u8> {
    (1..=MOST_CONNECTIONS).find(|number| Surroundings::connection(*number) == name)
}

/// How long the mark of a file is that a text begins with: `@@` and digits.
fn file_mark(text: &[u8]) -> Option<usize> {
    let rest = text.strip_prefix(INPUT_PLACEHOLDER.as_bytes())?;
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    Some(INPUT_PLACEHOLDER.len() + digits)
}

/// What a word of the program has of the input.
#[derive(Debug, PartialEq, Eq)]
enum Piece<'w> {
    Text(&'w [u8]),
    /// `@@1`
    File(&'w [u8]),
    /// `@{}`
    Words,
}

/// The pieces of a word.
fn pieces(word: &[u8]) -> Vec<Piece<'_>> {
    let (mut pieces, mut start, mut at) = (Vec::new(), 0, 0);
    while at < word.len() {
        let rest = &word[at..];
        let file = file_mark(rest).map(|len| (Piece::File(&rest[..len]), len));
        let words = rest.starts_with(words::PIECE.as_bytes());
        let words = words.then_some((Piece::Words, words::PIECE.len()));
        let Some((piece, len)) = file.or(words) else {
            at += 1;
            continue;
        };
        pieces.extend((start < at).then(|| Piece::Text(&word[start..at])));
        pieces.push(piece);
        at += len;
        start = at;
    }
    pieces.extend((start < at).then(|| Piece::Text(&word[start..at])));
    pieces
}

/// The parts that the program's words have.
fn named_in_words(args: &TargetArgs) -> Vec<(String, Kind)> {
    let (mut parts, mut texts) = (Vec::new(), Names::new(WORD, true));
    let arguments = args.command.get(1..).unwrap_or_default();
    for word in arguments {
        parts.extend(pieces(word.as_bytes()).iter().filter_map(|piece| texts.part(piece)));
    }
    for (variable, value) in &args.env {
        let mut texts = Names::of_variable(variable);
        parts.extend(pieces(value.as_bytes()).iter().filter_map(|piece| texts.part(piece)));
    }
    if arguments.last().is_some_and(|word| *word == words::ALL) {
        parts.push((WORDS.to_owned(), Kind::Data));
    }
    parts.sort();
    parts.dedup();
    parts
}

/// Gives the texts of words their names, in order.
struct Names {
    start: String,
    /// Words of variables name no files.
    files: bool,
    count: usize,
}

impl Names {
    fn new(start: &str, files: bool) -> Names {
        Names { start: start.to_owned(), files, count: 0 }
    }

    fn of_variable(name: &OsStr) -> Names {
        Names::new(&format!("{VARIABLE}{}", name.to_string_lossy()), false)
    }

    fn part(&mut self, piece: &Piece<'_>) -> Option<(String, Kind)> {
        match piece {
            Piece::File(name) if self.files => {
                Some((String::from_utf8_lossy(name).into_owned(), Kind::Data))
            }
            Piece::Words => {
                self.count += 1;
                let number = if self.files || self.count > 1 {
                    self.count.to_string()
                } else {
                    String::new()
                };
                Some((format!("{}{number}", self.start), Kind::Text))
            }
            _ => None,
        }
    }
}

/// What stands between the program and its surroundings; `None` if its input is one string.
pub(crate) fn surroundings(args: &TargetArgs) -> Result<Option<Surroundings>> {
    let mut parts = named_in_words(args);
    let (given, models) = (&args.sources.sources, args.sources.models());
    let of_connections = args.sources.parts_of_connections();
    let is_plain = given.is_empty() && models.is_empty() && of_connections.is_empty();
    if is_plain && is_one_string(&parts) {
        return Ok(None);
    }
    if parts.is_empty() && of_connections.is_empty() && !given.iter().any(|(name, _)| name == STDIN)
    {
        parts.push((STDIN.to_owned(), Kind::Data));
    }
    let of_system = [args.sources.of_system(), of_connections].concat();
    for (number, (name, _)) in given.iter().enumerate() {
        if given[..number].iter().any(|(other, _)| other == name) {
            bail!("--source {name} is given twice");
        }
        let is_there = parts.iter().any(|(other, _)| other == name);
        if !is_there && !of_system.iter().any(|part| part.name == *name) {
            check_use(name)?;
            parts.insert(0, (name.clone(), Kind::Data));
        }
    }
    let own = parts.into_iter().map(|(name, kind)| Part { name, capacity: CAPACITY, kind });
    let mut parts: Vec<Part> = own.chain(of_system).collect();
    given.iter().try_for_each(|(name, size)| resize(&mut parts, name, *size))?;
    let max_faults = args.sources.max_faults as usize;
    if max_faults > 1 && !models.contains(&SystemModel::Faults) {
        bail!("--max-faults goes with --env-model faults");
    }
    Ok(Some(Surroundings { layout: Layout::new(parts)?, models, max_faults }))
}

fn is_one_string(parts: &[(String, Kind)]) -> bool {
    let is_file = |name: &str| file_mark(name.as_bytes()).is_some();
    parts.iter().all(|(name, _)| name == INPUT_PLACEHOLDER)
        || parts.iter().all(|(name, _)| !is_file(name))
}

/// The sources with their sizes, as a user would give them.
pub(crate) fn shown_parts(surroundings: Option<&Surroundings>) -> Vec<String> {
    let parts = surroundings.iter().flat_map(|surroundings| surroundings.layout.parts());
    parts.map(|part| format!("{}={}", part.name, part.capacity)).collect()
}

/// What of the system is input.
pub(crate) fn shown_models(surroundings: Option<&Surroundings>) -> Vec<String> {
    let Some(Surroundings { models, max_faults, .. }) = surroundings else { return Vec::new() };
    let name = |model: &SystemModel| match model {
        SystemModel::Faults => format!("faults (at most {max_faults})"),
        model => model.name().to_owned(),
    };
    models.iter().map(name).collect()
}

/// An input of a campaign with other sources would be taken for something else.
pub(crate) fn check_input(args: &TargetArgs, path: &Path, input: &[u8]) -> Result<()> {
    let other = match surroundings(args)? {
        Some(Surroundings { layout, .. }) => layout.check(input).err(),
        None => Layout::of(input).map(|layout| ContainerError::OtherSources(layout.to_string())),
    };
    let hint = "give the --source and --env-model options of the campaign that it is from";
    other.map_or(Ok(()), |error| bail!("{}: {error}; {hint}", path.display()))
}

/// What takes inputs as one string only.
pub(crate) fn refuse_several(args: &TargetArgs, what: &str) -> Result<()> {
    match surroundings(args)? {
        Some(_) => bail!("{what} takes programs with one source of input, and this has several"),
        None => Ok(()),
    }
}

/// A source gets the size that the user says.
fn resize(parts: &mut [Part], name: &str, size: Option<usize>) -> Result<()> {
    let (Some(size), Some(part)) = (size, parts.iter_mut().find(|part| part.name == name)) else {
        return Ok(());
    };
    let has_meaning = part.kind == Kind::Choices
        && !SystemModel::ALL.iter().any(|model| model.name() == name && model.has_any_size());
    if has_meaning {
        bail!("--source {name}={size}: each byte of it has its meaning, so its size is fixed");
    }
    part.capacity = size;
    Ok(())
}

/// A part of the program's words has to be in them.
fn check_use(name: &str) -> Result<()> {
    match name {
        STDIN => Ok(()),
        WORDS => bail!("--source words: the last argument of the program is not @{{...}}"),
        file if file.starts_with(INPUT_PLACEHOLDER) => {
            bail!("--source {file}: no argument of the program has {file}")
        }
        part if !part.starts_with(WORD) && !part.starts_with(VARIABLE) => {
            bail!("--source {part} goes with --env-model, which is not there")
        }
        text => bail!("--source {text}: the program's arguments and variables have no such @{{}}"),
    }
}

/// The program's words, with marks in the place of parts that the program fills in itself.
pub(crate) fn mark_words(command: &mut [OsString], environment: &mut [(OsString, OsString)]) {
    let (count, mut names) = (command.len(), Names::new(WORD, true));
    for (number, word) in command.iter_mut().enumerate().skip(1) {
        *word = match number + 1 == count && *word == words::ALL {
            true => OsString::from("{tarragon:rest}"),
            false => marked(word, &mut names),
        };
    }
    for (variable, value) in environment {
        *value = marked(value, &mut Names::of_variable(variable));
    }
}

fn marked(word: &OsStr, names: &mut Names) -> OsString {
    let mut text = Vec::new();
    for piece in pieces(word.as_bytes()) {
        match (names.part(&piece), piece) {
            (Some((name, _)), Piece::File(_)) => {
                let number = &name[INPUT_PLACEHOLDER.len()..];
                text.extend(format!("{{tarragon:file{number}}}").bytes());
            }
            (Some((name, _)), _) => text.extend(format!("{{tarragon:{name}}}").bytes()),
            (None, Piece::Text(bytes) | Piece::File(bytes)) => text.extend(bytes),
            (None, Piece::Words) => {}
        }
    }
    OsString::from_vec(text)
}

/// A path that is for one source, or for the first.
#[derive(Clone, Debug)]
pub(crate) struct OfSource {
    pub source: Option<String>,
    pub path: PathBuf,
}

/// `stdin=DIR`, or `DIR`.
pub(crate) fn of_source(text: &OsStr) -> OfSource {
    let whole = || OfSource { source: None, path: PathBuf::from(text) };
    let bytes = text.as_bytes();
    let Some(end) = bytes.iter().position(|byte| *byte == b'=') else { return whole() };
    match std::str::from_utf8(&bytes[..end]) {
        // A name that is one of a source is meant as that.
        Ok(name) if !Path::new(text).exists() && named_size(name).is_ok() => OfSource {
            source: Some(name.to_owned()),
            path: PathBuf::from(OsStr::from_bytes(&bytes[end + 1..])),
        },
        _ => whole(),
    }
}

/// Containers to start from. Those that are given for one source are joined with those of the
/// others, the first with the first and so on.
fn seeds(given: &[OfSource], layout: &Layout, notes: &mut Vec<String>) -> Result<Vec<Seed>> {
    let mut seeds = Vec::new();
    let mut of_parts: Vec<Vec<(String, Vec<u8>)>> = vec![Vec::new(); layout.parts().len()];
    for OfSource { source, path } in given {
        let number = number_of(source.as_deref(), layout)?;
        for input in read_inputs(path)? {
            let name = input.path.file_name().unwrap_or(input.path.as_os_str());
            let name = name.to_string_lossy().into_owned();
            match layout.check(&input.bytes) {
                Ok(()) if source.is_none() => seeds.push(Seed { name, input: input.bytes }),
                Err(error @ ContainerError::OtherSources(_)) => {
                    return Err(error).context(input.path.display().to_string());
                }
                _ if Layout::is_marked(&input.bytes) => bail!(
                    "{}: is a container whose first line is damaged, or one for a single source",
                    input.path.display()
                ),
                _ => {
                    let part = &layout.parts()[number];
                    if input.bytes.len() > part.capacity {
                        notes.push(cut(&name, input.bytes.len(), part));
                    }
                    of_parts[number].push((name, input.bytes));
                }
            }
        }
    }
    let most = of_parts.iter().map(Vec::len).max().unwrap_or(0);
    for round in 0..most {
        let of_round = of_parts.iter().map(|all| all.get(round).or(all.first()));
        let (names, parts): (Vec<&str>, Vec<Vec<u8>>) = of_round
            .map(|seed| seed.map_or(("", Vec::new()), |(name, bytes)| (&**name, bytes.clone())))
            .unzip();
        let names: Vec<&str> = names.into_iter().filter(|name| !name.is_empty()).collect();
        seeds.push(Seed { name: names.join("-"), input: layout.join(&parts) });
    }
    seeds.iter_mut().for_each(|seed| layout.normalise(&mut seed.input));
    Ok(seeds)
}

fn cut(name: &str, len: usize, part: &Part) -> String {
    let (source, capacity) = (&part.name, part.capacity);
    format!(
        "seed {name} has {len} bytes and was cut to {capacity}: --source {source}={len} takes it"
    )
}

/// The part that a name means; without a name, the first of data.
fn number_of(name: Option<&str>, layout: &Layout) -> Result<usize> {
    let found = match name {
        Some(name) => layout.position(name),
        None => layout.parts().iter().position(|part| part.kind != Kind::Choices),
    };
    found.with_context(|| {
        let names: Vec<&str> = layout.parts().iter().map(|part| &*part.name).collect();
        let name = name.unwrap_or("data");
        format!("there is no source {name} here; there are: {}", names.join(", "))
    })
}

/// What inputs from several sources are made of, and the grammars that some of them have.
pub(crate) struct Sources {
    pub layout: Layout,
    /// By the number of the part.
    pub grammars: Vec<(usize, Language)>,
}

impl Sources {
    pub(crate) fn new(
        layout: &Layout,
        args: &GrammarArgs,
        notes: &mut Vec<String>,
    ) -> Result<Sources> {
        if args.grammar.len() > 1 && (args.start.is_some() || args.scanner.is_some()) {
            bail!("--start and --scanner go with one grammar, and there are several");
        }
        let mut grammars: Vec<(usize, Language)> = Vec::new();
        for file in &args.grammar {
            let OfSource { source, path } = of_source(file.as_os_str());
            let number = number_of(source.as_deref(), layout)?;
            if grammars.iter().any(|(other, _)| *other == number) {
                bail!("source {} has two grammars", layout.parts()[number].name);
            }
            grammars.push((number, fuzz::read_language(&path, args, notes)?));
        }
        Ok(Sources { layout: layout.clone(), grammars })
    }

    /// Those given, and sentences of the grammars. Without any, the built-in ones.
    pub(crate) fn seeds(&self, args: &FuzzArgs, notes: &mut Vec<String>) -> Result<Vec<Seed>> {
        let given: Vec<_> = args.seeds.iter().map(|path| of_source(path.as_os_str())).collect();
        let mut seeds = seeds(&given, &self.layout, notes)?;
        let base = seeds.first().map_or_else(|| self.layout.join(&[]), |seed| seed.input.clone());
        for (number, language) in &self.grammars {
            let capacity = self.layout.parts()[*number].capacity;
            for seed in grammar_search::seeds(language, capacity, args.bounds.seed)? {
                let mut parts = self.layout.split(&base)?;
                parts[*number] = seed.input;
                seeds.push(Seed { name: seed.name, input: self.layout.join(&parts) });
            }
        }
        if seeds.is_empty() {
            seeds = built_in_seeds(&self.layout);
        }
        Ok(seeds)
    }
}

/// What a search starts from when it is given nothing: empty parts, and one byte in each.
fn built_in_seeds(layout: &Layout) -> Vec<Seed> {
    let of_data = |part: &Part| match part.kind {
        Kind::Data | Kind::Text => b"\n".to_vec(),
        Kind::Choices => Vec::new(),
    };
    let newlines: Vec<Vec<u8>> = layout.parts().iter().map(of_data).collect();
    let seeds = [("empty", layout.join(&[])), ("newline", layout.join(&newlines))];
    seeds.map(|(name, input)| Seed { name: name.to_owned(), input }).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Cli, Command};
    use clap::Parser as _;

    fn target(words: &[&str]) -> TargetArgs {
        match Cli::parse_from([&["tarragon", "fuzz"], words].concat()).command {
            Command::Fuzz(args) => args.target,
            _ => panic!("another command"),
        }
    }

    fn layout(words: &[&str]) -> Option<String> {
        let surroundings = surroundings(&target(words)).expect("sources that can be");
        surroundings.map(|surroundings| surroundings.layout.to_string())
    }

    #[test]
    fn one_source_is_a_plain_input() {
        for words in [
            &["--", "p"][..],
            &["--", "p", "@@"],
            &["--", "p", "-f@@", "@@"],
            &["--", "p", "@{}", "x@{}"],
            &["--", "p", "@{...}"],
            &["--env", "A=@{}", "--", "p"],
        ] {
            assert_eq!(layout(words), None, "{words:?}");
        }
    }

    #[test]
    fn several_sources_are_parts() {
        let is = |words: &[&str], parts: &str| assert_eq!(layout(words).as_deref(), Some(parts));
        is(&["--", "p", "@@1", "@@2"], "@@1=255 @@2=255");
        is(&["--", "p", "@@", "@{}x@{}"], "@@=255 word1=255z word2=255z");
        is(&["--source", "word1=9", "--", "p", "@{}", "@{...}"], "word1=9z words=255");
        is(&["--source", "stdin", "--", "p", "@@"], "stdin=255 @@=255");
        is(&["--source", "@@=1000", "--source", "stdin=8", "--", "p", "@@"], "stdin=8 @@=1000");
        is(&["--source", "stdin", "--", "p"], "stdin=255");
        is(&["--source", "stdin", "--env", "A=@{}", "--", "p"], "stdin=255 env:A=255z");
        for wrong in [
            &["--source", "@@3", "--", "p"][..],
            &["--source", "words", "--", "p"],
            &["--source", "word1", "--", "p", "@@"],
        ] {
            assert!(surroundings(&target(wrong)).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn words_get_marks() {
        let mut command: Vec<OsString> =
            ["p", "-o@@1.c", "a@{}b", "@", "@{...}"].map(OsString::from).into();
        let mut environment = vec![("A".into(), "@{}@@".into())];
        mark_words(&mut command, &mut environment);
        let marked = ["p", "-o{tarragon:file1}.c", "a{tarragon:word1}b", "@", "{tarragon:rest}"];
        assert_eq!(command, marked);
        assert_eq!(environment[0].1, "{tarragon:env:A}@@");
    }

    #[test]
    fn sizes_are_numbers_and_names_are_known() {
        assert_eq!(named_size("@@12=7"), Ok(("@@12".to_owned(), Some(7))));
        for wrong in ["", "stdin=", "stdin=0", "stdin=x", "@@x", "file", "@@1x=3", "wordx", "env:"]
        {
            assert!(named_size(wrong).is_err(), "{wrong}");
        }
    }
}
