//! `check`

use crate::load::GrammarArgs;
use anyhow::{Context, Result};
use grammar::Grammar;
use grammar::ambiguity::{Example, Witness, search};
use grammar::analysis::INFINITE;
use grammar::language::Language;
use serde_json::{Value, json};

#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  tarragon grammar check JavaScriptParser.g4
  tarragon grammar check calc.tg --ambiguity 8 --rules")]
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
    let language =
        Language::unchecked(grammar).with_context(|| args.grammar.file.display().to_string())?;
    let usable = language.analysis.productive[language.core.start.index()];
    let (witness, bound) =
        if usable { search(&language, args.ambiguity, STATES) } else { (None, 0) };
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

    /// For each rule, does a fact hold? A rule may have variants in the core: any of them counts.
    fn holds(&self, fact: impl Fn(usize) -> bool) -> Vec<bool> {
        let core = &self.language.core;
        let mut holds = vec![false; self.grammar().rules.len()];
        for nt in core.nt_ids() {
            if let Some(rule) = core.nt(nt).rule {
                holds[rule.index()] |= fact(nt.index());
            }
        }
        holds
    }

    fn rules(&self, fact: impl Fn(usize) -> bool) -> Vec<&str> {
        let all = self.grammar().rules.iter().zip(self.holds(fact));
        all.filter(|(_, h)| *h).map(|(r, _)| r.name.as_str()).collect()
    }

    /// Name, least length and least height of each rule; `None` if it derives nothing.
    fn least(&self) -> Vec<(&str, Option<u64>, Option<u64>)> {
        let core = &self.language.core;
        let facts = &self.language.analysis;
        let mut least = vec![(INFINITE, INFINITE); self.grammar().rules.len()];
        for nt in core.nt_ids() {
            if let Some(rule) = core.nt(nt).rule {
                let (len, height) = &mut least[rule.index()];
                *len = facts.min_len[nt.index()].min(*len);
                *height = facts.min_height[nt.index()].min(*height);
            }
        }
        let finite = |n: u64| (n < INFINITE).then_some(n);
        let rules = self.grammar().rules.iter().zip(least);
        rules
            .map(|(rule, (len, height))| (rule.name.as_str(), finite(len), finite(height)))
            .collect()
    }

    fn json(&self) -> Value {
        let (facts, unused) = (&self.language.analysis, self.language.unused());
        let least: Vec<Value> = self
            .least()
            .iter()
            .map(|(n, l, h)| json!({ "rule": n, "length": l, "height": h }))
            .collect();
        let ambiguity = self.witness.as_ref().map(|w| self.ambiguity(w));
        json!({
            "rules": self.grammar().rules.len(),
            "alternatives": self.grammar().rules.iter().map(|r| r.alternatives.len()).sum::<usize>(),
            "terminals": self.grammar().terminals.len(),
            "start": self.grammar().rule(self.grammar().start).name,
            "start_productive": self.usable,
            "unreachable": unused.unreachable,
            "unproductive": unused.unproductive,
            "left_recursive": self.rules(|i| facts.left_recursive[i]),
            "cyclic": self.rules(|i| facts.cyclic[i]),
            "unmatched_terminals": unused.unmatched,
            "ambiguous": ambiguity,
            "ambiguity_bound": self.bound,
            "least": least,
            "notes": self.notes,
        })
    }

    fn ambiguity(&self, witness: &Witness) -> Value {
        let mut value = json!({
            "length": witness.length,
            "derivations": witness.derivations.to_string(),
            "strings": witness.strings.to_string(),
        });
        if let Some(example) = &witness.example {
            let core = &self.language.core;
            let trees: Vec<String> =
                example.trees.iter().map(|t| t.render(self.grammar(), core)).collect();
            value["sentence"] = json!(String::from_utf8_lossy(&example.sentence));
            value["count"] = json!(example.count.to_string());
            value["rule"] = json!(example.rule.map(|r| &self.grammar().rule(r).name));
            value["trees"] = json!(trees);
        }
        value
    }

    fn print_example(&self, example: &Example) {
        let sentence = String::from_utf8_lossy(&example.sentence);
        print!("example       {:?} has {} trees", sentence, example.count);
        match example.rule {
            Some(rule) => println!(", of which two differ in `{}`", self.grammar().rule(rule).name),
            None => println!(),
        }
    }

    fn print(&self) {
        let (facts, unused) = (&self.language.analysis, self.language.unused());
        let grammar = self.grammar();
        let alternatives: usize = grammar.rules.iter().map(|r| r.alternatives.len()).sum();
        println!("rules         {} with {alternatives} alternatives", grammar.rules.len());
        println!("terminals     {}", grammar.terminals.len());
        println!("start         {}", grammar.rule(grammar.start).name);
        list("unreachable", &unused.unreachable);
        list("unproductive", &unused.unproductive);
        list("left-recursive", &self.rules(|i| facts.left_recursive[i]));
        list("cyclic", &self.rules(|i| facts.cyclic[i]));
        list("never matched", &unused.unmatched);
        match &self.witness {
            Some(w) => {
                println!(
                    "ambiguous     {} derivations but {} strings of length {}",
                    w.derivations, w.strings, w.length
                );
                w.example.iter().for_each(|example| self.print_example(example));
            }
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
