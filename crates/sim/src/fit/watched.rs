//! What requests need, as `headworks watch` measured it in the server.

use std::collections::BTreeMap;
use std::path::Path;

use record::{Clock, PhaseName, RunDirectory};
use serde::Deserialize;
use stats::PowerSums;
use stats::moments::cv_within;

use super::classes::FittedClass;
use super::demands::{Source as DemandSource, law};
use super::fitted::Fit;
use super::observation::{ObservationError, Origin};
use super::options::FitOptions;

/// What is read of the summary of a watch.
#[derive(Debug, Deserialize)]
struct WatchSummary {
    #[serde(default)]
    requests: BTreeMap<String, Requests>,
    #[serde(default)]
    demands: BTreeMap<String, Demands>,
}

#[derive(Debug, Deserialize)]
struct Requests {
    count: u64,
    rate: f64,
}

/// Seconds of a processor.
#[derive(Debug, Deserialize)]
struct Demands {
    cpu_user: Mean,
    cpu_kernel: Mean,
    cpu_soft_interrupt: Mean,
}

#[derive(Debug, Deserialize)]
struct Mean {
    mean: f64,
}

impl Demands {
    fn sum(&self) -> f64 {
        self.cpu_user.mean + self.cpu_kernel.mean + self.cpu_soft_interrupt.mean
    }
}

/// Classes, rates and needs of a watch. How requests are spread over time it does not know.
///
/// # Errors
/// When it cannot be read, or no request was followed.
pub fn fit_watched(path: &Path, options: &FitOptions) -> Result<Fit, ObservationError> {
    let directory = RunDirectory::open(path)?;
    let info = directory.info()?;
    let seen: WatchSummary = directory.outcome()?;
    let source = path.display().to_string();
    let followed: u64 = seen.requests.values().map(|requests| requests.count).sum();
    let rate: f64 = seen.requests.values().map(|requests| requests.rate).sum();
    if followed == 0 || !rate.is_finite() {
        return Err(ObservationError::TooFew { source_name: source, requests: followed as usize, least: 1 });
    }
    let service = cv_of_processing(&directory)?.map(law);
    let class = |(name, requests): (&String, &Requests)| FittedClass {
        name: name.clone(),
        requests: requests.count,
        share: requests.rate / rate,
        demand: seen.demands.get(name).map(Demands::sum),
        service,
        stated: false,
        took: None,
        // Only the mean is known.
        size: None,
    };
    let classes: Vec<_> = seen.requests.iter().map(class).collect();
    let need: Option<f64> = classes.iter().map(|class| Some(class.share * class.demand?)).sum();
    let duration = info.window.length().as_secs_f64();
    Ok(Fit {
        source,
        origin: Origin::Watch,
        requests: followed,
        skipped: 0,
        unread: Vec::new(),
        duration,
        resolution: 1e-9,
        rate,
        windows: Vec::new(),
        arrivals: None,
        clients: None,
        classes,
        demands: Some(DemandSource::Stopwatch),
        utilization: need.map(|need| rate * need / f64::from(options.processors)),
        rejected: 0.0,
        status: BTreeMap::new(),
        processors: options.processors,
        threads: options.threads,
        is_threads_stated: options.threads.is_some(),
        network: None,
        check: None,
        remarks: vec![
            "How requests are spread over time a watch does not know; the model's are Poisson. Fit a log or a run of the load generator for that.".to_owned(),
            "Needs are processor time that was measured in the server, soft interrupts included, which on the loopback interface are partly the client's; what threads use that touch no connection is not in them.".to_owned(),
        ],
    })
}

/// Standard deviation over mean within a class of the processor time of the phase that has most of it, each
/// class by its share of the work.
fn cv_of_processing(directory: &RunDirectory) -> Result<Option<f64>, ObservationError> {
    let mut classes: BTreeMap<String, PowerSums> = BTreeMap::new();
    for row in directory.phases()? {
        let row = row?;
        if (row.phase, row.clock) == (PhaseName::Process, Clock::Cpu) {
            let class = classes.entry(row.class.to_string()).or_default();
            class.count += row.count as f64;
            class.sum += row.sum_ns.as_secs_f64();
            class.squares += row.sum_of_squares;
        }
    }
    Ok(cv_within(classes.into_values()))
}
