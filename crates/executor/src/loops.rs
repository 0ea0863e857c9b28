//! Where a run that does not end is: the frames that are on its stack whenever one looks.

use std::time::Duration;

use runner::{PlainRunner, RunnerError, SanitizerFrame, SanitizerReport, TargetOptions};
use search::{Diagnosis, Frame};

pub(crate) struct Loops {
    runner: PlainRunner,
}

impl Loops {
    /// `options` are those of the sanitized variant, which samples its stack from the middle of
    /// `run_time` on.
    pub(crate) fn new(
        mut options: TargetOptions,
        run_time: Duration,
    ) -> Result<Loops, RunnerError> {
        const SAMPLING: Duration = Duration::from_secs(2);
        let run_ms = run_time.as_millis();
        options.limits.run_time = run_time + SAMPLING;
        options.environment.push(("TARRAGON_SAMPLES".into(), (run_ms / 2).to_string().into()));
        Ok(Loops { runner: PlainRunner::new(options)? })
    }

    /// What a run prints that does not end.
    pub(crate) fn run(&mut self, input: &[u8]) -> Result<Vec<u8>, RunnerError> {
        self.runner.run(input).map(|run| run.stderr)
    }

    /// Where it is, by what it printed.
    pub(crate) fn locate(printed: &[u8]) -> Option<Diagnosis> {
        diagnosis(&telling(SanitizerReport::samples(printed)))
    }
}

/// Without the first quarter, which may be from before the loop on a machine under load, and
/// without those at code that belongs to no line, whose function is a guess.
fn telling(mut samples: Vec<Vec<SanitizerFrame>>) -> Vec<Vec<SanitizerFrame>> {
    samples.drain(..samples.len() / 4);
    let has_line = |frames: &Vec<SanitizerFrame>| {
        let place = frames.last().map_or("", |frame| frame.place.as_str());
        place.split(':').nth(1) != Some("0")
    };
    if samples.iter().any(has_line) {
        samples.retain(has_line);
    }
    samples
}

fn diagnosis(samples: &[Vec<SanitizerFrame>]) -> Option<Diagnosis> {
    let depth = common_depth(samples);
    let (first, innermost) = (samples.first()?, depth.checked_sub(1)?);
    let mut frames: Vec<Frame> = first[..depth].iter().map(frame).collect();
    frames[innermost].place = lines(samples, innermost);
    frames.reverse();
    let stack: Vec<String> = frames.iter().map(|frame| format!("    {frame}\n")).collect();
    let report = format!("frames that the run never left:\n{}", stack.concat()).into_bytes();
    let kind = Diagnosis::ENDLESS_LOOP.to_owned();
    Some(Diagnosis { kind, fatal: true, frames, report, hidden: None, rounds: None })
}

fn frame(frame: &SanitizerFrame) -> Frame {
    Frame { function: frame.function.clone(), place: frame.place.clone() }
}

/// How many functions all stacks begin with.
fn common_depth(samples: &[Vec<SanitizerFrame>]) -> usize {
    let is_common = |depth: &usize| {
        let mut functions =
            samples.iter().map(|frames| frames.get(*depth).map(|frame| &frame.function));
        let first = functions.next().flatten();
        first.is_some() && functions.all(|function| function == first)
    };
    (0..).take_while(is_common).count()
}

/// The lines at which the frames of this depth were seen: `calc.c:10-14`.
fn lines(samples: &[Vec<SanitizerFrame>], depth: usize) -> String {
    let place = |frames: &Vec<SanitizerFrame>| {
        let mut parts = frames[depth].place.split(':');
        Some((parts.next()?.to_owned(), parts.next()?.parse::<u32>().ok()?))
    };
    let places: Vec<(String, u32)> = samples.iter().filter_map(place).collect();
    let range =
        places.iter().map(|(_, line)| *line).min().zip(places.iter().map(|(_, line)| *line).max());
    match (places.first(), range) {
        (Some((file, _)), Some((first, last))) if first < last => format!("{file}:{first}-{last}"),
        (Some((file, line)), _) => format!("{file}:{line}"),
        _ => samples[0][depth].place.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stack(frames: &[(&str, &str)]) -> Vec<SanitizerFrame> {
        let frame = |(function, place): &(&str, &str)| SanitizerFrame {
            function: (*function).to_owned(),
            place: (*place).to_owned(),
        };
        frames.iter().map(frame).collect()
    }

    #[test]
    fn some_samples_tell_nothing() {
        let start = stack(&[("main", "/a.c:80:1")]);
        let nowhere = stack(&[("main", "/a.c:0:1")]);
        let inside = stack(&[("main", "/a.c:90:1"), ("run", "/a.c:10:3")]);
        let samples = vec![start.clone(), inside.clone(), nowhere.clone(), inside.clone()];
        assert_eq!(telling(samples), [inside.clone(), inside]);
        assert_eq!(telling(vec![nowhere.clone()]), [nowhere]);
        assert_eq!(telling(vec![start.clone()]), [start]);
    }

    #[test]
    fn what_is_never_left_is_the_loop() {
        let main = ("main", "/a.c:90:1");
        let samples = [
            stack(&[main, ("run", "/a.c:12:5"), ("add", "/a.c:3:1")]),
            stack(&[main, ("run", "/a.c:10:3")]),
            stack(&[main, ("run", "/a.c:14:5"), ("get", "/a.c:5:1")]),
        ];
        let found = diagnosis(&samples).expect("a loop");
        let frames: Vec<String> = found.frames.iter().map(ToString::to_string).collect();
        assert_eq!(frames, ["/a.c:10-14 (run)", "/a.c:90:1 (main)"]);
        assert_eq!(diagnosis(&[]), None);
        assert_eq!(diagnosis(&[stack(&[main]), stack(&[("thread", "/a.c:1:1")])]), None);
    }
}
