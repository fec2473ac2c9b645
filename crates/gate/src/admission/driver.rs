//! [`AdmissionDriver`]: the policy's driver with the requests of clients, and what the gate does about its decisions.
//!
//! Everything happens on one thread. Connections tell the admission driver what happened; it tells the policy's driver, and
//! decisions wake the tasks of the requests concerned. Arrivals are processed when [`AdmissionDriver::turn`] is called,
//! which the turn of the event loop does after all connections that were ready have had theirs; requests
//! that arrive while the admission driver [is calm](AdmissionDriver::is_calm) are processed at once.

use std::net::IpAddr;
use std::task::{Context, Poll, Waker};

use http::request::Parts;
use policy::connections::ConnectionId;
use policy::{
    Arrival, Config, ConfigError, Decision as Decided, Driver, Handler, Kind, Knobs, Policy, Reason, Stage,
    Stream, Ticket, Waits,
};
use units::{ClassId, Ratio, RequestId, Span, Time};

use crate::admission::decision::{Basis, Caller, DecisionDetails};
use crate::admission::stage_latency::Stages;
use crate::clients::peer::ServerName;
use crate::runtime::network::network;
use gate_config::rules::all::Rules;
use gate_config::rules::subject::Subject;
use gate_config::settings::client::STREAMING;

/// The policy's driver with the requests of clients that wait for a decision or are in service.
#[derive(Debug)]
pub(crate) struct AdmissionDriver {
    driver: Driver<Held>,
    rules: Rules,
    stages: Stages,
}

/// A request that the policy decides about.
#[derive(Debug)]
struct Held {
    /// Until it is dispatched or refused.
    head: Option<Box<Parts>>,
    connection: ConnectionId,
    address: IpAddr,
    class: Option<ClassId>,
    basis: Basis,
    arrived: Time,
    dispatched: Option<Time>,
    refused: Option<Reason>,
    /// Its place in the waiting room, if it was refused and has one.
    ticket: Option<Ticket>,
    /// Until the decision.
    waits: Waits,
    waiting: Option<Waker>,
}

/// Requests that keep others from their places, and nothing can be done about it but to end some.
#[derive(Debug)]
pub(crate) struct Shortage {
    /// So many have to end.
    pub(crate) wanted: usize,
    /// Those that are to end where no client is slow.
    pub(crate) stuck: Vec<ConnectionId>,
}

/// Finds classes by the rules, and wakes the tasks of requests that wait for a decision.
struct Wakes<'a> {
    rules: &'a Rules,
    last: ClassId,
}

