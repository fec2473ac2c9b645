//! [`solve`]: which method a model is for.

use traffic::Process;

use super::error::ExactError;
use super::solution::{Method, Solution};
use super::{birth_death, impatient, quasi_birth_death};
use crate::draw::{Arrivals, Service};
use crate::model::{Discipline, Model, Offered};
use crate::mva::mva;

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
    let exponential = model.law(class) == Service::Exponential;
    let is_blind = model.discipline != Discipline::ShortestRemaining;
    let product_form = model.discipline == Discipline::Sharing || (exponential && is_blind);
    let disk = class.disk <= 0.0 || (model.service == Service::Exponential && model.equipment.disks == 1);
    if !(unlimited
        && product_form
        && disk
        && model.processors == 1
        && model.equipment.is_bare()
        && model.has_no_more())
    {
        return None;
    }
    let closed = mva(&[class.demand, class.disk], clients, think + model.network);
    Some(Solution {
        method: Method::MeanValueAnalysis,
        rejected: 0.0,
        given_up: None,
        lost: None,
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
    let mut solution = in_server(model)?;
    solution.latency += model.network;
    solution.latency_by_class.iter_mut().for_each(|latency| *latency += model.network);
    Ok(solution)
}

/// Without the time that requests take outside of it.
fn in_server(model: &Model) -> Result<Solution, ExactError> {
    model.check()?;
    model.check_without_gate()?;
    if model.fleet.servers > 1
        || model.has_samples()
        || model.quota.is_some()
        || (model.network > 0.0 && model.patience.is_some())
    {
        return Err(ExactError::NoMethod);
    }
    let (Some(rate), true) = (model.rate(), model.is_bare()) else {
        return closed(model).ok_or(ExactError::NoMethod);
    };
    let poisson = match &model.arrivals {
        Arrivals::Renewal(Process::Poisson) => true,
        Arrivals::Renewal(Process::Hyperexponential { cv, .. }) => *cv <= 1.0,
        _ => false,
    };
    if model.patience.is_some() || model.retries.is_some() {
        let solution = if poisson { impatient::solve(model, rate) } else { None };
        return solution.unwrap_or(Err(ExactError::NoMethod));
    }
    let renewal = matches!(model.arrivals, Arrivals::Renewal(Process::Hyperexponential { .. }));
    let exponential = matches!(model.only_law(), Some(Service::Exponential | Service::Erlang { stages: 1 }));
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
