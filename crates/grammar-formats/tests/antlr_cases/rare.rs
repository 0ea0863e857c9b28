//! What few grammars use, and corners of what many do.

use super::Case;

pub const CASES: &[Case] = &[
    Case {
        name: "set edges",
        grammar: r#"grammar A; s: A+ EOF; A: [\\\]] | [[] | [-] | [a-] | [--/] | [\-\^] | ['"];"#,
        yes: &[r#"\"#, "]", "[", "-", "a", "/", ".", "^", "'", r#"""#, "a-a"],
        no: &["b", r#"\b"#, ")"],
    },
    Case {
        name: "set of blanks and printables",
        grammar: r#"grammar A; s: (P|N)+ EOF; P: [ -~]; N: [\t\u{A}\r\f\b];"#,
        yes: &["a b~\t\n"],
        no: &["é", "\u{1}"],
    },
    Case {
        name: "negated code points",
        grammar: r#"grammar A; s: A EOF; A: ~[\u{0}-\u{7F}\u{10000}-\u{10FFFF}];"#,
        yes: &["é", "漢"],
        no: &["a", "😀"],
    },
    Case {
        name: "negated range of literals",
        grammar: r#"grammar A; s: A+ EOF; A: ~('a'..'y' | '\n' | [0-9] | '\u{1F600}');"#,
        yes: &["zA"],
        no: &["b", "5", "😀"],
    },
    Case {
        name: "loose plus in a token",
        grammar: "grammar A; s: (T|X)+ EOF; T: '<' .+? '>'; X: [a-z];",
        yes: &["<a>b<c>", "<>>"],
        no: &["<>", "<a"],
    },
    Case {
        name: "loose option in a token",
        grammar: "grammar A; s: A B? EOF; A: 'a' 'b'??; B: 'b';",
        yes: &["a", "ab"],
        no: &["b", "abb"],
    },
    Case {
        name: "loose plus in a rule",
        grammar: "grammar A; s: 'x' .+? 'y' EOF; A: 'a';",
        yes: &["xay", "xyy", "xaaay"],
        no: &["xy", "xa"],
    },
    Case {
        name: "loose option in a rule",
        grammar: "grammar A; s: 'if' (A 'else')?? A EOF; A: 'a'; WS: ' ' -> skip;",
        yes: &["if a", "if a else a"],
        no: &["if", "if else a"],
    },
    Case {
        name: "operators of all kinds",
        grammar: "grammar A; s: e EOF; e: ('-'|'!') e | e ('++'|'--') | e '[' e ']' | e '.' ID | \
                  e '(' (e (',' e)*)? ')' | <assoc=right> e '**' e | e ('*'|'/') e | e ('+'|'-') \
                  e | <assoc=right> e '?' e ':' e | <assoc=right> e ('='|'+=') e | ID | '(' e \
                  ')'; ID: [a-z]+; WS: [ ]+ -> skip;",
        yes: &["a = b += -c ? d ++ : e[f].g(h, i ** j)()", "- - a--", "a ? b : c ? d : e"],
        no: &["a ?b", "a b", "++", "a = ", "f(,a)"],
    },
    Case {
        name: "operators with a middle",
        grammar: "grammar A; s: e EOF; e: e 'between' e 'and' e | e 'in' '(' e (',' e)* ')' | e \
                  'is' 'not'? 'null' | 'not' e | 'case' ('when' e 'then' e)+ ('else' e)? 'end' | \
                  ID; ID: [a-z]; WS: ' ' -> skip;",
        yes: &[
            "a between b and c is not null",
            "not a in (b, c)",
            "case when a then b else c end is null",
        ],
        no: &["a between b", "a is not", "case end"],
    },
    Case {
        name: "rule modifiers and empty rules",
        grammar: "grammar A; s: a b EOF; public a: ; private b: 'b' | ; protected c: 'c';",
        yes: &["b", ""],
        no: &["c"],
    },
    Case {
        name: "actions with everything",
        grammar: r#"grammar A; @parser::header { import a; } @lexer::members { String q = "\"}"; char c = '\''; char d = '}'; }
s: { if (x['}'] != "{") { y(); } } 'a' { /* } */ // }
 } b[$x.text, a[0], "]"] EOF; b[int x, int[] y] returns [List<int[]> z] locals [int k = a[1]] @init { } : {a(b(), "}")}? 'b' ;"#,
        yes: &["ab"],
        no: &["a", "b"],
    },
    Case {
        name: "two catches",
        grammar: r#"grammar A; s: 'a' EOF; catch [A e] { x("}"); } catch [B e] { } finally { { } } t: 'b';"#,
        yes: &["a"],
        no: &["b"],
    },
    Case {
        name: "options of rules",
        grammar: "grammar A; s options { baseContext = t; k = 1; } : t EOF; t options{x=y;}: 'a' \
                  | ('b' 'c');",
        yes: &["a", "bc"],
        no: &["b"],
    },
    Case {
        name: "case in ranges",
        grammar: "lexer grammar A; options { caseInsensitive = true; } H: '0x' ('a'..'f' | \
                  [0-9])+; E options { caseInsensitive = false; } : 'é' [x-z]; U: 'ä';",
        yes: &["0XaF9", "éx", "Ä", "ä"],
        no: &["éX", "0xg", "É"],
    },
    Case {
        name: "more with a type",
        grammar: "lexer grammar A; tokens { STR } B: '`' -> more, pushMode(T); I: [a-z]+; mode T; \
                  E: '`' -> type(STR), popMode; D: '$' '{' -> more; C: ~[`$] -> more;",
        yes: &["`a${b`c", "a``"],
        no: &["`a", "`$`"],
    },
    Case {
        name: "nested modes",
        grammar: r#"lexer grammar A; O: '{' -> pushMode(DEFAULT_MODE); C: '}' -> popMode; Q: '"' -> pushMode(S); I: [a-z]+; mode S; X: '${' -> pushMode(DEFAULT_MODE); E: '"' -> popMode; T: ~["$]+;"#,
        yes: &[r#"a"B ${c"D ${e}"} F"g"#, "{a}"],
        no: &[r#""a${B}""#, "A"],
    },
    Case {
        name: "mode of two parts",
        grammar: "lexer grammar A; A: '<' -> mode(M); mode M; B: 'b'; mode N; C: 'c' -> mode(M); \
                  mode M; D: '>' -> mode(DEFAULT_MODE); E: 'e' -> mode(N);",
        yes: &["<b><becb>", "<ecb"],
        no: &["<c", "<eb"],
    },
    Case {
        name: "hidden in a mode",
        grammar: r#"lexer grammar A; A: 'a' -> pushMode(M); mode M; W: [ \t]+ -> channel(HIDDEN); N: '\n' -> skip, popMode; L: 'l';"#,
        yes: &["a l l\na", "a"],
        no: &["a a", " a"],
    },
    Case {
        name: "end in a token",
        grammar: r#"grammar A; s: (L NL)* EOF; L: [a-z]+; NL: '\r'? '\n' | EOF;"#,
        yes: &["a\nb", "a\n", "a"],
        no: &["\n", "aa\n\n"],
    },
    Case {
        name: "end in a rule twice",
        grammar: r#"grammar A; s: l* EOF; l: 'a' end; end: ';' | EOF | '\n';"#,
        yes: &["a;a", "a\na", "a"],
        no: &["aa"],
    },
    Case {
        name: "names of properties",
        grammar: r#"grammar A; s: (L|W|H|D|I)+ EOF; L: '1' [\p{Letter}]; W: '2' [\p{White_Space}]; H: '3' [\p{Han}]; D: '4' [\p{General_Category=Decimal_Number}]; I: '5' [\p{XID_Start}\p{Emoji}&&];"#,
        yes: &["1é", "2\u{a0}", "3漢", "4٣", "5a", "5😀", "5&"],
        no: &["11", "2a", "3a", "4a", "5-"],
    },
    Case {
        name: "negated properties",
        grammar: r#"grammar A; s: (A|B|C)+ EOF; A: 'a' ~[\p{L}]; B: 'b' [\P{Lu}]; C: 'c' ~[\P{Nd}];"#,
        yes: &["a1", "bx", "c7"],
        no: &["ax", "bX", "cx"],
    },
    Case {
        name: "literals before names",
        grammar: "grammar A; s: 'if' ID | ID '=' IF; IF: 'if'; ID: [a-z]+; WS: ' ' -> skip;",
        yes: &["if iff", "x = if"],
        no: &["if if", "if = if", "iff iff"],
    },
    Case {
        name: "tokens that use tokens",
        grammar: "grammar A; s: (NUM|ID)+ EOF; NUM: INT ('.' INT)?; ID: LETTER (LETTER|INT)*; \
                  INT: [0-9]+; LETTER: [a-z]; WS: ' ' -> skip;",
        yes: &["1.5 a1b", "12"],
        no: &["1.", ".5"],
    },
    Case {
        name: "fragments that nest",
        grammar: r#"grammar A; s: S+ EOF; S: '[' NEST* ']'; fragment NEST: '[' NEST* ']' | ~[[\]] ;"#,
        yes: &["[a[b]c][[[]]]"],
        no: &["[a", "[[]", "a"],
    },
    Case {
        name: "comments in every place",
        grammar: "grammar /*a*/ A /*b*/ ; // c\ns // d\n : /* ; */ 'a' // |\n /* # */ # L // e\n \
                  | 'b' # M /* f */ ; WS : ' ' /* g */ -> /* h */ skip // i\n ;",
        yes: &["a", " b"],
        no: &["ab"],
    },
    Case {
        name: "labels of blocks",
        grammar: "grammar A; s: (x=A | y=B)+ z+=(A|B) w+=C? v=. EOF; A: 'a'; B: 'b'; C: 'c';",
        yes: &["abab", "abca", "aaa"],
        no: &["ab", "acb"],
    },
    Case {
        name: "escapes in literals",
        grammar: r#"grammar A; s: (A|B|C)+ EOF; A: '\\\'' ; B: '\u0027\u{22}'; C: '\f\t\b' | '\\n' | '"';"#,
        yes: &[r#"\'"#, r#"'""#, "\u{c}\t\u{8}", r#"\n"#],
        no: &[r#"\"#, "'"],
    },
    Case {
        name: "tokens that may be empty",
        grammar: "grammar A; s: (A|B)* EOF; A: 'a'*; B: 'b';",
        yes: &["aab", "b", ""],
        no: &["c"],
    },
    Case {
        name: "predicates with options",
        grammar: r#"grammar A; s: {p("?}")}?<fail={"no"}> 'a' | {x == '{'}? 'b' | {{ nested {} }}? 'c';"#,
        yes: &["a", "b", "c"],
        no: &["d"],
    },
    Case {
        name: "alternatives of one token",
        grammar: "lexer grammar A; N: ('+'|'-')? D+ ('e' D+ | '.' D* ('e' [+-]? D+)?)? 'f'? -> \
                  type(NUM); fragment D: '0'..'9'; NUM: 'nan' | 'inf';",
        yes: &["-1.5e+3f", "naninf", "+1e5"],
        no: &["1e", "nana"],
    },
    Case {
        name: "a rule of the same letters",
        grammar: "grammar A; s: expr_1 Expr EXPR EOF; expr_1: 'x'; Expr: 'y'; EXPR: 'z'; eXPR: \
                  'w';",
        yes: &["xyz"],
        no: &["xzy"],
    },
];