impl Handler<Held> for Wakes<'_> {
    fn classify(&mut self, held: &mut Held) -> ClassId {
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
            None => (self.last, Basis::Last),
        };
        (held.class, held.basis) = (Some(class), basis);
        class
    }

    fn decided(&mut self, now: Time, _: RequestId, held: &mut Held, decided: Decided, waits: Waits) {
        match decided {
            Decided::Dispatch => {
                // In shadow mode a request goes to the server before the policy asks for its class.
                self.classify(held);
                held.dispatched = Some(now);
            }
            Decided::Refuse(reason) => held.refused = Some(reason),
        }
        held.waits = waits;
        if let Some(waker) = held.waiting.take() {
            waker.wake();
        }
    }

    fn placed(&mut self, held: &mut Held, ticket: Ticket) {
        held.ticket = Some(ticket);
    }
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
    pub(crate) fn new(policy: Policy, rules: Rules) -> Self {
        let stages = Stages::new(policy.config().classes.len());
        Self { driver: Driver::new(policy), rules, stages }
    }

    pub(crate) fn policy(&self) -> &Policy {
        self.driver.policy()
    }

    pub(crate) fn stages(&self) -> &Stages {
        &self.stages
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
        let held = Held::arriving(now, head, (connection, address), caller);
        let (driver, mut wakes) = self.parts();
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
        let mut held = Held::arriving(now, head, (ConnectionId::default(), address), caller);
        let (driver, mut wakes) = self.parts();
        let class = wakes.classify(&mut held);
        (held.head, held.dispatched) = (None, Some(now));
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
        let (driver, mut wakes) = self.parts();
        driver.abort(now, id, &mut wakes);
    }

    /// The server is done with a request, or it was refused and the client told.
    pub(crate) fn finish(&mut self, now: Time, id: RequestId) {
        let (driver, mut wakes) = self.parts();
        let Some(held) = driver.finish(now, id, &mut wakes) else { return };
        if let (Some(dispatched), Some(class)) = (held.dispatched, held.class) {
            self.stages.finished(class, &held.waits, held.arrived, dispatched, now);
        }
    }

    /// The rest of a dispatched request is still to come from its client.
    /// Whether the turn is to come sooner because of it.
    pub(crate) fn uploads(&mut self, now: Time, id: RequestId) -> bool {
        self.driver.uploads(now, id) && self.has_waiting()
    }

    /// The server has all of a request.
    pub(crate) fn uploaded(&mut self, now: Time, id: RequestId) {
        let (driver, mut wakes) = self.parts();
        driver.uploaded(now, id, &mut wakes);
    }

    /// A piece of a response has come, and more is to follow.
    /// Whether the turn is to come sooner because of it.
    pub(crate) fn responds(&mut self, now: Time, id: RequestId, stream: Stream) -> bool {
        let (driver, mut wakes) = self.parts();
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
        let (driver, mut wakes) = self.parts();
        driver.turns_away(now, id, stream, &mut wakes)
    }

    /// Takes back the places of requests for which the server has done nothing for long enough; gives what it cannot
    /// take back.
    pub(crate) fn release_quiet(&mut self, now: Time) -> Shortage {
        /// A server that is silent in its response for less may be working on it, which the place is for.
        const MAX_STUCK: Span = Span::from_secs(2);
        let (driver, mut wakes) = self.parts();
        driver.release_quiet(now, &mut wakes);
        let wanted = driver.shortage(now);
        let stuck = driver.stuck(now, MAX_STUCK).map(|held| held.connection).take(wanted);
        Shortage { stuck: stuck.collect(), wanted }
    }

    /// Lets the policy process some of what has arrived.
    pub(crate) fn cycle(&mut self, now: Time) {
        let (driver, mut wakes) = self.parts();
        driver.cycle(now, &mut wakes);
    }

    /// Lets the policy process what has arrived in a turn of the event loop: gives when it wants the next
    /// although nothing happens.
    pub(crate) fn turn(&mut self, now: Time, max_cycles: u32) -> Time {
        let (driver, mut wakes) = self.parts();
        driver.turn(now, max_cycles, &mut wakes)
    }

    pub(crate) fn set_pressure(&mut self, now: Time, used: Ratio) {
        let (driver, mut wakes) = self.parts();
        driver.set_pressure(now, used, &mut wakes);
    }

    pub(crate) fn set_capacity(&mut self, now: Time, share: Ratio) {
        let (driver, mut wakes) = self.parts();
        driver.set_capacity(now, share, &mut wakes);
    }

    pub(crate) fn set_knobs(&mut self, now: Time, knobs: Knobs) {
        let (driver, mut wakes) = self.parts();
        driver.set_knobs(now, knobs, &mut wakes);
    }

    /// Another configuration and other rules; requests that wait go on waiting.
    ///
    /// # Errors
    /// As [`Driver::reconfigure`]; nothing has changed then.
    pub(crate) fn reconfigure(&mut self, now: Time, config: Config, rules: Rules) -> Result<(), ConfigError> {
        let last = self.last_class();
        self.driver.reconfigure(now, config, &mut Wakes { rules: &rules, last })?;
        self.rules = rules;
        Ok(())
    }

    fn parts(&mut self) -> (&mut Driver<Held>, Wakes<'_>) {
        let last = self.last_class();
        (&mut self.driver, Wakes { rules: &self.rules, last })
    }

    fn last_class(&self) -> ClassId {
        ClassId((self.policy().config().classes.len() - 1) as u8)
    }
}

impl Held {
    fn arriving(
        now: Time,
        head: Box<Parts>,
        (connection, address): (ConnectionId, IpAddr),
        caller: Caller,
    ) -> Self {
        let known = caller.known();
        Self {
            head: Some(head),
            connection,
            address,
            class: known.map(|known| known.session.class),
            basis: known.map_or(Basis::Unknown, |known| known.basis),
            arrived: now,
            dispatched: None,
            refused: None,
            ticket: None,
            waits: Waits::ZERO,
            waiting: None,
        }
    }

    fn details(&self) -> DecisionDetails {
        let Self { class, basis, refused, waits, ticket, .. } = *self;
        DecisionDetails { class, basis, refused, waits, ticket }
    }
}
