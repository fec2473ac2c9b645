//! What requests need, from how long a processor is busy with them.
//!
//! In whatever order a processor works on requests, as long as it works while there are any: from when it has one until it has
//! none it takes as long as all need that it had meanwhile (the work is conserved: Kleinrock, "Queueing Systems", volume 2,
//! section 3.4). What a busy period takes longer than that, whatever was in it, no request has needed: the network, and the
//! client's own work.
//!
//! Where a request needs much more come before the period ends, so that their number depends on what is to be found. When
//! requests come does not, and tells of their number: what came soon after the beginning of a period is the instrument.
//! (Given when all come, the number in a period is a stopping time of what they need, and Wald's equation holds.)

use stats::order;
use stats::regression::Terms;

use super::fitted::MIN_REQUESTS;
use super::sample::Sample;

/// What was found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Found {
    /// What static and dynamic requests need, in seconds.
    pub(super) means: [Option<f64>; 2],
    /// How much longer each takes, in seconds, without a processor.
    pub(super) besides: f64,
}

/// From a request that finds the server empty to when it is empty again.
#[derive(Debug, Clone, Copy)]
struct Period {
    begins: f64,
    length: f64,
    /// Requests of each class.
    requests: [f64; 2],
    /// The class of the first.
    first: usize,
}

/// With fewer periods little is known.
const FEW: usize = 200;
/// A time besides is one if it is so many times its standard error.
const SURE: f64 = 2.0;
/// What all requests need on average has to be known to this share, by its standard error.
const NEAR: f64 = 0.02;
/// None takes less than this share of all do, but by mistake.
const LOWEST: f64 = 0.02;

/// None where there are too few periods, or too little is known of what they were.
pub(super) fn find(sample: &Sample) -> Option<Found> {
    let took: Vec<f64> = sample.took.iter().copied().collect::<Option<_>>()?;
    let mut came: Vec<(f64, f64, usize)> = (sample.times[0].iter().zip(&took).zip(&sample.classes))
        .map(|((at, took), class)| (*at, *took, usize::from(*class)))
        .collect();
    came.sort_by(|one, other| one.0.total_cmp(&other.0));
    let periods = periods(&came);
    let requests = [0, 1].map(|class| periods.iter().map(|period| period.requests[class]).sum::<f64>());
    let classes: Vec<usize> = (0..2).filter(|class| requests[*class] >= MIN_REQUESTS as f64).collect();
    if periods.len() < FEW || classes.is_empty() {
        return None;
    }
    let median = |class: &usize| {
        let took = order::rising(came.iter().filter(|one| one.2 == *class).map(|one| one.1));
        order::nearest_rank(&took, 0.5)
    };
    let windows: Vec<f64> = classes.iter().filter_map(median).collect();
    let regression = Regression::new(&came, periods, classes, &windows);
    let with = regression.solve(None)?;
    let besides = *with.coefficients.last()?;
    let only_it: Vec<f64> = regression.classes.iter().map(|_| 0.0).chain([1.0]).collect();
    let besides = if besides > SURE * with.error(&only_it) { besides } else { 0.0 };
    // No request takes less time than it takes besides.
    let besides = besides.min(order::nearest_rank(&order::rising(took), LOWEST)?);
    let terms = regression.solve(Some(besides))?;
    let shares: Vec<f64> =
        regression.classes.iter().map(|class| requests[*class] / (requests[0] + requests[1])).collect();
    let need: f64 = shares.iter().zip(&terms.coefficients).map(|(share, mean)| share * mean).sum();
    let is_known = terms.error(&shares) < NEAR * need && terms.coefficients.iter().all(|mean| *mean > 0.0);
    let mut means = [None; 2];
    for (class, mean) in regression.classes.iter().zip(&terms.coefficients) {
        means[*class] = Some(*mean);
    }
    is_known.then_some(Found { means, besides })
}

/// Of requests in the order in which they came: when, for how long and of which class.
fn periods(came: &[(f64, f64, usize)]) -> Vec<Period> {
    let mut periods: Vec<Period> = Vec::new();
    let mut ends = f64::NEG_INFINITY;
    for (at, took, class) in came.iter().copied() {
        if at > ends {
            periods.push(Period { begins: at, length: 0.0, requests: [0.0; 2], first: class });
        }
        ends = ends.max(at + took);
        if let Some(period) = periods.last_mut() {
            period.length = ends - period.begins;
            period.requests[class] += 1.0;
        }
    }
    // Of the last it is not known how it went on.
    periods.pop();
    periods
}

/// Lengths of periods, by the requests in them.
struct Regression {
    periods: Vec<Period>,
    /// Those that there are.
    classes: Vec<usize>,
    /// What each period's first request was, and how many of each class came within some times after it.
    instruments: Vec<Vec<f64>>,
}

impl Regression {
    fn new(came: &[(f64, f64, usize)], periods: Vec<Period>, classes: Vec<usize>, windows: &[f64]) -> Self {
        let of_class =
            |class: usize| came.iter().filter(move |one| one.2 == class).map(|one| one.0).collect();
        let times: Vec<Vec<f64>> = classes.iter().map(|class| of_class(*class)).collect();
        let soon = |begins: f64| {
            times.iter().flat_map(move |times| {
                let before = times.partition_point(|at| *at <= begins);
                windows
                    .iter()
                    .map(move |window| (times.partition_point(|at| *at <= begins + window) - before) as f64)
            })
        };
        let instruments = periods.iter().map(|period| {
            let own: Vec<f64> = std::iter::once(1.0).chain(soon(period.begins)).collect();
            classes
                .iter()
                .flat_map(|class| {
                    let is_first = f64::from(u8::from(period.first == *class));
                    own.iter().map(move |value| value * is_first)
                })
                .collect()
        });
        let instruments = instruments.collect();
        Self { periods, classes, instruments }
    }

    /// What requests of the classes need, and at the end the time besides unless it is `known`.
    fn solve(&self, known: Option<f64>) -> Option<Terms> {
        let row = |period: &Period| -> Vec<f64> {
            let own = self.classes.iter().map(|class| period.requests[*class]);
            if known.is_some() { own.collect() } else { own.chain([1.0]).collect() }
        };
        let rows: Vec<Vec<f64>> = self.periods.iter().map(row).collect();
        let lengths: Vec<f64> =
            self.periods.iter().map(|period| period.length - known.unwrap_or(0.0)).collect();
        let solve = |variances: [f64; 2]| {
            let weights: Vec<f64> =
                self.periods.iter().map(|period| variances[period.first].recip()).collect();
            Terms::of(&rows, &self.instruments, &lengths, &weights)
        };
        let first = solve([1.0; 2])?;
        let left = rows.iter().zip(&lengths).map(|(row, length)| {
            length - row.iter().zip(&first.coefficients).map(|(times, mean)| times * mean).sum::<f64>()
        });
        solve(self.variances(left))
    }

    /// How much is left of periods that begin with a static request, and of those that begin with a dynamic one: by what they
    /// begin with, since how long they are is what is to be found.
    fn variances(&self, left: impl Iterator<Item = f64>) -> [f64; 2] {
        let mut sums = [(0.0, 0.0); 2];
        for (period, left) in self.periods.iter().zip(left) {
            let (count, square) = &mut sums[period.first];
            (*count, *square) = (*count + 1.0, *square + left * left);
        }
        sums.map(|(count, square)| if count > 0.0 && square > 0.0 { square / count } else { 1.0 })
    }
}
