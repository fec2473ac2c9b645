//! What can be computed without chance: oracles for the simulator, and answers in their own right.

mod birth_death;
mod mva;
mod quasi_birth_death;

use serde::Serialize;
use traffic::Process;

use crate::draw::{Arrivals, Service};
use crate::model::{Discipline, Model, ModelError, Offered};

pub(crate) use self::mva::mva;

/// What a model does in the long run, exactly.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Solution {
    /// How it was found.
    pub method: Method,
    /// The share of requests that are rejected.
    pub rejected: f64,
    /// The mean time from arrival to completion, in seconds, of the requests that are served.
    pub latency: f64,
    /// The same for each class, in the model's order.
    pub latency_by_class: Vec<f64>,
    /// The share of the processors' time in which they work.
    pub utilization: f64,
    /// Requests served per second.
    pub throughput: f64,
    /// Requests in the server on average, queue included.
    pub present: f64,
}

/// A way to an exact solution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// A finite Markov chain whose levels are the number of requests present: Poisson or
    /// hyperexponential arrivals, one or two exponential classes, processor sharing between a limited
    /// number of threads, a finite queue.
    QuasiBirthDeath,
    /// Processor sharing without a queue under Poisson arrivals: only the mean of what requests need matters
    /// (Kelly, "Reversibility and Stochastic Networks", section 3.3).
    InsensitiveLoss,
    /// Processor sharing between any number of requests under Poisson arrivals (Kleinrock, "Queueing
    /// Systems", volume 2, section 4.4).
    InsensitiveSharing,
    /// First come, first served with exponential needs and Poisson arrivals: M/M/c/K.
    Markov,
    /// First come, first served by one processor without a limit: Pollaczek and Khinchine's formula.
    PollaczekKhinchine,
    /// A closed network of product form, without a limit: exact mean value analysis.
    MeanValueAnalysis,
}

impl Method {
    const ALL: [Self; 6] = [
        Self::QuasiBirthDeath,
        Self::InsensitiveLoss,
        Self::InsensitiveSharing,
        Self::Markov,
        Self::PollaczekKhinchine,
        Self::MeanValueAnalysis,
    ];

    /// What a model has to be for it, in the words of the command line.
    const fn needs(self) -> &'static str {
        match self {
            Self::QuasiBirthDeath => {
                "--discipline ps, a finite queue, poisson or h2 arrivals, --service exponential, one or two classes"
            }
            Self::InsensitiveLoss => "--discipline ps, --queue 0, poisson arrivals",
            Self::InsensitiveSharing => {
                "--discipline ps, --queue none, poisson arrivals, one processor, 100000 threads or more (so many never limit it)"
            }
            Self::Markov => "--discipline fcfs, poisson arrivals, --service exponential, one class",
            Self::PollaczekKhinchine => "--discipline fcfs, --queue none, poisson arrivals, one processor",
            Self::MeanValueAnalysis => {
                "a model file with clients, of one class, with at least as many threads, one processor, at most one disk, and ps or --service exponential (which a disk needs)"
            }
        }
    }

    /// What it is called.
    pub const fn name(self) -> &'static str {
        match self {
            Self::QuasiBirthDeath => "quasi-birth-death process",
            Self::InsensitiveLoss => "M/G/1/K-PS, insensitive",
            Self::InsensitiveSharing => "M/G/1-PS, insensitive",
            Self::Markov => "M/M/c/K",
            Self::PollaczekKhinchine => "M/G/1, Pollaczek-Khinchine",
            Self::MeanValueAnalysis => "mean value analysis",
        }
    }
}

