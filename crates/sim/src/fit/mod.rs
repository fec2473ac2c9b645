//! From measurement to model: what an access log or a run of the load generator says about the
//! requests of a server, and a [`Model`](crate::Model) that has the same.

mod arrivals;
mod classes;
mod counts;
mod demands;
mod dynamic;
mod log;
mod model;
mod observation;
mod run;
#[cfg(test)]
mod tests;
mod text;
mod watched;
mod windows;

use std::collections::BTreeMap;

use serde::Serialize;
use units::Span;

pub use self::arrivals::FittedArrivals;
pub use self::classes::{FittedClass, Quantiles};
pub use self::counts::Dispersion;
pub use self::demands::Source as DemandSource;
pub use self::log::{LogFormat, LoggedAt, TimeTaken};
pub use self::model::{Stated, UnknownCost};
pub use self::observation::{Observation, ObservationError, Origin};
pub use self::watched::{fit_watched, is_of_watch};
pub use self::windows::{Verdict, Window};

/// How to look at what was observed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FitOptions {
    /// The length of the windows in which the rate ought to be constant; the paper's is an hour
    /// (section 2).
    pub window: Span,
    /// Processors of the server that was observed.
    pub processors: u32,
    /// How many requests it worked on at a time; no limit when it is `None`.
    pub threads: Option<u32>,
    /// What counts for more than what was observed.
    pub stated: Stated,
}

impl Default for FitOptions {
    fn default() -> Self {
        let stated = Stated::default();
        Self { window: Span::from_secs(3600), processors: 1, threads: None, stated }
    }
}

/// What was observed, in figures. Times in seconds, rates per second, sizes in bytes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Fit {
    /// The file or directory.
    pub source: String,
    /// What it is.
    pub origin: Origin,
    /// How many requests there are.
    pub requests: u64,
    /// How many lines of a log could not be read.
    pub skipped: u64,
    /// From the first request to the last.
    pub duration: f64,
    /// How exact points in time are.
    pub resolution: f64,
    /// Requests per second in windows of constant rate; in all where there are none.
    pub rate: f64,
    /// Windows, one after the other.
    pub windows: Vec<Window>,
    /// How requests are spread over time; `None` when no window has a constant rate, and where
    /// clients wait for their answers.
    pub arrivals: Option<FittedArrivals>,
    /// Clients, and how long each thinks on average, where they wait for their answers.
    pub clients: Option<(u32, f64)>,
    /// Kinds of requests.
    pub classes: Vec<FittedClass>,
    /// Standard deviation over mean of what requests of a class need; `None` where that is not known.
    pub service_cv: Option<f64>,
    /// From what their costs are known, where they are not stated; `None` when they are not.
    pub demands: Option<DemandSource>,
    /// The share of the processors' time that they make up; `None` when costs are not known.
    pub utilization: Option<f64>,
    /// The share of requests that were answered by 429 or 503.
    pub rejected: f64,
    /// How many of each status.
    pub status: BTreeMap<u16, u64>,
    /// The server's processors and threads, as they were stated.
    pub processors: u32,
    /// See [`FitOptions::threads`].
    pub threads: Option<u32>,
    /// What cannot be known, and what ought to be known about what is said here; sentences.
    pub remarks: Vec<String>,
}

/// Characterises what was observed.
pub fn fit(observation: &Observation, options: &FitOptions) -> Fit {
    let mut remarks = observation.remarks.clone();
    let windows = windows::divide(observation, options.window);
    let steady: Vec<&Window> = windows.iter().filter(|window| window.is_steady()).collect();
    let duration = observation.duration();
    let requests = observation.requests.len() as u64;
    let rate = if steady.is_empty() {
        requests as f64 / duration
    } else {
        steady.iter().map(|window| window.requests as f64).sum::<f64>()
            / steady.iter().map(|window| window.length()).sum::<f64>()
    };
    let arrivals = if observation.clients.is_some() {
        remarks.push("Its clients wait for their answers, so that how requests are spread over time is the server's doing; the model has the same clients instead.".to_owned());
        None
    } else {
        let fitted = arrivals::fit(observation, &steady);
        if fitted.is_none() {
            remarks.push("No window has enough requests at a constant rate: how they are spread over time cannot be told from a change of the rate. The model's are Poisson; try a shorter --window.".to_owned());
        }
        fitted
    };
    let demands = demands::estimate(observation, options, &mut remarks);
    let classes = classes::classes(observation, demands.as_ref(), options.stated, &mut remarks);
    let refused = observation.requests.iter().filter(|request| request.is_rejected()).count();
    let mut status = BTreeMap::new();
    for code in observation.requests.iter().filter_map(|request| request.status) {
        *status.entry(code).or_insert(0) += 1;
    }
    let need: Option<f64> = classes.iter().map(|class| Some(class.share * class.demand?)).sum();
    Fit {
        source: observation.source.clone(),
        origin: observation.origin,
        requests,
        skipped: observation.skipped,
        duration,
        resolution: observation.resolution,
        rate,
        arrivals,
        clients: observation.clients,
        service_cv: demands.as_ref().and_then(|demands| demands.cv),
        utilization: need.map(|need| rate * need / f64::from(options.processors)),
        demands: demands.map(|demands| demands.source),
        classes,
        rejected: refused as f64 / requests as f64,
        status,
        windows,
        processors: options.processors,
        threads: options.threads,
        remarks,
    }
}
