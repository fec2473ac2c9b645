//! [`Subject`]: what is compared.

use schemars::JsonSchema;
use serde::Deserialize;

/// What is compared at each level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Subject {
    /// The server alone.
    Bare,
    /// The server behind the gate.
    Gate,
    /// The server with the gate under it.
    Attach,
    /// The server behind other software.
    Haproxy,
    Nginx,
    #[serde(rename = "mod_qos")]
    ModQos,
}

impl Subject {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Bare => "bare",
            Self::Gate => "gate",
            Self::Attach => "attach",
            Self::Haproxy => "haproxy",
            Self::Nginx => "nginx",
            Self::ModQos => "mod_qos",
        }
    }

    /// Whether the gate decides, in front of the server or under it.
    pub(crate) const fn has_gate(self) -> bool {
        matches!(self, Self::Gate | Self::Attach)
    }

    /// The other software, if it is some.
    pub(crate) const fn contender(self) -> Option<Contender> {
        match self {
            Self::Bare | Self::Gate | Self::Attach => None,
            Self::Haproxy => Some(Contender::Haproxy),
            Self::Nginx => Some(Contender::Nginx),
            Self::ModQos => Some(Contender::ModQos),
        }
    }
}

/// Other software in the place of the gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Contender {
    Haproxy,
    Nginx,
    /// Apache with mod_qos.
    ModQos,
}
