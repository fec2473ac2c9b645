//! [`Front`]: the policy, driven as `headworks gate` drives it.
//!
//! Arrivals are told at once; the policy processes them in a *cycle*, which ends a turn of the gate's
//! event loop: when everything that happens at one point in time has happened. Reading, deciding and
//! relaying take no time of their own here; what they cost is for the caller to add to what a request
//! needs of the processor.

use std::collections::VecDeque;

use policy::{Config, ConfigError, Input, Kind, Output, Policy, SessionHint};
use slab::Slab;
use units::{ClassId, RequestId, Span, Time};

use crate::draw::{Role, Seed};

/// The gate does not sleep for less: its timers have ticks.
const SHORTEST_SLEEP: Span = Span::from_millis(1);

/// The policy and the requests it holds.
#[derive(Debug)]
pub(crate) struct Front {
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
pub(crate) struct Arrival {
    /// The sender's name for it.
    pub(crate) request: usize,
    /// What it needs of the processor, in seconds.
    pub(crate) demand: f64,
    /// What the rules say of it.
    pub(crate) ruled: ClassId,
    /// What its token says.
    pub(crate) known: Option<ClassId>,
    /// Whose it is.
    pub(crate) client: u64,
    /// What it asks for.
    pub(crate) kind: Kind,
}

#[derive(Debug)]
struct Held {
    /// The sender's name for it; `None` when the sender has gone.
    request: Option<usize>,
    demand: f64,
    class: ClassId,
    dispatched: bool,
}

/// What is to be done.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Decision {
    /// Send it to the server. By the front's name.
    Dispatch { held: usize },
    /// Tell the sender that it is refused. By the sender's name.
    Refuse { request: usize },
}

impl Front {
    /// The policy draws other numbers in each replication, and for each seed of its configuration.
    pub(crate) fn new(config: &Config, seed: Seed) -> Result<Self, ConfigError> {
        let seed = seed.number(Role::Policy).wrapping_add(config.seed);
        let policy = Policy::new(Config { seed, ..config.clone() })?;
        Ok(Self { policy, held: Slab::new(), decisions: VecDeque::new(), rung: false, wake: Time::NEVER })
    }

    /// Takes in a request; gives the front's name for it.
    pub(crate) fn arrive(&mut self, now: Time, arrival: Arrival) -> usize {
        let Arrival { request, demand, ruled, known, client, kind } = arrival;
        let class = known.unwrap_or(ruled);
        let held = self.held.insert(Held { request: Some(request), demand, class, dispatched: false });
        let session = known.map_or(SessionHint::New, SessionHint::Known);
        self.handle(now, Input::Arrived { id: id(held), session, client, kind });
        held
    }

    /// Whoever sent it has gone. What the server has begun, it goes on with.
    pub(crate) fn abort(&mut self, now: Time, held: usize) {
        let Some(entry) = self.held.get_mut(held) else { return };
        entry.request = None;
        if !entry.dispatched {
            self.held.remove(held);
        }
        self.handle(now, Input::Aborted { id: id(held) });
    }

    /// The server is done with it; gives the sender's name for it and its class, if somebody still waits.
    pub(crate) fn finish(&mut self, now: Time, held: usize) -> Option<(usize, ClassId)> {
        let entry = self.held.try_remove(held)?;
        self.handle(now, Input::Finished { id: id(held) });
        entry.request.map(|request| (request, entry.class))
    }

    /// What a held request needs of the processor, in seconds.
    pub(crate) fn demand(&self, held: usize) -> Option<f64> {
        self.held.get(held).map(|entry| entry.demand)
    }

    /// The sender's name for a held request, unless the sender has gone.
    pub(crate) fn sender(&self, held: usize) -> Option<usize> {
        self.held.get(held).and_then(|entry| entry.request)
    }

    /// The next thing to do.
    pub(crate) fn decision(&mut self) -> Option<Decision> {
        self.decisions.pop_front()
    }

    /// Somebody has been told of a decision, which ends a turn too.
    pub(crate) fn ring(&mut self) {
        self.rung = true;
    }

    /// Whether a cycle is due as soon as nothing else happens at this point in time.
    pub(crate) fn is_rung(&self) -> bool {
        self.rung
    }

    /// When [`Self::turn`] is to be called although nothing has happened.
    pub(crate) fn wake(&self) -> Time {
        self.wake
    }

    /// A turn of the event loop, and as many more as the policy wants at once.
    pub(crate) fn turn(&mut self, now: Time) {
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
