//! [`Ramp`]: load that goes up, or down, in steps.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use units::{Rate, Span};

use crate::Profile;

/// Levels one after the other, each held for so long. A level is a rate in an open loop and a number of clients in a
/// closed one. They go from one to another in equal steps, or stand in a list.
///
/// ```
/// use traffic::Ramp;
/// use units::Span;
///
/// let ramp: Ramp = "100:1.1k:500:20s".parse()?;
/// assert_eq!(ramp.levels(), [100.0, 600.0, 1100.0]);
/// assert_eq!(ramp.total(), Span::from_secs(60));
/// let down: Ramp = "50:0:20:1m".parse()?;
/// assert_eq!(down.levels(), [50.0, 30.0, 10.0, 0.0], "the last step is as long as what is left");
/// let surge: Ramp = "5:20s,50:10s,5:30s".parse()?;
/// assert_eq!((surge.levels(), surge.total()), (vec![5.0, 50.0, 5.0], Span::from_secs(60)));
/// # Ok::<(), traffic::RampError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Ramp {
    /// In the order in which they are offered; at least one.
    levels: Arc<[Level]>,
    /// As it is written.
    text: Arc<str>,
}

/// A load, and for how long.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Level {
    /// Per second, or a number of clients.
    pub level: f64,
    /// How long it is held.
    pub hold: Span,
}

/// Why a text is not a ramp.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{text:?} is not a ramp: {what}; expected FROM:TO:STEP:HOLD, as in 100:1100:100:20s, or LEVEL:HOLD,.., as in 5:20s,50:10s"
)]
pub struct RampError {
    text: String,
    what: String,
}

impl Ramp {
    /// A ramp with more levels is a mistake in one of its figures.
    const MAX_LEVELS: usize = 10_000;

    /// One rate.
    pub fn steady(rate: Rate, hold: Span) -> Self {
        let level = Level { level: rate.as_f64(), hold };
        Self { levels: Arc::new([level]), text: format!("{}:{hold}", level.level).into() }
    }

    /// The levels in the order in which they are offered; of equal steps the first is FROM, the last TO. There is at least one.
    pub fn levels(&self) -> Vec<f64> {
        self.levels.iter().map(|level| level.level).collect()
    }

    /// How many levels there are.
    #[allow(clippy::len_without_is_empty, reason = "there is at least one")]
    pub fn len(&self) -> usize {
        self.levels.len()
    }

    /// How long a level is held at most.
    pub fn longest_hold(&self) -> Span {
        self.levels.iter().map(|level| level.hold).max().unwrap_or_default()
    }

    /// How long all levels take together.
    pub fn total(&self) -> Span {
        self.levels.iter().map(|level| level.hold).sum()
    }

    /// The ramp as rates per second, the first of them for so much longer; the last goes on for ever.
    pub fn profile(&self, before: Span) -> Profile {
        let mut before = before;
        // A level lies between two rates, so it is one.
        Profile::steps(self.levels.iter().map(|&Level { level, hold }| {
            (hold + std::mem::take(&mut before), Rate::per_second(level).unwrap_or_default())
        }))
    }

    /// The levels that are offered in so long a time, as they are held in it: the last of them until its end.
    pub fn within(&self, length: Span) -> Vec<Level> {
        let mut left = length;
        let mut levels: Vec<Level> = Vec::new();
        for &Level { level, hold } in self.levels.iter() {
            let hold = hold.min(left);
            if !hold.is_zero() {
                levels.push(Level { level, hold });
            }
            left = left.saturating_sub(hold);
        }
        if let Some(last) = levels.last_mut() {
            last.hold += left;
        }
        levels
    }

    fn even(from: f64, to: f64, step: f64, hold: Span) -> Result<Vec<Level>, String> {
        if from == 0.0 && to == 0.0 {
            return Err("FROM and TO are both 0, so nothing would be offered".to_owned());
        }
        if hold.is_zero() {
            return Err("HOLD is 0, so no level would be offered".to_owned());
        }
        if step == 0.0 && from != to {
            return Err("STEP is 0, so TO would never be reached".to_owned());
        }
        // A whole number of steps must not get one more because a fraction such as 0.1 is not
        // exact in binary.
        const ROUNDING: f64 = 1e-9;
        let steps = if from == to { 0.0 } else { ((to - from).abs() / step - ROUNDING).ceil() };
        if steps >= Self::MAX_LEVELS as f64 {
            return Err(format!(
                "STEP {step} makes more than {} levels between {from} and {to}",
                Self::MAX_LEVELS
            ));
        }
        let steps = steps.max(0.0) as usize;
        let level = |number: usize| match number {
            _ if number == steps => to,
            _ if from < to => from + step * number as f64,
            _ => from - step * number as f64,
        };
        Ok((0..=steps).map(|number| Level { level: level(number), hold }).collect())
    }

    fn listed(text: &str) -> Result<Vec<Level>, String> {
        let levels: Vec<Level> = text
            .split(',')
            .map(|part| {
                let (number, span) =
                    part.split_once(':').ok_or_else(|| format!("{part:?} has no HOLD after a colon"))?;
                Ok(Level { level: level("LEVEL", number.trim())?, hold: hold(span.trim())? })
            })
            .collect::<Result<_, String>>()?;
        match levels.iter().position(|level| level.hold.is_zero()) {
            Some(_) => Err("a HOLD is 0, so its level would not be offered".to_owned()),
            None if levels.iter().all(|level| level.level == 0.0) => {
                Err("all levels are 0, so nothing would be offered".to_owned())
            }
            None if levels.len() > Self::MAX_LEVELS => {
                Err(format!("it has more than {} levels", Self::MAX_LEVELS))
            }
            None => Ok(levels),
        }
    }
}

