//! What no admission can exceed.

use super::model::SessionModel;

/// Sessions that can be completed at most of those that `started` in so many seconds, class by class, by an admission that knows beforehand what each will ask
/// for, when, and how long its user waits: it begins none that it does not finish, and refuses the others at no cost. All of the time of the processors
/// goes into sessions that are completed then, those of the more important classes first; requests need what they need on
/// average. How pauses and patience lie in time is left out, so it can be less, but not more.
pub(super) fn completed_at_most(model: &SessionModel, started: &[f64], seconds: f64) -> Vec<f64> {
    let mut left = f64::from(model.host.processors) * seconds;
    let mut order: Vec<usize> = (0..started.len()).collect();
    order.sort_by_key(|class| model.importance(*class));
    let mut completed = vec![0.0; started.len()];
    for class in order {
        let demand = model.demand_of(class);
        completed[class] = started[class].min(left / demand);
        left -= completed[class] * demand;
    }
    completed
}
