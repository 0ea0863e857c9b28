//! What ANTLR 4 grammars of the public collections use beyond rules and tokens.

use grammar::complete::Completer;
use grammar::language::Language;
use grammar::parse::Parser;
use grammar_formats::{Read, read_text};

const EVERYTHING: &str = r#"/** All of it. */
grammar Everything;
options { caseInsensitive = true; superClass = Base; }
tokens { INDENT, DEDENT }
channels { COMMENTS, OTHER }
@header { package a.b; /* } */ import x; }
@parser::members { boolean f() { return s.equals("}"); } char c = '}'; }
@lexer :: members { int x = 0; // }
}
prog [int a, String b] returns [int v, List<String> w] locals [int k = 0] throws E1, E2
options { k = 3; }
@init { $k = 1; } @after { foo(); }
  : s+=stat (s+=stat)* EOF # Whole
  ;
catch [RecognitionException e] { throw e; }
finally { done("}"); }
stat : x=expr[1, "a]"] ';' {System.out.println("}");} # ExprStat
     | 'let' ID '=' e=expr ';'                # Let
     | ('begin' | 'start') stat* 'end' ';'    # Block
     | {f()}? 'pred' ~('a' | ID)+ ';'         # Predicate
     | 'any' .*? ';'                          # Any
     ;
expr : <assoc=right> expr '^'<assoc=right> expr
     | '-' expr
     | expr op=('*'|'/') expr
     | expr ('+'|'-') expr
     | ID '(' (expr (',' expr)*)? ')'
     | INT | ID | STRING | CHAR | UNICODE | SURROGATES | '(' expr ')'
     ;
