//! [`Fleet`]: servers that are alike, behind a load balancer.

use std::fmt;
use std::str::FromStr;

/// Servers that are alike, each with the model's processors, threads and queue, and who gets which request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fleet {
    /// How many there are.
    pub servers: u32,
    /// Who gets which request.
    pub balancing: Balancing,
}

impl Default for Fleet {
    fn default() -> Self {
        Self { servers: 1, balancing: Balancing::default() }
    }
}

/// By what a load balancer chooses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Balancing {
    /// By chance.
    Random,
    /// One after the other.
    RoundRobin,
    /// The one with the fewest requests, of equals by chance.
    #[default]
    LeastConnections,
    /// Of two that are chosen by chance, the one with fewer requests (Mitzenmacher, "The power of two choices in
    /// randomized load balancing", 2001).
    PowerOfTwo,
}

impl Balancing {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Random, Self::RoundRobin, Self::PowerOfTwo, Self::LeastConnections];

    fn name(self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::RoundRobin => "round-robin",
            Self::LeastConnections => "least-connections",
            Self::PowerOfTwo => "power-of-two",
        }
    }
}

/// No way of balancing has this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no such balancing: {0:?}; expected random, round-robin, power-of-two or least-connections")]
pub struct BalancingError(String);

impl fmt::Display for Balancing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Balancing {
    type Err = BalancingError;

    fn from_str(text: &str) -> Result<Self, BalancingError> {
        Self::ALL.into_iter().find(|one| one.name() == text).ok_or_else(|| BalancingError(text.to_owned()))
    }
}
