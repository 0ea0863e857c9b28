//! The cross-check: both programs run each input that is worth it, and what differs is confirmed,
//! made smaller, grouped and written.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::Result;
use campaign::WallClock;
use diff::{
    Compared, Difference, Groups, Observation, Place, Rules, Side, Sighting, Signature, compare,
    shrink,
};
use search::{Clock as _, Stop};
use serde::Serialize;

use super::exchange::Generated;
use super::output::{Find, Output};
use super::program::Program;
use super::screen::Screen;

/// Steps of a side's search before the other has its turn.
const SLICE: usize = 64;
/// Times that a difference is run again before it is believed.
const AGAIN: usize = 2;
/// Runs of both programs to make an input smaller.
const SHRINK: usize = 300;
/// Differences that look alike are looked into more seldom once so many brought no new group.
const FRUITLESS: u64 = 8;

#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Counts {
    /// Inputs that each side's search ran.
    pub generated: [u64; 2],
    pub compared: u64,
    pub different: u64,
    /// One of the programs was ended by a limit.
    pub unfinished: u64,
    pub both_crash: u64,
    /// Differences that were gone when the programs ran again.
    pub unstable: u64,
    /// Differences like others, of which no smaller input was looked for.
    pub passed_over: u64,
}

pub(crate) struct Check<'a> {
    pub programs: [Program<'a>; 2],
    pub rules: Rules,
    pub output: Output,
    pub screen: Screen,
    pub stop: &'a AtomicBool,
    pub clock: &'a WallClock,
    pub time: Option<Duration>,
    pub max_runs: Option<u64>,
    /// As many different differences end it.
    pub most: Option<u32>,
    pub counts: Counts,
    pub groups: Groups,
    pub memory: Memory,
}

/// What is known of inputs and differences.
#[derive(Default)]
pub(crate) struct Memory {
    /// Inputs that were compared.
    inputs: HashSet<Vec<u8>>,
    /// The group of each signature of an input that was not made smaller.
    groups: HashMap<Signature, usize>,
    /// Of differences that look alike: how many in a row brought no new group, and how many there
    /// were since.
    fruitless: HashMap<Signature, (u64, u64)>,
}

/// Two runs of each program on one input, and how they differ.
struct Pair {
    runs: [Observation; 2],
    compared: Compared,
}

