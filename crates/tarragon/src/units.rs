//! Times, sizes and variables on the command line.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// `90`, `60s`, `5m`, `1h 30m`, `200ms`; a number alone is seconds.
pub(crate) fn time(text: &str) -> Result<Duration, String> {
    if let Ok(seconds) = text.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string());
    }
    humantime::parse_duration(text)
        .map_err(|error| format!("{error}; write a time as 60s, 5m or 1h"))
}

/// A time that a run may take.
pub(crate) fn limit(text: &str) -> Result<Duration, String> {
    const LEAST: Duration = Duration::from_millis(1);
    match time(text)? {
        limit if limit < LEAST => Err("no run ends in this time; the least is 1ms".to_owned()),
        limit => Ok(limit),
    }
}

/// Memory that a run may take.
pub(crate) fn memory(text: &str) -> Result<u64, String> {
    const LEAST: u64 = 1 << 20;
    match size(text)? {
        ..LEAST => Err("no program starts in this memory; the least is 1M".to_owned()),
        memory => Ok(memory),
    }
}

/// `512M`, `2G`, `64K`, `1000`: bytes, with powers of 1024.
pub(crate) fn size(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let factor: u64 =
        match text[digits.len()..].to_ascii_uppercase().trim_end_matches('B').trim_end_matches('I')
        {
            "" => 1,
            "K" => 1 << 10,
            "M" => 1 << 20,
            "G" => 1 << 30,
            _ => return Err("write a size as 512M, 2G or a number of bytes".to_owned()),
        };
    let number: u64 = digits
        .trim()
        .parse()
        .map_err(|_| "write a size as 512M, 2G or a number of bytes".to_owned())?;
    number.checked_mul(factor).ok_or_else(|| "the size is too large".to_owned())
}

/// `NAME=VALUE`, or `NAME` for one that is set here.
pub(crate) fn variable(text: &str) -> Result<(OsString, OsString), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.into(), value.into())),
        None if !text.is_empty() => {
            let value = std::env::var_os(text);
            value
                .map(|value| (text.into(), value))
                .ok_or_else(|| format!("{text} is not set; write NAME=VALUE"))
        }
        _ => Err("write a variable as NAME=VALUE".to_owned()),
    }
}

/// The full path of something that is there.
pub(crate) fn existing(text: &str) -> Result<PathBuf, String> {
    std::path::absolute(text)
        .and_then(|path| std::fs::metadata(&path).map(|_| path))
        .map_err(|error| error.to_string())
}

/// `i/n` with i from 0 to n-1.
pub(crate) fn share(text: &str) -> Result<(u64, u64), String> {
    let parts = text.split_once('/').and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?)));
    parts
        .filter(|(i, n)| i < n)
        .ok_or_else(|| "write a part as I/N with I from 0 to N-1".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        assert_eq!(size("512M"), Ok(512 << 20));
        assert_eq!(size("2GiB"), Ok(2 << 30));
        assert_eq!(size("17"), Ok(17));
        assert_eq!(size("3 kb"), Ok(3 << 10));
        assert!(
            size("M").is_err()
                && size("5X").is_err()
                && size("99999999999G").is_err()
                && size("-1").is_err()
        );
    }

    #[test]
    fn limits_leave_a_run_something() {
        assert_eq!(limit("1ms"), Ok(Duration::from_millis(1)));
        assert!(limit("0s").is_err() && limit("0").is_err() && limit("10us").is_err());
        assert_eq!(memory("1M"), Ok(1 << 20));
        assert!(memory("1k").is_err() && memory("0").is_err());
    }

    #[test]
    fn shares() {
        assert_eq!(share("0/3"), Ok((0, 3)));
        assert!(share("3/3").is_err() && share("1").is_err() && share("a/2").is_err());
    }

    #[test]
    fn times() {
        assert_eq!(time("60s"), Ok(Duration::from_secs(60)));
        assert_eq!(time("1.5"), Ok(Duration::from_millis(1500)));
        assert_eq!(time("1h 30m"), Ok(Duration::from_secs(5400)));
        assert!(time("-3").is_err() && time("soon").is_err() && time("inf").is_err());
    }
}
