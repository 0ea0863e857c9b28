//! Broken, huge and hostile grammars and inputs: a clear message or a correct result, never a
//! panic.

use fastrand::Rng;
use grammar::ambiguity::count_trees;
use grammar::complete::Completer;
use grammar::count::{self, Count, Unit};
use grammar::language::{Language, LanguageError};
use grammar::parse::Parser;
use grammar::sample::Sampler;
use grammar::{Grammar, spaces};
use grammar_formats::{Format, read_path, read_text};

fn read(text: &str) -> Grammar {
    read_text("g.tg", text, None).unwrap_or_else(|e| panic!("{e}")).grammar
}

fn accepts(grammar: &Grammar, text: &[u8]) -> bool {
    let mut parser = Parser::new(grammar).expect("a lexer");
    let quick = parser.check(text).is_ok();
    assert_eq!(quick, parser.parse(text).is_ok());
    quick
}

#[test]
fn ten_megabytes_of_grammar() {
    let mut text = String::with_capacity(11 << 20);
    let mut rules = 0;
    while text.len() < 10 << 20 {
        text.push_str(&format!(
            "rule_number_{rules} = \"some text {rules}\" | rule_number_{} ;\n",
            rules + 1
        ));
        rules += 1;
    }
    text.push_str(&format!("rule_number_{rules} = 'x';"));
    let grammar = read(&text);
    assert_eq!(grammar.rules.len(), rules + 1);
    let core = grammar::Core::new(&grammar);
    assert_eq!(core.nts.len(), rules + 1);
}

#[test]
fn ten_thousand_alternatives() {
    let words: Vec<String> = (0..10_000).map(|i| format!("\"w{i};\"")).collect();
    let grammar = read(&format!("s = w* ; w = {} ;", words.join(" | ")));
    assert!(accepts(&grammar, b"w0;w9999;w17;"));
    assert!(!accepts(&grammar, b"w10000;"));
    let language = Language::new(grammar).expect("a language");
    let counts = count::by_length(&language, 3, Unit::Bytes);
    assert_eq!(counts[3], Count::Finite(10u32.into()));
}

/// Any token may be text, so every line and every bracket so far may still be open: items that
/// remember where they began would be as many as there are tokens before, in every set.
#[test]
fn text_that_may_be_anything_stays_linear() {
    let grammar = read(
        "s = line (NL line)* ; line = name '=' item+ ; name = '<' any+ '>' ; item = '<' any* '>' \
         | any ;
         any = '<' | '>' | '=' | NL | W ; token NL = '\\n' ; token W = /[a-z]/ ;",
    );
    let text = b"<a>=<b>c<d\n".repeat(4_000);
    assert!(accepts(&grammar, &text));
    assert!(!accepts(&grammar, &text[1..]));
}

#[test]
fn left_recursion_everywhere() {
    let grammar = read("a = b 'x' | c ; b = c 'y' | a ; c = a 'z' | b 'w' | 'q' ;");
    assert!(accepts(&grammar, b"qxzyx"));
    let long: Vec<u8> = [b"q".to_vec(), b"x".repeat(200_000)].concat();
    assert!(accepts(&grammar, &long));
}

#[test]
fn cyclic_rules() {
    let grammar = read("s = s | t | 'x' ; t = s | u t u ; u = '' ;");
    assert!(accepts(&grammar, b"x"));
    assert!(!accepts(&grammar, b"xx"));
    assert_eq!(count_trees(&grammar, b"x").expect("a lexer").expect("a tree"), Count::Infinite);
    let language = Language::new(grammar).expect("a language");
    assert_eq!(count::by_length(&language, 2, Unit::Bytes)[1], Count::Infinite);
    assert!(spaces::by_length(&language, 1).is_err());
    let strings = spaces::distinct(&language, 3).expect("a space").total();
    assert_eq!(strings, 1u32.into());
    let mut text = Vec::new();
    Sampler::new(&language).expect("a sampler").sample(&mut Rng::with_seed(1), 10, &mut text);
    assert_eq!(text, b"x");
    assert_eq!(
        Completer::new(&language).expect("a completer").complete(b"").expect("a sentence"),
        b"x"
    );
}

#[test]
fn regular_expressions_that_explode() {
    // 2^30 automaton states: parsing builds those it meets, generation refuses.
    let grammar = read("s = /(a|b)*a(a|b){30}/ ;");
    let yes: Vec<u8> = [b"bbab".to_vec(), b"a".repeat(29)].concat();
    assert!(accepts(&grammar, &yes));
    assert!(!accepts(&grammar, &[b"bbbb".to_vec(), b"b".repeat(30)].concat()));
    assert!(matches!(Language::new(grammar), Err(LanguageError::Terminal(..))));
    let grammar = read("s = /((a{0,100}){0,100}){0,100}/ ;");
    assert!(Parser::new(&grammar).is_err(), "a million states are refused");
    let nested = format!("s = /{}a{}/ ;", "(".repeat(10_000), ")".repeat(10_000));
    assert!(read_text("g.tg", &nested, None).is_err());
}