impl Check<'_> {
    /// Says why it ended.
    pub(crate) fn run(&mut self) -> Result<String> {
        // An interrupt ends runs that are going on, which then cannot be told from others that
        // fail.
        let stop = self.stop;
        match self.run_until_end() {
            Err(_) if stop.load(Ordering::Relaxed) => Ok(Stop::Interrupted.to_string()),
            end => end,
        }
    }

    fn run_until_end(&mut self) -> Result<String> {
        loop {
            for side in Side::BOTH {
                if let Some(end) = self.turn(side)? {
                    return Ok(end.to_string());
                }
            }
            let mut searches = self.programs.iter().filter_map(|program| program.search.as_ref());
            if !searches.any(|search| search.has_more()) {
                return Ok(Stop::Finished.to_string());
            }
        }
    }

    /// A part of one side's search, and the comparison of what it made.
    fn turn(&mut self, side: Side) -> Result<Option<Stop>> {
        if let Some(end) = self.end() {
            return Ok(Some(end));
        }
        let steps = self.steps();
        let Some(search) = &mut self.programs[side.index()].search else { return Ok(None) };
        if !search.has_more() {
            return Ok(None);
        }
        let (generated, stop) = search.advance(steps);
        self.counts.generated[side.index()] += generated.len() as u64;
        for input in generated {
            if self.end().is_some() && stop.is_none() {
                break;
            }
            if input.is_new || !self.memory.inputs.contains(&input.input) {
                self.take(side, input)?;
            }
        }
        self.screen.progress(self.clock.elapsed(), &self.counts, self.groups.all().len());
        match stop {
            Some(Stop::Execution(error)) => Err(error.into()),
            Some(Stop::Output(error)) => Err(error.into()),
            stop => Ok(stop.or_else(|| self.end())),
        }
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn end(&self) -> Option<Stop> {
        let runs = self.counts.generated.iter().sum::<u64>();
        if self.is_stopped() {
            Some(Stop::Interrupted)
        } else if let Some(most) =
            self.most.filter(|most| self.groups.all().len() >= *most as usize)
        {
            Some(Stop::EnoughBugs(most))
        } else if self.max_runs.is_some_and(|most| runs >= most) {
            Some(Stop::RunsUp)
        } else {
            let is_up = self.time.is_some_and(|time| self.clock.elapsed() >= time);
            is_up.then_some(Stop::TimeUp)
        }
    }

    /// A step may run several inputs, but seldom does.
    fn steps(&self) -> usize {
        let runs = self.counts.generated.iter().sum::<u64>();
        let left = self.max_runs.map_or(u64::MAX, |most| most.saturating_sub(runs));
        SLICE.min(usize::try_from(left).unwrap_or(usize::MAX))
    }

    fn take(&mut self, side: Side, generated: Generated) -> Result<()> {
        let Generated { input, is_new, is_own } = generated;
        self.check(&input)?;
        if !is_new || !is_own {
            return Ok(());
        }
        let file = self.output.keep(side, &input)?;
        self.screen.kept(&file);
        if let Some(search) = &mut self.programs[side.other().index()].search {
            search.strategy.offer(input.clone());
        }
        Side::BOTH.into_iter().try_for_each(|side| self.look_for_edge(side, &input))
    }

    /// Where two programs have the same limit but for one, no flip of either leads between: looks
    /// for the shortest beginning of an input on which a program still does what it does on all of
    /// it, and checks what comes on the way.
    fn look_for_edge(&mut self, side: Side, input: &[u8]) -> Result<()> {
        let whole = self.check(input)?;
        let (mut least, mut most) = (0, input.len());
        while least < most && self.end().is_none() {
            let middle = usize::midpoint(least, most);
            let beginning = self.check(&input[..middle])?;
            let [one, other] = [&whole, &beginning].map(|runs| &runs[side.index()]);
            if (one.outcome, &one.stdout) == (other.outcome, &other.stdout) {
                most = middle;
            } else {
                least = middle + 1;
            }
        }
        Ok(())
    }

    /// Runs both programs, and looks into what differs if the input was not met before.
    fn check(&mut self, input: &[u8]) -> Result<[Observation; 2]> {
        let Pair { runs, compared } = self.observe(input)?;
        if self.memory.inputs.insert(input.to_vec()) {
            self.judge(input, &runs, &compared)?;
        }
        Ok(runs)
    }

    fn judge(&mut self, input: &[u8], runs: &[Observation; 2], compared: &Compared) -> Result<()> {
        self.counts.compared += 1;
        let crashes = runs.iter().filter(|run| run.outcome.is_crash()).count();
        self.counts.both_crash += u64::from(crashes == 2);
        match compared {
            Compared::Same => Ok(()),
            Compared::Unfinished => {
                self.counts.unfinished += 1;
                Ok(())
            }
            Compared::Different(difference) => self.look_into(input, difference, runs),
        }
    }

    fn observe(&mut self, input: &[u8]) -> Result<Pair> {
        let [a, b] = &mut self.programs;
        let runs = [a.observe(input)?, b.observe(input)?];
        let compared = compare(&self.rules, runs.each_ref());
        Ok(Pair { runs, compared })
    }

    fn look_into(
        &mut self,
        input: &[u8],
        difference: &Difference,
        runs: &[Observation; 2],
    ) -> Result<()> {
        let signature = self.signature(input, difference)?;
        if let Some(&id) = self.memory.groups.get(&signature) {
            self.counts.different += 1;
            self.groups.count(id);
            return Ok(());
        }
        if !self.is_confirmed(input, difference, runs)? {
            self.counts.unstable += 1;
            return Ok(());
        }
        self.counts.different += 1;
        if !self.is_worth_a_look(&signature) {
            self.counts.passed_over += 1;
            return Ok(());
        }
        // On disk before anything else: to make it smaller takes a while.
        let found =
            Find { input: input.to_vec(), difference: difference.clone(), runs: runs.clone() };
        let place = self.output.add(&found, &signature)?;
        let small = self.smaller(found)?;
        let small_signature = match self.is_stopped() {
            true => signature.clone(),
            false => self.signature(&small.input, &small.difference)?,
        };
        let (sighting, group) = self.groups.add(&small_signature, &small.input);
        let id = group.id;
        self.memory.groups.insert(signature.clone(), id);
        self.memory.groups.insert(small_signature.clone(), id);
        self.memory.learn(&signature, sighting == Sighting::New);
        let event = self.output.settle(place, (sighting, id), &small, &small_signature)?;
        self.screen.found(event);
        Ok(())
    }

    fn signature(&mut self, input: &[u8], difference: &Difference) -> Result<Signature> {
        let [a, b] = &mut self.programs;
        let [a, b] = [a.trace(input)?, b.trace(input)?];
        Ok(Signature::new(difference, [a.stopped, b.stopped], [a.ran, b.ran]))
    }

    /// Whether the programs do the same when they run again.
    fn is_confirmed(
        &mut self,
        input: &[u8],
        difference: &Difference,
        runs: &[Observation; 2],
    ) -> Result<bool> {
        for _ in 0..AGAIN {
            let again = self.observe(input)?;
            if !difference.is_stable(&self.rules, runs.each_ref(), again.runs.each_ref()) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// A smaller input for the same difference, where the program that stopped stops at the same
    /// place.
    fn smaller(&mut self, found: Find) -> Result<Find> {
        let place = self.stopping_place(&found.input, &found.difference)?;
        let mut smallest = found.clone();
        let mut failed = None;
        shrink(&found.input, SHRINK, |candidate| {
            let tried =
                self.end().map_or_else(|| self.alike(candidate, &found, &place), |_| Ok(None));
            match tried {
                Ok(Some(find)) => {
                    smallest = find;
                    true
                }
                Ok(None) => false,
                Err(error) => {
                    failed = Some(error);
                    false
                }
            }
        });
        if self.is_stopped() {
            // It is as good as any, and no run can say more.
            return Ok(found);
        }
        if let Some(error) = failed {
            return Err(error);
        }
        let is_confirmed =
            self.is_confirmed(&smallest.input, &smallest.difference, &smallest.runs)?;
        Ok(if is_confirmed { smallest } else { found })
    }

    fn alike(
        &mut self,
        candidate: &[u8],
        found: &Find,
        place: &Option<String>,
    ) -> Result<Option<Find>> {
        let Pair { runs, compared } = self.observe(candidate)?;
        let Compared::Different(difference) = compared else { return Ok(None) };
        let is_alike = difference.is_like(&found.difference)
            && self.stopping_place(candidate, &difference)? == *place;
        Ok(is_alike.then(|| Find { input: candidate.to_vec(), difference, runs }))
    }

    fn stopping_place(&mut self, input: &[u8], difference: &Difference) -> Result<Option<String>> {
        match difference.class.stopped() {
            Some(side) => Ok(self.programs[side.index()].trace(input)?.stopped),
            None => Ok(None),
        }
    }

    /// Inputs with the same few differences come by the thousand, and each takes a second.
    fn is_worth_a_look(&mut self, signature: &Signature) -> bool {
        let (fruitless, since) = self.memory.fruitless.entry(core(signature)).or_default();
        *since += 1;
        *fruitless < FRUITLESS || since.is_power_of_two()
    }
}

impl Memory {
    fn learn(&mut self, signature: &Signature, is_new: bool) {
        let (fruitless, since) = self.fruitless.entry(core(signature)).or_default();
        (*fruitless, *since) = if is_new { (0, 0) } else { (*fruitless + 1, *since) };
    }
}

/// What stays of a signature while its input is made smaller.
fn core(signature: &Signature) -> Signature {
    let places = signature.places.clone().map(|place| match place {
        Place::Ran(_) => Place::Unknown,
        place => place,
    });
    Signature { places, ..signature.clone() }
}
