//! `PATCH /api/v1/mode`: whether the gate decides, or only says what it would have decided.

use policy::Mode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::admin::access::Who;
use crate::observe::changes::Change;
use crate::process::gate::Gate;

/// Whether the gate decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "Mode")]
pub(super) enum Shown {
    /// It does.
    Enforce,
    /// It lets everything through, and counts what it would have done.
    Shadow,
}

/// The mode.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ModeOf {
    mode: Shown,
}

pub(super) fn current(gate: &Gate) -> Shown {
    match gate.admission.driver.borrow().policy().config().mode {
        Mode::Enforce => Shown::Enforce,
        Mode::Shadow => Shown::Shadow,
    }
}

/// Goes over to another mode.
pub(super) fn patch(gate: &Gate, who: &Who, body: &[u8]) -> Result<ModeOf, String> {
    let ModeOf { mode } = serde_json::from_slice(body)
        .map_err(|why| format!("{why}; send for example {{\"mode\": \"shadow\"}}"))?;
    let before = current(gate);
    if mode == before {
        return Ok(ModeOf { mode });
    }
    let wanted = match mode {
        Shown::Enforce => Mode::Enforce,
        Shown::Shadow => Mode::Shadow,
    };
    let changed = gate.admission.driver.borrow_mut().set_mode(gate.clock.read(), wanted);
    changed.map_err(|why| why.to_string())?;
    gate.admission.turn.notify();
    let value = |mode| serde_json::to_value(mode).unwrap_or_default();
    gate.record(Change {
        event: "mode",
        who: &who.to_string(),
        what: "mode",
        old: value(before),
        new: value(mode),
    });
    Ok(ModeOf { mode })
}
