//! A watch's report for a terminal.

use super::model::WatchReport;
use crate::table::Table;
use crate::terminal::aligned;

impl WatchReport {
    /// The report's short form; each line ends with a line feed.
    pub fn table(&self) -> String {
        let mut text = format!("{}\n\n{}.\n", self.title, self.verdict.headline);
        for sentence in self.warnings.iter().chain(&self.verdict.details) {
            text += &format!("- {sentence}\n");
        }
        for table in &self.tables {
            text += &format!("\n{}\n", table.title);
            text += &aligned(&rows(table), 1, 0);
        }
        text
    }
}

fn rows(table: &Table) -> Vec<Vec<String>> {
    let head = std::iter::once(table.of.clone()).chain(table.columns.clone()).collect();
    let rows =
        table.rows.iter().map(|row| std::iter::once(row.name.clone()).chain(row.cells.clone()).collect());
    std::iter::once(head).chain(rows).collect()
}
