//! [`Core`]: the policy, the requests it holds, and the one place that carries out what it
//! decides.
//!
//! Everything happens on one thread. Connections tell the core what happened; it asks the policy
//! and wakes those concerned. Arrivals are processed when [`Core::cycle`] is called, which the
//! turn of the event loop does after all connections that were ready have had theirs, and whoever
//! arrives while it [is calm](Core::is_calm) does at once.

use std::net::IpAddr;
use std::task::{Context, Poll, Waker};

use http::request::Parts;
use policy::{Config, ConfigError, Input, Kind, Knobs, Output, Policy, Reason, SessionHint, Stage, Waits};
use slab::Slab;
use units::{ClassId, Ratio, RequestId, Time};

use crate::admission::decision::{Basis, Known, Verdict};
use crate::admission::stage_latency::Stages;
use crate::clients::peer::ServerName;
use crate::rules::Rules;
use crate::rules::subject::Subject;
use crate::runtime::network::network;

/// The policy with its requests.
#[derive(Debug)]
pub(crate) struct Core {
    policy: Policy,
    rules: Rules,
    held: Slab<Held>,
    generation: u32,
    stages: Stages,
}

/// A request the policy decides about.
#[derive(Debug)]
struct Held {
    generation: u32,
    /// Until it is dispatched or refused.
    head: Option<Box<Parts>>,
    address: IpAddr,
    class: Option<ClassId>,
    basis: Basis,
    arrived: Time,
    dispatched: Option<Time>,
    refused: Option<Reason>,
    /// Until the decision.
    waits: Waits,
    waiting: Option<Waker>,
}

/// What was decided about a request.
#[derive(Debug)]
pub(crate) enum Decision {
    /// Send this to the server.
    Dispatch(Box<Parts>, Verdict),
    /// Refuse it; the head is gone only if nobody knows of the request any more.
    Refuse(Option<Box<Parts>>, Verdict),
}

/// A request that waits for a decision.
#[derive(Debug)]
pub(crate) struct Waiting<'a> {
    pub(crate) id: RequestId,
    pub(crate) class: Option<ClassId>,
    pub(crate) stage: Option<Stage>,
    pub(crate) arrived: Time,
    pub(crate) address: IpAddr,
    pub(crate) head: &'a Parts,
}

impl Core {
    pub(crate) fn new(policy: Policy, rules: Rules) -> Self {
        let stages = Stages::new(policy.config().classes.len());
        Self { policy, rules, held: Slab::new(), generation: 0, stages }
    }

    pub(crate) fn policy(&self) -> &Policy {
        &self.policy
    }

    pub(crate) fn stages(&self) -> &Stages {
        &self.stages
    }

    /// Requests that wait for a decision.
    pub(crate) fn waiting(&self) -> usize {
        self.policy.held().saturating_sub(self.policy.snapshot().in_service as usize)
    }

