//! Time for a word within a window, beside the same question as a problem of one variable.
//!
//! Usage: `cargo run --release -p strings --example windows`

use std::time::{Duration, Instant};

use strings::{
    Answer, Atom, Budget, ByteSet, Finder, Grammar, Language, Languages, Piece, Problem, Size,
    Symbol, Window,
};

const ROUNDS: u32 = 200;

fn time(mut question: impl FnMut()) -> Duration {
    let start = Instant::now();
    (0..ROUNDS).for_each(|_| question());
    start.elapsed() / ROUNDS
}

/// A date as in `2026-11-16T07:30:00Z`.
fn date(languages: &mut Languages) -> Language {
    let digit = languages.bytes(ByteSet::range(b'0', b'9'));
    let mut parts = Vec::new();
    for (digits, after) in [(4, "-"), (2, "-"), (2, "T"), (2, ":"), (2, ":"), (2, "Z")] {
        parts.push(languages.repeat(digit, digits, digits));
        parts.push(languages.literal(after.as_bytes()));
    }
    languages.concat_all(parts)
}

/// Balanced brackets around letters.
fn brackets(languages: &mut Languages) -> Language {
    let mut grammar = Grammar::default();
    let s = grammar.add_nonterminal();
    let [open, close] = [b'(', b')'].map(|byte| grammar.symbol(ByteSet::single(byte)));
    let letter = grammar.symbol(ByteSet::range(b'a', b'z'));
    let again = Symbol::Nonterminal(s);
    for right in [vec![open, again, close], vec![again, again], vec![letter]] {
        grammar.add_production(s, right);
    }
    let grammar = languages.add_grammar(grammar);
    languages.context_free(grammar, s)
}

/// The same question as a problem: the variable is in the language and in the product of the sets.
fn as_problem(language: fn(&mut Languages) -> Language, bytes: &[ByteSet]) -> bool {
    let mut problem = Problem::default();
    let length = bytes.len() as u64;
    let x = problem.sized_variable("x", Size { least: length, most: length });
    let language = language(&mut problem.languages);
    let sets: Vec<Language> = bytes.iter().map(|&set| problem.languages.bytes(set)).collect();
    let within = problem.languages.concat_all(sets);
    problem.require(Atom::In(vec![Piece::Variable(x)], language));
    problem.require(Atom::In(vec![Piece::Variable(x)], within));
    matches!(problem.solve(&mut Budget::default()), Answer::Sat(_))
}

fn compare(name: &str, language: fn(&mut Languages) -> Language, near: &[u8], fixed: &[usize]) {
    let mut bytes = vec![ByteSet::FULL; near.len()];
    fixed.iter().for_each(|&position| bytes[position] = ByteSet::single(near[position]));
    let mut languages = Languages::default();
    let prepared = language(&mut languages);
    let finder = Finder::new(&mut languages, prepared);
    let window = Window { bytes: &bytes, least: bytes.len(), near };
    let mut found = None;
    let ours = time(|| {
        found = finder.find(&mut languages, &window, &mut Budget::default()).ok().flatten()
    });
    let general = time(|| assert_eq!(as_problem(language, &bytes), found.is_some()));
    let word = found.map(|word| String::from_utf8_lossy(&word).into_owned());
    println!(
        "{name}: {:.1} us, as a problem {:.1} us ({:.0} x); {word:?}",
        ours.as_secs_f64() * 1e6,
        general.as_secs_f64() * 1e6,
        general.as_secs_f64() / ours.as_secs_f64()
    );
}

fn main() {
    compare("date, 20 bytes", date, b"2o26.11-16t07:3x:00z", &[0, 5]);
    compare("date that cannot be", date, b"2026x11-16T07:30:00Z", &[4]);
    compare("brackets, 16 bytes", brackets, b"((a)b((c)(d)xy))", &[0, 3, 9, 15]);
    compare("brackets, 64 bytes", brackets, &b"((a)b((c)(d)xy))".repeat(4), &[0, 15, 33, 60]);
}
