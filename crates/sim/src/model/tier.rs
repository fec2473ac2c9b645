//! [`Tier`]: what a server asks before it answers, and [`Call`]: what a request asks of it.

use super::discipline::Discipline;

/// A server behind the server, such as a database: requests that hold a thread of the server wait for it, and for a
/// thread there, for as long as it takes (layered queueing: Woodside, Neilson, Petriu and Majumdar, "The stochastic rendezvous
/// network model for performance of synchronous client-server-like distributed software", 1995).
#[derive(Debug, Clone, PartialEq)]
pub struct Tier {
    /// What it is called.
    pub name: String,
    /// Its processors.
    pub processors: u32,
    /// Calls that it works on at a time, at most; or connections to it, where these are fewer.
    pub threads: u32,
    /// How its processors are divided.
    pub discipline: Discipline,
}

/// What requests of a class ask of a tier, one after the other, when they have had the processor and the disk.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Call {
    /// Which of the model's tiers.
    pub tier: usize,
    /// What it needs of a processor there on average, in seconds, by the law of the class.
    pub demand: f64,
    /// The share of requests that make it: those that a cache does not answer.
    pub share: f64,
    /// How often, one after the other.
    pub times: u32,
}

impl Call {
    /// What a request needs of it on average, in seconds.
    pub(crate) fn mean(&self) -> f64 {
        self.demand * self.share * f64::from(self.times)
    }
}
