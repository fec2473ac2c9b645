//! The data of a watch's page, which `headworks report --json` prints too.

use record::Timestamp;
use serde::Serialize;

use crate::conclusion::Conclusion;
use crate::method::fact::{Fact, Source};
use crate::plot::TimeFigure;
use crate::table::Table;

/// Everything that is shown of a watch, or of several side by side. Times in seconds.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct WatchReport {
    /// What was watched.
    pub title: String,
    /// When the first watch began.
    #[cfg_attr(test, ts(type = "string"))]
    pub started: Timestamp,
    /// The version of Headworks that made the record.
    pub version: String,
    /// What came out.
    pub verdict: Conclusion,
    /// What readers have to know before they believe it.
    pub warnings: Vec<String>,
    /// The tables, in the paper's order.
    pub tables: Vec<Table>,
    /// When the watches looked, in seconds since they began.
    pub looks: Vec<f64>,
    /// Figures over time; values at each of the looks.
    pub figures: Vec<TimeFigure>,
    /// How it was made.
    pub method: Vec<Fact>,
    /// Texts that it was made by.
    pub sources: Vec<Source>,
    /// The names of the files beside the report.
    pub files: Vec<String>,
}
