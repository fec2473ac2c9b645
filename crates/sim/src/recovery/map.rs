//! [`RecoveryMap`]: what was found.

use serde::Serialize;

use super::trial::RecoveryTrial;

/// Whether a server comes back from a surge, and when.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RecoveryMap {
    /// Requests over those that the processors can serve, in the surge.
    pub surge_load: f64,
    /// How long that is, in seconds.
    pub surge_lasts: f64,
    /// How long clients wait, in seconds.
    pub patience: f64,
    /// How long the server had to come back, in seconds.
    pub within: f64,
    /// The share of requests that are answered in time when it has.
    pub share: f64,
    /// For how long, in seconds.
    pub lasting: f64,
    /// One for each number of times that clients ask again.
    pub rows: Vec<Row>,
    /// Somebody ended it before.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub interrupted: bool,
}

/// Clients that ask again so often.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// How often.
    pub retries: u32,
    /// At the loads that were asked for.
    pub trials: Vec<RecoveryTrial>,
    /// Up to where the server comes back; nothing where it was ended before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub border: Option<Border>,
}

/// The border of overload that keeps itself up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(into = "Loads")]
pub struct Border {
    /// The largest load, in hundredths, at which it comes back in nine of ten replications.
    pub surely: u32,
    /// In half of them.
    pub half: u32,
    /// In one of ten.
    pub hardly: u32,
}

#[derive(Serialize)]
struct Loads {
    surely: f64,
    half: f64,
    hardly: f64,
}

impl From<Border> for Loads {
    fn from(border: Border) -> Self {
        let [surely, half, hardly] =
            [border.surely, border.half, border.hardly].map(|load| f64::from(load) / 100.0);
        Self { surely, half, hardly }
    }
}
