//! [`Model`]: a server and its requests.

use super::class::{Class, DYNAMIC, STATIC};
use super::discipline::Discipline;
use super::equipment::{Equipment, Patience, Retries};
use super::error::{ModelError, within};
use super::fleet::Fleet;
use super::offered::Offered;
use super::quota::Quota;
use super::slow_clients::SlowClients;
use super::tier::Tier;
use crate::draw::{Arrivals, Demands, Service};

/// A server and its requests: the paper's (section 2) by default.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// How requests are spread over time.
    pub arrivals: Arrivals,
    /// How many there are.
    pub offered: Offered,
    /// Kinds of request, at least one.
    pub classes: Vec<Class>,
    /// The law of what requests of a class need, around its mean, where the class has none of its own.
    pub service: Service,
    /// Requests that are worked on at a time, at most.
    pub threads: u32,
    /// Requests that wait for a thread, at most; beyond that they are rejected. `None` without
    /// a limit.
    pub queue: Option<u32>,
    /// Whether a full queue drops requests without a word, as a listen queue of the kernel does: their clients learn of
    /// it when they give up.
    pub drops: bool,
    /// How the processors are divided.
    pub discipline: Discipline,
    /// Processors that threads share; a request uses one at a time.
    pub processors: u32,
    /// How much of them it may use; `None`: all.
    pub quota: Option<Quota>,
    /// How many such servers there are, and who gets which request.
    pub fleet: Fleet,
    /// Seconds that each request takes besides, outside of the server, where it keeps nothing busy: the network, and the client.
    pub network: f64,
    /// What requests need besides, in the server.
    pub equipment: Equipment,
    /// Servers behind it, which only one server has, not a [fleet](Fleet).
    pub tiers: Vec<Tier>,
    /// How long clients wait; `None`: for as long as it takes.
    pub patience: Option<Patience>,
    /// What clients do whose requests were rejected, or who have given up; `None`: nothing.
    pub retries: Option<Retries>,
    /// Clients that keep connections of a gate in front of the server and give little for them.
    pub slow_clients: Option<SlowClients>,
}

impl Model {
    /// The paper's two classes: a share of `dynamic` requests that cost `cost` times as much as
    /// static ones, which need `static_time` seconds on average.
    pub fn paper_classes(dynamic: f64, cost: f64, static_time: f64) -> Vec<Class> {
        let mut classes = vec![
            Class::new(STATIC, 1.0 - dynamic, static_time),
            Class::new(DYNAMIC, dynamic, static_time * cost),
        ];
        classes.retain(|class| class.share > 0.0);
        classes
    }

    /// The law of what requests of a class need.
    pub fn law(&self, class: &Class) -> Service {
        class.service.unwrap_or(self.service)
    }

    /// Draws what requests of a class need, over their mean.
    pub(crate) fn demands_of(&self, class: &Class) -> Demands {
        class.samples.as_ref().map_or_else(|| Demands::of(self.law(class)), Demands::from)
    }

    /// Whether some class has samples instead of a law.
    pub(crate) fn has_samples(&self) -> bool {
        self.classes.iter().any(|class| class.samples.is_some())
    }

    /// The law of all of its classes, where they have the same law.
    pub(crate) fn only_law(&self) -> Option<Service> {
        if self.has_samples() {
            return None;
        }
        let mut laws = self.classes.iter().map(|class| self.law(class));
        let first = laws.next()?;
        laws.all(|law| law == first).then_some(first)
    }

    /// What a request needs of a processor on average, in seconds.
    pub fn mean_demand(&self) -> f64 {
        let total: f64 = self.classes.iter().map(|class| class.share).sum();
        self.classes.iter().map(|class| class.share * class.demand).sum::<f64>() / total
    }

    /// Requests per second that come; `None` when that depends on how fast they are served.
    pub fn rate(&self) -> Option<f64> {
        match self.offered {
            Offered::Rate(rate) => Some(rate),
            Offered::Load(load) => Some(load * self.all_usable_processors() / self.mean_demand()),
            Offered::Clients(..) => None,
        }
    }

    /// Requests per second over those that the processors can serve.
    pub fn load(&self) -> Option<f64> {
        self.rate().map(|rate| rate * self.mean_demand() / self.all_usable_processors())
    }

    /// Processors of all servers, quota or not.
    pub fn all_processors(&self) -> f64 {
        f64::from(self.processors) * f64::from(self.fleet.servers)
    }

    /// Processors that a server may use on average.
    pub fn usable_processors(&self) -> f64 {
        let processors = f64::from(self.processors);
        self.quota.map_or(processors, |quota| quota.processors.min(processors))
    }

    /// Processors that all servers may use on average.
    pub fn all_usable_processors(&self) -> f64 {
        self.usable_processors() * f64::from(self.fleet.servers)
    }

