//! [`Subject`]: a model, perhaps with a gate in front of it.

use policy::connections::ConnectionLimits;
use units::ClassId;

use crate::model::SessionModelError;
use crate::model::{Model, ModelError, within};
use crate::watch::{ClassCounts, Watch};

/// The policy in front of a [`Model`]'s server, as `headworks gate` drives it. Every request is of a
/// client of its own.
#[derive(Debug, Clone)]
pub struct ModelGate {
    /// What the policy is told.
    pub policy: policy::Config,
    /// What its classes are called.
    pub names: Vec<String>,
    /// What the gate's rules say of requests of each of the model's classes, in their order.
    pub classes: Vec<ClassId>,
    /// The share of requests, of each class alike, that come with a session token of the gate's first
    /// class, whatever the rules say.
    pub known: f64,
    /// Processor time, of the server's processors and in seconds, that passing on a request takes; 0
    /// when the gate has a processor of its own.
    pub cost: f64,
    /// What its connections may use, which matters where there are slow clients.
    pub connections: GateConnections,
}

/// The gate's connections.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GateConnections {
    /// What they may use, and how long their clients may take.
    pub limits: ConnectionLimits,
    /// How many may wait in the kernel to be accepted.
    pub backlog: usize,
    /// Which of them are closed.
    pub closing: Closing,
}

/// Which connections a gate closes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Closing {
    /// As `headworks gate` does: those that others wait for, when there is no room for more.
    MakesRoom,
    /// Only those that have run into a timeout, as a server without a gate does.
    Timeouts,
}

impl Default for GateConnections {
    fn default() -> Self {
        Self { limits: ConnectionLimits::default(), backlog: 4096, closing: Closing::MakesRoom }
    }
}

/// Who turned a request away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refuser {
    Gate = 0,
    /// Its queue was full.
    Server = 1,
    /// It was not accepted in time: the gate had no room for its connection.
    Door = 2,
}

const REFUSERS: usize = 3;

/// What is simulated.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Subject<'a> {
    pub(crate) model: &'a Model,
    pub(crate) gate: Option<&'a ModelGate>,
    pub(crate) surge: Option<Surge>,
}

/// A time in which more requests come than before and after it, and an end after which none come.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Surge {
    /// In seconds from the beginning.
    pub(crate) from: f64,
    pub(crate) until: f64,
    /// So many times as many.
    pub(crate) times: f64,
    pub(crate) end: f64,
}

impl Surge {
    /// When the request comes that would otherwise come so long after `now`; infinity for none.
    pub(crate) fn after(self, now: f64, gap: f64) -> f64 {
        let (mut at, mut left) = (now, gap);
        for (until, times) in [(self.from, 1.0), (self.until, self.times), (self.end, 1.0)] {
            let room = (until - at).max(0.0) * times;
            if left <= room {
                return at + left / times;
            }
            left -= room;
            at = at.max(until);
        }
        f64::INFINITY
    }
}

impl<'a> From<&'a Model> for Subject<'a> {
    fn from(model: &'a Model) -> Self {
        Self { model, gate: None, surge: None }
    }
}

impl Subject<'_> {
    pub(crate) fn check(&self) -> Result<(), SessionModelError> {
        self.model.check()?;
        let Some(gate) = self.gate else { return Ok(self.model.check_without_gate()?) };
        if self.model.patience.is_some() {
            return Err(ModelError::GateAndPatience.into());
        }
        if self.model.fleet.servers > 1 {
            return Err(ModelError::GateOfFleet(self.model.fleet.servers).into());
        }
        within(
            "the number of connections of the gate",
            gate.connections.limits.connections as f64,
            1.0,
            1e7,
        )?;
        within("the share of requests with a token", gate.known, 0.0, 1.0)?;
        within("what passing on a request takes, in seconds,", gate.cost, 0.0, 1e3)?;
        policy::Policy::new(gate.policy.clone())?;
        Ok(())
    }

    /// Whether there is a limit that could turn a request away.
    pub(crate) fn may_reject(&self) -> bool {
        self.model.queue.is_some() || self.gate.is_some() || self.model.patience.is_some()
    }

    /// What is seen in a stretch, before anything is.
    pub(crate) fn watch(&self) -> Watch {
        let cells = self.gate.map_or(1, |gate| gate.policy.classes.len() * REFUSERS);
        Watch::new(self.model.classes.len() * cells)
    }

    /// What was seen of each class of the model.
    pub(crate) fn by_class(&self, seen: &[ClassCounts]) -> Vec<ClassCounts> {
        let cells = seen.len() / self.model.classes.len().max(1);
        seen.chunks(cells.max(1)).map(sum).collect()
    }
}

impl ModelGate {
    /// A class of a gate that has none of that number is its last one, as the policy has it.
    fn within(&self, class: ClassId) -> usize {
        class.index().min(self.policy.classes.len() - 1)
    }

    /// What the rules say of a class of the model.
    pub(crate) fn class_of(&self, class: u32) -> ClassId {
        self.classes.get(class as usize).copied().unwrap_or(ClassId(u8::MAX))
    }

    /// Where is written down what is seen of requests of a class of the model and one of the gate. What
    /// the server refused is written by itself; arrivals and latencies are with what the gate refused.
    pub(crate) fn seen<'a>(
        &self,
        watch: &'a mut Watch,
        class: u32,
        of_gate: ClassId,
        by: Refuser,
    ) -> Option<&'a mut ClassCounts> {
        let cell = class as usize * self.policy.classes.len() + self.within(of_gate);
        watch.classes.get_mut(cell * REFUSERS + by as usize)
    }

    /// What was seen of one of the gate's classes: in all, what the server refused of it, and what was not
    /// even accepted.
    pub(crate) fn of_class(&self, class: usize, seen: &[ClassCounts]) -> [ClassCounts; REFUSERS] {
        let cells = seen.chunks(REFUSERS).skip(class).step_by(self.policy.classes.len());
        let all: Vec<ClassCounts> = cells.clone().map(sum).collect();
        let by = |refuser: Refuser| -> Vec<ClassCounts> {
            cells.clone().filter_map(|cell| cell.get(refuser as usize).cloned()).collect()
        };
        [sum(&all), sum(&by(Refuser::Server)), sum(&by(Refuser::Door))]
    }
}

fn sum(seen: &[ClassCounts]) -> ClassCounts {
    let mut sum = ClassCounts::default();
    seen.iter().for_each(|one| sum.add(one));
    sum
}
