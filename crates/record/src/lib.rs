//! What a measurement is: the run directory, its files, and their types.
//!
//! Every tool writes the same kind of directory, so that analysis and report read a run of the
//! load generator, the gate or the simulator in one way, and so that DuckDB and a script can
//! read it too. The names of files, columns and JSON keys are defined here and nowhere else.
//!
//! | file | type |
//! | --- | --- |
//! | `run.toml` | [`RunInfo`] |
//! | `environment.json` | [`Environment`] |
//! | `requests.parquet` | [`RequestRow`] |
//! | `sessions.parquet` | [`SessionRow`] |
//! | `samples.parquet` | [`SampleRow`] |
//! | `phases.parquet` | [`PhaseRow`] |
//! | `watched.parquet` | [`WatchedRow`] |
//! | `counters.json` | [`Counters`] |
//! | `summary.json` | [`Summary`]; of a simulation its outcome |
//! | `model.toml`, `arrivals.txt` | what was simulated, and the times of arrivals that were observed |
//!
//! An experiment is a directory of runs with an index: [`experiment`]. A sweep of the simulator is a
//! directory of points: [`sweep`]. A search for the capacity is a directory of probes: [`search`]; what is predicted from
//! it stands beside it: [`prediction`]. [`Kind`] tells what a directory is.

mod beside;
mod counters;
mod directory;
mod environment;
mod error;
pub mod experiment;
mod files;
mod kind;
mod metric_name;
mod phases;
pub mod prediction;
mod quantiles;
mod requests;
mod run_info;
mod samples;
pub mod search;
mod sessions;
mod summary;
pub mod sweep;
mod table;
mod watched;

pub use beside::Samples;
pub use counters::{CounterSet, Counters};
pub use directory::RunDirectory;
pub use environment::{Environment, Processor, ServerEnvironment};
pub use error::Error;
pub use files::{read_json, replace, write_json};
/// A point on the calendar, read and written as RFC 3339.
pub use jiff::Timestamp;
pub use kind::{Kind, sweeps_in, watches_in};
pub use metric_name::MetricName;
pub use phases::{Clock, PhaseName, PhaseRow};
pub use quantiles::Quantiles;
pub use requests::{RequestError, RequestRow, RequestedUrl};
pub use run_info::{RunInfo, Step, Window};
pub use samples::SampleRow;
pub use sessions::{SessionOutcome, SessionRow};
pub use summary::{
    AddressSummary, ClassSummary, ClientSummary, ConnectionSummary, ErrorCounts, ErrorDetail, LatencySummary,
    ObjectiveResult, ObjectiveUnit, RateSummary, RefusedAddress, SessionSummary, StepSummary, Summary,
};
pub use table::{Row, TableReader, TableWriter};
pub use watched::WatchedRow;
