//! [`Think`]: how long users pause.

use std::fmt;
use std::str::FromStr;

use rand::Rng;
use rand::rngs::StdRng;
use rand_distr::{Exp1, StandardNormal};
use serde::{Deserialize, Deserializer};
use thiserror::Error;
use units::{Span, Time};

use crate::seed;

/// How long a user pauses before the next request: a law and its mean.
///
/// Written as a time, `exp:MEAN`, `uniform:LEAST:MOST` or `lognormal:MEAN:CV`.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Think {
    mean: Span,
    law: Law,
}

/// How pauses are distributed.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
enum Law {
    #[default]
    Constant,
    /// A coefficient of variation of 1.
    Exponential,
    Uniform {
        least: Span,
        most: Span,
    },
    /// A long tail; the standard deviation over the mean.
    Lognormal {
        cv: f64,
    },
}

/// What is wrong with a pause.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ThinkError {
    /// No law has this name.
    #[error("expected a time, exp:MEAN, uniform:LEAST:MOST or lognormal:MEAN:CV")]
    Unknown,
    /// A time is not one.
    #[error("{0:?} in a pause: {1}")]
    Time(String, units::ParseError),
    /// The parameter of a law is not a number, or one that it cannot have.
    #[error("{law} pauses need {range}, not {given}")]
    Parameter {
        /// The law.
        law: &'static str,
        /// What it takes.
        range: &'static str,
        /// What was given.
        given: String,
    },
}

impl Think {
    /// No pause is longer than so many times the mean, so that it is known when the last user has left.
    const MOST: u64 = 20;

    /// Always as long.
    pub const fn constant(pause: Span) -> Self {
        Self { mean: pause, law: Law::Constant }
    }

    /// Exponentially distributed: users who may come back at any moment.
    pub const fn exponential(mean: Span) -> Self {
        Self { mean, law: Law::Exponential }
    }

    /// How long a pause is on average.
    pub fn mean(&self) -> Span {
        self.mean
    }

    /// How long one can be.
    pub fn longest(&self) -> Span {
        match self.law {
            Law::Constant => self.mean,
            Law::Uniform { most, .. } => most,
            Law::Exponential | Law::Lognormal { .. } => self.mean * Self::MOST,
        }
    }

    /// Whether the next request follows at once.
    pub fn is_zero(&self) -> bool {
        self.mean.is_zero()
    }

    /// A pause; `random` is asked for where chance has a part in it.
    fn draw<'a>(&self, random: impl FnOnce() -> &'a mut Box<StdRng>) -> Span {
        let pause = match self.law {
            Law::Constant => return self.mean,
            Law::Exponential => {
                let times: f64 = random().sample(Exp1);
                self.mean.mul_f64(times)
            }
            Law::Uniform { least, most } => least + most.saturating_sub(least).mul_f64(random().random()),
            Law::Lognormal { cv } => {
                let variance = cv.mul_add(cv, 1.0).ln();
                let normal: f64 = random().sample(StandardNormal);
                self.mean.mul_f64(variance.sqrt().mul_add(normal, -variance / 2.0).exp())
            }
        };
        pause.min(self.longest())
    }
}

/// The pauses of one user, one after the other.
#[derive(Debug)]
pub struct Thinking {
    seed: u64,
    stream: u64,
    of: &'static [u8; 16],
    /// Made when chance has a part in a pause.
    random: Option<Box<StdRng>>,
}

impl Thinking {
    /// Of the session that starts then, for a seed: the same in every run, on any thread, and for any tool.
    pub fn of_session(seed: u64, starts: Time) -> Self {
        Self { seed, stream: starts.as_nanos(), of: b"session.thinking", random: None }
    }

    /// Of the retries of the session that starts then.
    pub fn of_retries(seed: u64, starts: Time) -> Self {
        Self { seed, stream: starts.as_nanos(), of: b"session..retries", random: None }
    }

    /// Of a client that asks time and again.
    pub fn of_client(seed: u64, number: u32) -> Self {
        Self { seed, stream: u64::from(number), of: b"client..thinking", random: None }
    }

    /// The next pause.
    pub fn next(&mut self, think: &Think) -> Span {
        let Self { seed, stream, of, random } = self;
        think.draw(|| random.get_or_insert_with(|| Box::new(seed::random(*seed, *stream, *of))))
    }
}

