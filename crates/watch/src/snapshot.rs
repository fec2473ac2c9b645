//! [`Snapshot`]: a watch at one moment, for views.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use units::Span;

use crate::overhead::Overhead;
use crate::requests::{Followed, Rates, Tally, Waits};
use crate::summary::Summary;

/// What does not change while a watch lasts.
#[derive(Debug, Clone, Default)]
pub struct Setting {
    /// What is watched: programs and ports.
    pub title: String,
    /// The names of the programs, and the ports, for those who compare servers.
    pub server: String,
    /// See [`Setting::server`].
    pub port: String,
    /// What following requests may cost.
    pub budget: String,
    /// Whether something is kept that can be asked for by SIGUSR1.
    pub keeps: bool,
    /// Where scrapers find the figures.
    pub metrics: Option<SocketAddr>,
    /// The collector that is sent to.
    pub collector: Option<String>,
}

/// One look: the latest of every group, and what was seen in all.
#[derive(Debug, Clone)]
pub struct Snapshot {
    /// How long the watch has gone on.
    pub age: Span,
    /// The latest of every group; of requests, of the last window that was closed.
    pub latest: Summary,
    /// Requests in all, by class.
    pub requests: BTreeMap<String, Rates>,
    /// Their waits in all.
    pub waits: Option<Waits>,
    /// What of them was seen in all.
    pub followed: Option<Followed>,
    /// What it has cost.
    pub overhead: Overhead,
    /// How each group comes about, and who listens, a sentence each.
    pub notes: Vec<String>,
    /// What the collector was not told, and why.
    pub untold: Option<String>,
}

/// Requests in all, with the histograms that those who look but once need not have.
#[derive(Debug, Clone)]
pub struct Totals {
    /// The names of their classes.
    pub classes: Vec<String>,
    /// Sums.
    pub tally: Tally,
}
