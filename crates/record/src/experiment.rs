//! An experiment: a directory of runs, and `experiment.json`, its index.
//!
//! ```text
//! OUT/experiment.json       this index
//! OUT/run.toml              what repeats it: spec, workload and seed
//! OUT/spec.toml             the spec as it was run
//! OUT/workload.toml         the workload that it came to
//! OUT/environment.json
//! OUT/capacity/             the run that found the capacity
//! OUT/tests/01-bare-0.7/    one run directory per test
//! OUT/report.html
//! ```

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::search::Verdict;
use crate::{Error, RunInfo, files};

const INDEX: &str = "experiment.json";
const INFO: &str = "run.toml";

/// What was varied, what was measured, and where it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Experiment {
    /// What it is about, in a few words.
    pub title: String,
    /// Seed of the arrivals and of the order of tests.
    #[serde(default)]
    pub seed: u64,
    /// When it began.
    pub started: Timestamp,
    /// When it ended; null while it goes on, or when it was killed.
    pub ended: Option<Timestamp>,
    /// Whether it was stopped before all tests were done.
    pub interrupted: bool,
    /// The version of Headworks.
    pub version: String,
    /// The command line, argument by argument.
    pub command: Vec<String>,
    /// The server under test.
    pub server: Server,
    /// What is varied along the axis of figures.
    pub factor: Factor,
    /// What else is varied: of a subject that it applies to there is a curve for each level.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<OtherFactor>,
    /// What is compared at every level, such as `bare` and `gate`.
    pub subjects: Vec<String>,
    /// The classes of the workload, the most important first.
    pub classes: Vec<Class>,
    /// What the generator can do, as the reference server shows; null where it could not be tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generator: Option<Validation>,
    /// What the server carries; null until it has been found.
    pub capacity: Option<Capacity>,
    /// The tests done so far, in the order in which they were done.
    pub tests: Vec<Test>,
    /// What sets the limit of each subject, judged when all tests at given loads have been done; searches have their own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<Limit>,
}

/// What sets the limit of a subject.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Limit {
    /// The subject, and its settings where it has some: `gate, look-ahead 4`.
    pub subject: String,
    /// What the bottleneck is.
    #[serde(flatten)]
    pub verdict: Verdict,
}

/// The server under test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Server {
    /// `origin`, `apache`, `nginx`, or `url` for one that was running already.
    pub kind: String,
    /// As the server states it; empty when it does not.
    pub version: String,
}

/// What an experiment varies, in numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Factor {
    /// Such as `load`, or `gate.differentiation`.
    pub name: String,
    /// The unit of the levels, such as `x capacity`.
    pub unit: String,
    /// The values it takes.
    pub levels: Vec<f64>,
}

/// What an experiment varies besides, in numbers or words.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OtherFactor {
    /// Such as `gate.look-ahead`.
    pub name: String,
    /// What curves and tests are called by, such as `look-ahead`.
    pub label: String,
    /// As in [`Factor`].
    pub unit: String,
    /// The values it takes.
    pub levels: Vec<String>,
    /// What somebody else found at them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published: Option<Published>,
}

/// Figures from elsewhere that ours stand beside.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Published {
    /// Whose they are, such as a paper and its figure.
    pub source: String,
    /// Requests a second by level, for as many levels as are known.
    pub rates: BTreeMap<String, f64>,
}

/// A class of the workload.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Class {
    /// Its name.
    pub name: String,
    /// Its share of the offered load, 0 to 1. Where a class has a load of its own, the shares are
    /// those of the workload before that.
    pub share: f64,
    /// Times the capacity that it is offered at every level, where that is held constant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub load: Option<f64>,
}

/// What the server carries.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Capacity {
    /// The estimate, in `unit`.
    pub rate: f64,
    /// The 95 % confidence interval.
    pub ci: [f64; 2],
    /// Such as `sessions/s`.
    pub unit: String,
    /// The run that it was found by, from the experiment's directory.
    pub directory: String,
}

