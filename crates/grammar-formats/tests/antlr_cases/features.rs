//! What many grammars use.

use super::Case;

pub const CASES: &[Case] = &[
    Case {
        name: "ci file",
        grammar: "grammar A; options { caseInsensitive=true; } s: 'begin' ID 'end' EOF; ID: \
                  [a-c]+; WS: [ ]+ -> skip;",
        yes: &["BEGIN Abc eNd", "begin a end"],
        no: &["begin d end"],
    },
    Case {
        name: "ci rule off",
        grammar: "grammar A; options { caseInsensitive=true; } s: (KW|X)+ EOF; X options \
                  { caseInsensitive=false; } : 'x'; KW: 'kw';",
        yes: &["KWx"],
        no: &["KWX"],
    },
    Case {
        name: "ci rule on",
        grammar: "grammar A; s: (KW|X)+ EOF; X options { caseInsensitive=true; } : 'x' F; \
                  fragment F: 'q'; KW: 'kw';",
        yes: &["kwXq", "kwxq"],
        no: &["KWx", "kwxQ"],
    },
    Case {
        name: "ci not",
        grammar: "grammar A; options { caseInsensitive=true; } s: (N|L)+ EOF; N: ~[a-y0]; L: \
                  'a'..'c';",
        yes: &["Z", "aBC"],
        no: &["d", "D0"],
    },
    Case {
        name: "tokens",
        grammar: r#"grammar A; tokens { STR, NUM } s: NUM STR EOF; N: [0-9]+ -> type(NUM); Q: '"' ~'"'* '"' -> type(STR);"#,
        yes: &[r#"12"a""#],
        no: &[r#""a"12"#],
    },
    Case {
        name: "tokens trailing comma",
        grammar: "grammar A; tokens { STR, NUM, } s: NUM EOF; N: [0-9]+ -> type(NUM);",
        yes: &["12"],
        no: &["a"],
    },
    Case {
        name: "channels",
        grammar: "lexer grammar A; channels { C1, C2 } A: 'a'; B: 'b' -> channel(C1); C: 'c' -> \
                  channel(2); D: 'd' -> channel(HIDDEN); E : 'e' -> \
                  channel(DEFAULT_TOKEN_CHANNEL);",
        yes: &["abcde"],
        no: &["f"],
    },
    Case {
        name: "more",
        grammar: r#"lexer grammar A; Q: '"' -> more, mode(S); W: ' ' -> skip; mode S; T: '"' -> mode(DEFAULT_MODE); X: . -> more;"#,
        yes: &[r#""a b" "c""#],
        no: &[r#""a"#, "a"],
    },
    Case {
        name: "modes chain",
        grammar: "lexer grammar A; O: '{' -> pushMode(M), type(L); L: 'l'; mode M; C: '}' -> \
                  popMode; I: '{' -> type(L), pushMode(M); W: [a-z]+ -> channel(HIDDEN);",
        yes: &["l{a{b}c}l", "{a"],
        no: &["a", "l{L}"],
    },
    Case {
        name: "lexer pred",
        grammar: r#"grammar A; s: (RE|DIV|ID)+ EOF; RE: '/' {this.isRegexAllowed()}? ~[/\n]+ '/'; DIV: '/'; ID: [a-z]+; WS:' '->skip;"#,
        yes: &["a / b", "/a b/ c", "a / b / c"],
        no: &["/1"],
    },
    Case {
        name: "lexer action mid",
        grammar: r#"grammar A; s: A+ EOF; A: 'a' {count++;} 'b' { if (x > 0) { y("}"); } } ;"#,
        yes: &["abab"],
        no: &["a"],
    },
    Case {
        name: "clauses",
        grammar: r#"grammar A; s[int x, String y = "]"] returns [int v] locals [List<String> l = new ArrayList<>()] throws Foo, Bar @init { a = '}'; } @after { b(); } : a[1, foo(2)]? b EOF ; catch [Exception e] { x } finally { y } a[int z] : 'a'; b returns [int q]: 'b' {$q = 1;} ;"#,
        yes: &["ab", "b"],
        no: &["a"],
    },
    Case {
        name: "unicode",
        grammar: r#"grammar A; s: (E|U|G|N|P)+ EOF; E: '\u{1F600}' ; U: [\p{Lu}]+; G: [\p{Script=Cyrillic}]+; N: [\p{Nd}\-_]+; P: '(' [\P{L}]+ ')' ;"#,
        yes: &["😀AB", "я", "٣-_", "(12)"],
        no: &["a", "(a)"],
    },
    Case {
        name: "eof mid",
        grammar: r#"grammar A; s: x* ; x: 'a' (NL | EOF); NL: '\n';"#,
        yes: &["a\na", "a\n", ""],
        no: &["aa"],
    },
    Case {
        name: "eof alt",
        grammar: "grammar A; s: l+ EOF?; l: 'a' ';' | EOF;",
        yes: &["a;", ""],
        no: &["a"],
    },
    Case {
        name: "dot parser",
        grammar: "grammar A; s: 'x' . 'y' EOF; A: 'a'; B:'b';",
        yes: &["xay", "xxy", "xyy"],
        no: &["xy", "xaby"],
    },
    Case {
        name: "not parser",
        grammar: "grammar A; s: 'x' ~('y'|A)+ 'y' EOF; A: 'a'; B:'b';",
        yes: &["xby", "xbbxy"],
        no: &["xay", "xy"],
    },
    Case {
        name: "not single",
        grammar: "grammar A; s: ~A B EOF; A: 'a'; B:'b'; C: 'c';",
        yes: &["bb", "cb"],
        no: &["ab"],
    },
    Case {
        name: "assoc",
        grammar: r#"grammar A; e: <assoc=right> e '^' e | e ('*'|'/') e | e '+' e | '-' e | INT ; INT: [0-9]+; WS: [ \t]+ -> skip;"#,
        yes: &["1^2^3+4*-5"],
        no: &["1^", ""],
    },
    Case {
        name: "assoc old",
        grammar: "grammar A; e: e '^'<assoc=right> e | <assoc = right> e '?' e ':' e | INT ; INT: \
                  [0-9]+;",
        yes: &["1^2^3?4:5"],
        no: &["1^"],
    },
    Case {
        name: "bom crlf",
        grammar: "\u{feff}grammar A;\r\n// c\r\ns\r\n\t: 'a' // x\r\n\t| 'b'\r\n\t;\r\nWS\r\n\t: \
                  [ \\t\\r\\n]+ -> skip\r\n\t;\r\n",
        yes: &["a\r\n"],
        no: &["c"],
    },
    Case {
        name: "doc comments",
        grammar: "/** doc */ grammar A; /** r */ s /** x */ : /** y */ 'a' /* ' */ | /** z */ 'b' \
                  ; // ' end",
        yes: &["a", "b"],
        no: &["c"],
    },
    Case {
        name: "braces",
        grammar: r#"grammar A; @members { char c = '{'; String s = "{\"{"; /* { */ // {
 } s: 'a' { x("}}}"); '{' } 'b' {/* it's */} ;"#,
        yes: &["ab"],
        no: &["a"],
    },
    Case {
        name: "action apostrophe",
        grammar: "grammar A; s: 'a' { // don't
 foo(); } 'b' { /* can't { */ } ;",
        yes: &["ab"],
        no: &["a"],
    },
    Case {
        name: "empty alt",
        grammar: "grammar A; s: a b EOF; a: 'a' | ; b: | 'b' ; ",
        yes: &["", "ab", "b"],
        no: &["ba"],
    },
    Case {
        name: "empty alt block",
        grammar: "grammar A; s: ('a' |) ('b' | /* empty */ )? (| 'c') EOF; ",
        yes: &["", "abc", "b"],
        no: &["ba"],
    },
    Case {
        name: "frag rec",
        grammar: "grammar A; s: N+ EOF; N: '(' (N | ~[()])* ')' ;",
        yes: &["(a(b)c)", "((((((((a))))))))"],
        no: &["(a", "(()"],
    },
    Case {
        name: "nested comment",
        grammar: "grammar A; s: 'a'+ EOF; C: '/*' (C|.)*? '*/' -> channel(HIDDEN); WS: ' ' -> \
                  skip;",
        yes: &["a /* x /* y */ z */ a", "a /*/*/*/*/*/**/*/*/*/*/*/ a"],
        no: &["a */"],
    },
    Case {
        name: "nested comment2",
        grammar: "grammar A; s: 'a'+ EOF; C: '(*' (C | ~[(*] | '(' ~'*' | '*' ~')')* '*)' -> skip;",
        yes: &["a(* (* *) *)a"],
        no: &["a*)"],
    },
    Case {
        name: "nongreedy",
        grammar: "grammar A; s: (C|W)+ EOF; C: '<!--' .*? '-->'; W: [a-z]+; S: ' ' -> skip;",
        yes: &["a <!-- b --> c <!----> d"],
        no: &["--> a"],
    },
    Case {
        name: "nongreedy tail",
        grammar: r#"grammar A; s: (C|W)+ EOF; C: '"' .*? '"' 'x'?; W: [a-z]+;"#,
        yes: &[r#""a"xb"c"d"#],
        no: &[r#""a"#],
    },
    Case {
        name: "neg ranges",
        grammar: r#"grammar A; s: A+ EOF; A: ~[a-z\]\-\\\r\n\u0041-\u0043] | '\\' ['"\\nrt];"#,
        yes: &["D", r#"0\n"#, "^"],
        no: &["a", "A", "]", "-"],
    },
    Case {
        name: "dash set",
        grammar: r#"grammar A; s: A+ EOF; A: [a\-z] | [-+] | [0-9-] | [.\]];"#,
        yes: &["a-z", "+", "5-", "]", "."],
        no: &["b"],
    },
    Case {
        name: "caret set",
        grammar: "grammar A; s: A+ EOF; A: [^a];",
        yes: &["^", "a"],
        no: &["b"],
    },
    Case {
        name: "case names",
        grammar: "grammar A; s: a A EOF; a: 'x'; A: 'y'; Aa: 'z';",
        yes: &["xy"],
        no: &["xx"],
    },
    Case {
        name: "label kw",
        grammar: "grammar A; s: type=ID mode=ID (x+=ID)* rule_? EOF # lbl ; rule_: 'r' # l1 | 'q' \
                  # l2 ; ID: [A-Z]+; WS: ' ' -> skip;",
        yes: &["A B C r"],
        no: &["A"],
    },
    Case {
        name: "labels spaces",
        grammar: "grammar A; s: x = ID y += ID z = ( 'a' | 'b' ) w = ~ 'a' EOF ; ID: [A-Z]+; WS: \
                  ' ' -> skip;",
        yes: &["A B a b"],
        no: &["A B a a"],
    },
    Case {
        name: "elem opts",
        grammar: r#"grammar A; s: a<foo=bar> 'x'<a="b;c"> EOF; a: ID<node=X>; ID: [a-c]+;"#,
        yes: &["ax"],
        no: &["x"],
    },
    Case {
        name: "lexer alts cmds",
        grammar: r#"grammar A; s: (X|Y)+ EOF; X: 'x' -> type(Y) | 'xx' ; Y: 'y'; WS: ( ' ' | '\n' ) -> skip ;"#,
        yes: &["x xx y"],
        no: &["z"],
    },
    Case {
        name: "lexer paren cmd",
        grammar: r#"grammar A; s: X EOF; X: ('x' | 'z')+ ; C: ('#' ~[\n]*) -> channel ( HIDDEN ) ; WS: [ \n]+ -> skip ;"#,
        yes: &["xz # foo\n"],
        no: &["z x"],
    },
    Case {
        name: "range lit",
        grammar: r#"grammar A; s: X+ EOF; X: 'a'..'c' | '\u0030'..'\u0039' | '0' .. '9';"#,
        yes: &["abc012"],
        no: &["d"],
    },
    Case {
        name: "escapes",
        grammar: r#"grammar A; s: X+ EOF; X: '\\' | '\'' | '\t' | '\u00e9' | '\u{e8}' | '"' ;"#,
        yes: &[r#"\'	é"è"#],
        no: &["d"],
    },
    Case {
        name: "quote dbl",
        grammar: r#"grammar A; s: X+ EOF; X: ["'] | '[' | ']' | '\\]';"#,
        yes: &[r#""'[]"#],
        no: &["d"],
    },
    Case {
        name: "start not first",
        grammar: "grammar A; a: 'a'; file_: a+ EOF;",
        yes: &["aa"],
        no: &["b"],
    },
    Case {
        name: "mode default again",
        grammar: "lexer grammar A; A: 'a' -> mode(M); mode M; B: 'b' -> mode(DEFAULT_MODE); mode \
                  DEFAULT_MODE; C: 'c';",
        yes: &["abc"],
        no: &["b"],
    },
    Case {
        name: "opt lang",
        grammar: "grammar A; options \
                  { language = Java; superClass = 'Foo'; tokenVocab=Other; contextSuperClass=a.b.C; } s: 'a';",
        yes: &["a"],
        no: &["b"],
    },
    Case {
        name: "prequel order",
        grammar: "parser grammar A; @header {x} options { a=b; } tokens { T } @members { y } s: \
                  'a' B;",
        yes: &["a B", "aB"],
        no: &["b"],
    },
    Case {
        name: "hash in alt",
        grammar: "grammar A; s: 'a' #A | 'b' # B
 | 'c'#C ;",
        yes: &["a", "b", "c"],
        no: &["d"],
    },
    Case {
        name: "greedy opt",
        grammar: "grammar A; s: ('a' 'b'?? 'a'*? 'c'+?)+ EOF;",
        yes: &["abac", "ac"],
        no: &["b"],
    },
    Case {
        name: "gated pred",
        grammar: "grammar A; s: {x}? 'a' | {y}?=> 'b' | {z}?<fail='no'> 'c';",
        yes: &["a", "b", "c"],
        no: &["d"],
    },
    Case {
        name: "kw rules",
        grammar: "grammar A; s: grammar_ EOF; grammar_: 'g' | fragmentx | returnsx ; fragmentx: \
                  'f'; returnsx : 'r' ;",
        yes: &["g", "f", "r"],
        no: &["d"],
    },
    Case {
        name: "lexer eof",
        grammar: r#"grammar A; s: (A|L)+ EOF; A: 'a'; L: '//' ~[\n]* (EOF|'\n') ; WS: [ \n] -> skip;"#,
        yes: &["a // x", "a // x\na"],
        no: &["/"],
    },
    Case {
        name: "lexer label",
        grammar: "lexer grammar A; A: x='a' y+='b'+ ;",
        yes: &["ab"],
        no: &["b"],
    },
    Case {
        name: "catchall",
        grammar: "grammar A; s: 'a'+ EOF; ERR: . -> channel(HIDDEN);",
        yes: &["a%a"],
        no: &["%"],
    },
    Case {
        name: "paren nest",
        grammar: "grammar A; s: ((('a')*)+ | (('b')?)*) EOF;",
        yes: &["", "aa", "bb"],
        no: &["ab"],
    },
    Case {
        name: "unicode names",
        grammar: "grammar Ä; s: été EOF; été: Größe; Größe: 'g'; ÜB: 'ü';",
        yes: &["g"],
        no: &["ü"],
    },
    Case {
        name: "left rec indirect",
        grammar: "grammar A; s: e EOF; e: e '+' e | f; f: e '!' | 'x' ;",
        yes: &["x+x!+x!!"],
        no: &["!"],
    },
    Case {
        name: "java ident",
        grammar: r#"grammar A; s: I+ EOF; I: L LD*; fragment L: [a-zA-Z$_] | ~[\u0000-\u007F\uD800-\uDBFF] {Character.isJavaIdentifierStart(_input.LA(-1))}? | [\uD800-\uDBFF] [\uDC00-\uDFFF] {Character.isJavaIdentifierStart(1)}? ; fragment LD: [a-zA-Z0-9$_] | ~[\u0000-\u007F\uD800-\uDBFF]; WS:' '->skip;"#,
        yes: &["aé 𠀀x"],
        no: &["0"],
    },
    Case {
        name: "neg literal multi",
        grammar: r#"grammar A; s: (X|'ab')+ EOF; X: ~('a'|'b'|'\n'|[0-9]);"#,
        yes: &["c", "abc"],
        no: &["a", "5"],
    },
    Case {
        name: "skip action",
        grammar: r#"grammar A; s: 'a'+ EOF; WS: [ \n]+ { skip(); } ; C: '#' .*? '\n' {$channel=HIDDEN;} ;"#,
        yes: &["a a # x\na"],
        no: &["b"],
    },
    Case {
        name: "channel more cmds",
        grammar: "lexer grammar A; A: 'a' -> skip, pushMode(M) ; mode M; B: 'b' -> type(A), \
                  popMode; C: 'c' -> more, popMode;",
        yes: &["abab", "aca"],
        no: &["bb"],
    },
];
