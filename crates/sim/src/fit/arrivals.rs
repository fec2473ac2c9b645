//! [`FittedArrivals`]: how requests are spread over time.

use serde::{Serialize, Serializer};
use stats::MeanEstimate;
use traffic::{MAX_CV, Process};
use units::Span;

use super::dispersion::{Dispersion, dispersion, third_moment};
use super::observation::Observation;
use super::windows::Window;
use crate::draw::{Arrivals, Mmpp};

/// How requests are spread over time, in windows of constant rate.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FittedArrivals {
    /// A process that has the same variation.
    #[serde(serialize_with = "as_text")]
    pub process: Arrivals,
    /// The coefficient of variation that times between requests have if they are independent of one
    /// another, from counts, with an interval of 95 %.
    pub cv: MeanEstimate,
    /// The length of the intervals in which they were counted, in seconds.
    pub interval: f64,
    /// The coefficient of variation of times between requests themselves; `None` where times are
    /// not exact enough.
    pub cv_of_gaps: Option<f64>,
    /// Dispersion in intervals of growing length.
    pub dispersion: Vec<Dispersion>,
}

fn as_text<S: Serializer>(arrivals: &Arrivals, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(arrivals)
}

/// Intervals in all that an estimate is based on.
const MIN_INTERVALS: f64 = 30.0;

/// Poisson arrivals are not told from others that are nearer to them than this.
const NEAR: f64 = 0.05;

/// Rates of quiet times below this share of the mean are silence, and bursts with silence between them are
/// hyperexponential times between requests (Kuczura, "The interrupted Poisson process as an overflow
/// process", 1973).
const SILENCE: f64 = 0.15;

pub(super) fn fit(observation: &Observation, steady: &[&Window]) -> Option<FittedArrivals> {
    let length: f64 = steady.iter().map(|window| window.length()).sum();
    let requests: f64 = steady.iter().map(|window| window.requests as f64).sum();
    let rate = requests / length;
    let shortest = steady.iter().map(|window| window.length()).fold(f64::INFINITY, f64::min);
    // Multiples of the resolution, so that an interval holds the same number of its steps each time.
    let whole = |interval: f64| (interval / observation.resolution).round().max(1.0) * observation.resolution;
    let longest = whole((length / MIN_INTERVALS).min(shortest / 2.0));
    let measure = |interval: f64| dispersion(observation, steady, whole(interval.min(longest)));

    // Counts in longer intervals say more of the variation and less surely: five times as many requests in an
    // interval as it takes until what is left of the past is forgotten.
    let mut excess = 0.0;
    let mut used = measure(10.0 / rate)?;
    for _ in 0..12 {
        used = measure(5.0 * (excess + 2.0) / rate)?;
        excess = renewal_excess(used.index, rate * used.interval);
    }
    let cv = |index: f64| (1.0 + renewal_excess(index, rate * used.interval)).max(0.0).sqrt().min(MAX_CV);
    let half = 1.96 * used.error() * used.index;
    let cv = MeanEstimate { mean: cv(used.index), ci: [cv(used.index - half), cv(used.index + half)] };

    let mut curve = Vec::new();
    let mut interval = whole((2.0 / rate).max(observation.resolution));
    while interval <= longest && curve.len() < 64 {
        curve.extend(measure(interval));
        interval = whole((interval * 2.0).max(interval + observation.resolution));
    }
    let weights: f64 = steady.iter().map(|window| window.requests as f64).sum();
    let gaps: Option<f64> =
        steady.iter().map(|window| Some(window.cv_of_gaps? * window.requests as f64 / weights)).sum();
    let process = modulated(observation, steady, &curve, rate, gaps, cv)
        .map_or_else(|| renewal(gaps, cv, requests), Arrivals::Mmpp);
    Some(FittedArrivals { process, cv, interval: used.interval, cv_of_gaps: gaps, dispersion: curve })
}

/// Independent times between requests of this variation. Poisson arrivals are what is taken unless there is
/// reason not to: the coefficient of variation of `n` exponential gaps has a standard error of about
/// `1 / sqrt(n)`.
fn renewal(gaps: Option<f64>, counts: MeanEstimate, requests: f64) -> Arrivals {
    let cv = gaps.unwrap_or(counts.mean);
    let near = match gaps {
        Some(cv) => (cv - 1.0).abs() < NEAR.max(2.0 / requests.sqrt()),
        None => (cv - 1.0).abs() < NEAR || (counts.covers(1.0) && cv < 1.2),
    };
    let rounded = (cv * 1000.0).round() / 1000.0;
    let process = if near {
        Ok(Process::Poisson)
    } else if cv < 1.0 {
        Process::gamma(rounded.max(0.001))
    } else {
        Process::hyperexponential(rounded.min(MAX_CV))
    };
    process.unwrap_or_default().into()
}

