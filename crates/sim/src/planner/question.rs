//! [`Question`]: what is to be planned.

use units::Span;

use super::profile::Profile;
use crate::advise::Objective;
use crate::model::{Balancing, ModelError};
use crate::plan::Plan;

/// What is to be planned.
#[derive(Debug, Clone)]
pub struct Question {
    /// Objectives that are to be met, at least one.
    pub objectives: Vec<Objective>,
    /// Servers that may fail while they are still met.
    pub spare: u32,
    /// How requests are given to servers.
    pub balancing: Balancings,
    /// Servers at most.
    pub most: u32,
    /// Rates over time, if the model's is not all there is.
    pub profile: Option<Profile>,
    /// How long it takes until a server that was asked for takes requests, where their number follows the profile.
    pub scaling_delay: Span,
    /// How much to simulate of each number.
    pub plan: Plan,
}

/// Ways of giving requests to servers that are tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Balancings {
    /// One.
    One(Balancing),
    /// All of them, side by side.
    All,
}

/// Why nothing can be planned.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum PlanError {
    /// The model cannot be simulated.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// Clients that wait for their answers make the rate.
    #[error(
        "the model's clients wait for their answers, so that its rate is what the servers make it; give a --rate"
    )]
    Closed,
    /// An objective of a class.
    #[error(
        "the objective \"{0}\" is about a class of a gate, and fleets are simulated without one; leave out the class"
    )]
    OfClass(String),
}
