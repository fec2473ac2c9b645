//! [`forecast`]: tries knobs in a simulation of the load that was seen.

use std::num::NonZeroUsize;
use std::sync::atomic::AtomicBool;

use policy::{Knobs, Mode};
use stats::MeanEstimate;
use units::Time;

use super::error::ForecastError;
use super::model::{Front, Load, Seen};
use super::request::Request;
use crate::control::Control;
use crate::parallel::in_parallel;
use crate::sessions::{Replication, Summary};

/// What settings of the knobs would do.
#[derive(Debug, Clone, PartialEq)]
pub struct Forecast {
    /// The load that it is of.
    pub load: Load,
    /// In the order in which they were asked for.
    pub settings: Vec<Setting>,
    /// What it cannot know.
    pub remarks: Vec<String>,
}

/// What one setting of the knobs would do. An interval is from where to where a figure of some minutes would be in 95 of 100 cases, by chance
/// and by what is not known of the load.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    /// How they would be.
    pub knobs: Knobs,
    /// By class.
    pub classes: Vec<ClassForecast>,
    /// Completed sessions per second, of all classes.
    pub throughput: MeanEstimate,
    /// The share of the server's time in which it works.
    pub utilization: MeanEstimate,
}

/// What it would do for a class.
#[derive(Debug, Clone, PartialEq)]
pub struct ClassForecast {
    /// Its name.
    pub name: String,
    /// Completed sessions per second.
    pub completed: MeanEstimate,
    /// The share of sessions that are completed.
    pub completion: MeanEstimate,
    /// From a request to its answer, in seconds: median.
    pub p50: MeanEstimate,
    /// 95th percentile.
    pub p95: MeanEstimate,
}

/// Each of so many settings is simulated so often, or until it is stopped, and at least as often as it takes for an interval. Who asks for many draws
/// a curve, and who asks for one wants to know it well.
fn replications(settings: usize) -> u32 {
    (18 / settings.max(1) as u32).clamp(3, 6)
}

const LEAST: usize = 2;

/// What the gate would do with the load of `requests`, which are all that ended from `since` until `now`, if its knobs were set otherwise. It is
/// simulated until it is known well enough, or `stop` becomes true.
///
/// # Errors
/// When too little was seen, or it was stopped too early.
pub fn forecast(
    front: &Front,
    (requests, since, now): (&[Request], Time, Time),
    knobs: &[Knobs],
    stop: &AtomicBool,
) -> Result<Forecast, ForecastError> {
    let seen = Seen::new(front, (requests, since, now))?;
    let mut done: Vec<Vec<(Replication, f64)>> = knobs.iter().map(|_| Vec::new()).collect();
    // The others are for the gate, and for its server.
    let cores =
        std::thread::available_parallelism().ok().and_then(|all| NonZeroUsize::new(all.get().div_ceil(2)));
    for number in 0..replications(knobs.len()) {
        let model = seen.model(number)?;
        model.check()?;
        let duration = model.duration.as_secs_f64();
        let simulate = |setting: u32| {
            let mut model = model.clone();
            if let (Some(gate), Some(knobs)) = (&mut model.gate, knobs.get(setting as usize)) {
                gate.policy.knobs = *knobs;
            }
            Replication::simulate_until(&model, 1, number, stop)
        };
        let all = in_parallel(cores, 0..knobs.len() as u32, Control::NONE, simulate);
        let all: Vec<_> = all.into_iter().collect::<Result<_, _>>()?;
        if all.iter().any(Option::is_none) {
            break;
        }
        for (replication, done) in all.into_iter().flatten().zip(&mut done) {
            done.push((replication, duration));
        }
    }
    if done.iter().any(|done| done.len() < LEAST) {
        return Err(ForecastError::TooLarge { rate: requests.len() as f64 / now.since(since).as_secs_f64() });
    }
    let settings = knobs.iter().zip(&done).map(|(knobs, done)| setting(front, *knobs, done)).collect();
    Ok(Forecast { load: seen.load(), settings, remarks: remarks(front, &seen) })
}

fn setting(front: &Front, knobs: Knobs, done: &[(Replication, f64)]) -> Setting {
    let over = |value: &dyn Fn(&Replication, f64) -> f64| {
        predicted(done.iter().map(|(replication, seconds)| value(replication, *seconds)))
    };
    let class = |(class, name): (usize, &String)| {
        let of = |value: fn(&Summary, f64) -> f64| {
            over(&|replication, seconds| {
                replication.classes.get(class).map_or(f64::NAN, |summary| value(summary, seconds))
            })
        };
        ClassForecast {
            name: name.clone(),
            completed: of(|summary, seconds| summary.completed / seconds),
            completion: share(of(|summary, _| summary.completed / summary.started)),
            p50: of(|summary, _| summary.response.p50),
            p95: of(|summary, _| summary.response.p95),
        }
    };
    Setting {
        knobs,
        classes: front.classes.iter().enumerate().map(class).collect(),
        throughput: over(&|replication, seconds| {
            replication.classes.iter().map(|summary| summary.completed).sum::<f64>() / seconds
        }),
        utilization: share(over(&|replication, _| replication.utilization)),
    }
}

/// Where another replication would be: not where their mean is.
fn predicted(values: impl Iterator<Item = f64>) -> MeanEstimate {
    let values: Vec<f64> = values.filter(|value| !value.is_nan()).collect();
    let of_mean = MeanEstimate::of(values.iter().copied());
    let wider = (values.len() as f64 + 1.0).sqrt();
    let ends = of_mean.ci.map(|end| of_mean.mean + (end - of_mean.mean) * wider);
    MeanEstimate { ci: [ends[0].max(0.0), ends[1]], ..of_mean }
}

/// It goes up to 1 only.
fn share(estimate: MeanEstimate) -> MeanEstimate {
    MeanEstimate { ci: estimate.ci.map(|end| end.min(1.0)), ..estimate }
}

fn remarks(front: &Front, seen: &Seen<'_>) -> Vec<String> {
    let mut remarks = vec![
        "users who are refused are taken to leave; those who came back lately are counted as others"
            .to_owned(),
    ];
    match seen.patience {
        Some(patience) => remarks.push(format!(
            "users are taken to give up after {:.1} s, by which half would",
            patience.as_secs_f64()
        )),
        None => {
            remarks.push("hardly anybody gave up, so all are taken to wait as long as it takes".to_owned())
        }
    }
    if seen.unknown() > 0.01 {
        remarks.push(format!(
            "{:.0} % of those who began were refused before their class was known, and are taken to be of the classes of the others",
            100.0 * seen.unknown()
        ));
    }
    if front.policy.mode == Mode::Shadow {
        remarks.push("the gate is in shadow mode; this is what would be if it decided".to_owned());
    }
    if seen.alone() > 0.05 {
        remarks.push(format!(
            "{:.0} % of the requests belong to no session (no cookie came back, or none was set); each counts as a session",
            100.0 * seen.alone()
        ));
    }
    if front.policy.limits.client_share < units::Ratio::ONE {
        remarks.push(
            "each user is taken to have an address of its own, so client-share does not count".to_owned(),
        );
    }
    remarks
}
