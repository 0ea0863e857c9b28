//! Input from several sources in one run: containers, their parts, grammars and seeds of one source.

mod common;

use common::{bugs, fuzz, tarragon};
use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;

/// Each source is compared with constants and with another source.
const COMPARED: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    char one[16] = "", two[16] = "", standard[16] = "";
    FILE *first = fopen(argv[1], "r"), *second = fopen(argv[2], "r");
    size_t size = fread(one, 1, 15, first);
    int got = read(0, standard, 15);
    if (!fgets(two, 15, second))
        return 1;
    if (size == 3 && memcmp(one, "abc", 3) == 0 && strcmp(two, "x=7\n") == 0) {
        if (got == 2 && standard[0] == one[1] && standard[1] == two[2] && fgetc(second) == EOF)
            if (strcmp(argv[3], "-v") == 0 && strcmp(getenv("MODE"), "on") == 0)
                abort();
    }
    return 0;
}
"#;
const EVERYWHERE: [&str; 4] = ["--source", "stdin", "--env", "MODE=@{}"];

fn run(command: &mut Command) -> String {
    let Output { stdout, stderr, .. } = command.output().expect("starts");
    String::from_utf8_lossy(&[stdout, stderr].concat()).into_owned()
}

fn first_file(folder: &Path) -> std::path::PathBuf {
    let mut files = std::fs::read_dir(folder).expect("a folder");
    files.next().expect("a file").expect("readable").path()
}

#[test]
fn each_source_has_its_own_bytes() {
    let dir = TempDir::new().expect("temporary directory");
    let options = [&EVERYWHERE[..], &["--max-runs", "5000", "--strategy", "whitebox"]].concat();
    let stats = fuzz(dir.path(), COMPARED, &[], &options, &["@@1", "@@2", "@{}"]);
    assert_eq!(bugs(&stats), ["SIGABRT (ABRT) in program.c:18:17 (main)"]);
    let plain = stats["bugs"][0]["plain"].as_str().expect("the program itself was asked");
    assert!(plain.contains("SIGABRT"), "{plain}");

    let crash = first_file(&dir.path().join("out/crashes"));
    let name = crash.file_name().expect("a name");
    let part = |source: &str| {
        std::fs::read(dir.path().join("out/parts/crashes").join(name).join(source)).expect("a part")
    };
    assert_eq!(
        (&*part("@@1"), &*part("@@2"), &*part("stdin")),
        (&b"abc"[..], &b"x=7\n"[..], &b"b7"[..])
    );
    assert_eq!((&*part("word1"), &*part("env:MODE")), (&b"-v"[..], &b"on"[..]));

    let again = |what: &str, options: &[&str], words: &[&str]| {
        let mut command = tarragon(dir.path());
        command.arg(what).arg(&crash).args(options).args(["--", "./program"]).args(words);
        run(&mut command)
    };
    let replayed = again("replay", &EVERYWHERE, &["@@1", "@@2", "@{}"]);
    assert!(replayed.contains("SIGABRT"), "{replayed}");
    let traced = again("trace", &EVERYWHERE, &["@@1", "@@2", "@{}"]);
    for part in ["on stdin 0 and @@1 1", "on the length of @@2", "on word1 0-2", "on env:MODE 0-2"]
    {
        assert!(traced.contains(part), "{part}: {traced}");
    }
    let other = again("replay", &["--source", "stdin"], &["@@1", "x", "-v"]);
    assert!(other.contains("stdin=255 @@1=255 @@2=255 env:MODE=255z word1=255z"), "{other}");
}

/// How long a source is can be asked in many ways, and hangs on nothing else.
const LENGTHS: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    struct stat status;
    FILE *file = fopen(argv[1], "r");
    int first = getchar(), count = 0;
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    while (getchar() != EOF)
        count++;
    if (stat(argv[2], &status) == 0 && status.st_size == 300)
        if (size == 5 && count == 6 && first == 'q')
            abort();
    return 0;
}
"#;

#[test]
fn each_source_has_its_own_length() {
    let dir = TempDir::new().expect("temporary directory");
    let options = [
        "--source",
        "stdin",
        "--source",
        "@@2=400",
        "--strategy",
        "whitebox",
        "--max-runs",
        "3000",
    ];
    let stats = fuzz(dir.path(), LENGTHS, &[], &options, &["@@1", "@@2"]);
    assert_eq!(bugs(&stats), ["SIGABRT (ABRT) in program.c:18:13 (main)"]);
}

