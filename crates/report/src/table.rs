//! Tables as data.

use serde::Serialize;

use crate::cell::Cell;

/// Figures as they are to be read.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
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
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct TableRow {
    /// What it is.
    pub name: String,
    /// One for each column.
    pub cells: Vec<Cell>,
}
