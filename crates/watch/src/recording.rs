//! [`Recording`]: the record of a watch as it goes on.

use std::path::Path;
use std::sync::Arc;

use record::{
    Clock, Environment, PhaseName, PhaseRow, RunDirectory, RunInfo, SampleRow, TableWriter, Timestamp, Window,
};
use serde::Serialize;
use units::{Span, Time};

use crate::Summary;
use crate::figures::Figure;
use crate::requests::{Classes, Tally};

/// A run directory with what was seen, sample by sample. Once something cannot be written, as on a full disk,
/// nothing more is.
pub struct Recording {
    directory: RunDirectory,
    info: RunInfo,
    tables: Result<Tables, record::Error>,
    host: Arc<str>,
}

struct Tables {
    samples: TableWriter<SampleRow>,
    /// From the first request on.
    phases: Option<TableWriter<PhaseRow>>,
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
        let tables = Ok(Tables { samples: directory.write_samples()?, phases: None });
        Ok(Self { directory, info, tables, host: environment.host.as_str().into() })
    }

    /// Times in the record count from now on.
    pub(crate) fn starts(&mut self) -> Result<(), record::Error> {
        self.info.started = Timestamp::now();
        self.directory.write_info(&self.info)
    }

    /// Why there is nothing more in it, if so.
    pub(crate) fn failure(&self) -> Option<&record::Error> {
        self.tables.as_ref().err()
    }

    /// What went on until `time` after the start.
    pub(crate) fn add(&mut self, time: Span, seen: &Summary) {
        let Ok(tables) = &mut self.tables else { return };
        let time = Time::ZERO + time;
        let row = |Figure { metric, label, value }: Figure| {
            SampleRow::of(metric, label.into(), time, Arc::clone(&self.host), value)
        };
        let written = seen.figures().into_iter().try_for_each(|figure| tables.samples.push(row(figure)));
        self.note(written);
    }

    /// The requests that had ended then.
    pub(crate) fn add_requests(&mut self, time: Span, tally: &Tally, classes: &Classes) {
        let Ok(tables) = &mut self.tables else { return };
        let written = phases(Time::ZERO + time, tally, classes).into_iter().try_for_each(|row| {
            match &mut tables.phases {
                Some(phases) => phases.push(row),
                none => none.insert(self.directory.write_phases()?).push(row),
            }
        });
        self.note(written);
    }

    fn note(&mut self, written: Result<(), record::Error>) {
        if let Err(why) = written {
            self.tables = Err(why);
        }
    }

    /// Ends the record.
    ///
    /// # Errors
    /// When it cannot be written, or could not before; as much of it as can be is.
    pub(crate) fn end(
        mut self,
        length: Span,
        interrupted: bool,
        summary: &impl Serialize,
    ) -> Result<(), record::Error> {
        let tables = self.tables.and_then(|tables| {
            let phases = tables.phases.map_or(Ok(()), TableWriter::finish);
            tables.samples.finish().and(phases)
        });
        self.info.ended = Some(Timestamp::now());
        self.info.interrupted = interrupted || tables.is_err();
        self.info.window = Window::new(Time::ZERO, length);
        let info = self.directory.write_info(&self.info);
        tables.and(info).and(self.directory.write_outcome(summary))
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
