//! [`Throttled`]: processors that stand for a part of the time.

use super::job::Job;
use super::processor::Processor;
use crate::model::Quota;

/// Processors that have a [`Quota`]: when their work in a period has come to it, all of them stand until the next begins.
///
/// What is throttled lives in a time of its own, which stands when it stands. Periods follow one another while there is
/// work; after a whole one without any the next begins with the next job, as the kernel's timer does. Not simulated: that
/// the kernel hands the quota out in slices to each processor.
#[derive(Debug, Clone)]
pub(crate) struct Throttled<P> {
    processor: P,
    processors: f64,
    /// Seconds of work in a period.
    quota: f64,
    period: f64,
    /// When the period is over.
    ends: f64,
    /// Work in it, until `at`.
    used: f64,
    at: f64,
    /// Since when it is throttled, if it is.
    since: Option<f64>,
    /// For how long it was before.
    throttled: f64,
}

/// What happens next.
enum Event {
    /// Something of the processor.
    Inner,
    /// The quota is used up.
    Throttle,
    /// A period is over.
    Period,
}

impl<P: Processor<Request = Job>> Throttled<P> {
    pub(crate) fn new(processor: P, processors: u32, quota: Quota) -> Self {
        let processors = f64::from(processors);
        let Quota { processors: may_use, period } = quota;
        Self {
            processor,
            processors,
            quota: may_use * period,
            period,
            ends: f64::NEG_INFINITY,
            used: 0.0,
            at: 0.0,
            since: None,
            throttled: 0.0,
        }
    }

    /// Processors at work.
    fn at_work(&self) -> f64 {
        self.processors.min(self.working() as f64)
    }

    fn pass(&mut self, now: f64) {
        self.used += (now - self.at) * self.at_work();
        self.at = now;
    }

    fn happens(&self) -> (Event, f64) {
        if self.since.is_some() {
            return (Event::Period, self.ends);
        }
        let inner = self.processor.next() + self.throttled;
        let at_work = self.at_work();
        if at_work == 0.0 {
            return (Event::Inner, inner);
        }
        let up = self.at + (self.quota - self.used).max(0.0) / at_work;
        if inner <= up && inner <= self.ends {
            (Event::Inner, inner)
        } else if up < self.ends {
            (Event::Throttle, up)
        } else {
            (Event::Period, self.ends)
        }
    }

    fn begin_period(&mut self, now: f64) {
        if let Some(since) = self.since.take() {
            self.throttled += now - since;
        }
        self.used = 0.0;
        self.ends = now + self.period;
    }
}

impl<P: Processor<Request = Job>> Processor for Throttled<P> {
    type Request = Job;

    fn len(&self) -> usize {
        self.processor.len()
    }

    fn working(&self) -> usize {
        if self.since.is_some() { 0 } else { self.processor.working() }
    }

    fn start(&mut self, now: f64, job: Job) {
        self.pass(now);
        if self.since.is_none() && now >= self.ends {
            // Without work no period has been seen to end.
            let is_long_ago = now - self.ends >= self.period;
            self.begin_period(if is_long_ago { now } else { self.ends });
        }
        let own = self.since.unwrap_or(now) - self.throttled;
        self.processor.start(own, job);
    }

    fn next(&self) -> f64 {
        self.happens().1
    }

    fn advance(&mut self, now: f64) -> Option<Job> {
        let (event, _) = self.happens();
        self.pass(now);
        match event {
            Event::Inner => return self.processor.advance(self.processor.next()),
            Event::Throttle => self.since = Some(now),
            Event::Period => self.begin_period(now),
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::any::Any;
    use crate::model::Discipline;

    /// When jobs of so many milliseconds that come then are done.
    fn done(processors: u32, may_use: f64, discipline: Discipline, jobs: &[(f64, f64)]) -> Vec<f64> {
        let quota = Quota { processors: may_use, period: 100.0 };
        let mut throttled = Throttled::new(Any::new(discipline, 10, processors), processors, quota);
        let mut done = vec![0.0; jobs.len()];
        let mut until = |throttled: &mut Throttled<Any>, until: f64| {
            while throttled.next() <= until && throttled.next() < f64::INFINITY {
                let now = throttled.next();
                if let Some(job) = throttled.advance(now) {
                    done[job.whose as usize] = now;
                }
            }
        };
        for (whose, (arrived, demand)) in (0..).zip(jobs.iter().copied()) {
            until(&mut throttled, arrived);
            throttled.start(arrived, Job { arrived, demand, class: 0, whose });
        }
        until(&mut throttled, f64::INFINITY);
        done
    }

    #[test]
    fn what_has_used_its_quota_stands_until_the_next_period() {
        for discipline in ["ps", "fcfs", "lcfs"] {
            let done = |processors, may_use, jobs: &[(f64, f64)]| {
                done(processors, may_use, discipline.parse().unwrap(), jobs)
            };
            // The period begins with the work.
            assert_eq!(done(1, 0.5, &[(30.0, 40.0)]), [70.0]);
            assert_eq!(done(1, 0.5, &[(30.0, 80.0)]), [160.0]);
            assert_eq!(done(1, 0.5, &[(0.0, 120.0)]), [220.0]);
            // Two processors use it up in half the time.
            assert_eq!(done(2, 1.0, &[(0.0, 80.0), (0.0, 80.0)]), [130.0, 130.0]);
            assert_eq!(done(2, 1.0, &[(0.0, 80.0)]), [80.0]);
            // The next period begins where this one ends, if there is work in it or in this one.
            assert_eq!(done(1, 0.5, &[(0.0, 50.0), (90.0, 40.0)]), [50.0, 140.0]);
            assert_eq!(done(1, 0.5, &[(0.0, 20.0), (80.0, 60.0)]), [20.0, 140.0]);
            assert_eq!(done(1, 0.5, &[(0.0, 20.0), (180.0, 60.0)]), [20.0, 240.0]);
            assert_eq!(done(1, 0.5, &[(0.0, 20.0), (280.0, 60.0)]), [20.0, 390.0]);
        }
    }

    #[test]
    fn who_comes_while_it_stands_waits() {
        // 50 of 60, and the other 10 with 5 of the second.
        let done = done(1, 0.5, Discipline::Sharing, &[(0.0, 60.0), (70.0, 5.0)]);
        assert_eq!(done, [115.0, 110.0]);
    }
}