#[test]
fn deep_nesting_in_every_notation() {
    let open = "(".repeat(100_000);
    for (file, text) in [
        ("g.tg", format!("a = {open}")),
        ("g.g4", format!("grammar G; a : {open}")),
        ("g.g4", format!("grammar G; A : {open}")),
        ("g.ebnf", format!("a ::= {open}")),
        ("g.abnf", format!("a = {open}")),
        ("g.y", format!("%%\na: {open}")),
        ("g.json", format!("{{\"a\": {}", "[".repeat(100_000))),
    ] {
        assert!(read_text(file, &text, None).is_err(), "{file}");
    }
}

#[test]
fn deep_inputs_and_trees() {
    let grammar = read("s = '(' s ')' | ;");
    let n = 200_000;
    let text: Vec<u8> = [b"(".repeat(n), b")".repeat(n)].concat();
    let mut parser = Parser::new(&grammar).expect("a lexer");
    assert!(parser.check(&text).is_ok());
    assert_eq!(parser.parse(&text).expect("a tree").height(), n + 1);
    let language = Language::new(grammar).expect("a language");
    let rest =
        Completer::new(&language).expect("a completer").complete(&text[..n]).expect("a sentence");
    assert_eq!(rest, b")".repeat(n));
}

#[test]
fn right_recursion_is_linear() {
    let grammar = read("s = 'a' s | 'a' ;");
    assert!(accepts(&grammar, &b"a".repeat(500_000)));
    let indirect = read("s = 'a' t | 'a' ; t = 'b' s | 'b' ;");
    assert!(accepts(&indirect, &b"ab".repeat(200_000)));
}

#[test]
fn ten_megabytes_of_input() {
    let text = "token NUM = /[0-9]+/; token STR = /\"[^\"]*\"/; skip /[ \\n]+/; \
        v = \"[\" (v (\",\" v)*)? \"]\" | \"{\" (STR \":\" v (\",\" STR \":\" v)*)? \"}\" | NUM | \
        STR ;";
    let grammar = read(text);
    let item = "{\"key\": [1, 22, 333, []], \"other\": \"some text\"},\n";
    let input = format!("[{}0]", item.repeat((10 << 20) / item.len()));
    let mut parser = Parser::new(&grammar).expect("a lexer");
    assert!(parser.check(input.as_bytes()).is_ok());
    assert!(parser.check(&input.as_bytes()[..input.len() - 1]).is_err());
}

#[test]
fn invalid_utf8() {
    let kept = tempfile::tempdir().expect("a folder");
    let folder = kept.path();
    std::fs::write(folder.join("latin.tg"), b"s = 'x' ; # caf\xe9\n").expect("a file");
    let read_latin = read_path(&folder.join("latin.tg"), None, None).expect("Latin-1 is read");
    assert!(read_latin.notes[0].text.contains("Latin-1"));
    std::fs::write(folder.join("binary.tg"), b"\x7fELF\x00\xff\xfe").expect("a file");
    let error = read_path(&folder.join("binary.tg"), None, None).expect_err("not text");
    assert!(error.message.contains("not text"));
    assert!(read_path(&folder.join("missing.tg"), None, None).is_err());
    // Bytes that are no UTF-8 can be named and parsed.
    let grammar = read(r"s = /(?-u:\xff+)/ 'é' ;");
    assert!(accepts(&grammar, b"\xff\xff\xc3\xa9"));
    assert!(!accepts(&grammar, b"\xff\xff\xe9"));
}

#[test]
fn no_start_and_unproductive_start() {
    for (file, text) in
        [("g.tg", ""), ("g.ebnf", ""), ("g.abnf", ""), ("g.json", "{}"), ("g.y", "%%\n")]
    {
        let error = read_text(file, text, None).expect_err(file);
        assert!(error.message.contains("no rule") || error.message.contains("start"), "{error}");
    }
    let grammar = read("s = 'a' s ; t = 'b' ;");
    assert!(!accepts(&grammar, b"aaa"));
    assert!(matches!(Language::new(grammar), Err(LanguageError::StartUnproductive(_))));
    // Unproductive and unreachable rules elsewhere are no error.
    let grammar = read("s = 'a' | t ; t = 'b' t ; u = 'c' ;");
    assert!(accepts(&grammar, b"a") && Language::new(grammar).is_ok());
}

