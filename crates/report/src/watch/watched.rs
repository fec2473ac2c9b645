//! [`Watched`]: one watch, and what the load generator saw of the same time.

use std::collections::BTreeMap;
use std::path::Path;

use catalogue::Metric;
use record::search::WATCH;
use record::{Environment, MetricName, RunDirectory, RunInfo};
use serde_json::Value;

use crate::error::Error;

const LOAD: &str = "load";

/// One watch as far as it is known.
#[derive(Debug)]
pub(super) struct Watched {
    /// What sets it apart from others; empty where it is alone.
    pub(super) name: String,
    pub(super) info: RunInfo,
    pub(super) environment: Option<Environment>,
    /// `summary.json`; null when the watch has not ended.
    pub(super) summary: Value,
    /// What the load generator saw of the same time, if it was there.
    pub(super) client: Option<Client>,
    /// Times and values, by metric and label.
    samples: BTreeMap<(MetricName, String), Vec<(f64, f64)>>,
    /// Whether they could be read: those of a watch that was killed have no end.
    pub(super) is_whole: bool,
}

/// What the load generator saw, from its first request to its last, inside its measuring window or not.
#[derive(Debug, Default)]
pub(super) struct Client {
    /// Complete ones.
    pub(super) responses: u64,
    /// Of their bodies.
    pub(super) bytes: u64,
    /// Connections that they came on.
    pub(super) connections: u64,
    /// Why its figures are not valid, if they are not.
    pub(super) why_invalid: Vec<String>,
}

impl Client {
    /// None where there is no record of the load generator's.
    fn read(directory: &Path) -> Option<Self> {
        let run = RunDirectory::open(directory).ok()?;
        run.info().ok().filter(|info| info.tool == LOAD)?;
        let summary = run.summary().ok()?;
        let mut client = Self { why_invalid: summary.client.why_invalid, ..Self::default() };
        for row in run.requests().ok()? {
            let row = row.ok()?;
            if row.error.is_none() {
                client.responses += 1;
                client.bytes += row.bytes;
                client.connections += u64::from(!row.reused);
            }
        }
        Some(client)
    }
}

impl Watched {
    pub(super) fn read(directory: &Path, name: String) -> Result<Self, Error> {
        let run = RunDirectory::open(directory).map_err(|_| Error::NotARecord(directory.to_owned()))?;
        let mut samples = BTreeMap::<_, Vec<_>>::new();
        let rows = run.samples();
        let is_whole = rows.is_ok();
        for row in rows.into_iter().flatten() {
            let row = row?;
            let time = row.time.since(units::Time::ZERO).as_secs_f64();
            let of = (row.metric, row.label.to_string());
            samples.entry(of).or_default().push((time, row.value));
        }
        let beside = directory.parent().map(|parent| parent.join(LOAD));
        let client = beside.filter(|_| directory.ends_with(WATCH)).and_then(|load| Client::read(&load));
        Ok(Self {
            name,
            info: run.info()?,
            environment: run.environment().ok(),
            summary: run.outcome().unwrap_or_default(),
            client,
            samples,
            is_whole,
        })
    }

    /// A figure of the summary, by the names that lead to it.
    pub(super) fn figure(&self, path: &[&str]) -> Option<f64> {
        path.iter().try_fold(&self.summary, |value, name| value.get(*name))?.as_f64()
    }

    /// The names below a part of the summary; those of classes in the order of their sizes.
    pub(super) fn names(&self, part: &str) -> Vec<String> {
        let part = self.summary.get(part).and_then(Value::as_object);
        let mut names: Vec<String> = part.map(|part| part.keys().cloned().collect()).unwrap_or_default();
        names.sort_by_key(|name| least(name));
        names
    }

    /// A sum over classes of something that each class has.
    pub(super) fn sum(&self, figure: &str) -> f64 {
        let classes = self.names("requests");
        classes.iter().filter_map(|class| self.figure(&["requests", class, figure])).sum()
    }

    /// A mean over requests of something that each class has the mean of.
    pub(super) fn mean(&self, figure: &str) -> Option<f64> {
        let (mut sum, mut requests) = (0.0, 0.0);
        for class in self.names("requests") {
            let rate = self.figure(&["requests", &class, "rate"])?;
            sum += rate * self.figure(&["requests", &class, figure])?;
            requests += rate;
        }
        (requests > 0.0).then_some(sum / requests)
    }

    /// Times and values of a metric.
    pub(super) fn samples(&self, metric: Metric, label: &str) -> &[(f64, f64)] {
        self.samples.get(&(metric.into(), label.to_owned())).map_or(&[], Vec::as_slice)
    }

    /// The labels that a metric has.
    pub(super) fn labels(&self, metric: Metric) -> Vec<&str> {
        let labels = self.samples.keys().filter(|(name, _)| *name == metric);
        labels.map(|(_, label)| label.as_str()).collect()
    }

    /// When any of the labels of a metric was looked at.
    pub(super) fn looks(&self, metric: Metric) -> Vec<f64> {
        let rows = self.samples.iter().filter(|((name, _), _)| *name == metric);
        let mut looks: Vec<f64> = rows.flat_map(|(_, rows)| rows).map(|(time, _)| *time).collect();
        looks.sort_by(f64::total_cmp);
        looks.dedup();
        looks
    }
}

/// The least size of a class such as `50k-500k`; nothing for other names.
fn least(name: &str) -> Option<u64> {
    name.split_once('-')?.0.parse::<units::Bytes>().ok().map(|bytes| bytes.0)
}
