//! [`Closed`]: clients that wait for their answers.

use rand_distr::{Distribution, Exp1};

use super::later::Later;
use super::request::Request;
use super::source::{Answer, Draw, Source};
use crate::draw::Random;

/// A number of clients, each of which thinks for an exponential time, sends a request, waits until
/// it is served or rejected, and thinks again.
#[derive(Debug, Clone)]
pub(crate) struct Closed {
    /// Clients that think, and until when.
    thinking: Later<u32>,
    /// Mean, in seconds.
    think: f64,
    /// What an answer and the next request take to get there, in seconds.
    network: f64,
    draw: Draw,
    random: Random,
}

impl Closed {
    pub(crate) fn new(clients: u32, (think, network): (f64, f64), draw: Draw, random: Random) -> Self {
        let mut closed = Self { thinking: Later::default(), think, network, draw, random };
        (0..clients).for_each(|client| closed.think(0.0, client));
        closed
    }

    fn think(&mut self, now: f64, client: u32) {
        let unit: f64 = Exp1.sample(&mut self.random);
        self.thinking.add(now + self.network + unit * self.think, client);
    }
}

impl<R: Request> Source<R> for Closed {
    fn next(&self) -> f64 {
        self.thinking.next()
    }

    fn take(&mut self) -> R {
        let (at, client) = self.thinking.take().unwrap_or((0.0, 0));
        self.draw.request(at, client)
    }

    fn answered(&mut self, now: f64, request: &R) -> Answer {
        self.think(now, request.job().whose);
        Answer::Wanted
    }

    fn rejected(&mut self, now: f64, request: &R) -> bool {
        self.think(now, request.job().whose);
        false
    }
}
