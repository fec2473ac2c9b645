//! [`Driver`]: the one loop around a policy. It holds the requests that the policy knows by id, tells the
//! policy what happens to them, and has its decisions carried out.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use slab::Slab;
use units::{ClassId, Ratio, RequestId, Span, Time};

use crate::config::Config;
use crate::error::ConfigError;
use crate::kind::Kind;
use crate::knobs::Knobs;
use crate::machine::Policy;
use crate::protocol::{Input, Output, PAUSE, Pause, Reason, SessionHint};
use crate::waiting_room::visit::Ticket;
use crate::waits::Waits;

/// What the policy is told of a request that arrives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrival {
    /// What its session token says.
    pub session: SessionHint,
    /// Whose it is: any number that is the same for the same client address.
    pub client: u64,
    /// What it asks for.
    pub kind: Kind,
}

/// What was decided about a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// Send it to the server; it is held until [`Driver::finish`] or [`Driver::abort`] end it.
    Dispatch,
    /// Refuse it. The policy has forgotten it; the driver holds it until [`Driver::finish`].
    Refuse(Reason),
}

/// What is known of a response by its head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// It says nothing about how its pieces come.
    Unknown,
    /// Events that come when they happen (`text/event-stream`).
    Events,
}

/// Finds the classes of requests and carries out what is decided about them.
///
/// Both are called while the driver is told of something, in the order of the decisions; what follows
/// from a decision is told to the driver afterwards.
pub trait Handler<P> {
    /// The class of a request. One that is not configured counts as the least important.
    fn classify(&mut self, payload: &mut P) -> ClassId;

    /// Takes note of a decision, made at `now` after such waits.
    fn decided(&mut self, now: Time, id: RequestId, payload: &mut P, decision: Decision, waits: Waits);

    /// Takes note of the place of a visitor that is about to be refused. Only who hands over visitors
    /// ([`SessionHint::Visitor`]) is told.
    fn placed(&mut self, _payload: &mut P, _ticket: Ticket) {}
}

/// A policy with the requests that it decides about, each with a payload `P`.
///
/// A request is held from [`Self::arrive`] until [`Self::finish`] (or [`Self::abort`] while it waits) gives
/// its payload back. Ids are not used again soon: an id that is no longer held is ignored.
#[derive(Debug)]
pub struct Driver<P> {
    policy: Policy,
    held: Slab<Held<P>>,
    generation: u32,
    /// Requests for which the server may be doing nothing, and when that is to be looked at.
    pauses: VecDeque<(Time, RequestId)>,
    /// Requests that keep their places although it does nothing for them, because there are as many without one as
    /// there may be.
    stuck: VecDeque<RequestId>,
    /// Streams that were turned away since the shortage was last told.
    turned_away: usize,
    /// Those that have not been answered, and when they are looked at again.
    looks: Time,
    unanswered: Vec<RequestId>,
}

/// Those that have not been answered are looked at so often.
const LOOK: Span = Span::from_millis(100);

#[derive(Debug)]
struct Held<P> {
    generation: u32,
    status: Status,
    /// Since when the server does nothing for it, as far as is known, and why.
    quiet: Option<(Time, Pause)>,
    payload: P,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Status {
    Waiting,
    Dispatched,
    /// Dispatched, and its place given back.
    Streaming,
    Refused,
}

impl<P> Driver<P> {
    /// A driver without requests. It allocates when more requests are held than ever before.
    pub fn new(policy: Policy) -> Self {
        Self {
            policy,
            held: Slab::new(),
            generation: 0,
            pauses: VecDeque::new(),
            stuck: VecDeque::new(),
            turned_away: 0,
            looks: Time::ZERO,
            unanswered: Vec::new(),
        }
    }

    /// The policy.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// The payload of a request that is held.
    pub fn get(&self, id: RequestId) -> Option<&P> {
        self.entry(id).map(|held| &held.payload)
    }

    /// The payload of a request that is held.
    pub fn get_mut(&mut self, id: RequestId) -> Option<&mut P> {
        self.entry_mut(id).map(|held| &mut held.payload)
    }

    /// Requests that are held, in no order, with their payloads.
    pub fn iter(&self) -> impl Iterator<Item = (RequestId, &P)> {
        self.held.iter().map(|(key, held)| (id(held.generation, key), &held.payload))
    }

    /// A request has arrived; the policy processes it in the next [`Self::cycle`].
    pub fn arrive(
        &mut self,
        now: Time,
        arrival: Arrival,
        payload: P,
        handler: &mut impl Handler<P>,
    ) -> RequestId {
        let Arrival { session, client, kind } = arrival;
        let id = self.hold(Status::Waiting, payload);
        self.handle(now, Input::Arrived { id, session, client, kind }, handler);
        id
    }

