//! Needs with which a server that is fed with the requests of an observation has them for as long as was observed.

use stats::{Deviations, order};

use super::busy_periods::Found;
use super::fitted::{FAMILIES, Family, FittedNeeds, MIN_REQUESTS};
use super::replay::Server;
use super::sample::{Sample, quantiles_of};
use super::shares;
use crate::draw::Service;
use crate::fit::check::apart;

const STEPS: usize = 40;
/// So small errors are none.
const NEAR: f64 = 2e-3;
const MAX_CV: f64 = 30.0;
/// What laws are chosen by.
const QUANTILES: [f64; 3] = [0.5, 0.9, 0.99];

/// A class that does less of the work is mostly in the server to wait for the other: an error in what it waits would be
/// a large one of its own need. Of it those are matched that waited least.
const MINOR: f64 = 0.15;
/// Where it is, and how wide.
const LOW: [f64; 3] = [0.05, 0.15, 0.25];
/// What takes no time by a clock of microseconds takes some.
const LEAST: f64 = 1e-7;

/// How long requests of a class were in the server.
#[derive(Debug, Clone, Copy)]
struct Stays {
    count: f64,
    mean: f64,
    variance: f64,
    /// Of those that waited least: where, as a logarithm, and how widely.
    low: [f64; 2],
    quantiles: [f64; 3],
}

impl Stays {
    fn of(values: Vec<f64>) -> Option<Self> {
        let deviations = Deviations::of(&values);
        if values.len() < MIN_REQUESTS || deviations.mean() <= 0.0 {
            return None;
        }
        let (mean, variance) = (deviations.mean(), deviations.sample_variance());
        let count = values.len() as f64;
        let rising = order::rising(values);
        let quantiles = QUANTILES.map(|quantile| order::nearest_rank(&rising, quantile).unwrap_or(mean));
        let low = LOW.map(|portion| order::nearest_rank(&rising, portion).unwrap_or(mean).max(LEAST).ln());
        Some(Self { count, mean, variance, low: [low[1], low[2] - low[0]], quantiles })
    }

    fn of_both(sample: &Sample, value: impl Fn(usize) -> Option<f64>) -> [Option<Self>; 2] {
        [0, 1].map(|class| Self::of(sample.of_class(class, &value).collect()))
    }

    /// By how much quantiles differ, relatively; of a minor class without the highest, which is of those that waited most.
    fn distance(&self, other: &Self, is_minor: bool) -> f64 {
        let [median, p90, p99] = self.quantiles;
        distance([median, p90, if is_minor { other.quantiles[2] } else { p99 }], other.quantiles)
    }
}

fn distance(one: [f64; 3], other: [f64; 3]) -> f64 {
    one.into_iter().zip(other).map(|(one, other)| apart(one, other)).sum()
}

/// By search: the mean and the variation of each class, until times in the server have the same mean and variance as
/// those that were observed; the law whose quantiles are nearest. None of classes of which too little is known.
pub(super) fn by_search(sample: &Sample, server: Server, present: f64) -> FittedNeeds {
    let observed = Stays::of_both(sample, |index| sample.took[index]);
    let minor = minor(observed);
    let fits = FAMILIES.map(|family| search(sample, server, present, (observed, minor), family));
    let mut best = fits[0].1;
    // Each class has the law that suits it.
    for class in [0, 1] {
        let misfit = |(stays, _): &([Option<Stays>; 2], FittedNeeds)| {
            Some(observed[class]?.distance(stays[class].as_ref()?, minor[class]))
        };
        if let (Some(gamma), Some(lognormal)) = (misfit(&fits[0]), misfit(&fits[1]))
            && lognormal < gamma
        {
            best.means[class] = fits[1].1.means[class];
            best.laws[class] = fits[1].1.laws[class];
        }
    }
    best
}

