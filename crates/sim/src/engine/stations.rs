//! [`Stations`]: a request needs more than a processor.

use slab::Slab;

use super::delay::Delay;
use super::job::Job;
use super::processor::Processor;
use super::request::Equipped;
use super::sharing::Sharing;
use super::slices::Slices;
use crate::model::Model;

/// Where a request is, in this order; it holds a thread everywhere.
const CPU: usize = 0;
const DISK: usize = 1;
/// The server's link, which all share.
const LINK: usize = 2;
/// The client's own link, and the connection kept open after the response.
const CLIENT: usize = 3;
const KEEP_ALIVE: usize = 4;
const STAGES: usize = 5;

/// A processor, disks, a network link, clients with slow links of their own, and connections that
/// hold a thread when their request has been answered. A request needs one after the other.
#[derive(Debug, Clone)]
pub(crate) struct Stations<P> {
    processor: P,
    disks: Slices,
    link: Sharing,
    client: Delay,
    keep_alive: Delay,
    visits: Slab<Visit>,
    needs: Vec<Needs>,
}

/// What a class needs on average, in seconds, and how its sizes vary.
#[derive(Debug, Clone, Copy)]
struct Needs {
    disk: f64,
    link: f64,
    client: f64,
    keep_alive: f64,
    /// Of the logarithm of a size: the standard deviation.
    deviation: f64,
}

/// A request on its way.
#[derive(Debug, Clone, Copy)]
struct Visit {
    request: Equipped,
    stage: usize,
    demands: [f64; STAGES],
}

impl<P: Processor<Request = Job>> Stations<P> {
    pub(crate) fn new(processor: P, model: &Model) -> Self {
        let (equipment, threads) = (&model.equipment, model.threads as usize);
        let needs = model.classes.iter().map(|class| {
            let (bytes, cv) = class.size.map_or((0.0, 0.0), |size| (size.mean, size.cv));
            let over = |rate: Option<f64>| rate.map_or(0.0, |rate| bytes / rate);
            Needs {
                disk: class.disk,
                link: over(equipment.link),
                client: over(equipment.client),
                keep_alive: equipment.keep_alive.unwrap_or(0.0),
                deviation: (cv * cv).ln_1p().sqrt(),
            }
        });
        Self {
            processor,
            disks: Slices::new(threads, equipment.disks as usize, f64::INFINITY),
            link: Sharing::new(threads, 1.0),
            client: Delay::default(),
            keep_alive: Delay::default(),
            visits: Slab::with_capacity(threads),
            needs: needs.collect(),
        }
    }

    fn demands(&self, request: Equipped) -> [f64; STAGES] {
        let Equipped { job, disk, normal } = request;
        let Some(needs) = self.needs.get(job.class as usize) else { return [job.demand, 0.0, 0.0, 0.0, 0.0] };
        // Sizes are lognormal, of mean 1 times that of the class.
        let size = (needs.deviation * (normal - needs.deviation / 2.0)).exp();
        [job.demand, needs.disk * disk, needs.link * size, needs.client * size, needs.keep_alive]
    }

    /// Begins the next stage that takes any time; gives the request when it has been answered by
    /// going there.
    fn go_on(&mut self, now: f64, key: usize, from: usize) -> Option<Equipped> {
        let visit = self.visits.get_mut(key)?;
        let next = (from..STAGES).find(|stage| visit.demands[*stage] > 0.0);
        let answered = from <= KEEP_ALIVE && next.is_none_or(|next| next == KEEP_ALIVE);
        let request = visit.request;
        match next {
            None => {
                self.visits.remove(key);
            }
            Some(stage) => {
                visit.stage = stage;
                let part = Job { demand: visit.demands[stage], whose: key as u32, ..request.job };
                match stage {
                    CPU => self.processor.start(now, part),
                    DISK => self.disks.start(now, part),
                    LINK => self.link.start(now, part),
                    CLIENT => self.client.start(now, part),
                    _ => self.keep_alive.start(now, part),
                }
            }
        }
        answered.then_some(request)
    }

    fn nexts(&self) -> [f64; STAGES] {
        [
            self.processor.next(),
            self.disks.next(),
            self.link.next(),
            self.client.next(),
            self.keep_alive.next(),
        ]
    }
}

impl<P: Processor<Request = Job>> Processor for Stations<P> {
    type Request = Equipped;

    fn len(&self) -> usize {
        self.visits.len()
    }

    fn working(&self) -> usize {
        self.processor.working()
    }

    fn start(&mut self, now: f64, request: Equipped) {
        let demands = self.demands(request);
        let key = self.visits.insert(Visit { request, stage: CPU, demands });
        self.go_on(now, key, CPU);
    }

    fn next(&self) -> f64 {
        self.nexts().into_iter().fold(f64::INFINITY, f64::min)
    }

    fn advance(&mut self, now: f64) -> Option<Equipped> {
        let nexts = self.nexts();
        let stage = (0..STAGES).min_by(|one, other| nexts[*one].total_cmp(&nexts[*other]))?;
        let part = match stage {
            CPU => self.processor.advance(now),
            DISK => self.disks.advance(now),
            LINK => self.link.advance(now),
            CLIENT => self.client.advance(now),
            _ => self.keep_alive.advance(now),
        }?;
        self.go_on(now, part.whose as usize, stage + 1)
    }
}
