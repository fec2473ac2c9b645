//! The results as a section of a Markdown page.

use std::fmt::Write;

use serde_json::Value;
use stats::MeanEstimate;
use stats::Spread;

use super::moments::{self, Part};
use super::run::Run;
use super::subject::Subject;
use super::watcher::Watcher;
use crate::harness::cell::Cell;
use crate::results::raw::Setting;
use crate::results::text::thousands;

/// All that the runs found.
#[derive(Debug)]
pub(super) struct Results {
    pub(super) setting: Setting,
    pub(super) seconds: u32,
    pub(super) runs: Vec<Run>,
    /// Of the long runs.
    pub(super) parts: Vec<Part>,
    /// What the monitor said that it cost in each of them, as a share of a processor.
    pub(super) accounts: Vec<(Subject, f64)>,
}

impl Results {
    pub(super) fn about(&self) -> Value {
        let used =
            self.accounts.iter().map(|(subject, account)| (subject.name().to_owned(), (*account).into()));
        self.setting.about(&[("processors_used", Value::Object(used.collect()))])
    }

    /// All that is kept, a value for each line.
    pub(super) fn rows(&self) -> serde_json::Result<Vec<Value>> {
        let runs = self.runs.iter().map(serde_json::to_value);
        runs.chain(self.parts.iter().map(serde_json::to_value)).collect()
    }

    pub(super) fn to_markdown(&self) -> String {
        let mut text = "| server | watched by | requests/s, median | of those unwatched, 95 % | runs |\n| --- | --- | --- | --- | --- |".to_owned();
        for subject in Subject::ALL {
            for watcher in Watcher::ALL {
                let cell = self.cell(subject, watcher);
                let rate = Spread::of(cell.runs.iter().filter_map(|run| run.rate));
                let rate = rate.map_or_else(|| cell.told(|run| run.rate), |spread| thousands(spread.median));
                let share = self.share(subject, watcher);
                let _ = write!(
                    text,
                    "\n| {} | {} | {rate} | {share} | {} |",
                    subject.name(),
                    watcher.name(),
                    cell.runs.len()
                );
            }
        }
        let Setting { host, versions, command, busy } = &self.setting;
        let moments = moments::to_markdown(&self.parts, &self.accounts);
        format!(
            "{text}\n\n{moments}\n\n`{command}` at commit {}, {}, {} s a run. Host: {host}; others used {:.1} % of it before the first run. {}.",
            host.commit,
            host.date,
            self.seconds,
            busy * 100.0,
            versions.join(", ")
        )
    }

    fn cell(&self, subject: Subject, watcher: Watcher) -> Cell<'_, Run> {
        let runs = self.runs.iter().filter(|run| run.subject == subject && run.watcher == watcher);
        Cell { runs: runs.collect() }
    }

    /// Throughput beside that just before and after, without anybody.
    fn share(&self, subject: Subject, watcher: Watcher) -> String {
        if watcher == Watcher::Nobody {
            return "1".to_owned();
        }
        let shares = self.cell(subject, watcher).by_round(|run| Some(run.rate? / run.beside?));
        let estimate = MeanEstimate::of(shares.into_values());
        if !estimate.half_width().is_finite() {
            return "–".to_owned();
        }
        format!("{:.3} ({:.3}–{:.3})", estimate.mean, estimate.ci[0], estimate.ci[1])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn throughput_is_compared_within_a_round() {
        let run = |watcher, round, rate, beside| Run {
            subject: Subject::Nginx,
            watcher,
            round,
            failure: None,
            rate: Some(rate),
            beside,
        };
        let runs = vec![
            run(Watcher::Nobody, 0, 1000.0, None),
            run(Watcher::Default, 0, 990.0, Some(1000.0)),
            run(Watcher::Nobody, 1, 500.0, None),
            run(Watcher::Default, 1, 495.0, Some(500.0)),
        ];
        let text = Results {
            setting: Setting::example(),
            seconds: 5,
            runs,
            parts: Vec::new(),
            accounts: Vec::new(),
        }
        .to_markdown();
        assert!(text.contains("| nginx | headworks watch | 743 | 0.990 (0.990–0.990) | 2 |"), "{text}");
        assert!(text.contains("| nginx | no monitor | 750 | 1 | 2 |"), "{text}");
    }
}
