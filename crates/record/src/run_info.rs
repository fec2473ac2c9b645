//! `run.toml`: what was run, and when.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use units::{Span, Time};

/// What identifies a run and lets it be repeated.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunInfo {
    /// The tool that made it, such as `load`.
    pub tool: String,
    /// The version of Headworks.
    pub version: String,
    /// The command line, argument by argument.
    pub command: Vec<String>,
    /// The start of the run: zero of every point in time in its Parquet files.
    pub started: Timestamp,
    /// The end; not there while the run goes on, or when it was killed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<Timestamp>,
    /// Whether it was stopped before its time.
    pub interrupted: bool,
    /// The seed of every random stream.
    pub seed: u64,
    /// The time in which arrivals count for the summary.
    pub window: Window,
    /// What the levels of `steps` count: `clients`, `requests/s`, `sessions/s` or `pages/s`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step_unit: Option<String>,
    /// The levels of load that a ramp held, in order; empty when the load was constant.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<Step>,
    /// What was asked for, in the tool's own words; a table as it would stand in a file.
    pub spec: toml::Table,
}

/// A time in which the load was held at one level. In nanoseconds from the run's start.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// The first instant inside.
    pub from_ns: u64,
    /// The first instant after it.
    pub to_ns: u64,
    /// Clients, or arrivals per second, as [`RunInfo::step_unit`] says.
    pub level: f64,
}

impl Step {
    /// Whether something that was due at `time` belongs to it.
    pub fn contains(self, time: Time) -> bool {
        (self.from_ns..self.to_ns).contains(&time.as_nanos())
    }

    /// How long it is.
    pub fn length(self) -> Span {
        Span::from_nanos(self.to_ns.saturating_sub(self.from_ns))
    }
}

/// The measuring window: after the warm-up, before the drain. In nanoseconds from the run's start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Window {
    /// The first instant inside.
    pub from_ns: u64,
    /// The first instant after it.
    pub to_ns: u64,
}

impl Window {
    /// The window of `length` that opens at `from`.
    pub fn new(from: Time, length: Span) -> Self {
        Self { from_ns: from.as_nanos(), to_ns: (from + length).as_nanos() }
    }

    /// Whether something that happened at `time` counts.
    pub fn contains(self, time: Time) -> bool {
        (self.from_ns..self.to_ns).contains(&time.as_nanos())
    }

    /// How long it is.
    pub fn length(self) -> Span {
        Span::from_nanos(self.to_ns.saturating_sub(self.from_ns))
    }
}
