//! The end of a gate: no new clients, and those in hand finish.

use std::pin::pin;
use std::rc::Rc;
use std::time::Duration;

use tokio::time::{Instant, timeout};

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

/// Lets those in hand finish, for as long as their drain timeout allows, and ends tunnels one after the other within
/// theirs. What takes longer is cut off.
pub(crate) async fn drain(gate: &Rc<Gate>, ended: Ended) {
    const INTERVAL: Duration = Duration::from_millis(20);
    let config = gate.config();
    let (requests, tunnels) = (config.settings.client.drain_timeout, config.settings.tunnels.drain_timeout);
    gate.proxy.tunnels.end(tunnels);
    let begun = Instant::now();
    let empty = async {
        while gate.clients.open() > 0 {
            let is_late = begun.elapsed() >= requests;
            // A client of a gate that was replaced can have its next answer from here, and is
            // told in it to come again: closing an idle connection might cross a request that is
            // already on its way. One of a gate that ends is sent away now, as the kernel will.
            match ended {
                Ended::Replaced { .. } if !is_late => gate.clients.dismiss(gate.clock.read()),
                _ => gate.clients.finish(gate.clock.read()),
            }
            tokio::time::sleep(INTERVAL).await;
            if is_late {
                gate.clients.close_all_but_tunnels(gate.clock.read());
            }
        }
    };
    // Two turns more for the last of them to see it.
    let _ = timeout(requests.max(tunnels) + 2 * INTERVAL, empty).await;
}
