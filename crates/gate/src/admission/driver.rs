//! [`AdmissionDriver`]: the policy's driver with the requests of clients, and what the gate does about its decisions.
//!
//! Everything happens on one thread. Connections tell the admission driver what happened; it tells the policy's driver, and
//! decisions wake the tasks of the requests concerned. Arrivals are processed when [`AdmissionDriver::turn`] is called,
//! which the turn of the event loop does after all connections that were ready have had theirs; requests
//! that arrive while the admission driver [is calm](AdmissionDriver::is_calm) are processed at once.

use std::net::IpAddr;
use std::task::{Context, Poll};

use http::request::Parts;
use policy::connections::ConnectionId;
use policy::{Arrival, Config, ConfigError, Driver, Handler as _, Kind, Knobs, Mode, Policy, Stage, Stream};
use units::{ClassId, Ratio, RequestId, SessionId, Span, Time};

use crate::admission::decision::{Caller, DecisionDetails};
use crate::admission::held::{Held, Shared, Wakes};
use crate::admission::lately::Lately;
use crate::admission::second::{Second, Seconds};
use crate::admission::stage_latency::Stages;
use crate::runtime::network::network;
use gate_config::rules::all::Rules;
use gate_config::settings::client::STREAMING;

/// The policy's driver with the requests of clients that wait for a decision or are in service.
#[derive(Debug)]
pub(crate) struct AdmissionDriver {
    driver: Driver<Held>,
    rules: Rules,
    stages: Stages,
    seconds: Seconds,
    lately: Lately,
    shared: Shared,
}

/// Requests that keep others from their places, and nothing can be done about it but to end some.
#[derive(Debug)]
pub(crate) struct Shortage {
    /// So many have to end.
    pub(crate) wanted: usize,
    /// Those that are to end where no client is slow.
    pub(crate) stuck: Vec<ConnectionId>,
}

/// What was decided about a request.
#[derive(Debug)]
pub(crate) enum Decision {
    /// Send this to the server.
    Dispatch(Box<Parts>, DecisionDetails),
    /// Refuse it; the head is gone only if the request is no longer held.
    Refuse(Option<Box<Parts>>, DecisionDetails),
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

impl AdmissionDriver {
    pub(crate) fn new(policy: Policy, rules: Rules, now: Time) -> Self {
        let classes = policy.config().classes.len();
        Self {
            driver: Driver::new(policy),
            rules,
            stages: Stages::new(classes),
            seconds: Seconds::new(classes),
            lately: Lately::beginning(now),
            shared: Shared::default(),
        }
    }

    pub(crate) fn policy(&self) -> &Policy {
        self.driver.policy()
    }

    pub(crate) fn stages(&self) -> &Stages {
        &self.stages
    }

    /// How long requests took that ended since this was last asked, by class.
    pub(crate) fn take_second(&mut self) -> Vec<Second> {
        self.seconds.take()
    }

    /// The requests of the last minutes.
    pub(crate) fn lately(&self) -> &Lately {
        &self.lately
    }

    /// A session begins with a request that is held.
    pub(crate) fn begins(&mut self, id: RequestId, session: SessionId) {
        if let Some(held) = self.driver.get_mut(id) {
            held.session = Some(session);
        }
    }

    /// Requests that wait for a decision.
    pub(crate) fn waiting(&self) -> usize {
        self.policy().held().saturating_sub(self.policy().snapshot().in_service as usize)
    }

    /// Each of them, in no order.
    pub(crate) fn waiting_requests(&self) -> impl Iterator<Item = Waiting<'_>> {
        self.driver.iter().filter_map(|(id, held)| {
            let head = held.head.as_ref()?;
            if held.dispatched.is_some() || held.refused.is_some() {
                return None;
            }
            let (class, arrived, address) = (held.class, held.arrived, held.address);
            Some(Waiting { id, class, stage: self.policy().stage(id), arrived, address, head })
        })
    }

    /// Takes in a request.
    pub(crate) fn arrive(
        &mut self,
        now: Time,
        head: Box<Parts>,
        (connection, address): (ConnectionId, IpAddr),
        caller: Caller,
    ) -> RequestId {
        let kind = Kind::of(head.method.as_str(), head.uri.path());
        let session = caller.hint();
        let held = Held::arriving(now, head, (connection, address), (caller, kind));
        let (driver, mut wakes) = self.parts(now);
        driver.arrive(now, Arrival { session, client: network(address), kind }, held, &mut wakes)
    }

