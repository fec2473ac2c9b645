//! [`Stations`]: a request needs more than a processor.

use std::collections::VecDeque;

use rand::{Rng, SeedableRng};
use rand_distr::Distribution;
use slab::Slab;

use super::any::Any;
use super::delay::Delay;
use super::job::Job;
use super::processor::Processor;
use super::request::Equipped;
use super::server::Server;
use super::serving::Serving;
use super::sharing::Sharing;
use super::slices::Slices;
use crate::draw::{Demands, Random, mixed};
use crate::model::{Call, Model};
use crate::watch::TierUse;

/// Where a request is, in this order; it holds a thread everywhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Cpu,
    Disk,
    /// At one of the tiers behind the server, perhaps several times.
    Calls,
    /// The server's link, which all share.
    Link,
    /// The client's own link.
    Client,
    /// The connection is kept open after the response.
    KeepAlive,
}

impl Stage {
    const ALL: [Self; 6] = [Self::Cpu, Self::Disk, Self::Calls, Self::Link, Self::Client, Self::KeepAlive];

    /// What comes when this is over.
    fn next(self) -> Self {
        match self {
            Self::Cpu => Self::Disk,
            // A call comes after the other.
            Self::Disk | Self::Calls => Self::Calls,
            Self::Link => Self::Client,
            Self::Client | Self::KeepAlive => Self::KeepAlive,
        }
    }
}

/// A processor, disks, tiers behind the server, a network link, clients with slow links of their own, and connections that
/// hold a thread when their request has been answered. A request needs one after the other.
#[derive(Debug, Clone)]
pub(crate) struct Stations<P> {
    processor: P,
    disks: Slices,
    tiers: Box<[Tier]>,
    link: Sharing,
    client: Delay,
    keep_alive: Delay,
    visits: Slab<Visit>,
    needs: Box<[Needs]>,
    /// Of each class that has workers of its own.
    pools: Box<[Option<Pool>]>,
}

/// Workers that requests of a class need until they have been computed, and requests that wait for one.
#[derive(Debug, Clone)]
struct Pool {
    free: u32,
    waiting: VecDeque<usize>,
}

/// A server behind the server, and its threads in use, times seconds, until `at`.
#[derive(Debug, Clone)]
struct Tier {
    server: Server<Any>,
    at: f64,
    held: f64,
}

impl Tier {
    fn pass(&mut self, now: f64) -> &mut Server<Any> {
        self.held += (now - self.at) * self.server.in_service() as f64;
        self.at = now;
        &mut self.server
    }
}

/// What a class needs on average, in seconds, and how its sizes vary.
#[derive(Debug, Clone)]
struct Needs {
    disk: f64,
    calls: Box<[Call]>,
    /// Of calls.
    law: Demands,
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
    at: Stage,
    /// The call that is next, and how often it has been made.
    call: usize,
    made: u32,
    /// Lognormal, of mean 1 times the size of the class.
    size: f64,
}

/// Where something happens next.
#[derive(Debug, Clone, Copy)]
enum Where {
    At(Stage),
    Tier(usize),
}

impl<P: Processor<Request = Job>> Stations<P> {
    pub(crate) fn new(processor: P, model: &Model) -> Self {
        let (equipment, threads) = (&model.equipment, model.threads as usize);
        let needs = model.classes.iter().map(|class| {
            let (bytes, cv) = class.size.map_or((0.0, 0.0), |size| (size.mean, size.cv));
            let over = |rate: Option<f64>| rate.map_or(0.0, |rate| bytes / rate);
            Needs {
                disk: class.disk,
                calls: class.calls.clone().into(),
                law: model.demands_of(class),
                link: over(equipment.link),
                client: over(equipment.client),
                keep_alive: equipment.keep_alive.unwrap_or(0.0),
                deviation: (cv * cv).ln_1p().sqrt(),
            }
        });
        let tiers = model.tiers.iter().map(|tier| {
            let most = tier.threads as usize;
            let processor = Any::new(tier.discipline, most.min(threads), tier.processors);
            // There is room for any number.
            let server = Server::new(processor, f64::from(tier.processors), most, usize::MAX);
            Tier { server, at: 0.0, held: 0.0 }
        });
        Self {
            processor,
            disks: Slices::new(threads, equipment.disks as usize, f64::INFINITY),
            tiers: tiers.collect(),
            link: Sharing::new(threads, 1.0),
            client: Delay::default(),
            keep_alive: Delay::default(),
            visits: Slab::new(),
            needs: needs.collect(),
            pools: model
                .classes
                .iter()
                .map(|class| class.workers.map(|free| Pool { free, waiting: VecDeque::new() }))
                .collect(),
        }
    }

    fn pool(&mut self, class: u32) -> Option<&mut Pool> {
        self.pools.get_mut(class as usize)?.as_mut()
    }

    /// A request of a class needs its worker no longer; who has waited longest has it.
    fn leave(&mut self, now: f64, class: u32) {
        let Some(pool) = self.pool(class) else { return };
        match pool.waiting.pop_front() {
            Some(next) => {
                // It goes to the processor, and is not answered by that.
                let _ = self.go_on(now, next, Stage::Cpu);
            }
            None => pool.free += 1,
        }
    }