    /// The server has begun a request without being told to, because there was room. It is held until [`Self::finish`].
    pub fn begun(
        &mut self,
        now: Time,
        arrival: Arrival,
        class: ClassId,
        payload: P,
        handler: &mut impl Handler<P>,
    ) -> RequestId {
        let Arrival { session, client, kind } = arrival;
        let id = self.hold(Status::Dispatched, payload);
        self.handle(now, Input::Begun { id, session, client, kind, class }, handler);
        id
    }

    fn hold(&mut self, status: Status, payload: P) -> RequestId {
        self.generation = self.generation.wrapping_add(1);
        let generation = self.generation;
        let key = self.held.insert(Held { generation, status, quiet: None, payload });
        id(generation, key)
    }

    /// Whether a request is in the server without a place, because that does nothing for it.
    pub fn is_streaming(&self, id: RequestId) -> bool {
        self.entry(id).is_some_and(|held| held.status == Status::Streaming)
    }

    /// The client has gone. A request that waits, or that was refused, ends with it and gives its payload
    /// back; what the server has begun, it goes on with until [`Self::finish`].
    pub fn abort(&mut self, now: Time, id: RequestId, handler: &mut impl Handler<P>) -> Option<P> {
        match self.entry(id)?.status {
            Status::Dispatched | Status::Streaming => {
                self.handle(now, Input::Aborted { id }, handler);
                None
            }
            Status::Waiting | Status::Refused => self.finish(now, id, handler),
        }
    }

    /// A request has ended: the server is done with it, or the client has been told that it was refused. One
    /// that still waits is withdrawn.
    pub fn finish(&mut self, now: Time, id: RequestId, handler: &mut impl Handler<P>) -> Option<P> {
        self.entry(id)?;
        let held = self.held.try_remove(key(id))?;
        match held.status {
            Status::Waiting => self.handle(now, Input::Aborted { id }, handler),
            Status::Dispatched | Status::Streaming => {
                self.stuck.retain(|stuck| *stuck != id);
                self.handle(now, Input::Finished { id }, handler);
            }
            Status::Refused => {}
        }
        Some(held.payload)
    }

    /// The rest of a dispatched request is still to come from its client: the server waits for it. When that takes
    /// long, the place is given back until [`Self::uploaded`]. Whether [`Self::next_wake`] may be sooner now.
    pub fn uploads(&mut self, now: Time, id: RequestId) -> bool {
        self.pauses(now, id, Pause::Upload)
    }

    /// The server has all of the request.
    pub fn uploaded(&mut self, now: Time, id: RequestId, handler: &mut impl Handler<P>) {
        self.stuck.retain(|stuck| *stuck != id);
        let Some(held) = self.entry_mut(id) else { return };
        held.quiet = None;
        if held.status == Status::Streaming {
            held.status = Status::Dispatched;
            self.handle(now, Input::Resumed { id }, handler);
        }
    }

    /// A piece of a response, or its head, has come, and more is to follow. When that takes long, because the server
    /// is silent or the client does not take what is there, the place is given back; where the server was silent in the last
    /// response to a request of that kind, or `stream` says that it will be in this one, at once. Whether [`Self::next_wake`] may be
    /// sooner now.
    pub fn responds(
        &mut self,
        now: Time,
        id: RequestId,
        stream: Stream,
        handler: &mut impl Handler<P>,
    ) -> bool {
        if self.entry(id).is_none_or(|held| held.status != Status::Dispatched) {
            return false;
        }
        if self.policy.may_release() && self.is_likely_to_stream(id, stream) {
            self.release(now, id, Pause::Response, handler);
            false
        } else {
            self.pauses(now, id, Pause::Taking)
        }
    }

    /// The client has taken all that has come of a response, and the server is silent.
    pub fn is_silent(&mut self, id: RequestId) {
        let Some(held) = self.entry_mut(id) else { return };
        if let Some((_, pause)) = &mut held.quiet {
            *pause = Pause::Response;
        }
    }

    /// Takes back the places of requests for which the server has done nothing for long enough.
    pub fn release_quiet(&mut self, now: Time, handler: &mut impl Handler<P>) {
        while self.policy.may_release()
            && let Some(id) = self.stuck.pop_front()
        {
            self.release_if_quiet(now, id, now, handler);
        }
        while let Some((due, id)) = self.pauses.front().copied().filter(|(due, _)| *due <= now) {
            self.pauses.pop_front();
            self.release_if_quiet(now, id, due, handler);
        }
    }

