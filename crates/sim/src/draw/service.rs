//! [`Service`]: which distribution service demands have.

use std::fmt;
use std::str::FromStr;

use rand::Rng;
use rand_distr::Distribution;
use traffic::{Gaps, MAX_CV, Process};

/// The law of service demands; the mean is that of the class.
///
/// ```
/// use sim::Service;
/// assert_eq!("erlang:3".parse::<Service>()?.to_string(), "erlang:3");
/// assert!((Service::gamma(0.6)?.cv() - 0.6).abs() < 1e-12);
/// # Ok::<(), sim::ServiceError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Service {
    /// Always the mean.
    Constant,
    /// A coefficient of variation of 1.
    Exponential,
    /// The sum of so many exponential stages.
    #[non_exhaustive]
    Erlang {
        /// How many.
        stages: u32,
    },
    /// Any coefficient of variation. The paper gives 0.6 and no distribution (section 2); this is
    /// the default.
    #[non_exhaustive]
    Gamma {
        /// Standard deviation over mean.
        cv: f64,
    },
    /// A long tail.
    #[non_exhaustive]
    Lognormal {
        /// Standard deviation over mean.
        cv: f64,
    },
}

const MIN_CV: f64 = 1e-3;
const MAX_STAGES: u32 = 1_000_000;

/// Why a text, or a number, makes no law of service demands.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ServiceError {
    /// No law has this name.
    #[error(
        "no such distribution of service times: {0:?}; expected constant, exponential, erlang:STAGES, gamma[:CV] or lognormal[:CV]"
    )]
    Unknown(String),
    /// Its parameter is not a number, or one that it cannot have.
    #[error("{law} service times need {range}, not {given}")]
    Parameter {
        /// The law.
        law: &'static str,
        /// What it takes.
        range: &'static str,
        /// What was given.
        given: String,
    },
}

impl Service {
    /// The paper's coefficient of variation (section 2).
    pub const PAPER_CV: f64 = 0.6;

    /// Gamma distributed demands.
    ///
    /// # Errors
    /// [`ServiceError::Parameter`] unless `cv` is from 0.001 to 100.
    pub fn gamma(cv: f64) -> Result<Self, ServiceError> {
        variation("gamma", cv).map(|cv| Self::Gamma { cv })
    }

    /// Lognormally distributed demands.
    ///
    /// # Errors
    /// [`ServiceError::Parameter`] unless `cv` is from 0.001 to 100.
    pub fn lognormal(cv: f64) -> Result<Self, ServiceError> {
        variation("lognormal", cv).map(|cv| Self::Lognormal { cv })
    }

    /// The sum of `stages` exponential stages.
    ///
    /// # Errors
    /// [`ServiceError::Parameter`] unless there are from 1 to a million.
    pub fn erlang(stages: u32) -> Result<Self, ServiceError> {
        if (1..=MAX_STAGES).contains(&stages) {
            Ok(Self::Erlang { stages })
        } else {
            Err(stages_error(stages.to_string()))
        }
    }

    /// Standard deviation over mean.
    pub fn cv(self) -> f64 {
        match self {
            Self::Constant => 0.0,
            Self::Exponential => 1.0,
            Self::Erlang { stages } => f64::from(stages).sqrt().recip(),
            Self::Gamma { cv } | Self::Lognormal { cv } => cv,
        }
    }
}

fn variation(law: &'static str, cv: f64) -> Result<f64, ServiceError> {
    if (MIN_CV..=MAX_CV).contains(&cv) { Ok(cv) } else { Err(variation_error(law, cv.to_string())) }
}

fn variation_error(law: &'static str, given: String) -> ServiceError {
    ServiceError::Parameter { law, range: "a coefficient of variation from 0.001 to 100", given }
}

fn stages_error(given: String) -> ServiceError {
    ServiceError::Parameter { law: "erlang", range: "a whole number of stages from 1 to 1000000", given }
}

impl Default for Service {
    fn default() -> Self {
        Self::Gamma { cv: Self::PAPER_CV }
    }
}

impl fmt::Display for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Constant => f.write_str("constant"),
            Self::Exponential => f.write_str("exponential"),
            Self::Erlang { stages } => write!(f, "erlang:{stages}"),
            Self::Gamma { cv } => write!(f, "gamma:{cv}"),
            Self::Lognormal { cv } => write!(f, "lognormal:{cv}"),
        }
    }
}

impl FromStr for Service {
    type Err = ServiceError;

    fn from_str(text: &str) -> Result<Self, ServiceError> {
        let (name, given) = match text.split_once(':') {
            Some((name, given)) => (name, Some(given)),
            None => (text, None),
        };
        let cv = |law, make: fn(f64) -> Result<Self, ServiceError>| match given {
            None => make(Self::PAPER_CV),
            Some(given) => {
                given.parse().map_err(|_| variation_error(law, format!("{given:?}"))).and_then(make)
            }
        };
        match (name, given) {
            ("constant", None) => Ok(Self::Constant),
            ("exponential", None) => Ok(Self::Exponential),
            ("erlang", Some(given)) => {
                given.parse().map_err(|_| stages_error(format!("{given:?}"))).and_then(Self::erlang)
            }
            ("gamma", _) => cv("gamma", Self::gamma),
            ("lognormal", _) => cv("lognormal", Self::lognormal),
            _ => Err(ServiceError::Unknown(text.to_owned())),
        }
    }
}

/// Draws demands of mean 1, which have the laws that times between arrivals have.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Demands(Gaps);

impl Demands {
    pub(crate) fn of(service: Service) -> Self {
        let cv = service.cv();
        let law = match service {
            Service::Constant => Ok(Process::Constant),
            Service::Exponential => Ok(Process::Poisson),
            Service::Erlang { .. } | Service::Gamma { .. } => Process::gamma(cv),
            Service::Lognormal { .. } => Process::lognormal(cv),
        };
        // The range of a law of demands is within that of arrivals.
        Self(Gaps::of(law.unwrap_or_default()))
    }

    pub(crate) fn fill<R: Rng>(&self, into: &mut [f64], random: &mut R) {
        self.0.fill(into, random);
    }
}

impl Distribution<f64> for Demands {
    #[inline]
    fn sample<R: Rng + ?Sized>(&self, random: &mut R) -> f64 {
        self.0.sample(random)
    }
}