/// Complete searches count the paths of all sources together.
const PATHS: &str = r#"
#include <stdio.h>
int main(int argc, char **argv)
{
    FILE *file = fopen(argv[1], "r");
    int a = getchar(), b = fgetc(file);
    if (a == 'x') {
        if (b == 'y')
            return 3;
        return 4;
    }
    if (a == EOF)
        return 5;
    if (a == b)
        return 6;
    return 7;
}
"#;

#[test]
fn all_paths_of_all_sources() {
    let dir = TempDir::new().expect("temporary directory");
    let bounds = ["--exhaustive", "--keep-by", "paths", "--max-runs", "500"];
    let options = [&bounds[..], &["--source", "stdin=1", "--source", "@@=1"]].concat();
    let stats = fuzz(dir.path(), PATHS, &[], &options, &["@@"]);
    assert_eq!(stats["completeness"]["complete"], true, "{stats}");
    let results = run(tarragon(dir.path()).args([
        "replay",
        "out",
        "--source",
        "stdin=1",
        "--source",
        "@@=1",
        "--",
        "./program",
        "@@",
    ]));
    for code in 3..=7 {
        assert!(results.contains(&format!("exit {code}")), "{code}: {results}");
    }
}

/// The file has to be a sentence, and the standard input is one of another grammar.
const SENTENCES: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned sum;

static int item(FILE *file)
{
    int c = fgetc(file);
    if (c == '<') {
        while ((c = item(file)) == 1)
            ;
        return c == 2 ? 1 : 0;
    }
    sum = sum * 33 + c;
    return c == '>' ? 2 : c == 'a' || c == 'b';
}

int main(int argc, char **argv)
{
    FILE *file = fopen(argv[1], "r");
    char line[64] = "";
    if (item(file) != 1 || fgetc(file) != EOF || sum % 101 != 17)
        return 1;
    if (fgets(line, sizeof line, stdin) && strncmp(line, "set ", 4) == 0 && line[4] == '7')
        abort();
    return 0;
}
"#;

#[test]
fn sources_have_grammars_and_seeds_of_their_own() {
    let dir = TempDir::new().expect("temporary directory");
    let write = |name: &str, text: &str| {
        std::fs::write(dir.path().join(name), text).expect("written");
    };
    write("file.tg", "start = item;\nitem = 'a' | 'b' | '<' item* '>';\n");
    write("stdin.tg", "start = word ' ' number;\nword = 'get' | 'set';\nnumber = /[0-9]+/;\n");
    write("seed", "get 1");
    let options = [
        "--source",
        "stdin",
        "--grammar",
        "@@=file.tg",
        "--grammar",
        "stdin=stdin.tg",
        "--seeds",
        "stdin=seed",
        "--max-runs",
        "30000",
    ];
    let stats = fuzz(dir.path(), SENTENCES, &[], &options, &["@@"]);
    assert_eq!(bugs(&stats), ["SIGABRT (ABRT) in program.c:27:9 (main)"]);
}

#[test]
fn what_cannot_be_is_said() {
    let dir = TempDir::new().expect("temporary directory");
    std::fs::write(dir.path().join("program.c"), PATHS).expect("written");
    let built = tarragon(dir.path()).args(["cc", "program.c", "-o", "program"]).status();
    assert!(built.expect("starts").success());
    let says = |options: &[&str], words: &[&str], expected: &str| {
        let mut command = tarragon(dir.path());
        command.args(["fuzz", "--max-runs", "1"]).args(options).args(["--", "./program"]);
        let output = command.args(words).output().expect("starts");
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && text.contains(expected), "{expected}: {text}");
    };
    says(&["--source", "@@2"], &["@@1"], "no argument of the program has @@2");
    says(&["--source", "stdim"], &["@@1"], "there is no source stdim");
    says(&["--source", "stdin=70000"], &["@@1"], "it must be 1 to 65535");
    says(&["--max-len", "9"], &["@@1", "@@2"], "--max-len is for inputs from one source");
    says(&["--fixed-len", "3"], &["@@1", "@@2"], "--fixed-len is for inputs from one source");
    says(&["--strategy", "grammar-random"], &["@@1", "@@2"], "there are several sources");
    says(&["--seeds", "@@3=program.c"], &["@@1", "@@2"], "there is no source @@3 here");
}
