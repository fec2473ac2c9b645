//! `GET /api/v1/changes`.

use serde::Deserialize;
use serde_json::Value;

/// Newest first.
#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct Changes {
    #[serde(default)]
    pub(crate) changes: Vec<Change>,
}

/// What an operator changed.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Change {
    /// Unix seconds.
    #[serde(default)]
    pub(crate) at: f64,
    /// `knobs`, `mode`, `class`, `drain` or `reload`.
    #[serde(default)]
    pub(crate) event: String,
    #[serde(default)]
    pub(crate) who: String,
    #[serde(default)]
    pub(crate) what: String,
    #[serde(default)]
    pub(crate) old: Value,
    #[serde(default)]
    pub(crate) new: Value,
}
