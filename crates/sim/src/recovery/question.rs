//! [`RecoveryQuestion`]: which surge, and what it is tried with.

use std::fmt;
use std::str::FromStr;

use units::Span;

use crate::model::ModelError;
use crate::plan::Plan;

/// Which surge, and what it is tried with.
#[derive(Debug, Clone)]
pub struct RecoveryQuestion {
    /// The surge.
    pub surge: SurgeLoad,
    /// Loads before and after it, at least one, each above 0 and below 1.
    pub loads: Vec<f64>,
    /// How often clients ask again, at least one.
    pub retries: Vec<u32>,
    /// How long the server has to come back.
    pub within: Span,
    /// Replications of each trial, the seed, and cores; the rest is of no matter.
    pub plan: Plan,
}

/// For so long there is so much load.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SurgeLoad {
    /// Requests over those that the processors can serve, those that come again not counted.
    pub load: f64,
    /// For how long.
    pub lasts: Span,
}

/// A text that is not a surge.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "\"{0}\" is no surge; give the load, from 1 to 1000, and how long it lasts, as in 3:10s for three times what the processors can serve"
)]
pub struct SurgeLoadError(String);

impl FromStr for SurgeLoad {
    type Err = SurgeLoadError;

    fn from_str(text: &str) -> Result<Self, SurgeLoadError> {
        let error = || SurgeLoadError(text.to_owned());
        let (load, lasts) = text.split_once(':').ok_or_else(error)?;
        let load: f64 = load.trim().parse().map_err(|_| error())?;
        let lasts: Span = lasts.trim().parse().map_err(|_| error())?;
        if (1.0..=1000.0).contains(&load) && !lasts.is_zero() {
            Ok(Self { load, lasts })
        } else {
            Err(error())
        }
    }
}

impl fmt::Display for SurgeLoad {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.load, self.lasts)
    }
}

/// Why it cannot be said whether a server comes back.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RecoveryError {
    /// The model cannot be simulated.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// Nothing is too late.
    #[error(
        "clients wait for as long as it takes, so that nothing is too late; say how long they wait, as in --patience 1s"
    )]
    NoPatience,
    /// What is in time for one is not for another.
    #[error(
        "whether answers are in time is asked of clients that all wait for as long; leave out the law of their patience"
    )]
    PatienceDiffers,
    /// A load at which it never was well, or no load.
    #[error("a load before the surge must be above 0 and below 1, not {0}")]
    Load(f64),
}
