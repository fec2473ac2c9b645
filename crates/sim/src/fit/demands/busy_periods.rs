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

/// A time besides makes periods of some that are several; it is taken off, and looked for again so often at most.
const PASSES: usize = 8;
/// Steps that are smaller than this share of it are none.
const SMALL_STEP: f64 = 0.002;

/// None where there are too few periods, or too little is known of what they were.
pub(super) fn find(sample: &Sample) -> Option<Found> {
    let mut came = Vec::new();
    for ((at, took), class) in sample.times[0].iter().zip(&sample.took).zip(&sample.classes) {
        came.push(Came { at: *at, took: *took, class: usize::from(*class) });
    }
    came.sort_by(|one, other| one.at.total_cmp(&other.at));
    let shortest = order::nearest_rank(&order::rising(came.iter().filter_map(|came| came.took)), LOWEST)?;
    let mut besides = 0.0;
    for pass in 0..PASSES {
        let needs = Regression::new(&came)?.solve(true)?;
        let is_step = needs.besides.abs() > SURE * needs.besides_error;
        let step = needs.besides.clamp(-besides, shortest - besides);
        if !is_step || step == 0.0 || (pass > 0 && step.abs() < SMALL_STEP * besides) {
            break;
        }
        besides += step;
        came.iter_mut().flat_map(|came| &mut came.took).for_each(|took| *took = (*took - step).max(0.0));
    }
    let needs = Regression::new(&came)?.solve(false)?;
    needs.is_known().then_some(Found { means: needs.means, besides })
}

/// A request: when it came, for how long it stayed, where that is known, and of which class it is.
#[derive(Debug, Clone, Copy)]
struct Came {
    at: f64,
    took: Option<f64>,
    class: usize,
}

