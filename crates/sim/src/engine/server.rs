//! [`Server`]: threads, and the queue before them.

use std::collections::VecDeque;

use super::processor::Processor;
use super::serving::Serving;
use crate::watch::TierUse;

/// A limited number of threads that share a processor, and a queue in which requests wait for one
/// of them, first come, first served.
#[derive(Debug, Clone)]
pub(crate) struct Server<P: Processor> {
    processor: P,
    threads: usize,
    room: usize,
    waiting: VecDeque<P::Request>,
    usage: Usage,
}

/// What was in the server, over time.
#[derive(Debug, Clone)]
struct Usage {
    /// Up to when the areas count.
    at: f64,
    /// Processors at work, times seconds.
    busy: f64,
    /// Requests in the server, times seconds.
    present: f64,
    processors: f64,
}

impl<P: Processor> Server<P> {
    /// A server with room for `room` requests beyond those that have one of its `threads`.
    pub(crate) fn new(processor: P, processors: f64, threads: usize, room: usize) -> Self {
        let usage = Usage { at: 0.0, busy: 0.0, present: 0.0, processors };
        Self { processor, threads, room, waiting: VecDeque::new(), usage }
    }

    /// Requests in the server, queue included.
    #[inline]
    pub(crate) fn present(&self) -> usize {
        self.processor.len() + self.waiting.len()
    }

    #[inline]
    fn pass(&mut self, now: f64) {
        let elapsed = now - self.usage.at;
        self.usage.at = now;
        self.usage.busy += elapsed * self.usage.processors.min(self.processor.working() as f64);
        self.usage.present += elapsed * self.present() as f64;
    }
}

impl<P: Processor> Serving for Server<P> {
    type Request = P::Request;

    #[inline]
    fn offer(&mut self, now: f64, request: P::Request) -> bool {
        self.pass(now);
        if self.processor.len() < self.threads {
            self.processor.start(now, request);
        } else if self.waiting.len() < self.room {
            self.waiting.push_back(request);
        } else {
            return false;
        }
        true
    }

    #[inline]
    fn next(&self) -> f64 {
        self.processor.next()
    }

    #[inline]
    fn advance(&mut self, now: f64) -> Option<P::Request> {
        self.pass(now);
        let job = self.processor.advance(now);
        // A thread may be free although nothing was served, and not be although something was.
        if self.processor.len() < self.threads
            && let Some(next) = self.waiting.pop_front()
        {
            self.processor.start(now, next);
        }
        job
    }

    fn waiting(&self) -> usize {
        self.waiting.len()
    }

    fn in_service(&self) -> usize {
        self.processor.len()
    }

    fn tiers(&mut self, now: f64) -> Vec<TierUse> {
        self.processor.tiers(now)
    }

    fn areas(&mut self, now: f64) -> (f64, f64) {
        self.pass(now);
        (self.usage.busy, self.usage.present)
    }
}