/// Why there is no exact solution.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ExactError {
    /// The model makes no sense.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// No method fits.
    #[error(
        "no exact solution is known for this model; simulate it instead, or make it one of these, without links, kept connections or retries:{}",
        methods()
    )]
    NoMethod,
    /// A chain that takes too long, or too much memory.
    #[error(
        "its Markov chain has {levels} levels of up to {states} states, which is too much to compute; give a shorter queue or fewer threads, or simulate it instead"
    )]
    TooLarge {
        /// Numbers of requests that may be in the server.
        levels: u64,
        /// States with the same number, at most.
        states: u64,
    },
    /// Numbers are not exact enough.
    #[error(
        "its Markov chain cannot be solved: at {level} requests its rates differ by more than numbers can tell; bring what the classes need nearer to one another, or simulate it instead"
    )]
    Singular {
        /// How many requests are in the server there.
        level: usize,
    },
}

fn methods() -> String {
    Method::ALL.map(|method| format!("\n  {}: {}", method.name(), method.needs())).concat()
}

/// Requests that share a processor from this many threads on are treated as if there were no limit.
const UNLIMITED_THREADS: u32 = 100_000;

/// A number of clients, centres that exponential needs leave as they are, and threads and a queue that never
/// limit them.
fn closed(model: &Model) -> Option<Solution> {
    let (Offered::Clients(clients, think), [class]) = (model.offered, model.classes.as_slice()) else {
        return None;
    };
    let room = u64::from(model.threads) + model.queue.map_or(u64::MAX / 2, u64::from);
    let unlimited = u64::from(model.threads) >= u64::from(clients) && room >= u64::from(clients);
    let product_form = model.discipline == Discipline::Sharing || model.service == Service::Exponential;
    let disk = class.disk <= 0.0 || (model.service == Service::Exponential && model.equipment.disks == 1);
    if !(unlimited && product_form && disk && model.processors == 1 && model.equipment.is_bare()) {
        return None;
    }
    let closed = mva(&[class.demand, class.disk], clients, think);
    Some(Solution {
        method: Method::MeanValueAnalysis,
        rejected: 0.0,
        latency: closed.latency,
        latency_by_class: vec![closed.latency],
        utilization: closed.throughput * class.demand,
        throughput: closed.throughput,
        present: closed.throughput * closed.latency,
    })
}

/// Solves a model exactly.
///
/// # Errors
/// When the model makes no sense, or no method fits it.
pub fn solve(model: &Model) -> Result<Solution, ExactError> {
    model.check()?;
    model.check_without_gate()?;
    let (Some(rate), true, None) = (model.rate(), model.is_bare(), model.retries) else {
        return closed(model).ok_or(ExactError::NoMethod);
    };
    let poisson = match &model.arrivals {
        Arrivals::Renewal(Process::Poisson) => true,
        Arrivals::Renewal(Process::Hyperexponential { cv, .. }) => *cv <= 1.0,
        _ => false,
    };
    let renewal = matches!(model.arrivals, Arrivals::Renewal(Process::Hyperexponential { .. }));
    let exponential = matches!(model.service, Service::Exponential | Service::Erlang { stages: 1 });
    let alike = model.classes.len() == 1;
    match (model.discipline, model.queue) {
        (Discipline::Sharing, Some(0)) if poisson => birth_death::loss(model),
        (Discipline::Sharing, None)
            if poisson && model.threads >= UNLIMITED_THREADS && model.processors == 1 =>
        {
            birth_death::sharing(model)
        }
        (Discipline::Sharing, Some(queue))
            if (poisson || renewal) && exponential && model.classes.len() <= 2 =>
        {
            quasi_birth_death::solve(model, rate, queue)
        }
        (Discipline::FirstCome, _) if poisson && exponential && alike => birth_death::markov(model),
        (Discipline::FirstCome, None) if poisson && model.processors == 1 => {
            Ok(birth_death::first_come(model))
        }
        _ => Err(ExactError::NoMethod),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_methods_are_named_where_none_fits() {
        let why = solve(&Model { queue: Some(5), ..Model::default() }).unwrap_err();
        assert_eq!(why, ExactError::NoMethod);
        for method in Method::ALL {
            assert!(why.to_string().contains(method.name()), "{why}");
        }
        assert!(why.to_string().contains(&format!("{UNLIMITED_THREADS} threads or more")), "{why}");
    }
}
