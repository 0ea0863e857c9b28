//! `enumerate` and `sample`

use crate::load::GrammarArgs;
use crate::output::{StringArgs, Strings, interrupted, watch_interrupt};
use crate::range::{Part, range};
use anyhow::{Result, bail};
use fastrand::Rng;
use grammar::enumerate::{Enumerator, Found};
use grammar::language::Language;
use grammar::sample::Sampler;
use grammar::space::Space;
use grammar::spell::Speller;
use grammar::uniform::Uniform;
use grammar::{bounded, cover, edit, spaces};
use std::collections::HashSet;
use std::ops::ControlFlow;

#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  tarragon grammar enumerate calc.tg --max-len 4 --strings
  tarragon grammar enumerate calc.tg --max-len 6 --shard 0/8 -0 | xargs -0 -n1 ./calc
  tarragon grammar enumerate json.tg --max-height 4 --max-lexeme 2 --count-only")]
pub struct EnumerateArgs {
    #[command(flatten)]
    grammar: GrammarArgs,
    /// Longest length
    #[arg(long, value_name = "N", conflicts_with = "max_height")]
    max_len: Option<usize>,
    /// Greatest height
    #[arg(long, value_name = "H")]
    max_height: Option<usize>,
    /// Distinct strings instead of derivations
    #[arg(long)]
    strings: bool,
    /// Write only how many there are (they are still made)
    #[arg(long)]
    count_only: bool,
    #[command(flatten)]
    part: Part,
    /// Longest lexeme of terminals with infinitely many, when enumerating by height
    #[arg(long, value_name = "N")]
    max_lexeme: Option<usize>,
    #[command(flatten)]
    strings_as: StringArgs,
}

