//! [`Report`]: how a run ended, and its figures.

use record::Summary;

use crate::measure::percentile::Percentile;
use crate::output::error::OutputError;

/// What a run gave.
#[derive(Debug)]
pub struct Report {
    /// Its figures.
    pub summary: Summary,
    /// The signal that stopped it before its time.
    pub signal: Option<u8>,
    /// When not one connection came about: the last reason.
    pub never_connected: Option<String>,
    /// Why the record is not whole.
    pub unwritten: Option<OutputError>,
    /// What the OpenTelemetry collector did not get, and why.
    pub untold: Option<String>,
    /// One line that says what was done.
    pub(crate) title: String,
    /// Percentiles that are told instead of the usual ones.
    pub(crate) percentiles: Vec<Percentile>,
    /// Whether there was a schedule: an open loop.
    pub(crate) scheduled: bool,
    /// The classes of the workload, in its order.
    pub(crate) classes: Vec<String>,
}

impl Report {
    /// Of records that were put together.
    pub(crate) fn merged(summary: Summary, classes: Vec<String>, title: String, scheduled: bool) -> Self {
        Self {
            summary,
            signal: None,
            never_connected: None,
            unwritten: None,
            untold: None,
            title,
            percentiles: Vec::new(),
            scheduled,
            classes,
        }
    }

    /// Whether every objective was met.
    pub fn meets_objectives(&self) -> bool {
        self.summary.objectives.iter().all(|objective| objective.met)
    }
}
