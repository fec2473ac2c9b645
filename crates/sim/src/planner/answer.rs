//! [`CapacityPlan`]: what it takes.

use serde::{Serialize, Serializer};
use stats::MeanEstimate;

use crate::model::Balancing;

/// What it takes to meet the objectives.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CapacityPlan {
    /// The objectives.
    pub objectives: Vec<String>,
    /// Requests per second: the highest of the profile, if there is one.
    pub rate: f64,
    /// Processors that the requests keep busy, of whichever server.
    pub work: f64,
    /// Servers that may fail.
    pub spare: u32,
    /// Numbers of servers that were tried, in each way of balancing, in the order of their numbers.
    pub servers: Vec<Trial>,
    /// The smallest that meets the objectives, spare servers not included; `None` where none did that was tried.
    pub found: Option<Trial>,
    /// Of so many servers, the smallest number of threads of each that does.
    pub threads: Option<Trial>,
    /// Instead of several: one server, with the smallest number of processors that does.
    pub one: Option<Trial>,
    /// What the profile takes, step by step.
    pub profile: Vec<Level>,
}

/// Equipment, and what comes of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Trial {
    /// How many servers there are.
    pub servers: u32,
    /// Who gets which request.
    #[serde(serialize_with = "as_text")]
    pub balancing: Balancing,
    /// Processors of each.
    pub processors: u32,
    /// How much of them each may use, where it has a quota.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quota: Option<f64>,
    /// Threads of each.
    pub threads: u32,
    /// The share of the processors' time that is used.
    pub utilization: f64,
    /// Whether the objectives are met, with 95 % confidence each.
    pub met: bool,
    /// What they are about, in their order: seconds or shares.
    pub figures: Vec<MeanEstimate>,
}

/// A step of the profile.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Level {
    /// Requests per second.
    pub rate: f64,
    /// For how long, in seconds.
    pub lasts: f64,
    /// Servers that meet the objectives at it.
    pub needed: Option<u32>,
    /// Servers that have to be asked for while it lasts: for what comes until they are there, and for those that may fail.
    pub asked_for: Option<u32>,
}

fn as_text<S: Serializer>(balancing: &Balancing, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(balancing)
}
