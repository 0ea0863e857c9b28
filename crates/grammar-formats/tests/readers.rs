//! What each notation means, and what it says about mistakes.

use grammar::Grammar;
use grammar::language::Language;
use grammar::parse::Parser;
use grammar_formats::{Format, read_path, read_text, to_bnf_json, to_tg};
use tempfile::TempDir;

fn read(file: &str, text: &str) -> Grammar {
    read_text(file, text, None).unwrap_or_else(|e| panic!("{e}")).grammar
}

fn error(file: &str, text: &str) -> String {
    match read_text(file, text, None) {
        Ok(_) => panic!("{file} was read"),
        Err(e) => e.to_string(),
    }
}

#[track_caller]
fn accepts(grammar: &Grammar, yes: &[&str], no: &[&str]) {
    let mut parser = Parser::new(grammar).expect("a lexer");
    for text in yes {
        assert!(parser.check(text.as_bytes()).is_ok(), "{text:?} should be accepted");
        assert!(parser.parse(text.as_bytes()).is_ok(), "{text:?} should have a tree");
    }
    for text in no {
        assert!(parser.check(text.as_bytes()).is_err(), "{text:?} should be refused");
        assert!(parser.parse(text.as_bytes()).is_err(), "{text:?} should have no tree");
    }
}

fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (file, text) in files {
        std::fs::write(folder.path().join(file), text).expect("a file");
    }
    folder
}

const TG: &str = r#"
# A small language
start list;
token NUM = /[0-9]+/;
token ID = /[a-z]+/;
skip /[ \n]+/;
list = item ("," item)* ;
item = NUM | ID | "if" item @2 | "<" list? ">" | ID{2,3} ;
"#;

#[test]
fn tarragon_notation() {
    let grammar = read("g.tg", TG);
    accepts(
        &grammar,
        &["1", "1, x", "if 12", "<>", "< a,b >", "a b", "a b c"],
        &["", "1 2", "if", "a b c d", "ifx y z w"],
    );
    assert_eq!(grammar.rules[1].alternatives[2].weight, 2.0);
}

#[test]
fn keywords_win_over_names_and_longest_match() {
    let grammar = read("g.tg", "token ID = /[a-z]+/; skip / /; s = \"if\" ID | ID ID ID;");
    accepts(&grammar, &["if x", "iff x y"], &["if if", "x if y"]);
}

#[test]
fn tarragon_mistakes() {
    assert_eq!(error("g.tg", "a = b ;"), "g.tg:1:5: `b` is used here but never defined");
    assert_eq!(error("g.tg", "a = \"x ;"), "g.tg:1:5: expected `\"` at the end of this string");
    assert_eq!(error("g.tg", "a = /[/ ;"), "g.tg:1:6: unclosed character class");
    assert_eq!(
        error("g.tg", "a = 'x'\nb = 'y' ;"),
        "g.tg:2:1: expected `;` before the definition of `b`"
    );
    assert_eq!(
        error("g.tg", "start a; start b; a = 'x'; b = 'y';"),
        "g.tg:1:10: there are two start rules, `a` and `b`; keep one `start` statement"
    );
    assert_eq!(
        error("g.tg", ""),
        "g.tg:1:1: there is no rule in this grammar, so there is no start rule"
    );
    assert_eq!(
        error("g.tg", "a = 'x'{3,2};"),
        "g.tg:1:8: expected `{m}`, `{m,}` or `{m,n}` up to 10000"
    );
    assert_eq!(error("g.tg", "a = 'x'; a = 'y';"), "g.tg:1:10: `a` is defined twice");
}

#[test]
fn terminals_that_match_the_empty_string() {
    let scannerless = read("g.tg", "s = /a*/ \"b\" /c?/ ;");
    accepts(&scannerless, &["b", "aab", "bc", "aabc"], &["", "a", "bcc"]);
    let read =
        read_text("g.tg", "token A = /a*/; skip / /; s = A \"b\";", None).expect("a grammar");
    assert!(read.notes[0].text.contains("empty string"));
    accepts(&read.grammar, &["aa b", "ab"], &["b"]);
}