    /// Whether a request needs nothing but a processor.
    pub(crate) fn is_bare(&self) -> bool {
        self.equipment.is_bare()
            && self
                .classes
                .iter()
                .all(|class| class.disk <= 0.0 && class.calls.is_empty() && class.workers.is_none())
    }

    /// # Errors
    /// What cannot be simulated, with the allowed range.
    pub fn check(&self) -> Result<(), ModelError> {
        within("the number of threads", f64::from(self.threads), 1.0, 1e6)?;
        within("the number of processors", f64::from(self.processors), 1.0, 1e4)?;
        if let Some(Quota { processors, period }) = self.quota {
            within("the processors that a quota leaves", processors, 1e-3, 1e4)?;
            within("the period of a quota, in seconds,", period, 1e-4, 1e3)?;
        }
        within("the time of the network, in seconds,", self.network, 0.0, 1e6)?;
        within("the number of servers", f64::from(self.fleet.servers), 1.0, 1e4)?;
        if self.classes.is_empty() {
            return Err(ModelError::NoClasses);
        }
        for class in &self.classes {
            within("the share of a class", class.share, 0.0, 1e9)?;
            within("the mean time that a request needs, in seconds,", class.demand, 1e-9, 1e6)?;
            within("the mean time that a request needs of a disk, in seconds,", class.disk, 0.0, 1e6)?;
            within("the number of workers of a class", f64::from(class.workers.unwrap_or(1)), 1.0, 1e6)?;
            for call in &class.calls {
                within("the number of a tier", call.tier as f64 + 1.0, 1.0, self.tiers.len() as f64)?;
                within("the mean time that a call needs, in seconds,", call.demand, 1e-9, 1e6)?;
                within("the share of requests that make a call", call.share, 0.0, 1.0)?;
                within("how often a call is made", f64::from(call.times), 1.0, 1000.0)?;
            }
            if let Some(size) = class.size {
                within("the mean size of responses, in bytes,", size.mean, 0.0, 1e15)?;
                within("the coefficient of variation of sizes", size.cv, 0.0, 100.0)?;
            }
        }
        within(
            "the sum of the classes' shares",
            self.classes.iter().map(|class| class.share).sum(),
            1e-9,
            1e12,
        )?;
        match self.offered {
            Offered::Load(load) => within("the load", load, 1e-6, 1e3)?,
            Offered::Rate(rate) => within("the rate, in requests per second,", rate, 1e-9, 1e9)?,
            Offered::Clients(clients, think) => {
                within("the number of clients", f64::from(clients), 1.0, 1e6)?;
                within("the mean think time, in seconds,", think, 1e-6, 1e6)?;
            }
        }
        for discipline in self.tiers.iter().map(|tier| tier.discipline).chain([self.discipline]) {
            if let Discipline::RoundRobin(quantum) = discipline {
                within("the quantum of round robin, in seconds,", quantum.as_secs_f64(), 1e-7, 1e6)?;
            }
        }
        for tier in &self.tiers {
            within("the number of threads of a tier", f64::from(tier.threads), 1.0, 1e6)?;
            within("the number of processors of a tier", f64::from(tier.processors), 1.0, 1e4)?;
        }
        self.check_equipment()?;
        if let Some(slow) = &self.slow_clients {
            slow.check()?;
        }
        self.check_uses()?;
        self.check_stability()
    }

    /// What only a gate has is not given without one.
    pub(crate) fn check_without_gate(&self) -> Result<(), ModelError> {
        if self.retries.is_some() && self.queue.is_none() && self.patience.is_none() {
            return Err(ModelError::NeverFull("retries"));
        }
        if self.slow_clients.is_some() { Err(ModelError::NoGate) } else { Ok(()) }
    }

    /// What is given has an effect.
    fn check_uses(&self) -> Result<(), ModelError> {
        let Equipment { disks, link, client, .. } = self.equipment;
        if matches!(self.offered, Offered::Clients(..)) {
            if self.arrivals != Arrivals::default() {
                return Err(ModelError::Closed("arrivals"));
            }
            if self.retries.is_some() {
                return Err(ModelError::Closed("retries"));
            }
            if self.patience.is_some() {
                return Err(ModelError::Closed("clients that give up"));
            }
        }
        if let Some(Quota { processors, .. }) =
            self.quota.filter(|quota| quota.processors >= f64::from(self.processors))
        {
            return Err(ModelError::IdleQuota { quota: processors, processors: self.processors });
        }
        if let Arrivals::Observed(observed) = &self.arrivals
            && let Some(dynamic) = observed.dynamic_share()
        {
            self.check_kinds(dynamic, observed.gaps.len())?;
        }
        if !self.tiers.is_empty() && self.fleet.servers > 1 {
            return Err(ModelError::TiersOfFleet(self.fleet.servers));
        }
        if self.discipline == Discipline::Priority && self.classes.len() == 1 {
            return Err(ModelError::OneClass);
        }
        self.check_clients()?;
        let unused = |what, needed| Err(ModelError::Unused { what, needed });
        if (link.is_some() || client.is_some()) && self.classes.iter().all(|class| class.size.is_none()) {
            return unused("links", "a size");
        }
        let is_called =
            |tier: usize| self.classes.iter().any(|class| class.calls.iter().any(|call| call.tier == tier));
        if !(0..self.tiers.len()).all(is_called) {
            return unused("a tier", "a call of it");
        }
        if disks > 1 && self.classes.iter().all(|class| class.disk <= 0.0) {
            return unused("disks", "a time that it needs of a disk");
        }
        Ok(())
    }

