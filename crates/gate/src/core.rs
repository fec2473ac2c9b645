//! [`Core`]: the policy, the requests it holds, and the one place that carries out what it
//! decides.
//!
//! Everything happens on one thread. Connections tell the core what happened; it asks the policy
//! and wakes those concerned. Arrivals are processed when [`Core::cycle`] is called, which the
//! turn of the event loop does after all connections that were ready have had theirs.

use std::net::IpAddr;
use std::task::{Context, Poll, Waker};

use http::request::Parts;
use policy::{Input, Knobs, Output, Policy, SessionHint};
use slab::Slab;
use units::{ClassId, Ratio, RequestId, Time};

use crate::classify::{Rules, Subject};
use crate::stages::Stages;

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
    head: Option<Parts>,
    address: IpAddr,
    class: Option<ClassId>,
    arrived: Time,
    dispatched: Option<Time>,
    refused: bool,
    waiting: Option<Waker>,
}

/// What was decided about a request.
#[derive(Debug)]
pub(crate) enum Decision {
    /// Send this to the server; it is of that class.
    Dispatch(Box<Parts>, ClassId),
    /// Refuse it.
    Refuse,
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

    /// Takes in a request.
    pub(crate) fn arrive(
        &mut self,
        now: Time,
        head: Parts,
        address: IpAddr,
        known: Option<ClassId>,
    ) -> RequestId {
        self.generation = self.generation.wrapping_add(1);
        let generation = self.generation;
        let key = self.held.insert(Held {
            generation,
            head: Some(head),
            address,
            class: known,
            arrived: now,
            dispatched: None,
            refused: false,
            waiting: None,
        });
        let id = RequestId(u64::from(generation) << 32 | key as u64);
        let session = known.map_or(SessionHint::New, SessionHint::Known);
        self.handle(now, Input::Arrived { id, session, client: client(address) });
        id
    }

    /// The decision about a request, once it is made.
    pub(crate) fn poll_decision(&mut self, id: RequestId, cx: &mut Context<'_>) -> Poll<Decision> {
        let last = ClassId((self.policy.config().classes.len() - 1) as u8);
        let Some(held) = self.get(id) else {
            // Nobody asks twice; a request that is not held could not be sent anywhere.
            return Poll::Ready(Decision::Refuse);
        };
        if held.refused {
            return Poll::Ready(Decision::Refuse);
        }
        if held.dispatched.is_some()
            && let Some(head) = held.head.take()
        {
            return Poll::Ready(Decision::Dispatch(Box::new(head), held.class.unwrap_or(last)));
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
        if held.refused {
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
        self.stages.finished(class, held.arrived, dispatched, now);
        self.handle(now, Input::Finished { id });
    }

    /// Ends a turn of the event loop.
    pub(crate) fn cycle(&mut self, now: Time) {
        self.handle(now, Input::Cycle);
    }

    pub(crate) fn set_pressure(&mut self, now: Time, used: Ratio) {
        self.handle(now, Input::Pressure(used));
    }

    pub(crate) fn set_knobs(&mut self, now: Time, knobs: Knobs) {
        self.handle(now, Input::Knobs(knobs));
    }

    /// When the policy wants [`Core::cycle`] to be called although nothing has happened.
    pub(crate) fn next_wake(&self, now: Time) -> Time {
        self.policy.next_wake(now)
    }

    fn handle(&mut self, now: Time, input: Input) {
        self.policy.handle(now, input);
        while let Some(output) = self.policy.poll() {
            match output {
                Output::Classify(id) => {
                    let class = self.classify(id);
                    self.policy.handle(now, Input::Classified { id, class });
                }
                Output::Dispatch(id) => self.dispatch(now, id),
                Output::Reject(id, _) => {
                    let Some(held) = self.get(id) else { continue };
                    held.refused = true;
                    wake(held);
                }
            }
        }
    }

    fn dispatch(&mut self, now: Time, id: RequestId) {
        // In shadow mode a request goes to the server before the policy asks for its class.
        let class = self.classify(id);
        let Some(held) = self.get(id) else { return };
        held.class = Some(class);
        held.dispatched = Some(now);
        wake(held);
    }

    fn classify(&mut self, id: RequestId) -> ClassId {
        let last = ClassId((self.policy.config().classes.len() - 1) as u8);
        let Some(held) = self.held.get_mut(key(id)).filter(|held| held.generation == generation(id)) else {
            return last;
        };
        let known = held.class.or_else(|| {
            let head = held.head.as_ref()?;
            let Parts { method, uri, headers, .. } = head;
            self.rules.classify(Subject { method, uri, headers, address: held.address })
        });
        let class = known.unwrap_or(last);
        held.class = Some(class);
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

/// Whose request it is: an address of IPv4, or a network of IPv6, of which a household gets a
/// whole one (RFC 6177).
fn client(address: IpAddr) -> u64 {
    match address.to_canonical() {
        IpAddr::V4(address) => u64::from(address.to_bits()),
        IpAddr::V6(address) => (address.to_bits() >> 64) as u64,
    }
}
