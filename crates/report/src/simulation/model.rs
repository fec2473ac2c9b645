//! The report's data; `web/src/simulation/data.ts` names the same fields.

use serde::Serialize;

use crate::{Estimate, Fact, Source, Verdict};

/// The report of a sweep, or of the sweeps that repeat a paper.
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
    /// The figures.
    pub figures: Vec<Figure>,
    /// How it was simulated.
    pub method: Vec<Fact>,
    /// The specs.
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
