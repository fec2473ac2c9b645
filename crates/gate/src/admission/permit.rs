//! [`Permit`]: a request held by the policy, given back when it is dropped.

use std::future::poll_fn;
use std::net::IpAddr;
use std::rc::Rc;

use http::request::Parts;
use policy::Stream;
use policy::connections::ConnectionId;
use units::{RequestId, SessionId};

use crate::admission::control::AdmissionControl;
use crate::admission::decision::{Caller, DecisionDetails};
use crate::admission::driver::Decision;

/// A request held by the policy. Dropped while it waits, it tells the policy that the client has
/// gone; dropped after it was dispatched, that the server is done.
#[derive(Debug)]
pub(crate) struct Permit {
    admission: Rc<AdmissionControl>,
    id: RequestId,
    dispatched: bool,
}

impl Permit {
    /// Hands a request to the policy.
    pub(crate) fn arrive(
        admission: &Rc<AdmissionControl>,
        head: Box<Parts>,
        from: (ConnectionId, IpAddr),
        caller: Caller,
    ) -> Self {
        let now = admission.clock.read();
        let calm = admission.driver.borrow().is_calm();
        if calm {
            admission.guard.tell(&admission.driver, now);
        }
        let mut driver = admission.driver.borrow_mut();
        let id = driver.arrive(now, head, from, caller);
        if calm {
            // To wait for the end of the turn would cost another wake-up of the request's task.
            driver.cycle(now);
        }
        if !calm || driver.has_waiting() {
            admission.turn.notify();
        }
        drop(driver);
        Self { admission: Rc::clone(admission), id, dispatched: false }
    }

    /// A request that the server has begun without the policy being asked, because there was room.
    pub(crate) fn begun(
        admission: &Rc<AdmissionControl>,
        head: Box<Parts>,
        address: IpAddr,
        caller: Caller,
    ) -> (Self, DecisionDetails) {
        let now = admission.clock.read();
        let (id, details) = admission.driver.borrow_mut().begun(now, head, address, caller);
        (Self { admission: Rc::clone(admission), id, dispatched: true }, details)
    }

    /// Waits for the decision.
    pub(crate) async fn decision(&mut self) -> Decision {
        let decision = poll_fn(|cx| self.admission.driver.borrow_mut().poll_decision(self.id, cx)).await;
        self.dispatched = true;
        decision
    }

    /// The rest of the request is still to come from its client; the result tells that it has come.
    pub(crate) fn uploads(&self) -> Uploads {
        let admission = Rc::clone(&self.admission);
        if admission.driver.borrow_mut().uploads(admission.clock.last(), self.id) {
            admission.turn.notify();
        }
        Uploads { admission, id: self.id }
    }

    /// A piece of the response has come, and more is to follow.
    pub(crate) fn responds(&self, stream: Stream) {
        let admission = &self.admission;
        if admission.driver.borrow_mut().responds(admission.clock.last(), self.id, stream) {
            admission.turn.notify();
        }
    }

    /// The client has taken all that has come of the response, and the server is silent.
    pub(crate) fn is_silent(&self) {
        self.admission.driver.borrow_mut().is_silent(self.id);
    }

    /// Whether a response that is about to begin is better told to come later, as many streaming as may.
    pub(crate) fn turns_away(&self, stream: Stream) -> bool {
        let admission = &self.admission;
        admission.driver.borrow_mut().turns_away(admission.clock.last(), self.id, stream)
    }

    /// A session begins with the request.
    pub(crate) fn begins(&self, session: SessionId) {
        self.admission.driver.borrow_mut().begins(self.id, session);
    }

    /// The policy's name for it.
    pub(crate) fn id(&self) -> RequestId {
        self.id
    }
}

/// A request whose rest is still to come from its client.
#[derive(Debug)]
pub(crate) struct Uploads {
    admission: Rc<AdmissionControl>,
    id: RequestId,
}

impl Uploads {
    /// It has come.
    pub(crate) fn over(self) {
        let now = self.admission.clock.last();
        self.admission.driver.borrow_mut().uploaded(now, self.id);
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let now = self.admission.clock.read();
        let mut driver = self.admission.driver.borrow_mut();
        if !self.dispatched {
            driver.abort(now, self.id);
        }
        // Also when the decision was made and the client had gone before it took it up: the place is free.
        driver.finish(now, self.id);
        if driver.has_waiting() {
            self.admission.turn.notify();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::credentials::Credentials;
    use crate::process::gate::Gate;
    use crate::process::heritage::Heritage;
    use crate::runtime::clock::Clock;
    use gate_config::settings::root::Settings;

    fn gate(window: u32) -> Gate {
        let mut settings = Settings::new("127.0.0.1:0".parse().unwrap(), "127.0.0.1:1").unwrap();
        settings.policy.window = policy::Window::Fixed(window);
        Gate::new(
            settings,
            Credentials { certificates: Vec::new(), authorities: None },
            Vec::new(),
            Heritage::default(),
            Clock::start(),
        )
        .unwrap()
    }

    fn arrive(gate: &Gate) -> Permit {
        let (head, ()) = http::Request::get("/").body(()).unwrap().into_parts();
        Permit::arrive(
            &gate.admission,
            Box::new(head),
            (ConnectionId::default(), [127, 0, 0, 1].into()),
            Caller::Stranger,
        )
    }

    #[test]
    fn a_request_waits_for_no_turn_while_there_is_plenty_of_room() {
        let gate = gate(4);
        let state = || {
            let driver = gate.admission.driver.borrow();
            (driver.policy().snapshot().in_service, driver.has_waiting())
        };
        let permits = [arrive(&gate), arrive(&gate)];
        assert_eq!(state(), (2, false));
        let third = arrive(&gate);
        assert_eq!(state(), (2, true), "from here on it matters who else comes in this turn");
        drop(permits);
        gate.admission.driver.borrow_mut().cycle(gate.clock.read());
        assert_eq!(state(), (1, false));
        drop(third);
        assert_eq!(state(), (0, false));
    }

    #[test]
    fn a_client_that_goes_before_it_hears_of_its_dispatch_gives_the_place_back() {
        let gate = gate(1);
        let permit = arrive(&gate);
        gate.admission.driver.borrow_mut().cycle(gate.clock.read());
        assert_eq!(gate.admission.driver.borrow().policy().snapshot().in_service, 1);
        drop(permit);
        assert_eq!(gate.admission.driver.borrow().policy().snapshot().in_service, 0);
        assert_eq!(gate.admission.driver.borrow().policy().held(), 0);
    }

    #[test]
    fn a_client_that_goes_while_it_waits_is_forgotten() {
        let gate = gate(1);
        drop(arrive(&gate));
        assert_eq!(gate.admission.driver.borrow().policy().held(), 0);
        assert_eq!(gate.admission.driver.borrow().policy().snapshot().unclassified.aborted, 1);
    }
}
