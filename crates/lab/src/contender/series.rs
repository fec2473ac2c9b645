//! [`GateSeries`]: what the gate said of itself in the course of a test, as time series.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use catalogue::{Metric, gate};
use record::{RunDirectory, SampleRow};
use units::Time;

use crate::error::Error;
use crate::http::Answer;

/// Metrics of the gate that are recorded.
const METRICS: [Metric; 3] = [gate::WINDOW, gate::IN_SERVICE, gate::QUEUE];

/// What was seen at each look.
#[derive(Debug)]
pub(crate) struct GateSeries {
    next: Instant,
    seen: Vec<GateSample>,
}

#[derive(Debug, PartialEq)]
struct GateSample {
    at: SystemTime,
    metric: Metric,
    /// The stage, of what waits.
    label: String,
    value: f64,
}

impl GateSeries {
    /// The gate writes its metrics for each look, and clients wait for that.
    const EVERY: Duration = Duration::from_millis(250);

    pub(crate) fn begin() -> Self {
        Self { next: Instant::now(), seen: Vec::new() }
    }

    /// Looks at the gate's metrics, which `ask` gets, if it is time. One that does not answer is not asked about it
    /// here.
    pub(crate) fn look(&mut self, ask: impl FnOnce() -> Option<Answer>) {
        let now = Instant::now();
        if now < self.next {
            return;
        }
        self.next = now + Self::EVERY;
        if let Some(answer) = ask() {
            self.add(SystemTime::now(), &answer.body);
        }
    }

    fn add(&mut self, at: SystemTime, metrics: &str) {
        self.seen.extend(metrics.lines().filter_map(|line| {
            let (series, value) = line.rsplit_once(' ')?;
            let (name, labels) = series.split_once('{').unwrap_or((series, ""));
            let metric =
                METRICS.into_iter().find(|metric| metric.exposed().is_some_and(|exposed| exposed == name))?;
            let label = labels.split('"').nth(1).unwrap_or_default().to_owned();
            Some(GateSample { at, metric, label, value: value.parse().ok()? })
        }));
    }

    /// Adds it to the samples of the generator's run in `directory`, if it left one.
    pub(crate) fn keep(&self, directory: &Path) -> Result<(), Error> {
        let Ok(run) = RunDirectory::open(directory) else { return Ok(()) };
        let started = SystemTime::from(run.info()?.started);
        let host: Arc<str> = Arc::from(run.environment()?.host);
        let row = |seen: &GateSample| {
            let since = seen.at.duration_since(started).ok()?;
            let time = Time::from_nanos(u64::try_from(since.as_nanos()).ok()?);
            let label = Arc::from(&*seen.label);
            Some(SampleRow::of(seen.metric, label, time, Arc::clone(&host), seen.value))
        };
        Ok(run.add_samples(self.seen.iter().filter_map(row))?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_gate_says_of_its_stages_is_kept() {
        let metrics = "# TYPE headworks_gate_queue gauge\n\
            headworks_gate_queue{stage=\"acceptor\"} 2\nheadworks_gate_queue{stage=\"class\"} 3\n\
            headworks_gate_in_service 4\nheadworks_gate_window 5\nheadworks_gate_window_other 6\n";
        let mut series = GateSeries::begin();
        let at = SystemTime::UNIX_EPOCH;
        series.add(at, metrics);
        let seen = |metric, label: &str, value| GateSample { at, metric, label: label.to_owned(), value };
        assert_eq!(
            series.seen,
            [
                seen(gate::QUEUE, "acceptor", 2.0),
                seen(gate::QUEUE, "class", 3.0),
                seen(gate::IN_SERVICE, "", 4.0),
                seen(gate::WINDOW, "", 5.0),
            ]
        );
        // A search has its runs elsewhere.
        let nothing = tempfile::tempdir().unwrap();
        series.keep(nothing.path()).unwrap();
        assert_eq!(std::fs::read_dir(&nothing).unwrap().count(), 0);
    }
}
