//! [`Summary`]: what went on between two looks, group by group.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::requests::{Classes, Tally};
use crate::{connections, kernel, limits, network, processes, requests};

/// What went on between two looks. What was not looked at is left out.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Summary {
    /// The kernel as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel: Option<kernel::Rates>,
    /// By program.
    pub processes: BTreeMap<String, processes::Rates>,
    /// By interface.
    pub network: BTreeMap<String, network::Rates>,
    /// Connections of all the ports by state, at the second look.
    pub connections: BTreeMap<String, u64>,
    /// By port, what waits to be accepted.
    pub listen_queues: BTreeMap<u16, connections::ListenQueue>,
    /// How near to its end everything is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limits: Option<limits::Rates>,
    /// Requests that ended, by class.
    pub requests: BTreeMap<String, requests::Rates>,
    /// Classes without a request in a time in which every one was counted.
    #[serde(skip)]
    pub silent: Vec<String>,
    /// How long connections and requests waited for the server; not there when requests are not followed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waits: Option<requests::Waits>,
    /// What of the requests was seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub followed: Option<requests::Followed>,
}

impl Summary {
    /// Adds what was seen of requests.
    pub(crate) fn add_requests(&mut self, tally: &Tally, classes: &Classes) {
        self.requests = tally.rates(&classes.names());
        self.silent = match tally.counted_in_full() {
            Some(_) => classes.names().into_iter().filter(|name| !self.requests.contains_key(name)).collect(),
            None => Vec::new(),
        };
        self.waits = tally.waits();
        self.followed = Some(tally.followed());
    }
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
        let Some(followed) = later.followed else { return };
        // Between two windows no request is followed, which says nothing.
        if followed.watched > 0.0 {
            self.requests.clone_from(&later.requests);
            self.waits.clone_from(&later.waits);
            self.followed = later.followed;
        } else if followed.is_counted {
            self.count_on(later);
        }
    }

    /// Takes over how many requests there were, and leaves what is known of one.
    fn count_on(&mut self, later: &Self) {
        self.requests.retain(|class, _| later.requests.contains_key(class));
        for (class, rates) in &later.requests {
            let mine = self.requests.entry(class.clone()).or_insert_with(|| rates.clone());
            let counted = rates.clone();
            mine.count = counted.count;
            mine.connections *= if mine.rate > 0.0 { counted.rate / mine.rate } else { 0.0 };
            (mine.rate, mine.bytes_rate) = (counted.rate, counted.bytes_rate);
            (mine.ci, mine.status) = (counted.ci, counted.status);
        }
        self.followed = later.followed;
    }
}
