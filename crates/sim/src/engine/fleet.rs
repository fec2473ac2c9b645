//! [`Fleet`]: servers behind a load balancer.

use rand::Rng;

use super::processor::Processor;
use super::server::Server;
use super::serving::Serving;
use crate::draw::Random;
use crate::model::Balancing;
use crate::watch::TierUse;

/// Servers that are alike.
#[derive(Debug, Clone)]
pub(crate) struct Fleet<P: Processor> {
    servers: Vec<Server<P>>,
    balancing: Balancing,
    random: Random,
    /// Whose turn it is.
    turn: usize,
    /// Where something happens next.
    first: usize,
}

impl<P: Processor> Fleet<P> {
    /// At least one server.
    pub(crate) fn new(servers: Vec<Server<P>>, balancing: Balancing, random: Random) -> Self {
        Self { servers, balancing, random, turn: 0, first: 0 }
    }

    fn choose(&mut self) -> usize {
        let count = self.servers.len();
        let present = |at: usize| self.servers[at].present();
        match self.balancing {
            Balancing::Random => self.random.random_range(0..count),
            Balancing::RoundRobin => {
                self.turn = if self.turn + 1 < count { self.turn + 1 } else { 0 };
                self.turn
            }
            Balancing::PowerOfTwo => {
                let (one, other) = (self.random.random_range(0..count), self.random.random_range(0..count));
                if present(other) < present(one) { other } else { one }
            }
            Balancing::LeastConnections => {
                // Of equals the first behind a place that chance chooses.
                let from = self.random.random_range(0..count);
                let places = (0..count).map(|step| (from + step) % count);
                places.min_by_key(|at| present(*at)).unwrap_or(from)
            }
        }
    }

    /// What changed at one of them may change where something happens next.
    fn changed(&mut self, at: usize) {
        if at != self.first {
            if self.servers[at].next() < self.servers[self.first].next() {
                self.first = at;
            }
            return;
        }
        let next = |at: &usize| self.servers[*at].next();
        let first = (0..self.servers.len()).min_by(|one, other| next(one).total_cmp(&next(other)));
        self.first = first.unwrap_or_default();
    }
}

impl<P: Processor> Serving for Fleet<P> {
    type Request = P::Request;

    fn offer(&mut self, now: f64, request: P::Request) -> bool {
        let chosen = self.choose();
        let is_taken = self.servers[chosen].offer(now, request);
        self.changed(chosen);
        is_taken
    }

    fn next(&self) -> f64 {
        self.servers[self.first].next()
    }

    fn advance(&mut self, now: f64) -> Option<P::Request> {
        let at = self.first;
        let served = self.servers[at].advance(now);
        self.changed(at);
        served
    }

    fn waiting(&self) -> usize {
        self.servers.iter().map(Server::waiting).sum()
    }

    fn in_service(&self) -> usize {
        self.servers.iter().map(Server::in_service).sum()
    }

    /// Fleets have none.
    fn tiers(&mut self, _: f64) -> Vec<TierUse> {
        Vec::new()
    }

    fn areas(&mut self, now: f64) -> (f64, f64) {
        let areas = self.servers.iter_mut().map(|server| server.areas(now));
        areas.fold((0.0, 0.0), |(busy, present), (more, others)| (busy + more, present + others))
    }
}
