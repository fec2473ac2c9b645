//! `GET` and `PATCH /api/v1/knobs`.

use policy::Knobs;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use units::Ratio;

use crate::admin::access::Who;
use crate::observe::changes::Change;
use crate::process::gate::Gate;

/// The operator's knobs.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Shown {
    /// 0 all classes alike to 1 strict priority.
    differentiation: f64,
    /// 0 fastest responses to 1 most sessions.
    favour: f64,
}

/// Those to move.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Patch {
    /// 0 all classes alike to 1 strict priority.
    differentiation: Option<f64>,
    /// 0 fastest responses to 1 most sessions.
    favour: Option<f64>,
    /// How the knobs are, as far as the operator knows: if they are otherwise, none is moved.
    expected: Option<Shown>,
}

impl Shown {
    /// Whether they are alike, but for what JSON loses of a number.
    fn is_about(self, other: Self) -> bool {
        const LOST: f64 = 1e-9;
        (self.differentiation - other.differentiation).abs() < LOST
            && (self.favour - other.favour).abs() < LOST
    }
}

/// Why no knob was moved.
#[derive(Debug)]
pub(super) enum NotMoved {
    /// What was asked for is wrong.
    Wrong(String),
    /// They are not as was expected.
    Otherwise(String),
}

pub(super) fn current(gate: &Gate) -> Shown {
    shown(gate.admission.driver.borrow().policy().config().knobs)
}

fn shown(knobs: Knobs) -> Shown {
    Shown { differentiation: knobs.differentiation.as_f64(), favour: knobs.favour.as_f64() }
}

/// Moves the knobs that are named.
pub(super) fn patch(gate: &Gate, who: &Who, body: &[u8]) -> Result<Shown, NotMoved> {
    let patch: Patch = serde_json::from_slice(body).map_err(|why| {
        NotMoved::Wrong(format!("{why}; send for example {{\"differentiation\": 0.9, \"favour\": 0.5}}"))
    })?;
    let before = gate.admission.driver.borrow().policy().config().knobs;
    if patch.expected.is_some_and(|expected| !expected.is_about(shown(before))) {
        let Shown { differentiation, favour } = shown(before);
        let now = format!(
            "differentiation is {differentiation} and favour {favour} by now; look at what changed them"
        );
        return Err(NotMoved::Otherwise(now));
    }
    let mut knobs = before;
    for (name, place, value) in [
        ("differentiation", &mut knobs.differentiation, patch.differentiation),
        ("favour", &mut knobs.favour, patch.favour),
    ] {
        if let Some(value) = value {
            *place = Ratio::new(value)
                .ok_or_else(|| NotMoved::Wrong(format!("{name} is {value}; it goes from 0 to 1")))?;
        }
    }
    gate.admission.driver.borrow_mut().set_knobs(gate.clock.read(), knobs);
    gate.admission.turn.notify();
    gate.record(Change {
        event: "knobs",
        who: &who.to_string(),
        what: "knobs",
        old: json!(shown(before)),
        new: json!(shown(knobs)),
    });
    Ok(shown(knobs))
}
