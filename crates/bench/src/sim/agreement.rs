//! [`Agreement`]: whether simulators agree on what they simulate.

use stats::MeanEstimate;

use super::run::Run;
use super::simulator::Simulator;

/// What one simulator found in all its runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Agreement {
    pub(super) rejected: MeanEstimate,
    /// In seconds.
    pub(super) latency: MeanEstimate,
}

/// How many times as wide as at 95 % an interval is at 99.9 %, of a few tens of observations. Eight
/// comparisons at 95 % would find a difference that is not real in every third run of the benchmark.
const SURE: f64 = 1.8;

impl Agreement {
    pub(super) fn of(runs: &[Run], simulator: Simulator) -> Self {
        let told = || runs.iter().filter(|run| run.of == simulator).filter_map(|run| run.told.as_ref());
        Self {
            rejected: MeanEstimate::of(told().flat_map(|told| told.rejected.iter().copied())),
            latency: MeanEstimate::of(told().flat_map(|told| told.latency.iter().copied())),
        }
    }

    /// Why the two do not agree.
    pub(super) fn conflict(&self, with: &Self) -> Option<String> {
        let differ = |ours: MeanEstimate, theirs: MeanEstimate| {
            let may = SURE * ours.half_width().hypot(theirs.half_width());
            let apart = (ours.mean - theirs.mean).abs();
            apart > may || apart.is_nan()
        };
        [("rejected", self.rejected, with.rejected), ("latency", self.latency, with.latency)]
            .into_iter()
            .find(|(_, ours, theirs)| differ(*ours, *theirs))
            .map(|(what, ours, theirs)| {
                format!(
                    "another model: {what} {:.4} ± {:.4} instead of {:.4} ± {:.4}",
                    ours.mean,
                    ours.half_width(),
                    theirs.mean,
                    theirs.half_width()
                )
            })
    }
}

/// Marks runs whose simulator simulates something else than ours on one core, so that their speed does
/// not count.
pub(super) fn check(runs: &mut [Run]) {
    let ours = Agreement::of(runs, Simulator::Headworks);
    let others = [Simulator::Plain, Simulator::SimPyProcesses, Simulator::SimPyCallbacks, Simulator::Ciw];
    for simulator in others {
        let conflict = Agreement::of(runs, simulator).conflict(&ours);
        let of_it = runs.iter_mut().filter(|run| run.of == simulator);
        of_it.filter(|run| run.failure.is_none()).for_each(|run| run.failure.clone_from(&conflict));
    }
    // On all cores the figures do not merely agree, they are equal.
    let one: Vec<_> = runs
        .iter()
        .filter(|run| run.of == Simulator::Headworks)
        .map(|run| (run.round, run.told.clone()))
        .collect();
    for run in runs.iter_mut().filter(|run| run.of == Simulator::AllCores && run.failure.is_none()) {
        if !one.contains(&(run.round, run.told.clone())) {
            run.failure = Some("not the outcome that it has on one core".to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::simulator::Told;

    fn run(of: Simulator, round: u32, rejected: [f64; 2], latency: [f64; 2]) -> Run {
        let told = Told { events: 100, rejected: rejected.into(), latency: latency.into() };
        Run {
            of,
            simulator: of.name(),
            round,
            command: String::new(),
            failure: None,
            cost: None,
            told: Some(told),
        }
    }

    fn failures(others: Vec<Run>) -> Vec<Option<String>> {
        let ours = [0, 1].map(|round| run(Simulator::Headworks, round, [0.0499, 0.0501], [4.49, 4.51]));
        let mut runs: Vec<_> = ours.into_iter().chain(others).collect();
        check(&mut runs);
        runs.into_iter().skip(2).map(|run| run.failure).collect()
    }

    #[test]
    fn what_is_within_the_intervals_is_the_same() {
        let near = |round| run(Simulator::Plain, round, [0.048, 0.053], [4.4, 4.7]);
        assert_eq!(failures(vec![near(0), near(1)]), [None, None]);
    }

    #[test]
    fn another_model_fails_all_runs_of_its_simulator() {
        let slower = |round| run(Simulator::Ciw, round, [0.0499, 0.0502], [5.4, 5.5]);
        let nothing = |round| run(Simulator::SimPyCallbacks, round, [0.05, 0.05], [f64::NAN, f64::NAN]);
        let failures = failures(vec![slower(0), nothing(0), slower(1)]);
        let why = failures[0].as_deref().unwrap();
        assert!(why.starts_with("another model: latency 5.45"), "{why}");
        assert_eq!(failures[2], failures[0]);
        assert!(failures[1].is_some());
    }

    #[test]
    fn on_all_cores_nothing_may_differ() {
        let same = run(Simulator::AllCores, 0, [0.0499, 0.0501], [4.49, 4.51]);
        let other = run(Simulator::AllCores, 1, [0.0499, 0.0501], [4.49, 4.510_000_1]);
        let failures = failures(vec![same, other]);
        assert_eq!(failures[0], None);
        assert!(failures[1].is_some());
    }
}
