//! The data of a run's page, which `headworks report --json` prints too.

use std::fmt;

use record::{Quantiles, Summary, Timestamp};
use serde::Serialize;
use stats::Estimate;

use crate::conclusion::Conclusion;
use crate::method::fact::{Fact, Source};

/// Everything that is shown of a run. Times in seconds, rates per second, shares 0 to 1. Unless it
/// is said otherwise, a figure is of the requests that were due in the measuring window.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct RunReport {
    /// What was put under load.
    pub title: String,
    /// How much load that was, in a few words.
    pub load: String,
    /// When it began.
    #[cfg_attr(test, ts(type = "string"))]
    pub started: Timestamp,
    /// When it ended; none when it has not, or was killed.
    #[cfg_attr(test, ts(type = "string | null"))]
    pub ended: Option<Timestamp>,
    /// The version of Headworks that made the record.
    pub version: String,
    /// What `summary.rate` counts.
    pub unit: Counted,
    /// The measuring window, from the start of the run.
    pub window: [f64; 2],
    /// What came out.
    pub verdict: Conclusion,
    /// Where the files of the record contradict each other, a sentence each.
    pub contradictions: Vec<String>,
    /// The figures of `summary.json`.
    pub summary: Summary,
    /// Total, then each phase that took any time, and the server's own time where it told it.
    pub distributions: Vec<Distribution>,
    /// What was asked for most.
    pub urls: Urls,
    /// The run, stretch by stretch.
    pub timeline: Timeline,
    /// The levels of load that it held.
    pub steps: Steps,
    /// Sizes of bodies and how long it took to receive them.
    pub sizes: Vec<SizeField>,
    /// Counters of the kernel's network stack that rose, by how much.
    pub counters: Vec<(String, i64)>,
    /// How it was made.
    pub method: Vec<Fact>,
    /// Texts that it was made by.
    pub sources: Vec<Source>,
    /// The names of the files beside the report.
    pub files: Vec<String>,
}

/// What a load is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum Counted {
    /// Requests that stand alone.
    Requests,
    /// Sessions of several requests.
    Sessions,
}

impl fmt::Display for Counted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Requests => "requests",
            Self::Sessions => "sessions",
        })
    }
}

/// A part of the time of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum PhaseName {
    /// From the intended time to the last byte.
    Total,
    /// Until work on it began.
    Queued,
    /// The look-up of the host's name.
    Dns,
    /// Until the connection stands.
    Connect,
    /// The TLS handshake.
    Tls,
    /// Until a request that has a body is on its way.
    Sending,
    /// From the request written to the first byte.
    Processing,
    /// From the first byte to the last.
    Transfer,
    /// What the server says that it worked.
    Server,
}

impl PhaseName {
    /// As the record calls it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Total => "total",
            Self::Queued => "queued",
            Self::Dns => "dns",
            Self::Connect => "connect",
            Self::Tls => "tls",
            Self::Sending => "sending",
            Self::Processing => "processing",
            Self::Transfer => "transfer",
            Self::Server => "server",
        }
    }
}

/// How long one phase took.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Distribution {
    /// Which.
    pub phase: PhaseName,
    /// Its usual figures.
    pub quantiles: Quantiles,
    /// The whole of it: pairs of "nines" and latency. A share 1 - 10^-n of all is at or below the
    /// latency that stands beside n, so that 0 is the shortest, 1 the 90th percentile, 2 the 99th.
    pub curve: Vec<[f64; 2]>,
}

/// What was asked for, by URL.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Urls {
    /// How many different ones there were; as many as were kept apart, where `complete` is false.
    pub distinct: usize,
    /// Whether every URL was kept apart.
    pub complete: bool,
    /// The most frequent, in falling order of `count`.
    pub rows: Vec<UrlRow>,
}

/// One URL.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct UrlRow {
    /// As the workload has it.
    pub url: String,
    /// Requests.
    pub count: u64,
    /// Of those, without a complete response or with a status of 400 or more.
    pub failed: u64,
    /// Mean size of the bodies of its complete responses.
    pub bytes: Option<f64>,
    /// From the intended time to the last byte.
    pub total: Quantiles,
    /// Connections that were opened for it.
    pub connect: Quantiles,
    /// From the request written to the first byte.
    pub processing: Quantiles,
    /// From the first byte to the last.
    pub transfer: Quantiles,
}

