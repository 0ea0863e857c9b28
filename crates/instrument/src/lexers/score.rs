//! How much a candidate looks like a lexer, with a sentence for each reason.

use super::Candidate;
use super::delivery::Route;
use super::program::{Program, name};
use super::shape;
use crate::llvm::Value;

/// Candidates with fewer points are not proposed.
pub const LOWEST: i32 = 55;

/// Ends of the names of tables in which the parsers of bison and byacc look tokens up.
const TOKEN_TABLES: [&str; 2] = ["yytranslate", "yycheck"];

/// By result is how most lexers deliver; it wins where the same number is also kept somewhere.
const RESULT_POINTS: i32 = 10;

/// For a name that speaks of going on.
const NEXT_POINTS: i32 = 5;

pub struct Score {
    pub points: i32,
    pub reasons: Vec<String>,
}

impl Score {
    pub fn of(candidate: &Candidate, program: &Program, all: &[Candidate]) -> Score {
        let mut score = Score { points: 0, reasons: Vec::new() };
        score.name(candidate);
        score.tokens(candidate);
        score.tables(candidate);
        score.input(candidate, program);
        score.inside(candidate);
        score.callers(candidate, program);
        score.others(candidate, all);
        score
    }

    fn add(&mut self, points: i32, reason: String) {
        self.points += points;
        self.reasons.push(reason);
    }

    fn name(&mut self, candidate: &Candidate) {
        let name = name(candidate.function);
        match name_points(&name) {
            0 => {}
            NEXT_POINTS => self.add(NEXT_POINTS, format!("The name {name} speaks of going on.")),
            points => self.add(points, format!("The name {name} is one that lexers have.")),
        }
        self.points += if candidate.route == Route::Result { RESULT_POINTS } else { 0 };
    }

    fn tokens(&mut self, candidate: &Candidate) {
        let readers: Vec<Value> = candidate.uses.readers.keys().copied().collect();
        let tokens = candidate.tokens_in(&readers);
        if tokens > 0 {
            let points = (8.0 * (1.0 + tokens as f64).log2()).min(48.0);
            let (what, who) =
                (counted(tokens, "constant"), counted(readers.len(), "other function"));
            let reason = format!("It delivers {what} with which {who} compare what it delivers.");
            self.add(
                points as i32,
                if readers.len() == 1 { reason.replace("compare ", "compares ") } else { reason },
            );
        }
    }

    fn tables(&mut self, candidate: &Candidate) {
        let tables = &candidate.uses.tables;
        let known =
            tables.iter().find(|table| TOKEN_TABLES.iter().any(|known| table.ends_with(known)));
        if let Some(table) = known {
            self.add(
                35,
                format!(
                    "What it delivers is looked up in {table}, the table of a generated parser."
                ),
            );
        } else if let Some(table) = tables.first() {
            self.add(5, format!("What it delivers is looked up in the constant table {table}."));
        }
    }

    fn input(&mut self, candidate: &Candidate, program: &Program) {
        let moves_on = shape::moves_on(program, candidate.function);
        if moves_on {
            self.add(15, "It reads bytes, and moves on in what it reads from.".to_owned());
        }
        if let Some(input) = shape::input_function(program, candidate.function) {
            self.add(if moves_on { 10 } else { 15 }, format!("It takes input through {input}."));
        }
    }

    fn inside(&mut self, candidate: &Candidate) {
        let characters = shape::characters(&candidate.cluster).len();
        if let Some(table) = shape::byte_table(&candidate.cluster) {
            self.add(15, format!("It looks bytes up in the table {table}."));
        } else if characters >= 3 {
            let reason = format!("It compares with {characters} different characters.");
            self.add(characters.min(15) as i32, reason);
        }
        if candidate.cluster.iter().any(|function| shape::has_loop(*function)) {
            self.add(5, "It contains a loop.".to_owned());
        }
    }

    fn callers(&mut self, candidate: &Candidate, program: &Program) {
        let function = candidate.function;
        if let Some(caller) = shape::looping_caller(program, function) {
            self.add(10, format!("{} calls it in a loop.", name(caller)));
        } else if let Some(caller) = shape::recursive_caller(program, function) {
            self.add(10, format!("{}, which is recursive, asks for its tokens.", name(caller)));
        }
        match program.callers(function) {
            [only] => self.add(5, format!("Only {} calls it.", name(*only))),
            few if few.len() <= 3 => self.add(3, format!("Only {} functions call it.", few.len())),
            _ => {}
        }
    }

    fn others(&mut self, candidate: &Candidate, all: &[Candidate]) {
        if let Some(inner) = candidate.passed_on {
            self.add(-5, format!("It only passes on what {} delivers.", name(inner)));
        }
        if let Some(lexer) = all.iter().find(|other| candidate.is_parser_of(other)) {
            self.add(
                -30,
                format!("It tells tokens of {} apart, as a parser does.", name(lexer.function)),
            );
        }
        let holds = |other: &&Candidate| {
            other.function != candidate.function
                && other.passed_on.is_none()
                && other.cluster.contains(&candidate.function)
                && !other.is_parser_of(candidate)
        };
        if let Some(outer) = all.iter().find(holds) {
            self.add(-20, format!("It is a part of {}.", name(outer.function)));
        }
    }
}

fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("{count} {what}") } else { format!("{count} {what}s") }
}

/// The parts of a name decide: words of lexers most, words for going on less.
fn name_points(name: &str) -> i32 {
    const LEXER: [&str; 7] = ["lex", "lexer", "token", "tokenize", "tok", "scan", "gettoken"];
    const NEXT: [&str; 6] = ["next", "advance", "get", "read", "fetch", "symbol"];
    let words = words(name);
    let is_lexer = |word: &String| LEXER.contains(&word.as_str()) || word.ends_with("lex");
    let is_near = |word: &String| ["lex", "tok", "scan"].iter().any(|part| word.contains(part));
    let is_next = |word: &String| NEXT.contains(&word.as_str());
    let base = if words.iter().any(is_lexer) {
        25
    } else if words.iter().any(is_near) {
        18
    } else {
        0
    };
    base + if words.iter().any(is_next) { NEXT_POINTS } else { 0 }
}

/// `jsY_lex`, `nextToken`: parts between underscores and before capital letters, in small letters.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut small = false;
    for character in name.chars() {
        let starts = !character.is_ascii_alphabetic() || (character.is_ascii_uppercase() && small);
        if starts {
            words.push(String::new());
        }
        if character.is_ascii_alphabetic()
            && let Some(word) = words.last_mut()
        {
            word.push(character.to_ascii_lowercase());
        }
        small = character.is_ascii_lowercase();
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fall_into_words() {
        assert_eq!(words("jsY_lex"), ["js", "y", "lex"]);
        assert_eq!(words("nextToken2"), ["next", "token"]);
        assert_eq!(words("YYLEX"), ["yylex"]);
        assert_eq!(words("_"), [""; 0]);
    }

    #[test]
    fn names_of_lexers_count_most() {
        let lexers = ["yylex", "llex", "jsY_lex", "scan", "getToken"];
        assert!(lexers.iter().all(|name| name_points(name) > name_points("jsY_lexx")));
        assert!(name_points("jsY_lexx") > name_points("luaX_next"));
        assert!(name_points("next") > name_points("complex_number") - 25);
        assert_eq!(name_points("parse"), 0);
    }
}
