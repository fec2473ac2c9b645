//! The report for a terminal.

use stats::Estimate;

use super::model::SimulationReport;
use crate::terminal::aligned;
use crate::text::{number, percent, seconds};
use crate::unit::Unit;

impl SimulationReport {
    /// What came out of a single simulation; of sweeps what was checked, or the figures where nothing
    /// was. Each line ends with a line feed.
    pub fn table(&self) -> String {
        let mut text = format!("{}\n\n", self.title);
        for check in &self.checks {
            let holds = if check.holds { "holds         " } else { "does not hold " };
            text +=
                &format!("{holds} {}: {}\n               {}\n", check.place, check.statement, check.evidence);
        }
        if !self.outcomes.is_empty() {
            text += &format!("{}.\n\n{}\n", self.verdict.headline, aligned(&self.outcome_rows(), 1, 0));
            self.verdict.details.iter().for_each(|sentence| text += &format!("{sentence}\n"));
        } else if self.checks.is_empty() {
            text += &self.figures_as_text();
        } else {
            text += &format!("\n{}.\n", self.verdict.headline);
        }
        self.warnings.iter().for_each(|warning| text += &format!("{warning}\n"));
        text
    }

    fn outcome_rows(&self) -> Vec<Vec<String>> {
        let head = ["", "rejected", "mean latency", "p50", "p90", "p99", "served/s"];
        let shown = |estimate: Option<Estimate>, write: fn(f64) -> String| {
            estimate.map_or("-".to_owned(), |estimate| write(estimate.value))
        };
        let rows = self.outcomes.iter().map(|row| {
            let mut cells = vec![row.name.clone(), shown(row.rejected, percent)];
            cells.extend([row.mean, row.p50, row.p90, row.p99].map(|latency| shown(latency, seconds)));
            cells.push(shown(row.throughput, number));
            cells
        });
        std::iter::once(head.map(str::to_owned).to_vec()).chain(rows).collect()
    }

    fn figures_as_text(&self) -> String {
        let mut text = String::new();
        for figure in &self.figures {
            let mut rows =
                vec![vec![figure.x.label.clone(), figure.y.label.clone(), "95 % interval".to_owned()]];
            for curve in &figure.curves {
                rows.push(vec![curve.name.clone()]);
                for place in &curve.points {
                    let ci = place.y.ci.map_or("unknown".to_owned(), |[low, high]| {
                        format!("{} to {}", shown(low, figure.y.unit), shown(high, figure.y.unit))
                    });
                    rows.push(vec![shown(place.x, figure.x.unit), shown(place.y.value, figure.y.unit), ci]);
                }
            }
            text += &format!("{}\n{}\n", figure.title, aligned(&rows, 1, 1));
        }
        text
    }
}

fn shown(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Plain | Unit::Bytes => number(value),
        Unit::Percent => percent(value),
        Unit::Seconds => seconds(value),
        Unit::Rate => format!("{}/s", number(value)),
    }
}
