//! `tarragon unit` as a whole: a row for each path of a function, differences of two functions,
//! code that was compiled before, and what is said where that is not possible.

mod common;

use std::path::Path;
use std::process::Output;

use common::tarragon;
use serde_json::Value;
use tempfile::TempDir;

const PROGRAM: &str = r#"
#include <stdlib.h>
#include <string.h>
struct node { int value; struct node *next; };
struct flags { unsigned a : 3; int b : 4; };
static int level;
extern int message(int channel);

int bad_abs(int x)
{
    if (x < 0)
        return -x;
    if (x == 1234)
        return -x;
    return x;
}

static int hidden(int x) { return x == 77; }

int length(const struct node *list)
{
    int n = 0;
    for (; list; list = list->next)
        if (++n > 5)
            abort();
    return n;
}

int is_hi(const char *text) { return text && strcmp(text, "hi") == 0; }
int above(const int *a, size_t n)
{
    int found = 0;
    for (size_t i = 0; i < n; i++)
        if (a[i] > 1000)
            found++;
    return found;
}
int apply(int (*f)(int), int x) { if (f(x) == 7) return 1; return 3; }
int flag(struct flags f) { if (f.a == 5) return 1; if (f.b == -3) return 2; return 0; }
void half(short x, short *out) { if (x > 10) *out = x / 2; else exit(3); }
int raise_level(void) { if (level == 41) level++; return 0; }
int ask(int channel) { if (message(channel) < 0) return -1; return 0; }
int print(const char *format, ...) { return format != 0; }
"#;

const BUILT: &str = "\
    int least(int x, int y) { if (x < y) return x; return y; }\n\
    static int secret(int x) { return x + 1; }\n\
    int shown(int x) { return secret(x); }\n";

fn unit(dir: &Path, arguments: &[&str]) -> Output {
    let mut command = tarragon(dir);
    // The searches here end by themselves.
    let options = ["--out", "out", "--time", "60s", "--timeout", "10s"];
    command.arg("unit").args(options).args(arguments).output().expect("starts")
}

/// What the last line of `--json` says, and the exit code.
fn tested(dir: &Path, arguments: &[&str]) -> (Value, Option<i32>) {
    let _ = std::fs::remove_dir_all(dir.join("out"));
    let output = unit(dir, &[&["--json", "--sanitizer", "off"], arguments].concat());
    let text = String::from_utf8_lossy(&output.stdout);
    let last = text.lines().last().unwrap_or_default();
    let said = String::from_utf8_lossy(&output.stderr);
    (serde_json::from_str(last).unwrap_or_else(|_| panic!("{said}")), output.status.code())
}

fn error(dir: &Path, arguments: &[&str]) -> String {
    let _ = std::fs::remove_dir_all(dir.join("out"));
    let output = unit(dir, arguments);
    assert_eq!(output.status.code(), Some(2));
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn written(name: &str, text: &str) -> TempDir {
    let dir = TempDir::new().expect("temporary directory");
    std::fs::write(dir.path().join(name), text).expect("written");
    dir
}

fn function<'r>(results: &'r Value, name: &str) -> &'r Value {
    let all = results["functions"].as_array().expect("a list");
    all.iter().find(|function| function["name"] == name).unwrap_or_else(|| panic!("{name}"))
}

/// `arguments -> result`, or how the call ended otherwise; sorted.
fn rows(results: &Value, name: &str) -> Vec<String> {
    let function = function(results, name);
    // A call through a null pointer is one into code that is not followed.
    let is_complete = function["complete"] == true || name == "apply";
    assert!(is_complete, "{name}: {}", function["completeness"]);
    let row = |row: &Value| {
        let list = |key: &str| {
            let named = row[key].as_array().into_iter().flatten();
            named
                .map(|named| named["text"].as_str().unwrap_or_default())
                .collect::<Vec<_>>()
                .join(" ")
        };
        let outcome = &row["outcome"];
        let end = match outcome["kind"].as_str().unwrap_or_default() {
            "returned" => row["result"]["text"].as_str().unwrap_or("nothing").to_owned(),
            "exited" => format!("exit {}", outcome["code"]),
            "crashed" => outcome["signal"].as_str().unwrap_or_default().to_owned(),
            other => other.to_owned(),
        };
        let writes = row["writes"].as_array().into_iter().flatten();
        let writes: Vec<String> = writes
            .map(|write| format!(", {} = {}", write["target"], write["after"]).replace('"', ""))
            .collect();
        let inputs = [list("arguments"), list("globals"), list("made")];
        let inputs = inputs.iter().filter(|text| !text.is_empty()).cloned().collect::<Vec<_>>();
        format!("{} -> {end}{}", inputs.join("; "), writes.concat())
    };
    let mut rows: Vec<String> =
        function["paths"].as_array().expect("a list").iter().map(row).collect();
    rows.sort();
    rows
}

