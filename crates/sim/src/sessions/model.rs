//! [`SessionModel`]: what is simulated when requests belong to sessions.

use std::num::NonZeroU64;
use std::sync::Arc;

use policy::{Kind, SessionLimits};
use traffic::{Level, Process, Ramp, Retry, Think, Workload};
use units::{ClassId, Span};

use crate::draw::Service;
use crate::model::{SessionModelError, within};

/// Users, a server and perhaps a gate between them.
#[derive(Debug, Clone)]
pub struct SessionModel {
    /// What users ask for.
    pub script: Script,
    /// The law of the processor time that requests need, around what the script says; the gate's cost is
    /// constant.
    pub service: Service,
    /// The server.
    pub host: Host,
    /// The gate in front of it.
    pub gate: Option<Gate>,
    /// How the starts of sessions are spread over time.
    pub process: Process,
    /// Sessions that start per second, from the end of the warm-up on; in the warm-up as many as at its beginning.
    pub starts: Ramp,
    /// Sessions that start before are not counted.
    pub warmup: Span,
    /// Sessions that start in this time after the warm-up are, and are followed to their end under the
    /// same load.
    pub duration: Span,
    /// How finely it is told what came of requests over time; not at all without.
    pub interval: Option<Span>,
}

/// A workload, and what its requests cost.
#[derive(Debug, Clone)]
pub struct Script {
    /// How long a user waits for one answer.
    pub(super) timeout: Span,
    /// What users do whose requests fail.
    pub(super) retry: Option<Retry>,
    /// Connections for embedded objects.
    pub(super) connections: usize,
    pub(super) classes: Vec<Arc<str>>,
    pub(super) shares: Vec<f64>,
    /// Ways that users take; each takes one of those of its class, and all with the same chance.
    pub(super) paths: Vec<Vec<Page>>,
    /// By class: its ways, by their number.
    pub(super) of_class: Vec<Vec<usize>>,
    pub(super) objects: Vec<Object>,
}

/// A page; objects by their number in the script.
#[derive(Debug, Clone)]
pub(super) struct Page {
    pub(super) object: usize,
    pub(super) embedded: Vec<usize>,
    pub(super) think: Think,
}

/// A page as somebody has asked for it: what for, with the processor time in seconds that it took, and the pause after it.
#[derive(Debug, Clone)]
pub(crate) struct WayPage {
    pub(crate) first: (Kind, f64),
    pub(crate) embedded: Vec<(Kind, f64)>,
    pub(crate) pause: Span,
}

/// Something that can be asked for.
#[derive(Debug, Clone)]
pub(super) struct Object {
    pub(super) url: Arc<str>,
    /// As which the policy knows it.
    pub(super) kind: Kind,
    /// Processor time, in seconds.
    pub(super) demand: f64,
}

/// A server that serves like Apache's prefork: a worker belongs to a connection until either side
/// closes it, whether there is something to do or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Host {
    /// Connections served at once.
    pub workers: u32,
    /// Connections that wait in the kernel for a worker; Linux admits one more than that.
    pub backlog: u32,
    /// How long a worker waits for the next request of its connection.
    pub keep_alive: Span,
    /// Processors that workers with something to do share.
    pub processors: u32,
}

/// The policy in front of the server, as `headworks gate` drives it.
#[derive(Debug, Clone)]
pub struct Gate {
    /// What the policy is told.
    pub policy: policy::Config,
    /// How long session tokens hold.
    pub limits: SessionLimits,
    /// Processor time, of the server's processors, that passing on a request takes; zero when the gate has
    /// a processor of its own.
    pub cost: Span,
    /// Users share so many addresses; `None`: each has one of its own.
    pub addresses: Option<NonZeroU64>,
    /// How long refused users are asked to stay away at most; the policy knows how long at least.
    pub longest_retry_after: Span,
    /// What the gate's rules say of a request without a token. Shape: by user class, then by object,
    /// in the order of the script; see [`Script::classified`].
    pub classes: Vec<Vec<ClassId>>,
}

impl Default for Host {
    /// What Debian configures for Apache, and what `headworks origin` does.
    fn default() -> Self {
        Self { workers: 150, backlog: 511, keep_alive: Span::from_secs(5), processors: 1 }
    }
}

impl Script {
    /// A script from a workload, where a request for a path and query needs so much processor time.
    pub fn new(workload: &Workload, demand: impl Fn(&str) -> Span) -> Self {
        let mut objects: Vec<Object> = Vec::new();
        let mut number = |url: &Arc<str>| {
            objects.iter().position(|object| object.url == *url).unwrap_or_else(|| {
                let (url, demand) = (Arc::clone(url), demand(url).as_secs_f64());
                objects.push(Object { kind: Kind::of("GET", &url), url, demand });
                objects.len() - 1
            })
        };
        let pages = workload.pages.iter().map(|page| Page {
            object: number(&page.url),
            embedded: page.embedded.iter().map(&mut number).collect(),
            think: page.think,
        });
        let pages = pages.collect();
        Self {
            timeout: workload.timeout,
            retry: workload.retry,
            connections: workload.connections,
            classes: workload.classes.iter().map(|class| Arc::clone(&class.name)).collect(),
            shares: workload.shares(),
            paths: vec![pages],
            of_class: vec![vec![0]; workload.classes.len()],
            objects,
        }
    }

