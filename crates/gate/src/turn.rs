//! The turn of the event loop, in which the policy processes what has arrived.

use std::rc::Rc;
use std::time::Duration;

use units::{Span, Time};

use crate::gate::Gate;

/// Ends turns for as long as the gate runs.
///
/// It is rung by arrivals and runs after all connections that were ready, so that one cycle of
/// the policy sees everything that one turn of the event loop brought in. While requests wait to
/// be processed it lets the event loop look at the sockets after each cycle: the listen queue is
/// drained first (Web2K section 3.1).
pub(crate) async fn turns(gate: Rc<Gate>) {
    loop {
        let now = gate.clock.read();
        gate.guard.tell(&gate, now);
        let wake = {
            let mut core = gate.core.borrow_mut();
            core.cycle(now);
            core.next_wake(now)
        };
        if wake <= now {
            tokio::task::yield_now().await;
        } else if wake == Time::NEVER {
            gate.turn.wait().await;
        } else {
            // A period's end or a deadline. Nothing is lost when it comes a timer tick late.
            let _ = tokio::time::timeout(pause(wake.since(now)), gate.turn.wait()).await;
        }
    }
}

fn pause(span: Span) -> Duration {
    const LEAST: Duration = Duration::from_millis(1);
    Duration::from(span).max(LEAST)
}
