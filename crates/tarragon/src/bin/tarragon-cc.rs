//! `tarragon cc` as one word, for build systems that want one.

use compiler::driver::{Language, run};

fn main() {
    std::process::exit(run(Language::C, std::env::args_os().skip(1).collect()));
}
