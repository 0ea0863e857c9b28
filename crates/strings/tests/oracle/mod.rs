//! A slow and obvious reading of HAMPI's language: its own parser, and membership by sets of end
//! positions.
//!
//! Shares no code with the solver.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

#[derive(Clone, Debug)]
enum Regular {
    Text(Vec<u8>),
    Range(u8, u8),
    Name(String),
    Fix(String, Option<usize>),
    Call(String, Vec<Regular>),
}

#[derive(Clone, Debug)]
enum Symbol {
    Text(Vec<u8>),
    Range(u8, u8),
    Name(String),
    Repeated(String, char),
}

#[derive(Clone, Debug)]
enum Value {
    Text(Vec<u8>),
    Name(String),
    Slice(String, usize, usize),
    Concat(Vec<Value>),
}

#[derive(Clone, Debug)]
struct Assertion {
    left: Value,
    negated: bool,
    relation: String,
    regular: Option<Regular>,
    value: Option<Value>,
}

#[derive(Debug, Default)]
pub struct Oracle {
    pub variables: Vec<(String, usize, usize)>,
    rules: BTreeMap<String, Vec<Vec<Symbol>>>,
    regulars: BTreeMap<String, Regular>,
    values: BTreeMap<String, Value>,
    assertions: Vec<Assertion>,
    /// Tables of words that were asked for before.
    tables: RefCell<BTreeMap<Vec<u8>, Rc<Table>>>,
}

/// For each nonterminal and start position, where a word of it may end.
type Table = BTreeMap<(String, usize), BTreeSet<usize>>;

/// Sizes without a bound.
pub const ANY: usize = usize::MAX;

impl Oracle {
    pub fn new(text: &[u8]) -> Self {
        let mut tokens = tokens(text);
        tokens.reverse();
        let mut oracle = Oracle::default();
        while let Some(word) = tokens.pop() {
            oracle.statement(&word, &mut tokens);
        }
        oracle
    }

    fn statement(&mut self, word: &str, tokens: &mut Vec<String>) {
        match word {
            "var" => {
                let name = tokens.pop().unwrap();
                let (mut least, mut most) = (0, ANY);
                if take(tokens, ":") {
                    (least, most) = number(tokens).map_or((0, ANY), |size| (size, size));
                    if take(tokens, "..") {
                        most = number(tokens).unwrap_or(ANY);
                    }
                }
                self.variables.push((name, least, most));
            }
            "cfg" => {
                let name = tokens.pop().unwrap();
                assert!(take(tokens, ":="));
                let mut alternatives = vec![Vec::new()];
                while tokens.last().is_some_and(|token| token != ";") {
                    if take(tokens, "|") {
                        alternatives.push(Vec::new());
                    } else {
                        alternatives.last_mut().unwrap().push(symbol(tokens));
                    }
                }
                self.rules.insert(name, alternatives);
            }
            "reg" => {
                let name = tokens.pop().unwrap();
                assert!(take(tokens, ":="));
                self.regulars.insert(name, regular(tokens));
            }
            "val" => {
                let name = tokens.pop().unwrap();
                assert!(take(tokens, ":="));
                self.values.insert(name, value(tokens));
            }
            "assert" => {
                let left = value(tokens);
                let negated = take(tokens, "not");
                let relation = tokens.pop().unwrap();
                let (regular, value) = if relation == "in" {
                    (Some(regular(tokens)), None)
                } else {
                    (None, Some(value(tokens)))
                };
                self.assertions.push(Assertion { left, negated, relation, regular, value });
            }
            other => panic!("no statement: {other}"),
        }
        assert!(take(tokens, ";"), "expected ; before {:?}", tokens.last());
    }

    /// Whether the words, in the order of declaration, satisfy everything.
    pub fn accepts(&self, words: &[Vec<u8>]) -> bool {
        let sizes = self
            .variables
            .iter()
            .zip(words)
            .all(|((_, least, most), w)| (*least..=*most).contains(&w.len()));
        sizes && self.assertions.iter().all(|assertion| self.holds(assertion, words) == Some(true))
    }

    fn holds(&self, assertion: &Assertion, words: &[Vec<u8>]) -> Option<bool> {
        let left = self.word(&assertion.left, words)?;
        let holds = match (&assertion.regular, &assertion.value) {
            (Some(regular), _) => self.is_in(&left, regular),
            (None, Some(value)) => {
                let right = self.word(value, words)?;
                match &assertion.relation[..] {
                    "contains" => (0..=left.len()).any(|i| left[i..].starts_with(&right)),
                    "equals" => left == right,
                    other => panic!("no relation: {other}"),
                }
            }
            (None, None) => unreachable!(),
        };
        Some(holds != assertion.negated)
    }

