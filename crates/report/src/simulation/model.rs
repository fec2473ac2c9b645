//! The report's data.

use crate::plot::{Figure, TimeChart};
use serde::Serialize;
use stats::Estimate;

use crate::conclusion::Conclusion;
use crate::method::fact::{Fact, Source};

/// The report of a single simulation, of a sweep, or of the sweeps that repeat a paper.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SimulationReport {
    /// What it is about.
    pub title: String,
    /// The version of Headworks that simulated.
    pub version: String,
    /// What came out, in words.
    pub verdict: Conclusion,
    /// What is to be known before the figures are believed, a sentence each.
    pub warnings: Vec<String>,
    /// What was said and whether it holds, in the order of the paper.
    pub checks: Vec<Check>,
    /// Of a single simulation: what came out for all requests, and then for each class.
    pub outcomes: Vec<OutcomeRow>,
    /// And one of its replications over time.
    pub course: Option<Replication>,
    /// The figures of sweeps.
    pub figures: Vec<Figure>,
    /// How it was simulated.
    pub method: Vec<Fact>,
    /// The model or the specs.
    pub sources: Vec<Source>,
}

/// A statement, held against what came out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Check {
    /// Where it is made, such as `Figure 4`.
    pub place: String,
    /// The statement, in our words, with what is asked for it to hold.
    pub statement: String,
    /// Whether it does.
    pub holds: bool,
    /// The figures that say so.
    pub evidence: String,
}

/// What came out for some of the requests; nothing where nothing was observed.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct OutcomeRow {
    /// Which requests.
    pub name: String,
    /// Share of them that was rejected.
    pub rejected: Option<Estimate>,
    /// Mean latency of the others, in seconds.
    pub mean: Option<Estimate>,
    /// Median latency, in seconds.
    pub p50: Option<Estimate>,
    /// 90th percentile of latency, in seconds.
    pub p90: Option<Estimate>,
    /// 99th percentile of latency, in seconds.
    pub p99: Option<Estimate>,
    /// Served per second.
    pub throughput: Option<Estimate>,
}

/// One replication over simulated time, in intervals that follow one another from 0.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Replication {
    /// Ends of the intervals, in seconds.
    pub ends: Vec<f64>,
    /// Arrivals in each.
    pub arrivals: u64,
    /// And of those that the beginning has for itself, in more detail.
    pub beginning: Vec<f64>,
    /// When the warm-up ended, in seconds.
    pub warmup: f64,
    /// What there is to be seen.
    pub figures: Vec<ReplicationFigure>,
}

/// Charts over time that belong together.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ReplicationFigure {
    /// Of the place in the page.
    pub id: String,
    /// What it shows.
    pub title: String,
    /// How to read it.
    pub caption: String,
    /// Whether it shows the beginning in more detail, and not the whole.
    pub beginning: bool,
    /// Whether its y axis is logarithmic at first; nothing where it cannot be.
    pub logarithmic: Option<bool>,
    /// The charts.
    pub charts: Vec<TimeChart>,
}