/// Those in which all is known of all requests, of some in the order in which they came.
fn periods(came: &[Came]) -> Vec<Period> {
    let mut periods: Vec<Period> = Vec::new();
    let mut ends = f64::NEG_INFINITY;
    // Of the first it is not known how it began, and of the last how it went on.
    let (mut is_known, mut was_known) = (false, true);
    for Came { at, took, class } in came.iter().copied() {
        if at > ends {
            if !is_known {
                periods.pop();
            }
            periods.push(Period { begins: at, length: 0.0, requests: [0.0; 2], first: class });
            (is_known, was_known) = (was_known, true);
        }
        // Nor how long one goes on, or whether the next is one of its own, with a request of which it is not known.
        let Some(took) = took else {
            (is_known, was_known) = (false, false);
            continue;
        };
        ends = ends.max(at + took);
        if let Some(period) = periods.last_mut() {
            period.length = ends - period.begins;
            period.requests[class] += 1.0;
        }
    }
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

/// What requests need, and how surely that is known.
struct Needs {
    means: [Option<f64>; 2],
    /// By the standard error of each mean.
    errors: [f64; 2],
    shares: [f64; 2],
    besides: f64,
    besides_error: f64,
}

impl Needs {
    fn is_known(&self) -> bool {
        let (mut need, mut variance) = (0.0, 0.0);
        for class in 0..2 {
            need += self.shares[class] * self.means[class].unwrap_or_default();
            variance += (self.shares[class] * self.errors[class]).powi(2);
        }
        variance.sqrt() < NEAR * need && self.means.iter().flatten().all(|mean| *mean > 0.0)
    }
}

impl Regression {
    /// None where there are too few periods.
    fn new(came: &[Came]) -> Option<Self> {
        let mut periods = periods(came);
        let count = |class: usize| periods.iter().map(|period| period.requests[class]).sum::<f64>();
        let classes: Vec<usize> = (0..2).filter(|class| count(*class) >= MIN_REQUESTS as f64).collect();
        periods
            .retain(|period| (0..2).all(|class| period.requests[class] == 0.0 || classes.contains(&class)));
        if periods.len() < FEW || classes.is_empty() {
            return None;
        }
        let of_class = |class: usize| came.iter().filter(move |came| came.class == class);
        let median = |class: &usize| {
            order::nearest_rank(&order::rising(of_class(*class).filter_map(|came| came.took)), 0.5)
        };
        let windows: Vec<f64> = classes.iter().filter_map(median).collect();
        let times: Vec<Vec<f64>> =
            classes.iter().map(|class| of_class(*class).map(|came| came.at).collect()).collect();
        let soon = |begins: f64| {
            let (times, windows) = (&times, &windows);
            times.iter().flat_map(move |times| {
                let before = times.partition_point(|at| *at <= begins);
                let until = move |window: &f64| times.partition_point(|at| *at <= begins + window) - before;
                windows.iter().map(move |window| until(window) as f64)
            })
        };
        let of_period = |period: &Period| -> Vec<f64> {
            let own: Vec<f64> = std::iter::once(1.0).chain(soon(period.begins)).collect();
            let of_first = |class: &usize| f64::from(u8::from(period.first == *class));
            classes.iter().flat_map(|class| own.iter().map(move |value| value * of_first(class))).collect()
        };
        let instruments = periods.iter().map(of_period).collect();
        Some(Self { periods, classes, instruments })
    }

    /// What requests of the classes need, and how much longer each takes, if there `is_more`. First all together, each period
    /// as much as any other; then, with what those need that need most, the rest, periods the more the less they vary: where
    /// needs are unlike, the few that belong to both kinds would decide otherwise.
    fn solve(&self, is_more: bool) -> Option<Needs> {
        let all = self.terms(&self.classes, is_more, &self.lengths(None), [1.0; 2])?;
        let most = (0..self.classes.len())
            .max_by(|one, other| all.coefficients[*one].total_cmp(&all.coefficients[*other]))?;
        let mut needs = Needs {
            means: [None; 2],
            errors: [0.0; 2],
            shares: self.shares(),
            besides: 0.0,
            besides_error: 0.0,
        };
        let unit =
            |at: usize, of: usize| (0..of).map(|term| f64::from(u8::from(term == at))).collect::<Vec<_>>();
        let dear = self.classes[most];
        let (mean, error) = (all.coefficients[most], all.error(&unit(most, all.coefficients.len())));
        (needs.means[dear], needs.errors[dear]) = (Some(mean), error);
        let others: Vec<usize> = self.classes.iter().copied().filter(|class| *class != dear).collect();
        if others.is_empty() {
            if is_more {
                (needs.besides, needs.besides_error) =
                    (*all.coefficients.last()?, all.error(&unit(1, all.coefficients.len())));
            }
            return Some(needs);
        }
        let lengths = self.lengths(Some((dear, mean)));
        let rough = self.terms(&others, is_more, &lengths, [1.0; 2])?;
        let rest = self.terms(&others, is_more, &lengths, self.variances(&others, &rough, &lengths))?;
        for (at, class) in others.iter().enumerate() {
            needs.means[*class] = Some(rest.coefficients[at]);
            needs.errors[*class] = rest.error(&unit(at, rest.coefficients.len()));
        }
        if is_more {
            needs.besides = *rest.coefficients.last()?;
            needs.besides_error = rest.error(&unit(others.len(), rest.coefficients.len()));
        }
        Some(needs)
    }

    fn shares(&self) -> [f64; 2] {
        let counts =
            [0, 1].map(|class| self.periods.iter().map(|period| period.requests[class]).sum::<f64>());
        counts.map(|count| count / (counts[0] + counts[1]))
    }

    /// Of the periods, without what requests of a class need of which that is known.
    fn lengths(&self, known: Option<(usize, f64)>) -> Vec<f64> {
        let needed = |period: &Period| known.map_or(0.0, |(class, mean)| period.requests[class] * mean);
        self.periods.iter().map(|period| period.length - needed(period)).collect()
    }

    fn row(period: &Period, classes: &[usize], is_more: bool) -> Vec<f64> {
        let own = classes.iter().map(|class| period.requests[*class]);
        own.chain(is_more.then_some(1.0)).collect()
    }

    fn terms(&self, classes: &[usize], is_more: bool, lengths: &[f64], variances: [f64; 2]) -> Option<Terms> {
        let rows: Vec<Vec<f64>> =
            self.periods.iter().map(|period| Self::row(period, classes, is_more)).collect();
        let weights: Vec<f64> = self.periods.iter().map(|period| variances[period.first].recip()).collect();
        Terms::of(&rows, &self.instruments, lengths, &weights)
    }

    /// How much is left of periods that begin with a static request, and of those that begin with a dynamic one: by what they
    /// begin with, since how long they are is what is to be found.
    fn variances(&self, classes: &[usize], terms: &Terms, lengths: &[f64]) -> [f64; 2] {
        let is_more = terms.coefficients.len() > classes.len();
        let mut sums = [(0.0, 0.0); 2];
        for (period, length) in self.periods.iter().zip(lengths) {
            let row = Self::row(period, classes, is_more);
            let explained: f64 = row.iter().zip(&terms.coefficients).map(|(times, mean)| times * mean).sum();
            let (count, square) = &mut sums[period.first];
            (*count, *square) = (*count + 1.0, *square + (length - explained).powi(2));
        }
        sums.map(|(count, square)| if count > 0.0 && square > 0.0 { square / count } else { 1.0 })
    }
}
