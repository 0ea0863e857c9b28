//! What the fuzz targets do, on grammars with random damage: no reader panics or hangs.

use fastrand::Rng;
use grammar_formats_testing as fuzz;
use std::path::PathBuf;

fn main() {
    needs::run(needs::tests![
        damaged_seeds_in_every_notation,
        damaged_scanners,
        damaged_real_grammars,
        both_engines_agree_on_damaged_input,
    ]);
}

const SEEDS: [(&str, &str); 7] = [
    (
        "tg",
        "start s; token N(3) = /[0-9]+/ -> push(m); mode m; skip /[ ]+/; s = ('a'? N){2,3} | t @2 \
         ; t = $end;",
    ),
    (
        "antlr",
        "grammar G; s : e? {p}? x+=A # L | e '+' e ; e : . | ~A ; A : [a-z\\p{L}]+? -> skip ; \
         mode M; B : 'x'..'z' ;",
    ),
    (
        "bison",
        "%token <t> A 300 \"a\"\n%left A\n%%\ns[x]: A s %prec A { $$ = \"}\"; } | %empty ;\n%%\n",
    ),
    ("ebnf", "[1] a ::= (b | [^#x20-z])* - 'q' /* c */ b+\nb ::= \"x\"?"),
    ("abnf", "a = 1*2b [ %x41-5A / \"k\" ] ; c\n  / <prose val>\nb = %d13.10\n"),
    ("bnf-json", "{\"<a>\": [\"x<a>\", [\"<a>\", \"\\u00e9\"], [\"y\", {\"prob\": 1}]]}"),
    (
        "tree-sitter",
        "{\"rules\": {\"a\": {\"type\": \"REPEAT\", \"content\": {\"type\": \"PATTERN\", \"value\": \"[a-z]+\"}}}, \"extras\": []}",
    ),
];

const SCANNER: &[u8] = b"%option noyywrap\nD [0-9]\n%x IN\n%%\n{D}+(\".\"{D}*)?  { return A; }\n[ \
                         \\t\\n]+ ;\n\
    <IN>{\n\"*/\" BEGIN(INITIAL);\n.|\\n ;\n}\n\"/*\" BEGIN(IN);\n[[:alpha:]_]{1,3}/x |\nb$ \
    return B;\n. return yytext[0];\n%%\n";

/// Damaged copies of each seed, as many as property tests have cases if that is said.
fn cases() -> usize {
    std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(2000)
}

/// Cuts out, doubles, exchanges and inserts a few bytes.
fn damage(text: &[u8], rng: &mut Rng) -> Vec<u8> {
    let mut out = text.to_vec();
    for _ in 0..=rng.usize(..4) {
        let at = rng.usize(..out.len().max(1)).min(out.len());
        let end = (at + rng.usize(..12)).min(out.len());
        match rng.usize(..4) {
            0 => drop(out.drain(at..end)),
            1 => {
                let copy = out[at..end].to_vec();
                let to = rng.usize(..out.len() + 1);
                drop(out.splice(to..to, copy));
            }
            2 if at < out.len() => {
                out[at] = b"(){}[]<>'\"|;:\\/*+?~.-#%= \n0a\xc3"[rng.usize(..29)]
            }
            _ => out.insert(at, b"(){}[]<>'\"|;:\\/*+?~.-#%= \n0a\xc3"[rng.usize(..29)]),
        }
    }
    out
}

fn collection() -> Result<Vec<PathBuf>, needs::Missing> {
    let root = needs::data("antlr")?;
    let folders = std::fs::read_dir(root).expect("a folder").map(|e| e.expect("an entry").path());
    let files = folders
        .filter_map(|f| std::fs::read_dir(f).ok())
        .flatten()
        .map(|e| e.expect("an entry").path());
    let mut all: Vec<PathBuf> =
        files.filter(|f| f.extension().is_some_and(|e| e == "g4")).collect();
    all.sort();
    Ok(all)
}

fn damaged_seeds_in_every_notation() {
    let mut rng = Rng::with_seed(4);
    for (format, text) in SEEDS {
        fuzz::read(format, text.as_bytes());
        for _ in 0..cases() {
            fuzz::read(format, &damage(text.as_bytes(), &mut rng));
        }
    }
}

fn damaged_scanners() {
    let mut rng = Rng::with_seed(5);
    fuzz::read_flex(SCANNER);
    (0..cases()).for_each(|_| fuzz::read_flex(&damage(SCANNER, &mut rng)));
}

fn damaged_real_grammars() -> needs::Tested {
    let mut rng = Rng::with_seed(9);
    for file in collection()? {
        let text = std::fs::read(&file).expect("a file");
        for _ in 0..(100 * cases() / (text.len() + 1)).min(cases() / 100) {
            fuzz::read("antlr", &damage(&text, &mut rng));
        }
    }
    Ok(())
}

fn both_engines_agree_on_damaged_input() {
    let mut rng = Rng::with_seed(11);
    let seed = b"skip / +/; token N = /[0-9]+/; e = e '+' e | '(' e ')' | N ;\0(1 + 2)+3";
    fuzz::parse(seed);
    (0..cases()).for_each(|_| fuzz::parse(&damage(seed, &mut rng)));
}
