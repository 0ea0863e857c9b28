//! The frameworks: one row each, and a template.

use crate::Suite;
use crate::literal::{c_string, java_string, python_bytes, rust_bytes, shell_format};
use crate::literal::{c_text, java_text, python_text, rust_text, shell_word};
use crate::names::camel;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framework {
    /// A C program that is its own test runner.
    C,
    /// GoogleTest, in C++.
    Gtest,
    /// Criterion, in C.
    Criterion,
    /// An integration test of cargo, or of rustc alone.
    Rust,
    /// A script of a POSIX shell that prints TAP.
    Shell,
    Pytest,
    /// JUnit 5, in Java.
    Junit,
}

impl Framework {
    pub const ALL: [Framework; 7] = [
        Framework::C,
        Framework::Gtest,
        Framework::Criterion,
        Framework::Rust,
        Framework::Shell,
        Framework::Pytest,
        Framework::Junit,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Framework::C => "c",
            Framework::Gtest => "gtest",
            Framework::Criterion => "criterion",
            Framework::Rust => "rust",
            Framework::Shell => "shell",
            Framework::Pytest => "pytest",
            Framework::Junit => "junit",
        }
    }

    /// The file of the tests, as the framework or the language wants it.
    pub(crate) fn file(self, name: &str) -> String {
        match self {
            Framework::C | Framework::Criterion => format!("{name}_test.c"),
            Framework::Gtest => format!("{name}_test.cc"),
            Framework::Rust => format!("{name}_test.rs"),
            Framework::Shell => format!("{name}_test.sh"),
            Framework::Pytest => format!("test_{name}.py"),
            Framework::Junit => format!("{}Test.java", camel(name)),
        }
    }

    /// What the help says.
    pub fn about(self) -> &'static str {
        match self {
            Framework::C => "A C program that runs its tests itself",
            Framework::Gtest => "GoogleTest, in C++",
            Framework::Criterion => "The Criterion framework, in C",
            Framework::Rust => "An integration test for cargo or rustc",
            Framework::Shell => "A script for any POSIX shell, which prints TAP",
            Framework::Pytest => "pytest",
            Framework::Junit => "JUnit 5, in Java",
        }
    }

    /// How to build and run the tests, from where the program is found.
    pub fn commands(self, suite: &Suite) -> Vec<String> {
        let Suite { name, directory, .. } = suite;
        let file = plain_word(&format!("{directory}/{}", self.file(name)));
        let built = |compiler: &str, libraries: &str| {
            vec![format!("{compiler} -o {name}_test {file}{libraries} && ./{name}_test")]
        };
        match self {
            Framework::C => built("cc", ""),
            Framework::Gtest => built("c++ -std=c++17", " -lgtest -lgtest_main -pthread"),
            Framework::Criterion => built("cc", " -lcriterion"),
            Framework::Rust => built("rustc --edition 2021 --test", ""),
            Framework::Shell => vec![format!("sh {file}")],
            Framework::Pytest => vec![format!("pytest {file}")],
            Framework::Junit => {
                let jar = "junit-platform-console-standalone.jar";
                vec![
                    format!("javac -cp {jar} -d classes {file}"),
                    format!("java -jar {jar} -cp classes --scan-classpath"),
                ]
            }
        }
    }

    /// How the language writes a byte string.
    pub(crate) fn literal(self) -> fn(&[u8]) -> String {
        match self {
            Framework::C | Framework::Gtest | Framework::Criterion => c_string,
            Framework::Rust => rust_bytes,
            Framework::Shell => shell_format,
            Framework::Pytest => python_bytes,
            Framework::Junit => java_string,
        }
    }

    /// How the language writes a text.
    pub(crate) fn text(self) -> fn(&str) -> String {
        match self {
            Framework::C | Framework::Gtest | Framework::Criterion => c_text,
            Framework::Rust => rust_text,
            Framework::Shell => shell_word,
            Framework::Pytest => python_text,
            Framework::Junit => java_text,
        }
    }

    pub(crate) fn template(self) -> &'static str {
        match self {
            Framework::C => include_str!("templates/c.j2"),
            Framework::Gtest => include_str!("templates/gtest.j2"),
            Framework::Criterion => include_str!("templates/criterion.j2"),
            Framework::Rust => include_str!("templates/rust.j2"),
            Framework::Shell => include_str!("templates/shell.j2"),
            Framework::Pytest => include_str!("templates/pytest.j2"),
            Framework::Junit => include_str!("templates/junit.j2"),
        }
    }
}

/// A word of a shell, in quotes only if it needs them.
pub(crate) fn plain_word(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+=".contains(c);
    if word.chars().all(is_plain) { word.to_owned() } else { shell_word(word) }
}