    /// Takes back the place of a request that has been quiet for long enough at `due`; if it has not, it is looked at
    /// again.
    fn release_if_quiet(&mut self, now: Time, id: RequestId, due: Time, handler: &mut impl Handler<P>) {
        let Some(held) = self.entry(id).filter(|held| held.status == Status::Dispatched) else { return };
        match held.quiet {
            // Something has come meanwhile.
            Some((since, _)) if since + PAUSE > due => self.pauses.push_back((since + PAUSE, id)),
            Some((_, pause)) => self.release(now, id, pause, handler),
            None => {}
        }
    }

    /// Takes back the places of requests that idle in the server, if others wait for them.
    fn release_overtaken(&mut self, now: Time, handler: &mut impl Handler<P>) {
        if now < self.looks || !self.policy.has_waiting() || !self.policy.may_release() {
            return;
        }
        self.looks = now + LOOK;
        let is_unanswered = |held: &Held<P>| held.status == Status::Dispatched && held.quiet.is_none();
        let unanswered = self.held.iter().filter(|(_, held)| is_unanswered(held));
        let ids = unanswered.map(|(key, held)| id(held.generation, key));
        self.unanswered.extend(ids);
        while let Some(id) = self.unanswered.pop() {
            self.policy.suspect(now, id);
            if self.policy.may_release() && self.policy.idles(now, id) {
                self.release(now, id, Pause::Head { overtaken: true }, handler);
            }
        }
    }

    /// Whether a response that is about to begin would keep its place for as long as it lasts: it streams, by what is
    /// known of it, and as many requests go on without a place as may. It is better told to come later.
    pub fn turns_away(
        &mut self,
        now: Time,
        id: RequestId,
        stream: Stream,
        handler: &mut impl Handler<P>,
    ) -> bool {
        if self.policy.may_release() || !self.is_likely_to_stream(id, stream) {
            return false;
        }
        self.turned_away += 1;
        self.tell(now, Input::Released { id, pause: Pause::Response }, handler);
        true
    }

    fn is_likely_to_stream(&self, id: RequestId, stream: Stream) -> bool {
        stream == Stream::Events || self.policy.streams(id)
    }

    /// How many requests without a place would have had to end, since this was asked last, for others to go on without
    /// one: those that were turned away, and those whose places requests wait for.
    pub fn shortage(&mut self, now: Time) -> usize {
        let waiting = if self.policy.has_waiting() { self.stuck(now, PAUSE).count() } else { 0 };
        core::mem::take(&mut self.turned_away) + waiting
    }

    /// Requests for which the server has done nothing for so long and that still have their places, the last of them
    /// first.
    pub fn stuck(&self, now: Time, pause: Span) -> impl Iterator<Item = &P> {
        let held = self.stuck.iter().rev().filter_map(|id| self.entry(*id));
        let quiet = held.filter(move |held| {
            let since = held.quiet.map(|(since, _)| since);
            held.status == Status::Dispatched && since.is_some_and(|since| since + pause <= now)
        });
        quiet.map(|held| &held.payload)
    }

    /// So many requests can go on without a place by what the process has, whatever the configuration says.
    pub fn set_max_streaming(&mut self, most: u32) {
        self.policy.max_streaming = most;
    }

    fn pauses(&mut self, now: Time, id: RequestId, pause: Pause) -> bool {
        let Some(held) = self.entry_mut(id) else { return false };
        if held.status != Status::Dispatched || held.quiet.replace((now, pause)).is_some() {
            return false;
        }
        self.pauses.push_back((now + PAUSE, id));
        self.pauses.len() == 1
    }

    fn release(&mut self, now: Time, id: RequestId, pause: Pause, handler: &mut impl Handler<P>) {
        if !self.policy.may_release() {
            self.stuck.push_back(id);
        } else if let Some(held) = self.entry_mut(id) {
            held.status = Status::Streaming;
        }
        self.tell(now, Input::Released { id, pause }, handler);
    }

    /// Lets the policy process some of what has arrived: all arrivals of one turn of an event loop have
    /// been handed over.
    pub fn cycle(&mut self, now: Time, handler: &mut impl Handler<P>) {
        self.release_overtaken(now, handler);
        self.handle(now, Input::Cycle, handler);
    }

