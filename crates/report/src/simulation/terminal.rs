//! The report for a terminal.

use super::model::SimulationReport;
use crate::cell::{Cell, Quantity};
use crate::terminal::{Layout, aligned};
use crate::unit::Unit;

const LAYOUT: Layout = Layout { flush_left: 1, spanning: 0, nothing: "-" };

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
            text += &format!("{}.\n\n{}\n", self.verdict.headline, aligned(&self.outcome_rows(), LAYOUT));
            self.verdict.details.iter().for_each(|sentence| text += &format!("{sentence}\n"));
        } else if self.checks.is_empty() {
            text += &self.figures_as_text();
        } else {
            text += &format!("\n{}.\n", self.verdict.headline);
        }
        self.warnings.iter().for_each(|warning| text += &format!("{warning}\n"));
        text
    }

    fn outcome_rows(&self) -> Vec<Vec<Cell>> {
        let heads = ["", "rejected", "mean latency", "p50", "p90", "p99", "served/s"];
        let rows = self.outcomes.iter().map(|row| {
            let mut cells = vec![Cell::text(&row.name), Cell::value_of(row.rejected, Unit::Percent)];
            let latencies = [row.mean, row.p50, row.p90, row.p99];
            cells.extend(latencies.map(|latency| Cell::value_of(latency, Unit::Seconds)));
            cells.push(Cell::value_of(row.throughput, Unit::Number));
            cells
        });
        std::iter::once(heads.map(Cell::text).to_vec()).chain(rows).collect()
    }

    fn figures_as_text(&self) -> String {
        let mut text = String::new();
        for figure in &self.figures {
            let (x, y) = (figure.x.unit, figure.y.unit);
            let mut rows =
                vec![[&*figure.x.label, &*figure.y.label, "95 % interval"].map(Cell::text).to_vec()];
            for curve in &figure.curves {
                rows.push(vec![Cell::text(&curve.name)]);
                for point in &curve.points {
                    let ci = point.y.ci.map_or("unknown".to_owned(), |[low, high]| {
                        format!("{} to {}", y.written(low), y.written(high))
                    });
                    let [along, up] = [Quantity::new(point.x, x), Quantity::new(point.y.value, y)];
                    rows.push(vec![along.into(), up.into(), ci.into()]);
                }
            }
            let layout = Layout { spanning: 1, ..LAYOUT };
            text += &format!("{}\n{}\n", figure.title, aligned(&rows, layout));
        }
        text
    }
}
