//! `tarragon solve FILE…`

use std::io::Read;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use strings::smtlib::{self, Response};
use strings::{Answer, Budget, Count, Problem, Stop, hmp};

use crate::output::{assignment, line, quoted};
use crate::{Args, BAD_FILE, BAD_USAGE, INTERNAL_ERROR, SAT, UNKNOWN, UNSAT};

/// Solves each file; the exit code is the highest.
pub fn files(args: &Args) -> u8 {
    args.files.iter().map(|path| file(args, path)).max().unwrap_or(SAT)
}

fn file(args: &Args, path: &Path) -> u8 {
    let text = match read(path) {
        Ok(text) => text,
        Err(error) => {
            eprintln!("tarragon solve: error: {}: {error}", path.display());
            return BAD_FILE;
        }
    };
    if args.files.len() > 1 && !args.json {
        line(format!("{}:", path.display()));
    }
    let start = Instant::now();
    if args.smt || path.extension().is_some_and(|extension| extension == "smt2") {
        return smtlib(args, path, &text);
    }
    let options = hmp::Options { template_size: args.size, ignore_sizes: args.unbounded };
    let problem = match hmp::read(&text, options) {
        Ok(problem) => problem,
        Err(error) => return wrong_file(args, path, &error),
    };
    let mut run = Run { args, path, problem, start, reading: start.elapsed() };
    let code = if args.count {
        run.count()
    } else if args.all {
        run.all()
    } else {
        run.one()
    };
    if args.files.last().is_some_and(|last| last == path) {
        // The process ends here: taking millions of states apart one by one would only overrun the
        // time limit.
        std::mem::forget(run.problem);
    }
    code
}

fn read(path: &Path) -> std::io::Result<Vec<u8>> {
    if path == Path::new("-") {
        let mut text = Vec::new();
        std::io::stdin().read_to_end(&mut text)?;
        return Ok(text);
    }
    std::fs::read(path)
}

fn wrong_file(args: &Args, path: &Path, error: &hmp::SyntaxError) -> u8 {
    eprintln!("{}:{error}", path.display());
    if args.json {
        line(
            json!({ "file": path.to_string_lossy(), "verdict": "error", "line": error.line, "column": error.column,
            "message": error.message }),
        );
    }
    BAD_FILE
}

/// Answers the commands of an SMT-LIB file; the exit code is that of the last verdict.
fn smtlib(args: &Args, path: &Path, text: &[u8]) -> u8 {
    if args.all || args.count {
        eprintln!("tarragon solve: error: --all and --count need a .hmp file");
        return BAD_USAGE;
    }
    let start = Instant::now();
    let responses = match smtlib::run(text, &mut Budget::until(deadline(args))) {
        Ok(responses) => responses,
        Err(error) => return wrong_file(args, path, &error),
    };
    let microseconds = start.elapsed().as_micros() as u64;
    let mut code = SAT;
    for response in responses {
        match response {
            Response::Text(text) => {
                if !args.json {
                    line(text);
                }
            }
            Response::Verdict(answer, names) => {
                code = verdict(args, path, &answer, &names, microseconds)
            }
        }
    }
    code
}

fn verdict(args: &Args, path: &Path, answer: &Answer, names: &[String], microseconds: u64) -> u8 {
    let (word, code) = match answer {
        Answer::Sat(_) => ("sat", SAT),
        Answer::Unsat => ("unsat", UNSAT),
        Answer::Unknown(stop) => ("unknown", code_of(stop)),
    };
    if !args.json {
        line(word);
        if let Answer::Unknown(stop) = answer {
            eprintln!("{}: unknown: {stop}", path.display());
        }
        return code;
    }
    let mut object = json!({ "file": path.to_string_lossy(), "verdict": word });
    match answer {
        Answer::Sat(words) => object["assignment"] = assignment(names, words),
        Answer::Unsat => {}
        Answer::Unknown(stop) => object["reason"] = json!(stop.to_string()),
    }
    object["microseconds"] = json!({ "total": microseconds });
    line(object);
    code
}

pub fn deadline(args: &Args) -> Option<Instant> {
    args.timeout.and_then(|timeout| Instant::now().checked_add(timeout))
}

