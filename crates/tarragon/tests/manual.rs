//! Completions and pages for `man` name all sub-commands and their options.

use std::process::{Command, Output};

fn tarragon(words: &[&str]) -> Output {
    let output = Command::new(env!("CARGO_BIN_EXE_tarragon")).args(words).output().expect("starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output
}

const COMMANDS: [&str; 13] = [
    "fuzz",
    "replay",
    "triage",
    "emit",
    "trace",
    "lexers",
    "variant",
    "grammar",
    "solve",
    "cc",
    "c++",
    "completions",
    "man",
];
const GRAMMAR: [&str; 12] = [
    "check",
    "count",
    "enumerate",
    "symbolic",
    "sample",
    "parse",
    "complete",
    "solve",
    "mutate",
    "shrink",
    "cover",
    "convert",
];
const OPTIONS: [&str; 4] = ["--exhaustive", "--max-height", "--k-path", "--unbounded"];

/// What shells call an option: some leave the dashes out.
fn bare(option: &str) -> &str {
    option.trim_start_matches('-')
}

#[test]
fn completions_name_all_commands() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = String::from_utf8(tarragon(&["completions", shell]).stdout).expect("text");
        for word in COMMANDS.iter().chain(&GRAMMAR).chain(&OPTIONS) {
            assert!(script.contains(bare(word)), "{word} for {shell}");
        }
    }
}

#[test]
fn bash_reads_its_completions_and_uses_them() {
    let script = "source <(\"$0\" completions bash); \
        COMP_WORDS=(tarragon grammar co); COMP_CWORD=2; \
        _tarragon tarragon co grammar; echo \"${COMPREPLY[@]}\"";
    let words = ["-c", script, env!("CARGO_BIN_EXE_tarragon")];
    let output = Command::new("bash").args(words).output().expect("bash");
    let (printed, errors) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let mut proposed: Vec<&str> = printed.split_whitespace().collect();
    proposed.sort_unstable();
    assert_eq!((proposed, errors.as_ref()), (vec!["complete", "convert", "count", "cover"], ""));
}

#[test]
fn every_command_has_a_page() {
    let directory = tempfile::tempdir().expect("a folder");
    tarragon(&["man", directory.path().to_str().expect("text")]);
    let page = |name: &str| {
        let text = std::fs::read_to_string(directory.path().join(format!("{name}.1")));
        text.unwrap_or_else(|error| panic!("{name}: {error}")).replace('\\', "")
    };
    let main = page("tarragon");
    for command in COMMANDS {
        let name = format!("tarragon-{command}");
        assert!(main.contains(&format!("{name}(1)")), "{name} in {main}");
        assert!(page(&name).contains(&format!("tarragon {command}")), "{name}");
    }
    for command in GRAMMAR {
        let text = page(&format!("tarragon-grammar-{command}"));
        assert!(text.contains(&format!("tarragon grammar {command}")), "{text}");
    }
    assert!(page("tarragon-fuzz").contains("--exhaustive"));
    assert!(page("tarragon-solve").contains("--unbounded"));
}
