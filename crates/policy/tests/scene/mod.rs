//! A policy, told step by step what happens to it.
#![allow(dead_code, reason = "each test file uses its own part")]

use policy::{Config, Input, Kind, Knobs, Output, Policy, Reason, SessionHint, Window};
use units::{ClassId, Ratio, RequestId, Span, Time};

pub(crate) const PREMIUM: SessionHint = SessionHint::Known(ClassId(0));
pub(crate) const BASIC: SessionHint = SessionHint::Known(ClassId(1));

pub(crate) struct Scene {
    pub(crate) policy: Policy,
    pub(crate) now: Time,
    outputs: Vec<Output>,
}

impl Scene {
    pub(crate) fn new(change: impl FnOnce(&mut Config)) -> Self {
        let mut config = Config { window: Window::Fixed(1), ..Config::default() };
        change(&mut config);
        Self { policy: Policy::new(config).expect("sound"), now: Time::from_nanos(1), outputs: Vec::new() }
    }

    /// Another configuration.
    pub(crate) fn change(&mut self, change: impl FnOnce(&mut Config)) {
        let mut config = self.policy.config().clone();
        change(&mut config);
        self.policy.reconfigure(self.now, config).expect("sound");
        self.carry_out();
    }

    pub(crate) fn tell(&mut self, input: Input) {
        self.policy.handle(self.now, input);
        self.carry_out();
    }

    fn carry_out(&mut self) {
        while let Some(output) = self.policy.poll() {
            self.outputs.push(output);
            if let Output::Classify(id) = output {
                self.policy.handle(self.now, Input::Classified { id, class: ClassId(1) });
            }
        }
    }

    pub(crate) fn arrive(&mut self, id: u64, session: SessionHint) {
        self.arrive_for(id, session, Kind::default());
    }

    pub(crate) fn arrive_for(&mut self, id: u64, session: SessionHint, kind: Kind) {
        self.tell(Input::Arrived { id: RequestId(id), session, client: 0, kind });
    }

    /// Lets a whole cycle run, and another, since the first halves its quota.
    pub(crate) fn cycles(&mut self) {
        self.tell(Input::Cycle);
        self.tell(Input::Cycle);
    }

    pub(crate) fn finish(&mut self, id: u64) {
        self.tell(Input::Finished { id: RequestId(id) });
    }

    /// Time passes as it would with a driver that keeps to `next_wake`.
    pub(crate) fn wait(&mut self, span: Span) {
        let until = self.now + span;
        loop {
            let wake = self.policy.next_wake(self.now);
            if wake > until {
                self.now = until;
                return;
            }
            self.now = self.now.max(wake);
            self.tell(Input::Cycle);
        }
    }

    /// Ids dispatched since the last call.
    pub(crate) fn dispatched(&mut self) -> Vec<u64> {
        let ids = self.outputs.iter().filter_map(|output| match output {
            Output::Dispatch(id) => Some(id.0),
            _ => None,
        });
        let ids = ids.collect();
        self.outputs.retain(|output| matches!(output, Output::Reject(..)));
        ids
    }

    pub(crate) fn refused(&self) -> Vec<(u64, Reason)> {
        let refused = self.outputs.iter().filter_map(|output| match output {
            Output::Reject(id, reason) => Some((id.0, *reason)),
            _ => None,
        });
        refused.collect()
    }
}

pub(crate) fn differentiation(share: f64) -> Knobs {
    Knobs { differentiation: Ratio::clamped(share), ..Knobs::default() }
}