    /// The classes are those of a log that says which requests are dynamic, and as many of each.
    fn check_kinds(&self, dynamic: f64, requests: usize) -> Result<(), ModelError> {
        let total: f64 = self.classes.iter().map(|class| class.share).sum();
        let logged = [(STATIC, 1.0 - dynamic), (DYNAMIC, dynamic)];
        let share = |name: &str| {
            self.classes.iter().find(|class| class.name == name).map(|class| class.share / total)
        };
        let has_others = self.classes.iter().any(|class| logged.iter().all(|(name, _)| class.name != *name));
        if has_others
            || logged.iter().any(|(name, share_of_log)| *share_of_log > 0.0 && share(name).is_none())
        {
            let names: Vec<&str> = self.classes.iter().map(|class| class.name.as_str()).collect();
            return Err(ModelError::KindsOfLog(names.join(", ")));
        }
        let own = share(DYNAMIC).unwrap_or(0.0);
        let as_logged = SHARE_AS_LOGGED * dynamic + 1.5 / requests as f64;
        if (own - dynamic).abs() > as_logged {
            return Err(ModelError::ShareOfLog { own, dynamic });
        }
        Ok(())
    }

    fn check_clients(&self) -> Result<(), ModelError> {
        if self.drops && self.patience.is_none() {
            return Err(ModelError::DropsForEver);
        }
        if self.queue.is_none() && self.drops {
            return Err(ModelError::NeverFull("drops"));
        }
        let Some(retries) = self.retries else { return Ok(()) };
        if retries.delay == 0.0 && retries.backoff > 1.0 {
            return Err(ModelError::NoBackoff(retries.backoff));
        }
        // Of several servers another may have room.
        let is_told = self.queue.is_some() && !self.drops && self.fleet.servers == 1;
        if retries.delay == 0.0 && is_told { Err(ModelError::AgainAtOnce) } else { Ok(()) }
    }

    fn check_equipment(&self) -> Result<(), ModelError> {
        let Equipment { disks, link, client, keep_alive } = self.equipment;
        within("the number of disks", f64::from(disks), 1.0, 1e4)?;
        let rate = |what, rate: Option<f64>| rate.map_or(Ok(()), |rate| within(what, rate, 1.0, 1e15));
        rate("the speed of the server's link, in bytes per second,", link)?;
        rate("the speed of a client's link, in bytes per second,", client)?;
        within("the time for which connections are kept, in seconds,", keep_alive.unwrap_or(0.0), 0.0, 1e6)?;
        if let Some(Patience { mean, .. }) = self.patience {
            within("how long clients wait, in seconds,", mean, 1e-6, 1e6)?;
        }
        if let Some(Retries { share, delay, backoff, most, .. }) = self.retries {
            within("the share of requests that come back when they came to nothing", share, 0.0, 1.0)?;
            within("the mean time after which they do, in seconds,", delay, 0.0, 1e6)?;
            within("how many times as long that is each time", backoff, 1.0, 100.0)?;
            within("how often they do", f64::from(most), 1.0, 1e6)?;
        }
        Ok(())
    }
}

/// A share that is off by this part of it, and one request more or fewer, is that of a log, written with a few digits.
const SHARE_AS_LOGGED: f64 = 0.01;

impl Default for Model {
    fn default() -> Self {
        Self {
            arrivals: Arrivals::default(),
            offered: Offered::Load(1.0),
            classes: Self::paper_classes(0.2, 100.0, 0.005),
            service: Service::default(),
            threads: 25,
            queue: Some(0),
            drops: false,
            discipline: Discipline::Sharing,
            processors: 1,
            quota: None,
            fleet: Fleet::default(),
            network: 0.0,
            equipment: Equipment::default(),
            tiers: Vec::new(),
            patience: None,
            retries: None,
            slow_clients: None,
        }
    }
}
