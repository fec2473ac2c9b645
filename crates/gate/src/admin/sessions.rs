//! `/api/v1/sessions`: the class of a session, set by hand.

use std::fmt;

use policy::SessionLimits;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use units::{ClassId, SessionId};

use crate::admin::access::Who;
use crate::observe::changes::Change;
use crate::process::gate::Gate;

/// A session whose class was set.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Set {
    /// 16 hexadecimal digits.
    session: String,
    /// Null when the class is the session's own again.
    class: Option<String>,
    /// Seconds until it is forgotten, because the session must have ended by then.
    expires: Option<f64>,
}

/// All of them.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct All {
    sessions: Vec<Set>,
}

/// What to set.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Wish")]
pub(super) struct SetClass {
    /// The name of a class.
    class: String,
}

/// The id of a session, as explain mode and the access log show it.
pub(super) fn id(text: &str) -> Option<SessionId> {
    let digits = (1..=16).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    digits.then(|| u64::from_str_radix(text, 16).ok()).flatten().map(SessionId)
}

struct Hex(SessionId);

impl fmt::Display for Hex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0.0)
    }
}

pub(super) fn all(gate: &Gate) -> All {
    let now = gate.clock.read();
    let set = |(session, set): (SessionId, crate::session::overrides::Override)| Set {
        session: Hex(session).to_string(),
        class: name(gate, set.class),
        expires: Some(set.until.since(now).as_secs_f64()),
    };
    All { sessions: gate.proxy.overrides.all(now).into_iter().map(set).collect() }
}

/// Sets the class of a session.
pub(super) fn set(gate: &Gate, who: &Who, session: SessionId, body: &[u8]) -> Result<Set, String> {
    let wanted: SetClass = serde_json::from_slice(body)
        .map_err(|why| format!("{why}; send for example {{\"class\": \"premium\"}}"))?;
    let class = gate.class(wanted.class.as_bytes()).ok_or_else(|| {
        format!("there is no class \"{}\"; there are {}", wanted.class, gate.classes().join(", "))
    })?;
    let SessionLimits { absolute, .. } = gate.config().settings.session.limits;
    let before = gate
        .proxy
        .overrides
        .set(session, class, gate.clock.read(), absolute)
        .map_err(|full| full.to_string())?;
    record(gate, who, session, before, Some(class));
    Ok(Set {
        session: Hex(session).to_string(),
        class: Some(wanted.class),
        expires: Some(absolute.as_secs_f64()),
    })
}

/// Lets the session be of its own class again.
pub(super) fn unset(gate: &Gate, who: &Who, session: SessionId) -> Set {
    if let Some(before) = gate.proxy.overrides.unset(session, gate.clock.read()) {
        record(gate, who, session, Some(before), None);
    }
    Set { session: Hex(session).to_string(), class: None, expires: None }
}

fn record(gate: &Gate, who: &Who, session: SessionId, old: Option<ClassId>, new: Option<ClassId>) {
    let value =
        |class: Option<ClassId>| class.and_then(|class| name(gate, class)).map_or(Value::Null, Value::from);
    gate.record(Change {
        event: "class",
        who: &who.to_string(),
        what: &format!("class of session {}", Hex(session)),
        old: value(old),
        new: value(new),
    });
}

fn name(gate: &Gate, class: ClassId) -> Option<String> {
    gate.classes().get(class.index()).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_hexadecimal() {
        assert_eq!(id("0123456789abcdef"), Some(SessionId(0x0123_4567_89ab_cdef)));
        assert_eq!(id("F"), Some(SessionId(15)));
        for wrong in ["", "g", "+1", "00000000000000000", "1 ", "é"] {
            assert_eq!(id(wrong), None, "{wrong}");
        }
    }
}
