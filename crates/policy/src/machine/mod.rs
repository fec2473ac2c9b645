//! The machine: how requests move between the stages.
//!
//! `arrive` is stages 1 to 4, `admit` 5 and 6, `dispatch` 7 and 8; guards stand where a request
//! enters or waits.

mod admit;
mod arrive;
mod dispatch;

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use fastrand::Rng;
use units::{ClassId, RequestId, Span, Time};

use crate::acceptor::Acceptor;
use crate::admission::Controller;
use crate::guards::{Clients, Pressure};
use crate::look_ahead::Scan;
use crate::scheduler::Scheduler;
use crate::stats::{ClassSnapshot, Snapshot, StageLengths, Stats};
use crate::store::{Key, Layout, Place, QueueId, Store};
use crate::window::Places;
use crate::{Config, ConfigError, Input, Knobs, Mode, Output, Reason};

/// The policy. See the crate's page for how to drive it.
#[derive(Debug)]
pub struct Policy {
    config: Config,
    layout: Layout,
    store: Store,
    acceptor: Acceptor,
    scan: Scan,
    controllers: Vec<Controller>,
    scheduler: Scheduler,
    places: Places,
    clients: Clients,
    pressure: Pressure,
    stats: Stats,
    rng: Rng,
    outputs: VecDeque<Output>,
    period_ends: Time,
    /// The first deadline among waiting requests may not be before this.
    deadline_not_before: Time,
}

impl Policy {
    /// Sets the policy up; everything it will ever need is allocated here.
    ///
    /// # Errors
    /// When the configuration contradicts itself, see [`ConfigError`].
    pub fn new(config: Config) -> Result<Self, ConfigError> {
        config.check()?;
        let classes = config.classes.len();
        let layout = Layout::new(classes);
        let room = config.held() as usize;
        let limits = &config.limits;
        let share = limits.client_share.as_f64() * f64::from(limits.acceptor_queue);
        let mut policy = Self {
            layout,
            store: Store::new(room, layout.queues()),
            acceptor: Acceptor::new(limits.burst),
            scan: Scan::new(config.look_ahead, limits.acceptor_queue, config.knobs),
            controllers: Vec::with_capacity(classes),
            scheduler: Scheduler::new(&config.classes, config.knobs),
            places: Places::new(config.window),
            clients: Clients::new(room, if share >= 1.0 { share as u32 } else { 1 }),
            pressure: Pressure::default(),
            stats: Stats::new(classes),
            rng: Rng::with_seed(config.seed),
            // A held request has at most one decision waiting to be polled; arrivals of one
            // burst may be refused on top of that.
            outputs: VecDeque::with_capacity(room + limits.burst as usize),
            period_ends: Time::ZERO,
            deadline_not_before: Time::ZERO,
            config,
        };
        if policy.config.limits.client_share == units::Ratio::ONE {
            policy.clients = Clients::new(room, u32::MAX);
        }
        for class in policy.layout.all() {
            let target = policy.target(class, 0.0);
            policy.controllers.push(Controller::new(target));
        }
        Ok(policy)
    }

    /// Takes in something that happened at `now`; times must not go back.
    ///
    /// Decisions that follow from it are read with [`Policy::poll`]. An id that is not held (or,
    /// for an arrival, is already) is counted and otherwise ignored.
    pub fn handle(&mut self, now: Time, input: Input) {
        self.end_periods(now);
        match input {
            Input::Arrived { id, session, client } => self.arrived(now, id, session, client),
            Input::Cycle => {
                self.expire(now);
                self.cycle(now);
            }
            Input::Classified { id, class } => self.classified(now, id, class),
            Input::Finished { id } => self.finished(now, id),
            Input::Aborted { id } => self.aborted(id),
            Input::Pull { places } => self.places.pull(places),
            Input::Pressure(used) => self.pressure.set(used),
            Input::Knobs(knobs) => self.set_knobs(knobs),
        }
        self.dispatch(now);
    }