/// The run over time, from its start to its end, warm-up and all: one value for each stretch.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Timeline {
    /// How long a stretch is.
    pub width: f64,
    /// Requests that were due, per second.
    pub due: Vec<f64>,
    /// Requests begun, per second.
    pub begun: Vec<f64>,
    /// Complete responses, per second.
    pub answered: Vec<f64>,
    /// Requests that ended without one, per second.
    pub errors: Vec<f64>,
    /// Connections established, per second.
    pub opened: Vec<f64>,
    /// SYNs sent again, per second, counted when the connection stood or was given up.
    pub syn_retransmits: Vec<f64>,
    /// Requests given up while they were still connecting, per second.
    pub connect_timeouts: Vec<f64>,
    /// Latency of the requests that were due, first byte to last and all.
    pub total: Percentiles,
    /// Of those that opened a connection.
    pub connect: Percentiles,
    /// From the request written to the first byte.
    pub processing: Percentiles,
    /// From the first byte to the last.
    pub transfer: Percentiles,
    /// How long after they were due requests began.
    pub lag: Percentiles,
    /// Share of a processor that the generator's busiest thread used; null between samples.
    pub cpu: Vec<Option<f64>>,
    /// Requests or sessions under way; null between samples.
    pub running: Vec<Option<f64>>,
}

/// Percentiles of each stretch of time; null where there was nothing.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Percentiles {
    /// Medians.
    pub p50: Vec<Option<f64>>,
    /// 90th percentiles.
    pub p90: Vec<Option<f64>>,
    /// 99th percentiles.
    pub p99: Vec<Option<f64>>,
}

/// The levels of load that a run held.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Steps {
    /// What the levels count.
    pub unit: String,
    /// Whether there was more than one of them.
    pub ramp: bool,
    /// When which level was held, in order.
    pub held: Vec<Held>,
    /// In rising order; steps of one level are put together. One for the whole measuring window
    /// where there was no ramp.
    pub rows: Vec<Step>,
    /// One for each of [`Steps::held`], where a level was held more than once; else none.
    pub each: Vec<Step>,
}

/// A time in which one level was held, from the start of the run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Held {
    /// Its first instant.
    pub from: f64,
    /// The first instant after it.
    pub to: f64,
    /// In [`Steps::unit`].
    pub level: f64,
}

/// One level.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Step {
    /// In [`Steps::unit`].
    pub level: f64,
    /// How long it was held.
    pub seconds: f64,
    /// Requests that were due.
    pub requests: u64,
    /// Of those, answered then or later.
    pub responses: u64,
    /// Requests due per second.
    pub offered: f64,
    /// Responses that came while it was held, per second.
    pub achieved: f64,
    /// Of sessions, where requests belong to such.
    pub sessions: Option<StepSessions>,
    /// Connections begun.
    pub connections: u64,
    /// Of those, the ones whose SYN had to be sent again because nothing answered it in time.
    pub timed_out: u64,
    /// `timed_out` of `connections`.
    pub timeouts: Option<Estimate>,
    /// Connections that were opened.
    pub connect: StepPhase,
    /// From the request written to the first byte.
    pub processing: StepPhase,
    /// What the server itself reported.
    pub server: StepPhase,
    /// From the first byte to the last.
    pub transfer: StepPhase,
    /// From the intended time to the last byte.
    pub total: StepPhase,
}

/// Sessions at one level.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct StepSessions {
    /// Started while it was held.
    pub started: u64,
    /// Of those, completed then or later.
    pub completed: u64,
    /// Started per second.
    pub offered: f64,
    /// Completed while it was held, per second.
    pub achieved: f64,
    /// `completed` of `started`.
    pub completion: Option<Estimate>,
}

/// One phase at one level.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct StepPhase {
    /// The mean, which is what the paper's figures show.
    pub mean: Option<Estimate>,
    /// And how it is spread.
    pub quantiles: Quantiles,
}

/// Responses of about one size that took about one time: fields of a grid with 16 to a decade.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SizeField {
    /// Size of the first response that fell into the field.
    pub bytes: u64,
    /// Its transfer time.
    pub transfer: f64,
    /// How many fell into it.
    pub count: u64,
}
