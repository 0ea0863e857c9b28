//! Measures the grammar engine on one core and prints one JSON object: `bench_grammar GRAMMARS
//! [JAVASCRIPT.g4]`. bench/grammar/run.py runs it next to other tools. `bench_grammar solve
//! JAVASCRIPT.g4` measures the solver only.

mod solve;

use fastrand::Rng;
use grammar::complete::Completer;
use grammar::enumerate::Enumerator;
use grammar::language::Language;
use grammar::parse::Parser;
use grammar::sample::Sampler;
use grammar::spaces;
use grammar::uniform::Uniform;
use serde_json::{Map, Value, json};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// Processor time of this process: other work on the machine does not count.
#[derive(Clone, Copy)]
struct Instant(f64);

impl Instant {
    fn now() -> Instant {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: the pointer is to a local value of the right type.
        unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
        Instant(time.tv_sec as f64 + time.tv_nsec as f64 / 1e9)
    }

    fn seconds(self) -> f64 {
        Instant::now().0 - self.0
    }
}

/// Best of three runs.
fn best(mut run: impl FnMut() -> f64) -> f64 {
    (0..3).map(|_| run()).fold(0.0, f64::max)
}

fn language(folder: &Path, name: &str) -> Language {
    let read = grammar_formats::read_path(&folder.join(format!("{name}.tg")), None, None)
        .expect("a grammar");
    Language::new(read.grammar).expect("a language")
}

fn megabytes_per_second(bytes: usize, since: Instant) -> f64 {
    bytes as f64 / 1e6 / since.seconds()
}

fn sample(language: &Language, size: usize) -> f64 {
    let mut sampler = Sampler::new(language).expect("a sampler");
    best(|| {
        let (mut rng, mut out, mut bytes) = (Rng::with_seed(1), Vec::new(), 0);
        let start = Instant::now();
        while bytes < 20_000_000 {
            out.clear();
            sampler.sample(&mut rng, size, &mut out);
            bytes += out.len();
        }
        megabytes_per_second(bytes, start)
    })
}

fn uniform(language: &Language, len: usize) -> f64 {
    let mut uniform = Uniform::new(language, len).expect("a sampler");
    best(|| {
        let (mut rng, mut out, mut bytes) = (Rng::with_seed(1), Vec::new(), 0);
        let start = Instant::now();
        while bytes < 10_000_000 {
            out.clear();
            uniform.sample(&mut rng, &mut out);
            bytes += out.len();
        }
        megabytes_per_second(bytes, start)
    })
}

/// Million strings per second, the consumer adding up their bytes.
fn enumerate(language: &Language, max: usize, strings: bool) -> f64 {
    let space =
        if strings { spaces::distinct(language, max) } else { spaces::by_length(language, max) };
    let space = space.expect("a space");
    best(|| {
        let (mut count, mut bytes) = (0u64, 0usize);
        let start = Instant::now();
        let _ = Enumerator::new(&space).run(&0u32.into(), Some(&20_000_000u32.into()), |found| {
            count += 1;
            bytes += found.text.len();
            ControlFlow::Continue(())
        });
        std::hint::black_box(bytes);
        count as f64 / 1e6 / start.seconds()
    })
}

/// A long sentence made of many short ones.
fn long(language: &Language, open: &str, between: &str, close: &str, bytes: usize) -> Vec<u8> {
    let mut sampler = Sampler::new(language).expect("a sampler");
    let (mut rng, mut text) = (Rng::with_seed(5), open.as_bytes().to_vec());
    while text.len() < bytes {
        sampler.sample(&mut rng, 400, &mut text);
        text.extend_from_slice(between.as_bytes());
    }
    text.truncate(text.len() - between.len());
    text.extend_from_slice(close.as_bytes());
    text
}

/// Microseconds per byte: membership in a new parser, in a warm one, and with a tree.
fn parse(grammar: &grammar::Grammar, text: &[u8]) -> Value {
    let per_byte = |start: Instant| start.seconds() * 1e6 / text.len() as f64;
    let mut parser = Parser::new(grammar).expect("a parser");
    let start = Instant::now();
    parser.check(text).expect("a sentence");
    let cold = per_byte(start);
    let start = Instant::now();
    parser.check(text).expect("a sentence");
    let warm = per_byte(start);
    let start = Instant::now();
    let nodes = parser.parse(text).expect("a tree").nodes.len();
    json!({ "bytes": text.len(), "check_first": cold, "check_again": warm, "tree": per_byte(start), "nodes": nodes })
}