ID : LETTER (LETTER | [0-9_])* ;
INT : '0' 'x' HEX+ | [0-9]+ | '0b' ('0'..'1')+ ;
STRING : '"' ( '\\' . | ~["\\\r\n] )* '"' ;
CHAR : '\'' ~['\\\]\-] '\'' ;
UNICODE : '@' [\u{1F600}-\u{1F64F}\u00e9\p{Lu}\p{Script=Greek}]+ ;
SURROGATES : '$' ([\uD800-\uDBFF] [\uDC00-\uDFFF] | '\uD83D\uDE00') ;
fragment LETTER : [a-z] | ~[\u0000-\u007F\uD800-\uDBFF] { Character.isJavaIdentifierStart(_input.LA(-1)) }? ;
fragment HEX options { caseInsensitive = false; } : [0-9a-fA-F] ;
WS : [ \t\r\n\u000C]+ -> skip ;
NESTED : '/*' (NESTED | .)*? '*/' -> channel(COMMENTS) ;
LINE : '//' ~[\r\n]* ('\r'? '\n' | EOF) -> channel(HIDDEN) ;
"#;

const MODES: &str = r#"lexer grammar Modes;
OPEN : '"' -> more, pushMode(IN_STRING) ;
NUMBER : [0-9]+ ;
KEY : 'key' -> mode(ONLY_WORDS) ;
NAME : [a-z]+ -> type(WORD) ;
WS : ' ' -> skip ;
mode IN_STRING;
STRING : '"' -> popMode ;
PART : ('\\' . | ~["\\]) -> more ;
mode ONLY_WORDS;
WORD : [A-Z]+ ;
BACK : ';' -> mode(DEFAULT_MODE) ;
"#;

fn read(text: &str) -> Read {
    read_text("g.g4", text, None).unwrap_or_else(|e| panic!("{e}"))
}

fn check(text: &str, yes: &[&str], no: &[&str]) {
    let grammar = read(text).grammar;
    let mut parser = Parser::new(&grammar).expect("a parser");
    for input in yes {
        assert!(parser.check(input.as_bytes()).is_ok(), "{input} is a sentence");
    }
    for input in no {
        assert!(parser.check(input.as_bytes()).is_err(), "{input} is none");
    }
}

#[test]
fn everything_in_one_grammar() {
    check(
        EVERYTHING,
        &[
            "LET x = -3^2*4 + f(0xFF, \"a\\\"b\", 'a', @é😀Ω) ;",
            "/* a /* b */ c */ begin any 1 2 3; END; // the end",
            "b; // without a line end",
            "été(0b11);\r\n",
            "$😀;",
            "pred 1 2;",
        ],
        &["", "let = 1;", "pred b;", "f(,);", "'-';", "$a;", "0b12;;"],
    );
    let notes = read(EVERYTHING).notes;
    for what in ["action", "predicate", "labels", "`returns`", "`locals`", "arguments", "NESTED"] {
        assert!(notes.iter().any(|n| n.text.contains(what)), "{what} is named in a note");
    }
}

#[test]
fn modes_and_more() {
    check(
        MODES,
        &["\"a \\\" b\" 12 abc", "abc key", "1 key", "keys 1", "keyABC;abc"],
        &["\"open", "key1", "keyABC;;", "ABC"],
    );
    let grammar = read(MODES).grammar;
    let mut parser = Parser::new(&grammar).expect("a parser");
    let tree = parser.parse(b"\"a b\"1").expect("a tree");
    assert!(tree.render(&grammar, parser.core()).contains("STRING \"\\\"a b\\\"\""), "one token");
}

#[test]
fn completions_end_what_more_began() {
    let language = Language::new(read(MODES).grammar).expect("a language");
    let mut completer = Completer::new(&language).expect("a completer");
    for (prefix, rest) in
        [("12 \"a", "\""), ("\"", "\""), ("\"a\\", " \""), ("abc \"x\"", ""), ("keyA", "")]
    {
        let found =
            completer.complete(prefix.as_bytes()).map(|r| String::from_utf8_lossy(&r).into_owned());
        assert_eq!(found.as_deref(), Ok(rest), "{prefix}");
    }
    assert_eq!(completer.complete(b"1 %"), Err(2));
}

#[test]
fn completions_know_the_mode_they_are_in() {
    let tokens = "lexer grammar X; OPEN : '<' -> pushMode(IN) ; TEXT : ~[<]+ ;
        mode IN; CLOSE : '>' -> popMode ; NAME : [a-z]+ ; WS : ' ' -> skip ;";
    let rules = "parser grammar P; options { tokenVocab = X; } s : OPEN NAME NAME CLOSE TEXT EOF ;";
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("X.g4"), tokens).expect("a file");
    let file = folder.path().join("P.g4");
    std::fs::write(&file, rules).expect("a file");
    let grammar = grammar_formats::read_path(&file, None, None).expect("a grammar").grammar;
    let language = Language::new(grammar).expect("a language");
    let mut completer = Completer::new(&language).expect("a completer");
    for (prefix, rest) in
        [("<", "a a>a"), ("<b", " a>a"), ("<b ", "a>a"), ("<b c>", "a"), ("<b c> ", "")]
    {
        let found =
            completer.complete(prefix.as_bytes()).map(|r| String::from_utf8_lossy(&r).into_owned());
        assert_eq!(found.as_deref(), Ok(rest), "{prefix}");
    }
}

#[test]
fn unicode_properties() {
    check(
        r"grammar G; s : (A | B | C | D)+ EOF ; A : [\p{InCyrillic}] ; B : '(' [\P{Block=Basic_Latin}] ')' ;
          C : '!' [\p{Blk=Latin-1 Supplement}] ; D : '?' [\p{EmojiPresentation=EmojiDefault}] ;",
        &["яЖ", "(é)", "!÷", "?😀"],
        &["a", "(a)", "!a", "?1"],
    );
    let notes = read(r"grammar G; s : A ; A : 'a' | [\p{InNowhere}] ;").notes;
    let said: Vec<String> = notes.iter().map(ToString::to_string).collect();
    assert_eq!(said, ["g.g4:1:31: Unicode property `InNowhere` is not known and matches nothing"]);
}

#[test]
fn imports_of_imports() {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in [
        ("A", "grammar A; import B, D; s : b d EOF ; x : 'of A' ;"),
        ("B", "grammar B; import C; b : c N x ; x : 'of B' ; N : [0-9]+ ;"),
        ("C", "grammar C; c : 'c' ; x : 'of C' ; WS : ' ' -> skip ;"),
        ("D", "grammar D; d : 'd' ; N : [a-f]+ ;"),
    ] {
        std::fs::write(folder.path().join(format!("{name}.g4")), text).expect("a file");
    }
    let read =
        grammar_formats::read_path(&folder.path().join("A.g4"), None, None).expect("a grammar");
    let mut parser = Parser::new(&read.grammar).expect("a parser");
    assert!(parser.check(b"c 12 of A d").is_ok());
    for other in ["c 12 of B d", "c aa of A d", "c 12 of A"] {
        assert!(parser.check(other.as_bytes()).is_err(), "{other}");
    }
}

#[test]
fn missing_files_are_named_where_they_are_wanted() {
    let text = "parser grammar P;\noptions {\n  tokenVocab = Q;\n}\ns : A ;";
    let notes = read(text).notes;
    let said: Vec<String> = notes.iter().map(ToString::to_string).collect();
    assert_eq!(said, ["g.g4:3:16: Q was not found: tokens are written by their names"]);
    let error =
        read_text("g.g4", "grammar G;\nimport A = X,\n Y;\ns : 'a' ;", None).expect_err("no file");
    assert_eq!(error.to_string(), "g.g4:2:12: the imported grammar `X` was not found");
}

#[test]
fn mistakes_in_sets() {
    let error =
        read_text("g.g4", "grammar G; s : A ; A : [z-a] ;", None).expect_err("an empty range");
    assert_eq!(error.to_string(), "g.g4:1:24: the range z-a is empty");
}
