//! `GET` and `PATCH /api/v1/knobs`.

use policy::Knobs;
use serde::{Deserialize, Serialize};
use units::Ratio;

use crate::gate::Gate;

/// The knobs as JSON.
#[derive(Debug, Serialize)]
pub(super) struct Shown {
    differentiation: f64,
    favour: f64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Patch {
    differentiation: Option<f64>,
    favour: Option<f64>,
}

pub(super) fn current(gate: &Gate) -> Shown {
    shown(gate.core.borrow().policy().config().knobs)
}

fn shown(knobs: Knobs) -> Shown {
    Shown { differentiation: knobs.differentiation.as_f64(), favour: knobs.favour.as_f64() }
}

/// Moves the knobs that are named.
pub(super) fn patch(gate: &Gate, body: &[u8]) -> Result<Shown, String> {
    let patch: Patch = serde_json::from_slice(body)
        .map_err(|why| format!("{why}; send for example {{\"differentiation\": 0.9, \"favour\": 0.5}}"))?;
    let mut knobs = gate.core.borrow().policy().config().knobs;
    for (name, place, value) in [
        ("differentiation", &mut knobs.differentiation, patch.differentiation),
        ("favour", &mut knobs.favour, patch.favour),
    ] {
        if let Some(value) = value {
            *place = Ratio::new(value).ok_or_else(|| format!("{name} is {value}; it goes from 0 to 1"))?;
        }
    }
    gate.core.borrow_mut().set_knobs(gate.clock.read(), knobs);
    gate.turn.ring();
    Ok(shown(knobs))
}
