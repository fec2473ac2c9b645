//! [`fit`]: from an observation to its figures.

use std::collections::BTreeMap;

use super::fitted::Fit;
use super::observation::{Observation, ObservationError};
use super::options::FitOptions;
use super::windows::Window;
use super::{arrivals, classes, demands, windows};
use crate::draw::Arrivals;

/// Says in figures what was observed.
///
/// # Errors
/// When there is no window of the number that was chosen.
pub fn fit(observation: &Observation, options: &FitOptions) -> Result<Fit, ObservationError> {
    let mut remarks = observation.remarks.clone();
    let mut windows = windows::divide(observation, options.window);
    windows::choose(&mut windows, observation, options.chosen)?;
    let chosen: Vec<&Window> = windows.iter().filter(|window| window.is_chosen).collect();
    remarks.extend(windows::remark(&windows, observation, options.chosen));
    let duration = observation.duration();
    let requests = observation.requests.len() as u64;
    let rate = chosen.iter().map(|window| window.requests as f64).sum::<f64>()
        / chosen.iter().map(|window| window.length()).sum::<f64>();
    let steady: Vec<&Window> = chosen.iter().copied().filter(|window| window.is_steady()).collect();
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
    let poisson = Arrivals::default();
    let process = arrivals.as_ref().map_or(&poisson, |arrivals| &arrivals.process);
    let part = part(observation, &chosen);
    let demands =
        demands::estimate(part.as_ref().unwrap_or(observation), options, (process, rate), &mut remarks);
    remarks.extend(demands.as_ref().and_then(|demands| demands.check.remark()));
    let classes = classes::classes(observation, demands.as_ref(), options.stated, &mut remarks);
    let refused = observation.requests.iter().filter(|request| request.is_rejected()).count();
    let mut status = BTreeMap::new();
    for code in observation.requests.iter().filter_map(|request| request.status) {
        *status.entry(code).or_insert(0) += 1;
    }
    let need: Option<f64> = classes.iter().map(|class| Some(class.share * class.demand?)).sum();
    Ok(Fit {
        source: observation.source.clone(),
        origin: observation.origin,
        requests,
        skipped: observation.skipped,
        unread: observation.unread.clone(),
        duration,
        resolution: observation.resolution,
        rate,
        arrivals,
        clients: observation.clients,
        utilization: need.map(|need| rate * need / f64::from(options.processors)),
        demands: demands.as_ref().map(|demands| demands.source),
        network: demands.as_ref().map(|demands| demands.needs.besides).filter(|besides| *besides > 0.0),
        check: demands.as_ref().map(|demands| demands.check.clone()),
        classes,
        rejected: refused as f64 / requests as f64,
        status,
        windows,
        processors: options.processors,
        threads: options.threads.or(demands.and_then(|demands| demands.needs.server.threads)),
        is_threads_stated: options.threads.is_some(),
        remarks,
    })
}

/// With fewer requests of the windows that were chosen, all are looked at for what they cost.
const FEW: usize = 1000;

/// What came in the windows that were chosen, from the first to the last; none where that is too little.
fn part(observation: &Observation, chosen: &[&Window]) -> Option<Observation> {
    let part = observation.part(chosen.first()?.from, chosen.last()?.to);
    (part.requests.len() >= FEW).then_some(part)
}
