//! [`replicate`]: one replication, by an event loop that is compiled for its combination of source, server and gate.

use std::ops::ControlFlow;

use super::any::Any;
use super::closed::Closed;
use super::fleet::Fleet;
use super::gated::Gated;
use super::job::Job;
use super::processor::Processor;
use super::returning::Returning;
use super::server::Server;
use super::simulation::Simulation;
use super::source::{Draw, Open, Source};
use super::stations::Stations;
use super::throttled::Throttled;
use crate::draw::{Gaps, Role, Seed};
use crate::model::{Model, Offered};
use crate::subject::{ModelGate, Subject, Surge};
use crate::watch::Watch;

/// How long a replication is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Length {
    /// Requests before what is watched.
    pub(crate) warmup: u64,
    /// Requests in each stretch that is watched.
    pub(crate) requests: u64,
    /// Stretches, one after the other.
    pub(crate) stretches: u32,
    /// See [`crate::warmup::Warmup::memory`].
    pub(crate) memory: Option<f64>,
}

impl Length {
    /// Of this share of a replication nothing is known but that its requests may depend on one another: where that was not
    /// looked for, of as many as a warm-up has that was given, or all.
    pub(crate) fn dependent(self) -> f64 {
        let given = if self.warmup > 0 { self.warmup } else { self.requests };
        (self.memory.unwrap_or(given as f64) / self.requests.max(1) as f64).min(1.0)
    }
}

/// One replication of what has been checked: a pure function of its arguments. Hands over
/// what was seen in each stretch, written into a copy of `blank`, until it is told to stop, and gives how
/// many events there were, warm-up included.
pub(crate) fn replicate(
    subject: Subject<'_>,
    seed: Seed,
    length: Length,
    blank: &Watch,
    each: &mut dyn FnMut(Watch) -> ControlFlow<()>,
) -> u64 {
    let Subject { model, gate, surge } = subject;
    Replication { model, gate, surge, seed, length, blank }.with_discipline(each)
}

/// What is put together, piece by piece: each combination has a loop of its own, compiled for it.
#[derive(Clone, Copy)]
struct Replication<'a> {
    model: &'a Model,
    gate: Option<&'a ModelGate>,
    surge: Option<Surge>,
    seed: Seed,
    length: Length,
    blank: &'a Watch,
}

impl Replication<'_> {
    fn with_discipline(self, each: &mut dyn FnMut(Watch) -> ControlFlow<()>) -> u64 {
        let Model { discipline, threads, processors, .. } = *self.model;
        let any = Any::new(discipline, threads as usize, processors);
        if let Some(quota) = self.model.quota {
            return self.with_equipment(Throttled::new(any, processors, quota), each);
        }
        match any {
            Any::Sharing(processor) => self.with_equipment(processor, each),
            Any::Slices(processor) => self.with_equipment(processor, each),
            Any::Ranked(processor) => self.with_equipment(processor, each),
        }
    }

    fn with_equipment<P: Processor<Request = Job> + Clone>(
        self,
        processor: P,
        each: &mut dyn FnMut(Watch) -> ControlFlow<()>,
    ) -> u64 {
        if self.model.is_bare() {
            return self.with_source(processor, each);
        }
        self.with_source(Stations::new(processor, self.model), each)
    }

    fn with_source<P: Processor + Clone>(
        self,
        processor: P,
        each: &mut dyn FnMut(Watch) -> ControlFlow<()>,
    ) -> u64 {
        let draw = Draw::new(self.model, self.seed);
        let random = |role| self.seed.stream(role);
        if let Offered::Clients(clients, think) = self.model.offered {
            let away = (think, self.model.network);
            return self.run(Closed::new(clients, away, draw, random(Role::Thinking)), processor, each);
        }
        let mean = self.model.rate().map_or(f64::INFINITY, f64::recip);
        let open = Open::new(Gaps::new(&self.model.arrivals, mean, random(Role::Arrivals)), draw);
        let open = match self.surge {
            None => open,
            Some(surge) => open.with(surge),
        };
        if self.model.patience.is_none() && self.model.retries.is_none() {
            return self.run(open, processor, each);
        }
        self.run(Returning::new(open, self.model, random(Role::Retries)), processor, each)
    }

    fn run<P: Processor + Clone>(
        self,
        source: impl Source<P::Request>,
        processor: P,
        each: &mut dyn FnMut(Watch) -> ControlFlow<()>,
    ) -> u64 {
        let model = self.model;
        let room = model.queue.map_or(usize::MAX, |queue| queue as usize);
        let server = Server::new(processor, f64::from(model.processors), model.threads as usize, room);
        if model.fleet.servers > 1 {
            let servers = vec![server; model.fleet.servers as usize];
            let fleet = Fleet::new(servers, model.fleet.balancing, self.seed.stream(Role::Balancing));
            let mut simulation = Simulation::new(source, fleet, model.network);
            return self.stretches(|requests, watch| simulation.run(requests, watch), each);
        }
        let Some(gate) = self.gate else {
            let mut simulation = Simulation::new(source, server, model.network);
            return self.stretches(|requests, watch| simulation.run(requests, watch), each);
        };
        // A policy that cannot be had is found out before.
        let Ok(mut gated) = Gated::new(self.model, gate, source, server, self.seed) else { return 0 };
        self.stretches(|requests, watch| gated.run(requests, watch), each)
    }

    /// The warm-up and the stretches, of which `simulate` does one.
    fn stretches(
        self,
        mut simulate: impl FnMut(u64, &mut Watch) -> u64,
        each: &mut dyn FnMut(Watch) -> ControlFlow<()>,
    ) -> u64 {
        let mut events = simulate(self.length.warmup, &mut Watch::new(0));
        for _ in 0..self.length.stretches {
            let mut watch = self.blank.clone();
            events += simulate(self.length.requests, &mut watch);
            if each(watch).is_break() {
                break;
            }
        }
        events
    }
}
