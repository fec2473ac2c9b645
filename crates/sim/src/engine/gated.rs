//! [`Gated`]: a source, the gate's policy, and a server behind it.

use policy::{ConfigError, Kind};
use rand::Rng;
use slab::Slab;
use units::{ClassId, RequestId, Time};

use super::processor::Processor;
use super::request::Request;
use super::server::Server;
use super::source::{Fate, Source};
use super::watch::{Seen, Watch};
use crate::draw::{Random, Role, Seed};
use crate::front::{Arrival, Decision, Front};
use crate::subject::{ModelGate, Refuser};

/// As [`Simulation`](super::simulation::Simulation), with the policy between those who send requests
/// and the server. Requests come from clients of their own, each with one request.
#[derive(Debug)]
pub(super) struct Gated<'a, S, P: Processor> {
    gate: &'a ModelGate,
    source: S,
    front: Front,
    server: Server<P>,
    /// Requests that came and have not got an answer.
    held: Slab<Held<P::Request>>,
    /// Which of them have a token.
    random: Random,
    came: u64,
    now: f64,
}

#[derive(Debug)]
struct Held<R> {
    request: R,
    /// The gate's class.
    class: ClassId,
    /// The front's name for it; none before it arrives there.
    name: Option<RequestId>,
}

impl<'a, S: Source<P::Request>, P: Processor> Gated<'a, S, P> {
    pub(super) fn new(
        gate: &'a ModelGate,
        source: S,
        server: Server<P>,
        seed: Seed,
    ) -> Result<Self, ConfigError> {
        Ok(Self {
            gate,
            source,
            front: Front::new(&gate.policy, seed)?,
            server,
            held: Slab::new(),
            random: seed.stream(Role::Tokens),
            came: 0,
            now: 0.0,
        })
    }

    /// Goes on until so many more requests have come, or nothing can happen any more; gives how
    /// many things happened.
    pub(super) fn run(&mut self, requests: u64, watch: &mut Watch) -> u64 {
        watch.began = self.now;
        let (busy, present) = self.server.areas(self.now);
        let (until, mut events) = (self.came + requests, 0);
        while self.came < until {
            let (arrival, completion) = (self.source.next(), self.server.next());
            let next = arrival.min(completion);
            // The gate's turn comes when all that happens at this point in time has happened.
            let wake = if self.front.is_rung() { self.now } else { seconds(self.front.wake()) };
            if wake < next {
                self.now = wake.max(self.now);
                self.front.turn(time(self.now));
            } else if next == f64::INFINITY {
                break;
            } else if completion <= arrival {
                self.now = completion;
                self.advance(watch);
            } else {
                self.now = arrival;
                self.arrive(watch);
            }
            self.carry_out(watch);
            events += 1;
        }
        watch.ended = self.now;
        let areas = self.server.areas(self.now);
        (watch.busy, watch.present) = (areas.0 - busy, areas.1 - present);
        events
    }

    fn arrive(&mut self, watch: &mut Watch) {
        let request = self.source.take();
        let is_known = self.random.random::<f64>() < self.gate.known;
        let known = is_known.then_some(ClassId(0));
        let ruled = self.gate.class_of(request.job().class);
        self.came += 1;
        let class = known.unwrap_or(ruled);
        let held = self.held.insert(Held { request, class, name: None });
        let demand = request.job().demand;
        let arrival = Arrival {
            request: held,
            demand,
            ruled,
            known,
            client: self.came,
            kind: Kind(u64::from(request.job().class)),
        };
        let name = self.front.arrive(time(self.now), arrival);
        if let Some(held) = self.held.get_mut(held) {
            held.name = Some(name);
            if let Some(seen) = self.gate.seen(watch, request.job().class, class, Refuser::Gate) {
                seen.arrived += 1;
            }
        }
    }

    fn advance(&mut self, watch: &mut Watch) {
        let Some(done) = self.server.advance(self.now) else { return };
        let Some(Held { request, class, name }) = self.held.try_remove(done.job().whose as usize) else {
            return;
        };
        if let Some(name) = name {
            self.front.finish(time(self.now), name);
        }
        let job = request.job();
        if let Some(seen) = self.gate.seen(watch, job.class, class, Refuser::Gate) {
            seen.latencies.record(self.now - job.arrived);
        }
        self.source.learn(self.now, &request, Fate::Served);
    }

    /// Does what the policy has decided.
    fn carry_out(&mut self, watch: &mut Watch) {
        while let Some(decision) = self.front.decision(time(self.now)) {
            match decision {
                Decision::Dispatch { held } => {
                    let Some(key) = self.front.sender(held) else { continue };
                    let Some(&Held { request, .. }) = self.held.get(key) else { continue };
                    let request = request.of(key as u32).costing(self.gate.cost);
                    if !self.server.offer(self.now, request) {
                        self.front.finish(time(self.now), held);
                        self.refuse(key, Refuser::Server, watch);
                    }
                }
                Decision::Refuse { request } => {
                    self.front.ring();
                    self.refuse(request, Refuser::Gate, watch);
                }
            }
        }
    }

    fn refuse(&mut self, key: usize, by: Refuser, watch: &mut Watch) {
        let Some(Held { request, class, .. }) = self.held.try_remove(key) else { return };
        let back = self.source.learn(self.now, &request, Fate::Rejected);
        if let Some(Seen { rejected, lost, .. }) = self.gate.seen(watch, request.job().class, class, by) {
            *rejected += 1;
            *lost += u64::from(!back);
        }
    }
}

fn seconds(time: Time) -> f64 {
    if time == Time::NEVER { f64::INFINITY } else { time.as_nanos() as f64 / 1e9 }
}

fn time(seconds: f64) -> Time {
    Time::from_nanos((seconds * 1e9).round() as u64)
}