impl FromStr for Think {
    type Err = ThinkError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let span = |text: &str| text.parse::<Span>().map_err(|why| ThinkError::Time(text.to_owned(), why));
        let parts: Vec<&str> = text.split(':').map(str::trim).collect();
        match parts[..] {
            [mean] => span(mean).map(Self::constant),
            ["exp", mean] => span(mean).map(Self::exponential),
            ["uniform", least, most] => {
                let (least, most) = (span(least)?, span(most)?);
                if most < least {
                    let given = format!("{least} and {most}");
                    let range = "the shortest first and the longest then";
                    return Err(ThinkError::Parameter { law: "uniform", range, given });
                }
                Ok(Self { mean: (least + most) / 2, law: Law::Uniform { least, most } })
            }
            ["lognormal", mean, cv] => {
                let number = cv.parse().ok().filter(|cv| (0.001..=10.0).contains(cv));
                let range = "a coefficient of variation from 0.001 to 10";
                let wrong = || ThinkError::Parameter { law: "lognormal", range, given: cv.to_owned() };
                Ok(Self { mean: span(mean)?, law: Law::Lognormal { cv: number.ok_or_else(wrong)? } })
            }
            _ => Err(ThinkError::Unknown),
        }
    }
}

impl fmt::Display for Think {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.law {
            Law::Constant => write!(f, "{}", self.mean),
            Law::Exponential => write!(f, "exp:{}", self.mean),
            Law::Uniform { least, most } => write!(f, "uniform:{least}:{most}"),
            Law::Lognormal { cv } => write!(f, "lognormal:{}:{cv}", self.mean),
        }
    }
}

impl<'de> Deserialize<'de> for Think {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        config::quantity::deserialize(deserializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn think(text: &str) -> Think {
        text.parse().unwrap()
    }

    fn drawn(text: &str, number: usize) -> Vec<f64> {
        let (think, mut thinking) = (think(text), Thinking::of_client(1, 0));
        (0..number).map(|_| thinking.next(&think).as_secs_f64()).collect()
    }

    #[test]
    fn laws_are_written_as_they_are_read() {
        for text in ["250ms", "exp:2s", "uniform:1s:3s", "lognormal:7s:1.5"] {
            assert_eq!(think(text).to_string(), text);
        }
        assert_eq!(think("uniform:1s:3s").mean(), Span::from_secs(2));
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, expected) in [
            ("weibull:2s", "expected a time, exp:MEAN"),
            ("exp:soon", "\"soon\" in a pause"),
            ("uniform:3s:1s", "the shortest first"),
            ("lognormal:1s:0", "a coefficient of variation from 0.001 to 10, not 0"),
            ("uniform:3s", "expected a time, exp:MEAN"),
        ] {
            let said = text.parse::<Think>().unwrap_err().to_string();
            assert!(said.contains(expected), "{said}");
        }
    }

    #[test]
    fn pauses_have_the_mean_and_the_spread_of_their_law() {
        for (text, mean, cv) in [
            ("exp:2s", 2.0, 1.0),
            ("uniform:1s:3s", 2.0, 1.0 / 12.0_f64.sqrt()),
            ("lognormal:2s:0.5", 2.0, 0.5),
            ("250ms", 0.25, 0.0),
        ] {
            let all = drawn(text, 40_000);
            let found = all.iter().sum::<f64>() / all.len() as f64;
            let variance = all.iter().map(|pause| (pause - found).powi(2)).sum::<f64>() / all.len() as f64;
            assert!((found / mean - 1.0).abs() < 0.02, "{text}: {found}");
            assert!((variance.sqrt() / found - cv).abs() < 0.03, "{text}: {}", variance.sqrt() / found);
        }
    }

    #[test]
    fn no_pause_is_longer_than_the_longest() {
        for text in ["exp:1s", "lognormal:1s:10", "uniform:0s:5s"] {
            let longest = think(text).longest().as_secs_f64();
            assert!(drawn(text, 100_000).iter().all(|pause| *pause <= longest), "{text}");
        }
    }

    #[test]
    fn a_session_pauses_alike_in_every_run_and_sessions_differ() {
        let first = |seed, nanos| Thinking::of_session(seed, Time::from_nanos(nanos)).next(&think("exp:1s"));
        assert_eq!(first(1, 7), first(1, 7));
        assert!(first(1, 7) != first(1, 8) && first(1, 7) != first(2, 7));
    }
}