    /// Runs cycles for as long as the policy wants another one at once, `max_cycles` at most. Gives when it
    /// wants the next, [`Time::NEVER`] if not before something happens.
    pub fn turn(&mut self, now: Time, max_cycles: u32, handler: &mut impl Handler<P>) -> Time {
        let mut wake = now;
        for _ in 0..max_cycles {
            self.cycle(now, handler);
            wake = self.next_wake(now);
            if wake > now {
                break;
            }
        }
        wake
    }

    /// When to call [`Self::cycle`] although nothing has happened.
    pub fn next_wake(&self, now: Time) -> Time {
        let quiet = self.pauses.front().map_or(Time::NEVER, |(due, _)| *due);
        self.policy.next_wake(now).min(if self.policy.has_waiting() { quiet } else { Time::NEVER })
    }

    /// How much of the scarcest resource of the process is in use.
    pub fn set_pressure(&mut self, now: Time, used: Ratio, handler: &mut impl Handler<P>) {
        self.handle(now, Input::Pressure(used), handler);
    }

    /// How much of the server is there.
    pub fn set_capacity(&mut self, now: Time, share: Ratio, handler: &mut impl Handler<P>) {
        self.handle(now, Input::Capacity(share), handler);
    }

    /// The operator moved a knob.
    pub fn set_knobs(&mut self, now: Time, knobs: Knobs, handler: &mut impl Handler<P>) {
        self.handle(now, Input::Knobs(knobs), handler);
    }

    /// Another configuration with as many classes. Requests that wait go on waiting in their places, even
    /// in a queue that is longer than its new bound, and what was learnt is kept. From enforcing to shadow
    /// mode everything that waits is dispatched.
    ///
    /// # Errors
    /// When the configuration contradicts itself or has another number of classes; nothing has changed
    /// then.
    pub fn reconfigure(
        &mut self,
        now: Time,
        config: Config,
        handler: &mut impl Handler<P>,
    ) -> Result<(), ConfigError> {
        self.policy.reconfigure(now, config)?;
        self.carry_out(now, handler);
        Ok(())
    }

    fn handle(&mut self, now: Time, input: Input, handler: &mut impl Handler<P>) {
        self.release_quiet(now, handler);
        self.tell(now, input, handler);
    }

    fn tell(&mut self, now: Time, input: Input, handler: &mut impl Handler<P>) {
        self.policy.handle(now, input);
        self.carry_out(now, handler);
    }

    fn carry_out(&mut self, now: Time, handler: &mut impl Handler<P>) {
        while let Some((output, waits)) = self.policy.poll() {
            match output {
                Output::Classify(id) => {
                    let payload = self.get_mut(id);
                    let class = payload.map_or(ClassId(u8::MAX), |payload| handler.classify(payload));
                    self.policy.handle(now, Input::Classified { id, class });
                }
                Output::Dispatch(id) => self.decided(now, id, Decision::Dispatch, waits, handler),
                Output::Reject(id, reason, ticket) => {
                    if let (Some(payload), Some(ticket)) = (self.get_mut(id), ticket) {
                        handler.placed(payload, ticket);
                    }
                    self.decided(now, id, Decision::Refuse(reason), waits, handler);
                }
            }
        }
    }

    fn decided(
        &mut self,
        now: Time,
        id: RequestId,
        decision: Decision,
        waits: Waits,
        handler: &mut impl Handler<P>,
    ) {
        let Some(held) = self.entry_mut(id) else {
            debug_assert!(false, "a decision about {id:?}, which is not held");
            return;
        };
        held.status = match decision {
            Decision::Dispatch => Status::Dispatched,
            Decision::Refuse(_) => Status::Refused,
        };
        handler.decided(now, id, &mut held.payload, decision, waits);
        if decision == Decision::Dispatch && self.policy.may_idle(id) {
            if let Some(held) = self.entry_mut(id) {
                held.status = Status::Streaming;
            }
            // What follows from it is carried out by the loop that this decision is of.
            self.policy.handle(now, Input::Released { id, pause: Pause::Head { overtaken: false } });
        }
    }

    fn entry(&self, id: RequestId) -> Option<&Held<P>> {
        self.held.get(key(id)).filter(|held| held.generation == generation(id))
    }

    fn entry_mut(&mut self, id: RequestId) -> Option<&mut Held<P>> {
        self.held.get_mut(key(id)).filter(|held| held.generation == generation(id))
    }
}

fn id(generation: u32, key: usize) -> RequestId {
    RequestId(u64::from(generation) << 32 | key as u64)
}

fn key(id: RequestId) -> usize {
    (id.0 & u64::from(u32::MAX)) as usize
}

fn generation(id: RequestId) -> u32 {
    (id.0 >> 32) as u32
}
