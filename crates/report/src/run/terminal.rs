//! A run's report as a table for a terminal.

use record::Quantiles;

use super::headline::objective_figure;
use super::model::{RunReport, StepPhase};
use crate::terminal::aligned;
use crate::text::{number, percent, seconds};

impl RunReport {
    /// The report's short form; each line ends with a line feed.
    pub fn table(&self) -> String {
        let summary = &self.summary;
        let mut text = format!("{}\n{}\n\n{}.\n", self.title, self.load, self.verdict.headline);
        for sentence in summary.client.why_invalid.iter().chain(&self.contradictions) {
            text += &format!("- {sentence}\n");
        }
        text.push('\n');
        text += &aligned(&self.rows(), 1, 0);
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
            text += &aligned(&self.step_rows(), 0, 0);
        }
        text
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let words = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
        let mut rows = vec![words(&["", "mean", "p50", "p90", "p99", "p99.9", "max", "count"])];
        for distribution in &self.distributions {
            let Quantiles { mean, p50, p90, p99, p999, max, count } = distribution.quantiles;
            let mut row = vec![distribution.phase.name().to_owned()];
            row.extend([mean, p50, p90, p99, p999, max].map(seconds));
            row.push(count.to_string());
            rows.push(row);
        }
        rows
    }

    fn step_rows(&self) -> Vec<Vec<String>> {
        let heads = [&*self.steps.unit, "answered/s", "connect", "SYN timeouts", "processing", "transfer"];
        let mut rows = vec![heads.map(str::to_owned).to_vec()];
        for step in &self.steps.rows {
            let mean = |phase: &StepPhase| phase.mean.map_or("-".to_owned(), |mean| seconds(mean.value));
            rows.push(vec![
                step.level.to_string(),
                number(step.achieved),
                mean(&step.connect),
                step.timeouts.map_or("-".to_owned(), |share| percent(share.value)),
                mean(&step.processing),
                mean(&step.transfer),
            ]);
        }
        rows
    }
}
