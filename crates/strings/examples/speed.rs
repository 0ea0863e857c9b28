//! Solves each file given on the command line and prints its verdict and the microseconds of
//! reading and solving.

use std::time::Instant;

use strings::{Answer, Budget, hmp};

fn main() {
    for path in std::env::args().skip(1) {
        let Ok(text) = std::fs::read(&path) else {
            eprintln!("{path}: cannot be read");
            continue;
        };
        let start = Instant::now();
        let read = hmp::read(&text, hmp::Options::default());
        let reading = start.elapsed();
        let verdict = match read {
            Err(error) => format!("error {error}"),
            Ok(mut problem) => match problem.solve(&mut Budget::default()) {
                Answer::Sat(_) => "sat".to_string(),
                Answer::Unsat => "unsat".to_string(),
                Answer::Unknown(stop) => format!("unknown {stop}"),
            },
        };
        let total = start.elapsed();
        println!("{path}\t{}\t{}\t{verdict}", reading.as_micros(), total.as_micros());
    }
}
