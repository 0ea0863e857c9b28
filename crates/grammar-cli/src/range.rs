//! A part of an enumeration: from a number on, so many, or one of equal shares.

use anyhow::{Result, bail};
use grammar::space::Space;
use num_bigint::BigUint;

#[derive(clap::Args, Debug)]
pub struct Part {
    /// Begin with string number I, from 0
    #[arg(long, value_name = "I")]
    from: Option<BigUint>,
    /// At most this many
    #[arg(long, value_name = "N")]
    limit: Option<BigUint>,
    /// The i-th of n equal parts, i from 0
    #[arg(long, value_name = "I/N")]
    shard: Option<String>,
}

impl Part {
    pub fn is_given(&self) -> bool {
        self.from.is_some() || self.limit.is_some() || self.shard.is_some()
    }
}

/// First string and number of strings.
pub fn range(part: &Part, space: &Space) -> Result<(BigUint, BigUint)> {
    let (mut from, mut to) = (BigUint::ZERO, space.total());
    if let Some(shard) = &part.shard {
        let (i, n) = share(shard)?;
        from = &to * i / n;
        to = &to * (i + 1) / n;
    }
    if let Some(skip) = &part.from {
        from += skip;
    }
    let count = if from < to { to - &from } else { BigUint::ZERO };
    let count = part.limit.clone().map_or(count.clone(), |l| l.min(count));
    Ok((from, count))
}

fn share(shard: &str) -> Result<(u64, u64)> {
    let parts = shard.split_once('/').and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?)));
    match parts.filter(|(i, n)| i < n) {
        Some(share) => Ok(share),
        None => bail!("--shard wants i/n with i from 0 to n-1, not `{shard}`"),
    }
}
