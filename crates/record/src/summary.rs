//! `summary.json`: what `headworks load` says of a run, also its `--json`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Quantiles, RequestError};

/// A run in figures. Times in seconds, rates per second, sizes in bytes, shares 0 to 1.
///
/// Counts are of requests whose intended time, and of sessions whose start, lay in the
/// measuring window; each was followed to its end.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Summary {
    /// Requests begun.
    pub requests: u64,
    /// Complete responses, whatever their status.
    pub responses: u64,
    /// Bytes of response bodies.
    pub bytes: u64,
    /// Length of the measuring window, s.
    pub duration: f64,
    /// Load asked for and work done.
    pub rate: RateSummary,
    /// Responses by HTTP status.
    pub status: BTreeMap<u16, u64>,
    /// Requests without a complete response, by reason.
    pub errors: ErrorCounts,
    /// `errors` by what exactly went wrong, the most frequent first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub error_details: Vec<ErrorDetail>,
    /// Requests cut off by the timeout or by the end of the run: their latency is known only to
    /// be longer than what the histograms hold for them.
    pub censored: u64,
    /// What clients waited, and in which phase.
    pub latency: LatencySummary,
    /// Sessions; all zero when the workload has none.
    pub sessions: SessionSummary,
    /// The generator's own state: whether the figures are the server's.
    pub client: ClientSummary,
    /// TCP connections.
    pub connections: ConnectionSummary,
    /// Where they went.
    #[serde(default)]
    pub address: AddressSummary,
    /// Whether the run was stopped before its time.
    pub interrupted: bool,
    /// Why the run ended before its time by `--stop-when`; null where it did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<String>,
    /// The levels of a ramp, in its order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<StepSummary>,
    /// What was stated with `--objective`, and whether it was met.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub objectives: Vec<ObjectiveResult>,
}

impl Summary {
    /// SYNs that were sent again for each connection that was begun, those that came to nothing among them; nothing
    /// where none was.
    pub fn syns_again(&self) -> Option<f64> {
        let begun = self.requests.saturating_sub(self.connections.reused);
        (begun > 0).then(|| self.connections.syn_retransmits as f64 / begun as f64)
    }
}

/// Sessions per second where the workload has sessions, else requests per second.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct RateSummary {
    /// What the schedule asked for; in a closed loop, which asks for nothing, what it achieved.
    pub offered: f64,
    /// Sessions completed, or responses received, inside the measuring window, per second of it.
    pub achieved: f64,
}

/// One level of a ramp: what was due while it held.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct StepSummary {
    /// The level.
    pub level: f64,
    /// What it counts: `clients`, `requests/s`, `sessions/s` or `pages/s`.
    pub unit: String,
    /// When it began, s from the run's start.
    pub from: f64,
    /// When it ended, s from the run's start.
    pub to: f64,
    /// Requests begun.
    pub requests: u64,
    /// Complete responses, whatever their status.
    pub responses: u64,
    /// Load asked for, and work done while it held.
    pub rate: RateSummary,
    /// Responses by HTTP status.
    pub status: BTreeMap<u16, u64>,
    /// Requests without a complete response, by reason.
    pub errors: ErrorCounts,
    /// Sessions started; 0 when the workload has none.
    pub sessions_started: u64,
    /// Sessions whose every request got its response.
    pub sessions_completed: u64,
    /// What clients waited, to 1 %.
    pub latency: LatencySummary,
    /// The objectives of the run, held against this level alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub objectives: Vec<ObjectiveResult>,
}

/// Requests without a complete response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ErrorCounts {
    /// See [`RequestError::Connect`].
    pub connect: u64,
    /// See [`RequestError::Timeout`].
    pub timeout: u64,
    /// See [`RequestError::Reset`].
    pub reset: u64,
    /// See [`RequestError::Protocol`].
    pub protocol: u64,
    /// See [`RequestError::Body`].
    pub body: u64,
}

impl ErrorCounts {
    /// Counts one error; a request that the end of the run cut off is not counted.
    pub fn add(&mut self, error: RequestError) {
        *match error {
            RequestError::Connect => &mut self.connect,
            RequestError::Timeout => &mut self.timeout,
            RequestError::Reset => &mut self.reset,
            RequestError::Protocol => &mut self.protocol,
            RequestError::Body => &mut self.body,
            RequestError::Censored => return,
        } += 1;
    }

    /// Adds what `other` has counted.
    pub fn add_all(&mut self, other: &Self) {
        self.connect += other.connect;
        self.timeout += other.timeout;
        self.reset += other.reset;
        self.protocol += other.protocol;
        self.body += other.body;
    }

    /// How many errors of one kind; 0 for [`RequestError::Censored`], which is not counted.
    pub fn get(&self, error: RequestError) -> u64 {
        match error {
            RequestError::Connect => self.connect,
            RequestError::Timeout => self.timeout,
            RequestError::Reset => self.reset,
            RequestError::Protocol => self.protocol,
            RequestError::Body => self.body,
            RequestError::Censored => 0,
        }
    }

