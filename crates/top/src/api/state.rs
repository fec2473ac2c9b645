//! `GET /api/v1/state`.

use serde::{Deserialize, Deserializer, Serialize};

/// The gate at one moment. What older gates do not say is left out by them.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct State {
    pub(crate) mode: String,
    #[serde(default)]
    pub(crate) verdict: Verdict,
    /// The name of the machine.
    pub(crate) host: Option<String>,
    pub(crate) knobs: Knobs,
    pub(crate) window: f64,
    pub(crate) in_service: f64,
    #[serde(default)]
    pub(crate) pressure: f64,
    pub(crate) queues: Queues,
    #[serde(default)]
    pub(crate) upstream: Upstream,
    pub(crate) classes: Vec<Class>,
    pub(crate) version: Option<String>,
    /// Unix seconds.
    pub(crate) clock: Option<f64>,
    /// Unix seconds; another one after a restart.
    pub(crate) started: Option<f64>,
    #[serde(default)]
    pub(crate) draining: bool,
    /// Requests per second that the servers could do.
    pub(crate) capacity: Option<f64>,
    pub(crate) operator: Option<Operator>,
    /// Whether it can predict.
    #[serde(default)]
    pub(crate) foresight: bool,
}

/// Whether anybody suffers.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Verdict {
    /// `calm`, `notice`, `warning` or `alarm`.
    pub(crate) severity: String,
    pub(crate) words: String,
}

impl Default for Verdict {
    fn default() -> Self {
        Self {
            severity: "notice".to_owned(),
            words: "This gate does not say whether anybody suffers.".to_owned(),
        }
    }
}

impl Verdict {
    /// Whether somebody does.
    pub(crate) fn is_bad(&self) -> bool {
        self.severity == "warning" || self.severity == "alarm"
    }
}

/// The operator's knobs, each from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, Serialize)]
pub(crate) struct Knobs {
    pub(crate) differentiation: f64,
    pub(crate) favour: f64,
}

/// Knobs that are to be moved; those without a value stay where they are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub(crate) struct Setting {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) differentiation: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) favour: Option<f64>,
}

/// Requests that wait, by stage.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Queues {
    pub(crate) acceptor: f64,
    pub(crate) pending: f64,
    pub(crate) discard: f64,
    pub(crate) class: f64,
}

#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct Upstream {
    #[serde(default)]
    pub(crate) servers: Vec<Server>,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Server {
    pub(crate) address: String,
    #[serde(default)]
    pub(crate) name: String,
    /// `up`, `ejected`, `trial` or `ill`.
    pub(crate) standing: String,
    #[serde(default)]
    pub(crate) outstanding: f64,
    #[serde(default)]
    pub(crate) requests: f64,
    #[serde(default)]
    pub(crate) failures: f64,
}

/// Most important first.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Class {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) queued: f64,
    /// Of response times of the last ten seconds, s; of an older gate, which does not say it, nothing at all.
    #[serde(default, deserialize_with = "said")]
    pub(crate) p95: Option<Option<f64>>,
}

/// Null was said, too.
fn said<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Option<f64>>, D::Error> {
    Option::deserialize(from).map(Some)
}

/// Who asks, as the gate sees it.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Operator {
    pub(crate) name: String,
    pub(crate) may_change: bool,
}

impl State {
    pub(crate) fn is_shadow(&self) -> bool {
        self.mode == "shadow"
    }

    pub(crate) fn waiting(&self) -> f64 {
        let Queues { acceptor, pending, discard, class } = self.queues;
        acceptor + pending + discard + class
    }
}

/// A smaller difference of knobs cannot be seen.
const STEP: f64 = 1e-3;

impl Knobs {
    /// Whether the difference is too small to be seen.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        Setting::between(*self, *other) == Setting::default()
    }
}

impl Setting {
    /// What has to be moved to come from one to the other.
    pub(crate) fn between(from: Knobs, to: Knobs) -> Self {
        let moved = |from: f64, to: f64| ((from - to).abs() >= STEP).then_some(to);
        Self {
            differentiation: moved(from.differentiation, to.differentiation),
            favour: moved(from.favour, to.favour),
        }
    }

    /// What becomes of these knobs.
    pub(crate) fn on(self, knobs: Knobs) -> Knobs {
        Knobs {
            differentiation: self.differentiation.unwrap_or(knobs.differentiation),
            favour: self.favour.unwrap_or(knobs.favour),
        }
    }

    /// As a user reads it.
    pub(crate) fn text(self) -> String {
        let one = |name: &str, value: Option<f64>| value.map(|value| format!("{name} to {value}"));
        let both = [one("differentiation", self.differentiation), one("favour", self.favour)];
        both.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}
