//! Samples of one replication, as figures over simulated time.

use std::collections::HashMap;

use catalogue::Metric;
use catalogue::sim as metrics;
use record::{MetricName, RunInfo, SampleRow};

use super::curves::wide;
use super::model::{OutcomeRow, Replication, ReplicationFigure};
use crate::plot::{TimeChart, TimeSeries};
use crate::text::rounded;
use crate::unit::Unit;

/// The label of samples of the beginning.
const BEGINNING: &str = "beginning";
const MEAN: &str = "mean of the interval";

/// What was sampled: for each metric and label a value of each interval, where there is one.
struct Samples<'a> {
    /// Ends of the intervals, in seconds.
    ends: Vec<f64>,
    values: HashMap<(&'a MetricName, &'a str), Vec<Option<f64>>>,
}

impl<'a> Samples<'a> {
    fn of(rows: impl Iterator<Item = &'a SampleRow> + Clone) -> Self {
        let mut times: Vec<u64> = rows.clone().map(|row| row.time.as_nanos()).collect();
        times.dedup();
        let mut values: HashMap<_, Vec<Option<f64>>> = HashMap::new();
        let mut at = 0;
        for row in rows {
            at += times.get(at..).map_or(0, |rest| {
                rest.iter().position(|time| *time == row.time.as_nanos()).unwrap_or_default()
            });
            let of = values.entry((&row.metric, &*row.label)).or_insert_with(|| vec![None; times.len()]);
            if let Some(value) = of.get_mut(at) {
                *value = Some(rounded(row.value));
            }
        }
        Self { ends: times.iter().map(|time| *time as f64 / 1e9).collect(), values }
    }

    fn values(&self, metric: Metric, label: &str) -> Vec<Option<f64>> {
        let none = || vec![None; self.ends.len()];
        self.values.get(&(&metric.into(), label)).cloned().unwrap_or_else(none)
    }

    /// From the least to the greatest in each interval.
    fn ranges(&self, ends: [Metric; 2]) -> Vec<Option<[f64; 2]>> {
        let [least, most] = ends.map(|end| self.values(end, ""));
        least.into_iter().zip(most).map(|(least, most)| Some([least?, most?])).collect()
    }

    fn line(&self, name: &str, metric: Metric, label: &str) -> TimeSeries {
        TimeSeries { name: name.to_owned(), values: self.values(metric, label), ranges: Vec::new() }
    }

    fn ranged(&self, mean: Metric, ends: [Metric; 2]) -> TimeSeries {
        TimeSeries { ranges: self.ranges(ends), ..self.line(MEAN, mean, "") }
    }
}

fn chart(title: &str, label: &str, unit: Unit, lines: Vec<TimeSeries>) -> TimeChart {
    TimeChart { title: title.to_owned(), label: label.to_owned(), unit, lines }
}

/// The figures of the one replication whose samples these are; none when there are no samples.
pub(super) fn of(rows: &[SampleRow], info: &RunInfo, outcomes: &[OutcomeRow]) -> Option<Replication> {
    let is_detail = |row: &&SampleRow| &*row.label == BEGINNING;
    let samples = Samples::of(rows.iter().filter(|row| !is_detail(row)));
    let beginning = Samples::of(rows.iter().filter(is_detail));
    let first = *samples.ends.first()?;
    let arrivals = samples.values(metrics::ARRIVALS, "").first().copied().flatten();
    // Where there is no queue it has no plot, and of a short replication the beginning is all.
    let has_queue = samples.values(metrics::WAITING_MAX, "").into_iter().flatten().any(|most| most > 0.0);
    let queue = has_queue.then(|| queue(&samples));
    let is_part = !beginning.ends.is_empty() && beginning.ends.last() < samples.ends.last();
    let closely = is_part.then(|| closely(&beginning, has_queue));
    let whole = [work(&samples), arrived(&samples), latency(&samples, outcomes)];
    Some(Replication {
        arrivals: arrivals.map_or(0, |rate| (rate * first).round() as u64),
        warmup: info.window.from_ns as f64 / 1e9,
        figures: queue.into_iter().chain(closely).chain(whole).collect(),
        ends: samples.ends,
        beginning: beginning.ends,
    })
}

