//! [`Options`]: what a run is to do.

use std::num::NonZeroU32;
use std::path::PathBuf;

use traffic::{Process, Workload};
use units::{Rate, Span};

use crate::{Objective, Target};

/// A run: what is asked for, how often, for how long, and where the record goes.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where requests go.
    pub target: Target,
    /// What is asked for.
    pub script: Script,
    /// How often.
    pub load: Load,
    /// Time before the measuring window; load is on, nothing counts.
    pub warmup: Span,
    /// The measuring window.
    pub duration: Span,
    /// How long, at most, what began in the window is followed after it; `None` for as long as
    /// a session can take.
    pub drain: Option<Span>,
    /// How long one request may take; `None` for the workload's own, or 20 s.
    pub timeout: Option<Span>,
    /// The seed of the arrivals.
    pub seed: u64,
    /// Requests after which a connection is closed; `None` for as many as the server allows.
    pub requests_per_connection: Option<NonZeroU32>,
    /// What the run is to achieve.
    pub objectives: Vec<Objective>,
    /// The directory of the record; `None` for none.
    pub out: Option<PathBuf>,
    /// The command line, for the record.
    pub command: Vec<String>,
    /// Whether to show progress on standard error.
    pub progress: bool,
}

/// What is asked for.
#[derive(Debug, Clone)]
pub enum Script {
    /// The target's own path, again and again.
    Url,
    /// Sessions.
    Sessions {
        /// Their script.
        workload: Workload,
        /// The text that it was read from, for the record.
        text: String,
    },
}

/// How often it is asked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Load {
    /// Sessions, or requests, start when the schedule says, whatever became of those before.
    Open {
        /// Per second.
        rate: Rate,
        /// How they are spread.
        process: Process,
    },
    /// Each client starts anew when it has finished, without pause.
    Closed {
        /// How many clients.
        clients: u32,
    },
}

impl Options {
    /// What was asked for, as a table for `run.toml`.
    pub(crate) fn spec(&self) -> toml::Table {
        let mut spec = toml::Table::new();
        let mut set = |key: &str, value: toml::Value| spec.insert(key.to_owned(), value);
        set("url", self.target.to_string().into());
        match self.load {
            Load::Open { rate, process } => {
                set("rate", rate.as_f64().into());
                set("arrivals", process.to_string().into());
            }
            Load::Closed { clients } => {
                set("connections", i64::from(clients).into());
            }
        }
        set("warmup", self.warmup.to_string().into());
        set("duration", self.duration.to_string().into());
        if let Some(drain) = self.drain {
            set("drain", drain.to_string().into());
        }
        if let Some(timeout) = self.timeout {
            set("timeout", timeout.to_string().into());
        }
        if let Some(requests) = self.requests_per_connection {
            set("requests_per_connection", i64::from(requests.get()).into());
        }
        if !self.objectives.is_empty() {
            let objectives: Vec<String> = self.objectives.iter().map(Objective::to_string).collect();
            set("objectives", objectives.into());
        }
        if let Script::Sessions { text, .. } = &self.script {
            set("workload", text.as_str().into());
        }
        spec
    }

    /// One line that says what is done.
    pub(crate) fn title(&self) -> String {
        let things = if matches!(self.script, Script::Url) { "requests" } else { "sessions" };
        let load = match self.load {
            Load::Open { rate, process } => format!("open loop, {} {things}/s, {process}", rate.as_f64()),
            Load::Closed { clients } => format!("closed loop, {clients} clients"),
        };
        format!(
            "{}  {load}, {} after {} of warm-up, seed {}",
            self.target, self.duration, self.warmup, self.seed
        )
    }
}