    /// A script of users who were seen: the share of each class, and the ways that its users take.
    pub(crate) fn of_ways(
        (timeout, connections): (Span, usize),
        classes: Vec<(Arc<str>, f64, Vec<Vec<WayPage>>)>,
    ) -> Self {
        let mut script = Self {
            timeout,
            retry: None,
            connections,
            classes: Vec::new(),
            shares: Vec::new(),
            paths: Vec::new(),
            of_class: Vec::new(),
            objects: Vec::new(),
        };
        let url: Arc<str> = "/".into();
        for (name, share, ways) in classes {
            script.classes.push(name);
            script.shares.push(share);
            script.of_class.push((script.paths.len()..script.paths.len() + ways.len()).collect());
            for way in ways {
                let mut number = |(kind, demand)| {
                    script.objects.push(Object { url: Arc::clone(&url), kind, demand });
                    script.objects.len() - 1
                };
                let page = |page: WayPage| Page {
                    object: number(page.first),
                    embedded: page.embedded.into_iter().map(&mut number).collect(),
                    think: Think::constant(page.pause),
                };
                script.paths.push(way.into_iter().map(page).collect());
            }
        }
        script
    }

    /// [`Gate::classes`], where users are of the gate's classes.
    pub(crate) fn of_their_own_class(&self) -> Vec<Vec<ClassId>> {
        (0..self.classes.len()).map(|class| vec![ClassId(class as u8); self.objects.len()]).collect()
    }

    /// What `class_of` says of each class's request for each object: [`Gate::classes`].
    pub fn classified(
        &self,
        workload: &Workload,
        class_of: impl Fn(&traffic::Class, &str) -> ClassId,
    ) -> Vec<Vec<ClassId>> {
        let of_class = |class| self.objects.iter().map(|object| class_of(class, &object.url)).collect();
        workload.classes.iter().map(of_class).collect()
    }

    /// Whether and how users ask again for what failed, instead of what the workload says.
    pub fn set_retry(&mut self, retry: Option<Retry>) {
        self.retry = retry;
    }

    /// Processor time of a whole session, in seconds; the mean over all classes.
    pub fn demand(&self) -> f64 {
        self.mean(|class| self.demand_of(class, 0.0))
    }

    /// The same of the sessions of a class, where each request takes so much besides.
    pub(super) fn demand_of(&self, class: usize, besides: f64) -> f64 {
        let ways = self.of_class.get(class).map_or(&[][..], Vec::as_slice);
        let demand = |way: &usize| {
            let objects = self.paths.get(*way).into_iter().flatten().flat_map(Page::objects);
            let demands = objects.filter_map(|object| self.objects.get(object));
            demands.map(|object| object.demand + besides).sum::<f64>()
        };
        ways.iter().map(demand).sum::<f64>() / ways.len().max(1) as f64
    }

    fn mean(&self, of_class: impl Fn(usize) -> f64) -> f64 {
        let classes = self.shares.iter().enumerate();
        classes.map(|(class, share)| share * of_class(class)).sum::<f64>() / self.shares.iter().sum::<f64>()
    }

    /// The pages of a way.
    pub(super) fn pages(&self, way: usize) -> &[Page] {
        self.paths.get(way).map_or(&[], Vec::as_slice)
    }
}

impl Page {
    /// What is asked for, by its number.
    fn objects(&self) -> impl Iterator<Item = usize> {
        [self.object].into_iter().chain(self.embedded.iter().copied())
    }
}

impl SessionModel {
    /// Sessions per second for which the processors are enough, with what the gate takes of them.
    pub fn capacity(&self) -> f64 {
        f64::from(self.host.processors) / self.script.mean(|class| self.demand_of(class))
    }

    /// Processor time of a session of a class, in seconds, with what the gate takes of it.
    pub(super) fn demand_of(&self, class: usize) -> f64 {
        let passing_on = self.gate.as_ref().map_or(0.0, |gate| gate.cost.as_secs_f64());
        self.script.demand_of(class, passing_on)
    }

    /// What sorts a class of users before those that are less important: as what the gate knows its first request.
    pub(super) fn importance(&self, class: usize) -> usize {
        let way = self.script.of_class.get(class).and_then(|ways| ways.first());
        let first = way.and_then(|way| self.script.pages(*way).first()).map_or(0, |page| page.object);
        let known = self.gate.as_ref().and_then(|gate| gate.classes.get(class)?.get(first));
        known.map_or(class, |known| known.index())
    }

    /// The levels of [`SessionModel::starts`] that sessions start at which count.
    pub(super) fn levels(&self) -> Vec<Level> {
        self.starts.within(self.duration)
    }

    /// # Errors
    /// What cannot be simulated, with the allowed range.
    pub fn check(&self) -> Result<(), SessionModelError> {
        let Host { workers, backlog, processors, .. } = self.host;
        within("the number of workers", f64::from(workers), 1.0, 1e6)?;
        within("the length of the listen queue", f64::from(backlog), 0.0, 1e9)?;
        within("the number of processors", f64::from(processors), 1.0, 1e4)?;
        let rate = self.starts.levels().into_iter().fold(0.0, f64::max);
        within("the rate, in sessions per second,", rate, 1e-6, 1e6)?;
        within("the time simulated, in seconds,", self.duration.as_secs_f64(), 1e-3, 1e7)?;
        let length = (self.warmup + self.duration).as_secs_f64();
        within("the number of sessions in a replication", rate * length, 0.0, 1e8)?;
        if let Some(interval) = self.interval {
            let number = self.duration.as_secs_f64() / interval.as_secs_f64();
            let number = number * self.script.classes.len() as f64;
            within(
                "the number of intervals (the duration over --interval), times that of classes,",
                number,
                1.0,
                4000.0,
            )?;
        }
        if let Some(gate) = &self.gate {
            policy::Policy::new(gate.policy.clone())?;
        }
        Ok(())
    }
}
