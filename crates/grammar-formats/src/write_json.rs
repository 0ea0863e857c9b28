//! Writes BNF in JSON: rules as lists of symbols, and terminals spelled out byte by byte.

use grammar::Core;
use grammar::analysis::{Combine, INFINITE, cheapest};
use grammar::automaton::{Automaton, Edge, lexemes_of};
use grammar::core::{NtId, ProdId, Sym};
use grammar::model::{Grammar, TerminalId};
use serde_json::json;
use std::collections::{HashMap, HashSet};

/// A grammar as BNF in JSON (lists of symbols), and what could not be expressed.
pub fn to_bnf_json(grammar: &Grammar) -> (String, Vec<String>) {
    let core = Core::new(grammar);
    let mut writer = JsonWriter {
        grammar,
        core: &core,
        names: names(&core),
        lexemes: Vec::new(),
        separator: if grammar.has_skip() { " " } else { "" },
        out: String::new(),
        notes: Vec::new(),
        said: HashSet::new(),
    };
    writer.write();
    let end = if writer.out.is_empty() { "{}\n" } else { "\n}\n" };
    (writer.out + end, writer.notes)
}

struct JsonWriter<'g> {
    grammar: &'g Grammar,
    core: &'g Core,
    names: Vec<String>,
    /// Automata without states for terminals that cannot be written.
    lexemes: Vec<Automaton>,
    /// Written after every token.
    separator: &'static str,
    /// What is written so far: an object with a rule a line.
    out: String,
    notes: Vec<String>,
    said: HashSet<String>,
}

fn names(core: &Core) -> Vec<String> {
    let mut used: HashSet<String> = HashSet::from(["<start>".to_string()]);
    // Where to look on for a free name: what operators became is often named after one and the same
    // rule.
    let mut numbers: HashMap<String, u32> = HashMap::new();
    let fresh = |nt: NtId| {
        let base = core.nt(nt).name.trim_matches(['<', '>']).replace(['<', '>'], "");
        let mut name = format!("<{base}>");
        while !used.insert(name.clone()) {
            let n = numbers.entry(base.clone()).or_insert(1);
            *n += 1;
            name = format!("<{base}_{n}>");
        }
        name
    };
    core.nt_ids().map(fresh).collect()
}

