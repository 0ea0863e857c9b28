//! The commands as scripts use them.

use std::io::{Read, Write};
use std::process::{Command, Output, Stdio};
use tempfile::TempPath;

const CALC: &str = "e = \"(\" e \")\" | e \"*\" e | e \"/\" e | e \"%\" e | e \"+\" e | e \"-\" e \
                    | e \"|\" e | e \"&\" e | \"-\" e | l | d ;\n\
    l = /[a-zA-Z]/ ; d = /[0-9]/ ;";

/// A file that is removed when the value goes out of scope.
fn file(name: &str, text: &str) -> TempPath {
    let path = tempfile::Builder::new().suffix(name).tempfile().expect("a file").into_temp_path();
    std::fs::write(&path, text).expect("a file");
    path
}

fn name(path: &TempPath) -> &str {
    path.to_str().expect("a plain path")
}

fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tarragon-grammar"));
    command.args(args);
    command
}

fn run(args: &[&str], input: &str) -> (i32, String, String) {
    let mut child = command(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let _ = child.stdin.take().expect("piped").write_all(input.as_bytes());
    let Output { status, stdout, stderr } = child.wait_with_output().expect("the program ends");
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (status.code().unwrap_or(-1), text(stdout), text(stderr))
}

#[test]
fn count() {
    let calc = file("calc.tg", CALC);
    let (code, out, _) = run(&["count", name(&calc), "--max-len", "4", "--json"], "");
    assert_eq!(
        (code, out.trim()),
        (0, r#"{"by_length":["62","62","27032","80910"],"total":"108066"}"#)
    );
    let (_, out, _) = run(&["count", name(&calc), "--max-len", "4", "--strings"], "");
    assert_eq!(out, "1\t62\n2\t62\n3\t27032\n4\t54002\ntotal\t81158\n");
    let (code, _, err) = run(&["count", name(&calc)], "");
    assert_eq!((code, err.as_str()), (2, "error: give --max-len N or --max-height H\n"));
}

#[test]
fn enumerate_in_parts() {
    let grammar = file("ab.tg", "s = 'a' s 'b' | s s | 'c' ;");
    let (_, whole, _) = run(&["enumerate", name(&grammar), "--max-len", "6"], "");
    let parts: String = (0..4)
        .map(|i| {
            run(&["enumerate", name(&grammar), "--max-len", "6", "--shard", &format!("{i}/4")], "")
                .1
        })
        .collect();
    assert_eq!(parts, whole);
    let (_, out, _) = run(&["enumerate", name(&grammar), "--max-len", "6", "--count-only"], "");
    assert_eq!(out.trim(), whole.lines().count().to_string());
    let (_, out, _) = run(&["enumerate", name(&grammar), "--max-height", "2", "-0"], "");
    assert_eq!(out, "c\0acb\0cc\0");
    let (_, out, _) =
        run(&["enumerate", name(&grammar), "--max-len", "6", "--from", "3", "--limit", "2"], "");
    assert_eq!(out, whole.lines().skip(3).take(2).map(|l| format!("{l}\n")).collect::<String>());
}

#[test]
fn symbolic_grammar_and_its_strings() {
    let calc = file("calc.tg", CALC);
    let (code, out, _) = run(&["symbolic", name(&calc)], "");
    assert_eq!(code, 0);
    assert!(
        out.contains("\"(\"         one       stays\n")
            && out.ends_with("/[0-9]/     finite    □\n"),
        "{out}"
    );
    let (_, json, _) = run(&["symbolic", name(&calc), "--json"], "");
    assert!(
        json.contains(r#"{"terminal":"/[0-9]/","lexemes":"finite","holes":[1],"filler":null}"#),
        "{json}"
    );
    let (_, whole, _) = run(&["symbolic", name(&calc), "--max-len", "3"], "");
    assert_eq!(whole, "□\n-□\n(□)\n--□\n□*□\n□/□\n□%□\n□+□\n□-□\n□|□\n□&□\n");
    let shard = |i| run(&["symbolic", name(&calc), "--max-len", "3", "--shard", i], "").1;
    assert_eq!([shard("0/3"), shard("1/3"), shard("2/3")].concat(), whole);
    let (_, out, _) = run(
        &["symbolic", name(&calc), "--max-len", "3", "--from", "2", "--limit", "1", "--json"],
        "",
    );
    assert_eq!(out, "{\"text\":\"(a)\",\"holes\":[[1,1]]}\n");
    let (_, out, _) =
        run(&["symbolic", name(&calc), "--max-len", "5", "--count", "--derivations"], "");
    assert_eq!(out, "1\t1\n2\t1\n3\t9\n4\t24\n5\t166\ntotal\t201\n");
    let (_, out, _) = run(&["symbolic", name(&calc), "--max-height", "3", "--count", "--json"], "");
    assert_eq!(out, "{\"by_height\":[\"0\",\"1\",\"9\"],\"total\":\"10\"}\n");
}

#[test]
fn what_terminals_become_can_be_said() {
    let words = file(
        "words.tg",
        "s = 'if' NAME | NAME ; token NAME = /[a-z]+/ ; token IF = 'if' ; skip /[ ]+/ ;",
    );
    let strings = |options: &[&str]| {
        let args = [&["symbolic", name(&words), "--max-len", "3"], options].concat();
        run(&args, "").1
    };
    let becomes = |options: &[&str]| run(&[&["symbolic", name(&words)], options].concat(), "").1;
    assert!(becomes(&[]).contains("NAME  infinite  □ | □□ | □a…a\n"), "{}", becomes(&[]));
    assert!(becomes(&["--bound", "NAME=1"]).contains("NAME  infinite  □\n"), "a bound is one");
    assert_eq!(strings(&[]), "□\n□□\nif □\n", "tokens that would merge are kept apart");
    assert_eq!(strings(&["--bound", "NAME=1"]), "□\nif □\n");
    assert_eq!(strings(&["--max-hole", "3"]), "□\n□□\nif □\n□□□\n");
    assert_eq!(strings(&["--coarsest"]), "□\n□□\n□□□\n");
    assert_eq!(strings(&["--keep", "NAME", "--limit", "3"]), "a\nb\nc\n");
    let (code, _, err) = run(&["symbolic", name(&words), "--keep", "NOTHING"], "");
    assert_eq!((code, err.trim()), (2, "error: there is no terminal `NOTHING`"));
    let (code, _, err) = run(&["symbolic", name(&words), "--bound", "NAME"], "");
    assert_eq!((code, err.trim()), (2, "error: --bound wants TERMINAL=N, not `NAME`"));
    let (code, _, err) = run(&["symbolic", name(&words), "--count"], "");
    assert_eq!((code, err.trim()), (2, "error: give --max-len N or --max-height H"));
}

#[test]
fn samples_are_the_same_for_a_seed_and_parse() {
    let calc = file("calc2.tg", CALC);
    for kind in [["--len", "9"], ["--size", "40"]] {
        let args = ["sample", name(&calc), "-n", "20", kind[0], kind[1], "--seed", "7", "--unique"];
        let (code, out, _) = run(&args, "");
        assert_eq!((code, out.lines().count()), (0, 20));
        assert_eq!(run(&args, "").1, out);
        assert_eq!(run(&["parse", name(&calc), "-"], out.lines().next().unwrap_or("")).0, 0);
    }
    let (_, out, _) = run(&["sample", name(&calc), "--k-path", "3"], "");
    assert!(!out.is_empty());
}

#[test]
fn parse_says_where_and_what() {
    let calc = file("calc3.tg", CALC);
    let (code, out, err) = run(&["parse", name(&calc), "-"], "1+\n2");
    assert_eq!((code, out.as_str()), (1, "-: no\n"));
    assert!(err.starts_with("-:1:3: expected ") && err.contains("found `\\n2`"), "{err}");
    let (code, out, _) = run(&["parse", name(&calc), "-", "--tree"], "-x");
    assert_eq!(
        (code, out.as_str()),
        (0, "e #9\n  \"-\" \"-\"\n  e #10\n    l #1\n      /[A-Za-z]/ \"x\"\n")
    );
    assert_eq!(run(&["parse", name(&calc), "-", "--count-trees"], "1+2+3").1, "2\n");
    assert_eq!(run(&["parse", name(&calc), "-", "--start", "d"], "7").0, 0);
    let (code, _, err) = run(&["parse", name(&calc), "-", "--start", "nothing"], "7");
    assert_eq!((code, err.trim()), (2, "error: there is no rule `nothing` to start with"));
}

#[test]
fn complete_mutate_cover_convert_check() {
    let calc = file("calc4.tg", CALC);
    assert_eq!(run(&["complete", name(&calc), "--prefix", "(1*("], "").1, "(1*(a))\n");
    assert_eq!(run(&["complete", name(&calc), "--prefix", "1)"], "").0, 1);
    let (_, out, _) = run(&["mutate", name(&calc), "-", "-n", "10"], "(1+2)*x");
    assert_eq!(out.lines().count(), 10);
    assert!(out.lines().all(|l| run(&["parse", name(&calc), "-"], l).0 == 0));
    let (_, out, _) = run(&["cover", name(&calc), "-", "--json"], "1+x");
    assert!(out.contains(r#""rules":{"covered":3,"all":3}"#), "{out}");
    let (_, json, _) = run(&["convert", name(&calc), "--to", "bnf-json"], "");
    let json = file("calc.json", &json);
    assert!(
        run(&["count", name(&json), "--max-len", "3", "--strings"], "")
            .1
            .ends_with("total\t27156\n")
    );
    let (_, out, _) = run(&["check", name(&calc)], "");
    assert!(
        out.contains("left-recursive e") && out.contains("80910 derivations but 54002 strings"),
        "{out}"
    );
}

#[test]
fn ambiguity_comes_with_an_example() {
    let dangling = file("else.tg", "s = 'i' s | 'i' s 'e' s | x ; x = 'x' ;");
    let (code, out, _) = run(&["check", name(&dangling), "--json"], "");
    let report: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    let found = &report["ambiguous"];
    assert_eq!((code, &found["sentence"], &found["rule"]), (0, &"iixex".into(), &"s".into()));
    assert_eq!(run(&["parse", name(&dangling), "-", "--count-trees"], "iixex").1, "2\n");
    let trees: Vec<&str> =
        found["trees"].as_array().expect("trees").iter().filter_map(|t| t.as_str()).collect();
    assert!(trees.len() == 2 && trees[0] != trees[1], "{trees:?}");
    let tree = run(&["parse", name(&dangling), "-", "--tree"], "iixex").1;
    assert!(trees.contains(&tree.as_str()), "{tree}");
    let cyclic = file("cyclic.tg", "s = t ; t = s | 'x' ;");
    let (_, out, _) = run(&["check", name(&cyclic)], "");
    assert!(
        out.contains("example       \"x\" has infinite trees, of which two differ in `s`"),
        "{out}"
    );
}

#[test]
fn inputs_of_antlr_grammars_need_not_be_utf8() {
    let grammar =
        file("latin.g4", "grammar Latin; s : WORD+ EOF ; WORD : ~[ ]+ ; WS : ' ' -> skip ;");
    let input = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(input.path(), b"caf\xe9 cr\xe8me").expect("a file");
    let (code, _, err) =
        run(&["parse", name(&grammar), input.path().to_str().expect("a path")], "");
    assert!(code == 0 && err.contains("read as Latin-1"), "{err}");
}

#[test]
fn long_literals_are_shown_short() {
    let grammar = file("long.tg", &format!("s = '{}' ;", "ab".repeat(10_000)));
    let (code, _, err) = run(&["parse", name(&grammar), "-"], "x");
    assert!(code == 1 && err.len() < 200, "{}", err.len());
}

#[cfg(unix)]
#[test]
fn shrinking_leaves_no_folder_behind() {
    let calc = file("calc10.tg", CALC);
    let temporary = tempfile::tempdir().expect("a folder");
    for (input, program) in [("1+2", "true"), ("1", "false"), ("1", "/no/such/program")] {
        let mut shrink = command(&["shrink", name(&calc), "-", "--", program]);
        let mut child = shrink
            .env("TMPDIR", temporary.path())
            .stdin(Stdio::piped())
            .spawn()
            .expect("it starts");
        child.stdin.take().expect("piped").write_all(input.as_bytes()).expect("it reads");
        child.wait().expect("it ends");
        let left = std::fs::read_dir(temporary.path()).expect("a folder").count();
        assert_eq!(left, 0, "{program}");
    }
}

#[test]
fn shrink_with_a_command() {
    let calc = file("calc5.tg", CALC);
    let (code, out, err) =
        run(&["shrink", name(&calc), "-", "--", "grep", "-q", "%x", "{}"], "(1+2)*(a-(3%x+b)*c)");
    assert_eq!((code, out.as_str()), (0, "%x"), "{err}");
    assert_eq!(run(&["shrink", name(&calc), "-", "--", "false"], "1").0, 1);
}

#[cfg(unix)]
#[test]
fn interrupting_an_enumeration_ends_cleanly() {
    let calc = file("calc6.tg", CALC);
    for extra in ["--count-only", "--null"] {
        let message = interrupt(&["enumerate", name(&calc), "--max-len", "9", extra]);
        assert_eq!(message, "interrupted: what was written is not all\n");
    }
}

/// Operations that do not look up from their work end as well, and say so.
#[test]
fn interrupting_tables_ends_with_a_message() {
    let calc = file("calc9.tg", CALC);
    for args in
        [["count", name(&calc), "--max-len", "200000"], ["sample", name(&calc), "--len", "200000"]]
    {
        assert_eq!(interrupt(&args), "interrupted\n", "{args:?}");
    }
}

/// Waits until a process has used so much processor time that it must be past its start.
fn wait_until_it_works(process: u32) {
    const ENOUGH: u64 = 30;
    let ticks = || -> u64 {
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).expect("a process");
        let fields = stat.rsplit(')').next().expect("fields after the name").split_whitespace();
        fields.skip(11).take(2).map(|field| field.parse::<u64>().expect("a number")).sum()
    };
    while ticks() < ENOUGH {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}

/// What a command that would take very long says when it is interrupted.
fn interrupt(args: &[&str]) -> String {
    let mut child = command(args)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    wait_until_it_works(child.id());
    let killed =
        Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill");
    assert!(killed.success());
    let mut message = String::new();
    child.stderr.take().expect("a pipe").read_to_string(&mut message).expect("text");
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
    message
}

#[test]
fn distinct_strings_by_height() {
    let calc = file("calc7.tg", CALC);
    let (code, out, _) = run(&["count", name(&calc), "--max-height", "3", "--strings"], "");
    assert_eq!((code, out.lines().last()), (0, Some("total\t27094")));
    let args = ["enumerate", name(&calc), "--max-height", "3", "--strings", "--count-only"];
    assert_eq!(run(&args, "").1, "27094\n");
}

#[test]
fn wrong_options_are_errors() {
    let calc = file("calc8.tg", CALC);
    for args in [
        vec!["check", name(&calc), "--format", "nothing"],
        vec!["convert", name(&calc), "--to", "nothing"],
        vec!["count", name(&calc)],
        vec!["enumerate", name(&calc), "--max-len", "2", "--shard", "2/2"],
        vec!["parse", name(&calc), "/no/such/input"],
        vec!["check", "/no/such/grammar.tg"],
    ] {
        let (code, out, err) = run(&args, "");
        assert_eq!((code, out.as_str()), (2, ""), "{args:?}: {err}");
        assert!(err.starts_with("error: "), "{args:?}: {err}");
    }
}

#[test]
fn a_command_that_hangs_is_not_interesting() {
    let calc = file("calc9.tg", CALC);
    let args = ["shrink", name(&calc), "-", "--timeout", "0.2", "--", "sleep", "1000"];
    assert_eq!(run(&args, "1").0, 1);
}

const SEXPR: &str = "s = '(' 'let' '(' '(' id s ')' ')' s ')' | '(' op s s ')' | num | id ; op = \
                     '+' | '-' ;\n\
    token num = /[0-9]+/ ; token id = /[a-z]+/ ; skip / +/ ;";

/// Figure 2 of the paper, with formals that may be empty.
const FUNCTION: &str = "decl = 'function' id '(' formals? ')' body ; body = '{' elem* '}' ; elem \
                        = decl ;\n\
    formals = id | id ',' formals ; token id = /[a-z]+/ ; skip / +/ ;";

fn solve(grammar: &str, tokens: &str) -> (i32, String) {
    let grammar = file("solve.tg", grammar);
    let (code, out, _) = run(&["solve", name(&grammar), "--tokens", tokens], "");
    (code, out.trim_end().to_string())
}

#[test]
fn solve_as_the_paper_does() {
    let (code, out) = solve(SEXPR, "{(} {+} {(} {(,num,id,let}");
    assert_eq!((code, out.as_str()), (0, "( + ( let ( ( id num ) ) num ) num )"));
    let (code, out) = solve(FUNCTION, "{function} {id} {(} !{)}");
    assert_eq!((code, out.as_str()), (0, "function id ( id ) { }"));
    assert_eq!(solve(FUNCTION, "{function} {id} !{(}"), (1, String::new()));
    assert_eq!(solve(FUNCTION, "").1, "function id ( ) { }");
}

#[test]
fn solve_reads_its_notation() {
    let function = |tokens: &str| solve(FUNCTION, tokens);
    let comma = (0, "function id ( id , id ) { }".to_string());
    assert_eq!(function("!{} !{} !{} !{} {','}"), comma);
    assert_eq!(function("!{}!{}!{}!{}{\\,}"), comma);
    assert_eq!(function("{ function } {'('} "), (1, String::new()));
    assert_eq!(function("!{} \"abc\"").1, "function abc ( ) { }");
    assert_eq!(function("!{} \"function\""), (1, String::new()), "a keyword is no identifier");
    assert_eq!(function("!{} !{} !{} !{} {'{',\\}}").1, "function id ( ) { }");
    assert_eq!(function("!{} !{} !{} !{} !{} !{'}'}").1, "function id ( id ) { }");
    assert_eq!(function("{} "), (1, String::new()));
}

#[test]
fn solve_knows_rules_of_single_tokens_and_regular_expressions() {
    assert_eq!(solve(SEXPR, "{(} {op}"), solve(SEXPR, "{(} {+,-}"));
    let matching = |grammar: &str, expression: &str| {
        let grammar = file("solve.tg", grammar);
        let (code, out, _) = run(&["solve", name(&grammar), "--expression", expression], "");
        (code, out.trim_end().to_string())
    };
    assert_eq!(matching(SEXPR, ".* {-} .*"), (0, "( - num num )".to_string()));
    let twice = matching(SEXPR, ".* {let} .* {let} .*");
    assert_eq!((twice.0, twice.1.matches("let").count()), (0, 2), "{twice:?}");
    assert_eq!(
        matching(FUNCTION, "!{','}* {','} (.{','})? {id} {)} .+").1,
        "function id ( id , id ) { }"
    );
    assert_eq!(matching(FUNCTION, "{function} {id} !{(} .*"), (1, String::new()));
    let grammar = file("solve.tg", SEXPR);
    for (expression, about) in
        [("({num}", "`)` is missing"), ("{num})", "closes nothing"), ("*", "before `*`")]
    {
        let (code, _, err) = run(&["solve", name(&grammar), "--expression", expression], "");
        assert!(code == 2 && err.contains(about), "{err}");
    }
}

#[test]
fn solve_says_what_is_wrong() {
    let grammar = file("solve.tg", FUNCTION);
    let error = |tokens: &str| {
        let (code, out, err) = run(&["solve", name(&grammar), "--tokens", tokens], "");
        assert_eq!((code, out.as_str()), (2, ""), "{err}");
        err
    };
    let unknown = error("!{} {fucntion}");
    assert!(
        unknown.starts_with(
            "error: --tokens: token 2: there is no terminal `fucntion`; the nearest are `function`"
        ),
        "{unknown}"
    );
    assert_eq!(error("{id"), "error: --tokens: token 1: the closing `}` is missing\n");
    assert_eq!(error("\"id"), "error: --tokens: token 1: the closing \" is missing\n");
    assert!(error("id").contains("expected a set"));
    assert!(error("{,}").contains("with a backslash"));
    assert!(error("{id id}").contains("expected `,` or `}` before `i`"));
    assert!(error("{id\\").contains("nothing follows the backslash"));
}

#[test]
fn solve_for_machines() {
    let grammar = file("solve.tg", SEXPR);
    let json = |tokens: &str| run(&["solve", name(&grammar), "--json", "--tokens", tokens], "");
    let (code, out, _) = json("{(} {-}");
    assert_eq!((code, out.trim()), (0, r#"{"tokens":["(","-","num","num",")"]}"#));
    let (code, out, err) = json("{(} {(}");
    assert_eq!((code, out.trim()), (1, r#"{"tokens":null}"#));
    assert_eq!(err, "none: no sentence begins with such tokens up to token 2\n");
    let (code, out, _) = run(&["solve", name(&grammar), "--start", "op", "--tokens", "!{+}"], "");
    assert_eq!((code, out.trim()), (0, "-"));
}

#[test]
fn json_everywhere() {
    let grammar = file("ab.tg", "s = 'a' s 'b' | '\\xff' | '\"' ;");
    let (_, out, _) = run(&["enumerate", name(&grammar), "--max-len", "3", "--json"], "");
    assert_eq!(out, "[255]\n\"\\\"\"\n[97,255,98]\n\"a\\\"b\"\n");
    let (_, out, _) =
        run(&["enumerate", name(&grammar), "--max-len", "3", "--json", "--count-only"], "");
    assert_eq!(out, "{\"count\":\"4\"}\n");
    let (code, out, err) = run(&["parse", name(&grammar), "-", "--json"], "a\"c");
    let wanted =
        r#"{"input":"-","sentence":false,"line":1,"column":3,"offset":2,"expected":["\"b\""]}"#;
    assert_eq!((code, out.trim(), err.as_str()), (1, wanted, ""));
    let (code, out, _) = run(&["parse", name(&grammar), "-", "--json", "--count-trees"], "a\"b");
    assert_eq!((code, out.trim()), (0, r#"{"input":"-","sentence":true,"trees":"1"}"#));
    let (code, out, _) = run(&["complete", name(&grammar), "--json", "--prefix", "a\""], "");
    assert_eq!((code, out.trim()), (0, r#"{"text":"a\"b","rest":"b"}"#));
    let (code, out, _) = run(&["complete", name(&grammar), "--json", "--prefix", "b"], "");
    assert_eq!((code, out.trim()), (1, r#"{"line":1,"column":1,"offset":0}"#));
}

#[test]
fn shrinking_ends_commands_that_hang_and_says_so_of_those_that_waver() {
    // Few candidates hang, so that the limit can be long enough for the others on any machine.
    let grammar = file("two.tg", "s = 'a' | 'b' 'c' ;");
    let input = file("two.txt", "bc");
    let hangs = "grep -q b {} || { sleep 1000 & wait; }";
    let args = ["shrink", name(&grammar), name(&input), "--timeout", "3", "--", "sh", "-c", hangs];
    let (code, out, _) = run(&args, "");
    assert_eq!((code, out.as_str()), (0, "b"));
    let grammar = file("list.tg", "s = i* ; i = 'a' | 'b' ;");
    let input = file("long.txt", "aaabaa");
    let once = tempfile::tempdir().expect("a folder");
    let wavers = format!("mkdir {}/$(wc -c <{{}})", once.path().display());
    let (code, _, err) =
        run(&["shrink", name(&grammar), name(&input), "--", "sh", "-c", &wavers], "");
    assert_eq!(code, 0);
    assert!(err.contains("does not answer the same every time"), "{err}");
}

#[test]
fn lengths_for_which_there_is_no_memory_are_refused() {
    let calc = file("calc.tg", CALC);
    let (code, out, error) = run(&["sample", name(&calc), "--len", "1000000000"], "");
    assert_eq!((code, out.as_str()), (2, ""));
    assert!(error.contains("GiB") && error.contains("--size"), "{error}");
}
