//! [`World`]: users, perhaps a gate, and a server, at a point in time.

use std::iter::Peekable;

use policy::Kind;
use rand::Rng;
use rand_distr::Distribution;
use slab::Slab;
use traffic::Schedule;
use units::{RequestId, Span, Time};

use super::events::{Event, EventQueue};
use super::model::SessionModel;
use super::seen::Seen;
use super::server::{Answer, Request, Server};
use super::tally::Fate;
use super::users::{Next, User};
use crate::draw::{Demands, Random, Role, Seed};
use crate::front::{Arrival, Decision, Front};
use crate::model::SessionModelError;

/// The kernel's first wait for an answer to a SYN; each one after it is twice as long (RFC 6298,
/// sections 2 and 5.5).
const SYN_TIMEOUT: Span = Span::from_secs(1);

/// One replication under way.
pub(super) struct World<'a> {
    model: &'a SessionModel,
    now: Time,
    window: (Time, Time),
    /// The seed of the pauses, which is that of the arrivals.
    pauses: u64,
    schedule: Peekable<Schedule>,
    /// What requests need over what they need on average.
    demands: (Demands, Random),
    events: EventQueue,
    users: Slab<User>,
    requests: Slab<Sent>,
    front: Option<Front>,
    server: Server,
    seen: Seen,
    /// Draws what `Retry-After` says.
    jitter: Random,
    /// Draws which way a user takes.
    ways: Random,
    /// Sessions so far, and requests.
    started: u64,
    sent: u64,
    /// Sessions under way that count.
    unfinished: u64,
}

/// A request that a user waits for.
#[derive(Debug)]
struct Sent {
    /// Names are used again; this is not.
    serial: u64,
    user: usize,
    object: usize,
    /// How often it has been asked for before.
    tries: u32,
    /// Processor time, in seconds.
    demand: f64,
    at: Time,
    way: Way,
}

/// Where a request is.
#[derive(Debug, Clone, Copy)]
enum Way {
    /// Its connection is not open yet.
    Connecting,
    /// The server has it, over that connection.
    Server(usize),
    /// The gate has it, by that name.
    Gate(RequestId),
}

impl<'a> World<'a> {
    /// The beginning of replication number `replication`.
    pub(super) fn new(
        model: &'a SessionModel,
        seed: u64,
        replication: u32,
    ) -> Result<Self, SessionModelError> {
        let window = (Time::ZERO + model.warmup, Time::ZERO + model.warmup + model.duration);
        let profile = model.starts.profile(model.warmup);
        let arrivals = seed_of_arrivals(seed, replication);
        let seed = Seed::new(seed, replication);
        Ok(Self {
            model,
            now: Time::ZERO,
            window,
            pauses: arrivals,
            schedule: Schedule::new(model.process, &profile, &model.script.shares, arrivals).peekable(),
            demands: (Demands::of(model.service), seed.stream(Role::Service)),
            events: EventQueue::default(),
            users: Slab::new(),
            requests: Slab::new(),
            front: model.gate.as_ref().map(|gate| Front::new(&gate.policy, seed)).transpose()?,
            server: Server::new(model.host, window),
            seen: Seen::new(model),
            jitter: seed.stream(Role::Retries),
            ways: seed.stream(Role::Ways),
            started: 0,
            sent: 0,
            unfinished: 0,
        })
    }

    /// Goes on until all sessions that count have ended; gives how many events there were, or nothing if it is to
    /// `stop` before.
    pub(super) fn run(&mut self, stop: impl Fn() -> bool) -> Option<u64> {
        /// To ask for each event would cost more than the event.
        const BETWEEN: u64 = 1 << 12;
        let mut events = 0_u64;
        loop {
            if events.is_multiple_of(BETWEEN) && stop() {
                return None;
            }
            let arrival = self.schedule.peek().map_or(Time::NEVER, |arrival| arrival.time);
            if arrival >= self.window.1 && self.unfinished == 0 {
                return Some(events);
            }
            let next = arrival.min(self.events.next()).min(self.server.next());
            let wake = match &self.front {
                Some(front) if front.is_notified() => self.now,
                Some(front) => front.wake(),
                None => Time::NEVER,
            };
            // The gate's turn comes when all that happens at this point in time has happened.
            if wake < next {
                self.now = wake.max(self.now);
                if let Some(front) = &mut self.front {
                    front.turn(self.now);
                }
            } else if next == Time::NEVER {
                return Some(events);
            } else {
                self.now = next;
                self.step(arrival);
            }
            self.carry_out();
            events += 1;
        }
    }

    pub(super) fn into_seen(self) -> Seen {
        self.seen
    }

    pub(super) fn utilization(&self) -> f64 {
        self.server.utilization()
    }

