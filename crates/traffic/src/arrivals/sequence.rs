//! [`Arrivals`]: the points in time of one arrival process.

use rand::distr::Distribution;
use rand::rngs::StdRng;
use units::Time;

use super::process::{Gaps, Process};
use crate::profile::Profile;
use crate::seed::random;

/// The points in time of one arrival process; never ends unless the rate is zero for ever.
#[derive(Debug, Clone)]
pub struct Arrivals {
    gaps: Gaps,
    profile: Profile,
    /// The step of the profile that is under way.
    step: usize,
    /// What part of the profile's rate is for this process.
    share: f64,
    /// Gaps of mean length so far. Each arrival is computed from the sum, so that constant
    /// arrivals do not drift however many there are.
    elapsed: f64,
    random: StdRng,
}

impl Arrivals {
    /// Arrivals at `share` of the rate of `profile`, drawn from stream number `stream` of `seed`;
    /// streams are independent of one another. The first arrival is one gap after the start; of constant ones it is at
    /// the start, so that as many come in a time as rate and time make.
    pub fn new(process: Process, profile: &Profile, share: f64, seed: u64, stream: u64) -> Self {
        Self {
            gaps: Gaps::of(process),
            profile: profile.clone(),
            step: 0,
            share,
            elapsed: if process == Process::Constant { -1.0 } else { 0.0 },
            random: random(seed, stream, b""),
        }
    }
}

impl Iterator for Arrivals {
    type Item = Time;

    fn next(&mut self) -> Option<Time> {
        self.elapsed += self.gaps.sample(&mut self.random);
        while let Some(next) = self.profile.step(self.step + 1)
            && self.elapsed >= next.before * self.share
        {
            self.step += 1;
        }
        let step = self.profile.step(self.step)?;
        let mean_gap_ns = 1e9 / (step.rate * self.share);
        let nanos = (self.elapsed - step.before * self.share) * mean_gap_ns;
        nanos.is_finite().then(|| Time::from_nanos(step.starts_ns.saturating_add(nanos.round() as u64)))
    }
}
