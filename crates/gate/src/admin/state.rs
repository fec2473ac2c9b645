//! `GET /api/v1/state`: the policy as it is now, for people and scripts.

use policy::{Counters, Policy, Reason};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use units::Time;

use crate::admin::access::Who;
use crate::admin::servers::Upstream;
use crate::observe::history::Sample;
use crate::observe::verdict::Verdict;
use crate::process::gate::Gate;

/// The gate at one moment.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct State {
    version: &'static str,
    /// The name of the machine.
    host: String,
    /// The gate's clock, in seconds since 1970.
    clock: f64,
    /// When the gate began, which tells one run of it from another.
    started: f64,
    /// Whether anybody suffers.
    verdict: Verdict,
    mode: crate::admin::mode::Shown,
    /// Whether clients are sent elsewhere.
    draining: bool,
    /// Who asks.
    operator: Operator,
    /// Whether it can be asked what other knobs would do.
    foresight: bool,
    /// Requests per second that the server can do, as far as is known.
    capacity: Option<f64>,
    /// Whether visitors that are refused are given places in a waiting room.
    waiting_room: bool,
    knobs: crate::admin::knobs::Shown,
    window: u32,
    in_service: u32,
    /// Requests that the server has and does nothing for, which hold no place.
    streaming: u32,
    express: u32,
    look_ahead: u32,
    quota: u32,
    pressure: f64,
    queues: Queues,
    connections: Connections,
    upstream: Upstream,
    /// Who listens to events.
    event_listeners: usize,
    classes: Vec<Class>,
    /// Refused before a class was known.
    unclassified: Counts,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Operator {
    /// Address and name of the token.
    name: String,
    /// Whether changes are obeyed.
    may_change: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Queues {
    acceptor: u32,
    pending: u32,
    discard: u32,
    class: u32,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Connections {
    clients: usize,
    upstream: usize,
    most: usize,
    descriptor_limit: u64,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Class {
    name: String,
    queued: u32,
    held_back: u32,
    target: f64,
    /// How long its clients wait before they give up, as far as is known, s.
    patience: f64,
    admits: Admits,
    /// 95th percentile of the response times of the last ten seconds, s; null where none was served.
    p95: Option<f32>,
    /// How many requests a session has on average; null until that is known.
    session_requests: Option<f64>,
    /// Sessions per second that begin, or would, without who asks again.
    session_starts: f64,
    waiting_room: WaitingRoom,
    #[serde(flatten)]
    counts: Counts,
}

/// Where there is no waiting room all is 0.
#[derive(Debug, Serialize, JsonSchema)]
struct WaitingRoom {
    /// Visitors that wait, as far as they are expected to come.
    waiting: u32,
    /// Visitors let in, 1/s, as measured lately.
    outflow: f64,
    /// For how long the first of them has waited, s.
    longest: f64,
}

/// Probabilities of admission.
#[derive(Debug, Serialize, JsonSchema)]
struct Admits {
    existing: f64,
    new: f64,
    /// Whether sessions are admitted now, rather than requests.
    sessions: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Counts {
    arrived: u64,
    admitted: u64,
    dispatched: u64,
    finished: u64,
    aborted: u64,
    rejected: BTreeMap<&'static str, u64>,
}

impl State {
    pub(super) fn of(gate: &Gate, who: &Who) -> Self {
        let lately = gate.history.borrow().lately();
        let driver = gate.admission.driver.borrow();
        let (policy, now) = (driver.policy(), driver.policy().snapshot());
        Self {
            version: env!("CARGO_PKG_VERSION"),
            host: rustix::system::uname().nodename().to_string_lossy().into_owned(),
            clock: gate.clock.read().since(Time::ZERO).as_secs_f64(),
            started: gate.started.since(Time::ZERO).as_secs_f64(),
            verdict: crate::admin::verdict::verdict(gate, lately.as_ref()),
            mode: crate::admin::mode::current(gate),
            draining: gate.proxy.is_draining(),
            operator: Operator { name: who.to_string(), may_change: who.may_change() },
            foresight: gate.foresight.is_some(),
            capacity: now.capacity,
            waiting_room: gate.config().settings.waiting_room.is_some(),
            knobs: crate::admin::knobs::current(gate),
            window: now.window,
            in_service: now.in_service,
            streaming: now.streaming,
            express: now.express,
            look_ahead: now.look_ahead,
            quota: now.quota,
            pressure: now.pressure.as_f64(),
            queues: Queues {
                acceptor: now.lengths.acceptor,
                pending: now.lengths.pending,
                discard: now.lengths.discard,
                class: now.lengths.class,
            },
            connections: Connections {
                clients: gate.clients.open(),
                upstream: gate.pool.open(),
                most: gate.clients.connection_limit(),
                descriptor_limit: gate.admission.guard.descriptors(),
            },
            upstream: Upstream::of(gate),
            event_listeners: gate.events.listeners(),
            classes: classes(gate, policy, lately.as_ref()),
            unclassified: counts(&now.unclassified),
        }
    }
}

fn classes(gate: &Gate, policy: &Policy, lately: Option<&Sample>) -> Vec<Class> {
    let p95 = |class: usize| lately.and_then(|lately| lately.classes.get(class)?.p95);
    let named = gate.classes().iter().zip(policy.class_snapshots());
    named.enumerate().map(|(number, (name, snapshot))| class(name, &snapshot, p95(number))).collect()
}

fn class(name: &str, class: &policy::ClassSnapshot, p95: Option<f32>) -> Class {
    Class {
        name: name.to_owned(),
        p95,
        queued: class.queued,
        held_back: class.held_back,
        target: class.target,
        patience: class.patience.as_secs_f64(),
        admits: Admits {
            existing: class.admits_existing,
            new: class.admits_new,
            sessions: class.admits_sessions,
        },
        session_requests: class.session_requests,
        session_starts: class.session_starts,
        waiting_room: WaitingRoom {
            waiting: class.room.waiting,
            outflow: class.room.outflow,
            longest: class.room.longest.as_secs_f64(),
        },
        counts: counts(&class.counters),
    }
}

fn counts(counters: &Counters) -> Counts {
    let rejected = Reason::ALL.map(|reason| (reason.name(), counters.rejected[reason.index()]));
    Counts {
        arrived: counters.arrived,
        admitted: counters.admitted,
        dispatched: counters.dispatched,
        finished: counters.finished,
        aborted: counters.aborted,
        rejected: rejected.into_iter().filter(|(_, count)| *count > 0).collect(),
    }
}
