//! [`Recording`]: the record of a watch as it goes on.

use std::path::Path;
use std::sync::Arc;

use record::{Environment, RunDirectory, RunInfo, SampleRow, TableWriter, Timestamp, Viewpoint, Window};
use serde::Serialize;
use units::{Span, Time};

use crate::Summary;

/// A run directory with what was seen, sample by sample.
pub struct Recording {
    directory: RunDirectory,
    info: RunInfo,
    samples: TableWriter<SampleRow>,
    host: Arc<str>,
}

impl Recording {
    /// Begins a record.
    ///
    /// # Errors
    /// When the directory cannot be made or holds one.
    pub fn begin(at: &Path, command: Vec<String>, spec: toml::Table) -> Result<Self, record::Error> {
        let directory = RunDirectory::create(at)?;
        let environment = Environment::capture();
        let info = RunInfo {
            tool: "watch".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            command,
            started: Timestamp::now(),
            ended: None,
            interrupted: false,
            seed: 0,
            window: Window::new(Time::ZERO, Span::ZERO),
            step_unit: None,
            steps: Vec::new(),
            spec,
        };
        directory.write_info(&info)?;
        directory.write_environment(&environment)?;
        let samples = directory.write_samples()?;
        Ok(Self { directory, info, samples, host: environment.host.as_str().into() })
    }

    /// What went on until `time` after the start.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn add(&mut self, time: Span, seen: &Summary) -> Result<(), record::Error> {
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

    /// Ends the record.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn end(
        mut self,
        length: Span,
        interrupted: bool,
        summary: &impl Serialize,
    ) -> Result<(), record::Error> {
        self.samples.finish()?;
        self.info.ended = Some(Timestamp::now());
        self.info.interrupted = interrupted;
        self.info.window = Window::new(Time::ZERO, length);
        self.directory.write_info(&self.info)?;
        self.directory.write_outcome(summary)
    }
}
