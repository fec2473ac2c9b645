//! [`Service`]: which distribution service demands have.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::sync::Arc;

use rand::Rng;
use rand_distr::{Distribution, Pareto, Weibull};
use statrs::function::gamma::gamma;
use traffic::{Gaps, MAX_CV, Process};

use super::samples::Samples;

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
    /// Short demands and now and then a long one: of two exponential laws with balanced means.
    #[non_exhaustive]
    Hyperexponential {
        /// Standard deviation over mean, 1 at least.
        cv: f64,
    },
    /// A tail that is longer than that of an exponential law below a shape of 1, and shorter above.
    #[non_exhaustive]
    Weibull {
        /// The exponent.
        shape: f64,
    },
    /// The longest tail: with a shape of 2 or less it has no variance.
    #[non_exhaustive]
    Pareto {
        /// The exponent, above 1, for below there is no mean.
        shape: f64,
    },
}

const MIN_CV: f64 = 1e-3;
const MAX_STAGES: u32 = 1_000_000;
/// A law with a lower one has hardly anything but its tail.
const MIN_WEIBULL: f64 = 0.1;
const MIN_PARETO: f64 = 1.01;
const MAX_SHAPE: f64 = 100.0;

/// Why a text, or a number, makes no law of service demands.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ServiceError {
    /// No law has this name.
    #[error(
        "no such distribution of service times: {0:?}; expected constant, exponential, erlang:STAGES, gamma[:CV], lognormal[:CV], h2:CV, weibull:SHAPE or pareto:SHAPE"
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

impl ServiceError {
    /// The same of what was written.
    fn about(self, text: &str) -> Self {
        match self {
            Self::Parameter { law, range, .. } => Self::Parameter { law, range, given: format!("{text:?}") },
            unknown @ Self::Unknown(_) => unknown,
        }
    }
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

    /// Hyperexponentially distributed demands.
    ///
    /// # Errors
    /// [`ServiceError::Parameter`] unless `cv` is from 1 to 100.
    pub fn hyperexponential(cv: f64) -> Result<Self, ServiceError> {
        let range = "a coefficient of variation from 1 to 100";
        within("h2", range, 1.0..=MAX_CV, cv).map(|cv| Self::Hyperexponential { cv })
    }

    /// Demands with Weibull's law.
    ///
    /// # Errors
    /// [`ServiceError::Parameter`] unless `shape` is from 0.1 to 100.
    pub fn weibull(shape: f64) -> Result<Self, ServiceError> {
        let range = "a shape from 0.1 to 100";
        within("weibull", range, MIN_WEIBULL..=MAX_SHAPE, shape).map(|shape| Self::Weibull { shape })
    }

    /// Demands with Pareto's law.
    ///
    /// # Errors
    /// [`ServiceError::Parameter`] unless `shape` is from 1.01 to 100.
    pub fn pareto(shape: f64) -> Result<Self, ServiceError> {
        let range = "a shape from 1.01 to 100";
        within("pareto", range, MIN_PARETO..=MAX_SHAPE, shape).map(|shape| Self::Pareto { shape })
    }

    /// Standard deviation over mean; infinite where there is no variance.
    pub fn cv(self) -> f64 {
        match self {
            Self::Constant => 0.0,
            Self::Exponential => 1.0,
            Self::Erlang { stages } => f64::from(stages).sqrt().recip(),
            Self::Gamma { cv } | Self::Lognormal { cv } | Self::Hyperexponential { cv } => cv,
            Self::Weibull { shape } => {
                (gamma(1.0 + 2.0 / shape) / gamma(1.0 + 1.0 / shape).powi(2) - 1.0).max(0.0).sqrt()
            }
            Self::Pareto { shape } if shape <= 2.0 => f64::INFINITY,
            Self::Pareto { shape } => (shape * (shape - 2.0)).sqrt().recip(),
        }
    }
}

fn within(
    law: &'static str,
    range: &'static str,
    limits: RangeInclusive<f64>,
    given: f64,
) -> Result<f64, ServiceError> {
    if limits.contains(&given) {
        Ok(given)
    } else {
        Err(ServiceError::Parameter { law, range, given: given.to_string() })
    }
}

const VARIATION: &str = "a coefficient of variation from 0.001 to 100";

