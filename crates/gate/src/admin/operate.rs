//! `GET /readyz`, `POST` and `DELETE /api/v1/drain`, `POST /api/v1/reload`.

use std::rc::Rc;

use http::StatusCode;
use schemars::JsonSchema;
use serde::Serialize;

use crate::admin::access::Who;
use crate::admin::answer::{Answer, json};
use crate::observe::changes::Change;
use crate::process::gate::Gate;
use crate::process::reload;

/// Whether clients are to be sent here.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Readiness {
    ready: bool,
}

/// What reading the configuration again has changed.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Reloaded {
    /// Names of the settings, as `gate check` shows them; of rules, which (`rule 2`, `raise 1`).
    changed: Vec<String>,
}

/// What reading the configuration again would change.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Difference {
    changes: Vec<Changing>,
    /// Why it would be refused; null if it would not.
    refused: Option<String>,
}

/// A setting that would change, as `gate check` shows it. What is secret, or long, has no values here.
#[derive(Debug, Serialize, JsonSchema)]
struct Changing {
    setting: String,
    old: String,
    new: String,
}

/// What reading the configuration again would change; nothing is changed.
pub(super) async fn difference(gate: &Rc<Gate>) -> Difference {
    match reload::difference(gate).await {
        Ok(changes) => {
            let changing = |(setting, old, new)| Changing { setting, old, new };
            Difference { changes: changes.into_iter().map(changing).collect(), refused: None }
        }
        Err(why) => Difference { changes: Vec::new(), refused: Some(why.to_string()) },
    }
}

/// For balancers: they look at the status, and need no token to.
pub(super) fn ready(gate: &Gate) -> Answer {
    let readiness = Readiness { ready: !gate.proxy.is_draining() };
    let mut answer = json(&readiness);
    if !readiness.ready {
        *answer.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
    }
    answer
}

/// Sends clients elsewhere, or no longer.
pub(super) fn drain(gate: &Gate, who: &Who, draining: bool) -> Readiness {
    let before = gate.proxy.is_draining();
    gate.proxy.set_draining(draining);
    if draining {
        gate.clients.dismiss(gate.clock.read());
    }
    let who = who.to_string();
    gate.record(Change {
        event: "drain",
        who: &who,
        what: "draining",
        old: before.into(),
        new: draining.into(),
    });
    Readiness { ready: !draining }
}

/// Reads the configuration again.
pub(super) async fn reload(gate: &Rc<Gate>, who: &Who) -> Result<Reloaded, String> {
    let changed = reload::reload(gate, &who.to_string()).await;
    changed.map(|changed| Reloaded { changed }).map_err(|why| why.to_string())
}