fn figure(id: &str, title: &str, caption: &str, charts: Vec<TimeChart>) -> ReplicationFigure {
    ReplicationFigure {
        id: id.to_owned(),
        title: title.to_owned(),
        caption: caption.to_owned(),
        beginning: false,
        logarithmic: None,
        charts,
    }
}

fn queue(samples: &Samples<'_>) -> ReplicationFigure {
    figure(
        "queue",
        "How long was the queue?",
        "Requests that waited for a thread. The band reaches from the shortest to the longest that the queue was in the interval.",
        vec![chart(
            "Queue",
            "Requests waiting",
            Unit::Plain,
            vec![samples.ranged(metrics::WAITING, [metrics::WAITING_MIN, metrics::WAITING_MAX])],
        )],
    )
}

fn closely(beginning: &Samples<'_>, has_queue: bool) -> ReplicationFigure {
    let level = |title: &str, label: &str, metric: Metric| {
        chart(title, label, Unit::Plain, vec![beginning.line(MEAN, metric, BEGINNING)])
    };
    let queue = has_queue.then(|| level("(a) queue", "Requests waiting", metrics::WAITING));
    let threads = if has_queue { "(b) threads taken" } else { "Threads taken" };
    let threads = level(threads, "Requests in service", metrics::IN_SERVICE);
    ReplicationFigure {
        beginning: true,
        ..figure(
            "beginning",
            "How did the server fill and empty at the beginning?",
            "The first requests of the same replication, in intervals that are as much shorter as this is shorter than the whole.",
            queue.into_iter().chain([threads]).collect(),
        )
    }
}

fn work(samples: &Samples<'_>) -> ReplicationFigure {
    figure(
        "work",
        "How busy was the server?",
        "Requests that had a thread, with a band from the fewest to the most in the interval; and the share of the processors’ time in which they worked.",
        vec![
            chart(
                "(a) threads taken",
                "Requests in service",
                Unit::Plain,
                vec![samples.ranged(metrics::IN_SERVICE, [metrics::IN_SERVICE_MIN, metrics::IN_SERVICE_MAX])],
            ),
            chart("(b) processors", "Utilization", Unit::Percent, vec![samples.line(MEAN, metrics::CPU, "")]),
        ],
    )
}

fn arrived(samples: &Samples<'_>) -> ReplicationFigure {
    figure(
        "arrivals",
        "How many came, and how many were rejected?",
        "An interval has a fixed number of arrivals, so it is short where they come quickly.",
        vec![
            chart(
                "(a) arrivals",
                "Requests per second",
                Unit::Rate,
                vec![samples.line(MEAN, metrics::ARRIVALS, "")],
            ),
            chart(
                "(b) rejected",
                "Share of the arrivals",
                Unit::Percent,
                vec![samples.line(MEAN, metrics::REJECTED, "")],
            ),
        ],
    )
}

/// By class where there are several.
fn latency(samples: &Samples<'_>, outcomes: &[OutcomeRow]) -> ReplicationFigure {
    let lines: Vec<TimeSeries> = match outcomes {
        [_, classes @ ..] if !classes.is_empty() => {
            classes.iter().map(|class| samples.line(&class.name, metrics::LATENCY, &class.name)).collect()
        }
        _ => vec![samples.line("all requests", metrics::LATENCY, "")],
    };
    let logarithmic = wide(lines.iter().flat_map(|line| &line.values).flatten().copied());
    ReplicationFigure {
        logarithmic: Some(logarithmic),
        ..figure(
            "latency",
            "How long did the others take?",
            "Mean latency of the requests that were completed in the interval, whenever they came.",
            vec![chart("Latency", "Mean latency", Unit::Seconds, lines)],
        )
    }
}