    /// Each of them, in no order.
    pub(crate) fn waiting_requests(&self) -> impl Iterator<Item = Waiting<'_>> {
        self.held.iter().filter_map(|(key, held)| {
            let head = held.head.as_ref()?;
            if held.dispatched.is_some() || held.refused.is_some() {
                return None;
            }
            let id = RequestId(u64::from(held.generation) << 32 | key as u64);
            let (class, arrived, address) = (held.class, held.arrived, held.address);
            Some(Waiting { id, class, stage: self.policy.stage(id), arrived, address, head })
        })
    }

    /// Takes in a request.
    pub(crate) fn arrive(
        &mut self,
        now: Time,
        head: Box<Parts>,
        address: IpAddr,
        known: Option<Known>,
    ) -> RequestId {
        self.generation = self.generation.wrapping_add(1);
        let generation = self.generation;
        let kind = Kind::of(head.method.as_str(), head.uri.path());
        let key = self.held.insert(Held {
            generation,
            head: Some(head),
            address,
            class: known.map(|known| known.class),
            basis: known.map_or(Basis::Unknown, |known| known.basis),
            arrived: now,
            dispatched: None,
            refused: None,
            waits: Waits::ZERO,
            waiting: None,
        });
        let id = RequestId(u64::from(generation) << 32 | key as u64);
        let session = known.map_or(SessionHint::New, |known| SessionHint::Known(known.class));
        self.handle(now, Input::Arrived { id, session, client: network(address), kind });
        id
    }

    /// Whether so few requests are held that whoever comes can be let in without a look at who else comes
    /// in the same turn.
    pub(crate) fn is_calm(&self) -> bool {
        self.policy.held() < self.policy.window() as usize / 2
    }

    /// Whether anybody waits, so that there is something to do in the turn.
    pub(crate) fn has_waiting(&self) -> bool {
        self.policy.has_waiting()
    }

    /// The decision about a request, once it is made.
    pub(crate) fn poll_decision(&mut self, id: RequestId, cx: &mut Context<'_>) -> Poll<Decision> {
        let Some(held) = self.get(id) else {
            // Nobody asks twice; a request that is not held could not be sent anywhere.
            return Poll::Ready(Decision::Refuse(None, Verdict::UNKNOWN));
        };
        if held.refused.is_some() {
            return Poll::Ready(Decision::Refuse(held.head.take(), held.verdict()));
        }
        if held.dispatched.is_some()
            && let Some(head) = held.head.take()
        {
            return Poll::Ready(Decision::Dispatch(head, held.verdict()));
        }
        match &mut held.waiting {
            Some(waker) => waker.clone_from(cx.waker()),
            waiting => *waiting = Some(cx.waker().clone()),
        }
        Poll::Pending
    }

    /// The client has gone. What the server has begun, it goes on with.
    pub(crate) fn abort(&mut self, now: Time, id: RequestId) {
        let Some(held) = self.get(id) else { return };
        if held.refused.is_some() {
            self.release(id);
            return;
        }
        let in_service = held.dispatched.is_some();
        self.handle(now, Input::Aborted { id });
        if !in_service {
            self.release(id);
        }
    }

    /// The server is done with a request, or it was refused and the client told.
    pub(crate) fn finish(&mut self, now: Time, id: RequestId) {
        let Some(held) = self.release(id) else { return };
        let (Some(dispatched), Some(class)) = (held.dispatched, held.class) else { return };
        self.stages.finished(class, &held.waits, held.arrived, dispatched, now);
        self.handle(now, Input::Finished { id });
    }

    /// Ends a turn of the event loop.
    pub(crate) fn cycle(&mut self, now: Time) {
        self.handle(now, Input::Cycle);
    }

    pub(crate) fn set_pressure(&mut self, now: Time, used: Ratio) {
        self.handle(now, Input::Pressure(used));
    }

    pub(crate) fn set_capacity(&mut self, now: Time, share: Ratio) {
        self.handle(now, Input::Capacity(share));
    }

    pub(crate) fn set_knobs(&mut self, now: Time, knobs: Knobs) {
        self.handle(now, Input::Knobs(knobs));
    }

    /// When the policy wants [`Core::cycle`] to be called although nothing has happened.
    pub(crate) fn next_wake(&self, now: Time) -> Time {
        self.policy.next_wake(now)
    }

    /// Another configuration and other rules; whoever waits goes on waiting.
    ///
    /// # Errors
    /// As [`Policy::reconfigure`]; nothing has changed then.
    pub(crate) fn reconfigure(&mut self, now: Time, config: Config, rules: Rules) -> Result<(), ConfigError> {
        self.policy.reconfigure(now, config)?;
        self.rules = rules;
        self.carry_out(now);
        Ok(())
    }

    fn handle(&mut self, now: Time, input: Input) {
        self.policy.handle(now, input);
        self.carry_out(now);
    }

    fn carry_out(&mut self, now: Time) {
        while let Some((output, waits)) = self.policy.poll_with_waits() {
            match output {
                Output::Classify(id) => {
                    let class = self.classify(id);
                    self.policy.handle(now, Input::Classified { id, class });
                }
                Output::Dispatch(id) => self.dispatch(now, id, waits),
                Output::Reject(id, reason) => {
                    let Some(held) = self.get(id) else { continue };
                    (held.refused, held.waits) = (Some(reason), waits);
                    wake(held);
                }
            }
        }
    }

    fn dispatch(&mut self, now: Time, id: RequestId, waits: Waits) {
        // In shadow mode a request goes to the server before the policy asks for its class.
        let class = self.classify(id);
        let Some(held) = self.get(id) else { return };
        held.class = Some(class);
        held.dispatched = Some(now);
        held.waits = waits;
        wake(held);
    }

    fn classify(&mut self, id: RequestId) -> ClassId {
        let last = ClassId((self.policy.config().classes.len() - 1) as u8);
        let Some(held) = self.held.get_mut(key(id)).filter(|held| held.generation == generation(id)) else {
            return last;
        };
        if let Some(class) = held.class {
            return class;
        }
        let found = held.head.as_deref().and_then(|head| {
            let Parts { method, uri, headers, .. } = head;
            self.rules.find(Subject {
                method,
                uri,
                headers,
                address: held.address,
                server_name: ServerName::of(head),
                session: None,
            })
        });
        let (class, basis) = match found {
            Some((index, class)) => (class, Basis::Rule(index)),
            None => (last, Basis::Last),
        };
        (held.class, held.basis) = (Some(class), basis);
        class
    }

    fn get(&mut self, id: RequestId) -> Option<&mut Held> {
        self.held.get_mut(key(id)).filter(|held| held.generation == generation(id))
    }

    fn release(&mut self, id: RequestId) -> Option<Held> {
        self.get(id)?;
        self.held.try_remove(key(id))
    }
}

impl Held {
    fn verdict(&self) -> Verdict {
        Verdict { class: self.class, basis: self.basis, refused: self.refused, waits: self.waits }
    }
}

fn wake(held: &mut Held) {
    if let Some(waker) = held.waiting.take() {
        waker.wake();
    }
}

fn key(id: RequestId) -> usize {
    (id.0 & u64::from(u32::MAX)) as usize
}

fn generation(id: RequestId) -> u32 {
    (id.0 >> 32) as u32
}
