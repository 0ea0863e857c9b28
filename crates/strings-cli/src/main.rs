//! `tarragon solve` as a program of its own: it links neither LLVM nor Z3, so it starts at once.

fn main() -> std::process::ExitCode {
    strings_cli::run(std::env::args_os()).into()
}
