//! [`estimate`]: what requests need, by whatever the observation allows.

use rand::SeedableRng;
use serde::Serialize;

use super::fitted::{FittedNeeds, MIN_REQUESTS};
use super::replay::Server;
use super::sample::Sample;
use super::{busy_periods, matched, placement};
use crate::draw::{Arrivals, Random};
use crate::fit::check::Check;
use crate::fit::observation::Observation;
use crate::fit::options::FitOptions;

/// From what the costs of requests are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// The server had others at the same time; each got its share of the processors.
    Shares,
    /// How long a processor was busy with them, in whatever order it worked on them.
    BusyPeriods,
    /// With these needs a server that is fed with the same arrivals has requests for as long.
    Replay,
    /// Processor time, measured in the server.
    Stopwatch,
}

/// Needs as they were found.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::fit) struct Demands {
    pub(in crate::fit) source: Source,
    pub(in crate::fit) needs: FittedNeeds,
    /// The model beside the observation.
    pub(in crate::fit) check: Check,
}

/// Requests whose time is known, at least, of all that were served.
const MIN_TIMED_SHARE: f64 = 0.9;

/// Points in time are exact enough when they are off by no more than this share of what requests take.
const EXACT: f64 = 0.05;

/// Of whole seconds, times within them are drawn for so many requests in all.
const DRAWN: usize = 60_000;
const MAX_DRAWS: usize = 8;

/// A server that works on one request after the other has to describe what was observed so much better than one that
/// works on all at once.
const BETTER: f64 = 0.7;
/// It does if the model is off by so many times as much, and this: less may be a scheduler that is not quite the model's.
const MUCH: f64 = 2.0;
const SLIGHT: f64 = 0.15;

pub(in crate::fit) fn estimate(
    observation: &Observation,
    options: &FitOptions,
    (process, rate): (&Arrivals, f64),
    remarks: &mut Vec<String>,
) -> Option<Demands> {
    let served = || observation.requests.iter().filter(|request| request.is_served());
    let timed = served().filter(|request| request.took.is_some()).count();
    if timed == 0 || (timed as f64) < MIN_TIMED_SHARE * served().count() as f64 {
        let known = options.stated.static_time.is_some() && options.stated.dynamic_cost.is_some();
        if known {
            return None;
        }
        remarks.push("It does not say how long requests took, so that nothing is known of what they cost: give --static-time and --dynamic-cost, or log it ($request_time at the end of each line with nginx; %D with Apache, and --time-taken us).".to_owned());
        return None;
    }
    let in_all: f64 = observation.requests.iter().filter_map(|request| request.took).sum();
    let (present, took) = (in_all / observation.duration(), in_all / timed as f64);
    let is_exact = observation.resolution <= EXACT * took;
    let draws = if observation.resolution < 1.0 {
        1
    } else {
        DRAWN.div_ceil(observation.requests.len()).min(MAX_DRAWS)
    };
    let times: Vec<Vec<f64>> = (0..draws as u64)
        .map(|seed| placement::placed(observation, process, rate, &mut Random::seed_from_u64(seed)))
        .collect();
    let sample = Sample::of(observation, &times);
    let processors = options.processors;
    let servers = match options.threads {
        Some(threads) => vec![Server { processors, threads: Some(threads) }],
        None => vec![Server { processors, threads: None }, Server { processors, threads: Some(processors) }],
    };
    let periods = if is_exact && processors == 1 { busy_periods::find(&sample) } else { None };
    let checked = |source, needs| Demands { source, needs, check: Check::of(observation, &sample, &needs) };
    let fits = servers.into_iter().map(|server| {
        if !is_exact {
            return checked(Source::Replay, matched::by_search(&sample, server, present));
        }
        let by_shares = checked(Source::Shares, matched::by_shares(&sample, server, None));
        // Where there is no network shares are as right, and surer.
        let Some(found) = periods.filter(|found| found.besides > 0.0 || !by_shares.check.agrees) else {
            return by_shares;
        };
        let by_periods = checked(Source::BusyPeriods, matched::by_shares(&sample, server, Some(found)));
        // A server that waits for something else than its processor conserves no work.
        let is_worse = by_periods.check.misfit() > MUCH * by_shares.check.misfit() + SLIGHT
            || (by_shares.check.agrees && !by_periods.check.agrees);
        if is_worse { by_shares } else { by_periods }
    });
    let fits: Vec<Demands> = fits.collect();
    let mut best = fits[0].clone();
    if let Some(other) = fits.get(1).filter(|other| other.check.misfit() < BETTER * best.check.misfit()) {
        best = other.clone();
        remarks.push(format!(
            "Its times are those of a server that works on {} at a time, as an event loop does, rather than on all at once; --threads says otherwise.",
            if processors == 1 { "one request".to_owned() } else { format!("{processors} requests") }
        ));
    }
    if best.needs.means.iter().all(Option::is_none) {
        remarks.push(format!(
            "Fewer than {} requests of each class were served, or none took any time by its clock; that is too little to say what they cost.",
            MIN_REQUESTS
        ));
        return None;
    }
    Some(best)
}
