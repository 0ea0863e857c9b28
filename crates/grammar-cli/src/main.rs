//! `tarragon-grammar`: the sub-commands of `tarragon grammar` as a program of their own.

fn main() -> std::process::ExitCode {
    std::process::ExitCode::from(grammar_cli::run(std::env::args_os()))
}