    /// Begins the next stage from `from` on that takes any time; gives the request when it has been answered by
    /// going there.
    fn go_on(&mut self, now: f64, key: usize, from: Stage) -> Option<Equipped> {
        let visit = self.visits.get_mut(key)?;
        let Equipped { job, disk, .. } = visit.request;
        let needs = self.needs.get(job.class as usize)?;
        let part = |demand: f64| Job { demand, whose: key as u32, ..job };
        let request = visit.request;
        for stage in Stage::ALL.into_iter().filter(|stage| *stage >= from) {
            visit.at = stage;
            let demand = match stage {
                Stage::Cpu => job.demand,
                Stage::Disk => needs.disk * disk,
                Stage::Calls => {
                    let Some((tier, demand)) = visit.next_call(needs) else { continue };
                    self.tiers[tier].pass(now).offer(now, part(demand));
                    return None;
                }
                Stage::Link => needs.link * visit.size,
                Stage::Client => needs.client * visit.size,
                Stage::KeepAlive => needs.keep_alive,
            };
            // All go to the processor, so that who is begun ends there first.
            if demand <= 0.0 && stage != Stage::Cpu {
                continue;
            }
            match stage {
                Stage::Cpu => self.processor.start(now, part(demand)),
                Stage::Disk => self.disks.start(now, part(demand)),
                Stage::Link => self.link.start(now, part(demand)),
                Stage::Client => self.client.start(now, part(demand)),
                Stage::Calls | Stage::KeepAlive => {
                    self.keep_alive.start(now, part(demand));
                    return Some(request);
                }
            }
            return None;
        }
        self.visits.remove(key);
        Some(request)
    }

    /// Where something happens next, and when.
    fn first(&self) -> (Where, f64) {
        let stages = [
            (Stage::Cpu, self.processor.next()),
            (Stage::Disk, self.disks.next()),
            (Stage::Link, self.link.next()),
            (Stage::Client, self.client.next()),
            (Stage::KeepAlive, self.keep_alive.next()),
        ];
        let stages = stages.into_iter().map(|(stage, next)| (Where::At(stage), next));
        let tiers = self.tiers.iter().enumerate().map(|(at, tier)| (Where::Tier(at), tier.server.next()));
        let never = (Where::At(Stage::Cpu), f64::INFINITY);
        stages.chain(tiers).fold(never, |first, next| if next.1 < first.1 { next } else { first })
    }
}

impl Visit {
    /// The next call that the request makes, if it makes another: of which tier, and what it needs there. What it asks for
    /// is its own, so that it is the same whatever others do, and when it comes again.
    fn next_call(&mut self, needs: &Needs) -> Option<(usize, f64)> {
        while let Some(call) = needs.calls.get(self.call) {
            let seed = self.request.calls.wrapping_add((self.call as u64) << 32);
            let draws = |times: u64| Random::seed_from_u64(mixed(seed.wrapping_add(times)));
            let is_made = call.share >= 1.0 || draws(0).random::<f64>() < call.share;
            if is_made && self.made < call.times {
                self.made += 1;
                return Some((call.tier, call.demand * needs.law.sample(&mut draws(self.made.into()))));
            }
            (self.call, self.made) = (self.call + 1, 0);
        }
        None
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
        let deviation = self.needs.get(request.job.class as usize).map_or(0.0, |needs| needs.deviation);
        let size = (deviation * (request.normal - deviation / 2.0)).exp();
        let key = self.visits.insert(Visit { request, at: Stage::Cpu, call: 0, made: 0, size });
        match self.pool(request.job.class) {
            Some(pool) if pool.free == 0 => pool.waiting.push_back(key),
            pool => {
                pool.into_iter().for_each(|pool| pool.free -= 1);
                self.go_on(now, key, Stage::Cpu);
            }
        }
    }

    fn next(&self) -> f64 {
        self.first().1
    }

    fn tiers(&mut self, now: f64) -> Vec<TierUse> {
        let used = |tier: &mut Tier| {
            let (busy, present) = tier.pass(now).areas(now);
            TierUse { busy, held: tier.held, waiting: present - tier.held }
        };
        self.tiers.iter_mut().map(used).collect()
    }

    fn advance(&mut self, now: f64) -> Option<Equipped> {
        let (part, next) = match self.first().0 {
            Where::Tier(at) => (self.tiers[at].pass(now).advance(now)?, Stage::Calls),
            Where::At(stage) => {
                let part = match stage {
                    Stage::Cpu => self.processor.advance(now),
                    Stage::Disk => self.disks.advance(now),
                    Stage::Link => self.link.advance(now),
                    Stage::Client => self.client.advance(now),
                    Stage::Calls | Stage::KeepAlive => self.keep_alive.advance(now),
                }?;
                if stage == Stage::KeepAlive {
                    self.visits.remove(part.whose as usize);
                    return None;
                }
                (part, stage.next())
            }
        };
        let key = part.whose as usize;
        let answered = self.go_on(now, key, next);
        let is_computed = self.visits.get(key).is_none_or(|visit| visit.at > Stage::Calls);
        if next <= Stage::Calls && is_computed {
            self.leave(now, part.class);
        }
        answered
    }
}