fn level(name: &str, text: &str) -> Result<f64, String> {
    let level = text.parse().map(Rate::as_f64);
    level.map_err(|_| format!("{name} is {text:?} rather than a number such as 40, 2.5k or 1M"))
}

fn hold(text: &str) -> Result<Span, String> {
    text.parse().map_err(|_| format!("HOLD is {text:?} rather than a length of time such as 20s or 5m"))
}

impl fmt::Display for Ramp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for Ramp {
    type Err = RampError;

    fn from_str(text: &str) -> Result<Self, RampError> {
        let levels = match text.split(':').collect::<Vec<_>>()[..] {
            _ if text.contains(',') => Self::listed(text),
            [_, _] => Self::listed(text),
            [from, to, step, span] => (|| {
                let (from, to, step) = (level("FROM", from)?, level("TO", to)?, level("STEP", step)?);
                Self::even(from, to, step, hold(span)?)
            })(),
            ref fields => Err(format!("it has {} of 4 fields", fields.len())),
        };
        match levels {
            Ok(levels) => Ok(Self { levels: levels.into(), text: Arc::from(text) }),
            Err(what) => Err(RampError { text: text.to_owned(), what }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Arrivals, Process};

    fn ramp(text: &str) -> Ramp {
        text.parse().unwrap()
    }

    #[test]
    fn the_last_level_that_is_offered_holds_until_the_end() {
        let held = |seconds| -> Vec<(f64, u64)> {
            let levels = ramp("5:20s,50:10s,5:30s").within(Span::from_secs(seconds));
            levels.iter().map(|level| (level.level, level.hold.as_nanos() / 1_000_000_000)).collect()
        };
        assert_eq!(held(100), [(5.0, 20), (50.0, 10), (5.0, 70)]);
        assert_eq!(held(25), [(5.0, 20), (50.0, 5)]);
        assert_eq!(held(20), [(5.0, 20)]);
        assert_eq!(held(0), []);
    }

    #[test]
    fn levels_are_steps_from_first_to_last() {
        assert_eq!(
            ramp("100:1100:100:20s").levels(),
            (1..=11).map(|n| f64::from(n) * 100.0).collect::<Vec<_>>()
        );
        assert_eq!(ramp("1k:0:400:1s").levels(), [1000.0, 600.0, 200.0, 0.0]);
        assert_eq!(ramp("10:25:10:1s").levels(), [10.0, 20.0, 25.0]);
        assert_eq!(ramp("7:7:1:1s").levels(), [7.0]);
        assert_eq!(ramp("7:7:0:1s").levels(), [7.0]);
        assert_eq!(ramp("5:7:100:1s").levels(), [5.0, 7.0]);
        let tenths = ramp("0.2:0.8:0.1:1s");
        assert_eq!((tenths.len(), tenths.levels().last()), (7, Some(&0.8)));
        assert_eq!(ramp("0:9999:1:10m").len(), 10_000);
        assert_eq!(ramp("0:9999:1:10m").total(), Span::from_secs(6_000_000));
    }

    #[test]
    fn what_is_shown_can_be_read_again() {
        for text in ["100:1100:100:20s", "0.5:2:0.25:1.5s", "1M:0:250k:250ms", "5:20s,0:1s,2.5k:10s", "7:1s"]
        {
            assert_eq!(ramp(text).to_string(), text);
            assert_eq!(ramp(&ramp(text).to_string()), ramp(text));
        }
    }

    #[test]
    fn errors_name_the_field() {
        for (text, what) in [
            ("100:200:10", "it has 3 of 4 fields"),
            ("", "it has 1 of 4 fields"),
            ("x:200:10:1s", "FROM is \"x\" rather than a number"),
            ("100:-200:10:1s", "TO is \"-200\" rather than a number"),
            ("100:200::1s", "STEP is \"\" rather than a number"),
            ("100:200:10:soon", "HOLD is \"soon\" rather than a length of time"),
            ("100:200:10:0s", "HOLD is 0"),
            ("100:200:0:1s", "STEP is 0"),
            ("0:0:1:1s", "FROM and TO are both 0"),
            ("5:20s,50", "\"50\" has no HOLD after a colon"),
            ("5:20s,x:1s", "LEVEL is \"x\" rather than a number"),
            ("5:20s,7:0s", "a HOLD is 0"),
            ("0:20s,0:1s", "all levels are 0"),
            ("0:10k:1:1s", "STEP 1 makes more than 10000 levels between 0 and 10000"),
        ] {
            let error = text.parse::<Ramp>().unwrap_err().to_string();
            assert!(error.contains(what), "{error}");
            assert!(error.contains("; expected FROM:TO:STEP:HOLD, as in 100:1100:100:20s, or "), "{error}");
        }
    }

    #[test]
    fn arrivals_follow_a_ramp() {
        let profile = ramp("10:30:10:2s").profile(Span::ZERO);
        let mut count = [0; 4];
        for time in Arrivals::new(Process::Constant, &profile, 1.0, 1, 0) {
            // An arrival at the edge is the first of its step.
            let step = time.as_nanos() / 2_000_000_000;
            if step == 4 {
                break;
            }
            count[step as usize] += 1;
        }
        assert_eq!(count, [20, 40, 60, 60]);
    }
}
