//! A watch's report for a terminal.

use super::model::WatchReport;
use crate::cell::Cell;
use crate::table::Table;
use crate::terminal::{Layout, aligned};

impl WatchReport {
    /// The report's short form; each line ends with a line feed.
    pub fn table(&self) -> String {
        let mut text = format!("{}\n\n{}.\n", self.title, self.verdict.headline);
        for sentence in self.warnings.iter().chain(&self.verdict.details) {
            text += &format!("- {sentence}\n");
        }
        for table in &self.tables {
            text += &format!("\n{}\n", table.title);
            text += &aligned(&rows(table), LAYOUT);
        }
        text
    }
}

const LAYOUT: Layout = Layout { flush_left: 1, spanning: 0, nothing: "–" };

fn rows(table: &Table) -> Vec<Vec<Cell>> {
    let head = std::iter::once(&table.of).chain(&table.columns).map(|name| Cell::text(name)).collect();
    let rows = table
        .rows
        .iter()
        .map(|row| std::iter::once(Cell::text(&row.name)).chain(row.cells.clone()).collect());
    std::iter::once(head).chain(rows).collect()
}