/// By how much the squared coefficient of variation of independent times between arrivals is above 1
/// when this is their index of dispersion in intervals of so many arrivals. For hyperexponential times with
/// balanced means, that of counts of `n` is `1 + a (1 - (1 - exp(-x)) / x)` with `x = 2 n / (a + 2)`
/// (from their renewal function; Cox, "Renewal Theory", section 4.5).
fn renewal_excess(index: f64, n: f64) -> f64 {
    let at = |excess: f64| 1.0 + excess * forgotten(2.0 * n / (excess + 2.0));
    let (mut low, mut high) = (-0.999_999, MAX_CV * MAX_CV);
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        if at(middle) < index { low = middle } else { high = middle }
    }
    low
}

/// `1 - (1 - exp(-x)) / x`: the share of a burst's effect that intervals of `x` times its length see.
fn forgotten(x: f64) -> f64 {
    if x < 1e-6 { x / 2.0 } else { 1.0 + (-x).exp_m1() / x }
}

/// Arrivals whose rate changes between two values, where those explain what independent times
/// between arrivals cannot: by the curve of the index of dispersion, which is
/// `1 + a (1 - (1 - exp(-s t)) / (s t))`, and the third moment (Fischer and Meier-Hellstern, "The
/// Markov-modulated Poisson process cookbook", 1993, section 2.2).
fn modulated(
    observation: &Observation,
    steady: &[&Window],
    curve: &[Dispersion],
    rate: f64,
    gaps: Option<f64>,
    cv: MeanEstimate,
) -> Option<Mmpp> {
    let last = curve.last()?;
    let expected = gaps.map_or(1.0, |gaps| (gaps * gaps).max(1.0));
    let surely = last.index * (1.0 - 2.0 * last.error()) > 1.5 * expected || cv.mean > 4.0;
    if !surely || curve.len() < 4 {
        return None;
    }
    let (speed, excess) = bursts(curve)?;
    // Bursts shorter than the shortest interval leave no trace of their shape.
    let first = curve.first()?.interval;
    if speed * first > 2.0 || excess <= 0.0 {
        return None;
    }
    // In short intervals, a fifth of a burst's length, the rate hardly changes.
    let multiple = (0.2 / speed / observation.resolution).round().max(1.0) * observation.resolution;
    let interval = multiple.max(first);
    let n = rate * interval;
    let variance = excess * speed * rate / 2.0;
    let third = (third_moment(observation, steady, interval) - n - 3.0 * interval.powi(2) * variance)
        / interval.powi(3);
    let skewness = third / variance.powf(1.5);
    let busy = 0.5 * (1.0 - skewness / skewness.hypot(2.0));
    // Quiet times cannot have a rate below 0.
    let busy = busy.clamp(1e-4, (1.0 + variance / (rate * rate)).recip());
    let apart = (variance / (busy * (1.0 - busy))).sqrt();
    let (high, low) = (rate + (1.0 - busy) * apart, rate - busy * apart);
    if gaps.is_none() && low < SILENCE * rate && is_renewal(curve, rate, cv) {
        return None;
    }
    let ratio = (high / low.max(1e-3 * rate) * 1000.0).round() / 1000.0;
    // Three digits are more than is known.
    let span = |seconds: f64| {
        let unit = 10_f64.powf(seconds.log10().floor() - 2.0);
        Span::from_secs_f64((seconds / unit).round() * unit)
    };
    Mmpp::new(ratio, span((speed * (1.0 - busy)).recip()), span((speed * busy).recip())).ok()
}

/// Whether independent times between requests of this variation explain the index of dispersion in intervals of all
/// lengths, as far as its errors go.
fn is_renewal(curve: &[Dispersion], rate: f64, cv: MeanEstimate) -> bool {
    let excess = cv.mean * cv.mean - 1.0;
    let misfit = |point: &Dispersion| {
        let index = 1.0 + excess * forgotten(2.0 * rate * point.interval / (excess + 2.0));
        ((point.index - index) / (point.error() * point.index.max(1.0))).powi(2)
    };
    // Neighbours are of the same requests, and errors those of normal counts.
    stats::mean(curve.iter().map(misfit)).is_some_and(|misfit| misfit < 9.0)
}

/// How fast bursts come and go, and by how much they raise the index of dispersion in the long run: the best
/// fit by weighted least squares.
fn bursts(curve: &[Dispersion]) -> Option<(f64, f64)> {
    let (first, last) = (curve.first()?.interval, curve.last()?.interval);
    const STEPS: i32 = 200;
    let fits = (0..=STEPS).map(|step| {
        let speed = (0.1 / last) * (100.0 * last / first).powf(f64::from(step) / f64::from(STEPS));
        let (mut both, mut squares) = (0.0, 0.0);
        let weight = |point: &Dispersion| (point.error() * point.index.max(1.0)).powi(-2);
        for point in curve {
            let shape = forgotten(speed * point.interval);
            both += weight(point) * shape * (point.index - 1.0);
            squares += weight(point) * shape * shape;
        }
        let excess = both / squares;
        let misfit: f64 = curve
            .iter()
            .map(|point| {
                let fitted = 1.0 + excess * forgotten(speed * point.interval);
                weight(point) * (point.index - fitted).powi(2)
            })
            .sum();
        (misfit, speed, excess)
    });
    fits.min_by(|one, other| one.0.total_cmp(&other.0)).map(|(_, speed, excess)| (speed, excess))
}