fn ends(rows: &[String]) -> Vec<&str> {
    let mut ends: Vec<&str> =
        rows.iter().map(|row| row.split(" -> ").nth(1).unwrap_or_default()).collect();
    ends.sort();
    ends
}

#[test]
fn functions_of_a_source_have_a_row_for_each_path() {
    let dir = written("program.c", PROGRAM);
    let (results, code) = tested(
        dir.path(),
        &["program.c", "--all", "--stub-externals", "--global", "level", "--depth", "3"],
    );
    assert_eq!(code, Some(1), "a list in a circle is a crash");
    assert_eq!(results["skipped"]["print"], "it takes a variable number of arguments");
    assert_eq!(results["stubs"][0], "int message(int)");

    let abs = rows(&results, "bad_abs");
    assert_eq!(abs.len(), 3, "{abs:?}");
    assert!(abs.contains(&"1234; 0 -> -1234".to_owned()), "the wrong one shows: {abs:?}");

    let lists = rows(&results, "length");
    assert_eq!(ends(&lists), ["0", "1", "2", "3", "SIGABRT"], "{lists:?}");
    assert!(lists.iter().any(|row| row.contains("(the same as list)")), "{lists:?}");

    let texts = rows(&results, "is_hi");
    assert!(texts.contains(&"\"hi\"; 0 -> 1".to_owned()), "{texts:?}");
    assert!(texts.contains(&"NULL; 0 -> 0".to_owned()), "{texts:?}");

    let arrays = rows(&results, "above");
    let four = arrays.iter().filter(|row| row.ends_with("-> 4")).count();
    assert_eq!(four, 1, "all four elements: {arrays:?}");
    assert!(arrays.iter().any(|row| row.starts_with("NULL") && row.ends_with("SIGSEGV")));

    let callbacks = rows(&results, "apply");
    assert_eq!(ends(&callbacks), ["1", "3", "SIGSEGV"], "{callbacks:?}");
    assert!(callbacks.iter().any(|row| row.ends_with("; 7 -> 1")), "{callbacks:?}");

    assert_eq!(ends(&rows(&results, "flag")), ["0", "1", "2"]);

    let outs = rows(&results, "half");
    assert!(outs.iter().any(|row| row.contains("-> nothing, *out = ")), "{outs:?}");
    assert!(outs.iter().any(|row| row.ends_with("-> exit 3")), "{outs:?}");

    let levels = rows(&results, "raise_level");
    assert_eq!(levels, ["0 -> 0", "41 -> 0, level = 42"]);

    assert_eq!(ends(&rows(&results, "ask")), ["-1", "0"]);

    let file = std::fs::read_to_string(dir.path().join("out/unit.json")).expect("written");
    let file: Value = serde_json::from_str(&file).expect("JSON");
    assert_eq!(file, results);
    let list = &function(&results, "length")["paths"];
    let two = list.as_array().expect("a list").iter().find(|row| row["result"]["c"] == "2");
    let objects = &two.expect("a list of two")["objects"];
    assert_eq!(
        objects[0]["declaration"],
        format!("struct node {}[1]", objects[0]["name"].as_str().expect("a name"))
    );
    let next = format!(".next = {}", objects[1]["name"].as_str().expect("a name"));
    assert!(objects[0]["c"].as_str().expect("C").contains(&next), "{objects}");
}

