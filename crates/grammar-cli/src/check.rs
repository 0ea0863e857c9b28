//! `check`

use crate::load::GrammarArgs;
use anyhow::Result;
use grammar::Grammar;
use grammar::ambiguity::{Witness, search};
use grammar::analysis::INFINITE;
use grammar::language::Language;
use serde_json::{Value, json};

#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    grammar: GrammarArgs,
    /// Look for ambiguity in strings of up to N tokens (bytes, if there is no lexer)
    #[arg(long, value_name = "N", default_value_t = 6)]
    ambiguity: usize,
    /// List the least length and height of each rule
    #[arg(long)]
    rules: bool,
    #[arg(long)]
    json: bool,
}

/// Configurations that the search for ambiguity may use.
const STATES: usize = 200_000;

/// Exit code 1 if the start rule derives nothing.
pub fn run(args: &Args) -> Result<u8> {
    let (grammar, notes) = args.grammar.read_with_notes()?;
    let language = Language::unchecked(grammar)?;
    let usable = language.analysis.productive[language.core.start.index()];
    let (witness, bound) = if usable { search(&language, args.ambiguity, STATES) } else { (None, 0) };
    let report = Report { args, language: &language, notes, witness, bound, usable };
    if args.json {
        println!("{}", report.json())
    } else {
        report.print()
    }
    Ok(u8::from(!usable))
}

struct Report<'a> {
    args: &'a Args,
    language: &'a Language,
    notes: Vec<String>,
    witness: Option<Witness>,
    bound: usize,
    usable: bool,
}

impl Report<'_> {
    fn grammar(&self) -> &Grammar {
        &self.language.grammar
    }

    /// Names of the rules for which a fact holds. A rule may have variants in the core: any of them counts.
    fn rules(&self, fact: impl Fn(usize) -> bool) -> Vec<&str> {
        let core = &self.language.core;
        let mut holds = vec![false; self.grammar().rules.len()];
        for nt in core.nt_ids() {
            if let Some(rule) = core.nt(nt).rule {
                holds[rule.index()] |= fact(nt.index());
            }
        }
        self.grammar().rules.iter().zip(holds).filter(|(_, h)| *h).map(|(r, _)| r.name.as_str()).collect()
    }

    fn none(&self, fact: impl Fn(usize) -> bool) -> Vec<&str> {
        let some = self.rules(fact);
        self.grammar().rules.iter().map(|r| r.name.as_str()).filter(|n| !some.contains(n)).collect()
    }

    fn least(&self) -> Vec<(&str, Option<u64>, Option<u64>)> {
        let core = &self.language.core;
        let facts = &self.language.analysis;
        let finite = |n: u64| (n < INFINITE).then_some(n);
        let of = |i: usize| {
            let variants = core.nt_ids().filter(|nt| core.nt(*nt).rule.is_some_and(|r| r.index() == i));
            let (mut len, mut height) = (INFINITE, INFINITE);
            for nt in variants {
                len = len.min(facts.min_len[nt.index()]);
                height = height.min(facts.min_height[nt.index()]);
            }
            (self.grammar().rules[i].name.as_str(), finite(len), finite(height))
        };
        (0..self.grammar().rules.len()).map(of).collect()
    }

    fn unmatched(&self) -> Vec<&str> {
        let terminals = self.grammar().terminals.iter().zip(&self.language.lexemes);
        terminals.filter(|(t, a)| a.is_empty() && !t.end_of_input).map(|(t, _)| t.name.as_str()).collect()
    }

    fn json(&self) -> Value {
        let facts = &self.language.analysis;
        let least: Vec<Value> =
            self.least().iter().map(|(n, l, h)| json!({ "rule": n, "length": l, "height": h })).collect();
        let ambiguity = self.witness.as_ref().map(|w| {
            json!({ "length": w.length, "derivations": w.derivations.to_string(), "strings": w.strings.to_string() })
        });
        json!({
            "rules": self.grammar().rules.len(),
            "alternatives": self.grammar().rules.iter().map(|r| r.alternatives.len()).sum::<usize>(),
            "terminals": self.grammar().terminals.len(),
            "start": self.grammar().rule(self.grammar().start).name,
            "start_productive": self.usable,
            "unreachable": self.none(|i| facts.reachable[i]),
            "unproductive": self.none(|i| facts.productive[i]),
            "left_recursive": self.rules(|i| facts.left_recursive[i]),
            "cyclic": self.rules(|i| facts.cyclic[i]),
            "unmatched_terminals": self.unmatched(),
            "ambiguous": ambiguity,
            "ambiguity_bound": self.bound,
            "least": least,
            "notes": self.notes,
        })
    }

    fn print(&self) {
        let facts = &self.language.analysis;
        let grammar = self.grammar();
        let alternatives: usize = grammar.rules.iter().map(|r| r.alternatives.len()).sum();
        println!("rules         {} with {alternatives} alternatives", grammar.rules.len());
        println!("terminals     {}", grammar.terminals.len());
        println!("start         {}", grammar.rule(grammar.start).name);
        list("unreachable", &self.none(|i| facts.reachable[i]));
        list("unproductive", &self.none(|i| facts.productive[i]));
        list("left-recursive", &self.rules(|i| facts.left_recursive[i]));
        list("cyclic", &self.rules(|i| facts.cyclic[i]));
        list("never matched", &self.unmatched());
        match &self.witness {
            Some(w) => println!(
                "ambiguous     {} derivations but {} strings of length {}",
                w.derivations, w.strings, w.length
            ),
            None if self.usable => println!("ambiguous     not up to length {}", self.bound),
            None => println!("error         the start rule derives no string at all"),
        }
        if self.args.rules {
            for (name, length, height) in self.least() {
                let show = |n: Option<u64>| n.map_or("none".to_string(), |n| n.to_string());
                println!("least         {name}: length {}, height {}", show(length), show(height));
            }
        }
        self.notes.iter().for_each(|note| println!("note          {note}"));
    }
}

fn list(what: &str, names: &[&str]) {
    if !names.is_empty() {
        println!("{what:<13} {}", names.join(", "));
    }
}
