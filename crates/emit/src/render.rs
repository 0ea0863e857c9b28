//! From a suite to files: the context of the templates, and their filters.

use minijinja::value::Value;
use minijinja::{AutoEscape, Environment};
use serde::{Serialize, Serializer};

use crate::comment::comment;
use crate::framework::Framework;
use crate::literal::{is_printable, shell_words};
use crate::names::camel;
use crate::{Case, Markers, Suite};

/// Longer byte strings are files of their own.
const MAX_LITERAL: usize = 1024;
/// The folder of these.
const DATA: &str = "data";

/// A file to be written, with its path below the directory of the tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputFile {
    pub path: String,
    pub bytes: Vec<u8>,
}

#[derive(Debug, thiserror::Error)]
#[error("the template of {framework} is wrong: {error}")]
pub struct EmitError {
    pub(crate) framework: &'static str,
    pub(crate) error: minijinja::Error,
}

/// The tests, and the files that they read.
pub fn render(suite: &Suite, framework: Framework) -> Result<Vec<OutputFile>, EmitError> {
    let mut files = Vec::new();
    let context = Context::new(suite, framework, &mut files);
    let failed = |error| EmitError { framework: framework.name(), error };
    let environment = environment(framework).map_err(failed)?;
    let template = environment.get_template("tests").map_err(failed)?;
    let text = template.render(&context).map_err(failed)?;
    files.insert(0, OutputFile { path: context.file.clone(), bytes: text.into_bytes() });
    Ok(files)
}

pub(crate) fn environment(framework: Framework) -> Result<Environment<'static>, minijinja::Error> {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    environment.set_trim_blocks(true);
    environment.set_lstrip_blocks(true);
    environment.set_keep_trailing_newline(true);
    let (bytes, text) = (framework.literal(), framework.text());
    environment.add_filter("bytes", move |value: Value| bytes(&bytes_of(&value)));
    environment.add_filter("text", move |value: &str| text(value));
    environment.add_filter("comment", |text: &str| comment(text));
    environment.add_filter("camel", |name: &str| camel(name));
    environment.add_template("program.h", include_str!("templates/program.h.j2"))?;
    environment.add_template("tests", framework.template())?;
    Ok(environment)
}

/// Of a byte string or a text.
fn bytes_of(value: &Value) -> Vec<u8> {
    let text = || value.as_str().unwrap_or_default().as_bytes();
    value.as_bytes().unwrap_or_else(text).to_vec()
}

/// Bytes that are no text.
struct Bytes(Vec<u8>);

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

/// A byte string where it is used: in the code, or in a file below the folder of data.
#[derive(Serialize)]
struct Blob {
    bytes: Bytes,
    file: Option<String>,
}

impl Blob {
    fn new(bytes: &[u8], name: String, files: &mut Vec<OutputFile>) -> Blob {
        if bytes.len() <= MAX_LITERAL {
            return Blob { bytes: Bytes(bytes.to_vec()), file: None };
        }
        files.push(OutputFile { path: format!("{DATA}/{name}"), bytes: bytes.to_vec() });
        Blob { bytes: Bytes(Vec::new()), file: Some(name) }
    }
}

#[derive(Serialize)]
struct Context<'s> {
    name: &'s str,
    file: String,
    program: &'s str,
    /// How to build and run the tests.
    commands: Vec<String>,
    /// Where the files with data are.
    data: String,
    reads_data: bool,
    origin: &'s str,
    seconds: u64,
    environment: &'s [(String, String)],
    input: &'s str,
    here: &'s str,
    program_marker: &'s str,
    /// Whether some test asserts it.
    asserts_stdout: bool,
    asserts_stderr: bool,
    asserts_exit: bool,
    has_failures: bool,
    cases: Vec<CaseContext<'s>>,
}

#[derive(Serialize)]
struct CaseContext<'s> {
    name: &'s str,
    remarks: &'s [String],
    /// Why it fails.
    known_failure: Option<&'s str>,
    fails_always: bool,
    arguments: Vec<Bytes>,
    variables: Vec<(&'s str, Bytes)>,
    /// The commands that give the words to a shell, for languages that cannot pass on any bytes.
    shell_words: Vec<String>,
    needs_shell: bool,
    input: Blob,
    on_stdin: bool,
    exit: Option<i32>,
    stdout: Option<Blob>,
    stderr: Option<Blob>,
}

impl<'s> Context<'s> {
    fn new(suite: &'s Suite, framework: Framework, files: &mut Vec<OutputFile>) -> Context<'s> {
        let Markers { input, here, program } = &suite.markers;
        let cases: Vec<_> = suite.cases.iter().map(|case| CaseContext::new(case, files)).collect();
        let tests = || suite.cases.iter().filter(|case| case.known_failure.is_none());
        Context {
            name: &suite.name,
            file: framework.file(&suite.name),
            program: &suite.program,
            commands: framework.commands(suite),
            data: format!("{}/{DATA}", suite.directory),
            reads_data: !files.is_empty(),
            origin: &suite.origin,
            seconds: suite.seconds,
            environment: &suite.environment,
            input,
            here,
            program_marker: program,
            asserts_stdout: tests().any(|case| case.expected.stdout.is_some()),
            asserts_stderr: tests().any(|case| case.expected.stderr.is_some()),
            asserts_exit: tests().any(|case| case.expected.exit.is_some()),
            has_failures: suite.cases.iter().any(|case| case.known_failure.is_some()),
            cases,
        }
    }
}

impl<'s> CaseContext<'s> {
    fn new(case: &'s Case, files: &mut Vec<OutputFile>) -> CaseContext<'s> {
        let Case { name, remarks, known_failure, run, expected } = case;
        let mut blob = |bytes: &[u8], end| Blob::new(bytes, format!("{name}.{end}"), files);
        let values = run.environment.iter().map(|(_, value)| value);
        let mut words = run.arguments.iter().chain(values);
        CaseContext {
            name,
            remarks,
            known_failure: known_failure.as_ref().map(|failure| &*failure.reason),
            fails_always: known_failure.as_ref().is_some_and(|failure| failure.always),
            arguments: run.arguments.iter().cloned().map(Bytes).collect(),
            variables: run
                .environment
                .iter()
                .map(|(n, v)| (n.as_str(), Bytes(v.clone())))
                .collect(),
            shell_words: shell_words(&run.arguments, &run.environment),
            needs_shell: !words.all(|word| is_printable(word)),
            input: blob(&run.input, "in"),
            on_stdin: run.on_stdin,
            exit: expected.exit,
            stdout: expected.stdout.as_ref().map(|bytes| blob(bytes, "out")),
            stderr: expected.stderr.as_ref().map(|bytes| blob(bytes, "err")),
        }
    }
}
