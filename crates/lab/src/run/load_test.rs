//! One test at a given load: a fresh server, what stands in front of it, fresh as well, and the generator.

use std::path::Path;

use record::Summary;
use record::experiment::TestState;
use units::Rate;

use super::plan::Planned;
use super::runner::Runner;
use super::set_up::{TestOutcome, with_all_set_up};
use super::validation;
use crate::error::Error;
use crate::load::generator::{Offer, Run};
use crate::monitor::Monitor;
use crate::progress::Event;

/// Where the records and files of a test are.
pub(super) struct Places<'a> {
    /// Of the experiment.
    pub(super) record: &'a Path,
    /// Of the test.
    pub(super) out: &'a Path,
    /// The file of sessions.
    pub(super) workload: &'a Path,
}

/// Does the test once; `best` is what the generator gets from the reference server, per second.
pub(super) fn attempt(
    runner: &Runner,
    planned: &Planned,
    offered: Rate,
    places: &Places,
    best: Option<f64>,
) -> Result<TestOutcome, Error> {
    let &Places { record, out, workload } = places;
    let summary = with_all_set_up(runner, planned, record, out, |set_up| {
        let mut monitor = runner.monitor(set_up.server, out);
        let run = Run {
            authority: set_up.authority,
            workload,
            offer: Offer::Rate(offered),
            warmup: runner.spec.test.warmup,
            duration: runner.spec.test.duration,
            seed: planned.seed,
            out,
        };
        let summary = runner.generator().run(&run, runner.stop, || {
            runner.progress.tell(Event::Tick);
            set_up.front.iter_mut().for_each(|front| front.look(runner.testbed));
        });
        monitor.iter_mut().for_each(Monitor::end);
        summary
    })?;
    let mut why = Vec::new();
    let state = judge(&summary, &mut why);
    why.extend(validation::is_near_generators(summary.requests as f64 / summary.duration, best));
    Ok(TestOutcome { state, capacity: None, why })
}

fn judge(summary: &Summary, why: &mut Vec<String>) -> TestState {
    if summary.interrupted {
        why.push("it was stopped before its time".to_owned());
    }
    why.extend(summary.client.why_invalid.iter().cloned());
    let wrong = not_asked_for(summary);
    let is_wrong = wrong.is_some();
    why.extend(wrong);
    let counts = summary.client.valid && !summary.interrupted && !is_wrong;
    if counts { TestState::Measured } else { TestState::NotValid }
}

/// That most responses say that the request was wrong (RFC 9110, section 15.5): what is measured then is not the
/// workload. With 429 a server says that there are too many.
fn not_asked_for(summary: &Summary) -> Option<String> {
    let of_client = summary.status.range(400..500).filter(|(status, _)| **status != 429);
    let wrong: u64 = of_client.clone().map(|(_, count)| count).sum();
    let (status, _) = of_client.max_by_key(|(_, count)| **count)?;
    (wrong * 2 > summary.responses).then(|| {
        format!(
            "{wrong} of {} responses had a status of 400 to 499, mostly {status}: the server does not serve what the workload asks for",
            summary.responses
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_workload_that_the_server_does_not_have_does_not_count() {
        let judged = |statuses: &[(u16, u64)]| {
            let mut summary = Summary { responses: 100, ..Summary::default() };
            summary.client.valid = true;
            summary.status.extend(statuses.iter().copied());
            let mut why = Vec::new();
            (judge(&summary, &mut why), why.join(""))
        };
        let (state, why) = judged(&[(200, 40), (403, 10), (404, 50)]);
        assert_eq!(state, TestState::NotValid);
        assert!(why.starts_with("60 of 100 responses had a status of 400 to 499, mostly 404"), "{why}");
        // An overloaded server refuses.
        for statuses in [[(200, 10), (503, 90)], [(200, 10), (429, 90)], [(200, 60), (404, 40)]] {
            assert_eq!(judged(&statuses), (TestState::Measured, String::new()));
        }
    }
}