    /// The next thing to do, in the order in which it was decided.
    pub fn poll(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    /// When to call with [`Input::Cycle`] although nothing has happened: at once while requests
    /// wait to be processed, at the end of a period or at a deadline while any wait, and
    /// [`Time::NEVER`] when none do.
    pub fn next_wake(&self, now: Time) -> Time {
        if self.store.lengths(self.layout.acceptors().chain(self.layout.pendings())) > 0 {
            return now;
        }
        if self.waiting() == 0 {
            return Time::NEVER;
        }
        let deadline = self.waiting_queues().filter_map(|queue| self.deadline(queue)).min();
        deadline.map_or(self.period_ends, |deadline| deadline.min(self.period_ends))
    }

    /// `n`: how many arrivals the driver should take over before it ends a cycle.
    pub fn burst(&self) -> u32 {
        self.config.limits.burst
    }

    /// The configuration, with the knobs as they are now.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Requests held: waiting, with the driver for classification, or inside the server.
    pub fn held(&self) -> usize {
        self.store.len()
    }

    /// The policy as it is now.
    pub fn snapshot(&self) -> Snapshot {
        let (layout, store) = (self.layout, &self.store);
        Snapshot {
            lengths: StageLengths {
                acceptor: store.lengths(layout.acceptors()),
                pending: store.lengths(layout.pendings()),
                discard: store.lengths(layout.discards()),
                class: store.lengths(layout.class_queues()),
            },
            in_service: self.places.taken(),
            window: self.places.size(),
            reserve: self.config.knobs.reserve(self.places.size()),
            look_ahead: self.scan.k(),
            quota: self.acceptor.quota(),
            pressure: self.pressure.used(),
            unclassified: self.stats.get(None),
            unknown_ids: self.stats.unknown_ids,
        }
    }

    /// Each class as it is now, most important first.
    pub fn class_snapshots(&self) -> impl Iterator<Item = ClassSnapshot> + '_ {
        self.layout.all().map(|class| {
            let controller = &self.controllers[class.index()];
            let (admits_existing, admits_new) = controller.probabilities();
            ClassSnapshot {
                class,
                counters: self.stats.get(Some(class)),
                queued: self.store.length(self.layout.class(class)),
                held_back: self
                    .store
                    .lengths([true, false].map(|e| self.layout.discard(class, e)).into_iter()),
                target: controller.target(),
                admits_existing,
                admits_new,
            }
        })
    }

    fn set_knobs(&mut self, knobs: Knobs) {
        self.config.knobs = knobs;
        self.scan.retune(knobs);
        self.scheduler.retune(&self.config.classes, knobs);
        self.retarget();
    }

    fn shadow(&self) -> bool {
        self.config.mode == Mode::Shadow
    }

    fn aborted(&mut self, id: RequestId) {
        let Some(key) = self.store.key(id) else {
            self.stats.unknown_ids += 1;
            return;
        };
        let held = *self.store.get(key);
        if !held.aborted {
            self.stats.of(held.class).aborted += 1;
        }
        if held.place == Place::InService || self.shadow() {
            self.store.get_mut(key).aborted = true;
        } else {
            self.forget(key);
        }
    }

    /// Refuses a held request.
    fn reject(&mut self, key: Key, reason: Reason) {
        let held = *self.store.get(key);
        self.stats.of(held.class).rejected[reason.index()] += 1;
        if self.shadow() {
            self.store.put(key, Place::Settled, held.since);
        } else {
            self.forget(key);
            self.outputs.push_back(Output::Reject(held.id, reason));
        }
    }

    fn forget(&mut self, key: Key) {
        let held = self.store.remove(key);
        self.clients.give_back(held.client);
    }

    /// Refuses requests that have waited past their stage's deadline.
    fn expire(&mut self, now: Time) {
        if now < self.deadline_not_before {
            return;
        }
        for queue in (0..self.layout.queues()).map(QueueId) {
            while let Some(key) = self.store.head(queue) {
                if self.deadline(queue).is_none_or(|deadline| deadline > now) {
                    break;
                }
                self.reject(key, Reason::Deadline);
            }
        }
        let shortest = {
            let deadlines = &self.config.limits.deadlines;
            deadlines.acceptor.min(deadlines.pending).min(deadlines.discard).min(deadlines.class)
        };
        let first = self.waiting_queues().filter_map(|queue| self.deadline(queue)).min();
        // Whatever joins a queue from now on cannot expire before the shortest deadline.
        let joining = now + shortest;
        self.deadline_not_before = first.map_or(joining, |first| first.min(joining));
    }

    /// When the request at the head of a queue has waited too long: heads have waited longest.
    fn deadline(&self, queue: QueueId) -> Option<Time> {
        let key = self.store.head(queue)?;
        Some(self.store.get(key).since + self.stage_deadline(queue))
    }

    fn stage_deadline(&self, queue: QueueId) -> Span {
        let (layout, deadlines) = (self.layout, &self.config.limits.deadlines);
        if queue.0 >= layout.class(ClassId(0)).0 {
            deadlines.class
        } else if queue.0 >= layout.discard(ClassId(0), true).0 {
            deadlines.discard
        } else if queue.0 >= layout.pending(true).0 {
            deadlines.pending
        } else {
            deadlines.acceptor
        }
    }

    fn waiting_queues(&self) -> impl Iterator<Item = QueueId> + use<> {
        (0..self.layout.queues()).map(QueueId)
    }

    fn waiting(&self) -> u32 {
        self.store.lengths(self.waiting_queues())
    }
}
