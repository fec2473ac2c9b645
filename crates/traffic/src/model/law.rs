//! The distributions of the models, each from a variate that is drawn fast, and the seeding.

use rand::Rng;
use rand::rngs::StdRng;
use rand_distr::{Exp1, StandardNormal};

/// A generator for stream number `stream` of `seed`, apart from those of the arrivals.
pub(super) fn random(seed: u64, stream: u64) -> StdRng {
    crate::seed::random(seed, stream, b"contents")
}

/// `P[X > x] = (least / x)^shape` for x above `least`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pareto {
    pub(super) least: f64,
    pub(super) shape: f64,
}

impl Pareto {
    /// The value that a share of `above` exceeds.
    pub(super) fn exceeded_by(self, above: f64) -> f64 {
        self.least * above.powf(-1.0 / self.shape)
    }

    /// The share of values above `x`.
    pub(super) fn above(self, x: f64) -> f64 {
        if x <= self.least { 1.0 } else { (self.least / x).powf(self.shape) }
    }

    pub(super) fn draw(self, random: &mut StdRng) -> f64 {
        let exponential: f64 = random.sample(Exp1);
        self.least * (exponential / self.shape).exp()
    }
}

/// `P[X > x] = exp(-(x / scale)^shape)`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Weibull {
    pub(super) scale: f64,
    pub(super) shape: f64,
}

impl Weibull {
    pub(super) fn draw(self, random: &mut StdRng) -> f64 {
        let exponential: f64 = random.sample(Exp1);
        self.scale * exponential.powf(1.0 / self.shape)
    }
}

/// ln X is normal with mean `mu` and standard deviation `sigma`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lognormal {
    pub(super) mu: f64,
    pub(super) sigma: f64,
}

impl Lognormal {
    pub(super) fn draw(self, random: &mut StdRng) -> f64 {
        let normal: f64 = random.sample(StandardNormal);
        (self.mu + self.sigma * normal).exp()
    }
}
