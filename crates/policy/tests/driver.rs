//! What a driver holds, and for how long.
#![allow(clippy::expect_used, reason = "a test fails by panicking")]

use policy::{
    Arrival, Config, Decision, Driver, Handler, Kind, Limits, Policy, Reason, SessionHint, Waits, Window,
};
use units::{ClassId, RequestId, Time};

const NOW: Time = Time::from_nanos(1);

/// Decisions about requests by name. One that begins with `p` is premium.
#[derive(Default)]
struct Decisions(Vec<(&'static str, Decision)>);

impl Handler<&'static str> for Decisions {
    fn classify(&mut self, name: &mut &'static str) -> ClassId {
        ClassId(u8::from(!name.starts_with('p')))
    }

    fn decided(&mut self, _: Time, _: RequestId, name: &mut &'static str, decision: Decision, _: Waits) {
        self.0.push((*name, decision));
    }
}

struct Gate {
    driver: Driver<&'static str>,
    decisions: Decisions,
}

impl Gate {
    /// One place in the server, and room for one request that waits.
    fn new() -> Self {
        let limits = Limits { acceptor_queue: 1, ..Limits::default() };
        let config = Config { limits, window: Window::Fixed(1), ..Config::default() };
        let driver = Driver::new(Policy::new(config).expect("sound"));
        Self { driver, decisions: Decisions::default() }
    }

    fn arrive(&mut self, name: &'static str) -> RequestId {
        let arrival = Arrival { session: SessionHint::New, client: 1, kind: Kind::default() };
        self.driver.arrive(NOW, arrival, name, &mut self.decisions)
    }

    fn finish(&mut self, id: RequestId) -> Option<&'static str> {
        self.driver.finish(NOW, id, &mut self.decisions)
    }

    fn abort(&mut self, id: RequestId) -> Option<&'static str> {
        self.driver.abort(NOW, id, &mut self.decisions)
    }

    fn turn(&mut self) -> Time {
        self.driver.turn(NOW, 7, &mut self.decisions)
    }

    /// Requests held by the policy and by the driver.
    fn held(&self) -> (usize, usize) {
        (self.driver.policy().held(), self.driver.iter().count())
    }
}

#[test]
fn an_id_that_is_no_longer_held_is_ignored() {
    let mut gate = Gate::new();
    let first = gate.arrive("first");
    assert_eq!(gate.turn(), Time::NEVER);
    assert_eq!(gate.decisions.0, [("first", Decision::Dispatch)]);
    assert_eq!(gate.finish(first), Some("first"));
    let second = gate.arrive("second");
    assert_ne!(first, second, "also where the payload takes the room of the first");
    assert_eq!((gate.finish(first), gate.abort(first), gate.driver.get(first)), (None, None, None));
    assert_eq!((gate.driver.get(second), gate.held()), (Some(&"second"), (1, 1)));
    assert_eq!(gate.driver.policy().snapshot().unknown_ids, 0);
}

#[test]
fn what_is_refused_is_held_until_its_client_has_been_told() {
    let mut gate = Gate::new();
    let [_, refused] = ["first", "second"].map(|name| gate.arrive(name));
    assert_eq!(gate.decisions.0, [("second", Decision::Refuse(Reason::AcceptorFull))]);
    assert_eq!(gate.held(), (1, 2));
    assert_eq!(gate.finish(refused), Some("second"));
    assert_eq!(gate.held(), (1, 1));
}

#[test]
fn the_server_goes_on_with_what_it_has_begun() {
    let mut gate = Gate::new();
    let inside = gate.arrive("inside");
    gate.turn();
    let waiting = gate.arrive("waiting");
    assert_eq!((gate.abort(waiting), gate.abort(inside)), (Some("waiting"), None));
    assert_eq!(gate.held(), (1, 1));
    assert_eq!(gate.finish(inside), Some("inside"));
    assert_eq!(gate.held(), (0, 0));
}

#[test]
fn a_request_that_waits_is_withdrawn_when_it_ends() {
    let mut gate = Gate::new();
    let waiting = gate.arrive("waiting");
    assert_eq!(gate.finish(waiting), Some("waiting"));
    gate.turn();
    assert_eq!((gate.held(), gate.decisions.0.len()), ((0, 0), 0));
    assert_eq!(gate.driver.policy().snapshot().unclassified.aborted, 1);
}
