//! [`Gated`]: a source, the gate's policy, and a server behind it.

use policy::connections::ConnectionId;
use policy::{ConfigError, Kind, KnownSession};
use rand::Rng;
use slab::Slab;
use units::{ClassId, RequestId, SessionId, Time};

use super::door::{Door, Happening, Visitor};
use super::processor::Processor;
use super::request::Request;
use super::server::Server;
use super::serving::Serving as _;
use super::source::Source;
use crate::draw::{Random, Role, Seed};
use crate::front::{Arrival, Decision, Front};
use crate::model::Model;
use crate::subject::{ModelGate, Refuser};
use crate::watch::{ClassCounts, TierUse, Watch};

/// As [`Simulation`](super::simulation::Simulation), with the policy between those who send requests
/// and the server. Requests come from clients of their own, each with one request.
#[derive(Debug)]
pub(super) struct Gated<'a, S, P: Processor> {
    gate: &'a ModelGate,
    source: S,
    front: Front,
    server: Server<P>,
    /// Its connections, where they matter.
    door: Option<Door>,
    /// Requests inside the server.
    inside: usize,
    /// The last request that came: what slow clients ask for.
    latest: Option<P::Request>,
    /// Requests that came and have not got an answer.
    held: Slab<Held<P::Request>>,
    /// Which of them have a token.
    random: Random,
    came: u64,
    /// What requests take besides, in seconds, outside of gate and server.
    network: f64,
    now: f64,
}

#[derive(Debug, Clone, Copy)]
struct Held<R> {
    request: R,
    /// The slow client that sent it, whose request does not count.
    slow: Option<usize>,
    /// Which client that is, by its address.
    client: u64,
    /// Where connections matter: over which one it came.
    connection: Option<ConnectionId>,
    /// The gate's class.
    class: ClassId,
    /// What its token says.
    known: Option<ClassId>,
    /// The front's name for it; none before it arrives there.
    name: Option<RequestId>,
}