fn search(
    sample: &Sample,
    server: Server,
    present: f64,
    (observed, minor): ([Option<Stays>; 2], [bool; 2]),
    family: Family,
) -> ([Option<Stays>; 2], FittedNeeds) {
    // Under processor sharing times are `1 + n` times as long as needs, and grow as much faster than these.
    let slower = (1.0 + present / f64::from(server.processors)).max(1.0);
    let means = observed.map(|stays| stays.map(|stays| stays.mean / slower));
    let mut cvs =
        observed.map(|stays| stays.map_or(0.0, |stays| stays.variance.sqrt() / stays.mean).min(1.0));
    let mut needs = FittedNeeds { means, laws: cvs.map(|cv| family.law(cv)), besides: 0.0, server };
    let mut knobs = [[Knob::new(slower.recip()), Knob::new(1.0)]; 2];
    let mut places = [0, 1].map(|class| minor[class].then(|| place(needs.laws[class])));
    let mut best = (f64::INFINITY, [None; 2], needs);
    for _ in 0..STEPS {
        let repeats = sample.times.len() as u64;
        let stays = (0..repeats).map(|seed| {
            let took = sample.replay(&needs, seed);
            Stays::of_both(sample, |index| Some(took[index]))
        });
        let seen = mean_of(stays.collect());
        let errors = [0, 1].map(|class| {
            let (wanted, seen, mean) = (observed[class]?, seen[class]?, needs.means[class]?);
            Some(if minor[class] {
                [wanted.low[0] - seen.low[0], wanted.low[1] - seen.low[1]]
            } else {
                let wider = (wanted.variance.sqrt() - seen.variance.sqrt()) / (mean * slower);
                [(wanted.mean / seen.mean).ln(), wider]
            })
        });
        // Of variations it need not be known as well.
        let far = errors.iter().flatten().map(|[mean, cv]| mean.abs() + 0.2 * cv.abs()).sum::<f64>();
        if far < best.0 {
            best = (far, seen, needs);
        }
        if far < NEAR {
            break;
        }
        for (class, errors) in errors.into_iter().enumerate() {
            let (Some([off, wider]), Some(mean)) = (errors, needs.means[class]) else { continue };
            cvs[class] = (cvs[class] + knobs[class][1].step(wider)).clamp(0.0, MAX_CV);
            let law = family.law(cvs[class]);
            // With another variation the same mean would be another one of those that waited least.
            let same = places[class].as_mut().map_or(1.0, |before| {
                let now = place(law);
                std::mem::replace(before, now) / now
            });
            needs.means[class] = Some(mean * same * knobs[class][0].step(off).exp());
            needs.laws[class] = law;
        }
    }
    (best.1, best.2)
}

/// Which classes are, by those that waited least, for nothing else tells yet what a class needs.
fn minor(observed: [Option<Stays>; 2]) -> [bool; 2] {
    let work = observed.map(|stays| stays.map_or(0.0, |stays| stays.count * stays.low[0].exp()));
    work.map(|of_class| of_class < MINOR * (work[0] + work[1]))
}

/// Where those are that need least, over the mean.
fn place(law: Service) -> f64 {
    quantiles_of(law, LOW)[1].max(LEAST)
}

/// What is turned until an error is gone: by less, once it has been turned too far.
#[derive(Debug, Clone, Copy)]
struct Knob {
    gain: f64,
    last: f64,
}

/// At once it is turned by no more.
const MOST: f64 = 0.7;

impl Knob {
    fn new(gain: f64) -> Self {
        Self { gain, last: 0.0 }
    }

    fn step(&mut self, error: f64) -> f64 {
        if error * self.last < 0.0 {
            self.gain *= 0.5;
        }
        self.last = error;
        (self.gain * error).clamp(-MOST, MOST)
    }
}

fn mean_of(all: Vec<[Option<Stays>; 2]>) -> [Option<Stays>; 2] {
    [0, 1].map(|class| {
        let of_class: Vec<Stays> = all.iter().filter_map(|stays| stays[class]).collect();
        let mean = |value: &dyn Fn(&Stays) -> f64| stats::mean(of_class.iter().map(value));
        Some(Stays {
            count: mean(&|stays| stays.count)?,
            mean: mean(&|stays| stays.mean)?,
            low: [0, 1].map(|at| mean(&|stays| stays.low[at]).unwrap_or_default()),
            variance: mean(&|stays| stays.variance)?,
            quantiles: [0, 1, 2].map(|at| mean(&|stays| stays.quantiles[at]).unwrap_or_default()),
        })
    })
}

/// From what each request got of the processors, where it is known when it came and went; the means are those of busy
/// periods, where these say them.
pub(super) fn by_shares(sample: &Sample, server: Server, periods: Option<Found>) -> FittedNeeds {
    let besides = periods.map_or(0.0, |found| found.besides);
    // What is not known took no time, and is not in the way of the others.
    let took: Vec<f64> =
        sample.took.iter().map(|took| took.map_or(0.0, |took| (took - besides).max(0.0))).collect();
    let found = shares::needs(&sample.times[0], &took, server);
    let needs = Stays::of_both(sample, |index| found[index]);
    let law = |stays: Stays| {
        let cv = stays.variance.sqrt() / stays.mean;
        let laws = FAMILIES.map(|family| family.law(cv));
        let misfit =
            |law| distance(quantiles_of(law, QUANTILES), stays.quantiles.map(|value| value / stays.mean));
        if misfit(laws[1]) < misfit(laws[0]) { laws[1] } else { laws[0] }
    };
    FittedNeeds {
        means: [0, 1].map(|class| {
            let by_periods = periods.and_then(|found: Found| found.means[class]);
            by_periods.or(needs[class].map(|stays| stays.mean))
        }),
        laws: needs.map(|stays| stays.map_or(Family::Gamma.law(0.0), law)),
        besides,
        server,
    }
}
