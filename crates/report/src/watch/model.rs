//! The data of a watch's page, which `headworks report --json` prints too.
//!
//! `web/src/watch/data.ts` names the same fields.

use record::Timestamp;
use serde::Serialize;

use crate::{CourseChart, Fact, Source, Verdict};

/// Everything that is shown of a watch, or of several side by side. Times in seconds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WatchReport {
    /// What was watched.
    pub title: String,
    /// When the first watch began.
    pub started: Timestamp,
    /// The version of Headworks that made the record.
    pub version: String,
    /// What came out.
    pub verdict: Verdict,
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

/// Figures as they are to be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Table {
    /// Of the place in the page.
    pub id: String,
    /// What it shows.
    pub title: String,
    /// What it repeats, such as `Table 5`; empty where it repeats nothing.
    pub place: String,
    /// How to read it.
    pub hint: String,
    /// What the rows are.
    pub of: String,
    /// What the columns are.
    pub columns: Vec<String>,
    /// The rows.
    pub rows: Vec<TableRow>,
}

/// One quantity, in every column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TableRow {
    /// What it is.
    pub name: String,
    /// With their units; a dash where there is nothing.
    pub cells: Vec<String>,
}

/// Charts over time that belong together.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TimeFigure {
    /// Of the place in the page.
    pub id: String,
    /// What it shows.
    pub title: String,
    /// How to read it.
    pub caption: String,
    /// The charts.
    pub charts: Vec<CourseChart>,
}