pub fn enumerate(args: &EnumerateArgs) -> Result<u8> {
    let language = args.grammar.language()?;
    let space = space(args, &language)?;
    let (from, limit) = range(&args.part, &space)?;
    let mut enumerator = Enumerator::new(&space);
    watch_interrupt();
    if args.count_only {
        let mut count = 0u64;
        let _ = enumerator.run(&from, Some(&limit), |_| {
            count += 1;
            if count.is_multiple_of(1 << 20) && interrupted() {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        if args.strings_as.json {
            println!("{}", serde_json::json!({ "count": count.to_string() }));
        } else {
            println!("{count}");
        }
        return Ok(0);
    }
    let mut out = Strings::new(args.strings_as);
    let mut speller = Speller::new(&language.grammar)?;
    let mut failed = None;
    let _ = enumerator.run(&from, Some(&limit), |found| {
        let written = if speller.keeps_apart() {
            out.write(&spell(&mut speller, &found))
        } else {
            out.write(found.text)
        };
        failed = written.err();
        if failed.is_some() || interrupted() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    });
    if let Some(e) = failed {
        return Err(e.into());
    }
    out.finish()?;
    Ok(0)
}

fn spell(speller: &mut Speller, found: &Found) -> Vec<u8> {
    let ends = found.tokens.iter().skip(1).map(|(_, s)| *s as usize).chain([found.text.len()]);
    let tokens = found.tokens.iter().zip(ends);
    speller.spell(tokens.map(|((t, start), end)| (*t, &found.text[*start as usize..end])))
}

fn space(args: &EnumerateArgs, language: &Language) -> Result<Space> {
    match (args.max_len, args.max_height) {
        (Some(max), _) if args.strings => Ok(spaces::distinct(language, max)?),
        (Some(max), _) => Ok(spaces::by_length(language, max)?),
        (None, Some(max)) if args.strings => Ok(bounded::distinct(language, max, args.max_lexeme)?),
        (None, Some(max)) => Ok(spaces::by_height(language, max, args.max_lexeme)?),
        (None, None) => bail!("give --max-len N or --max-height H"),
    }
}

#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  tarragon grammar sample calc.tg -n 10 --size 100
  tarragon grammar sample calc.tg -n 10 --len 20 --seed 7 --unique
  tarragon grammar sample calc.tg --k-path 3

--k-path writes as many sentences as it needs, whatever -n says.")]
pub struct SampleArgs {
    #[command(flatten)]
    grammar: GrammarArgs,
    /// How many
    #[arg(short = 'n', long, value_name = "COUNT", default_value_t = 1)]
    count: usize,
    /// Uniformly among all derivations of exactly N bytes
    #[arg(long, value_name = "N", conflicts_with_all = ["size", "k_path"])]
    len: Option<usize>,
    /// Random expansion of at most N bytes
    #[arg(long, value_name = "N")]
    size: Option<usize>,
    /// Sentences in which every chain of K rules appears
    #[arg(long, value_name = "K", conflicts_with = "len")]
    k_path: Option<usize>,
    /// Start of all randomness: the same seed gives the same strings
    #[arg(long, value_name = "S", default_value_t = 0)]
    seed: u64,
    /// No string twice
    #[arg(long)]
    unique: bool,
    #[command(flatten)]
    strings_as: StringArgs,
}

/// So many repeated strings in a row, and there are probably no others.
const PATIENCE: usize = 100_000;
const DEFAULT_SIZE: usize = 100;

struct Sink {
    out: Strings,
    seen: Option<HashSet<Vec<u8>>>,
    left: usize,
    repeated: usize,
}

impl Sink {
    /// True while more is wanted.
    fn put(&mut self, text: &[u8]) -> Result<bool> {
        if let Some(seen) = &mut self.seen
            && !seen.insert(text.to_vec())
        {
            self.repeated += 1;
            return Ok(self.repeated < PATIENCE && !interrupted());
        }
        self.repeated = 0;
        self.out.write(text)?;
        self.left -= 1;
        Ok(self.left > 0 && !interrupted())
    }
}

pub fn sample(args: &SampleArgs) -> Result<u8> {
    let language = args.grammar.language()?;
    let mut rng = Rng::with_seed(args.seed);
    let seen = args.unique.then(HashSet::new);
    let mut sink = Sink { out: Strings::new(args.strings_as), seen, left: args.count, repeated: 0 };
    let mut text = Vec::new();
    if let Some(k) = args.k_path {
        sink.left = usize::MAX;
        return sample_paths(args, &language, k, &mut rng, sink);
    }
    if args.count == 0 {
        return Ok(0);
    }
    match args.len {
        Some(len) => {
            let mut uniform = Uniform::new(&language, len)?;
            watch_interrupt();
            loop {
                text.clear();
                uniform.sample(&mut rng, &mut text);
                if !sink.put(&text)? {
                    break;
                }
            }
        }
        None => {
            let mut sampler = Sampler::new(&language)?;
            watch_interrupt();
            loop {
                text.clear();
                sampler.sample(&mut rng, args.size.unwrap_or(DEFAULT_SIZE), &mut text);
                if !sink.put(&text)? {
                    break;
                }
            }
        }
    }
    finish(sink)
}

fn sample_paths(
    args: &SampleArgs,
    language: &Language,
    k: usize,
    rng: &mut Rng,
    mut sink: Sink,
) -> Result<u8> {
    if k == 0 {
        bail!("--k-path wants a number from 1");
    }
    let mut sampler = Sampler::new(language)?;
    let mut speller = Speller::new(&language.grammar)?;
    let mut failed = None;
    let size = args.size.unwrap_or(20);
    watch_interrupt();
    cover::sample_paths(language, &mut sampler, k, size, rng, |tree| {
        match sink.put(&edit::spell(&tree, &mut speller)) {
            Ok(_) => !interrupted(),
            Err(e) => {
                failed = Some(e);
                false
            }
        }
    });
    match failed {
        Some(e) => Err(e),
        None => finish(sink),
    }
}

fn finish(sink: Sink) -> Result<u8> {
    if sink.repeated >= PATIENCE {
        eprintln!("note: no new string in {PATIENCE} tries; there may be no others");
    }
    sink.out.finish()?;
    Ok(0)
}