/// The exit code of an answer that is neither sat nor unsat.
pub fn code_of(stop: &Stop) -> u8 {
    match stop {
        Stop::Unsupported(reason) if reason.starts_with("internal error") => INTERNAL_ERROR,
        _ => UNKNOWN,
    }
}

struct Run<'a> {
    args: &'a Args,
    path: &'a Path,
    problem: Problem,
    start: Instant,
    reading: Duration,
}

impl Run<'_> {
    fn names(&self) -> Vec<String> {
        self.problem.variables.iter().map(|variable| variable.name.clone()).collect()
    }

    fn one(&mut self) -> u8 {
        let answer = self.problem.solve(&mut Budget::until(deadline(self.args)));
        match &answer {
            Answer::Sat(words) => {
                let names = self.names();
                let checked = !self.problem.unchecked;
                self.report(
                    "sat",
                    json!({ "assignment": assignment(&names, words), "checked": checked }),
                );
                if !checked {
                    eprintln!(
                        "{}: the solution is too long to be checked again",
                        self.path.display()
                    );
                }
                if !self.args.json {
                    print_words(&names, words);
                }
                SAT
            }
            Answer::Unsat => {
                self.report("unsat", json!({}));
                UNSAT
            }
            Answer::Unknown(stop) => self.unknown(stop),
        }
    }

    fn count(&mut self) -> u8 {
        match self.problem.count(&mut Budget::until(deadline(self.args))) {
            Err(stop) => self.unknown(&stop),
            Ok(count) => {
                let text = match &count {
                    Count::Finite(number) => number.to_string(),
                    Count::Infinite => "infinite".to_string(),
                };
                let none = text == "0";
                self.report(if none { "unsat" } else { "sat" }, json!({ "count": text }));
                if !self.args.json {
                    line(text);
                }
                if none { UNSAT } else { SAT }
            }
        }
    }

    fn all(&mut self) -> u8 {
        let names = self.names();
        let limit = self.args.limit.unwrap_or(u64::MAX);
        let json = self.args.json;
        let mut found = Vec::new();
        let mut count = 0;
        let mut visit = |words: &[Vec<u8>]| {
            count += 1;
            if json {
                found.push(assignment(&names, words));
            } else if !print_solution(&names, words) {
                return ControlFlow::Break(());
            }
            if count == limit { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let result =
            self.problem.each_solution(&mut Budget::until(deadline(self.args)), &mut visit);
        if let Err(stop) = result {
            eprintln!("tarragon solve: not all solutions were found: {stop}");
            if json {
                self.report("unknown", json!({ "reason": stop.to_string(), "solutions": found }));
            }
            return code_of(&stop);
        }
        let verdict = if count == 0 { "unsat" } else { "sat" };
        if json || count == 0 {
            self.report(verdict, json!({ "solutions": found }));
        }
        if count == 0 { UNSAT } else { SAT }
    }

    fn unknown(&self, stop: &Stop) -> u8 {
        self.report("unknown", json!({ "reason": stop.to_string() }));
        if !self.args.json {
            line(format!("reason: {stop}"));
        }
        code_of(stop)
    }

    /// Prints the verdict, in JSON with all details.
    fn report(&self, verdict: &str, details: Value) {
        if !self.args.json {
            line(verdict);
            return;
        }
        let mut object = json!({ "file": self.path.to_string_lossy(), "verdict": verdict });
        if let (Some(all), Value::Object(details)) = (object.as_object_mut(), details) {
            all.extend(details);
            let total = self.start.elapsed();
            let times = json!({ "read": self.reading.as_micros() as u64, "total": total.as_micros() as u64 });
            all.insert("microseconds".to_string(), times);
        }
        line(object);
    }
}

fn print_words(names: &[String], words: &[Vec<u8>]) {
    for (name, word) in names.iter().zip(words) {
        line(format!("{name} = {}", quoted(word)));
    }
}

/// One solution on one line; false if nobody reads it.
fn print_solution(names: &[String], words: &[Vec<u8>]) -> bool {
    let parts: Vec<String> =
        names.iter().zip(words).map(|(name, word)| format!("{name} = {}", quoted(word))).collect();
    line(parts.join(", "))
}
