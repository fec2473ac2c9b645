//! Charts as data: curves against a quantity, and series over time. How they look is up to the page.

use serde::Serialize;
use stats::Estimate;

use crate::unit::Unit;

/// A quantity over time.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct TimeChart {
    /// What sets it apart from the others of its figure.
    pub title: String,
    /// Up the side.
    pub label: String,
    /// In what.
    pub unit: Unit,
    /// The lines.
    pub lines: Vec<TimeSeries>,
}

/// A line over time.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct TimeSeries {
    /// What it stands for.
    pub name: String,
    /// Of each interval; nothing where nothing was observed.
    pub values: Vec<Option<f64>>,
    /// The least and the greatest of each interval; empty where only values are shown.
    pub ranges: Vec<Option<[f64; 2]>>,
}

/// A quantity against another, a curve for each setting.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
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
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Mark {
    /// Where.
    pub x: f64,
    /// What begins there.
    pub name: String,
}

/// What is on an axis.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Axis {
    /// What it is.
    pub label: String,
    /// In what.
    pub unit: Unit,
    /// Whether it is logarithmic at first.
    pub logarithmic: bool,
}

/// How an axis is divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scale {
    /// Equal lengths are equal differences.
    Linear,
    /// Equal lengths are equal ratios.
    Logarithmic,
}

/// A curve.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Curve {
    /// What it stands for.
    pub name: String,
    /// Its points, in rising order of `x`.
    pub points: Vec<PlotPoint>,
}

/// A point of a curve.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PlotPoint {
    /// Along the bottom.
    pub x: f64,
    /// Up the side.
    pub y: Estimate,
    /// What else is to be known of it.
    pub note: String,
}

/// Charts over time that belong together.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct TimeFigure {
    /// Of the place in the page.
    pub id: String,
    /// What it shows.
    pub title: String,
    /// How to read it.
    pub caption: String,
    /// The charts.
    pub charts: Vec<TimeChart>,
}
