//! [`Samples`]: what was sampled beside other runs.

use std::collections::BTreeMap;
use std::path::Path;

use jiff::Timestamp;

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
