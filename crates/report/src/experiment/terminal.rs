//! The report as a table for a terminal: plain text, at most 80 columns for two subjects.

use record::experiment::TestState;
use stats::Estimate;

use super::model::{ClassPoint, ExperimentReport, Point};
use crate::cell::Cell;
use crate::terminal::{Layout, aligned};
use crate::text::{level, number, server};
use crate::unit::Unit;

impl ExperimentReport {
    /// The report's table with the verdict under it; each line ends with a line feed.
    pub fn table(&self) -> String {
        let mut text = self.heading();
        text.push('\n');
        text += &aligned(&self.rows(), Layout { flush_left: 2, spanning: 1, nothing: "-" });
        text.push('\n');
        text += &format!("{}.\n", self.verdict.headline);
        for sentence in &self.verdict.details {
            text += &format!("{sentence}\n");
        }
        for limit in &self.limits {
            text += &format!("\n{}: {}\n", limit.subject, limit.limit);
            limit.evidence.iter().chain(&limit.next).for_each(|sentence| text += &format!("  {sentence}\n"));
        }
        for test in self.tests.iter().filter(|test| test.state != TestState::Measured) {
            let state = if test.state == TestState::Broken { "broken" } else { "not valid" };
            text += &format!("{}: {state}, not counted: {}\n", test.directory, test.why.join("; "));
        }
        text
    }

    fn heading(&self) -> String {
        let server = server(&self.server);
        let capacity = self.capacity.as_ref().map(|capacity| {
            let interval = capacity
                .rate
                .ci
                .map_or(String::new(), |[low, high]| format!(" ({} to {})", number(low), number(high)));
            format!("capacity {} {}{interval}\n", number(capacity.rate.value), capacity.unit)
        });
        format!("{}: {server}\n{}", self.title, capacity.unwrap_or_default())
    }

    /// A group of columns for each quantity, in it a column for each subject.
    fn rows(&self) -> Vec<Vec<Cell>> {
        let mut quantities = vec![Cell::text(""); 2];
        for quantity in ["completed", "median duration"] {
            quantities.push(Cell::text(quantity));
            quantities.extend(self.subjects.iter().skip(1).map(|_| Cell::text("")));
        }
        let mut names = vec![Cell::Text(self.factor.label()), Cell::text("class")];
        names.extend(self.subjects.iter().chain(&self.subjects).map(|subject| Cell::text(subject)));
        let mut rows = vec![quantities, names];
        let mut levels: Vec<f64> = self.points.iter().map(|point| point.level).collect();
        levels.dedup();
        for at in levels {
            let mut name = level(at, &self.factor.unit);
            for class in &self.classes {
                rows.push(self.class_row(std::mem::take(&mut name), at, &class.name));
            }
            rows.push(self.total_row("all", at, |point| point.goodput));
            if self.capacity.is_some() && self.is_relative_load() {
                rows.push(self.total_row("at most", at, |point| self.at_most(point)));
            }
        }
        rows
    }

    fn class_row(&self, name: String, at: f64, class: &str) -> Vec<Cell> {
        let points: Vec<Option<&ClassPoint>> =
            self.subjects.iter().map(|subject| self.point(subject, at)?.class(class)).collect();
        let share = |point: &Option<&ClassPoint>| point.and_then(|point| point.share);
        let median = |point: &Option<&ClassPoint>| Some(point.as_ref()?.duration.as_ref()?.median);
        let mut row = vec![Cell::Text(name), Cell::text(class)];
        row.extend(points.iter().map(|point| Cell::value_of(share(point), Unit::Percent)));
        row.extend(points.iter().map(|point| Cell::value_of(median(point), Unit::Seconds)));
        row
    }

    /// Sessions of all classes per second.
    fn total_row(&self, what: &str, at: f64, of: impl Fn(&Point) -> Option<Estimate>) -> Vec<Cell> {
        let mut row = vec![Cell::text(""), Cell::text(what)];
        row.extend(
            self.subjects
                .iter()
                .map(|subject| Cell::value_of(self.point(subject, at).and_then(&of), Unit::Rate)),
        );
        row
    }
}
