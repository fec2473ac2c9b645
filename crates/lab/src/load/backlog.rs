//! [`Backlog`]: what was in the server in the course of a run, counted from its record.

use record::{RunDirectory, SessionOutcome, Window};
use units::Time;

use crate::error::Error;

/// What is counted of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Counted {
    #[default]
    Requests,
    /// Of a workload that has them.
    Sessions,
}

/// Requests, or sessions of a workload that has them, that had begun and not ended, at times evenly spread over
/// the measuring window. Counted from when the schedule wanted them, so that those who wait for the generator's
/// or the server's leave to begin are in it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Backlog {
    /// Arrivals in the window.
    arrivals: usize,
    inside: [f64; MOMENTS],
}

/// Times at which what is inside is counted: two batches of a quarter of them are compared.
const MOMENTS: usize = 40;
const QUARTER: usize = MOMENTS / 4;
/// Standard deviations that a backlog may be off by chance, of a number of customers who do not know of each
/// other (Poisson).
const CHANCE: f64 = 2.0;

impl Backlog {
    pub(crate) fn read(directory: &RunDirectory, counted: Counted) -> Result<Self, Error> {
        let window = directory.info()?.window;
        let mut backlog = Visits::default();
        if counted == Counted::Sessions {
            for session in directory.sessions()? {
                let session = session?;
                let end = session.started_ns + session.duration_ns + session.think_ns;
                let has_left = session.outcome == SessionOutcome::Completed;
                backlog.add(session.started_ns, has_left.then_some(end));
            }
        } else {
            for request in directory.requests()? {
                let request = request?;
                backlog.add(request.intended, request.error.is_none().then(|| request.ended()));
            }
        }
        Ok(backlog.inside(window))
    }

    /// The share of arrivals by which what is inside grew from the first quarter of the window to the last.
    /// Nothing as long as chance explains it. What arrives and never leaves adds to it.
    pub(crate) fn growth(&self) -> Option<f64> {
        let [first, last] = [mean(&self.inside[..QUARTER]), mean(&self.inside[MOMENTS - QUARTER..])];
        let growth = (last - first) / self.between();
        (growth > self.blind()).then_some(growth)
    }

    /// The share of arrivals that chance explains.
    pub(crate) fn blind(&self) -> f64 {
        CHANCE * (mean(&self.inside[..QUARTER]) + 1.0).sqrt() / self.between()
    }

    /// Arrivals from the middle of the first quarter to that of the last.
    fn between(&self) -> f64 {
        (self.arrivals as f64 * 0.75).max(1.0)
    }
}

fn mean(moments: &[f64]) -> f64 {
    stats::mean(moments.iter().copied()).unwrap_or(0.0)
}

/// When each came and when it left, ns; in any order.
#[derive(Debug, Default)]
struct Visits {
    began: Vec<u64>,
    ended: Vec<u64>,
}

impl Visits {
    fn add(&mut self, from: Time, to: Option<Time>) {
        self.began.push(from.as_nanos());
        self.ended.extend(to.map(Time::as_nanos));
    }

    fn inside(mut self, window: Window) -> Backlog {
        self.began.sort_unstable();
        self.ended.sort_unstable();
        let before = |times: &[u64], time: u64| times.partition_point(|then| *then < time);
        let length = window.to_ns.saturating_sub(window.from_ns);
        let moment = |number: usize| {
            let time = window.from_ns + length / MOMENTS as u64 * (number as u64 + 1);
            before(&self.began, time) as f64 - before(&self.ended, time) as f64
        };
        Backlog {
            arrivals: before(&self.began, window.to_ns) - before(&self.began, window.from_ns),
            inside: std::array::from_fn(moment),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A thousand a second for 2 s, each of which takes as long as is said.
    fn backlog(takes_ms: impl Fn(u64) -> Option<u64>) -> Backlog {
        let mut visits = Visits::default();
        for number in 0..2500 {
            let at = |ms: u64| Time::from_nanos(ms * 1_000_000);
            visits.add(at(number), takes_ms(number).map(|takes| at(number + takes)));
        }
        visits.inside(Window { from_ns: 300_000_000, to_ns: 2_300_000_000 })
    }

    #[test]
    fn what_takes_long_but_no_longer_is_no_growth() {
        for takes in [1, 20, 250] {
            let backlog = backlog(|_| Some(takes));
            assert_eq!((backlog.arrivals, backlog.inside[0]), (2000, takes as f64));
            assert_eq!(backlog.growth(), None);
        }
    }

    /// A server that does 960 a second: each has to wait longer than the one before, by 1/24 of the distance.
    #[test]
    fn a_server_that_is_four_per_cent_too_slow_is_found_out() {
        let growth = backlog(|number| Some(5 + number / 24)).growth().unwrap();
        assert!((growth - 0.04).abs() < 0.004, "{growth}");
    }

    #[test]
    fn those_who_never_leave_count() {
        let growth = backlog(|number| (number % 20 != 0).then_some(3)).growth().unwrap();
        assert!((growth - 0.05).abs() < 0.002, "{growth}");
        assert_eq!(backlog(|number| (number % 1000 != 0).then_some(3)).growth(), None, "two of 2000");
    }
}
