//! [`Samples`]: what was sampled beside other runs.

use std::collections::BTreeMap;
use std::path::Path;

use jiff::Timestamp;
use units::{Span, Time};

use crate::directory::RunDirectory;
use crate::error::Error;
use crate::metric_name::MetricName;
use crate::run_info::RunInfo;
use crate::samples::SampleRow;
use crate::search::WATCH;

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
        let values = |moments: Vec<(Time, f64)>| moments.into_iter().map(|(_, value)| value).collect();
        self.moments_during(run).into_iter().map(|(key, moments)| (key, values(moments))).collect()
    }

    /// What [`Self::during`] has, each with the moment at which it was seen, from the start of that run.
    pub fn moments_during(&self, run: &RunInfo) -> BTreeMap<(MetricName, String), Vec<(Time, f64)>> {
        let at = |started: Timestamp, nanos: u64| started.as_nanosecond() + i128::from(nanos);
        let window = at(run.started, run.window.from_ns)..=at(run.started, run.window.to_ns);
        let mut found: BTreeMap<_, Vec<(Time, f64)>> = BTreeMap::new();
        for row in &self.rows {
            let moment = at(self.started, row.time.as_nanos());
            if window.contains(&moment) {
                let key = (row.metric.clone(), row.label.to_string());
                let since = u64::try_from(moment - run.started.as_nanosecond()).unwrap_or_default();
                found.entry(key).or_default().push((Time::ZERO + Span::from_nanos(since), row.value));
            }
        }
        found
    }
}
