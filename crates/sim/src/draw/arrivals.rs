//! [`Arrivals`]: how requests are spread over time.

use std::fmt;
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;

use rand::Rng;
use rand_distr::{Distribution, Exp1};
use traffic::Process;
use traffic::trace::{Skipped, Times};
use units::Span;

use super::seed::Random;

/// How arrivals are spread over time; their rate is the model's.
#[derive(Debug, Clone, PartialEq)]
pub enum Arrivals {
    /// Times between two are independent of one another.
    Renewal(Process),
    /// Busy and quiet times take turns.
    Mmpp(Mmpp),
    /// Times between two as they were observed, over and over, scaled to the model's rate. Each
    /// replication begins elsewhere. Shape: one length per gap, of mean 1.
    Observed(Arc<[f64]>),
}

/// A Markov-modulated Poisson process of two states: Poisson arrivals whose rate is `ratio` times
/// as high for exponential times of mean `busy` as for those of mean `quiet` between them (Fischer
/// and Meier-Hellstern, "The Markov-modulated Poisson process cookbook", 1993).
///
/// As text: `mmpp:RATIO:BUSY:QUIET`, such as `mmpp:5:10s:60s`.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Mmpp {
    /// The higher rate over the lower one.
    pub ratio: f64,
    /// The mean length of times of the higher rate.
    pub busy: Span,
    /// The mean length of times of the lower rate.
    pub quiet: Span,
}

/// Why a text, or a number, makes no arrivals.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ArrivalsError {
    /// As [`Process`] says it.
    #[error(transparent)]
    Process(#[from] traffic::ProcessError),
    /// What an [`Mmpp`] needs.
    #[error(
        "modulated arrivals are mmpp:RATIO:BUSY:QUIET, a ratio from 1 to 1000000 and two times above 0, as in mmpp:5:10s:60s; not {0:?}"
    )]
    Mmpp(String),
    /// What was observed makes no sequence of gaps.
    #[error("observed arrivals need at least two different points in time")]
    Observed,
}

impl Mmpp {
    /// Modulated arrivals.
    ///
    /// # Errors
    /// [`ArrivalsError::Mmpp`] unless `ratio` is from 1 to a million and both times are above 0.
    pub fn new(ratio: f64, busy: Span, quiet: Span) -> Result<Self, ArrivalsError> {
        if (1.0..=1e6).contains(&ratio) && !busy.is_zero() && !quiet.is_zero() {
            Ok(Self { ratio, busy, quiet })
        } else {
            Err(ArrivalsError::Mmpp(format!("mmpp:{ratio}:{busy}:{quiet}")))
        }
    }
}

impl Arrivals {
    /// Arrivals at the gaps between `times`, which are in order, in any unit.
    ///
    /// # Errors
    /// [`ArrivalsError::Observed`] when there are no two different times.
    pub fn observed(times: &[f64]) -> Result<Self, ArrivalsError> {
        let gaps: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let mean = stats::mean(gaps.iter().copied()).unwrap_or(0.0);
        if mean.is_nan() || mean <= 0.0 || gaps.iter().any(|gap| *gap < 0.0) {
            return Err(ArrivalsError::Observed);
        }
        Ok(Self::Observed(gaps.iter().map(|gap| gap / mean).collect()))
    }
}

/// Arrivals of a trace.
#[derive(Debug, Clone, PartialEq)]
pub struct Traced {
    /// How they are spread over time.
    pub arrivals: Arrivals,
    /// How many there were per second.
    pub rate: f64,
    /// Lines of the file that are not arrivals.
    pub skipped: Skipped,
}

/// Why a file makes no arrivals.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// It cannot be read.
    #[error(transparent)]
    Read(#[from] traffic::trace::Error),
    /// Its times make no arrivals.
    #[error("{path}: {why}")]
    Times {
        /// The file.
        path: String,
        /// Why.
        why: ArrivalsError,
    },
}

impl Traced {
    /// Reads a file with a time on each line, or an access log.
    ///
    /// # Errors
    /// When it cannot be read, or has no two different times.
    pub fn read(path: &Path) -> Result<Self, TraceError> {
        let (times, skipped) = Times::read(path)?;
        let seconds: Vec<f64> =
            times.arrivals().take(times.len()).map(|time| time.as_nanos() as f64 / 1e9).collect();
        let wrong = |why| TraceError::Times { path: path.display().to_string(), why };
        let arrivals = Arrivals::observed(&seconds).map_err(wrong)?;
        let length = seconds.last().copied().unwrap_or_default();
        Ok(Self { arrivals, rate: (seconds.len() - 1) as f64 / length, skipped })
    }
}

impl Default for Arrivals {
    fn default() -> Self {
        Self::Renewal(Process::Poisson)
    }
}

