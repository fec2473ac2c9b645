//! [`FittedNeeds`]: what requests need, and the server that they were found for.

use super::replay::Server;
use crate::draw::Service;

/// What requests need of a processor.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::fit) struct FittedNeeds {
    /// Of static and of dynamic requests, in seconds.
    pub(in crate::fit) means: [Option<f64>; 2],
    /// And the laws around these.
    pub(in crate::fit) laws: [Service; 2],
    /// How much longer each request takes, in seconds, without a processor.
    pub(in crate::fit) besides: f64,
    pub(in crate::fit) server: Server,
}

/// A class with fewer requests whose cost is known has none.
pub(super) const MIN_REQUESTS: usize = 20;

/// Needs that vary by less are constant.
const CONSTANT: f64 = 0.02;

/// Laws that needs can have.
pub(super) const FAMILIES: [Family; 2] = [Family::Gamma, Family::Lognormal];

/// A kind of law.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Family {
    Gamma,
    Lognormal,
}

/// The law of a variation of which nothing else is known.
pub(in crate::fit) fn law(cv: f64) -> Service {
    if cv > 1.0 { Family::Lognormal.law(cv) } else { Family::Gamma.law(cv) }
}

impl Family {
    /// Of this coefficient of variation.
    pub(super) fn law(self, cv: f64) -> Service {
        let cv = (cv * 1000.0).round() / 1000.0;
        if cv < CONSTANT {
            return Service::Constant;
        }
        match self {
            Self::Gamma => Service::gamma(cv),
            Self::Lognormal => Service::lognormal(cv),
        }
        .unwrap_or_default()
    }
}