/// What clients of the generator got from the reference server, in place of the one that is tested.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Validation {
    /// Requests per second.
    pub rate: f64,
    /// Each with one request after the other.
    pub clients: u32,
    /// Of each response.
    pub bytes: u64,
    /// Command and summary of the run, from the experiment's directory.
    pub directory: String,
}

/// One test: one subject at one level, once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Test {
    /// Its run directory, from the experiment's directory.
    pub directory: String,
    /// One of the experiment's subjects.
    pub subject: String,
    /// One of the factor's levels.
    pub level: f64,
    /// The levels of the other factors, by their labels; only of those that the subject knows.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, String>,
    /// Which repetition, from 1.
    pub repeat: u32,
    /// Sessions per second that were offered; 0 of a search.
    pub offered: f64,
    /// What a search found.
    #[serde(rename = "knee", default, skip_serializing_if = "Option::is_none")]
    pub capacity: Option<MeasuredCapacity>,
    /// Whether its figures can be used.
    pub state: TestState,
    /// Why not, one sentence each.
    pub why: Vec<String>,
}

/// The highest rate that a server keeps up with, and what sets it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MeasuredCapacity {
    /// Per second; null where the search ended without.
    pub rate: Option<f64>,
    /// From a rate that it kept up with to one that it did not.
    pub ci: Option<[f64; 2]>,
    /// `requests/s`, or `sessions/s`.
    pub unit: String,
    /// The resource that is at its end, such as `worker-limit`; null where that is not known.
    pub bottleneck: Option<String>,
    /// How sure that is, 0 to 1.
    pub confidence: f64,
    /// The record of the search, from the test's directory.
    pub directory: String,
}

impl fmt::Display for MeasuredCapacity {
    /// In a line: `201 requests/s (198 to 204), worker-limit`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.rate, self.ci) {
            (Some(rate), Some([low, high])) => {
                write!(f, "{rate:.0} {} ({low:.0} to {high:.0})", self.unit)?;
            }
            _ => f.write_str("no capacity")?,
        }
        write!(f, ", {}", self.bottleneck.as_deref().unwrap_or("bottleneck unknown"))
    }
}

/// Whether a test's figures can be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum TestState {
    /// They can.
    #[serde(rename = "measured")]
    Measured,
    /// Something died or could not be started; there may be no figures.
    #[serde(rename = "broken")]
    Broken,
    /// There are figures, but the generator rather than the server made them.
    #[serde(rename = "not valid")]
    NotValid,
}

impl Factor {
    /// What it is called in sentences: `basic target-queue` for `gate.class.basic.target-queue`.
    pub fn label(&self) -> String {
        label(&self.name)
    }
}

/// What a factor is called in sentences, in tests' names and on curves: `basic target-queue` for
/// `gate.class.basic.target-queue`.
pub fn label(name: &str) -> String {
    let key = name.strip_prefix("gate.").unwrap_or(name);
    key.strip_prefix("class.").unwrap_or(key).replace('.', " ")
}

impl Experiment {
    /// Reads the index of the experiment in `directory`.
    ///
    /// # Errors
    /// [`Error::NotARecord`] when there is no index; another error when it cannot be read.
    pub fn load(directory: &Path) -> Result<Self, Error> {
        if !Self::is_in(directory) {
            return Err(Error::NotARecord { path: directory.to_owned(), missing: INDEX });
        }
        files::read_json(&directory.join(INDEX))
    }

    /// Writes the index into `directory`, replacing it in one step, so that a reader and an
    /// interrupted experiment always have a whole one.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn save(&self, directory: &Path) -> Result<(), Error> {
        files::write_json(&directory.join(INDEX), self)
    }

    /// Writes `run.toml` into `directory`: what repeats the experiment.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn save_info(directory: &Path, info: &RunInfo) -> Result<(), Error> {
        files::write_toml(&directory.join(INFO), info)
    }

    /// Whether `directory` holds an experiment.
    pub fn is_in(directory: &Path) -> bool {
        directory.join(INDEX).is_file()
    }
}
