//! `tarragon c++` as one word, for build systems that want one. Installed as `tarragon-c++`, a name
//! that cargo does not give to programs.

use compiler::driver::{Language, run};

fn main() {
    std::process::exit(run(Language::Cxx, std::env::args_os().skip(1).collect()));
}
