//! `prediction.json`: what the simulator says of a server, beside what was measured.
//!
//! ```text
//! OUT/prediction.json        [`Prediction`]
//! OUT/model.toml             what was fitted, for `headworks sim --model`
//! OUT/fit/                   the run that it was fitted to
//! OUT/full/                  a closed loop that fills the server, where processors are its bottleneck
//! OUT/load-0.8/              a run at each load that was predicted
//! ```

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::{Error, files};

const INDEX: &str = "prediction.json";

/// Where it is, below the directory of a test.
pub const DIRECTORY: &str = "prediction";

/// A server's model, and what it says at several loads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Prediction {
    /// Requests per second that loads are multiples of.
    pub capacity: f64,
    /// The load that the model was fitted to.
    pub fitted_at: f64,
    /// What a request needs of a processor in the mean, s.
    pub demand: f64,
    /// What it takes besides, whatever the load: the network, and ways into and out of the server, s.
    pub besides: f64,
    /// Whether the demand is what is left of the processors when the server is full, because they are the bottleneck;
    /// else it is what the latency of the run that was fitted says.
    pub is_of_full_server: bool,
    /// What the server was taken for, as options of `headworks sim`.
    pub server: Vec<String>,
    /// Load by load.
    pub points: Vec<PredictedPoint>,
}

/// What was predicted and what was measured at a load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PredictedPoint {
    /// Times the capacity.
    pub load: f64,
    /// Requests per second that arrived.
    pub rate: f64,
    /// What came out.
    pub measured: PointOutcome,
    /// What the simulator says of this rate; nothing where it has no answer.
    pub predicted: Option<PointOutcome>,
    /// What keeps this from being a comparison: of the generator, or of the simulator.
    pub why: Vec<String>,
    /// The run, from the prediction's directory.
    pub directory: String,
}

/// What requests meet.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PointOutcome {
    /// Mean latency of those that were answered, s.
    pub mean: f64,
    /// Its 95 % confidence interval; nothing of too few parts.
    pub ci: Option<[f64; 2]>,
    /// The share of those that were not, 0 to 1.
    pub lost: f64,
}

impl PredictedPoint {
    /// By how much of the measured mean latency the predicted one is off; nothing where they cannot be compared.
    pub fn error(&self) -> Option<f64> {
        let predicted = self.predicted.filter(|_| self.why.is_empty())?;
        Some(predicted.mean / self.measured.mean - 1.0).filter(|error| error.is_finite())
    }
}

impl Prediction {
    /// The largest error of a mean latency below the capacity, as a share of what was measured.
    pub fn error_below_capacity(&self) -> Option<f64> {
        let below = self.points.iter().filter(|point| point.load < 1.0);
        below.filter_map(PredictedPoint::error).map(f64::abs).reduce(f64::max)
    }

    /// Reads the prediction in `directory`.
    ///
    /// # Errors
    /// [`Error::NotARecord`] when there is no index; another error when it cannot be read.
    pub fn load(directory: &Path) -> Result<Self, Error> {
        if !Self::is_in(directory) {
            return Err(Error::NotARecord { path: directory.to_owned(), missing: INDEX });
        }
        files::read_json(&directory.join(INDEX))
    }

    /// Whether `directory` holds a prediction.
    pub(crate) fn is_in(directory: &Path) -> bool {
        directory.join(INDEX).is_file()
    }

    /// Writes it into `directory`.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn save(&self, directory: &Path) -> Result<(), Error> {
        files::write_json(&directory.join(INDEX), self)
    }
}
