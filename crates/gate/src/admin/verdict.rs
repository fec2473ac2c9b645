//! Whether anybody suffers, from what the gate has seen in the last seconds.

use crate::admin::mode;
use crate::observe::verdict::{Class, Evidence, Server, Verdict};
use crate::process::gate::Gate;

/// So far back it is looked, s: one second of a few requests says little.
const LOOK_BACK: usize = 10;

pub(super) fn verdict(gate: &Gate) -> Verdict {
    let lately = gate.history.borrow().recent(LOOK_BACK, 1);
    let driver = gate.admission.driver.borrow();
    let patience = driver.policy().class_snapshots().map(|class| class.patience.as_secs_f64());
    let classes = gate.classes().iter().zip(patience);
    let (now, tallies) = (gate.clock.last(), gate.tallies.borrow());
    let servers = gate.pool.servers();
    Verdict::of(&Evidence {
        lately: lately.first(),
        classes: classes.map(|(name, patience)| Class { name, patience }).collect(),
        servers: servers
            .iter()
            .map(|server| {
                let (requests, failures) = tallies.since(server);
                let up = server.health.name(now) == "up";
                Server { name: server.endpoint.name.clone(), up, requests, failures }
            })
            .collect(),
        shadow: mode::current(gate) == mode::Shown::Shadow,
        draining: gate.proxy.is_draining(),
    })
}
