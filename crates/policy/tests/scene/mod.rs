//! A policy, told step by step what happens to it.
#![allow(dead_code, reason = "each test file uses its own part")]

use std::collections::HashMap;

use policy::{
    Arrival, Config, ConfigError, Decision, Driver, Handler, Kind, Knobs, KnownSession, Policy, Reason,
    SessionHint, Waits, Window,
};
use units::{ClassId, Ratio, RequestId, SessionId, Span, Time};

/// Of a session that has just been there.
pub(crate) const PREMIUM: SessionHint = known(0);
pub(crate) const BASIC: SessionHint = known(1);

const fn known(class: u8) -> SessionHint {
    SessionHint::Known(KnownSession::active(SessionId(0), ClassId(class)))
}

/// Requests have numbers, which are their payloads.
pub(crate) struct Scene {
    driver: Driver<u64>,
    ids: HashMap<u64, RequestId>,
    pub(crate) now: Time,
    decisions: Decisions,
}

/// What was decided about which request, and after which waits.
#[derive(Default)]
struct Decisions(Vec<(u64, Decision, Waits)>);

impl Handler<u64> for Decisions {
    fn classify(&mut self, _: &mut u64) -> ClassId {
        ClassId(1)
    }

    fn decided(&mut self, _: Time, _: RequestId, number: &mut u64, decision: Decision, waits: Waits) {
        self.0.push((*number, decision, waits));
    }
}

impl Scene {
    pub(crate) fn new(change: impl FnOnce(&mut Config)) -> Self {
        let mut config = Config { window: Window::Fixed(1), ..Config::default() };
        change(&mut config);
        let driver = Driver::new(Policy::new(config).expect("sound"));
        Self { driver, ids: HashMap::new(), now: Time::from_nanos(1), decisions: Decisions::default() }
    }

    pub(crate) fn policy(&self) -> &Policy {
        self.driver.policy()
    }

    /// Another configuration.
    pub(crate) fn change(&mut self, change: impl FnOnce(&mut Config)) {
        let mut config = self.policy().config().clone();
        change(&mut config);
        self.reconfigure(config).expect("sound");
    }

    pub(crate) fn reconfigure(&mut self, config: Config) -> Result<(), ConfigError> {
        self.driver.reconfigure(self.now, config, &mut self.decisions)
    }

    pub(crate) fn arrive(&mut self, number: u64, session: SessionHint) {
        self.arrive_for(number, session, Kind::default());
    }

    /// Each known request is of a session of its own.
    pub(crate) fn arrive_for(&mut self, number: u64, session: SessionHint, kind: Kind) {
        let session = match session {
            SessionHint::Known(known) => SessionHint::Known(KnownSession { id: SessionId(number), ..known }),
            SessionHint::New | SessionHint::Visitor(_) => session,
        };
        self.arrive_as(number, Arrival { session, client: 0, kind });
    }

    pub(crate) fn arrive_as(&mut self, number: u64, arrival: Arrival) {
        let id = self.driver.arrive(self.now, arrival, number, &mut self.decisions);
        self.ids.insert(number, id);
    }

    pub(crate) fn cycle(&mut self) {
        self.driver.cycle(self.now, &mut self.decisions);
    }

    /// Lets a whole cycle run, and another, since the first halves its quota.
    pub(crate) fn cycles(&mut self) {
        self.cycle();
        self.cycle();
    }

    pub(crate) fn finish(&mut self, number: u64) {
        if let Some(id) = self.ids.remove(&number) {
            self.driver.finish(self.now, id, &mut self.decisions);
        }
    }

    pub(crate) fn abort(&mut self, number: u64) {
        if let Some(id) = self.ids.get(&number) {
            self.driver.abort(self.now, *id, &mut self.decisions);
        }
    }

    pub(crate) fn set_pressure(&mut self, used: f64) {
        self.driver.set_pressure(self.now, Ratio::clamped(used), &mut self.decisions);
    }

    /// Time passes as it would with a loop that keeps to `next_wake`.
    pub(crate) fn wait(&mut self, span: Span) {
        let until = self.now + span;
        loop {
            let wake = self.driver.next_wake(self.now);
            if wake > until {
                self.now = until;
                return;
            }
            self.now = self.now.max(wake);
            self.cycle();
        }
    }

    /// Decisions with the waits before them, since the last call.
    pub(crate) fn decided(&mut self) -> Vec<(u64, Decision, Waits)> {
        std::mem::take(&mut self.decisions.0)
    }

    /// Numbers dispatched since the last call.
    pub(crate) fn dispatched(&mut self) -> Vec<u64> {
        let dispatched = |(_, decision, _): &mut _| *decision == Decision::Dispatch;
        self.decisions.0.extract_if(.., dispatched).map(|(number, ..)| number).collect()
    }

    pub(crate) fn refused(&self) -> Vec<(u64, Reason)> {
        let refused = self.decisions.0.iter().filter_map(|(number, decision, _)| match decision {
            Decision::Refuse(reason) => Some((*number, *reason)),
            Decision::Dispatch => None,
        });
        refused.collect()
    }
}

pub(crate) fn differentiation(share: f64) -> Knobs {
    Knobs { differentiation: Ratio::clamped(share), ..Knobs::default() }
}
