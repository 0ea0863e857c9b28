//! The text form of expressions, one node a line with leaves written in place:
//!
//! ```text
//! %1 = (xor 8 (input 0) (const 8 0x20))
//! t0 = 61 62 %1 (input 3)
//! %2 = (read 16 t0 (len))
//! %3 = (eq 1 %2 (const 16 0x7))
//! root %3
//! ```
//!
//! An operator is followed by its width, `extract` then by its lowest bit and `read` by its table,
//! `find` and `compare` by their flags as a number, text and pattern. A cell of a table is a byte
//! in hex or a node. Long chains stay flat, so neither direction recurses.

use crate::dag::{Dag, input_node, len_node, op_of};
use crate::validate::BadDag;
use run::TableData;
use rustc_hash::{FxHashMap, FxHashSet};
use std::fmt::Write;
use thiserror::Error;
use trace::{Label, Node, Op};

/// Prints `roots` and what they are made of.
pub fn print(dag: &Dag, roots: &[Label]) -> String {
    let mut printer = Printer {
        dag,
        text: String::new(),
        names: FxHashMap::default(),
        tables: FxHashMap::default(),
    };
    for label in reachable(dag, roots) {
        printer.define(label);
    }
    for &root in roots {
        let root = printer.reference(root);
        printer.line(&format!("root {root}"));
    }
    printer.text
}

fn reachable(dag: &Dag, roots: &[Label]) -> Vec<Label> {
    let mut seen = FxHashSet::default();
    let mut stack = roots.to_vec();
    while let Some(label) = stack.pop() {
        if seen.insert(label) {
            let operands = dag.operands(label);
            stack.extend(
                operands.iter().chain(dag.table_labels(label)).filter(|&&operand| operand != 0),
            );
        }
    }
    let mut labels: Vec<Label> = seen.into_iter().collect();
    labels.sort_unstable();
    labels
}

struct Printer<'d> {
    dag: &'d Dag,
    text: String,
    names: FxHashMap<Label, usize>,
    tables: FxHashMap<u32, usize>,
}

impl Printer<'_> {
    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn define(&mut self, label: Label) {
        let node = self.dag.node(label);
        let op = op_of(node);
        if op.arity() == 0 && !op.is_text() {
            return;
        }
        let mut body = format!("({} {}", op.name(), node.bits);
        match op {
            Op::Extract => body += &format!(" {}", node.aux),
            Op::Read => body += &format!(" t{}", self.table(node.b)),
            Op::Find | Op::Compare => {
                let (text, pattern) = (self.table(node.b), self.table(node.c));
                body += &format!(" {} t{text} t{pattern}", node.aux);
            }
            _ => {}
        }
        for &operand in &self.dag.operands(label)[..op.arity()] {
            body += &format!(" {}", self.reference(operand));
        }
        let name = self.names.len() + 1;
        self.names.insert(label, name);
        self.line(&format!("%{name} = {body})"));
    }

    fn reference(&self, label: Label) -> String {
        let node = self.dag.node(label);
        match op_of(node) {
            Op::Const => format!("(const {} {:#x})", node.bits, node.const_value()),
            Op::Token => format!("(token {} {:#x})", node.a, node.const_value()),
            Op::Input => format!("(input {})", node.a),
            Op::Len => "(len)".to_string(),
            _ => format!("%{}", self.names[&label]),
        }
    }

    fn table(&mut self, number: u32) -> usize {
        if let Some(&name) = self.tables.get(&number) {
            return name;
        }
        let name = self.tables.len();
        self.tables.insert(number, name);
        let table = self.dag.table(number);
        let mut line = format!("t{name} =");
        for (index, byte) in table.bytes.iter().enumerate() {
            let _ = match table.label(index as u64) {
                0 => write!(line, " {byte:02x}"),
                label => write!(line, " {}", self.reference(label)),
            };
        }
        self.line(&line);
        name
    }
}

/// Why a text is not an expression, and where.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}, column {column}: {problem}")]
pub struct ParseError {
    pub line: usize,
    pub column: usize,
    pub problem: Problem,
}

#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Problem {
    #[error("expected {0}")]
    Expected(&'static str),
    #[error("{0} is not defined above")]
    Undefined(String),
    #[error("{0}")]
    Node(#[from] BadDag),
}

/// Reads expressions into `dag` and returns the labels of the roots.
pub fn parse(text: &str, dag: &mut Dag) -> Result<Vec<Label>, ParseError> {
    let mut names = Names::default();
    let mut roots = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let mut parser = Parser { line, at: 0, dag, names: &mut names };
        let parsed = parser.definition();
        let column = parser.at + 1;
        roots.extend(parsed.map_err(|problem| ParseError { line: number + 1, column, problem })?);
    }
    Ok(roots)
}

#[derive(Default)]
struct Names<'t> {
    nodes: FxHashMap<&'t str, Label>,
    tables: FxHashMap<&'t str, u32>,
}

struct Parser<'t, 'p> {
    line: &'t str,
    /// Byte offset of the last token.
    at: usize,
    dag: &'p mut Dag,
    names: &'p mut Names<'t>,
}

