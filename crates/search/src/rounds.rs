//! What keeps a run going that does not end: its loops, counted, and the conditions of these.

use std::fmt;

use serde::Serialize;

/// The loops that a run was in when its time was over, the innermost that kept going first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Rounds {
    pub loops: Vec<LoopRounds>,
    /// Whether what the conditions depend on is known from the beginning of the run only.
    pub cut: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LoopRounds {
    pub function: String,
    /// File, line and column; empty without debug information.
    pub place: String,
    /// Since it was entered last.
    pub rounds: u64,
    pub entered: u64,
    pub conditions: Vec<Condition>,
    /// Input bytes on which other branches in it depend.
    pub decided_by: Vec<InputByte>,
}

/// What could have ended a loop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Condition {
    pub place: String,
    /// What the loop goes on while: `i < n`.
    pub goes_on_while: String,
    /// How often the run came to it.
    pub passed: u64,
    pub operands: Vec<OperandValues>,
    pub depends_on: Vec<InputByte>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OperandValues {
    pub name: String,
    /// In the last rounds, the last one last.
    pub values: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct InputByte {
    pub offset: u32,
    pub value: u8,
}

impl Rounds {
    /// In a few words: `loop at a.c:3:3 (run) still going after 12 rounds while i < n (i is 0)`.
    pub fn headline(&self) -> Option<String> {
        let innermost = self.loops.first()?;
        let LoopRounds { function, place, rounds, .. } = innermost;
        let file = place.rsplit('/').next().unwrap_or(place);
        let at = if file.is_empty() { function.clone() } else { format!("{file} ({function})") };
        let all = || innermost.conditions.iter();
        let driven = all().find(|condition| !condition.depends_on.is_empty());
        let shown = driven.or_else(|| all().find(|condition| condition.passed > 0));
        let going = shown
            .map(Condition::with_values)
            .map_or_else(String::new, |text| format!(" while {text}"));
        Some(format!("loop at {at} still going after {rounds} rounds{going}"))
    }
}

impl Condition {
    fn with_values(&self) -> String {
        let values = self.operands.iter().filter_map(|operand| {
            let last = operand.values.last()?;
            Some(format!("{} is {last}", operand.name))
        });
        let values: Vec<String> = values.collect();
        match values.is_empty() {
            true => self.goes_on_while.clone(),
            false => format!("{} ({})", self.goes_on_while, values.join(", ")),
        }
    }
}

impl fmt::Display for Rounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (depth, of) in self.loops.iter().enumerate() {
            let inside = if depth == 0 { "the run was in the loop" } else { "inside the loop" };
            let LoopRounds { function, place, rounds, entered, .. } = of;
            writeln!(f, "{inside} at {place} ({function})")?;
            writeln!(f, "    still going after {rounds} rounds, entered {entered} times")?;
            if of.conditions.is_empty() {
                writeln!(f, "    no condition of it leads out")?;
            }
            of.conditions.iter().try_for_each(|condition| write!(f, "{condition}"))?;
            if !of.decided_by.is_empty() {
                writeln!(f, "    other branches in it depend on {}", bytes(&of.decided_by))?;
            }
        }
        match self.cut {
            true => {
                writeln!(f, "What depends on the input is known from the run's beginning only.")
            }
            false => Ok(()),
        }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "    goes on while {} at {}", self.goes_on_while, self.place)?;
        if self.passed == 0 {
            return writeln!(f, "        the run did not come to it");
        }
        for OperandValues { name, values } in &self.operands {
            let stays = values.windows(2).all(|two| two[0] == two[1]);
            match values.last().filter(|_| stays) {
                Some(value) => writeln!(f, "        {name} stays {value} in the last rounds")?,
                None => writeln!(f, "        {name} in the last rounds: {}", values.join(", "))?,
            }
        }
        match self.depends_on.is_empty() {
            true => writeln!(f, "        no dependence on the input was recorded"),
            false => writeln!(f, "        depends on {}", bytes(&self.depends_on)),
        }
    }
}

/// `input bytes 0 ('a'), 3 (0x00)`.
fn bytes(all: &[InputByte]) -> String {
    const SHOWN: usize = 16;
    let one = |byte: &InputByte| match byte.value {
        shown @ b' '..=b'~' => format!("{} ('{}')", byte.offset, char::from(shown)),
        other => format!("{} ({other:#04x})", byte.offset),
    };
    let mut list: Vec<String> = all.iter().take(SHOWN).map(one).collect();
    if all.len() > SHOWN {
        list.push(format!("{} more", all.len() - SHOWN));
    }
    format!("input bytes {}", list.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loop_is_told_with_its_values_and_bytes() {
        let operand = |name: &str, values: &[&str]| OperandValues {
            name: name.to_owned(),
            values: values.iter().map(ToString::to_string).collect(),
        };
        let condition = Condition {
            place: "/src/a.c:3:10".to_owned(),
            goes_on_while: "i < n".to_owned(),
            passed: 12,
            operands: vec![operand("i", &["0", "0"]), operand("n", &["7", "9"])],
            depends_on: vec![
                InputByte { offset: 0, value: b'a' },
                InputByte { offset: 3, value: 0 },
            ],
        };
        let of = LoopRounds {
            function: "run".to_owned(),
            place: "/src/a.c:3:3".to_owned(),
            rounds: 12,
            entered: 1,
            conditions: vec![condition],
            decided_by: Vec::new(),
        };
        let rounds = Rounds { loops: vec![of], cut: false };
        let text = rounds.to_string();
        for expected in [
            "i stays 0 in the last rounds",
            "n in the last rounds: 7, 9",
            "depends on input bytes 0 ('a'), 3 (0x00)",
        ] {
            assert!(text.contains(expected), "{expected}: {text}");
        }
        let headline =
            "loop at a.c:3:3 (run) still going after 12 rounds while i < n (i is 0, n is 9)";
        assert_eq!(rounds.headline().as_deref(), Some(headline));
    }
}
