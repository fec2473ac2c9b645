//! [`RunDirectory`]: where one run keeps what it measured.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::table::{TableReader, TableWriter};
use crate::{
    Counters, Environment, Error, PhaseRow, RequestRow, RequestedUrl, RunInfo, SampleRow, SessionRow,
    Summary, WatchedRow, files,
};

const INFO: &str = "run.toml";
const REQUESTS: &str = "requests.parquet";
const SESSIONS: &str = "sessions.parquet";
const SAMPLES: &str = "samples.parquet";
const PHASES: &str = "phases.parquet";
const WATCHED: &str = "watched.parquet";
const COUNTERS: &str = "counters.json";
const SUMMARY: &str = "summary.json";
const MODEL: &str = "model.toml";
const ARRIVALS: &str = "arrivals.txt";

/// The directory of one run; the methods name its files.
///
/// Other files may stand in it (a server's log); only the files of a run make it one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunDirectory {
    path: PathBuf,
}

impl RunDirectory {
    /// Makes the directory, and those above it, for a new run.
    ///
    /// # Errors
    /// [`Error::Occupied`] when a run is in it; [`Error::Io`] when it cannot be made.
    pub fn create(path: impl Into<PathBuf>) -> Result<Self, Error> {
        let path = path.into();
        fs::create_dir_all(&path).map_err(Error::io("create", &path))?;
        let files = [
            INFO,
            Environment::FILE,
            REQUESTS,
            SESSIONS,
            SAMPLES,
            PHASES,
            COUNTERS,
            SUMMARY,
            MODEL,
            ARRIVALS,
        ];
        if files.iter().any(|file| path.join(file).exists()) {
            return Err(Error::Occupied { path });
        }
        Ok(Self { path })
    }

    /// The directory of a run that was made before.
    ///
    /// # Errors
    /// [`Error::NotARecord`] when it holds none.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, Error> {
        let path = path.into();
        if path.join(INFO).is_file() {
            Ok(Self { path })
        } else {
            Err(Error::NotARecord { path, missing: INFO })
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes `run.toml`; again at the end, with the time it ended.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write_info(&self, info: &RunInfo) -> Result<(), Error> {
        files::write_toml(&self.path.join(INFO), info)
    }

    /// Reads `run.toml`.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn info(&self) -> Result<RunInfo, Error> {
        files::read_toml(&self.path.join(INFO))
    }

    /// Writes `environment.json`.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write_environment(&self, environment: &Environment) -> Result<(), Error> {
        environment.save(&self.path.join(Environment::FILE))
    }

    /// Reads `environment.json`.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn environment(&self) -> Result<Environment, Error> {
        Environment::load(&self.path.join(Environment::FILE))
    }

    /// Writes `counters.json`.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write_counters(&self, counters: &Counters) -> Result<(), Error> {
        files::write_json(&self.path.join(COUNTERS), counters)
    }

    /// Reads `counters.json`.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn counters(&self) -> Result<Counters, Error> {
        files::read_json(&self.path.join(COUNTERS))
    }

    /// Writes `summary.json`.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write_summary(&self, summary: &Summary) -> Result<(), Error> {
        files::write_json(&self.path.join(SUMMARY), summary)
    }

    /// Reads `summary.json`.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn summary(&self) -> Result<Summary, Error> {
        files::read_json(&self.path.join(SUMMARY))
    }

    /// Writes what a simulation says as `summary.json`: its outcome, as it is printed.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write_outcome(&self, outcome: &impl Serialize) -> Result<(), Error> {
        files::write_json(&self.path.join(SUMMARY), outcome)
    }

    /// Reads what a simulation says.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn outcome<T: DeserializeOwned>(&self) -> Result<T, Error> {
        files::read_json(&self.path.join(SUMMARY))
    }

    /// Writes the model that was simulated, as the text of a model file.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write_model(&self, text: &str) -> Result<(), Error> {
        files::replace(&self.path.join(MODEL), text)
    }

    /// Reads the model that was simulated.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn model(&self) -> Result<String, Error> {
        files::read(&self.path.join(MODEL))
    }

    /// Writes the times that a simulation's requests came at, and gives the file's name for the
    /// model beside it.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write_arrivals(&self, text: &str) -> Result<&'static str, Error> {
        files::replace(&self.path.join(ARRIVALS), text)?;
        Ok(ARRIVALS)
    }

    /// Starts `requests.parquet`.
    ///
    /// # Errors
    /// When it cannot be created.
    pub fn write_requests(&self) -> Result<TableWriter<RequestRow>, Error> {
        TableWriter::create(&self.path.join(REQUESTS))
    }

    /// Reads `requests.parquet` row by row, in the order in which requests ended.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn requests(&self) -> Result<TableReader<RequestRow>, Error> {
        TableReader::open(&self.path.join(REQUESTS))
    }

    /// Reads of `requests.parquet` only what was asked for and when; much quicker than all of it.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn requested_urls(&self) -> Result<TableReader<RequestedUrl>, Error> {
        TableReader::open(&self.path.join(REQUESTS))
    }

    /// Starts `sessions.parquet`.
    ///
    /// # Errors
    /// When it cannot be created.
    pub fn write_sessions(&self) -> Result<TableWriter<SessionRow>, Error> {
        TableWriter::create(&self.path.join(SESSIONS))
    }

    /// Reads `sessions.parquet` row by row, in the order in which sessions ended.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn sessions(&self) -> Result<TableReader<SessionRow>, Error> {
        TableReader::open(&self.path.join(SESSIONS))
    }

    /// Starts `phases.parquet`.
    ///
    /// # Errors
    /// When it cannot be created.
    pub fn write_phases(&self) -> Result<TableWriter<PhaseRow>, Error> {
        TableWriter::create(&self.path.join(PHASES))
    }

    /// Reads `phases.parquet` row by row.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn phases(&self) -> Result<TableReader<PhaseRow>, Error> {
        TableReader::open(&self.path.join(PHASES))
    }

    /// Starts `watched.parquet`.
    ///
    /// # Errors
    /// When it cannot be created.
    pub fn write_watched(&self) -> Result<TableWriter<WatchedRow>, Error> {
        TableWriter::create(&self.path.join(WATCHED))
    }

    /// Reads `watched.parquet` row by row.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn watched(&self) -> Result<TableReader<WatchedRow>, Error> {
        TableReader::open(&self.path.join(WATCHED))
    }

    /// Starts `samples.parquet`.
    ///
    /// # Errors
    /// When it cannot be created.
    pub fn write_samples(&self) -> Result<TableWriter<SampleRow>, Error> {
        TableWriter::create(&self.path.join(SAMPLES))
    }

    /// Adds what another program saw to `samples.parquet`, after what is there; all of it or nothing.
    ///
    /// # Errors
    /// When what is there cannot be read, or the whole not be written; then it is as it was.
    pub fn add_samples(&self, rows: impl IntoIterator<Item = SampleRow>) -> Result<(), Error> {
        let mut rows = rows.into_iter().peekable();
        if rows.peek().is_none() {
            return Ok(());
        }
        files::replace_with(&self.path.join(SAMPLES), |beside| {
            let mut table = TableWriter::create(beside)?;
            self.samples()?.try_for_each(|row| table.push(row?))?;
            rows.try_for_each(|row| table.push(row))?;
            table.finish()
        })
    }

    /// Reads `samples.parquet` row by row.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn samples(&self) -> Result<TableReader<SampleRow>, Error> {
        TableReader::open(&self.path.join(SAMPLES))
    }
}