    /// Lets happen one of the things that happen now.
    fn step(&mut self, arrival: Time) {
        if self.server.next() == self.now {
            if let Some(answer) = self.server.advance(self.now) {
                self.answered(answer);
            }
        } else if self.events.next() == self.now {
            if let Some(event) = self.events.take() {
                self.happen(event);
            }
        } else if arrival == self.now
            && let Some(arrival) = self.schedule.next()
        {
            self.start(arrival);
        }
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Read { user } => self.open_page(user),
            Event::Retry { user, object, tries } => {
                if let Some(user) = self.users.get(user).filter(|user| user.is_counted) {
                    self.seen.retried(user.class, self.now);
                }
                self.fetch(user, object, tries);
            }
            Event::GiveUp { request, serial } if self.is_waiting(request, serial) => self.give_up(request),
            Event::Connect { request, serial, tries } if self.is_waiting(request, serial) => {
                self.connect(request, tries);
            }
            Event::GiveUp { .. } | Event::Connect { .. } => {}
            Event::ConnectFromGate { held, tries } => self.connect_from_gate(held, tries),
            Event::Hang { connection, turn } => self.server.hang(self.now, connection, turn),
        }
    }

    fn start(&mut self, arrival: traffic::Arrival) {
        let (class, is_counted) = (arrival.class.index(), arrival.time >= self.window.0);
        let is_counted = is_counted && arrival.time < self.window.1;
        self.started += 1;
        self.unfinished += u64::from(is_counted);
        if is_counted {
            self.seen.started(class, arrival.time);
        }
        let whose = (class, self.way(class));
        let user = self.users.insert(User::new(self.started, whose, arrival.time, self.pauses, is_counted));
        self.open_page(user);
    }

    /// One of the ways that users of a class take.
    fn way(&mut self, class: usize) -> usize {
        match self.model.script.of_class.get(class).map_or(&[][..], Vec::as_slice) {
            [] => 0,
            [only] => *only,
            ways => ways[self.ways.random_range(..ways.len())],
        }
    }

    fn open_page(&mut self, user: usize) {
        let script = &self.model.script;
        if let Some(object) = self.users.get_mut(user).and_then(|user| user.open_page(script)) {
            self.fetch(user, object, 0);
        }
    }

    fn fetch(&mut self, user: usize, object: usize, tries: u32) {
        self.sent += 1;
        let serial = self.sent;
        let mean = self.model.script.objects.get(object).map_or(0.0, |object| object.demand);
        let demand = mean * self.demands.0.sample(&mut self.demands.1);
        let sent = Sent { serial, user, object, tries, demand, at: self.now, way: Way::Connecting };
        let request = self.requests.insert(sent);
        self.events.add(self.now + self.model.script.timeout, Event::GiveUp { request, serial });
        if self.model.gate.is_some() {
            self.ask_gate(request);
        } else {
            self.ask_server(request);
        }
    }

    fn ask_gate(&mut self, request: usize) {
        let (Some(gate), Some(front)) = (&self.model.gate, &mut self.front) else { return };
        let Some(sent) = self.requests.get_mut(request) else { return };
        let Some(user) = self.users.get(sent.user) else { return };
        let rules = gate.classes.get(user.class).and_then(|classes| classes.get(sent.object));
        let kind = self.model.script.objects.get(sent.object).map_or(Kind::default(), |object| object.kind);
        let arrival = Arrival {
            request,
            demand: sent.demand,
            ruled: rules.copied().unwrap_or(units::ClassId(u8::MAX)),
            known: user.known(self.now, &gate.limits),
            client: gate.addresses.map_or(user.number, |addresses| user.number % addresses),
            kind,
        };
        sent.way = Way::Gate(front.arrive(self.now, arrival));
    }

    /// Over a connection that is open, if there is one.
    fn ask_server(&mut self, request: usize) {
        let Some(sent) = self.requests.get(request) else { return };
        let Some(user) = self.users.get_mut(sent.user) else { return };
        while let Some(connection) = user.idle.pop() {
            if self.server.is_open(connection) {
                return self.send(request, connection);
            }
            self.server.close(self.now, connection);
        }
        self.connect(request, 0);
    }

    fn connect(&mut self, request: usize, tries: u32) {
        let Some(serial) = self.requests.get(request).map(|sent| sent.serial) else { return };
        match self.server.connect() {
            Some(connection) => self.send(request, connection),
            None => {
                let event = Event::Connect { request, serial, tries: tries + 1 };
                self.events.add(self.now + syn_timeout(tries), event);
            }
        }
    }

    fn send(&mut self, request: usize, connection: usize) {
        let Some(sent) = self.requests.get_mut(request) else { return };
        sent.way = Way::Server(connection);
        let demand = sent.demand;
        self.server.send(self.now, connection, Request { demand, whose: request as u64 });
    }

    /// Does what the policy has decided.
    fn carry_out(&mut self) {
        while let Some(decision) = self.front.as_mut().and_then(|front| front.decision(self.now)) {
            match decision {
                Decision::Dispatch { held } => self.connect_from_gate(held, 0),
                Decision::Refuse { request } => {
                    if let Some(front) = &mut self.front {
                        front.ring();
                    }
                    self.settle(request, Fate::Refused);
                }
            }
        }
    }

    /// The gate keeps its connections and uses them again. A worker that belongs to one of them is as good
    /// as free, so here they are opened for each request.
    fn connect_from_gate(&mut self, held: RequestId, tries: u32) {
        let (Some(gate), Some(front)) = (&self.model.gate, &self.front) else { return };
        let Some(demand) = front.demand(held) else { return };
        let demand = demand + gate.cost.as_secs_f64();
        match self.server.connect() {
            Some(connection) => self.server.send(self.now, connection, Request { demand, whose: held.0 }),
            None => {
                let event = Event::ConnectFromGate { held, tries: tries + 1 };
                self.events.add(self.now + syn_timeout(tries), event);
            }
        }
    }

    fn answered(&mut self, answer: Answer) {
        let Answer { whose, connection, turn } = answer;
        let (Some(gate), Some(front)) = (&self.model.gate, &mut self.front) else {
            let until = self.now + self.model.host.keep_alive;
            self.events.add(until, Event::Hang { connection, turn });
            let request = whose as usize;
            let user = self.requests.get(request).map(|sent| sent.user);
            if let Some(user) = user.and_then(|user| self.users.get_mut(user)) {
                user.idle.push(connection);
            }
            return self.settle(request, Fate::Completed);
        };
        self.server.close(self.now, connection);
        let Some((request, class)) = front.finish(self.now, RequestId(whose)) else { return };
        let user = self.requests.get(request).map(|sent| sent.user);
        if let Some(user) = user.and_then(|user| self.users.get_mut(user)) {
            user.keep_token(self.now, class, &gate.limits);
        }
        self.settle(request, Fate::Completed);
    }

    fn give_up(&mut self, request: usize) {
        match (self.requests.get(request).map(|sent| sent.way), &mut self.front) {
            (Some(Way::Server(connection)), _) => self.server.close(self.now, connection),
            (Some(Way::Gate(held)), Some(front)) => front.abort(self.now, held),
            _ => {}
        }
        self.settle(request, Fate::TimedOut);
    }

    fn is_waiting(&self, request: usize, serial: u64) -> bool {
        self.requests.get(request).is_some_and(|sent| sent.serial == serial)
    }

    /// Tells a user what became of a request.
    fn settle(&mut self, request: usize, fate: Fate) {
        let Some(sent) = self.requests.try_remove(request) else { return };
        let Some(user) = self.users.get_mut(sent.user) else { return };
        if fate == Fate::Completed && user.is_counted {
            self.seen.answered(user.class, sent.at, self.now.since(sent.at));
        }
        if fate != Fate::Completed
            && let Some(retry) = self.model.script.retry.as_ref().filter(|retry| sent.tries < retry.times)
        {
            let asked = self.model.gate.as_ref().filter(|_| fate == Fate::Refused).map(|gate| {
                let (least, most) = (gate.policy.retry_after, gate.longest_retry_after);
                least + most.saturating_sub(least).mul_f64(self.jitter.random())
            });
            let tries = sent.tries + 1;
            let at = self.now + retry.pause(tries, asked, &mut user.retrying);
            return self.events.add(at, Event::Retry { user: sent.user, object: sent.object, tries });
        }
        match user.learn(&self.model.script, fate) {
            Next::Wait => {}
            Next::Fetch(objects) => objects.into_iter().for_each(|object| self.fetch(sent.user, object, 0)),
            Next::Read(span) => self.events.add(self.now + span, Event::Read { user: sent.user }),
            Next::End(fate) => self.end(sent.user, fate),
        }
    }

    fn end(&mut self, user: usize, fate: Fate) {
        let Some(user) = self.users.try_remove(user) else { return };
        for connection in &user.idle {
            self.server.close(self.now, *connection);
        }
        if user.is_counted {
            self.seen.ended(user.class, user.started, fate, user.duration(self.now));
            self.unfinished -= 1;
        }
    }
}

/// Sessions of replication 0 start when those of `headworks load` with the same seed would; no other
/// replication shares its arrivals with any of another seed.
fn seed_of_arrivals(seed: u64, replication: u32) -> u64 {
    match replication {
        0 => seed,
        _ => Seed::new(seed, replication).number(Role::Arrivals),
    }
}

fn syn_timeout(tries: u32) -> Span {
    SYN_TIMEOUT * (1 << tries.min(20))
}