    fn word(&self, value: &Value, words: &[Vec<u8>]) -> Option<Vec<u8>> {
        let variable = |name: &str| self.variables.iter().position(|(other, ..)| other == name);
        match value {
            Value::Text(text) => Some(text.clone()),
            Value::Name(name) => match variable(name) {
                Some(index) => Some(words[index].clone()),
                None => self.word(&self.values[name], words),
            },
            Value::Slice(name, offset, length) => {
                words[variable(name)?].get(*offset..offset + length).map(<[u8]>::to_vec)
            }
            Value::Concat(parts) => {
                let parts: Option<Vec<Vec<u8>>> =
                    parts.iter().map(|part| self.word(part, words)).collect();
                Some(parts?.concat())
            }
        }
    }

    fn is_in(&self, word: &[u8], regular: &Regular) -> bool {
        let known = self.tables.borrow().get(word).cloned();
        let table = known.unwrap_or_else(|| Rc::new(self.table(word)));
        self.tables.borrow_mut().insert(word.to_vec(), table.clone());
        self.ends(word, regular, 0, &table).contains(&word.len())
    }

    /// Repeats until nothing changes.
    fn table(&self, word: &[u8]) -> Table {
        let mut table = Table::new();
        loop {
            let mut changed = false;
            for (name, alternatives) in &self.rules {
                for start in 0..=word.len() {
                    let mut ends = BTreeSet::new();
                    for alternative in alternatives {
                        let mut at = BTreeSet::from([start]);
                        for symbol in alternative {
                            at = at
                                .iter()
                                .flat_map(|&i| symbol_ends(word, symbol, i, &table))
                                .collect();
                        }
                        ends.extend(at);
                    }
                    let known = table.entry((name.clone(), start)).or_default();
                    changed |= !ends.is_subset(known);
                    known.extend(ends);
                }
            }
            if !changed {
                return table;
            }
        }
    }

    fn ends(&self, word: &[u8], regular: &Regular, start: usize, table: &Table) -> BTreeSet<usize> {
        let all = || (start..=word.len()).collect::<BTreeSet<usize>>();
        match regular {
            Regular::Text(text) => text_ends(word, text, start),
            Regular::Range(first, last) => range_ends(word, *first, *last, start),
            Regular::Name(name) => match self.regulars.get(name) {
                Some(inner) => self.ends(word, inner, start, table),
                None => table[&(name.clone(), start)].clone(),
            },
            Regular::Fix(name, size) => {
                let whole = self.ends(word, &Regular::Name(name.clone()), start, table);
                whole
                    .into_iter()
                    .filter(|end| size.is_none_or(|size| end - start == size))
                    .collect()
            }
            Regular::Call(operator, parts) => match &operator[..] {
                "or" => parts.iter().flat_map(|part| self.ends(word, part, start, table)).collect(),
                "and" => parts
                    .iter()
                    .fold(all(), |ends, part| &ends & &self.ends(word, part, start, table)),
                "not" => &all() - &self.ends(word, &parts[0], start, table),
                "concat" => parts.iter().fold(BTreeSet::from([start]), |at, part| {
                    at.iter().flat_map(|&i| self.ends(word, part, i, table)).collect()
                }),
                "star" => {
                    let mut ends = BTreeSet::from([start]);
                    let mut open = vec![start];
                    while let Some(i) = open.pop() {
                        for end in self.ends(word, &parts[0], i, table) {
                            if ends.insert(end) {
                                open.push(end);
                            }
                        }
                    }
                    ends
                }
                other => panic!("no operator: {other}"),
            },
        }
    }
}

fn symbol_ends(word: &[u8], symbol: &Symbol, start: usize, table: &Table) -> BTreeSet<usize> {
    let of = |name: &String, at: usize| table.get(&(name.clone(), at)).cloned().unwrap_or_default();
    match symbol {
        Symbol::Text(text) => text_ends(word, text, start),
        Symbol::Range(first, last) => range_ends(word, *first, *last, start),
        Symbol::Name(name) => of(name, start),
        Symbol::Repeated(name, sign) => {
            let mut ends = of(name, start);
            if *sign != '?' {
                let mut open: Vec<usize> = ends.iter().copied().collect();
                while let Some(i) = open.pop() {
                    open.extend(
                        of(name, i).into_iter().filter(|&end| ends.insert(end)).collect::<Vec<_>>(),
                    );
                }
            }
            if *sign != '+' {
                ends.insert(start);
            }
            ends
        }
    }
}

fn text_ends(word: &[u8], text: &[u8], start: usize) -> BTreeSet<usize> {
    if word[start..].starts_with(text) {
        BTreeSet::from([start + text.len()])
    } else {
        BTreeSet::new()
    }
}

fn range_ends(word: &[u8], first: u8, last: u8, start: usize) -> BTreeSet<usize> {
    let inside = word.get(start).is_some_and(|byte| (first..=last).contains(byte));
    if inside { BTreeSet::from([start + 1]) } else { BTreeSet::new() }
}

