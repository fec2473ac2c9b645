//! [`Found`]: what a search found, as it is recorded.

use serde::{Deserialize, Serialize};
use units::Ratio;

use super::probe::{Outcome, Probe};
use super::scalability::Scalability;
use crate::load::Offer;
use crate::verdict::Verdict;

/// What was found.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Found {
    /// The capacity; nothing when the search ended before there was one.
    pub capacity: Option<Capacity>,
    /// What it rests on, and what stands in the way of knowing it better.
    pub basis: Vec<String>,
    /// What sets it.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// How throughput grows with clients, where closed loops were asked.
    pub scalability: Option<Scalability>,
    /// All probes in the order in which they were made.
    pub probes: Vec<Tried>,
}

/// The highest rate that the server keeps up with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Capacity {
    /// Per second: the geometric mean of the interval.
    pub rate: f64,
    /// From the highest rate up to which the server kept up with all, to the lowest from which it did with none.
    pub ci: [f64; 2],
    /// `requests/s`, or `sessions/s` of a workload that has them.
    pub unit: String,
}

/// One probe.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tried {
    /// Clients of a closed loop, each with one request at a time.
    pub clients: Option<u32>,
    /// Offered, per second; of a closed loop nothing.
    pub offered: Option<f64>,
    /// Good responses per second, or completed sessions.
    pub achieved: f64,
    /// Latency of requests in the median, s.
    pub p50: f64,
    /// Its 99th percentile, s.
    pub p99: f64,
    /// Why the server did not keep up.
    pub behind: Option<String>,
    /// Why the generator's figures are its own, not the server's.
    pub not_valid: Option<String>,
    /// The share of arrivals by which what waits could grow and not be told from chance.
    pub blind: f64,
    /// Its record, below the directory of the search.
    pub directory: String,
}

impl Tried {
    pub(super) fn of(probe: &Probe, directory: String, precision: Ratio) -> Self {
        let latency = probe.summary.latency.total;
        let (clients, offered) = match probe.offer {
            Offer::Closed(clients) => (Some(clients), None),
            Offer::Rate(rate) => (None, Some(rate.as_f64())),
        };
        let (behind, not_valid) = match probe.outcome(precision) {
            Outcome::Behind(why) if offered.is_some() => (Some(why), None),
            Outcome::NotValid(why) => (None, Some(why)),
            Outcome::KeptUp | Outcome::Behind(_) => (None, None),
        };
        let (achieved, p50, p99) = (probe.achieved(), latency.p50, latency.p99);
        let blind = probe.blind;
        Self { clients, offered, achieved, p50, p99, behind, not_valid, blind, directory }
    }

    pub(super) fn kept_up(&self) -> bool {
        self.behind.is_none() && self.not_valid.is_none()
    }

    pub(super) fn is_at(&self, rate: f64) -> bool {
        self.offered.is_some_and(|offered| (offered / rate - 1.0).abs() < 1e-6)
    }
}
