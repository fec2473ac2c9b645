//! What a server does with requests that come at known times and need known amounts.

use std::collections::VecDeque;

use crate::engine::{Job, Processor as _, Sharing};

/// A server that shares its processors among the requests that it works on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::fit) struct Server {
    pub(in crate::fit) processors: u32,
    /// Requests that it works on at a time; the others wait in the order in which they came.
    pub(in crate::fit) threads: Option<u32>,
}

/// Where no limit is known: beyond it, who waits and who is worked on hardly differ.
const NO_LIMIT: u32 = 10_000;

impl Server {
    /// How long each request was in the server, of requests that come at `times`, which rise, and need `demands`.
    pub(in crate::fit) fn replay(self, times: &[f64], demands: &[f64]) -> Vec<f64> {
        let threads = self.threads.unwrap_or(NO_LIMIT) as usize;
        let mut sharing = Sharing::new(threads, self.processors.into());
        let mut waiting = VecDeque::new();
        let mut took = vec![0.0; times.len()];
        let mut finish = |sharing: &mut Sharing, waiting: &mut VecDeque<Job>| {
            let now = sharing.next();
            if let Some(job) = sharing.advance(now) {
                took[job.whose as usize] = now - job.arrived;
            }
            if let Some(next) = waiting.pop_front() {
                sharing.start(now, next);
            }
        };
        for (whose, (at, demand)) in (0..).zip(times.iter().zip(demands)) {
            while sharing.next() <= *at {
                finish(&mut sharing, &mut waiting);
            }
            let job = Job { arrived: *at, demand: *demand, class: 0, whose };
            if sharing.len() < threads {
                sharing.start(*at, job);
            } else {
                waiting.push_back(job);
            }
        }
        while sharing.next() < f64::INFINITY {
            finish(&mut sharing, &mut waiting);
        }
        took
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn took(processors: u32, threads: Option<u32>, times: &[f64], demands: &[f64]) -> Vec<f64> {
        Server { processors, threads }.replay(times, demands)
    }

    #[test]
    fn requests_share_the_processors() {
        // Two at once, each at half the speed until the shorter one is done.
        assert_eq!(took(1, None, &[0.0, 0.0], &[1.0, 2.0]), [2.0, 3.0]);
        assert_eq!(took(2, None, &[0.0, 0.0], &[1.0, 2.0]), [1.0, 2.0]);
        // One after the other.
        assert_eq!(took(1, Some(1), &[0.0, 0.0], &[1.0, 2.0]), [1.0, 3.0]);
        assert_eq!(took(1, None, &[0.0, 5.0], &[1.0, 2.0]), [1.0, 2.0]);
    }
}
