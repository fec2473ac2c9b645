//! [`Conclusion`]: what came out, in words.

use serde::Serialize;

/// What came out.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Conclusion {
    /// The one sentence to remember.
    pub headline: String,
    /// What goes with it, a sentence each.
    pub details: Vec<String>,
    /// The few figures behind it.
    pub figures: Vec<KeyFigure>,
}

/// A figure that stands for itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct KeyFigure {
    /// With its unit.
    pub value: String,
    /// What it is.
    pub label: String,
    /// What to compare it with.
    pub note: String,
}
