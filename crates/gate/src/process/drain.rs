//! The end of a gate: no new clients, and those in hand finish.

use std::pin::pin;
use std::rc::Rc;
use std::time::Duration;

use tokio::time::timeout;

use crate::process::gate::Gate;
use crate::process::systemd;

/// How a gate came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// It was told to stop.
    Stopped,
    /// The gate that follows has taken its sockets over.
    Replaced {
        /// That gate's process.
        by: i32,
    },
}

/// Waits until the gate is to `stop` or another `follows`. One that is to stop goes on for as
/// long as the drain delay says, and another may still follow.
pub(crate) async fn end(
    gate: &Rc<Gate>,
    stop: impl Future<Output = ()>,
    follows: impl Future<Output = i32>,
) -> Ended {
    let mut follows = pin!(follows);
    let by = tokio::select! {
        () = stop => None,
        by = &mut follows => Some(by),
    };
    gate.proxy.set_draining(true);
    let by = match by {
        None => {
            systemd::stopping();
            timeout(gate.config().settings.operation.drain_delay, follows).await.ok()
        }
        by => by,
    };
    let Some(by) = by else { return Ended::Stopped };
    systemd::replaced(by);
    Ended::Replaced { by }
}

/// Lets those in hand finish, for as long as the drain timeout allows; those that take longer lose
/// their connections with the event loop.
pub(crate) async fn drain(gate: &Rc<Gate>, ended: Ended) {
    const INTERVAL: Duration = Duration::from_millis(20);
    let longest = gate.config().settings.client.drain_timeout;
    let empty = async {
        while gate.clients.open() > 0 {
            // A client of a gate that was replaced can have its next answer from here, and is
            // told in it to come again: closing an idle connection might cross a request that is
            // already on its way. One of a gate that ends is sent away now, as the kernel will.
            match ended {
                Ended::Stopped => gate.clients.finish(gate.clock.read()),
                Ended::Replaced { .. } => gate.clients.dismiss(gate.clock.read()),
            }
            tokio::time::sleep(INTERVAL).await;
        }
    };
    if timeout(longest, empty).await.is_err() {
        gate.clients.finish(gate.clock.read());
        // One turn of the event loop for them to see it.
        tokio::time::sleep(INTERVAL).await;
    }
}