#[test]
fn conditions_bound_the_arguments_and_judge_the_results() {
    let dir = written("program.c", PROGRAM);
    let (results, code) = tested(
        dir.path(),
        &[
            "program.c",
            "--function",
            "bad_abs",
            "--function",
            "hidden",
            "--stub-externals",
            "--assume",
            "x > -100 && x < 2000",
            "--check",
            "result >= 0",
        ],
    );
    assert_eq!(code, Some(1));
    let abs = rows(&results, "bad_abs");
    assert_eq!(ends(&abs).iter().filter(|end| **end == "violated").count(), 1, "{abs:?}");
    assert_eq!(abs.len(), 3, "{abs:?}");
    assert!(abs.contains(&"1234 -> violated".to_owned()), "{abs:?}");
    assert!(!abs.iter().any(|row| row.contains("-2147")), "{abs:?}");
    assert_eq!(rows(&results, "hidden"), ["0 -> 0", "77 -> 1"], "a static function, a predicate");

    std::fs::remove_dir_all(dir.path().join("out")).expect("removed");
    let words =
        ["program.c", "--function", "flag", "--csv", "--stub-externals", "--sanitizer", "off"];
    let table = unit(dir.path(), &words);
    let table = String::from_utf8_lossy(&table.stdout);
    assert!(
        table.starts_with("function,path,arguments,result,writes,outcome\r\nflag,1,\"f = {a"),
        "{table}"
    );
}

