//! Integer solutions of small systems of linear inequalities.
//!
//! Variables are eliminated one after the other (Fourier and Motzkin), each inequality divided by
//! the greatest common divisor of its factors; then values are chosen backwards, the smallest
//! first. What is not found and not refuted within the limits is unknown.

use crate::budget::{Budget, Stop};

/// More inequalities than this are not made.
const ROWS: usize = 1_500;
/// So many values are tried for one variable.
const CANDIDATES: i128 = 64;
/// So many values are tried in all.
const TRIES: usize = 5_000;

/// The sum of the variables times their factors plus the constant is not negative.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    pub factors: Vec<i128>,
    pub constant: i128,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    Solution(Vec<i128>),
    None,
    Unknown,
}

/// Values of `count` variables that satisfy all rows.
pub fn solve(rows: Vec<Row>, count: usize, budget: &mut Budget) -> Result<Outcome, Stop> {
    let mut system = Vec::new();
    for row in rows {
        match row.tightened() {
            Tight::Row(row) => insert(&mut system, row),
            Tight::Always => {}
            Tight::Never => return Ok(Outcome::None),
        }
    }
    let mut steps: Vec<(usize, Vec<Row>)> = Vec::new();
    let mut left: Vec<usize> = (0..count).collect();
    while let Some(variable) = cheapest(&system, &mut left) {
        let (about, rest): (Vec<Row>, Vec<Row>) =
            system.into_iter().partition(|row| row.factors[variable] != 0);
        system = rest;
        if !eliminate(&about, variable, &mut system, budget)? {
            return Ok(Outcome::None);
        }
        if system.len() > ROWS {
            return Ok(Outcome::Unknown);
        }
        steps.push((variable, about));
    }
    let mut choice = Choice { steps: &steps, values: vec![0; count], tries: 0, cut_short: false };
    Ok(match choice.choose(steps.len(), budget)? {
        true => Outcome::Solution(choice.values),
        false if choice.cut_short => Outcome::Unknown,
        false => Outcome::None,
    })
}

enum Tight {
    Row(Row),
    Always,
    Never,
}

impl Row {
    /// Divides by the greatest common divisor; the constant is rounded down, which loses no integer
    /// solution.
    fn tightened(mut self) -> Tight {
        let divisor =
            self.factors.iter().fold(0, |divisor, &factor| gcd(divisor, factor.unsigned_abs()));
        if divisor == 0 {
            return if self.constant >= 0 { Tight::Always } else { Tight::Never };
        }
        let divisor = divisor as i128;
        self.factors.iter_mut().for_each(|factor| *factor /= divisor);
        self.constant = self.constant.div_euclid(divisor);
        Tight::Row(self)
    }

    /// The row's value without one variable; `None` if that is too large.
    fn without(&self, variable: usize, values: &[i128]) -> Option<i128> {
        let mut others =
            self.factors.iter().zip(values).enumerate().filter(|&(i, _)| i != variable);
        others.try_fold(self.constant, |sum, (_, (factor, value))| {
            sum.checked_add(factor.checked_mul(*value)?)
        })
    }
}

fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Keeps the stronger of two rows with the same factors.
fn insert(rows: &mut Vec<Row>, row: Row) {
    match rows.iter_mut().find(|known| known.factors == row.factors) {
        Some(known) => known.constant = known.constant.min(row.constant),
        None => rows.push(row),
    }
}

/// Takes out the variable whose elimination makes the fewest rows.
fn cheapest(rows: &[Row], left: &mut Vec<usize>) -> Option<usize> {
    let cost = |variable: &usize| {
        let above = rows.iter().filter(|row| row.factors[*variable] > 0).count();
        let below = rows.iter().filter(|row| row.factors[*variable] < 0).count();
        above * below
    };
    let place = (0..left.len()).min_by_key(|&i| cost(&left[i]))?;
    Some(left.swap_remove(place))
}