#[test]
fn antlr_lexer_and_parser() {
    let lexer = "lexer grammar L;\nOPEN : '<' -> pushMode(IN) ;\nTEXT : ~'<'+ ;\nWS : ' ' -> skip \
                 ;\nmode IN;\n\
        NAME : [a-z]+ ; EQ : '=' ; CLOSE : '>' -> popMode ; S : [ \\n] -> channel(HIDDEN) ;\
        fragment X : 'x' ; CDATA : '/*' .*? '*/' ; END : '//' .*? ('\\n' | EOF) -> skip ;";
    let parser = "parser grammar P;\noptions { tokenVocab = L; }\ndoc : (TEXT | tag)* EOF ;\n\
        tag : '<' n=NAME (NAME '=' NAME)* CDATA? '>' {action();} ;";
    let folder = folder(&[("L.g4", lexer), ("P.g4", parser)]);
    let read = read_path(&folder.path().join("P.g4"), None, None).expect("a grammar");
    assert!(read.notes.iter().any(|n| n.text.contains("action")));
    accepts(
        &read.grammar,
        &["", "hello", "a<b>c", "<b c = d>", "<b /* > */ >", "<b//x\n>"],
        &["<", "<b", "<b=c>", "<b>>x<"],
    );
}

#[test]
fn antlr_combined() {
    let text = "grammar G;\nimport H;\ns : e EOF ;\ne : <assoc=right> e '^' e | e '*' e | e \
                ('+'|'-') e | '(' e ')' | ID | other ;\n\
        ID : [a-z\\u00e9\\p{Lu}]+ ; WS : [ \\t]+ -> skip ; C : '/*' (C | .)*? '*/' -> skip ;";
    let folder =
        folder(&[("G.g4", text), ("H.g4", "grammar H;\nother : '[' ~'!' ']' ;\nID : 'never' ;")]);
    let grammar = read_path(&folder.path().join("G.g4"), None, None).expect("a grammar").grammar;
    accepts(
        &grammar,
        &["a+b*c^d", "(a-é)*Z", "[a]", "[+]", "a /* x /* y */ */ + b"],
        &["", "a b", "[!]", "a+"],
    );
    let mut parser = Parser::new(&grammar).expect("a lexer");
    let tree = parser.parse(b"a+b*c").expect("a tree");
    let shown = tree.render(&grammar, parser.core());
    assert!(shown.starts_with("s #1\n  e #3\n    e #5\n"), "{shown}");
}

