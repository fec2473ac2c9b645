//! [`Arrivals`]: how requests are spread over time.

use std::fmt;
use std::str::FromStr;

use rand::Rng;
use rand_distr::{Distribution, Exp1};
use traffic::Process;
use units::Span;

use super::observed::Observed;
use super::seed::Random;

/// How arrivals are spread over time; their rate is the model's.
#[derive(Debug, Clone, PartialEq)]
pub enum Arrivals {
    /// Times between two are independent of one another.
    Renewal(Process),
    /// Busy and quiet times take turns.
    Mmpp(Mmpp),
    /// Times between two as they were observed, over and over, scaled to the model's rate. Each
    /// replication begins elsewhere.
    Observed(Observed),
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
    /// The share of dynamic requests, where arrivals say which are.
    pub(crate) fn dynamic_share(&self) -> Option<f64> {
        match self {
            Self::Observed(observed) => observed.dynamic_share(),
            Self::Renewal(_) | Self::Mmpp(_) => None,
        }
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
            Self::Observed(observed) => write!(f, "observed ({} gaps)", observed.gaps.len()),
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
    Observed { observed: Observed, next: usize },
}

impl Gaps {
    /// Gaps of `mean` seconds.
    pub(crate) fn new(arrivals: &Arrivals, mean: f64, mut random: Random) -> Self {
        let kind = match arrivals {
            Arrivals::Renewal(process) => Kind::Renewal(traffic::Gaps::of(*process)),
            Arrivals::Mmpp(mmpp) => Kind::Mmpp(Modulated::new(*mmpp, mean, &mut random)),
            Arrivals::Observed(observed) => {
                let next = random.random_range(0..observed.gaps.len().max(1));
                Kind::Observed { observed: observed.clone(), next }
            }
        };
        Self { mean, kind, random }
    }

    /// Which of those that were observed is next.
    pub(crate) fn place(&self) -> usize {
        match self.kind {
            Kind::Observed { next, .. } => next,
            Kind::Renewal(_) | Kind::Mmpp(_) => 0,
        }
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
            Kind::Observed { observed: Observed { gaps, .. }, next } => {
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
