//! What requests need of a processor, from how long the server had them.

use std::collections::VecDeque;

use serde::Serialize;
use stats::PowerSums;
use stats::moments::cv_within;

use super::observation::{Observation, Request};
use super::options::FitOptions;

/// From what the costs of requests are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// The server had others at the same time; each got its share of the processors.
    Shares,
    /// The mean time that requests took, less what the mean number of others made it longer.
    Means,
    /// Processor time, measured in the server.
    Stopwatch,
}

/// Needs in seconds.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Demands {
    pub(super) source: Source,
    /// Means: of static and of dynamic requests.
    pub(super) means: [Option<f64>; 2],
    /// Standard deviation over mean within a class.
    pub(super) cv: Option<f64>,
}

/// A class with fewer requests whose cost is known has none.
const MIN_REQUESTS: u64 = 20;

/// Costs from a server that is busier than this depend on how well the model describes it.
const BUSY: f64 = 0.7;

/// Requests whose time is known, at least, of all that were served.
const MIN_TIMED_SHARE: f64 = 0.9;

pub(super) fn estimate(
    observation: &Observation,
    options: &FitOptions,
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
    let present: f64 =
        observation.requests.iter().filter_map(|request| request.took).sum::<f64>() / observation.duration();
    let exact = observation.requests.iter().all(|request| request.took.is_none() || request.began.is_some());
    let demands = if exact {
        shares(&observation.requests, f64::from(options.processors), options.threads)
    } else {
        means(&observation.requests, present, f64::from(options.processors))
    };
    if demands.means.iter().all(Option::is_none) {
        remarks.push(format!(
            "Fewer than {MIN_REQUESTS} requests of each class were served; that is too few to say what they cost."
        ));
        return None;
    }
    let busy = present / (1.0 + present);
    if busy > BUSY {
        remarks.push(format!(
            "There were {present:.1} requests in the server on average: what they cost is found by taking out the time for which they waited for one another, which is as right as processor sharing describes this server{}. Measure at a lower load to be surer.",
            if options.threads.is_none() { " and needs its --threads if it has a limit" } else { "" },
        ));
    }
    Some(demands)
}

/// Under processor sharing a request gets `processors / n` of a processor, and no more than one, while `n` are worked
/// on: its need is the integral of that over its stay. Beyond a number of threads requests wait in the
/// order of their arrival and get nothing.
fn shares(requests: &[Request], processors: f64, threads: Option<u32>) -> Demands {
    let threads = threads.map_or(usize::MAX, |threads| threads as usize);
    let stays: Vec<(f64, f64, &Request)> = requests
        .iter()
        .filter(|request| !request.is_rejected())
        .filter_map(|request| Some((request.began?, request.began? + request.took?, request)))
        .collect();
    // Ends before beginnings at the same time.
    let mut events: Vec<(f64, bool, usize)> = Vec::with_capacity(2 * stays.len());
    for (index, (began, ended, _)) in stays.iter().enumerate() {
        events.extend([(*began, true, index), (*ended, false, index)]);
    }
    events.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
    let (mut now, mut work, mut active) = (0.0, 0.0, 0_usize);
    let mut begins: Vec<Option<f64>> = vec![None; stays.len()];
    let mut gone = vec![false; stays.len()];
    let mut waiting = VecDeque::new();
    let mut classes = [PowerSums::default(); 2];
    for (at, is_begin, index) in events {
        work += (at - now) * (processors / active.max(1) as f64).min(1.0);
        now = at;
        if is_begin {
            if gone[index] {
                // It took no time at all.
                continue;
            }
            if active < threads {
                active += 1;
                begins[index] = Some(work);
            } else {
                waiting.push_back(index);
            }
            continue;
        }
        gone[index] = true;
        let Some(began) = begins[index] else { continue };
        active -= 1;
        while active < threads
            && let Some(next) = waiting.pop_front()
        {
            if !gone[next] {
                active += 1;
                begins[next] = Some(work);
            }
        }
        let request = stays[index].2;
        if request.is_served() {
            classes[usize::from(request.dynamic)].add(work - began);
        }
    }
    Demands {
        source: Source::Shares,
        means: classes.map(mean),
        cv: cv_within(classes.into_iter().filter(|class| mean(*class).is_some())),
    }
}

/// Under processor sharing a request takes `1 / (1 - load)` times what it needs, whatever its class, and there
/// are `load / (1 - load)` requests in the server: so it takes `1 + n` times what it needs.
fn means(requests: &[Request], present: f64, processors: f64) -> Demands {
    let mut classes = [PowerSums::default(); 2];
    for request in requests.iter().filter(|request| request.is_served()) {
        if let Some(took) = request.took {
            classes[usize::from(request.dynamic)].add(took);
        }
    }
    let longer = ((1.0 + present) / processors).max(1.0);
    Demands {
        source: Source::Means,
        means: classes.map(|class| mean(class).map(|mean| mean / longer)),
        cv: None,
    }
}

/// The mean of what was needed, of enough requests that needed anything.
fn mean(needs: PowerSums) -> Option<f64> {
    (needs.count >= MIN_REQUESTS as f64 && needs.sum > 0.0).then(|| needs.mean())
}