/// Every prefix and every single-byte change of a grammar is read or refused, never more.
#[test]
fn damaged_files() {
    let files = [
        (
            "g.tg",
            "token N = /[0-9]+/ -> push(m); mode m; skip /[ ]+/; s = ('a'? N){2,3} | t @2 ; t = \
             `s x` $end; `s x` = \"\\u{41}\";",
        ),
        (
            "g.g4",
            "grammar G; options {a=b;} @header {x} s : e? {p}? x+=A[1] # L | <assoc=right> e '+' \
             e ; e : . | ~A ; A : [a-z\\p{L}]+ -> skip, mode(M) ; mode M; B : 'x'..'z' ;",
        ),
        (
            "g.y",
            "%token <t> A 300 \"a\" 'b'\n%left A\n%%\ns[x]: A s %prec A { $$ = \"}\"; } | %empty \
             ;\n%%",
        ),
        ("g.ebnf", "[1] a ::= (b | [^#x20-z])* - 'q' /* c */ b+\nb ::= \"x\"?"),
        ("g.abnf", "a = 1*2b [ %x41-5A / \"k\" ] ; c\n  / <prose val>\nb = %d13.10\n"),
        ("g.json", "{\"<a>\": [\"x<a>\", [\"<a>\", \"\\u00e9\"], [\"y\", {\"prob\": 1}]]}"),
        (
            "grammar.json",
            "{\"rules\": {\"a\": {\"type\": \"SEQ\", \"members\": [{\"type\": \"PATTERN\", \"value\": \"[a-z]+\"}, {\"type\": \"BLANK\"}]}}}",
        ),
    ];
    for (file, text) in files {
        read_text(file, text, None).unwrap_or_else(|e| panic!("{e}"));
        for end in (0..text.len()).filter(|i| text.is_char_boundary(*i)) {
            let _ = read_text(file, &text[..end], None);
        }
        for (at, _) in text.char_indices() {
            for c in ["", "%", "{", "'", "é", "\\", "|", "[", "0"] {
                let next = at + text[at..].chars().next().map_or(0, char::len_utf8);
                let _ = read_text(file, &format!("{}{c}{}", &text[..at], &text[next..]), None);
            }
        }
        for format in Format::ALL {
            let _ = read_text(file, text, Some(format.1));
        }
    }
}

#[test]
fn tokens_have_no_rules() {
    for text in ["%token a\n%%\ns : a ;\na : 'x' ;\n", "%%\ns : a ;\na : 'x' ;\n%token a\n"] {
        let error = read_text("g.y", text, None).expect_err("both a token and a rule");
        assert_eq!(error.message, "`a` is a token, so it cannot have rules", "{text}");
    }
}

#[test]
fn several_start_symbols_of_bison() {
    for start in ["%start a b", "%start a\n%start b", "%start a\n%token X\n%start a b"] {
        let text = format!("{start}\n%%\na : 'x' ;\nb : 'y' ;\n");
        let found = read_text("g.y", &text, None).expect("bison 3.8 allows it");
        assert!(
            found.notes.iter().any(|n| n.text.contains("`b` is a start rule too")),
            "{:?}",
            found.notes
        );
        assert!(accepts(&found.grammar, b"x"));
        let other = found.grammar.with_start("b").expect("a rule");
        assert!(accepts(&other, b"y"));
    }
    let error = read_text("g.y", "%start\n%%\na : 'x' ;\n", None).expect_err("no name");
    assert!(error.message.starts_with("expected the name of a rule"), "{error}");
}

#[test]
fn json_has_no_rules_without_alternatives() {
    let grammar = read("s = 'a' | t | u 'b' | /é|x/ ; t = 'c' t ; u = /(?-u:\\xff)/ ;");
    let (text, notes) = grammar_formats::to_bnf_json(&grammar);
    let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let rules = json.as_object().expect("an object");
    assert!(rules.values().all(|r| r.as_array().is_some_and(|a| !a.is_empty())), "{text}");
    assert!(!rules.contains_key("<t>") && !rules.contains_key("<u>"), "{text}");
    assert!(notes.contains(&"rule `t` derives no string and is left out".to_string()), "{notes:?}");
    let again = read_text("g.json", &text, None).expect("what was written").grammar;
    assert!(accepts(&again, b"a") && accepts(&again, b"x") && !accepts(&again, b"c"));
    let (nothing, notes) = grammar_formats::to_bnf_json(&read("s = 'a' s ;"));
    assert_eq!((nothing.as_str(), notes.len()), ("{}\n", 1));
}

#[test]
fn a_regular_expression_of_megabytes_is_refused() {
    let text = format!("s = /{}/ ;", "ab*".repeat(1 << 20));
    let error = read_text("g.tg", &text, None).expect_err("too long");
    assert!(error.message.contains("more than 1 MB"), "{error}");
}