impl JsonWriter<'_> {
    fn write(&mut self) {
        self.lexemes = self.writable_lexemes();
        let cost = |a: &Automaton| if a.is_empty() { INFINITE } else { 1 };
        let lengths: Vec<u64> = self.lexemes.iter().map(cost).collect();
        let least = cheapest(&self.core.productions, &lengths, Combine::Sum);
        if least[self.core.start.index()] == INFINITE {
            self.note(
                "the start rule derives no string at all: there is nothing to write".to_string(),
            );
            return;
        }
        let start = self.names[self.core.start.index()].clone();
        self.insert("<start>", &[vec![start]]);
        let of = |s: &Sym| match s.as_terminal() {
            Some(t) => lengths[t.index()],
            None => s.as_nonterminal().map_or(INFINITE, |nt| least[nt.index()]),
        };
        for nt in self.core.nt_ids() {
            self.rule(nt, |p| self.core.rhs(p).iter().all(|s| of(s) < INFINITE));
        }
        for (i, automaton) in std::mem::take(&mut self.lexemes).iter().enumerate() {
            self.terminal(TerminalId::from(i), automaton);
        }
        if !self.separator.is_empty() {
            self.note(
                "every token is followed by a separator, as there is no lexer in this format"
                    .to_string(),
            );
        }
    }

    /// Writes the alternatives that derive a string; a rule without any is left out.
    fn rule(&mut self, nt: NtId, derives: impl Fn(ProdId) -> bool) {
        let mut all = Vec::new();
        for p in self.core.prods_of(nt).filter(|p| derives(*p)) {
            all.push(self.core.rhs(p).iter().map(|s| self.symbol(*s)).collect());
            if self.core.prod(p).weight != 1.0 {
                self.note("weights are left out".to_string());
            }
        }
        if all.is_empty() {
            self.note(format!(
                "rule `{}` derives no string and is left out",
                self.core.nt(nt).name
            ));
        } else {
            let name = self.names[nt.index()].clone();
            self.insert(&name, &all);
        }
    }

    fn writable_lexemes(&mut self) -> Vec<Automaton> {
        let mut all = Vec::new();
        let used = self.used_terminals();
        let lexemes = lexemes_of(self.grammar, |t| used[t.index()]);
        for (i, (terminal, automaton)) in self.grammar.terminals.iter().zip(lexemes).enumerate() {
            let (lexemes, note) = match automaton {
                Ok(automaton) => writable(automaton),
                Err(e) => (Automaton::default(), Some(e.to_string())),
            };
            if let Some(note) = note.filter(|_| used[i] && !terminal.end_of_input) {
                self.note(format!("terminal `{}`: {note}", terminal.name));
            }
            all.push(lexemes);
        }
        all
    }

    fn used_terminals(&self) -> Vec<bool> {
        let mut used = vec![false; self.grammar.terminals.len()];
        let symbols = self.core.prod_ids().flat_map(|p| self.core.rhs(p));
        symbols.filter_map(|s| s.as_terminal()).for_each(|t| used[t.index()] = true);
        used
    }

    fn symbol(&self, sym: Sym) -> String {
        match sym.as_terminal() {
            Some(t) => self.terminal_name(t, 0),
            None => self.names[sym.as_nonterminal().expect("not a terminal").index()].clone(),
        }
    }

    /// Terminals are rules of their own: `<T 3>` is terminal 3, `<T 3 7>` what follows in its state
    /// 7.
    fn terminal_name(&self, t: TerminalId, state: u32) -> String {
        if state == 0 { format!("<T {}>", t.0) } else { format!("<T {} {state}>", t.0) }
    }

    fn terminal(&mut self, t: TerminalId, automaton: &Automaton) {
        let separator = self.separator;
        if let Some(text) = automaton.single().and_then(|l| String::from_utf8(l).ok()) {
            self.insert(&self.terminal_name(t, 0), &[vec![text + separator]]);
            return;
        }
        for (state, edges) in automaton.edges.iter().enumerate() {
            let mut all: Vec<Vec<String>> = Vec::new();
            for edge in edges {
                for byte in edge.bytes.iter() {
                    let text = (*byte as char).to_string();
                    if automaton.accepts[edge.to as usize] {
                        all.push(vec![text.clone() + separator]);
                    }
                    if !automaton.edges[edge.to as usize].is_empty() {
                        all.push(vec![text, self.state_name(t, edge.to)]);
                    }
                }
            }
            if all.is_empty() {
                continue;
            }
            let name = if state == 0 {
                self.terminal_name(t, 0)
            } else {
                self.state_name(t, state as u32)
            };
            self.insert(&name, &all);
            if state == 0 {
                self.insert(&self.state_name(t, 0), &all);
            }
        }
    }

    fn state_name(&self, t: TerminalId, state: u32) -> String {
        format!("<T {} {state}>", t.0)
    }

    fn insert(&mut self, name: &str, alternatives: &[Vec<String>]) {
        self.out.push_str(if self.out.is_empty() { "{\n  " } else { ",\n  " });
        self.out.push_str(&json!(name).to_string());
        self.out.push_str(": ");
        self.out.push_str(&json!(alternatives).to_string());
    }

    fn note(&mut self, text: String) {
        if self.said.insert(text.clone()) {
            self.notes.push(text);
        }
    }
}

/// The lexemes that JSON can hold byte by byte, and what to say about the rest. A single lexeme is
/// written whole.
fn writable(mut automaton: Automaton) -> (Automaton, Option<String>) {
    if automaton.is_empty() {
        return (automaton, Some("it has no lexeme".to_string()));
    }
    let single = automaton.single().is_some_and(|l| String::from_utf8(l).is_ok());
    if single || automaton.edges.all().iter().all(|e| e.bytes.is_ascii()) {
        return (automaton, None);
    }
    automaton.edges = automaton.edges.filter_map(|edge| {
        let bytes: grammar::pattern::ByteSet =
            edge.bytes.iter().copied().filter(u8::is_ascii).collect();
        (!bytes.is_empty()).then_some(Edge { bytes, to: edge.to })
    });
    let distance = automaton.distances();
    let alive = |edge: &Edge| (distance[edge.to as usize] < u32::MAX).then(|| edge.clone());
    automaton.edges = automaton.edges.filter_map(alive);
    let some = distance[0] < u32::MAX;
    (if some { automaton } else { Automaton::default() }, Some("ASCII only".to_string()))
}
