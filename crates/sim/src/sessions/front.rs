//! [`Front`]: the policy, driven as `headworks gate` drives it.
//!
//! Arrivals are told at once; the policy processes them in a *cycle*, which ends a turn of the gate's
//! event loop: when everything that happens at one point in time has happened. Reading, deciding and
//! relaying take no time of their own here; what they cost is part of what a request needs of the
//! processor ([`Gate::cost`]).

use std::collections::VecDeque;

use policy::{Input, Output, Policy, SessionHint};
use slab::Slab;
use units::{ClassId, RequestId, Span, Time};

use super::model::{Gate, SessionModelError};
use crate::draw::{Role, Seed};

/// The gate does not sleep for less: its timers have ticks.
const SHORTEST_SLEEP: Span = Span::from_millis(1);

/// The policy and the requests it holds.
#[derive(Debug)]
pub(super) struct Front {
    policy: Policy,
    held: Slab<Held>,
    decisions: VecDeque<Decision>,
    /// Something has happened since the last cycle.
    rung: bool,
    /// When the policy wants a cycle although nothing has happened.
    wake: Time,
}

/// A request, as whoever sends it describes it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Arrival {
    /// The sender's name for it.
    pub(super) request: usize,
    pub(super) object: usize,
    /// What the rules say of it.
    pub(super) ruled: ClassId,
    /// What its token says.
    pub(super) known: Option<ClassId>,
    /// Whose it is.
    pub(super) client: u64,
}

#[derive(Debug)]
struct Held {
    /// The sender's name for it; `None` when the sender has gone.
    request: Option<usize>,
    object: usize,
    class: ClassId,
    dispatched: bool,
}

/// What is to be done.
#[derive(Debug, Clone, Copy)]
pub(super) enum Decision {
    /// Send it to the server. By the front's name.
    Dispatch { held: usize },
    /// Tell the sender that it is refused. By the sender's name.
    Refuse { request: usize },
}

impl Front {
    /// The policy draws other numbers in each replication, and for each seed of its configuration.
    pub(super) fn new(gate: &Gate, seed: Seed) -> Result<Self, SessionModelError> {
        let seed = seed.number(Role::Policy).wrapping_add(gate.policy.seed);
        let policy = Policy::new(policy::Config { seed, ..gate.policy.clone() })?;
        Ok(Self { policy, held: Slab::new(), decisions: VecDeque::new(), rung: false, wake: Time::NEVER })
    }

    /// Takes in a request; gives the front's name for it.
    pub(super) fn arrive(&mut self, now: Time, arrival: Arrival) -> usize {
        let Arrival { request, object, ruled, known, client } = arrival;
        let class = known.unwrap_or(ruled);
        let held = self.held.insert(Held { request: Some(request), object, class, dispatched: false });
        let session = known.map_or(SessionHint::New, SessionHint::Known);
        self.handle(now, Input::Arrived { id: id(held), session, client });
        held
    }

    /// Whoever sent it has gone. What the server has begun, it goes on with.
    pub(super) fn abort(&mut self, now: Time, held: usize) {
        let Some(entry) = self.held.get_mut(held) else { return };
        entry.request = None;
        if !entry.dispatched {
            self.held.remove(held);
        }
        self.handle(now, Input::Aborted { id: id(held) });
    }

    /// The server is done with it; gives the sender's name for it and its class, if somebody still waits.
    pub(super) fn finish(&mut self, now: Time, held: usize) -> Option<(usize, ClassId)> {
        let entry = self.held.try_remove(held)?;
        self.handle(now, Input::Finished { id: id(held) });
        entry.request.map(|request| (request, entry.class))
    }

    /// What a held request asks for.
    pub(super) fn object(&self, held: usize) -> Option<usize> {
        self.held.get(held).map(|entry| entry.object)
    }

    /// The next thing to do.
    pub(super) fn decision(&mut self) -> Option<Decision> {
        self.decisions.pop_front()
    }

    /// Somebody has been told of a decision, which ends a turn too.
    pub(super) fn ring(&mut self) {
        self.rung = true;
    }

    /// Whether a cycle is due as soon as nothing else happens at this point in time.
    pub(super) fn is_rung(&self) -> bool {
        self.rung
    }

    /// When [`Self::turn`] is to be called although nothing has happened.
    pub(super) fn wake(&self) -> Time {
        self.wake
    }

    /// A turn of the event loop, and as many more as the policy wants at once.
    pub(super) fn turn(&mut self, now: Time) {
        loop {
            self.handle(now, Input::Cycle);
            let wake = self.policy.next_wake(now);
            if wake > now {
                self.wake = if wake == Time::NEVER { wake } else { wake.max(now + SHORTEST_SLEEP) };
                break;
            }
        }
        self.rung = false;
    }

    fn handle(&mut self, now: Time, input: Input) {
        self.rung = true;
        self.policy.handle(now, input);
        while let Some(output) = self.policy.poll() {
            match output {
                Output::Classify(id) => {
                    let class = self.held.get(key(id)).map_or(ClassId(u8::MAX), |held| held.class);
                    self.policy.handle(now, Input::Classified { id, class });
                }
                Output::Dispatch(id) => {
                    let Some(held) = self.held.get_mut(key(id)) else { continue };
                    held.dispatched = true;
                    self.decisions.push_back(Decision::Dispatch { held: key(id) });
                }
                Output::Reject(id, _) => {
                    let Some(held) = self.held.try_remove(key(id)) else { continue };
                    let Some(request) = held.request else { continue };
                    self.decisions.push_back(Decision::Refuse { request });
                }
            }
        }
    }
}

fn id(held: usize) -> RequestId {
    RequestId(held as u64)
}

fn key(id: RequestId) -> usize {
    id.0 as usize
}
