//! [`Front`]: the policy, driven as `headworks gate` drives it.
//!
//! Arrivals are told at once; the policy processes them in a *cycle*, which ends a turn of the gate's
//! event loop: when everything that happens at one point in time has happened. Reading, deciding and
//! relaying take no time of their own here; what they cost is for the caller to add to what a request
//! needs of the processor.

use std::collections::VecDeque;

use policy::{
    Config, ConfigError, Decision as Decided, Driver, Handler, Kind, KnownSession, Policy, SessionHint, Waits,
};
use units::{ClassId, Ratio, RequestId, Span, Time};

use crate::draw::{Role, Seed};

/// The gate does not sleep for less: its timers have ticks.
const MIN_SLEEP: Span = Span::from_millis(1);

/// The policy and the requests it holds.
#[derive(Debug)]
pub(crate) struct Front {
    driver: Driver<Held>,
    decisions: Decisions,
    /// Something has happened since the last cycle.
    notified: bool,
    /// When the policy wants a cycle although nothing has happened.
    wake: Time,
}

/// A request, as its sender describes it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Arrival {
    /// The sender's name for it.
    pub(crate) request: usize,
    /// What it needs of the processor, in seconds.
    pub(crate) demand: f64,
    /// What the rules say of it.
    pub(crate) ruled: ClassId,
    /// What its token says.
    pub(crate) known: Option<KnownSession>,
    /// The client that sends it.
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
}

/// What is to be done.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Decision {
    /// Send it to the server. By the front's name.
    Dispatch { held: RequestId },
    /// Tell the sender that it is refused. By the sender's name.
    Refuse { request: usize },
}

/// Decisions that are not carried out yet.
#[derive(Debug, Default)]
struct Decisions(VecDeque<(RequestId, Decided)>);

impl Handler<Held> for Decisions {
    fn classify(&mut self, held: &mut Held) -> ClassId {
        held.class
    }

    fn decided(&mut self, _: Time, id: RequestId, _: &mut Held, decided: Decided, _: Waits) {
        self.0.push_back((id, decided));
    }
}

impl Front {
    /// The policy draws other numbers in each replication, and for each seed of its configuration.
    pub(crate) fn new(config: &Config, seed: Seed) -> Result<Self, ConfigError> {
        let seed = seed.number(Role::Policy).wrapping_add(config.seed);
        let policy = Policy::new(Config { seed, ..config.clone() })?;
        Ok(Self {
            driver: Driver::new(policy),
            decisions: Decisions::default(),
            notified: false,
            wake: Time::NEVER,
        })
    }

    /// Takes in a request; gives the front's name for it.
    pub(crate) fn arrive(&mut self, now: Time, arrival: Arrival) -> RequestId {
        let Arrival { request, demand, ruled, known, client, kind } = arrival;
        let session = known.map_or(SessionHint::New, SessionHint::Known);
        let held =
            Held { request: Some(request), demand, class: known.map_or(ruled, |session| session.class) };
        self.notified = true;
        self.driver.arrive(now, policy::Arrival { session, client, kind }, held, &mut self.decisions)
    }

    /// The sender of a request has gone. What the server has begun, it goes on with.
    pub(crate) fn abort(&mut self, now: Time, held: RequestId) {
        let Some(entry) = self.driver.get_mut(held) else { return };
        entry.request = None;
        self.notified = true;
        self.driver.abort(now, held, &mut self.decisions);
    }

    /// The server is done with it; gives the sender's name for it and its class, if the sender still waits.
    pub(crate) fn finish(&mut self, now: Time, held: RequestId) -> Option<(usize, ClassId)> {
        let Held { request, class, .. } = self.driver.finish(now, held, &mut self.decisions)?;
        self.notified = true;
        request.map(|request| (request, class))
    }

    /// What a held request needs of the processor, in seconds.
    pub(crate) fn demand(&self, held: RequestId) -> Option<f64> {
        self.driver.get(held).map(|entry| entry.demand)
    }

    /// The sender's name for a held request, unless the sender has gone.
    pub(crate) fn sender(&self, held: RequestId) -> Option<usize> {
        self.driver.get(held).and_then(|entry| entry.request)
    }

    /// Whether a request is held.
    pub(crate) fn holds(&self, held: RequestId) -> bool {
        self.driver.get(held).is_some()
    }

    /// Whether admitted requests wait for a place in the server.
    pub(crate) fn has_admitted(&self) -> bool {
        self.driver.policy().snapshot().lengths.class > 0
    }

    /// How much of the gate's connections and memory is used.
    pub(crate) fn set_pressure(&mut self, now: Time, used: Ratio) {
        self.notified = true;
        self.driver.set_pressure(now, used, &mut self.decisions);
    }

    /// The next thing to do at `now`.
    pub(crate) fn decision(&mut self, now: Time) -> Option<Decision> {
        loop {
            match self.decisions.0.pop_front()? {
                (held, Decided::Dispatch) => return Some(Decision::Dispatch { held }),
                (held, Decided::Refuse(_)) => {
                    let refused = self.driver.finish(now, held, &mut self.decisions);
                    if let Some(request) = refused.and_then(|held| held.request) {
                        return Some(Decision::Refuse { request });
                    }
                }
            }
        }
    }

    /// A sender has been told of a decision, which ends a turn too.
    pub(crate) fn ring(&mut self) {
        self.notified = true;
    }

    /// Whether a cycle is due as soon as nothing else happens at this point in time.
    pub(crate) fn is_notified(&self) -> bool {
        self.notified
    }

    /// When [`Self::turn`] is to be called although nothing has happened.
    pub(crate) fn wake(&self) -> Time {
        self.wake
    }

    /// A turn of the event loop, and as many more as the policy wants at once.
    pub(crate) fn turn(&mut self, now: Time) {
        let wake = self.driver.turn(now, u32::MAX, &mut self.decisions);
        self.wake = if wake == Time::NEVER { wake } else { wake.max(now + MIN_SLEEP) };
        self.notified = false;
    }
}