fn variation(law: &'static str, cv: f64) -> Result<f64, ServiceError> {
    within(law, VARIATION, MIN_CV..=MAX_CV, cv)
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
            Self::Hyperexponential { cv } => write!(f, "h2:{cv}"),
            Self::Weibull { shape } => write!(f, "weibull:{shape}"),
            Self::Pareto { shape } => write!(f, "pareto:{shape}"),
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
        let with =
            |make: fn(f64) -> Result<Self, ServiceError>| match given.map(|given| (given, given.parse())) {
                None => make(Self::PAPER_CV),
                Some((_, Ok(parameter))) => make(parameter),
                // No law takes it: its error says what it takes.
                Some((given, Err(_))) => make(f64::NAN).map_err(|why| why.about(given)),
            };
        match (name, given) {
            ("constant", None) => Ok(Self::Constant),
            ("exponential", None) => Ok(Self::Exponential),
            ("erlang", Some(given)) => {
                given.parse().map_err(|_| stages_error(format!("{given:?}"))).and_then(Self::erlang)
            }
            ("gamma", _) => with(Self::gamma),
            ("lognormal", _) => with(Self::lognormal),
            ("h2", Some(_)) => with(Self::hyperexponential),
            ("weibull", Some(_)) => with(Self::weibull),
            ("pareto", Some(_)) => with(Self::pareto),
            _ => Err(ServiceError::Unknown(text.to_owned())),
        }
    }
}

/// Draws demands of mean 1.
#[derive(Debug, Clone)]
pub(crate) enum Demands {
    /// With a law that times between arrivals have as well.
    Gaps(Gaps),
    /// See [`Service::Weibull`].
    Weibull(Weibull<f64>),
    /// See [`Service::Pareto`].
    Pareto(Pareto<f64>),
    /// See [`Samples`].
    Sampled(Arc<[f64]>),
}

impl Demands {
    pub(crate) fn of(service: Service) -> Self {
        let cv = service.cv();
        let law = match service {
            Service::Constant => Ok(Process::Constant),
            Service::Exponential => Ok(Process::Poisson),
            Service::Erlang { .. } | Service::Gamma { .. } => Process::gamma(cv),
            Service::Lognormal { .. } => Process::lognormal(cv),
            Service::Hyperexponential { .. } => Process::hyperexponential(cv),
            Service::Weibull { shape } => match Weibull::new(gamma(1.0 + 1.0 / shape).recip(), shape) {
                Ok(law) => return Self::Weibull(law),
                Err(_) => Ok(Process::default()),
            },
            Service::Pareto { shape } => match Pareto::new((shape - 1.0) / shape, shape) {
                Ok(law) => return Self::Pareto(law),
                Err(_) => Ok(Process::default()),
            },
        };
        // The range of a law of demands is within what these laws can have.
        Self::Gaps(Gaps::of(law.unwrap_or_default()))
    }

    pub(crate) fn fill<R: Rng>(&self, into: &mut [f64], random: &mut R) {
        match self {
            Self::Gaps(gaps) => gaps.fill(into, random),
            Self::Weibull(_) | Self::Pareto(_) | Self::Sampled(_) => into.fill_with(|| self.sample(random)),
        }
    }
}

impl Distribution<f64> for Demands {
    #[inline]
    fn sample<R: Rng + ?Sized>(&self, random: &mut R) -> f64 {
        match self {
            Self::Gaps(gaps) => gaps.sample(random),
            Self::Weibull(law) => law.sample(random),
            Self::Pareto(law) => law.sample(random),
            Self::Sampled(values) => values[random.random_range(0..values.len())],
        }
    }
}

impl From<&Samples> for Demands {
    fn from(samples: &Samples) -> Self {
        Self::Sampled(Arc::clone(&samples.values))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a panic is how a test fails")]
mod tests {
    use super::*;
    use crate::draw::{Role, Seed};

    /// The mean is 1 whatever the law, and the variation is as it says, where it has one that can be seen.
    #[test]
    fn demands_have_the_law_that_they_are_said_to_have() {
        for (text, cv) in [
            ("constant", 0.0),
            ("exponential", 1.0),
            ("erlang:4", 0.5),
            ("gamma:2", 2.0),
            ("lognormal:0.7", 0.7),
            ("h2:3", 3.0),
            ("weibull:1", 1.0),
            // sqrt(gamma(1 + 2 / 0.5) / gamma(1 + 1 / 0.5)^2 - 1) = sqrt(24 / 4 - 1)
            ("weibull:0.5", 5.0_f64.sqrt()),
            ("pareto:6", 24.0_f64.sqrt().recip()),
        ] {
            let service: Service = text.parse().unwrap();
            assert_eq!(service.to_string(), text);
            assert!((service.cv() - cv).abs() < 1e-9, "{text}: {}", service.cv());
            let demands = Demands::of(service);
            let mut random = Seed::new(7, 0).stream(Role::Service);
            let mut drawn = vec![0.0; 400_000];
            demands.fill(&mut drawn, &mut random);
            let seen = stats::Deviations::of(&drawn);
            assert!((stats::mean(drawn.iter().copied()).unwrap() - 1.0).abs() < 0.02, "{text}");
            assert!((seen.cv() - cv).abs() < 0.03 * cv.max(0.01), "{text}: {} seen", seen.cv());
        }
        assert_eq!("pareto:1.5".parse::<Service>().unwrap().cv(), f64::INFINITY);
        for bad in ["h2", "h2:0.9", "weibull", "weibull:0", "pareto:1", "pareto:x", "weibull:nan"] {
            assert!(bad.parse::<Service>().is_err(), "{bad}");
        }
    }
}
