//! The lengths of the files: a lognormal body up to 133 KB, a Pareto tail from there.

use statrs::distribution::{ContinuousCDF, Normal};

use crate::model::law::{Lognormal, Pareto};

/// Where the body ends and the tail begins, in bytes. Barford and Crovella write 133 K next to a
/// least request of 1000 bytes; a K is 1000 bytes here.
pub(super) const CUT: f64 = 133_000.0;

const BODY: Lognormal = Lognormal { mu: 9.357, sigma: 1.318 };

const TAIL: Pareto = Pareto { least: CUT, shape: 1.1 };

/// The lengths of `body` and `tail` files in bytes, rising. They are the middles of equal slices
/// of probability, not independent draws: with a shape of 1.1 the sum and the largest of draws
/// are a matter of luck, several times larger or smaller from one data set to the next.
pub(super) fn lengths(body: u32, tail: u32) -> Vec<u64> {
    let normal = Normal::standard();
    let below_cut = normal.cdf((CUT.ln() - BODY.mu) / BODY.sigma);
    let body = (0..body).map(|file| {
        let below = below_cut * (f64::from(file) + 0.5) / f64::from(body);
        (BODY.mu + BODY.sigma * normal.inverse_cdf(below)).exp()
    });
    let tail = (0..tail).rev().map(|file| TAIL.exceeded_by((f64::from(file) + 0.5) / f64::from(tail)));
    body.chain(tail).map(|length| length.round() as u64).collect()
}