/// Names, signs, numbers; strings start with a quote, ranges with a bracket.
fn tokens(text: &[u8]) -> Vec<String> {
    let text: Vec<char> = text.iter().map(|&byte| char::from(byte)).collect();
    let mut tokens = Vec::new();
    let mut i = 0;
    while i < text.len() {
        let rest: String = text[i..text.len().min(i + 14)].iter().collect();
        let length = if rest.starts_with("//") {
            text[i..].iter().position(|&c| c == '\n').unwrap_or(text.len() - i)
        } else if rest.starts_with("/*") {
            (i + 2..text.len()).find(|&j| text[j] == '*' && text[j + 1] == '/').unwrap() + 2 - i
        } else if text[i].is_whitespace() {
            1
        } else {
            let length = match text[i] {
                '"' => text[i + 1..].iter().position(|&c| c == '"').unwrap() + 2,
                '[' if text[i + 1] == '\'' || text[i + 1] == '\\' => {
                    text[i..].iter().collect::<String>().find(['\'', '\\']).map(|_| ()).unwrap();
                    if text[i + 1] == '\'' { 9 } else { 11 }
                }
                '\\' => 4,
                '$' => 14,
                c if c.is_ascii_alphanumeric() || c == '_' => text[i..]
                    .iter()
                    .position(|&c| !(c.is_ascii_alphanumeric() || c == '_'))
                    .unwrap_or(text.len() - i),
                ':' if rest.starts_with(":=") => 2,
                '.' => 2,
                _ => 1,
            };
            tokens.push(text[i..i + length].iter().collect());
            length
        };
        i += length;
    }
    tokens
}

fn take(tokens: &mut Vec<String>, token: &str) -> bool {
    let found = tokens.last().is_some_and(|next| next == token);
    if found {
        tokens.pop();
    }
    found
}

fn number(tokens: &mut Vec<String>) -> Option<usize> {
    tokens.pop().unwrap().parse().ok()
}

/// A string, byte or range; `None` if the token is none of these.
fn bytes(token: &str) -> Option<Result<Vec<u8>, (u8, u8)>> {
    let chars: Vec<char> = token.chars().collect();
    let code =
        |from: usize| chars[from..from + 3].iter().collect::<String>().parse::<u8>().unwrap();
    match chars[0] {
        '"' => Some(Ok(chars[1..chars.len() - 1].iter().map(|&c| c as u8).collect())),
        '\\' => Some(Ok(vec![code(1)])),
        '[' if chars.get(1) == Some(&'\'') => Some(Err((chars[2] as u8, chars[6] as u8))),
        '[' if chars.len() > 1 => Some(Err((code(2), code(7)))),
        _ => None,
    }
}

fn symbol(tokens: &mut Vec<String>) -> Symbol {
    let token = tokens.pop().unwrap();
    match bytes(&token) {
        Some(Ok(text)) => return Symbol::Text(text),
        Some(Err((first, last))) => return Symbol::Range(first, last),
        None => {}
    }
    if token != "(" {
        return Symbol::Name(token);
    }
    let name = tokens.pop().unwrap();
    assert!(take(tokens, ")"));
    let sign = tokens.pop().unwrap().chars().next().unwrap();
    Symbol::Repeated(name, sign)
}

fn regular(tokens: &mut Vec<String>) -> Regular {
    let token = tokens.pop().unwrap();
    match bytes(&token) {
        Some(Ok(text)) => return Regular::Text(text),
        Some(Err((first, last))) => return Regular::Range(first, last),
        None => {}
    }
    if !take(tokens, "(") {
        return Regular::Name(token);
    }
    if token.starts_with("fix") {
        let name = tokens.pop().unwrap();
        assert!(take(tokens, ","));
        let size = number(tokens);
        assert!(take(tokens, ")"));
        return Regular::Fix(name, size);
    }
    let mut parts = Vec::new();
    while !take(tokens, ")") {
        parts.push(regular(tokens));
        take(tokens, ",");
    }
    Regular::Call(token, parts)
}

fn value(tokens: &mut Vec<String>) -> Value {
    let token = tokens.pop().unwrap();
    if let Some(Ok(text)) = bytes(&token) {
        return Value::Text(text);
    }
    if token == "concat" && take(tokens, "(") {
        let mut parts = Vec::new();
        while !take(tokens, ")") {
            parts.push(value(tokens));
            take(tokens, ",");
        }
        return Value::Concat(parts);
    }
    if take(tokens, "[") {
        let offset = number(tokens).unwrap();
        assert!(take(tokens, ":"));
        let length = number(tokens).unwrap();
        assert!(take(tokens, "]"));
        return Value::Slice(token, offset, length);
    }
    Value::Name(token)
}