    /// Takes in a request that the server has begun without being told to.
    pub(crate) fn begun(
        &mut self,
        now: Time,
        head: Box<Parts>,
        address: IpAddr,
        caller: Caller,
    ) -> (RequestId, DecisionDetails) {
        let kind = Kind::of(head.method.as_str(), head.uri.path());
        let session = caller.hint();
        let mut held = Held::arriving(now, head, (ConnectionId::default(), address), (caller, kind));
        let (driver, mut wakes) = self.parts(now);
        let class = wakes.classify(&mut held);
        (held.head, held.dispatched, held.shared) = (None, Some(now), wakes.shared);
        let details = held.details();
        let arrival = Arrival { session, client: network(address), kind };
        (driver.begun(now, arrival, class, held, &mut wakes), details)
    }

    /// Whether so few requests are held that the next can be let in without a look at the others that come
    /// in its turn. Where there are more, to let in many one after the other also takes less of the processor's time
    /// than each between other work.
    pub(crate) fn is_calm(&self) -> bool {
        self.policy().held() < self.policy().window() as usize / 2
    }

    /// Whether requests wait, so that there is something to do in the turn.
    pub(crate) fn has_waiting(&self) -> bool {
        self.policy().has_waiting()
    }

    /// The decision about a request, once it is made.
    pub(crate) fn poll_decision(&mut self, id: RequestId, cx: &mut Context<'_>) -> Poll<Decision> {
        let Some(held) = self.driver.get_mut(id) else {
            // A decision is taken up once; a request that is not held could not be sent anywhere.
            return Poll::Ready(Decision::Refuse(None, DecisionDetails::UNKNOWN));
        };
        if held.refused.is_some() {
            return Poll::Ready(Decision::Refuse(held.head.take(), held.details()));
        }
        if held.dispatched.is_some()
            && let Some(head) = held.head.take()
        {
            return Poll::Ready(Decision::Dispatch(head, held.details()));
        }
        match &mut held.waiting {
            Some(waker) => waker.clone_from(cx.waker()),
            waiting => *waiting = Some(cx.waker().clone()),
        }
        Poll::Pending
    }

    /// The client has gone. What the server has begun, it goes on with.
    pub(crate) fn abort(&mut self, now: Time, id: RequestId) {
        let (driver, mut wakes) = self.parts(now);
        if let Some(held) = driver.get_mut(id) {
            held.gave_up.get_or_insert(now);
        }
        if let Some(held) = driver.abort(now, id, &mut wakes) {
            self.lately.add(now, held.past(now, Span::ZERO));
        }
    }

    /// The server is done with a request, or it was refused and the client told.
    pub(crate) fn finish(&mut self, now: Time, id: RequestId) {
        let (driver, mut wakes) = self.parts(now);
        // A server that does nothing for a request gives it no share, and how long that lasts says nothing about the server.
        let streamed = driver.is_streaming(id);
        let Some(held) = driver.finish(now, id, &mut wakes) else { return };
        let share = self.shared.each.saturating_sub(held.shared);
        let share = if streamed || held.dispatched.is_none() { Span::ZERO } else { share };
        self.lately.add(now, held.past(now, share));
        if let (Some(dispatched), Some(class)) = (held.dispatched, held.class) {
            self.stages.finished(class, &held.waits, held.arrived, dispatched, now);
            if !streamed {
                self.seconds.served(class, &held.waits, now.since(held.arrived), now.since(dispatched));
            }
        }
    }

    /// The rest of a dispatched request is still to come from its client.
    /// Whether the turn is to come sooner because of it.
    pub(crate) fn uploads(&mut self, now: Time, id: RequestId) -> bool {
        self.driver.uploads(now, id) && self.has_waiting()
    }

    /// The server has all of a request.
    pub(crate) fn uploaded(&mut self, now: Time, id: RequestId) {
        let (driver, mut wakes) = self.parts(now);
        driver.uploaded(now, id, &mut wakes);
    }

