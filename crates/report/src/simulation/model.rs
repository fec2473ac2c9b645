//! The report's data; `web/src/simulation/data.ts` names the same fields.

use serde::Serialize;

use crate::{Estimate, Fact, Source, Verdict};

/// The report of a single simulation, of a sweep, or of the sweeps that repeat a paper.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SimulationReport {
    /// What it is about.
    pub title: String,
    /// The version of Headworks that simulated.
    pub version: String,
    /// What came out, in words.
    pub verdict: Verdict,
    /// What is to be known before the figures are believed, a sentence each.
    pub warnings: Vec<String>,
    /// What was said and whether it holds, in the order of the paper.
    pub checks: Vec<Check>,
    /// Of a single simulation: what came out for all requests, and then for each class.
    pub outcomes: Vec<OutcomeRow>,
    /// And one of its replications over time.
    pub course: Option<Course>,
    /// The figures of sweeps.
    pub figures: Vec<Figure>,
    /// How it was simulated.
    pub method: Vec<Fact>,
    /// The model or the specs.
    pub sources: Vec<Source>,
}

/// A statement, held against what came out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
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
pub struct Course {
    /// Ends of the intervals, in seconds.
    pub ends: Vec<f64>,
    /// Arrivals in each.
    pub arrivals: u64,
    /// And of those that the beginning has for itself, in more detail.
    pub beginning: Vec<f64>,
    /// When the warm-up ended, in seconds.
    pub warmup: f64,
    /// What there is to be seen.
    pub figures: Vec<CourseFigure>,
}

/// Charts over time that belong together.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CourseFigure {
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
    pub charts: Vec<CourseChart>,
}

/// A quantity over time.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CourseChart {
    /// What sets it apart from the others of its figure.
    pub title: String,
    /// Up the side.
    pub label: String,
    /// In what.
    pub unit: Unit,
    /// The lines.
    pub lines: Vec<CourseLine>,
}

/// A line over time.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CourseLine {
    /// What it stands for.
    pub name: String,
    /// Of each interval; nothing where nothing was observed.
    pub values: Vec<Option<f64>>,
    /// The least and the greatest of each interval; empty where only values are shown.
    pub ranges: Vec<Option<[f64; 2]>>,
}

/// A quantity against another, a curve for each setting.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Figure {
    /// Of the place in the page.
    pub id: String,
    /// What it shows.
    pub title: String,
    /// What it repeats, such as `Figure 4`; empty where it repeats nothing.
    pub place: String,
    /// How to read it.
    pub caption: String,
    /// Along the bottom.
    pub x: Axis,
    /// Up the side.
    pub y: Axis,
    /// The curves.
    pub curves: Vec<Curve>,
    /// Where along the bottom something begins, in rising order.
    pub marks: Vec<Mark>,
    /// From where on there is more than can be carried.
    pub overload: Option<f64>,
}

/// A place along the bottom of a figure.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Mark {
    /// Where.
    pub x: f64,
    /// What begins there.
    pub name: String,
}

/// What is on an axis.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Axis {
    /// What it is.
    pub label: String,
    /// In what.
    pub unit: Unit,
    /// Whether it is logarithmic at first.
    pub logarithmic: bool,
}

/// How figures are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// As they are.
    Plain,
    /// Shares, in per cent.
    Percent,
    /// Lengths of time.
    Seconds,
    /// Sizes.
    Bytes,
    /// Per second.
    Rate,
}

/// A curve.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Curve {
    /// What it stands for.
    pub name: String,
    /// Its points, in rising order of `x`.
    pub points: Vec<Place>,
}

/// A point of a curve.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Place {
    /// Along the bottom.
    pub x: f64,
    /// Up the side.
    pub y: Estimate,
    /// What else is to be known of it.
    pub note: String,
}