/// Precedence decides between trees, never about membership.
#[test]
fn suffixes_that_bind_loosely_are_operands_too() {
    let text = "grammar G; s : e EOF ; e : '-' e | e '*' e | <assoc=right> e '^' e | e '+' e | e \
                '?' | e '!' | 'x' ;";
    let grammar = read("g.g4", text);
    let mut parser = Parser::new(&grammar).expect("a lexer");
    let mut bare = grammar.clone();
    bare.rules.iter_mut().flat_map(|r| &mut r.alternatives).for_each(|a| a.prec = None);
    let mut plain = Parser::new(&bare).expect("a lexer");
    let symbols = b"-*^+?!x";
    for code in 0..symbols.len().pow(5) {
        let input: Vec<u8> =
            (0..5).map(|i| symbols[code / symbols.len().pow(i) % symbols.len()]).collect();
        let shown = String::from_utf8_lossy(&input);
        let expected = plain.check(&input).is_ok();
        assert_eq!(parser.check(&input).is_ok(), expected, "{shown}");
        assert_eq!(parser.parse(&input).is_ok(), expected, "{shown}");
    }
    let mut tree = |input: &[u8]| {
        let tree = parser.parse(input).expect("a tree");
        let shown = tree.render(&grammar, parser.core());
        let rules = shown.lines().filter(|l| l.trim().starts_with("e #"));
        rules.map(|l| l.trim().trim_start_matches("e ").to_string()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(tree(b"x*x?"), "#5 #2 #7 #7");
    assert_eq!(tree(b"x?*x"), "#2 #5 #7 #7");
}

#[test]
fn antlr_mistakes() {
    assert_eq!(error("g.g4", "grammar G; s : ( 'a' ;"), "g.g4:1:22: expected `)`, found `;`");
    assert_eq!(
        error("g.g4", "grammar G;\ns : t ;"),
        "g.g4:2:5: `t` is used here but never defined"
    );
    assert_eq!(
        error("g.g4", "grammar G; import X; s : 'a' ;"),
        "g.g4:1:19: the imported grammar `X` was not found"
    );
    assert_eq!(
        error("g.g4", "s : 'a' ;"),
        "g.g4:1:1: expected `grammar`, `lexer grammar` or `parser grammar`"
    );
}

const CALC_Y: &str = "%{ #include <x> %}\n%union { int i; }\n%token <i> NUM 300 \
                      \"number\"\n%token ID STRING END 0\n\
    %left '+' '-'\n%left '*'\n%right NEG\n%start input\n%%\n\
    input: %empty | input line ;\nline: exp '\\n' { print($1); } | error '\\n' { yyerrok; } ;\n\
    exp: NUM { $$ = $1; } | ID | STRING | exp '+' exp | exp '-' exp | exp '*' exp | '-' exp %prec \
    NEG | '(' exp ')' ;\n%%\ncode\n";
const CALC_L: &str = "%{\n%}\n%option noyywrap\n%x STR\nD [0-9]\n%%\n[ \\t]+ ;\n{D}+(\".\"{D}*)? \
                      { yylval = 1; return NUM; }\n\
    [[:alpha:]_]+ return ID;\n\\\" { BEGIN(STR); }\n<STR>[^\"\\n]+ { add(); }\n<STR>\\\" \
    { BEGIN(INITIAL); return STRING; }\n\
    \"/*\"([^*]|\"*\"+[^*/])*\"*\"+\"/\" /* comment */\n[-+*()\\n] { return yytext[0]; }\n<<EOF>> \
    return 0;\n. { bad(); }\n%%\n";

#[test]
fn bison_with_flex() {
    let folder = folder(&[("calc.y", CALC_Y), ("calc.l", CALC_L)]);
    let grammar = read_path(&folder.path().join("calc.y"), None, None).expect("a grammar").grammar;
    accepts(
        &grammar,
        &["", "1+2\n", "-(a*3.5) - \"x y\" /* c */\n", "a\nb\n"],
        &["1+2", "1 2\n", "\"a\n"],
    );
    let code = |name: &str| grammar.terminal(grammar.find_terminal(name).expect("a token")).code;
    assert_eq!(
        (code("NUM"), code("\"+\""), code("END")),
        (Some(300), Some(i64::from(b'+')), Some(0))
    );
    assert_eq!(code("ID"), Some(301));
    let mut parser = Parser::new(&grammar).expect("a lexer");
    let tree = parser.parse(b"1-2-3\n").expect("a tree").render(&grammar, parser.core());
    assert!(tree.contains("exp #5\n      exp #5\n"), "{tree}");
}

#[test]
fn bison_without_flex_and_mistakes() {
    let read = read_text("c.y", "%token A B\n%%\ns: A s B | ;\n", None).expect("a grammar");
    assert!(read.notes[0].text.contains("no scanner"));
    accepts(&read.grammar, &["", "A B", "A A B B"], &["A", "B A"]);
    assert_eq!(
        error("c.y", "%token A\ns: A;"),
        "c.y:2:2: expected a declaration that begins with `%`, or `%%`, found `:`"
    );
    assert_eq!(
        error("c.y", "%start t\n%%\ns: 'a';"),
        "c.y:1:1: there is no rule `t` to start with"
    );
    assert_eq!(error("c.y", "%%\ns: t;"), "c.y:2:4: `t` is used here but never defined");
}

#[test]
fn tree_sitter() {
    let text = r##"{"name":"x","word":"id","rules":{
        "file":{"type":"REPEAT","content":{"type":"SYMBOL","name":"item"}},
        "item":{"type":"CHOICE","members":[
            {"type":"PREC_LEFT","value":1,"content":{"type":"SEQ","members":[{"type":"STRING","value":"let"},{"type":"FIELD","name":"n","content":{"type":"SYMBOL","name":"id"}},{"type":"STRING","value":";"}]}},
            {"type":"SYMBOL","name":"outside"}]},
        "id":{"type":"PATTERN","value":"[a-z&]+\\/?"},
        "comment":{"type":"TOKEN","content":{"type":"SEQ","members":[{"type":"STRING","value":"#"},{"type":"PATTERN","value":".*"}]}}},
        "extras":[{"type":"PATTERN","value":"\\s"},{"type":"SYMBOL","name":"comment"}],
        "externals":[{"type":"SYMBOL","name":"outside"}],"conflicts":[["a"]]}"##;
    let read = read_text("grammar.json", text, None).expect("a grammar");
    let notes: Vec<&str> = read.notes.iter().map(|n| n.text.as_str()).collect();
    assert!(
        notes.iter().any(|n| n.contains("external scanner"))
            && notes.iter().any(|n| n.contains("conflicts"))
    );
    accepts(&read.grammar, &["", "let a;", "let x/; # c\nlet y;"], &["let", "a;"]);
}

#[test]
fn w3c_ebnf() {
    let text = "[1] doc ::= S? (word S?)* /* words */ [ wfc: none ]\n[2] word ::= [a-c#x64] Char+ \
                | \"x\" - \"y\" | <q> 'z'\n\
        Char ::= [#x61-#x7A] - [m-n]\nS ::= (#x20 | #x9)+\n<q> ::= \"\"\n";
    let read = read_text("g.ebnf", text, None).expect("a grammar");
    accepts(&read.grammar, &["", " ab", "x z", "daa "], &["am", "y", "e"]);
    assert!(read.notes.iter().any(|n| n.text.contains("constraint")));
    assert_eq!(
        error("g.ebnf", "a ::= (b"),
        "g.ebnf:1:9: expected `)` or `|`, found the end of the file"
    );
    assert_eq!(error("g.ebnf", "a = 'b'"), "g.ebnf:1:3: expected `::=`, found `=`");
}

