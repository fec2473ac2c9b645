//! Whether anybody suffers, from what the gate has seen in the last seconds.

use crate::admin::mode;
use crate::observe::history::Sample;
use crate::observe::verdict::{Class, Evidence, Server, Verdict};
use crate::process::gate::Gate;

/// With the last seconds as one.
pub(super) fn verdict(gate: &Gate, lately: Option<&Sample>) -> Verdict {
    let driver = gate.admission.driver.borrow();
    let longest = driver.policy().config().limits.deadlines.class;
    let classes = gate.classes().iter().zip(driver.policy().class_snapshots()).map(|(name, class)| Class {
        name,
        // As long as a class queue lets requests wait it is not known.
        patience: (class.patience < longest).then(|| class.patience.as_secs_f64()),
        visitors: class.room.waiting,
    });
    let (now, tallies) = (gate.clock.last(), gate.tallies.borrow());
    let servers = gate.pool.servers();
    Verdict::of(&Evidence {
        lately,
        classes: classes.collect(),
        servers: servers
            .iter()
            .map(|server| {
                let (requests, failures) = tallies.since(server);
                let up = matches!(server.health.name(now), "up" | "trial");
                Server { name: server.endpoint.name.clone(), up, requests, failures }
            })
            .collect(),
        shadow: mode::current(gate) == mode::Shown::Shadow,
        draining: gate.proxy.is_draining(),
    })
}
