//! [`Tallies`]: which servers fail requests of late. Samples do not say, so states are compared.

use std::collections::VecDeque;

use crate::api::state::State;

/// So far back it is looked, s; states come every two.
const LATELY: f64 = 10.0;
/// States that are further apart say nothing of late.
const APART: f64 = 30.0;
/// States that are kept; more come only where much happens.
const MAX_TALLIES: usize = 64;
/// Failed of a server's requests, above which it fails.
const MUCH_FAILED: f64 = 0.01;

/// The counts of servers as they have become.
#[derive(Debug, Default)]
pub(crate) struct Tallies {
    started: Option<f64>,
    kept: VecDeque<Tally>,
}

#[derive(Debug)]
struct Tally {
    /// The gate's clock.
    at: f64,
    servers: Vec<(String, Counts)>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    requests: f64,
    failures: f64,
}

/// A server that fails requests.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Failing {
    pub(crate) address: String,
    /// Of its requests.
    pub(crate) share: f64,
    /// 1/s.
    pub(crate) rate: f64,
}

impl Tallies {
    /// Takes the counts of a state; those of a gate that does not say its time are not kept.
    pub(crate) fn see(&mut self, state: &State) {
        let Some(at) = state.clock else { return };
        let goes_on = |last: &Tally| last.at <= at && at - last.at < APART;
        if state.started != self.started || !self.kept.back().is_none_or(goes_on) {
            self.kept.clear();
        }
        self.started = state.started;
        while self.kept.get(1).is_some_and(|second| second.at <= at - LATELY)
            || self.kept.len() >= MAX_TALLIES
        {
            self.kept.pop_front();
        }
        let servers = state.upstream.servers.iter().map(|server| {
            (server.address.clone(), Counts { requests: server.requests, failures: server.failures })
        });
        self.kept.push_back(Tally { at, servers: servers.collect() });
    }

    /// Servers that failed requests of late, in the order of the state.
    pub(crate) fn failing(&self) -> Vec<Failing> {
        let (Some(first), Some(last)) = (self.kept.front(), self.kept.back()) else { return Vec::new() };
        let span = last.at - first.at;
        if span <= 0.0 {
            return Vec::new();
        }
        let failing = last.servers.iter().filter_map(|(address, now)| {
            // One that has come since began with nothing.
            let before = first.servers.iter().find(|(name, _)| name == address);
            let before = before.map_or_else(Counts::default, |(_, counts)| *counts);
            let failures = now.failures - before.failures;
            let share = failures / (now.requests - before.requests).max(failures).max(1.0);
            (share > MUCH_FAILED).then(|| Failing { address: address.clone(), share, rate: failures / span })
        });
        failing.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    fn state(at: f64, requests: f64, failures: f64) -> State {
        let mut state = samples::state();
        state.clock = Some(at);
        (state.upstream.servers[0].requests, state.upstream.servers[0].failures) = (requests, failures);
        state
    }

    #[test]
    fn what_failed_long_ago_is_not_of_late() {
        let mut tallies = Tallies::default();
        tallies.see(&state(1000.0, 1000.0, 500.0));
        assert_eq!(tallies.failing(), []);
        tallies.see(&state(1002.0, 1100.0, 540.0));
        let failing = Failing { address: "10.0.0.1:80".to_owned(), share: 0.4, rate: 20.0 };
        assert_eq!(tallies.failing(), [failing]);
        for second in 1..=10 {
            tallies.see(&state(1002.0 + 2.0 * f64::from(second), 1200.0, 540.0));
        }
        assert_eq!(tallies.failing(), []);
    }

    #[test]
    fn a_restart_or_a_gap_begins_anew() {
        let mut tallies = Tallies::default();
        tallies.see(&state(1000.0, 1000.0, 500.0));
        let mut restarted = state(1001.0, 10.0, 9.0);
        restarted.started = Some(1000.5);
        tallies.see(&restarted);
        assert_eq!(tallies.failing(), []);
        tallies.see(&state(1002.0, 1000.0, 500.0));
        tallies.see(&state(2000.0, 2000.0, 600.0));
        assert_eq!(tallies.failing(), []);
        for second in 0..500 {
            tallies.see(&state(2000.0 + f64::from(second) / 100.0, 2000.0, 600.0));
        }
        assert!(tallies.kept.len() <= MAX_TALLIES);
    }
}
