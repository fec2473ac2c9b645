//! [`Simulation`]: what happens next, again and again.

use super::request::Request;
use super::serving::Serving;
use super::source::{Answer, Source};
use crate::course::Course;
use crate::levels::Levels;
use crate::watch::{TierUse, Watch};

/// Sees what happens; by default nothing of it.
trait Onlooker<V: Serving> {
    /// Something happens `now`; the server is as it has been until then.
    fn before(&mut self, _now: f64, _server: &V) {}

    /// A request is sent for the first time.
    fn began(&mut self, _now: f64) {}

    /// One was answered that was waited for.
    fn answered(&mut self, _now: f64, _arrived: f64) {}
}

impl<V: Serving> Onlooker<V> for () {}

impl<V: Serving> Onlooker<V> for Levels {
    fn before(&mut self, now: f64, server: &V) {
        self.pass(now, server.waiting(), server.in_service());
    }
}

impl<V: Serving> Onlooker<V> for Course {
    fn began(&mut self, now: f64) {
        Self::began(self, now);
    }

    fn answered(&mut self, now: f64, arrived: f64) {
        Self::answered(self, now, arrived);
    }
}

/// A source and a server, at a point in time.
#[derive(Debug, Clone)]
pub(crate) struct Simulation<S, V> {
    source: S,
    server: V,
    /// What requests take besides, in seconds, outside of the server.
    network: f64,
    now: f64,
}

impl<V: Serving, S: Source<V::Request>> Simulation<S, V> {
    pub(crate) fn new(source: S, server: V, network: f64) -> Self {
        Self { source, server, network, now: 0.0 }
    }

    /// Goes on until so many more requests have come, or nothing can happen any more; gives how
    /// many arrivals and completions there were.
    pub(crate) fn run(&mut self, requests: u64, watch: &mut Watch) -> u64 {
        if let Some(mut levels) = watch.levels.take() {
            levels.begin(self.now, self.server.waiting(), self.server.in_service());
            let events = self.go_on(requests, watch, &mut levels);
            watch.levels = Some(levels);
            return events;
        }
        if let Some(mut course) = watch.course.take() {
            let events = self.go_on(requests, watch, &mut course);
            watch.course = Some(course);
            return events;
        }
        self.go_on(requests, watch, &mut ())
    }

    /// As [`Self::run`], with a loop of its own for callers that want to see what happens.
    fn go_on(&mut self, requests: u64, watch: &mut Watch, onlooker: &mut impl Onlooker<V>) -> u64 {
        watch.began = self.now;
        let (busy, present) = self.server.areas(self.now);
        let tiers = self.server.tiers(self.now);
        let (mut arrivals, mut completions) = (0, 0);
        while arrivals < requests {
            let (arrival, completion) = (self.source.next(), self.server.next());
            if completion <= arrival {
                if completion == f64::INFINITY {
                    break;
                }
                onlooker.before(completion, &self.server);
                self.now = completion;
                if let Some(request) = self.server.advance(completion) {
                    completions += 1;
                    let job = request.job();
                    match self.source.answered(completion, &request) {
                        Answer::Wanted => {
                            watch.served(job.class, completion - job.arrived + self.network);
                            onlooker.answered(completion + self.network, job.arrived);
                        }
                        Answer::TooLate { is_lost } => watch.too_late(job.class, is_lost),
                    }
                }
            } else {
                onlooker.before(arrival, &self.server);
                self.now = arrival;
                arrivals += 1;
                let request = self.source.take();
                if self.source.is_new(&request) {
                    onlooker.began(arrival);
                }
                let accepted = self.server.offer(arrival, request);
                watch.arrived(request.job().class, accepted);
                if !accepted && !self.source.rejected(arrival, &request) {
                    watch.lost(request.job().class);
                }
            }
        }
        watch.ended = self.now;
        let areas = self.server.areas(self.now);
        (watch.busy, watch.present) = (areas.0 - busy, areas.1 - present);
        watch.tiers = TierUse::since(self.server.tiers(self.now), tiers);
        arrivals + completions
    }
}