impl<'a, S: Source<P::Request>, P: Processor> Gated<'a, S, P> {
    pub(super) fn new(
        model: &Model,
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
            door: model.slow_clients.map(|slow| Door::new(gate.connections, slow)),
            inside: 0,
            latest: None,
            held: Slab::new(),
            random: seed.stream(Role::Tokens),
            came: 0,
            network: model.network,
            now: 0.0,
        })
    }

    /// Goes on until so many more requests have come, or nothing can happen any more; gives how
    /// many things happened.
    pub(super) fn run(&mut self, requests: u64, watch: &mut Watch) -> u64 {
        watch.began = self.now;
        let (busy, present) = self.server.areas(self.now);
        let tiers = self.server.tiers(self.now);
        let (until, mut events) = (self.came + requests, 0);
        while self.came < until {
            let (arrival, completion) = (self.source.next(), self.server.next());
            let at_the_door = self.door.as_ref().map_or(f64::INFINITY, |door| seconds(door.next()));
            let next = arrival.min(completion).min(at_the_door);
            // The gate's turn comes when all that happens at this point in time has happened.
            let wake = if self.front.is_notified() { self.now } else { seconds(self.front.wake()) };
            if wake < next {
                self.now = wake.max(self.now);
                self.tell_pressure();
                self.front.turn(time(self.now));
            } else if next == f64::INFINITY {
                break;
            } else if at_the_door <= next {
                self.now = at_the_door.max(self.now);
                self.look_at_the_door(watch);
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
        watch.tiers = TierUse::since(self.server.tiers(self.now), tiers);
        events
    }

    fn arrive(&mut self, watch: &mut Watch) {
        let request = self.source.take();
        let is_known = self.random.random::<f64>() < self.gate.known;
        let known = is_known.then_some(ClassId(0));
        let ruled = self.gate.class_of(request.job().class);
        self.came += 1;
        let class = known.unwrap_or(ruled);
        let client = self.came;
        let held = Held { request, slow: None, client, connection: None, class, known, name: None };
        let held = self.held.insert(held);
        if let Some(seen) = self.gate.seen(watch, request.job().class, class, Refuser::Gate) {
            seen.arrived += 1;
        }
        self.latest = Some(request);
        match &mut self.door {
            Some(door) => {
                door.connect(time(self.now), Visitor::Counted(held), client);
                self.look_at_the_door(watch);
            }
            None => self.ask(held),
        }
    }

    /// The gate has a request.
    fn ask(&mut self, key: usize) {
        let Some(&Held { request, client, class, known, .. }) = self.held.get(key) else { return };
        let arrival = Arrival {
            request: key,
            demand: request.job().demand,
            ruled: class,
            // The model has requests, not sessions: each is of one of its own.
            known: known.map(|class| KnownSession::active(SessionId(client), class)),
            client,
            kind: Kind(u64::from(request.job().class)),
        };
        let name = self.front.arrive(time(self.now), arrival);
        if let Some(held) = self.held.get_mut(key) {
            held.name = Some(name);
        }
    }

    /// Connections come, and go.
    fn look_at_the_door(&mut self, watch: &mut Watch) {
        let now = time(self.now);
        let Some(door) = &mut self.door else { return };
        door.advance(now, self.inside, self.front.has_admitted());
        while let Some(happening) = self.door.as_mut().and_then(Door::happening) {
            match happening {
                Happening::Asks(Visitor::Counted(key), connection) => {
                    if let Some(held) = self.held.get_mut(key) {
                        held.connection = Some(connection);
                    }
                    self.ask(key);
                }
                Happening::Asks(Visitor::Slow(slow), connection) => self.ask_slowly(slow, connection),
                Happening::GivesUp(key) => self.refuse(key, Refuser::Door, watch),
                Happening::Closed(key) => {
                    let Some(name) = self.held.get(key).and_then(|held| held.name) else { continue };
                    self.front.abort(now, name);
                    if !self.front.holds(name) {
                        self.held.try_remove(key);
                    }
                }
            }
        }
    }

    /// A slow client asks for what the last of the others did. The gate does not know it.
    fn ask_slowly(&mut self, slow: usize, connection: ConnectionId) {
        let (Some(door), Some(request)) = (&mut self.door, self.latest) else { return };
        let class = self.gate.class_of(request.job().class);
        let (client, slow_client, connection) = (door.owner(slow), Some(slow), Some(connection));
        let held = Held { request, slow: slow_client, client, connection, class, known: None, name: None };
        let key = self.held.insert(held);
        door.holds(slow, key);
        self.ask(key);
    }

    /// Tells the policy how much of the gate's connections and memory is used, when that has changed.
    fn tell_pressure(&mut self) {
        let (now, inside) = (time(self.now), self.inside);
        let used = self.door.as_mut().and_then(|door| door.changed_pressure(now, inside));
        if let Some(used) = used {
            self.front.set_pressure(now, used);
        }
    }

    fn advance(&mut self, watch: &mut Watch) {
        let Some(done) = self.server.advance(self.now) else { return };
        self.inside -= 1;
        let Some(held) = self.held.try_remove(done.job().whose as usize) else { return };
        let Held { request, class, name, .. } = held;
        if let Some(name) = name {
            self.front.finish(time(self.now), name);
        }
        self.answered(&held);
        if held.slow.is_some() {
            return;
        }
        let job = request.job();
        if let Some(seen) = self.gate.seen(watch, job.class, class, Refuser::Gate) {
            seen.latencies.record(self.now - job.arrived + self.network);
        }
        self.source.answered(self.now, &request);
    }

    /// A client gets its response. A slow one takes it slowly.
    fn answered(&mut self, held: &Held<P::Request>) {
        let (Some(door), Some(connection)) = (&mut self.door, held.connection) else { return };
        match held.slow {
            Some(slow) => door.answered(time(self.now), slow, connection),
            None => {
                door.close(time(self.now), connection);
            }
        }
    }

    /// Does what the policy has decided.
    fn carry_out(&mut self, watch: &mut Watch) {
        while let Some(decision) = self.front.decision(time(self.now)) {
            match decision {
                Decision::Dispatch { held } => {
                    let Some(key) = self.front.sender(held) else { continue };
                    let Some(&Held { request, connection, .. }) = self.held.get(key) else { continue };
                    let request = request.of(key as u32).costing(self.gate.cost);
                    if !self.server.offer(self.now, request) {
                        self.front.finish(time(self.now), held);
                        self.refuse(key, Refuser::Server, watch);
                        continue;
                    }
                    self.inside += 1;
                    if let (Some(door), Some(connection)) = (&mut self.door, connection) {
                        door.dispatched(connection);
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
        let Some(Held { request, class, slow, connection, .. }) = self.held.try_remove(key) else { return };
        if let (Some(door), Some(connection)) = (&mut self.door, connection) {
            door.close(time(self.now), connection);
        }
        if slow.is_some() {
            return;
        }
        let back = self.source.rejected(self.now, &request);
        if let Some(ClassCounts { rejected, lost, .. }) =
            self.gate.seen(watch, request.job().class, class, by)
        {
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