impl<'t> Parser<'t, '_> {
    /// One line; the label if it names a root.
    fn definition(&mut self) -> Result<Option<Label>, Problem> {
        if self.peek().is_none() {
            return Ok(None);
        }
        let name = self.token("a definition")?;
        if name == "root" {
            return self.reference().map(Some);
        }
        self.expect("=", "=")?;
        if name.starts_with('t') {
            let table = self.table()?;
            self.names.tables.insert(name, table);
        } else if name.starts_with('%') {
            let node = self.node()?;
            self.names.nodes.insert(name, node);
        } else {
            return Err(Problem::Expected("a name that starts with % or t, or root"));
        }
        Ok(None)
    }

    fn table(&mut self) -> Result<u32, Problem> {
        let (mut bytes, mut labels) = (Vec::new(), Vec::new());
        while let Some(token) = self.peek() {
            let symbolic = token.starts_with(['%', '(']);
            labels.push(if symbolic { self.reference()? } else { 0 });
            bytes.push(if symbolic { 0 } else { self.hex_byte()? });
        }
        let labels = labels.iter().any(|&label| label != 0).then_some(labels);
        Ok(self.dag.add_table(TableData { bytes, labels })?)
    }

    fn hex_byte(&mut self) -> Result<u8, Problem> {
        let token = self.token("a byte")?;
        u8::from_str_radix(token, 16).map_err(|_| Problem::Expected("a byte in hex"))
    }

    fn reference(&mut self) -> Result<Label, Problem> {
        if self.peek() == Some("(") {
            return self.node();
        }
        let name = self.token("a node")?;
        self.names.nodes.get(name).copied().ok_or_else(|| Problem::Undefined(name.to_string()))
    }

    fn node(&mut self) -> Result<Label, Problem> {
        self.expect("(", "an opening parenthesis")?;
        let name = self.token("an operator")?;
        let op = Op::ALL.iter().copied().find(|op| op.name() == name);
        let node = match op.ok_or(Problem::Expected("an operator"))? {
            Op::Const => Node::constant(self.number()?, self.number()?),
            Op::Token => Node::token(self.number()?, self.number()?),
            Op::Input => input_node(self.number()?),
            Op::Len => len_node(),
            op => self.operator(op)?,
        };
        self.expect(")", "a closing parenthesis")?;
        Ok(self.dag.try_add(node)?)
    }

    fn operator(&mut self, op: Op) -> Result<Node, Problem> {
        let mut node = Node { op: op as u8, bits: self.number()?, ..Node::default() };
        match op {
            Op::Extract => node.aux = self.number()?,
            Op::Read => node.b = self.table_name()?,
            Op::Find | Op::Compare => {
                (node.aux, node.b, node.c) =
                    (self.number()?, self.table_name()?, self.table_name()?);
            }
            _ => {}
        }
        for place in [&mut node.a, &mut node.b, &mut node.c].into_iter().take(op.arity()) {
            *place = self.leaf_or_name()?;
        }
        Ok(node)
    }

    fn table_name(&mut self) -> Result<u32, Problem> {
        let name = self.token("a table")?;
        let table = self.names.tables.get(name);
        table.copied().ok_or_else(|| Problem::Undefined(name.to_string()))
    }

    /// An operand. Leaves have no operands of their own, so this ends after one level.
    fn leaf_or_name(&mut self) -> Result<Label, Problem> {
        if self.peek() != Some("(") {
            return self.reference();
        }
        let rest = self.line[self.at..].trim_start().trim_start_matches('(').trim_start();
        let leaf = ["const", "input", "len"].iter().any(|name| rest.starts_with(name));
        if leaf { self.node() } else { Err(Problem::Expected("a leaf or the name of a node")) }
    }

    fn number<N: TryFrom<u64>>(&mut self) -> Result<N, Problem> {
        let token = self.token("a number")?;
        let number = match token.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16),
            None => token.parse(),
        };
        let number = number.ok().and_then(|number| N::try_from(number).ok());
        number.ok_or(Problem::Expected("a number that fits"))
    }

    fn expect(&mut self, wanted: &str, description: &'static str) -> Result<(), Problem> {
        if self.peek() != Some(wanted) {
            return Err(Problem::Expected(description));
        }
        self.token(description).map(|_| ())
    }

    fn peek(&self) -> Option<&'t str> {
        next_token(self.line, self.at).map(|(token, _)| token)
    }

    fn token(&mut self, description: &'static str) -> Result<&'t str, Problem> {
        let (token, end) = next_token(self.line, self.at).ok_or(Problem::Expected(description))?;
        self.at = end;
        Ok(token)
    }
}

/// The token at or after byte `at` and where it ends.
fn next_token(line: &str, at: usize) -> Option<(&str, usize)> {
    let start = at + line[at..].find(|c: char| !c.is_whitespace())?;
    let rest = &line[start..];
    let len = if rest.starts_with(['(', ')']) {
        1
    } else {
        rest.find(|c: char| c.is_whitespace() || "()".contains(c)).unwrap_or(rest.len())
    };
    Some((&rest[..len], start + len))
}