    /// All of them.
    pub fn total(&self) -> u64 {
        RequestError::ALL.into_iter().map(|error| self.get(error)).sum()
    }
}

/// How often one thing went wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ErrorDetail {
    /// The error that it was counted as, such as `reset`.
    pub kind: RequestError,
    /// What it was, in words.
    pub reason: String,
    /// How often.
    pub count: u64,
}

/// Distributions of what clients waited, of all responses and, as a lower bound, of requests
/// that the timeout or the end of the run cut off. Requests that failed otherwise are not
/// latencies and not in here.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct LatencySummary {
    /// From the intended time to the last byte.
    pub total: Quantiles,
    /// From the intended time to when work on the request began: it waited for one of the connections or streams that
    /// there may be, for the generator, or for its turn to be sent again.
    #[serde(default)]
    pub queued: Quantiles,
    /// Look-ups of the host's name, where each connection has one.
    #[serde(default, skip_serializing_if = "Quantiles::is_empty")]
    pub dns: Quantiles,
    /// Connections that were opened; requests on an open connection do not count.
    pub connect: Quantiles,
    /// TLS handshakes.
    #[serde(default, skip_serializing_if = "Quantiles::is_empty")]
    pub tls: Quantiles,
    /// From the first byte of requests that have a body to the last that is on its way.
    #[serde(default)]
    pub sending: Quantiles,
    /// From the request written to the first byte of the final response.
    pub processing: Quantiles,
    /// From that byte to the last.
    pub transfer: Quantiles,
}

/// Sessions that started in the measuring window.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SessionSummary {
    /// Sessions started.
    pub started: u64,
    /// Sessions whose every request got its response.
    pub completed: u64,
    /// Durations of completed sessions, think time taken out.
    pub duration: Quantiles,
    /// The same for each class.
    pub by_class: BTreeMap<String, ClassSummary>,
}

/// Sessions of one class that started in the measuring window.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ClassSummary {
    /// Sessions started: the sum of the counts below.
    pub started: u64,
    /// Every request got its response.
    pub completed: u64,
    /// Ended by a request that took too long.
    pub timeout: u64,
    /// Ended by a 503.
    pub refused: u64,
    /// Ended otherwise.
    pub error: u64,
    /// Still running at the end.
    pub censored: u64,
    /// Durations of completed sessions, think time taken out.
    pub duration: Quantiles,
}

/// The generator itself.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ClientSummary {
    /// Share of one processor that the generator's busiest thread used in the measuring window.
    pub cpu: f64,
    /// Share of the measuring window in which it could have run but others had the processor, or its quota was used
    /// up.
    #[serde(default)]
    pub waited: f64,
    /// Connections that could not be made because no local port was left (EADDRNOTAVAIL, connect(2)).
    #[serde(default)]
    pub without_port: u64,
    /// How late the generator began what the schedule wanted, by its own fault.
    pub lag: Quantiles,
    /// Whether the figures are the server's rather than the generator's.
    pub valid: bool,
    /// Why not, one sentence each.
    pub why_invalid: Vec<String>,
}

/// TCP connections of requests that were due in the measuring window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ConnectionSummary {
    /// Connections opened for them; one that was opened before the window is reused.
    pub opened: u64,
    /// Requests sent on a connection that had carried one before.
    pub reused: u64,
    /// SYNs sent again.
    pub syn_retransmits: u64,
    /// Times that a client of a closed loop waited for 10 ms because no connection had come about.
    #[serde(default)]
    pub waits: u64,
    /// The bound on what may be under way at once in an open loop (`-c`); null where none was stated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// Requests that found that many under way, and waited.
    #[serde(default)]
    pub queued: u64,
    /// What the bound would have had to be for hardly any to wait, at the times that requests took once they had begun;
    /// null where none waited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub needed: Option<u32>,
}

/// Where connections went.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct AddressSummary {
    /// The address that was taken, with its port, or the path of a Unix socket.
    pub taken: String,
    /// Other addresses of the name that were tried before it, and why they were not taken.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<RefusedAddress>,
}

/// An address that could not be connected to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct RefusedAddress {
    /// The address, with its port.
    pub address: String,
    /// Why.
    pub reason: String,
}

/// One `--objective`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ObjectiveResult {
    /// As it was stated, such as `p99<50ms`.
    pub objective: String,
    /// The figure it is about, in the unit of the summary; null when nothing was measured.
    pub measured: Option<f64>,
    /// Whether it holds.
    pub met: bool,
}

/// What an objective's figure is measured in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ObjectiveUnit {
    /// A part of all, from 0 to 1.
    Share,
    /// How many there are each second.
    PerSecond,
    /// A length of time, in seconds.
    Seconds,
}

impl ObjectiveResult {
    /// The unit of `measured`: an objective begins with the name of its figure.
    pub fn unit(&self) -> ObjectiveUnit {
        let figure = self.objective.trim_start();
        if ["errors", "failed", "completed"].iter().any(|share| figure.starts_with(share)) {
            ObjectiveUnit::Share
        } else if figure.starts_with("rate") {
            ObjectiveUnit::PerSecond
        } else {
            ObjectiveUnit::Seconds
        }
    }
}
