//! [`Simulation`]: what happens next, again and again.

use super::request::Request;
use super::serving::Serving;
use super::source::{Fate, Source};
use crate::watch::Watch;

/// A source and a server, at a point in time.
#[derive(Debug, Clone)]
pub(crate) struct Simulation<S, V> {
    source: S,
    server: V,
    now: f64,
}

impl<V: Serving, S: Source<V::Request>> Simulation<S, V> {
    pub(crate) fn new(source: S, server: V) -> Self {
        Self { source, server, now: 0.0 }
    }

    /// Goes on until so many more requests have come, or nothing can happen any more; gives how
    /// many arrivals and completions there were.
    pub(crate) fn run(&mut self, requests: u64, watch: &mut Watch) -> u64 {
        let Some(mut levels) = watch.levels.take() else { return self.go_on(requests, watch, |_, _| ()) };
        levels.begin(self.now, self.server.waiting(), self.server.in_service());
        let events = self.go_on(requests, watch, |now, server| {
            levels.pass(now, server.waiting(), server.in_service());
        });
        watch.levels = Some(levels);
        events
    }

    /// As [`Self::run`]. Before something happens, `before` is told when, and sees the server as it
    /// has been until then: a loop of its own for callers that want to see, and none for others.
    fn go_on(&mut self, requests: u64, watch: &mut Watch, mut before: impl FnMut(f64, &V)) -> u64 {
        watch.began = self.now;
        let (busy, present) = self.server.areas(self.now);
        let (mut arrivals, mut completions) = (0, 0);
        while arrivals < requests {
            let (arrival, completion) = (self.source.next(), self.server.next());
            if completion <= arrival {
                if completion == f64::INFINITY {
                    break;
                }
                before(completion, &self.server);
                self.now = completion;
                if let Some(request) = self.server.advance(completion) {
                    completions += 1;
                    let job = request.job();
                    watch.served(job.class, completion - job.arrived);
                    self.source.learn(completion, &request, Fate::Served);
                }
            } else {
                before(arrival, &self.server);
                self.now = arrival;
                arrivals += 1;
                let request = self.source.take();
                let accepted = self.server.offer(arrival, request);
                watch.arrived(request.job().class, accepted);
                if !accepted && !self.source.learn(arrival, &request, Fate::Rejected) {
                    watch.lost(request.job().class);
                }
            }
        }
        watch.ended = self.now;
        let areas = self.server.areas(self.now);
        (watch.busy, watch.present) = (areas.0 - busy, areas.1 - present);
        arrivals + completions
    }
}
