//! [`fit`]: from an observation to its figures.

use std::collections::BTreeMap;

use super::fitted::Fit;
use super::observation::Observation;
use super::options::FitOptions;
use super::windows::Window;
use super::{arrivals, classes, demands, windows};

/// Says in figures what was observed.
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
