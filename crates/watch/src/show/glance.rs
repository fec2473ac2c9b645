//! [`Glance`]: what a look leaves behind for whoever shows it.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use units::Span;

use crate::requests::{Followed, Rates, Tally, Waits};
use crate::{Overhead, Summary};

/// What does not change while a watch lasts.
#[derive(Debug, Clone, Default)]
pub struct Setting {
    /// What is watched: programs and ports.
    pub title: String,
    /// What following requests may cost.
    pub budget: String,
    /// Where scrapers find the figures.
    pub metrics: Option<SocketAddr>,
    /// The collector that is sent to.
    pub collector: Option<String>,
}

/// One look: the latest of every group, and what was seen in all.
#[derive(Debug, Clone)]
pub struct Glance {
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

impl Summary {
    /// Takes over what a later look saw, group by group.
    pub(crate) fn update(&mut self, later: &Self) {
        if later.kernel.is_some() {
            self.kernel = later.kernel;
        }
        if !later.processes.is_empty() {
            self.processes.clone_from(&later.processes);
        }
        if !later.network.is_empty() {
            self.network.clone_from(&later.network);
        }
        // There is one for each port, also when no connection is left.
        if !later.listen_queues.is_empty() {
            self.connections.clone_from(&later.connections);
            self.listen_queues.clone_from(&later.listen_queues);
        }
        if later.limits.is_some() {
            self.limits.clone_from(&later.limits);
        }
        // Between two windows nothing is seen, which says nothing.
        if later.followed.is_some_and(|followed| followed.watched > 0.0) {
            self.requests.clone_from(&later.requests);
            self.waits.clone_from(&later.waits);
            self.followed = later.followed;
        }
    }
}
