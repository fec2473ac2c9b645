//! The results as a section of a Markdown page.

use std::fmt::Write;

use serde_json::Value;
use stats::MeanEstimate;
use stats::Spread;

use super::run::Run;
use super::subject::Subject;
use super::watcher::Watcher;
use crate::results::raw::Setting;
use crate::results::text::thousands;

/// All that the runs found.
#[derive(Debug)]
pub(super) struct Results {
    pub(super) setting: Setting,
    pub(super) seconds: u32,
    pub(super) runs: Vec<Run>,
}

impl Results {
    pub(super) fn about(&self) -> Value {
        self.setting.about(&[])
    }

    /// All that is kept, a value for each line.
    pub(super) fn rows(&self) -> serde_json::Result<Vec<Value>> {
        self.runs.iter().map(serde_json::to_value).collect()
    }

    pub(super) fn to_markdown(&self) -> String {
        let mut text = "| server | watched by | requests/s, median | of those unwatched, 95 % | processors, by its own account | turns |\n| --- | --- | --- | --- | --- | --- |".to_owned();
        for subject in Subject::ALL {
            for watcher in Watcher::ALL {
                let runs =
                    || self.runs.iter().filter(move |run| run.subject == subject && run.watcher == watcher);
                let median = |of: fn(&Run) -> Option<f64>| {
                    Spread::of(runs().filter_map(of)).map(|spread| spread.median)
                };
                let failure = runs()
                    .find_map(|run| run.failure.clone())
                    .map_or("–".to_owned(), |why| why.replace('|', "/"));
                let rate = median(|run| run.rate).map_or(failure, thousands);
                let account =
                    median(|run| run.account).map_or(String::new(), |used| format!(" {:.2} %", used * 100.0));
                let _ = write!(
                    text,
                    "\n| {} | {} | {rate} | {} |{account} | {} |",
                    subject.name(),
                    watcher.name(),
                    share(watcher, runs()),
                    runs().count()
                );
            }
        }
        let Setting { host, versions, command, busy } = &self.setting;
        format!(
            "{text}\n\n`{command}` at commit {}, {}, {} s a turn. Host: {host}; others used {:.1} % of it before the first turn. {}.",
            host.commit,
            host.date,
            self.seconds,
            busy * 100.0,
            versions.join(", ")
        )
    }
}

/// Throughput beside that just before and just after, without a monitor.
fn share<'a>(watcher: Watcher, runs: impl Iterator<Item = &'a Run>) -> String {
    if watcher == Watcher::Nobody {
        return "1".to_owned();
    }
    let estimate = MeanEstimate::of(runs.filter_map(|run| Some(run.rate? / run.beside?)));
    if !estimate.half_width().is_finite() {
        return "–".to_owned();
    }
    format!("{:.3} ({:.3}–{:.3})", estimate.mean, estimate.ci[0], estimate.ci[1])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn throughput_is_compared_with_that_of_the_turns_beside() {
        let run = |watcher, round, rate, beside: Option<f64>| Run {
            subject: Subject::Nginx,
            watcher,
            round,
            failure: None,
            rate: Some(rate),
            beside,
            account: beside.map(|_| 0.012),
        };
        let runs = vec![
            run(Watcher::Nobody, 0, 1000.0, None),
            run(Watcher::Default, 0, 990.0, Some(1000.0)),
            run(Watcher::Nobody, 1, 500.0, None),
            run(Watcher::Default, 1, 495.0, Some(500.0)),
        ];
        let text = Results { setting: Setting::example(), seconds: 5, runs }.to_markdown();
        assert!(
            text.contains("| nginx | headworks watch | 743 | 0.990 (0.990–0.990) | 1.20 % | 2 |"),
            "{text}"
        );
        assert!(text.contains("| nginx | no monitor | 750 | 1 | | 2 |"), "{text}");
    }
}
