//! `GET /api/v1/changes`: what operators have changed.

use schemars::JsonSchema;
use serde::Serialize;

use crate::observe::changes::Recorded;
use crate::process::gate::Gate;

/// What operators have changed since the gate began, the latest first.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Changed {
    /// The last 500.
    changes: Vec<Recorded>,
}

pub(super) fn changes(gate: &Gate) -> Changed {
    Changed { changes: gate.changes.all() }
}
