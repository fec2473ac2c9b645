//! A run's report as a table for a terminal.

use record::Quantiles;

use super::headline::objective_figure;
use super::model::{RunReport, StepPhase};
use crate::cell::{Cell, Quantity};
use crate::terminal::{Layout, aligned};
use crate::unit::Unit;

/// All columns hold figures.
const FIGURES: Layout = Layout { flush_left: 0, spanning: 0, nothing: "-" };

impl RunReport {
    /// The report's short form; each line ends with a line feed.
    pub fn table(&self) -> String {
        let summary = &self.summary;
        let mut text = format!("{}\n{}\n\n{}.\n", self.title, self.load, self.verdict.headline);
        for sentence in summary.client.why_invalid.iter().chain(&self.contradictions) {
            text += &format!("- {sentence}\n");
        }
        text.push('\n');
        text += &aligned(&self.rows(), Layout { flush_left: 1, ..FIGURES });
        text.push('\n');
        for sentence in &self.verdict.details {
            text += &format!("{sentence}\n");
        }
        for objective in &summary.objectives {
            let measured = objective.measured.map_or(String::new(), |x| objective_figure(objective, x));
            let verdict = if objective.met { "met" } else { "missed" };
            text += &format!("objective {}: {verdict} {measured}\n", objective.objective);
        }
        if self.steps.ramp {
            text.push('\n');
            text += &aligned(&self.step_rows(), FIGURES);
        }
        text
    }

    fn rows(&self) -> Vec<Vec<Cell>> {
        let heads = ["", "mean", "p50", "p90", "p99", "p99.9", "max", "count"];
        let mut rows = vec![heads.map(Cell::text).to_vec()];
        for distribution in &self.distributions {
            let Quantiles { mean, p50, p90, p99, p999, max, count, .. } = distribution.quantiles;
            let mut row = vec![Cell::text(distribution.phase.name())];
            row.extend([mean, p50, p90, p99, p999, max].map(Quantity::seconds).map(Cell::from));
            row.push(Quantity::count(count as f64).into());
            rows.push(row);
        }
        rows
    }

    fn step_rows(&self) -> Vec<Vec<Cell>> {
        let heads = [&*self.steps.unit, "answered/s", "connect", "SYN timeouts", "processing", "transfer"];
        let mut rows = vec![heads.map(Cell::text).to_vec()];
        for step in &self.steps.rows {
            let mean = |phase: &StepPhase| Cell::value_of(phase.mean, Unit::Seconds);
            rows.push(vec![
                Cell::Text(step.level.to_string()),
                Quantity::number(step.achieved).into(),
                mean(&step.connect),
                Cell::value_of(step.timeouts, Unit::Percent),
                mean(&step.processing),
                mean(&step.transfer),
            ]);
        }
        rows
    }
}
