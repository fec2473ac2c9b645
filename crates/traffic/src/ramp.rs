//! [`Ramp`]: load that goes up, or down, in steps.

use std::fmt;
use std::str::FromStr;

use units::{Rate, Span};

use crate::Profile;

/// Levels from one to another in equal steps, each held for so long. A level is a rate in an
/// open loop and a number of clients in a closed one.
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
/// # Ok::<(), traffic::RampError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ramp {
    from: f64,
    to: f64,
    step: f64,
    hold: Span,
    steps: usize,
}

/// Why a text is not a ramp.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a ramp: {what}; expected FROM:TO:STEP:HOLD, as in 100:1100:100:20s")]
pub struct RampError {
    text: String,
    what: String,
}

impl Ramp {
    /// A ramp with more levels is a mistake in one of its figures.
    const MAX_LEVELS: usize = 10_000;

    /// The levels in the order in which they are offered; the first is FROM, the last TO, and
    /// there is at least one.
    pub fn levels(&self) -> Vec<f64> {
        (0..self.steps).map(|step| self.level(step)).collect()
    }

    fn level(&self, step: usize) -> f64 {
        if step + 1 == self.steps {
            self.to
        } else if self.from < self.to {
            self.from + self.step * step as f64
        } else {
            self.from - self.step * step as f64
        }
    }

    /// How many levels there are.
    #[allow(clippy::len_without_is_empty, reason = "there is at least one")]
    pub const fn len(&self) -> usize {
        self.steps
    }

    /// How long each level is held.
    pub const fn hold(&self) -> Span {
        self.hold
    }

    /// How long all levels take together.
    pub fn total(&self) -> Span {
        self.hold * self.steps as u64
    }

    /// The ramp as rates per second; the last goes on for ever.
    pub fn profile(&self) -> Profile {
        // A level lies between two rates, so it is one.
        Profile::steps(
            (0..self.steps).map(|step| (self.hold, Rate::per_second(self.level(step)).unwrap_or_default())),
        )
    }

    fn new(from: f64, to: f64, step: f64, hold: Span) -> Result<Self, String> {
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
        Ok(Self { from, to, step, hold, steps: steps.max(0.0) as usize + 1 })
    }
}

impl fmt::Display for Ramp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}:{}", self.from, self.to, self.step, self.hold)
    }
}

impl FromStr for Ramp {
    type Err = RampError;

    fn from_str(text: &str) -> Result<Self, RampError> {
        let error = |what: String| RampError { text: text.to_owned(), what };
        let fields: Vec<&str> = text.split(':').collect();
        let &[from, to, step, hold] = fields.as_slice() else {
            return Err(error(format!("it has {} of 4 fields", fields.len())));
        };
        let level = |name: &str, field: &str| {
            let level = field.parse().map(Rate::as_f64);
            level.map_err(|_| {
                error(format!("{name} is {field:?} rather than a number such as 40, 2.5k or 1M"))
            })
        };
        let (from, to, step) = (level("FROM", from)?, level("TO", to)?, level("STEP", step)?);
        let hold = hold
            .parse()
            .map_err(|_| error(format!("HOLD is {hold:?} rather than a length of time such as 20s or 5m")))?;
        Self::new(from, to, step, hold).map_err(error)
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
        for text in ["100:1100:100:20s", "0.5:2:0.25:1.5s", "1000000:0:250000:250ms"] {
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
            ("0:10k:1:1s", "STEP 1 makes more than 10000 levels between 0 and 10000"),
        ] {
            let error = text.parse::<Ramp>().unwrap_err().to_string();
            assert!(error.contains(what), "{error}");
            assert!(error.ends_with("expected FROM:TO:STEP:HOLD, as in 100:1100:100:20s"), "{error}");
        }
    }

    #[test]
    fn arrivals_follow_a_ramp() {
        let profile = ramp("10:30:10:2s").profile();
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
