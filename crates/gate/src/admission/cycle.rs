//! The turn of the event loop, in which the policy processes what has arrived.

use std::rc::Rc;
use std::time::Duration;

use units::{Span, Time};

use crate::admission::control::AdmissionControl;

/// Cycles in one turn: enough for the quota to grow from 1 to the default burst of 64.
const MAX_CYCLES: u32 = 7;

/// Ends turns for as long as the gate runs.
///
/// Arrivals notify it, unless there is room for all that come, and it runs after all connections that
/// were ready, so that one cycle of the policy sees everything that one turn of the event loop brought in. While requests wait to
/// be processed the event loop looks at the sockets again and again: the listen queue is drained
/// first (Web2K section 3.1).
///
/// One cycle a turn would not do. There is hardly a turn without an arrival when there are many
/// connections, so the quota would stay at 1: one request for each look at the sockets, however
/// many they bring in, and a queue that once is there would never go although the server is free.
pub(crate) async fn turns(admission: Rc<AdmissionControl>) {
    loop {
        let now = admission.clock.read();
        admission.guard.tell(&admission.driver, now);
        let wake = admission.driver.borrow_mut().turn(now, MAX_CYCLES);
        if wake <= now {
            tokio::task::yield_now().await;
        } else if wake == Time::NEVER {
            admission.turn.notified().await;
        } else {
            // A period's end or a deadline. Nothing is lost when it comes a timer tick late.
            let _ = tokio::time::timeout(pause(wake.since(now)), admission.turn.notified()).await;
        }
    }
}

fn pause(span: Span) -> Duration {
    const MIN_SLEEP: Duration = Duration::from_millis(1);
    Duration::from(span).max(MIN_SLEEP)
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Waker};

    use super::*;
    use crate::admission::decision::Caller;
    use crate::admission::permit::Permit;
    use crate::process::credentials::Credentials;
    use crate::process::gate::Gate;
    use crate::process::heritage::Heritage;
    use crate::runtime::clock::Clock;
    use gate_config::settings::root::Settings;

    #[test]
    fn arrivals_in_every_turn_do_not_pile_up_before_a_free_server() {
        let mut settings = Settings::new("127.0.0.1:0".parse().unwrap(), "127.0.0.1:1").unwrap();
        settings.policy.window = policy::Window::Fixed(64);
        let gate = Gate::new(
            settings,
            Credentials { certificates: Vec::new(), authorities: None },
            Vec::new(),
            Heritage::default(),
            Clock::start(),
        )
        .unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let _within = runtime.enter();
        let mut turns = pin!(turns(Rc::clone(&gate.admission)));
        for turn in 0..100 {
            let permits = [(); 4].map(|()| {
                let (head, ()) = http::Request::get("/").body(()).unwrap().into_parts();
                Permit::arrive(
                    &gate.admission,
                    Box::new(head),
                    (policy::connections::ConnectionId::default(), [127, 0, 0, 1].into()),
                    Caller::Stranger,
                )
            });
            assert!(turns.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
            assert_eq!(gate.admission.driver.borrow().waiting(), 0, "turn {turn}");
            drop(permits);
        }
    }
}
