//! Arrival processes: the times between one arrival and the next.

use std::fmt;
use std::str::FromStr;

use rand::SeedableRng;
use rand::distr::Distribution;
use rand::rngs::StdRng;
use rand_distr::Exp1;
use units::{Rate, Time};

/// How arrivals are spread over time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Process {
    /// Always the same time between two.
    Constant,
    /// Independent users: exponentially distributed times between two.
    #[default]
    Poisson,
}

impl Process {
    const ALL: [Self; 2] = [Self::Constant, Self::Poisson];

    /// Its name on the command line and in records.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Constant => "constant",
            Self::Poisson => "poisson",
        }
    }
}

impl fmt::Display for Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that is no arrival process.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no such arrival process; expected {}", Process::ALL.map(Process::name).join(" or "))]
pub struct UnknownProcess;

impl FromStr for Process {
    type Err = UnknownProcess;

    fn from_str(text: &str) -> Result<Self, UnknownProcess> {
        Self::ALL.into_iter().find(|process| process.name() == text).ok_or(UnknownProcess)
    }
}

/// The points in time of one arrival process; never ends unless the rate is zero.
#[derive(Debug, Clone)]
pub struct Arrivals {
    process: Process,
    mean_gap_ns: f64,
    /// In gaps of mean length, so that constant arrivals do not drift however many there are.
    elapsed_gaps: f64,
    random: StdRng,
}

impl Arrivals {
    /// Arrivals at `rate`, drawn from stream number `stream` of `seed`; streams are independent
    /// of one another.
    pub fn new(process: Process, rate: Rate, seed: u64, stream: u64) -> Self {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        key[8..16].copy_from_slice(&stream.to_le_bytes());
        Self { process, mean_gap_ns: 1e9 / rate.as_f64(), elapsed_gaps: 0.0, random: StdRng::from_seed(key) }
    }
}

impl Iterator for Arrivals {
    type Item = Time;

    fn next(&mut self) -> Option<Time> {
        self.elapsed_gaps += match self.process {
            Process::Constant => 1.0,
            Process::Poisson => Exp1.sample(&mut self.random),
        };
        let nanos = self.elapsed_gaps * self.mean_gap_ns;
        nanos.is_finite().then_some(Time::from_nanos(nanos as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(per_second: f64) -> Rate {
        Rate::per_second(per_second).unwrap()
    }

    #[test]
    fn constant_arrivals_do_not_drift() {
        let millionth = Arrivals::new(Process::Constant, rate(3.0), 1, 0).nth(2_999_999);
        assert_eq!(millionth, Some(Time::from_nanos(1_000_000_000_000_000)));
    }

    #[test]
    fn poisson_gaps_have_the_mean_and_the_variance_of_an_exponential() {
        let arrivals: Vec<f64> = Arrivals::new(Process::Poisson, rate(100.0), 42, 0)
            .take(100_000)
            .map(|time| time.as_nanos() as f64 / 1e9)
            .collect();
        let gaps: Vec<f64> = arrivals.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        assert!((mean * 100.0 - 1.0).abs() < 0.02, "mean {mean}");
        assert!((variance.sqrt() / mean - 1.0).abs() < 0.02, "coefficient of variation");
    }

    #[test]
    fn seed_and_stream_alone_decide() {
        let take = |seed, stream| -> Vec<Time> {
            Arrivals::new(Process::Poisson, rate(10.0), seed, stream).take(20).collect()
        };
        assert_eq!(take(1, 0), take(1, 0));
        assert_ne!(take(1, 0), take(2, 0));
        assert_ne!(take(1, 0), take(1, 1));
    }

    #[test]
    fn no_rate_no_arrivals() {
        assert_eq!(Arrivals::new(Process::Poisson, rate(0.0), 1, 0).next(), None);
        assert_eq!(Arrivals::new(Process::Constant, rate(0.0), 1, 0).next(), None);
    }

    #[test]
    fn names_are_read() {
        assert_eq!("poisson".parse(), Ok(Process::Poisson));
        let error = "poison".parse::<Process>().unwrap_err().to_string();
        assert_eq!(error, "no such arrival process; expected constant or poisson");
    }
}