/// Adds what follows from pairs of rows about the variable; false if that cannot be satisfied.
fn eliminate(
    about: &[Row],
    variable: usize,
    rows: &mut Vec<Row>,
    budget: &mut Budget,
) -> Result<bool, Stop> {
    for above in about.iter().filter(|row| row.factors[variable] > 0) {
        for below in about.iter().filter(|row| row.factors[variable] < 0) {
            budget.work(1 + rows.len() / 8)?;
            // A sum that is too large is left out: what follows is weaker, and values are checked
            // against all rows.
            let Some(sum) = combine(above, below, variable) else { continue };
            match sum.tightened() {
                Tight::Row(row) => insert(rows, row),
                Tight::Always => {}
                Tight::Never => return Ok(false),
            }
            if rows.len() > ROWS {
                return Ok(true);
            }
        }
    }
    Ok(true)
}

fn combine(above: &Row, below: &Row, variable: usize) -> Option<Row> {
    let (p, q) = (above.factors[variable], -below.factors[variable]);
    let add = |a: i128, b: i128| a.checked_mul(q)?.checked_add(b.checked_mul(p)?);
    let factors: Option<Vec<i128>> =
        above.factors.iter().zip(&below.factors).map(|(&a, &b)| add(a, b)).collect();
    Some(Row { factors: factors?, constant: add(above.constant, below.constant)? })
}

/// Chooses values in the reverse order of elimination.
struct Choice<'s> {
    steps: &'s [(usize, Vec<Row>)],
    values: Vec<i128>,
    tries: usize,
    /// Whether values were left out.
    cut_short: bool,
}

impl Choice<'_> {
    fn choose(&mut self, remaining: usize, budget: &mut Budget) -> Result<bool, Stop> {
        let Some(step) = remaining.checked_sub(1) else { return Ok(true) };
        let (variable, rows) = &self.steps[step];
        let (mut least, mut most): (Option<i128>, Option<i128>) = (None, None);
        for row in rows {
            let Some(others) = row.without(*variable, &self.values) else {
                self.cut_short = true;
                return Ok(false);
            };
            let factor = row.factors[*variable];
            if factor > 0 {
                let bound = -others.div_euclid(factor);
                least = Some(least.map_or(bound, |least| least.max(bound)));
            } else {
                let bound = others.div_euclid(-factor);
                most = Some(most.map_or(bound, |most| most.min(bound)));
            }
        }
        let first = least.or(most.map(|most| most.min(0))).unwrap_or(0);
        let last = most.unwrap_or(first.saturating_add(CANDIDATES));
        self.cut_short |=
            least.is_none() || most.is_none() || last.saturating_sub(first) >= CANDIDATES;
        for value in first..=last.min(first.saturating_add(CANDIDATES)) {
            self.tries += 1;
            budget.work(rows.len())?;
            if self.tries > TRIES {
                self.cut_short = true;
                return Ok(false);
            }
            self.values[*variable] = value;
            if self.choose(step, budget)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn holds(row: &Row, values: &[i128]) -> bool {
        row.factors.iter().zip(values).map(|(factor, value)| factor * value).sum::<i128>()
            + row.constant
            >= 0
    }

    #[test]
    fn parity_is_refuted_without_bounds() {
        let rows = [(2, -2, -1), (-2, 2, 1)];
        let rows = rows.map(|(x, y, constant)| Row { factors: vec![x, y], constant });
        assert_eq!(solve(rows.to_vec(), 2, &mut Budget::default()), Ok(Outcome::None));
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn boxes_are_searched_as_by_brute_force(
            rows in prop::collection::vec((prop::array::uniform3(-3i128..4), -9i128..10), 0..6),
        ) {
            let mut rows: Vec<Row> =
                rows.into_iter().map(|(factors, constant)| Row { factors: factors.to_vec(), constant }).collect();
            for variable in 0..3 {
                let unit = |sign: i128| (0..3).map(|i| if i == variable { sign } else { 0 }).collect();
                rows.push(Row { factors: unit(1), constant: 0 });
                rows.push(Row { factors: unit(-1), constant: 5 });
            }
            let all = (0..216).map(|n| vec![n % 6, n / 6 % 6, n / 36]);
            let any = all.into_iter().any(|values| rows.iter().all(|row| holds(row, &values)));
            match solve(rows.clone(), 3, &mut Budget::default()).unwrap() {
                Outcome::Solution(values) => prop_assert!(rows.iter().all(|row| holds(row, &values))),
                Outcome::None => prop_assert!(!any),
                Outcome::Unknown => prop_assert!(false, "unknown in a small box"),
            }
        }
    }
}
