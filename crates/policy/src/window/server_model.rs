//! Simulated servers that a window is put in front of.

use alloc::vec::Vec;

use fastrand::Rng;
use units::{Span, Time};

use super::places::Places;
use super::setting::Window;

/// How requests that are inside get on.
#[derive(Debug, Clone, Copy)]
pub(super) enum Server {
    /// So many processors, shared by all inside.
    Sharing(u32),
    /// One thing at a time, in order, as an event loop does.
    Loop,
    /// One processor, which needs so many times a request's time besides for all that are inside together: it is woken, changes from
    /// one program to the other, and finds its caches cold.
    Waking(f64),
    /// So many workers that each wait for something else; others queue.
    Workers(u32),
}

impl Server {
    /// How many requests it works on at once.
    pub(super) fn knee(self) -> u32 {
        match self {
            Self::Loop | Self::Waking(_) => 1,
            Self::Sharing(knee) | Self::Workers(knee) => knee,
        }
    }
}

/// What requests cost: mean service time, and how it varies.
#[derive(Debug, Clone, Copy)]
pub(super) enum Demand {
    Equal,
    Exponential,
    /// Half costs a hundredth of what the other half does: pages and their images.
    Mixed,
    /// Nine of ten cost a hundredth of what the tenth does.
    FewHeavy,
    /// Pages and their images as well, but the more places there are, the more of those that are let in are images: of
    /// requests, the server finishes more then, and of work as much as before.
    Lightening,
}

impl Demand {
    /// What a request costs that is let in while there are so many places.
    fn draw(self, mean: f64, places: u32, rng: &mut Rng) -> f64 {
        match self {
            Self::Equal => mean,
            Self::Exponential => -mean * (1.0 - rng.f64()).ln(),
            Self::Mixed => mean * if rng.bool() { 1.98 } else { 0.0198 },
            Self::FewHeavy => mean * if rng.u32(0..10) == 0 { 9.174 } else { 0.09174 },
            Self::Lightening => mean * if rng.u32(0..places + 2) < 2 { 1.98 } else { 0.0198 },
        }
    }
}

#[derive(Debug)]
struct Inside {
    dispatched: Time,
    /// Seconds that it is on its way to the server and back, when nothing of the server is needed.
    apart: f64,
    left: f64,
    /// What is known of what it costs.
    work: f64,
    /// What each that was always inside had had of the server by then.
    begun: f64,
}

/// A server with a window in front of it, and what it has done.
#[derive(Debug)]
pub(super) struct ServerModel {
    pub(super) places: Places,
    pub(super) server: Server,
    demand: Demand,
    /// Mean service time, in seconds.
    pub(super) mean: f64,
    /// Mean time that a request is inside and needs nothing of the server.
    pub(super) apart: f64,
    /// Requests that come per second; without it there are always more.
    pub(super) offered: Option<f64>,
    /// So many clients there are, each with one request.
    pub(super) clients: usize,
    waiting: u32,
    /// Seconds until the next comes.
    comes: f64,
    inside: Vec<Inside>,
    /// What a request has had of the server that was always inside, in seconds.
    had: f64,
    pub(super) now: Time,
    rng: Rng,
}

/// What came of a stretch of time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Measured {
    /// Requests finished per second.
    pub(super) rate: f64,
    /// Mean size of the window over time.
    pub(super) size: f64,
    /// Mean time inside the server, in seconds.
    pub(super) inside: f64,
}

impl ServerModel {
    pub(super) fn new(window: Window, server: Server, demand: Demand, seed: u64) -> Self {
        Self {
            places: Places::new(window),
            server,
            demand,
            mean: 0.01,
            apart: 0.0,
            offered: None,
            clients: usize::MAX,
            waiting: 0,
            comes: 0.0,
            inside: Vec::new(),
            had: 0.0,
            now: Time::ZERO,
            rng: Rng::with_seed(seed),
        }
    }

    /// Goes on until so many more are done.
    pub(super) fn run(&mut self, requests: u32) -> Measured {
        let (began, mut size, mut inside) = (self.now, 0.0, 0.0);
        for _ in 0..requests {
            let Inside { dispatched, work, begun, .. } = loop {
                self.fill();
                let (before, offered) = (self.now, self.places.size());
                let number = self.inside.len() as f64;
                let done = self.advance();
                if number > 0.0 {
                    self.had += self.now.since(before).as_secs_f64() / number;
                }
                size += f64::from(offered) * self.now.since(before).as_secs_f64();
                if let Some(done) = done {
                    break done;
                }
            };
            inside += self.now.since(dispatched).as_secs_f64();
            self.places.observe(self.now, dispatched, self.had - begun, work);
            self.places.give_back(self.now, dispatched, work);
        }
        let seconds = self.now.since(began).as_secs_f64();
        let requests = f64::from(requests);
        Measured { rate: requests / seconds, size: size / seconds, inside: inside / requests }
    }

    fn fill(&mut self) {
        let has_more = |model: &Self| {
            model.inside.len() < model.clients && (model.offered.is_none() || model.waiting > 0)
        };
        while self.places.free(0) > 0 && has_more(self) {
            self.waiting = self.waiting.saturating_sub(1);
            self.places.take(self.now);
            let places = self.places.size();
            let apart = Demand::Exponential.draw(self.apart, places, &mut self.rng);
            let left = self.demand.draw(self.mean, places, &mut self.rng);
            let work = if matches!(self.demand, Demand::Lightening) { left } else { self.mean };
            self.inside.push(Inside { dispatched: self.now, apart, left, work, begun: self.had });
        }
        let waiting = if self.offered.is_some() { self.waiting } else { u32::from(u16::MAX) };
        self.places.crowd(self.now, waiting);
    }

    /// Goes on until something happens; gives the request that is done.
    fn advance(&mut self) -> Option<Inside> {
        let there = self.inside.iter().filter(|one| one.apart == 0.0).count();
        let (mut next, mut before) = (f64::INFINITY, 0);
        for one in &self.inside {
            before += u32::from(one.apart == 0.0);
            next = next.min(if one.apart > 0.0 { one.apart } else { one.left / self.speed(there, before) });
        }
        if let Some(rate) = self.offered {
            if self.comes <= next {
                next = self.comes;
                self.waiting += 1;
                self.comes = Demand::Exponential.draw(1.0 / rate, 0, &mut self.rng);
            } else {
                self.comes -= next;
            }
        }
        before = 0;
        let server = (self.server, there);
        for one in &mut self.inside {
            if one.apart > 0.0 {
                one.apart = if one.apart - next <= 1e-12 { 0.0 } else { one.apart - next };
            } else {
                before += 1;
                one.left -= next * speed(server.0, server.1, before);
            }
        }
        self.now += Span::from_secs(1).mul_f64(next);
        let done = self.inside.iter().position(|one| one.apart == 0.0 && one.left <= 1e-12)?;
        Some(self.inside.remove(done))
    }

    fn speed(&self, there: usize, before: u32) -> f64 {
        speed(self.server, there, before)
    }
}

/// How fast a request is worked on, by its position among those that are there.
fn speed(server: Server, there: usize, place: u32) -> f64 {
    match server {
        Server::Sharing(processors) => (f64::from(processors) / there as f64).min(1.0),
        Server::Waking(besides) => 1.0 / (there as f64 + besides),
        Server::Loop => f64::from(u8::from(place == 1)),
        Server::Workers(workers) => f64::from(u8::from(place <= workers)),
    }
}