/// Microseconds to complete a prefix that was parsed before.
fn complete(language: &Language, prefix: &[u8]) -> f64 {
    let mut completer = Completer::new(language).expect("a completer");
    let config = completer.after_bytes(prefix).expect("a prefix");
    completer.terminals(config).expect("a completion");
    let start = Instant::now();
    for _ in 0..10_000 {
        std::hint::black_box(completer.cost(config));
    }
    let cost = start.seconds() * 1e6 / 10_000.0;
    let start = Instant::now();
    for _ in 0..10_000 {
        std::hint::black_box(completer.terminals(config));
    }
    cost.max(start.seconds() * 1e6 / 10_000.0)
}

const SCRIPT: &str = "function f(a, b) \
                      {\n  var list = [1, 2, 3 + a * b - 4], o = { key: a, 'other': list[0] };\n  \
    if (a === b && !o.key || list.length > 10) { return f(a - 1, b + 1); }\n  for (var i = 0; i < 10; i++) { \
    list.push(i % 2 ? 'odd' : \"even\"); }\n  return list.map(function (x) { return x + o.key.value(x, i); });\n}\n";

/// What the peers parse in run.py.
const RECORD: &str = "{\"key\":[1,22,-3.5e7,[]],\"other\":\"some text\",\"n\":null}";

fn main() {
    let mut args = std::env::args().skip(1).map(PathBuf::from);
    let folder = args.next().expect("the folder with the grammars");
    let out = if folder == Path::new("solve") {
        solve::measure(javascript(&args.next().expect("a grammar")))
    } else {
        engine(&folder, args.next().as_deref())
    };
    println!("{}", serde_json::to_string_pretty(&Value::Object(out)).expect("JSON"));
}

fn javascript(path: &Path) -> grammar::Grammar {
    grammar_formats::read_path(path, None, None).expect("a grammar").grammar
}

fn engine(folder: &Path, script: Option<&Path>) -> Map<String, Value> {
    let mut out = Map::new();
    let (expr, json) = (language(folder, "expr"), language(folder, "json"));
    for (name, language) in [("expr", &expr), ("json", &json)] {
        out.insert(format!("sample MB/s {name} size 200"), json!(sample(language, 200)));
        out.insert(format!("sample MB/s {name} size 2000"), json!(sample(language, 2000)));
        out.insert(format!("uniform MB/s {name} len 50"), json!(uniform(language, 50)));
        out.insert(format!("uniform MB/s {name} len 200"), json!(uniform(language, 200)));
    }
    let calc = language(folder, "simplecalc");
    out.insert("enumerate M/s simplecalc derivations".into(), json!(enumerate(&calc, 6, false)));
    out.insert("enumerate M/s simplecalc strings".into(), json!(enumerate(&calc, 6, true)));
    let brackets = language(folder, "brackets");
    out.insert("enumerate M/s brackets derivations".into(), json!(enumerate(&brackets, 18, false)));
    for mb in [1, 10] {
        let text = long(&expr, "", "+", "", mb << 20);
        out.insert(format!("parse us/B expr {mb} MB"), parse(&expr.grammar, &text));
        let text = long(&json, "[", ",", "]", mb << 20);
        out.insert(format!("parse us/B json {mb} MB"), parse(&json.grammar, &text));
    }
    let records = format!("[{}]", vec![RECORD; 20_000].join(","));
    out.insert("parse us/B json records 1 MB".into(), parse(&json.grammar, records.as_bytes()));
    if let Some(script) = script {
        let grammar = javascript(script);
        out.insert(
            "parse us/B javascript 100 kB".into(),
            parse(&grammar, SCRIPT.repeat(100_000 / SCRIPT.len()).as_bytes()),
        );
        out.extend(solve::measure(grammar));
    }
    out.insert("complete us expr".into(), json!(complete(&expr, b"1+((2*(3-a)+4)*(")));
    out.insert("complete us json".into(), json!(complete(&json, b"[{\"a\":[1,2,{\"b\":")));
    out
}
