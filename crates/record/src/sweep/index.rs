//! [`Sweep`]: what a sweep is, its index.

use serde::{Deserialize, Serialize};

/// What a sweep is: its index.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sweep {
    /// What it is about.
    pub title: String,
    /// The version of Headworks that simulates.
    pub version: String,
    /// Whether the spec's quick plan was taken.
    pub quick: bool,
    /// The parameter that is varied along a curve.
    pub parameter: String,
    /// The curves, in order.
    pub curves: Vec<String>,
    /// Figures of a paper that this shows.
    #[serde(default)]
    pub figures: Vec<u32>,
    /// What is simulated at each point, in words: the points are the same when these are.
    pub points: Vec<String>,
    /// What networks carry, where that is the question; no simulation is needed to know.
    #[serde(default)]
    pub networks: Option<Networks>,
}

/// What networks of given speeds carry.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Networks {
    /// Sizes of a request and its response, in bytes.
    pub sizes: Vec<f64>,
    /// The networks.
    pub links: Vec<Link>,
}

/// A network.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Link {
    /// What it is called.
    pub name: String,
    /// Bits per second.
    pub bits_per_second: f64,
    /// Requests per second that it carries, one for each size.
    pub rates: Vec<f64>,
}
