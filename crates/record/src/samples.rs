//! `samples.parquet`: quantities that were looked at now and then.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use catalogue::{Metric, Viewpoint};
use jiff::Timestamp;
use units::Time;

use crate::metric_name::MetricName;
use crate::search::WATCH;
use crate::table::{named_cell, table};
use crate::{Error, RunDirectory, RunInfo};

table! {
    /// One value of one metric at one instant.
    #[derive(Debug, Clone, PartialEq)]
    pub struct SampleRow {
        /// From the start of the run.
        pub time: Time,
        /// The host it was seen on.
        pub host: Arc<str>,
        /// Whose view it is.
        pub viewpoint: Viewpoint,
        /// What it is, with its unit at the end where it has one.
        pub metric: MetricName,
        /// Which of several, such as a class or an interface; empty when there is one.
        pub label: Arc<str>,
        /// The value.
        pub value: f64,
    }
}

impl SampleRow {
    /// A value of `metric`, as seen from its viewpoint.
    pub fn of(metric: Metric, label: Arc<str>, time: Time, host: Arc<str>, value: f64) -> Self {
        Self { time, host, viewpoint: metric.viewpoint(), metric: metric.into(), label, value }
    }
}

/// What was sampled beside other runs, at moments of the calendar.
#[derive(Debug, Clone, Default)]
pub struct Samples {
    rows: Vec<SampleRow>,
    started: Timestamp,
}

impl Samples {
    /// All samples of a run.
    ///
    /// # Errors
    /// When it has none, or they cannot be read.
    pub fn read(directory: &RunDirectory) -> Result<Self, Error> {
        let rows = directory.samples()?.collect::<Result<_, _>>()?;
        Ok(Self { rows, started: directory.info()?.started })
    }

    /// What the monitor saw beside other runs, below `directory`; nothing where it did not run, or left a record that
    /// cannot be read: what it stands beside is worth as much without.
    pub fn beside(directory: &Path) -> Self {
        RunDirectory::open(directory.join(WATCH)).and_then(|run| Self::read(&run)).unwrap_or_default()
    }

    /// Those within the measuring window of another run, by metric and label, in their order.
    pub fn during(&self, run: &RunInfo) -> BTreeMap<(MetricName, String), Vec<f64>> {
        let at = |started: Timestamp, nanos: u64| started.as_nanosecond() + i128::from(nanos);
        let window = at(run.started, run.window.from_ns)..=at(run.started, run.window.to_ns);
        let mut found: BTreeMap<_, Vec<f64>> = BTreeMap::new();
        for row in &self.rows {
            if window.contains(&at(self.started, row.time.as_nanos())) {
                let key = (row.metric.clone(), row.label.to_string());
                found.entry(key).or_default().push(row.value);
            }
        }
        found
    }
}

named_cell!(Viewpoint);
