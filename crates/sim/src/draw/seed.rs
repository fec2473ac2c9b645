//! [`Seed`]: streams of random numbers, one for each role in each replication.

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

pub(crate) type Random = Xoshiro256PlusPlus;

/// What random numbers are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Arrivals = 1,
    Classes = 2,
    Service = 3,
    Retries = 4,
    Thinking = 5,
    Disk = 6,
    Size = 8,
    Policy = 7,
    Tokens = 9,
    Balancing = 10,
    Calls = 11,
    Ways = 12,
    Resampling = 13,
}

/// Where the streams of one replication begin. Streams of different replications, and of
/// different roles, are independent of one another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Seed(u64);

impl Seed {
    pub(crate) fn new(seed: u64, replication: u32) -> Self {
        Self(mixed(mixed(seed) ^ u64::from(replication)))
    }

    pub(crate) fn stream(self, role: Role) -> Random {
        Random::seed_from_u64(self.number(role))
    }

    /// The seed of a role that draws its random numbers by itself.
    pub(crate) fn number(self, role: Role) -> u64 {
        mixed(self.0 ^ ((role as u64) << 32))
    }
}

/// SplitMix64's step (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators").
pub(crate) fn mixed(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}
