//! [`Posterior`]: what is known of how throughput follows the number of requests inside.

/// How likely each of many curves is.
///
/// As long as requests do not meet, throughput grows with their number; beyond a knee it does not
/// (Denning and Buzen 1978, asymptotic bounds). Where each takes a worker the bend is sharp, where
/// they meet by chance it is round, and where something is done once for all that are inside, as when a server is woken for them, each
/// more brings a little less than the one before for long. Which of the curves a server follows is not told, but each
/// says what two sizes finish relative to each other, and some are soon refuted.
#[derive(Debug)]
pub(super) struct Posterior {
    likely: [[f64; KNEES]; BENDS.len()],
}

/// From half a request to a hundred thousand.
const KNEES: usize = 72;
const FIRST_KNEE: f64 = 0.5;
/// A quarter of an octave, the fourth root of 2.
const NEXT_KNEE: f64 = 1.189_207_115_002_721;
const BENDS: [Bend; 3] = [Bend::Sharp, Bend::Round, Bend::Gradual];

#[derive(Debug, Clone, Copy)]
enum Bend {
    Sharp,
    Round,
    Gradual,
}

impl Bend {
    /// How likely it is before anything is known, beside the others.
    const fn prior(self, requests: Requests) -> f64 {
        match (self, requests) {
            (Self::Sharp | Self::Round, _) | (Self::Gradual, Requests::Short) => 1.0,
            (Self::Gradual, Requests::Long) => 0.15,
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Curve {
    bend: Bend,
    knee: f64,
}

impl Curve {
    fn all() -> impl Iterator<Item = Self> {
        let knees = core::iter::successors(Some(FIRST_KNEE), |knee| Some(knee * NEXT_KNEE)).take(KNEES);
        BENDS.into_iter().flat_map(move |bend| knees.clone().map(move |knee| Self { bend, knee }))
    }

    /// Logarithm of what it finishes with so many inside, relative to the most it can. The round
    /// one is close to a processor that half of the requests inside are on their way to; the gradual one is a processor that needs the time
    /// of `knee` requests for all that are inside together.
    fn log_throughput(self, inside: f64) -> f64 {
        let share = inside / self.knee;
        match self.bend {
            Bend::Sharp => libm::log(share.min(1.0)),
            Bend::Round => -libm::log1p(1.0 / (share * share * share)) / 3.0,
            Bend::Gradual => -libm::log1p(1.0 / share),
        }
    }
}

/// What it is that the server works on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Requests {
    /// Beside them it matters what is done once for all that are inside.
    Short,
    Long,
}

/// What is expected of a change of size.
#[derive(Debug, Clone, Copy)]
pub(super) struct Gain {
    /// Logarithm of throughput after it over throughput before.
    pub(super) mean: f64,
    /// How far that is not known.
    pub(super) variance: f64,
}

impl Posterior {
    /// What each octave farther from the size takes off.
    const FADE: f64 = 0.7;
    /// Added to how well a curve fits, relative to the best fit that could be: no comparison says
    /// more than twenty to one, however far off it is. Work changes, and not only chance is about.
    const DOUBT: f64 = 0.05;

    /// That this size is the right one as far as is known: the chance that a larger one would
    /// bring something is `above`.
    pub(super) fn around(size: u32, above: f64, requests: Requests) -> Self {
        let size = f64::from(size);
        let mut posterior = Self { likely: [[0.0; KNEES]; BENDS.len()] };
        let mut sides = [0.0, 0.0];
        for (likely, curve) in posterior.likely.as_flattened_mut().iter_mut().zip(Curve::all()) {
            let ratio = curve.knee / size;
            *likely = curve.bend.prior(requests) * libm::pow(ratio.min(1.0 / ratio), Self::FADE);
            sides[usize::from(ratio > Self::ABOVE)] += *likely;
        }
        for (likely, curve) in posterior.likely.as_flattened_mut().iter_mut().zip(Curve::all()) {
            let is_above = curve.knee / size > Self::ABOVE;
            *likely *= if is_above { above / sides[1] } else { (1.0 - above) / sides[0] };
        }
        posterior.normalize();
        posterior
    }

    /// A knee next to the size is not above it.
    const ABOVE: f64 = 1.04;

    /// The logarithm of throughput with `at` inside was by `difference` more than the mean of
    /// those with `beside`, with an error of `variance`.
    pub(super) fn learn(&mut self, difference: f64, variance: f64, at: f64, beside: [f64; 2]) {
        for (likely, curve) in self.likely.as_flattened_mut().iter_mut().zip(Curve::all()) {
            let [before, after] = beside.map(|inside| curve.log_throughput(inside));
            let off = difference - (curve.log_throughput(at) - (before + after) / 2.0);
            *likely *= libm::exp(-off * off / (2.0 * variance)) + Self::DOUBT;
        }
        self.normalize();
    }

    /// Servers and their work change: a part of what was known gives way to another posterior.
    pub(super) fn give_way(&mut self, other: &Self, part: f64) {
        let others = other.likely.as_flattened();
        for (likely, other) in self.likely.as_flattened_mut().iter_mut().zip(others) {
            *likely += part * (other - *likely);
        }
    }

    /// Requests are found to be short, or long: what was learnt stays.
    pub(super) fn turn(&mut self, from: Requests, to: Requests) {
        for (likely, curve) in self.likely.as_flattened_mut().iter_mut().zip(Curve::all()) {
            *likely *= curve.bend.prior(to) / curve.bend.prior(from);
        }
        self.normalize();
    }

    pub(super) fn gain(&self, from: u32, to: u32) -> Gain {
        let (from, to) = (f64::from(from), f64::from(to));
        let (mut mean, mut squares) = (0.0, 0.0);
        for (likely, curve) in self.likely.as_flattened().iter().zip(Curve::all()) {
            let gain = curve.log_throughput(to) - curve.log_throughput(from);
            mean += likely * gain;
            squares += likely * gain * gain;
        }
        Gain { mean, variance: (squares - mean * mean).max(0.0) }
    }

    /// `d ln X / d ln N` from this size to the next: 1 where requests do not meet, 0 where they
    /// only wait for each other.
    pub(super) fn elasticity(&self, size: u32) -> f64 {
        let next = size.saturating_add(1);
        self.gain(size, next).mean / log_ratio(size, next)
    }

    fn normalize(&mut self) {
        let sum: f64 = self.likely.as_flattened().iter().sum();
        self.likely.as_flattened_mut().iter_mut().for_each(|likely| *likely /= sum);
    }
}

/// Logarithm of how many times larger the second is.
pub(super) fn log_ratio(from: u32, to: u32) -> f64 {
    libm::log(f64::from(to) / f64::from(from))
}
