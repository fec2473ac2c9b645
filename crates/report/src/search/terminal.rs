//! The report for a terminal.

use super::model::SearchReport;

impl SearchReport {
    /// A line for each search, and why. Each line ends with a line feed.
    pub fn table(&self) -> String {
        let mut text = format!("{}\n\n{}.\n", self.title, self.verdict.headline);
        for search in &self.searches {
            text += &format!("\n{}: {}\n", search.name, search.result);
            for sentence in search.why.iter().chain(&search.evidence).chain(&search.next) {
                text += &format!("  {sentence}\n");
            }
        }
        self.warnings.iter().for_each(|warning| text += &format!("{warning}\n"));
        text
    }
}