    /// A piece of a response has come, and more is to follow.
    /// Whether the turn is to come sooner because of it.
    pub(crate) fn responds(&mut self, now: Time, id: RequestId, stream: Stream) -> bool {
        let (driver, mut wakes) = self.parts(now);
        driver.responds(now, id, stream, &mut wakes) && self.has_waiting()
    }

    /// The client has taken all that has come of a response, and the server is silent.
    pub(crate) fn is_silent(&mut self, id: RequestId) {
        self.driver.is_silent(id);
    }

    /// There may be so many connections, of clients and to the upstream.
    pub(crate) fn set_connections(&mut self, most: usize) {
        self.driver.set_max_streaming((most as f64 * STREAMING) as u32);
    }

    /// Whether a response that is about to begin is better told to come later: see [`Driver::turns_away`].
    pub(crate) fn turns_away(&mut self, now: Time, id: RequestId, stream: Stream) -> bool {
        let (driver, mut wakes) = self.parts(now);
        driver.turns_away(now, id, stream, &mut wakes)
    }

    /// Takes back the places of requests for which the server has done nothing for long enough; gives what it cannot
    /// take back.
    pub(crate) fn release_quiet(&mut self, now: Time) -> Shortage {
        /// A server that is silent in its response for less may be working on it, which the place is for.
        const MAX_STUCK: Span = Span::from_secs(2);
        let (driver, mut wakes) = self.parts(now);
        driver.release_quiet(now, &mut wakes);
        let wanted = driver.shortage(now);
        let stuck = driver.stuck(now, MAX_STUCK).map(|held| held.connection).take(wanted);
        Shortage { stuck: stuck.collect(), wanted }
    }

    /// Lets the policy process some of what has arrived.
    pub(crate) fn cycle(&mut self, now: Time) {
        let (driver, mut wakes) = self.parts(now);
        driver.cycle(now, &mut wakes);
    }

    /// Lets the policy process what has arrived in a turn of the event loop: gives when it wants the next
    /// although nothing happens.
    pub(crate) fn turn(&mut self, now: Time, max_cycles: u32) -> Time {
        let (driver, mut wakes) = self.parts(now);
        driver.turn(now, max_cycles, &mut wakes)
    }

    pub(crate) fn set_pressure(&mut self, now: Time, used: Ratio) {
        let (driver, mut wakes) = self.parts(now);
        driver.set_pressure(now, used, &mut wakes);
    }

    pub(crate) fn set_capacity(&mut self, now: Time, share: Ratio) {
        let (driver, mut wakes) = self.parts(now);
        driver.set_capacity(now, share, &mut wakes);
    }

    pub(crate) fn set_knobs(&mut self, now: Time, knobs: Knobs) {
        let (driver, mut wakes) = self.parts(now);
        driver.set_knobs(now, knobs, &mut wakes);
    }

    /// Whether it decides, or only says what it would have decided.
    ///
    /// # Errors
    /// As [`Driver::reconfigure`]; nothing has changed then.
    pub(crate) fn set_mode(&mut self, now: Time, mode: Mode) -> Result<(), ConfigError> {
        let (config, rules) = (Config { mode, ..self.policy().config().clone() }, self.rules.clone());
        self.reconfigure(now, config, rules)
    }

    /// Another configuration and other rules; requests that wait go on waiting.
    ///
    /// # Errors
    /// As [`Driver::reconfigure`]; nothing has changed then.
    pub(crate) fn reconfigure(&mut self, now: Time, config: Config, rules: Rules) -> Result<(), ConfigError> {
        let last = self.last_class();
        self.shared.advance(now, self.policy().taken());
        self.driver.reconfigure(now, config, &mut Wakes { rules: &rules, last, shared: self.shared.each })?;
        self.rules = rules;
        Ok(())
    }

    fn parts(&mut self, now: Time) -> (&mut Driver<Held>, Wakes<'_>) {
        let last = self.last_class();
        self.shared.advance(now, self.policy().taken());
        (&mut self.driver, Wakes { rules: &self.rules, last, shared: self.shared.each })
    }

    fn last_class(&self) -> ClassId {
        ClassId((self.policy().config().classes.len() - 1) as u8)
    }
}
