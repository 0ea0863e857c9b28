//! What a search may say about its completeness at the end.

use serde::{Deserialize, Serialize};

use crate::Completeness;

/// What was explored, in words and in numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// Everything within the bounds was explored.
    pub complete: bool,
    pub text: String,
    pub counts: Completeness,
    pub enumeration: Option<Enumeration>,
}

impl Claim {
    /// Of a search over all paths.
    pub fn about_paths(counts: Completeness) -> Claim {
        Claim {
            complete: counts.is_complete(),
            text: counts.to_string(),
            counts,
            enumeration: None,
        }
    }

    /// Of a search over all paths of all strings up to a size, of which each size may be finished.
    pub fn about_strings(enumeration: Enumeration, counts: Completeness) -> Claim {
        let text = enumeration.text(&counts);
        let complete = counts.is_complete();
        Claim { complete, text, counts, enumeration: Some(enumeration) }
    }
}

/// Where an enumeration of strings is, and what came of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Enumeration {
    /// What the size of a string is: `length` or `height`.
    pub measure: String,
    /// All paths of the strings were looked for, not one run each.
    pub symbolic: bool,
    /// The largest size all of whose strings were explored.
    pub finished: Option<usize>,
    /// The first string that was not: its size and its number among those of that size, in decimal.
    pub next: (usize, String),
    /// If that string was explored, too: the first of its holes whose lengths were not tried.
    #[serde(default)]
    pub hole: Option<usize>,
    pub sizes: Vec<SizeCounts>,
}

/// Of the strings of one size.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SizeCounts {
    pub size: usize,
    pub strings: u64,
    /// Further derivations of strings that were explored before.
    pub repeated: u64,
    /// Strings that did what another one did: on each path the same conditions, up to the names of
    /// the holes, and the same branches.
    pub redundant: u64,
    /// Strings longer than the longest input allowed.
    pub too_long: u64,
    pub inputs: u64,
    pub paths: u64,
    /// Strings that were filled once more with a length that the solver chose, and inputs that were
    /// run for that.
    #[serde(default)]
    pub lengthened: u64,
    #[serde(default)]
    pub lengthened_inputs: u64,
}

impl Enumeration {
    /// The numbers of all sizes together.
    pub fn total(&self) -> SizeCounts {
        self.sizes.iter().fold(SizeCounts::default(), |sum, one| SizeCounts {
            size: one.size,
            strings: sum.strings + one.strings,
            repeated: sum.repeated + one.repeated,
            redundant: sum.redundant + one.redundant,
            too_long: sum.too_long + one.too_long,
            inputs: sum.inputs + one.inputs,
            paths: sum.paths + one.paths,
            lengthened: sum.lengthened + one.lengthened,
            lengthened_inputs: sum.lengthened_inputs + one.lengthened_inputs,
        })
    }

    fn text(&self, counts: &Completeness) -> String {
        let total = self.total();
        let (what, numbers) = match self.symbolic {
            true => (
                "all paths of all",
                format!(
                    "{} symbolic strings, {} inputs, {} paths",
                    total.strings, total.inputs, total.paths
                ),
            ),
            false => ("all", format!("{} strings, {} inputs", total.strings, total.inputs)),
        };
        let mut text = match self.finished {
            None => "no size was finished".to_owned(),
            Some(size) => {
                format!("{what} strings up to {} {size} were explored", self.measure)
            }
        };
        let causes = counts.broken_by();
        if !causes.is_empty() {
            text = format!("{text}, except for {}", causes.join(", "));
        }
        let extra = [
            (total.redundant, "did what another one did"),
            (total.repeated, "were further derivations"),
            (total.too_long, "were longer than the longest input allowed"),
        ];
        let extra = extra
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, what)| format!("; {count} {what}"));
        let lengths = match total.lengthened {
            0 => String::new(),
            strings => format!(
                "; lengths of {strings} holes were chosen by the solver, in {} inputs more, of \
                 which nothing is claimed",
                total.lengthened_inputs
            ),
        };
        format!("{text} ({numbers}{}{lengths})", extra.collect::<String>())
    }
}
