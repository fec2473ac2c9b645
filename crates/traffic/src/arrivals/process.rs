//! [`Process`]: which distribution the times between arrivals have.

use std::fmt;
use std::str::FromStr;

use rand_distr::{Distribution, Exp1, Gamma, LogNormal};

/// How arrivals are spread over time: the distribution of the times between one and the next,
/// which are independent of one another.
///
/// On the command line a process is its name and, where it takes one, its coefficient of
/// variation `c_v` (standard deviation over mean):
///
/// ```
/// use traffic::Process;
/// assert_eq!("h2:4".parse(), Process::hyperexponential(4.0));
/// assert_eq!("lognormal:1.5".parse::<Process>()?.to_string(), "lognormal:1.5");
/// # Ok::<(), traffic::ProcessError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Process {
    /// Always the same time between two.
    Constant,
    /// Independent users: exponentially distributed times between two.
    #[default]
    Poisson,
    /// Bursts: exponential times of one of two means, drawn by chance, balanced so that each
    /// kind makes up half of the time.
    #[non_exhaustive]
    Hyperexponential {
        /// Coefficient of variation; at 1 this is [`Process::Poisson`].
        cv: f64,
    },
    /// Gamma distributed times: more regular than Poisson below a `c_v` of 1, less above.
    #[non_exhaustive]
    Gamma {
        /// Coefficient of variation.
        cv: f64,
    },
    /// Lognormally distributed times.
    #[non_exhaustive]
    Lognormal {
        /// Coefficient of variation.
        cv: f64,
    },
}

/// The highest coefficient of variation, of times between arrivals and of service demands, that can be asked for. The
/// paper found 1 to 4 (section 2). With a higher one, a run would have to be longer than is practical before its mean
/// came near the one asked for: the relative error of the mean of n gaps is `c_v / sqrt(n)`.
pub const MAX_CV: f64 = 100.0;

const CONSTANT: &str = "constant";
const POISSON: &str = "poisson";
const HYPEREXPONENTIAL: &str = "h2";
const GAMMA: &str = "gamma";
const LOGNORMAL: &str = "lognormal";
const NAMES: [&str; 5] = [CONSTANT, POISSON, HYPEREXPONENTIAL, GAMMA, LOGNORMAL];

/// Why a text, or a number, makes no arrival process.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ProcessError {
    /// No process has this name.
    #[error("no such arrival process: {name:?}; expected constant, poisson, h2:CV, gamma:CV or lognormal:CV{}", did_you_mean(.name))]
    Unknown {
        /// What was given as its name.
        name: String,
    },
    /// The process has a variation, and none was given.
    #[error("{name} needs a coefficient of variation, as in {name}:2")]
    NoVariation {
        /// The process.
        name: &'static str,
    },
    /// The process has no variation to choose.
    #[error("{name} takes no coefficient of variation; leave out \":{given}\"")]
    FixedVariation {
        /// The process.
        name: &'static str,
        /// What was given after the colon.
        given: String,
    },
    /// The variation is not a number, or one that the process cannot have.
    #[error("the coefficient of variation of {name} must be a number {}, not {given}", range(.name))]
    Variation {
        /// The process.
        name: &'static str,
        /// What was given.
        given: String,
    },
}

fn did_you_mean(name: &str) -> String {
    config::did_you_mean(name, NAMES).map_or(String::new(), |near| format!("; did you mean {near:?}?"))
}

fn range(name: &str) -> &'static str {
    if name == HYPEREXPONENTIAL { "from 1 to 100" } else { "above 0, up to 100" }
}

impl Process {
    /// Hyperexponential times between arrivals with balanced means.
    ///
    /// # Errors
    /// [`ProcessError::Variation`] unless `cv` is from 1 to 100.
    pub fn hyperexponential(cv: f64) -> Result<Self, ProcessError> {
        if (1.0..=MAX_CV).contains(&cv) {
            Ok(Self::Hyperexponential { cv })
        } else {
            Err(ProcessError::Variation { name: HYPEREXPONENTIAL, given: cv.to_string() })
        }
    }

    /// Gamma distributed times between arrivals.
    ///
    /// # Errors
    /// [`ProcessError::Variation`] unless `cv` is above 0 and at most 100.
    pub fn gamma(cv: f64) -> Result<Self, ProcessError> {
        Ok(Self::Gamma { cv: positive(GAMMA, cv)? })
    }

    /// Lognormally distributed times between arrivals.
    ///
    /// # Errors
    /// [`ProcessError::Variation`] unless `cv` is above 0 and at most 100.
    pub fn lognormal(cv: f64) -> Result<Self, ProcessError> {
        Ok(Self::Lognormal { cv: positive(LOGNORMAL, cv)? })
    }
}

/// The smallest is where the squares of gamma's and lognormal's parameters still are numbers.
fn positive(name: &'static str, cv: f64) -> Result<f64, ProcessError> {
    const MIN_CV: f64 = 1e-6;
    if (MIN_CV..=MAX_CV).contains(&cv) {
        Ok(cv)
    } else {
        Err(ProcessError::Variation { name, given: cv.to_string() })
    }
}