/// The second mistake lies on a path that other inputs take well, too.
#[test]
fn bugs_that_only_sanitizers_see_have_rows() {
    let dir = written(
        "one.c",
        "int bad_abs(int x) { if (x < 0) return -x; if (x == 1234) return -x; return x; }\n",
    );
    let output = unit(dir.path(), &["one.c", "--function", "bad_abs", "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8_lossy(&output.stdout);
    let results: Value =
        serde_json::from_str(text.lines().last().unwrap_or_default()).expect("results");
    let abs = rows(&results, "bad_abs");
    assert_eq!(abs.len(), 4, "three paths, and the least number: {abs:?}");
    let paths = function(&results, "bad_abs")["paths"].as_array().expect("a list").clone();
    let reported: Vec<&Value> =
        paths.iter().filter(|row| row["outcome"]["reports"] != serde_json::json!([])).collect();
    assert_eq!(reported.len(), 1, "{paths:?}");
    assert_eq!(reported[0]["of_bug"], true);
    assert_eq!(reported[0]["arguments"][0]["text"], "-2147483648");
}

#[test]
fn two_functions_are_compared_on_the_same_arguments() {
    let dir = written(
        "one.c",
        "void fill(char *to, unsigned len) { for (unsigned i = 0; i < len; i++) to[i] = 'a'; }\n\
         double twice(double x) { if (x > 4) return 2 * x; return x + x; }\n",
    );
    std::fs::write(
        dir.path().join("two.c"),
        "void fill2(char *to, unsigned len) { for (unsigned i = 0; i < len; i++) to[i] = i == 2 ? \
            'b' \
         : 'a'; }\n\
         double twice2(double x) { if (x > 4) return x * 2.0000001; return x + x; }\n\
         int other(int x) { return x; }\n",
    )
    .expect("written");
    let against = |function: &str, other: &str, more: &[&str]| {
        let words = ["one.c", "--function", function, "--against", other, "--null", "off"];
        tested(dir.path(), &[&words, more].concat())
    };
    let (results, code) = against("fill", "two.c:fill2", &[]);
    assert_eq!(code, Some(1));
    let differ = &function(&results, "fill")["differences"]["memory"];
    assert_eq!(differ.as_array().map(Vec::len), Some(2), "arrays of three and four: {results}");
    let first = differ[0].as_u64().expect("a number") as usize - 1;
    let row = &function(&results, "fill")["paths"][first];
    assert_eq!(row["arguments"][1]["text"], "3", "the simplest comes first");
    assert_eq!(row["against"]["writes"][2]["after"], "'b'");

    let differs = |results: &Value| {
        function(results, "twice")["differences"].as_object().map(|groups| !groups.is_empty())
    };
    let (results, _) = against("twice", "two.c:twice2", &["--tolerance", "0"]);
    assert_eq!(differs(&results), Some(true), "{results}");
    let (results, code) = against("twice", "two.c:twice2", &["--tolerance", "1e-6"]);
    assert_eq!((differs(&results), code), (Some(false), Some(0)), "{results}");

    let text = error(dir.path(), &["one.c", "--function", "twice", "--against", "two.c:other"]);
    assert!(text.contains("other has another type"), "{text}");
}

#[test]
fn functions_of_an_archive_are_tested_without_sources() {
    let dir = written("built.c", BUILT);
    let built = tarragon(dir.path()).args(["cc", "-g", "-O2", "-c", "built.c"]).status();
    assert!(built.expect("starts").success());
    let archived = std::process::Command::new("llvm-ar-22")
        .current_dir(dir.path())
        .args(["rc", "libbuilt.a", "built.o"])
        .status();
    assert!(archived.expect("starts").success());
    std::fs::remove_file(dir.path().join("built.c")).expect("removed");
    for file in ["libbuilt.a", "built.o"] {
        let (results, code) = tested(dir.path(), &[file, "--function", "least"]);
        assert_eq!(code, Some(0), "{results}");
        assert_eq!(results["kind"], "objects");
        assert_eq!(function(&results, "least")["prototype"], "int least(int x, int y)");
        assert!(!rows(&results, "least").is_empty());
    }
}

/// They are opened in the bitcode, for only the object itself could call them.
#[test]
fn static_functions_of_objects_and_archives_are_tested() {
    const ONE: &str = "\
        extern int message(int);\n\
        static int limit = 7, twin;\n\
        static int secret(int x) { if (x == limit) return 42; return x > limit; }\n\
        static int asks(int x) { if (message(x) > 3) return 10; return 20; }\n\
        static int same(void) { return twin; }\n\
        int shown(int x) { return secret(x) + asks(x) + same(); }\n";
    const OTHER: &str = "static int same(void) { return 1; }\nint other(void) { return same(); }\n";
    const MAIN: &str = "static int low(int n) { if (n < 10) return 1; return 2; }\n\
        int main(int argc, char **argv) { return low(argc); }\n";
    let dir = written("one.c", ONE);
    for (name, text) in [("other.c", OTHER), ("main.c", MAIN)] {
        std::fs::write(dir.path().join(name), text).expect("written");
    }
    let built =
        tarragon(dir.path()).args(["cc", "-g", "-c", "one.c", "other.c", "main.c"]).status();
    assert!(built.expect("starts").success());
    let mut archiver = std::process::Command::new("llvm-ar-22");
    let archived =
        archiver.current_dir(dir.path()).args(["rc", "lib.a", "one.o", "other.o"]).status();
    assert!(archived.expect("starts").success());
    for file in ["one.o", "lib.a"] {
        let words = [file, "--function", "secret", "--function", "asks", "--global", "limit"];
        let (results, _) = tested(dir.path(), &[&words[..], &["--stub-externals"]].concat());
        assert_eq!(ends(&rows(&results, "secret")), ["0", "1", "42"], "{results}");
        assert!(rows(&results, "secret").iter().any(|row| row.contains("0; 0 -> 42")), "{results}");
        assert_eq!(ends(&rows(&results, "asks")), ["10", "20"], "{results}");
    }
    let (results, _) = tested(dir.path(), &["main.o", "--function", "low"]);
    assert_eq!(ends(&rows(&results, "low")), ["1", "2"]);
    let (results, _) = tested(dir.path(), &["lib.a", "--all", "--stub-externals"]);
    let names = results["functions"].as_array().into_iter().flatten().map(|one| &one["name"]);
    assert_eq!(names.collect::<Vec<_>>(), ["other", "secret", "asks", "shown"]);
    assert_eq!(
        results["skipped"]["same"],
        "several of the files have a static function of that name"
    );

    let text = error(dir.path(), &["one.o", "--function", "asks"]);
    assert!(text.contains("these functions have no body: message; add sources"), "{text}");
    let text = error(dir.path(), &["lib.a", "--function", "same", "--stub-externals"]);
    assert!(text.contains("same can mean several things"), "{text}");
    let text = error(dir.path(), &["main.o", "--function", "main"]);
    assert!(text.contains("the harness takes the place of main"), "{text}");
}

#[test]
fn functions_that_a_header_declares_are_tested() {
    const HEADER: &str = "struct item { int x; };\n\
        /* not hidden() */\n\
        int first(const struct item *i);\n\
        int nowhere(int);\n";
    const CODE: &str = "#include \"api.h\"\n\
        int first(const struct item *i) { if (i) return i->x; return -1; }\n\
        int hidden(int x) { return first(0) + x; }\n";
    let dir = written("api.h", HEADER);
    std::fs::write(dir.path().join("api.c"), CODE).expect("written");
    std::fs::write(dir.path().join("none.h"), "struct item;\n").expect("written");
    let built = tarragon(dir.path()).args(["cc", "-g", "-c", "api.c"]).status();
    assert!(built.expect("starts").success());
    for code in ["api.c", "api.o"] {
        let (results, _) = tested(dir.path(), &["api.h", "--all", "--", code]);
        assert_eq!(results["functions"].as_array().map(Vec::len), Some(1), "{results}");
        assert_eq!(rows(&results, "first").len(), 2, "{results}");
    }
    let text = error(dir.path(), &["api.h", "--function", "hidden", "--", "api.c"]);
    assert!(
        text.contains("declares no function hidden that is defined; it declares first"),
        "{text}"
    );
    for words in [&["none.h", "--all", "--", "api.c"][..], &["api.h", "--all"]] {
        let text = error(dir.path(), words);
        assert!(text.contains("declares no function that the files after -- define"), "{text}");
    }
}

#[test]
fn stubs_that_never_return_end_the_call() {
    const CODE: &str = "\
        extern __attribute__((noreturn)) void fail(const char *, ...);\n\
        extern const char table[4];\n\
        int check(int x) { if (x == 1) fail(\"%d\", x); return 5; }\n\
        #ifdef TABLE\n\
        int look(unsigned x) { return table[x & 3]; }\n\
        #endif\n";
    let dir = written("code.c", CODE);
    let words = ["code.c", "--function", "check", "--stub-externals"];
    let (results, _) = tested(dir.path(), &words);
    assert_eq!(ends(&rows(&results, "check")), ["5", "stopped"], "{results}");
    let text = error(dir.path(), &[&words[..], &["--", "-DTABLE"]].concat());
    assert!(text.contains("they may be variables: table; add the sources"), "{text}");
}

#[test]
fn of_an_object_in_cxx_functions_for_c_are_tested() {
    let dir =
        written("code.cc", "int f(int x) { return x; }\nextern \"C\" int g(int) { return 4; }\n");
    let built = tarragon(dir.path()).args(["c++", "-g", "-c", "code.cc"]).status();
    assert!(built.expect("starts").success());
    let (results, _) = tested(dir.path(), &["code.o", "--all"]);
    assert_eq!(results["functions"].as_array().map(Vec::len), Some(1), "{results}");
    assert_eq!(ends(&rows(&results, "g")), ["4"]);
    let text = error(dir.path(), &["code.o", "--function", "f"]);
    assert!(text.contains("of code.cc, which is C++, only functions that are extern"), "{text}");
}

/// But an array of characters after a number is a text.
#[test]
fn a_length_may_stand_right_before_its_array() {
    const CODE: &str = "\
        int many(int argc, char **argv)\n\
        { int found = 0; for (int i = 0; i < argc; i++) found += argv[i] != 0; return found; }\n\
        int first(int n, const char *s) { if (s[0] == 'x') return n; return 3; }\n";
    let dir = written("code.c", CODE);
    let (results, code) =
        tested(dir.path(), &["code.c", "--all", "--null", "off", "--text-len", "1"]);
    assert_eq!(code, Some(0), "{results}");
    assert_eq!(ends(&rows(&results, "many")), ["0", "1", "2", "3", "4"], "{results}");
    assert!(rows(&results, "first").iter().any(|row| row.contains("\"x\"")), "{results}");
}

/// A parameter may be called like the result or its type.
#[test]
fn conditions_tell_the_result_from_a_parameter_of_its_name() {
    let code = "typedef unsigned num;\nnum pick(int num, int result)\n\
        { if (num > 3) return result; return 2; }\n";
    let dir = written("code.c", code);
    let check = ["--check", "result == 2 || result_argument == result"];
    let (results, code) =
        tested(dir.path(), &[&["code.c", "--function", "pick"], &check[..]].concat());
    assert_eq!((code, rows(&results, "pick").len()), (Some(0), 2), "{results}");
    let check = ["--check", "result_argument == result"];
    let (_, code) = tested(dir.path(), &[&["code.c", "--function", "pick"], &check[..]].concat());
    assert_eq!(code, Some(1));
}

#[test]
fn narrow_bit_fields_have_their_sign() {
    const FIELDS: &str = r#"
    struct fields { signed char f : 4; };
    int get(struct fields of) { return of.f == -2; }"#;
    let dir = written("fields.c", FIELDS);
    let (results, _) = tested(dir.path(), &["fields.c", "--function", "get"]);
    assert!(rows(&results, "get").iter().any(|row| row.contains("f = -2")), "{results}");
}

#[test]
fn functions_of_a_linked_program_are_tested_where_they_are() {
    const MAIN: &str = r#"
    #include <stdlib.h>
    int twice(int x);
    static int limit = 7;
    static int classify(int n) {
      if (n == limit) abort();
      return n > limit;
    }
    static int same(int x) { return x == 5; }
    /* The harness uses the library's. */
    __attribute__((noinline)) static int write(int x) { return x; }
    int main(int argc, char **argv) {
      return twice(argc) + classify(argc) + same(argc) + write(argc);
    }"#;
    const REST: &str = r#"
    static int same(int x) { return x == 3; }
    int twice(int x) { return x == 77 ? same(x) : 2 * (x & 1023); }"#;
    let dir = written("rest.c", REST);
    std::fs::write(dir.path().join("main.c"), MAIN).expect("written");
    let mut cc = common::tarragon(dir.path());
    let built = cc.args(["cc", "-o", "program", "main.c", "rest.c"]).status();
    assert!(built.expect("starts").success());
    for name in ["main.c", "rest.c"] {
        std::fs::remove_file(dir.path().join(name)).expect("removed");
    }

    fn of<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
        [&["program"], arguments].concat()
    }
    let (results, code) = tested(dir.path(), &of(&["--function", "twice"]));
    assert_eq!((code, results["kind"].as_str()), (Some(0), Some("program")), "{results}");
    assert!(rows(&results, "twice").iter().any(|row| row.contains("77")), "{results}");
    let arguments = of(&["--function", "classify", "--global", "limit"]);
    let (results, code) = tested(dir.path(), &arguments);
    assert_eq!((code, rows(&results, "classify").len()), (Some(1), 3), "{results}");

    let mistakes = [
        (
            &["--function", "same"][..],
            "same can mean several things: what is static in main.c, rest.c, or",
        ),
        (&["--function", "main"], "the harness takes the place of main"),
        (&["--function", "twice", "--", "-DX"], "it takes no options after --"),
        (&["--function", "twice", "--against", "rest.c:same"], "without a file"),
    ];
    for (arguments, expected) in mistakes {
        let text = error(dir.path(), &of(arguments));
        assert!(text.contains(expected), "{text}");
    }
}

#[test]
fn what_cannot_be_tested_is_said() {
    let dir = written("program.c", PROGRAM);
    let of = |arguments: &[&str]| error(dir.path(), &[&["program.c"], arguments].concat());
    let text = of(&["--function", "bad_ab"]);
    assert!(text.contains("no function bad_ab is defined there; did you mean bad_abs?"), "{text}");
    let text = of(&["--function", "print"]);
    assert!(text.contains("print cannot be tested: it takes a variable number"), "{text}");
    let text = of(&["--function", "ask"]);
    assert!(text.contains("these functions have no body: message; add sources"), "{text}");
    let text = of(&["--function", "above", "--length", "a=m"]);
    assert!(text.contains("--length a=m: there is no parameter m that fits"), "{text}");
    let text = of(&["--function", "bad_abs", "--stub-externals", "--assume", "y > 0"]);
    assert!(text.contains("undeclared identifier 'y'"), "{text}");
    assert!(text.contains("are these conditions right C? y > 0"), "{text}");
    std::fs::write(
        dir.path().join("z.c"),
        "_Complex double twice(_Complex double z) { return z; }",
    )
    .expect("written");
    let text = error(dir.path(), &["z.c", "--function", "twice"]);
    assert!(text.contains("its parameter z has a type that cannot be made up"), "{text}");
    let text = of(&["--function", "bad_abs", "--global", "none"]);
    assert!(text.contains("there is no global variable none"), "{text}");
    let text = of(&["--function", "bad_abs", "--", "-DX=", "-include", "none.h"]);
    assert!(text.contains("the source does not compile:") && text.contains("none.h"), "{text}");
    std::fs::write(dir.path().join("x.cc"), "int f();").expect("written");
    let text = error(dir.path(), &["x.cc", "--function", "f"]);
    assert!(text.contains("x.cc is C++"), "{text}");
}
