//! [`Stopping`]: whether a run ends before its time because an objective has been missed for too long.

use record::Window;
use units::{Span, Time};

use crate::measure::aggregate::Aggregate;
use crate::measure::objective::Objective;
use crate::settings::options::Options;
use crate::settings::stop::StopWhen;

/// Objectives, and since when each has been missed.
#[derive(Debug)]
pub(crate) struct Stopping {
    window: Window,
    watched: Vec<Watched>,
}

#[derive(Debug)]
struct Watched {
    objective: Objective,
    span: Span,
    missed_since: Option<Time>,
}

impl Stopping {
    pub(crate) fn new(options: &Options) -> Self {
        let watch = |stop: &StopWhen| -> Vec<Watched> {
            let own = stop.objective.as_ref().map(std::slice::from_ref);
            let objectives = own.unwrap_or(&options.objectives).iter().cloned();
            objectives.map(|objective| Watched { objective, span: stop.span, missed_since: None }).collect()
        };
        Self { window: options.window(), watched: options.stop.iter().flat_map(watch).collect() }
    }

    pub(crate) fn is_watching(&self) -> bool {
        !self.watched.is_empty()
    }

    /// Looks at what has ended between `before` and `now`, how much of the work was done per second meanwhile, and for
    /// how many requests clients wait, as far as that is known.
    /// Says why the run is over, if it is.
    pub(crate) fn see(
        &mut self,
        (before, now): (Time, Time),
        recent: &Aggregate,
        rate: f64,
        waiting: u64,
    ) -> Option<String> {
        if !self.window.contains(before) {
            return None;
        }
        let mut over = None;
        for watched in &mut self.watched {
            let result = watched.objective.judge(recent, Some(rate));
            // Silence is a miss only where somebody waits for the response that would have been measured.
            let waits = watched.objective.is_of_responses() && (waiting > 0 || recent.requests > 0);
            if result.met || (result.measured.is_none() && !waits) {
                watched.missed_since = None;
                continue;
            }
            let since = *watched.missed_since.get_or_insert(before);
            if now.since(since) >= watched.span {
                over.get_or_insert_with(|| format!("{} was missed for {}", watched.objective, watched.span));
            }
        }
        over
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stopping(stop: &str) -> Stopping {
        let stop: StopWhen = stop.parse().unwrap();
        let watched = Watched { objective: stop.objective.unwrap(), span: stop.span, missed_since: None };
        Stopping {
            window: Window::new(Time::ZERO + Span::from_secs(2), Span::from_secs(100)),
            watched: vec![watched],
        }
    }

    /// The second at which the run is over, where so many of 100 requests fail in each second.
    fn over(stop: &str, failures: &[u64]) -> Option<u64> {
        let mut stopping = stopping(stop);
        let mut seconds = (0..).zip(failures);
        seconds.find_map(|(second, failed)| {
            let at = |second| Time::ZERO + Span::from_secs(second);
            let mut recent = Aggregate::default();
            (recent.requests, recent.responses, recent.errors.reset) = (100, 100 - failed, *failed);
            stopping.see((at(second), at(second + 1)), &recent, 100.0, 1).map(|_| second + 1)
        })
    }

    #[test]
    fn a_run_is_over_when_an_objective_was_missed_without_a_break() {
        assert_eq!(over("errors<10% for 3s", &[0, 0, 50, 50, 0, 50, 50, 50, 50]), Some(8));
        assert_eq!(over("errors<10% for 3s", &[0, 0, 50, 50, 0, 50, 50, 0, 50]), None);
        assert_eq!(over("errors>=10% for 1s", &[0, 0, 0, 10, 0]), Some(4));
        assert_eq!(over("rate>=101 for 2s", &[0, 0, 0, 0]), Some(4));
    }

    #[test]
    fn the_warm_up_does_not_count() {
        assert_eq!(over("errors<10% for 2s", &[50, 50, 0, 0, 0]), None);
    }

    #[test]
    fn silence_is_a_miss_only_while_somebody_waits() {
        let at = |second| Time::ZERO + Span::from_secs(second);
        let silence = Aggregate::default();
        let see = |running| stopping("p99<1s for 1s").see((at(5), at(6)), &silence, 0.0, running);
        assert_eq!(see(0), None);
        assert_eq!(see(3).as_deref(), Some("p99<1s was missed for 1s"));
    }
}
