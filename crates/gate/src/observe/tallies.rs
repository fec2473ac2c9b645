//! [`Tallies`]: what each server was asked in the last seconds, and what of that failed.

use std::collections::VecDeque;
use std::rc::Rc;

use crate::upstream::server::Server;

/// Looks of the last seconds.
#[derive(Debug, Default)]
pub(crate) struct Tallies(VecDeque<Vec<Tally>>);

#[derive(Debug)]
struct Tally {
    server: Rc<Server>,
    requests: u64,
    failures: u64,
}

impl Tallies {
    /// So many looks, one each second, are kept.
    const LOOKS: usize = 10;

    /// Takes the counts of the servers as they are now.
    pub(crate) fn look(&mut self, servers: &[Rc<Server>]) {
        if self.0.len() >= Self::LOOKS {
            self.0.pop_front();
        }
        self.0.push_back(servers.iter().map(tally).collect());
    }

    /// Requests and failures since the first of the looks; one that has come since began with nothing.
    pub(crate) fn since(&self, server: &Rc<Server>) -> (u64, u64) {
        let Some(first) = self.0.front() else { return (0, 0) };
        let (requests, failures) = server.counts();
        let before = first.iter().find(|tally| Rc::ptr_eq(&tally.server, server));
        let (were, had_failed) = before.map_or((0, 0), |tally| (tally.requests, tally.failures));
        (requests.saturating_sub(were), failures.saturating_sub(had_failed))
    }
}

fn tally(server: &Rc<Server>) -> Tally {
    let (requests, failures) = server.counts();
    Tally { server: Rc::clone(server), requests, failures }
}