impl fmt::Display for Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Constant => f.write_str(CONSTANT),
            Self::Poisson => f.write_str(POISSON),
            Self::Hyperexponential { cv } => write!(f, "{HYPEREXPONENTIAL}:{cv}"),
            Self::Gamma { cv } => write!(f, "{GAMMA}:{cv}"),
            Self::Lognormal { cv } => write!(f, "{LOGNORMAL}:{cv}"),
        }
    }
}

impl FromStr for Process {
    type Err = ProcessError;

    fn from_str(text: &str) -> Result<Self, ProcessError> {
        let (name, given) = match text.split_once(':') {
            Some((name, given)) => (name, Some(given)),
            None => (text, None),
        };
        let Some(name) = NAMES.into_iter().find(|known| *known == name) else {
            return Err(ProcessError::Unknown { name: name.to_owned() });
        };
        match (name, given) {
            (CONSTANT, None) => Ok(Self::Constant),
            (POISSON, None) => Ok(Self::Poisson),
            (CONSTANT | POISSON, Some(given)) => {
                Err(ProcessError::FixedVariation { name, given: given.to_owned() })
            }
            (_, None) => Err(ProcessError::NoVariation { name }),
            (_, Some(given)) => {
                let cv = given
                    .parse()
                    .map_err(|_| ProcessError::Variation { name, given: format!("{given:?}") })?;
                match name {
                    HYPEREXPONENTIAL => Self::hyperexponential(cv),
                    GAMMA => Self::gamma(cv),
                    _ => Self::lognormal(cv),
                }
            }
        }
    }
}

/// Draws the times between arrivals, of mean 1.
///
/// ```
/// use rand::{SeedableRng, distr::Distribution, rngs::SmallRng};
/// let gaps = traffic::Gaps::of(traffic::Process::Constant);
/// assert_eq!(gaps.sample(&mut SmallRng::seed_from_u64(1)), 1.0);
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Gaps(Kind);

#[derive(Debug, Clone, Copy)]
enum Kind {
    Constant,
    Exponential,
    /// With probability `short` a gap of mean `1 / (2 short)`, else one of mean
    /// `1 / (2 (1 - short))`.
    Hyperexponential {
        short: f64,
    },
    Gamma(Gamma<f64>),
    Lognormal(LogNormal<f64>),
}

impl Gaps {
    /// Those of a process.
    pub fn of(process: Process) -> Self {
        Self(match process {
            Process::Constant => Kind::Constant,
            Process::Poisson => Kind::Exponential,
            Process::Hyperexponential { cv } => Kind::Hyperexponential { short: Self::balanced(cv)[0] },
            // A shape or deviation outside their ranges cannot come out of a variation within
            // its own.
            Process::Gamma { cv } => {
                Gamma::new((cv * cv).recip(), cv * cv).map_or(Kind::Exponential, Kind::Gamma)
            }
            Process::Lognormal { cv } => {
                let variance = (cv * cv).ln_1p();
                LogNormal::new(-variance / 2.0, variance.sqrt()).map_or(Kind::Exponential, Kind::Lognormal)
            }
        })
    }

    /// Draws many.
    pub fn fill<R: rand::Rng>(&self, into: &mut [f64], random: &mut R) {
        match &self.0 {
            Kind::Hyperexponential { short } => {
                let scales = [(2.0 * short).recip(), (2.0 * (1.0 - short)).recip()];
                for gap in into {
                    let which = usize::from(random.random::<f64>() >= *short);
                    let unit: f64 = Exp1.sample(random);
                    *gap = unit * scales[which];
                }
            }
            Kind::Gamma(gamma) => into.iter_mut().for_each(|gap| *gap = gamma.sample(random)),
            _ => into.iter_mut().for_each(|gap| *gap = self.sample(random)),
        }
    }

    /// The chances of short and of long gaps of hyperexponential arrivals with this coefficient of
    /// variation. With balanced means, gaps of a chance `p` have the mean `1 / (2 p)`.
    pub fn balanced(cv: f64) -> [f64; 2] {
        let squared = cv * cv;
        let short = 0.5 * (1.0 + ((squared - 1.0) / (squared + 1.0)).sqrt());
        [short, 1.0 - short]
    }
}

impl Distribution<f64> for Gaps {
    #[inline]
    fn sample<R: rand::Rng + ?Sized>(&self, random: &mut R) -> f64 {
        match &self.0 {
            Kind::Constant => 1.0,
            Kind::Exponential => Exp1.sample(random),
            Kind::Hyperexponential { short } => {
                let chance = if random.random::<f64>() < *short { *short } else { 1.0 - *short };
                let unit: f64 = Exp1.sample(random);
                unit / (2.0 * chance)
            }
            Kind::Gamma(gamma) => gamma.sample(random),
            Kind::Lognormal(lognormal) => lognormal.sample(random),
        }
    }
}