#[test]
fn abnf() {
    let text = "; numbers\ndate = 4DIGIT \"-\" 1*2DIGIT [ \"z\" / %s\"T\" ]\n   *( WSP date \
                )\nname =/ %x41.42 / %d48-57\n";
    let grammar = read("g.abnf", text);
    accepts(
        &grammar,
        &["2024-1", "2024-12Z", "2024-12T 1999-9"],
        &["2024-123", "2024-12t", "24-1"],
    );
    assert_eq!(
        error("g.abnf", "a = %y12\n"),
        "g.abnf:1:5: expected `%x`, `%d`, `%b`, `%s\"` or `%i\"`"
    );
    assert_eq!(error("g.abnf", "a = b\n"), "g.abnf:1:5: `b` is used here but never defined");
}

#[test]
fn json_bnf() {
    let book = r#"{"<start>": ["<e>"], "<e>": ["<e> + <t>", ["<t>", {"prob": 0.9}]], "<t>": ["1", "<x>"]}"#;
    accepts(&read("g.json", book), &["1", "1 + 1", "<x> + 1"], &["", "1+1"]);
    let mutator = r#"{"<A>": [["a", "<B>"], []], "<B>": [["<A>", "b"]]}"#;
    accepts(&read("g.json", mutator), &["", "ab", "aabb"], &["a", "abab"]);
    let nautilus = r#"[["START", "\\{{EXPR}\\}"], ["EXPR", "1"], ["EXPR", "{EXPR}+{EXPR}"]]"#;
    accepts(&read("g.json", nautilus), &["{1}", "{1+1}"], &["1", "{}"]);
    assert!(error("g.json", "{\"a\": [1]}").contains("g.json:1:2: expected a string"));
    assert!(error("g.json", "{\"a\": ").starts_with("g.json:1:"));
}

#[test]
fn notations_are_recognised_by_content() {
    for (text, format) in [
        ("{\"<start>\": []}", Format::BnfJson),
        ("{\"rules\": {\"a\": {\"type\": \"BLANK\"}}}", Format::TreeSitter),
        ("%%\na: 'b';", Format::Bison),
        ("grammar X; a : 'b' ;", Format::Antlr),
        ("a ::= b", Format::W3c),
        ("a = \"b\" / c\n", Format::Abnf),
        ("a = \"b\" | c ;\n", Format::Tarragon),
    ] {
        assert_eq!(Format::detect("unknown", text), format, "{text}");
    }
}

fn strings(grammar: Grammar, max: usize) -> Vec<String> {
    let language = Language::new(grammar).expect("a language");
    let space = grammar::spaces::distinct(&language, max).expect("a space");
    let mut all = Vec::new();
    let _ = grammar::enumerate::Enumerator::new(&space).run(&0u32.into(), None, |found| {
        all.push(String::from_utf8_lossy(found.text).into_owned());
        std::ops::ControlFlow::Continue(())
    });
    all.sort();
    all
}

#[test]
fn converted_grammars_have_the_same_language() {
    let calc = "e = \"(\" e \")\" | e \"+\" e | \"-\" e | /[a-c]x?/ | t{1,2} @0.5 ; t = \"\\\"\" \
                | \"ü\" ;";
    for (file, text) in [
        ("g.tg", calc),
        ("g.ebnf", "a ::= (\"x\" | [p-q] a)* \"/\"?"),
        ("g.abnf", "a = *2\"k\" [a]\n"),
    ] {
        let before = strings(read(file, text), 5);
        let tg = to_tg(&read(file, text));
        assert_eq!(strings(read("out.tg", &tg), 5), before, "{tg}");
        let (json, _) = to_bnf_json(&read(file, text));
        assert_eq!(strings(read("out.json", &json), 5), before, "{json}");
    }
}

#[test]
fn converted_lexers_read_the_same_tokens() {
    let folder = folder(&[("calc.y", CALC_Y), ("calc.l", CALC_L)]);
    let tg =
        to_tg(&read_path(&folder.path().join("calc.y"), None, None).expect("a grammar").grammar);
    accepts(
        &read("out.tg", &tg),
        &["", "1+2\n", "-(a*3.5) - \"x y\" /* c */\n"],
        &["1+2", "1 2\n", "\"a\n"],
    );
    let tg = to_tg(&read("g.tg", TG));
    accepts(&read("out.tg", &tg), &["1, x", "if 12", "< a,b >", "a b c"], &["", "1 2", "a b c d"]);
}