impl From<Process> for Arrivals {
    fn from(process: Process) -> Self {
        Self::Renewal(process)
    }
}

impl fmt::Display for Arrivals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Renewal(process) => process.fmt(f),
            Self::Mmpp(Mmpp { ratio, busy, quiet }) => write!(f, "mmpp:{ratio}:{busy}:{quiet}"),
            Self::Observed(gaps) => write!(f, "observed ({} gaps)", gaps.len()),
        }
    }
}

impl FromStr for Arrivals {
    type Err = ArrivalsError;

    fn from_str(text: &str) -> Result<Self, ArrivalsError> {
        let Some(parameters) = text.strip_prefix("mmpp") else {
            return Ok(Self::Renewal(text.parse()?));
        };
        let wrong = || ArrivalsError::Mmpp(text.to_owned());
        let parts: Vec<&str> = parameters.strip_prefix(':').ok_or_else(wrong)?.split(':').collect();
        let [ratio, busy, quiet] = parts.as_slice() else { return Err(wrong()) };
        let ratio = ratio.parse().map_err(|_| wrong())?;
        let span = |text: &str| text.parse::<Span>().map_err(|_| wrong());
        Mmpp::new(ratio, span(busy)?, span(quiet)?).map(Self::Mmpp).map_err(|_| wrong())
    }
}

/// Draws the gaps between arrivals.
#[derive(Debug, Clone)]
pub(crate) struct Gaps {
    /// Mean length, in seconds.
    mean: f64,
    kind: Kind,
    random: Random,
}

#[derive(Debug, Clone)]
enum Kind {
    Renewal(traffic::Gaps),
    Mmpp(Modulated),
    Observed { gaps: Arc<[f64]>, next: usize },
}

impl Gaps {
    /// Gaps of `mean` seconds.
    pub(crate) fn new(arrivals: &Arrivals, mean: f64, mut random: Random) -> Self {
        let kind = match arrivals {
            Arrivals::Renewal(process) => Kind::Renewal(traffic::Gaps::of(*process)),
            Arrivals::Mmpp(mmpp) => Kind::Mmpp(Modulated::new(*mmpp, mean, &mut random)),
            Arrivals::Observed(gaps) => {
                Kind::Observed { gaps: Arc::clone(gaps), next: random.random_range(0..gaps.len().max(1)) }
            }
        };
        Self { mean, kind, random }
    }

    pub(crate) fn fill(&mut self, into: &mut [f64]) {
        if let Kind::Renewal(gaps) = &self.kind {
            gaps.fill(into, &mut self.random);
            into.iter_mut().for_each(|gap| *gap *= self.mean);
        } else {
            into.iter_mut().for_each(|gap| *gap = self.draw());
        }
    }

    /// The next one, in seconds.
    #[inline]
    pub(crate) fn draw(&mut self) -> f64 {
        let relative = match &mut self.kind {
            Kind::Renewal(gaps) => gaps.sample(&mut self.random),
            Kind::Mmpp(modulated) => modulated.draw(&mut self.random),
            Kind::Observed { gaps, next } => {
                let gap = gaps.get(*next).copied().unwrap_or(1.0);
                *next = if *next + 1 < gaps.len() { *next + 1 } else { 0 };
                gap
            }
        };
        relative * self.mean
    }
}

/// One state of two, in units of the mean gap.
#[derive(Debug, Clone, Copy)]
struct State {
    /// The mean time between arrivals.
    gap: f64,
    /// The mean time until the other state.
    stay: f64,
}

#[derive(Debug, Clone, Copy)]
struct Modulated {
    states: [State; 2],
    now: usize,
}

impl Modulated {
    fn new(Mmpp { ratio, busy, quiet }: Mmpp, mean: f64, random: &mut Random) -> Self {
        let (busy, quiet) = (busy.as_secs_f64(), quiet.as_secs_f64());
        let share = busy / (busy + quiet);
        // The mean rate is 1: `share * ratio * low + (1 - share) * low`.
        let low = (share * ratio + 1.0 - share).recip();
        let states = [
            State { gap: (ratio * low).recip(), stay: busy / mean },
            State { gap: low.recip(), stay: quiet / mean },
        ];
        Self { states, now: usize::from(random.random::<f64>() >= share) }
    }

    fn draw(&mut self, random: &mut Random) -> f64 {
        let mut gap = 0.0;
        loop {
            let state = &self.states[self.now];
            let [arrival, change]: [f64; 2] = [Exp1.sample(random), Exp1.sample(random)];
            let (arrival, change) = (arrival * state.gap, change * state.stay);
            if arrival < change {
                return gap + arrival;
            }
            gap += change;
            self.now = 1 - self.now;
        }
    }
}
