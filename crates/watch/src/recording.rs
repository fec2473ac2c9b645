//! [`Recording`]: the record of a watch as it goes on.

use std::path::Path;
use std::sync::Arc;

use record::{
    Clock, Environment, PhaseName, PhaseRow, RunDirectory, RunInfo, SampleRow, TableWriter, Timestamp,
    Viewpoint, Window,
};
use serde::Serialize;
use units::{Span, Time};

use crate::Summary;
use crate::requests::{Classes, Tally};

/// A run directory with what was seen, sample by sample.
pub struct Recording {
    directory: RunDirectory,
    info: RunInfo,
    samples: TableWriter<SampleRow>,
    /// From the first request on.
    phases: Option<TableWriter<PhaseRow>>,
    host: Arc<str>,
}

impl Recording {
    /// Begins a record.
    ///
    /// # Errors
    /// When the directory cannot be made or holds one.
    pub fn begin(
        at: &Path,
        command: Vec<String>,
        seed: u64,
        spec: toml::Table,
    ) -> Result<Self, record::Error> {
        let directory = RunDirectory::create(at)?;
        let environment = Environment::capture();
        let info = RunInfo {
            tool: "watch".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            command,
            started: Timestamp::now(),
            ended: None,
            interrupted: false,
            seed,
            window: Window::new(Time::ZERO, Span::ZERO),
            step_unit: None,
            steps: Vec::new(),
            spec,
        };
        directory.write_info(&info)?;
        directory.write_environment(&environment)?;
        let samples = directory.write_samples()?;
        Ok(Self { directory, info, samples, phases: None, host: environment.host.as_str().into() })
    }

    /// What went on until `time` after the start.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(crate) fn add(&mut self, time: Span, seen: &Summary) -> Result<(), record::Error> {
        for figure in seen.figures() {
            self.samples.push(SampleRow {
                time: Time::ZERO + time,
                host: Arc::clone(&self.host),
                viewpoint: Viewpoint::Server,
                metric: figure.metric.into(),
                label: figure.label.into(),
                value: figure.value,
            })?;
        }
        Ok(())
    }

    /// The requests that had ended then.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(crate) fn add_requests(
        &mut self,
        time: Span,
        tally: &Tally,
        classes: &Classes,
    ) -> Result<(), record::Error> {
        for row in phases(Time::ZERO + time, tally, classes) {
            match &mut self.phases {
                Some(phases) => phases.push(row)?,
                none => none.insert(self.directory.write_phases()?).push(row)?,
            }
        }
        Ok(())
    }

    /// Ends the record.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(crate) fn end(
        mut self,
        length: Span,
        interrupted: bool,
        summary: &impl Serialize,
    ) -> Result<(), record::Error> {
        self.samples.finish()?;
        if let Some(phases) = self.phases {
            phases.finish()?;
        }
        self.info.ended = Some(Timestamp::now());
        self.info.interrupted = interrupted;
        self.info.window = Window::new(Time::ZERO, length);
        self.directory.write_info(&self.info)?;
        self.directory.write_outcome(summary)
    }
}

/// A row for each phase and clock of each class that had requests.
fn phases(time: Time, tally: &Tally, classes: &Classes) -> Vec<PhaseRow> {
    let mut rows = Vec::new();
    for (name, class) in classes.names().into_iter().zip(&tally.classes) {
        if class.sums.requests == 0 {
            continue;
        }
        let name: Arc<str> = name.into();
        for (phase, clock) in
            PhaseName::ALL.into_iter().flat_map(|phase| Clock::ALL.map(|clock| (phase, clock)))
        {
            let durations = class.durations(phase, clock);
            let counts = durations.histogram.counts_by_interval();
            let counts: Vec<_> = counts.map(|(end, count)| format!("[{},{count}]", end.as_nanos())).collect();
            rows.push(PhaseRow {
                time,
                class: Arc::clone(&name),
                phase,
                clock,
                count: durations.histogram.count(),
                sum_ns: durations.histogram.sum(),
                sum_of_squares: durations.sum_of_squares,
                histogram: format!("[{}]", counts.join(",")).into(),
            });
        }
    }
    rows
}
