//! [`Policy`]: the state of all stages, what comes in and what goes out.

use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;

use fastrand::Rng;
use units::{ClassId, RequestId, Span, Time};

use super::refill::Refill;
use crate::acceptor::Acceptor;
use crate::admission::Controller;
use crate::config::{Config, Mode};
use crate::costs::Costs;
use crate::error::ConfigError;
use crate::fairness::floor::Floor;
use crate::fairness::shares::Shares;
use crate::guards::{Clients, Pressure};
use crate::knobs::Knobs;
use crate::look_ahead::Scan;
use crate::overtaking::Overtaking;
use crate::patience::Patience;
use crate::prospects::crowd::Crowd;
use crate::prospects::door::Door;
use crate::prospects::lengths::Fate;
use crate::prospects::mean::Mean;
use crate::prospects::spare::Spare;
use crate::protocol::{Input, Output, Reason, SessionHint};
use crate::scheduler::Scheduler;
use crate::stats::{ClassSnapshot, Snapshot, StageLengths, Stats};
use crate::store::{Key, Layout, Position, QueueId, Store};
use crate::waiting_room::room::WaitingRoom;
use crate::waits::{Stage, Waits};
use crate::window::Places;

/// The policy. See the crate's page for how to drive it.
#[derive(Debug)]
pub struct Policy {
    pub(super) config: Config,
    pub(super) layout: Layout,
    pub(super) store: Store,
    pub(super) acceptor: Acceptor,
    pub(super) scan: Scan,
    pub(super) controllers: Vec<Controller>,
    /// Of each class's clients.
    pub(super) patience: Vec<Patience>,
    pub(super) scheduler: Scheduler,
    /// What sessions and clients have had lately.
    pub(super) shares: Shares,
    /// What new sessions of each class get of its places.
    pub(super) floors: Vec<Floor>,
    /// Requests of each class that can be served in a period.
    pub(super) reaches: Vec<Mean>,
    pub(super) crowd: Crowd,
    /// What the server could do besides.
    pub(super) spare: Spare,
    /// By which its sessions begin.
    pub(super) doors: Vec<Door>,
    /// Of each class.
    pub(super) rooms: Vec<WaitingRoom>,
    pub(super) places: Places,
    pub(super) costs: Costs,
    pub(super) overtaking: Overtaking,
    pub(super) clients: Clients,
    pub(super) pressure: Pressure,
    pub(super) stats: Stats,
    pub(super) rng: Rng,
    pub(super) outputs: VecDeque<(Output, Waits)>,
    /// When the last thing happened.
    pub(super) now: Time,
    /// Requests with the driver for classification.
    pub(super) classifying: u32,
    /// Requests with the server that hold no place, and how many there may be by what the process has.
    pub(super) streaming: u32,
    pub(crate) max_streaming: u32,
    /// Of those inside the server, requests that took a place whether one was free or not.
    pub(super) resumed: u32,
    pub(super) period_ends: Time,
    /// The first deadline among waiting requests may not be before this.
    pub(super) deadline_not_before: Time,
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
        let mut policy = Self {
            layout,
            store: Store::new(room, limits.streaming as usize, layout),
            acceptor: Acceptor::new(limits.burst),
            scan: Scan::new(config.look_ahead, limits.acceptor_queue, config.knobs),
            controllers: Vec::with_capacity(classes),
            patience: vec![Patience::UNKNOWN; classes],
            scheduler: Scheduler::new(&config.classes, config.knobs),
            shares: Shares::new(classes, room),
            floors: vec![Floor::default(); classes],
            reaches: vec![Mean::default(); classes],
            crowd: Crowd::new(classes),
            spare: Spare::default(),
            doors: vec![Door::default(); classes],
            rooms: (0..classes).map(|_| WaitingRoom::new()).collect(),
            places: Places::new(config.window),
            costs: Costs::new(classes),
            overtaking: Overtaking::default(),
            clients: Clients::new(
                room + limits.streaming as usize,
                limits.client_share,
                limits.acceptor_queue,
            ),
            pressure: Pressure::default(),
            stats: Stats::new(classes),
            rng: Rng::with_seed(config.seed),
            // A held request has at most one decision waiting to be polled; arrivals of one
            // burst may be refused on top of that.
            outputs: VecDeque::with_capacity(room + limits.burst as usize),
            now: Time::ZERO,
            classifying: 0,
            streaming: 0,
            max_streaming: u32::MAX,
            resumed: 0,
            period_ends: Time::ZERO,
            deadline_not_before: Time::ZERO,
            config,
        };
        for class in policy.layout.all() {
            let target = policy.target(class, 0.0);
            policy.controllers.push(Controller::new(target));
        }
        Ok(policy)
    }

    /// Takes in something that happened at `now`; times must not go back.
    ///
    /// Decisions that follow from it are read with [`Policy::poll`]; read them all before the next
    /// input, so that they need no more room than there is. An id that is not held (or,
    /// for an arrival, is already) is counted and otherwise ignored.
    pub(crate) fn handle(&mut self, now: Time, input: Input) {
        self.now = now;
        if let Input::Aborted { id } = input {
            // Before anything is due: who has gone is not refused as well.
            self.aborted(id);
        }
        let period_ended = self.end_periods(now);
        self.expire(now);
        if period_ended {
            self.reconsider(now);
        }
        let moved = matches!(input, Input::Knobs(_));
        match input {
            Input::Arrived { id, session, client, kind } => self.arrived(now, id, session, client, kind),
            Input::Begun { id, session, client, kind, class } => {
                self.begun(now, id, (session, client), (kind, class));
            }
            Input::Cycle => self.cycle(now),
            Input::Classified { id, class } => self.classified(now, id, class),
            Input::Finished { id } => self.finished(now, id),
            Input::Released { id, pause } => self.released(now, id, pause),
            Input::Resumed { id } => self.resumed(now, id),
            Input::Aborted { .. } => {}
            Input::Pressure(used) => self.pressure.set(used),
            Input::Capacity(share) => self.places.set_capacity(now, share),
            Input::Knobs(knobs) => self.set_knobs(knobs),
        }
        self.dispatch(now, if moved { Refill::WhereRoomIs } else { Refill::Displacing });
    }

    /// The next thing to do, in the order in which it was decided, with how long the request has waited in
    /// each stage by then.
    pub(crate) fn poll(&mut self) -> Option<(Output, Waits)> {
        self.outputs.pop_front()
    }

    /// When to call with [`Input::Cycle`] although nothing has happened: at once while requests
    /// wait to be processed, at the end of a period or at a deadline while any wait, and
    /// [`Time::NEVER`] when none do.
    pub(crate) fn next_wake(&self, now: Time) -> Time {
        let unprocessed = self.store.waiting(Stage::Acceptor) + self.store.waiting(Stage::Pending);
        if unprocessed > 0 && self.classifying < self.config.limits.burst {
            return now;
        }
        if self.waiting() == 0 {
            return Time::NEVER;
        }
        let deadline = self.first_deadline().map_or(Time::NEVER, |first| first.max(self.deadline_not_before));
        let overdue = self.layout.class_queues().filter_map(|queue| self.overdue_at(queue));
        // One that is overdue already waits for a place, and is seen to when one is given back.
        let overdue = overdue.filter(|at| *at > now).min().unwrap_or(Time::NEVER);
        self.period_ends.min(deadline).min(overdue).min(self.door_opens())
    }

    /// `n`: how many arrivals the driver should take over before it ends a cycle.
    pub fn burst(&self) -> u32 {
        self.config.limits.burst
    }

    /// The configuration, with the knobs as they are now.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// How many requests can be inside the server now, if all are important.
    pub fn places(&self) -> u32 {
        self.places.size() + self.express() + self.places.spare()
    }

    /// How many requests may be inside the server now, whatever their class.
    pub fn window(&self) -> u32 {
        self.places.size()
    }

    /// How many requests have a place in the server.
    pub fn taken(&self) -> u32 {
        self.places.taken()
    }

    /// Whether anybody waits for a place in the server or is on the way to where one waits. (In shadow mode
    /// also if some are in the server already that would have been refused.)
    pub fn has_waiting(&self) -> bool {
        self.held() > self.places.taken() as usize
    }

    /// Requests held: waiting, with the driver for classification, or inside the server.
    pub fn held(&self) -> usize {
        self.store.len() - self.streaming as usize
    }

    /// Whether another request that the server does nothing for can go on without a place.
    pub fn may_release(&self) -> bool {
        self.streaming < self.config.limits.streaming.min(self.max_streaming)
    }

    /// Where a request waits; none when it does not.
    pub fn stage(&self, id: RequestId) -> Option<Stage> {
        self.store.stage(self.store.key(id)?)
    }

    /// The policy as it is now.
    pub fn snapshot(&self) -> Snapshot {
        let store = &self.store;
        Snapshot {
            lengths: StageLengths {
                acceptor: store.waiting(Stage::Acceptor),
                pending: store.waiting(Stage::Pending),
                discard: store.waiting(Stage::Discard),
                class: store.waiting(Stage::Class),
            },
            in_service: self.places.taken(),
            streaming: self.streaming,
            resumed: self.resumed,
            window: self.places.size() + self.places.spare(),
            express: self.express(),
            look_ahead: self.scan.k(),
            quota: self.acceptor.quota(),
            pressure: self.pressure.used(),
            capacity: self.spare.capacity().map(|requests| requests / self.config.period.as_secs_f64()),
            unclassified: self.stats.get(None),
            unknown_ids: self.stats.unknown_ids,
        }
    }

    /// Each class as it is now, most important first.
    pub fn class_snapshots(&self) -> impl Iterator<Item = ClassSnapshot> + '_ {
        self.layout.all().map(|class| {
            let controller = &self.controllers[class.index()];
            let (admits_existing, admits_new) =
                if self.admits_sessions(class) { (1.0, 1.0) } else { controller.probabilities() };
            ClassSnapshot {
                class,
                counters: self.stats.get(Some(class)),
                queued: self.queued(class),
                held_back: self.store.lengths(self.layout.held_back(class)),
                target: controller.target(),
                patience: self.patience(class),
                admits_existing,
                admits_new,
                admits_sessions: self.admits_sessions(class),
                session_requests: self.shares.requests_of_session(class),
                session_starts: self.crowd.rate(class) / self.config.period.as_secs_f64(),
                room: self.rooms[class.index()].snapshot(self.now),
            }
        })
    }

    pub(super) fn set_knobs(&mut self, knobs: Knobs) {
        self.config.knobs = knobs;
        self.scan.retune(knobs);
        self.scheduler.retune(&self.config.classes, knobs);
        self.retarget();
    }

    /// Length of a class's queue.
    pub(super) fn queued(&self, class: ClassId) -> u32 {
        self.store.lengths(self.layout.admitted(class))
    }

    pub(super) fn shadow(&self) -> bool {
        self.config.mode == Mode::Shadow
    }

    pub(super) fn aborted(&mut self, id: RequestId) {
        let Some(key) = self.store.key(id) else {
            self.stats.unknown_ids += 1;
            return;
        };
        let held = *self.store.get(key);
        if !held.aborted {
            let counters = self.stats.of(held.class);
            counters.aborted += 1;
            counters.gave_up += u64::from(held.position != Position::Streaming);
            self.gave_up(key);
            match self.fate_of_aborted(key) {
                Fate::Lost => self.lose(key),
                fate => self.settle(key, fate),
            }
        }
        self.classifying -= u32::from(held.position == Position::Classifying);
        self.store.get_mut(key).aborted = true;
        if matches!(held.position, Position::InService | Position::Streaming) {
            return;
        }
        if self.shadow() {
            self.store.put(key, Position::Settled, held.since);
        } else {
            self.forget(key);
        }
    }

    /// The class and the whole wait of a request that waits in a class queue. Only there it waits as
    /// long as patience allows; who leaves elsewhere does not tell whether that is right, nor who asks for more
    /// than others.
    pub(super) fn wait_for_place(&self, key: Key) -> Option<(ClassId, Span)> {
        let held = self.store.get(key);
        match (held.position, held.class) {
            (Position::Queue(queue), Some(class))
                if self.layout.stage(queue) == Stage::Class && held.rank.goes_ahead() =>
            {
                Some((class, self.store.waits(key, self.now).total()))
            }
            _ => None,
        }
    }

    pub(super) fn gave_up(&mut self, key: Key) {
        if let Some((class, waited)) = self.wait_for_place(key)
            && self.shares.tells_by_giving_up(self.now, self.store.get(key).client)
        {
            let longest = self.config.limits.deadlines.class;
            self.patience[class.index()].gave_up(waited, self.config.period, longest);
        }
    }

    /// Who is refused at the end of a wait in a class queue had not given up by then.
    pub(super) fn still_there(&mut self, key: Key) {
        if let Some((class, waited)) = self.wait_for_place(key) {
            self.has_waited(class, self.store.get(key).client, waited);
        }
    }

    /// A client was still there after this wait.
    pub(super) fn has_waited(&mut self, class: ClassId, client: u64, waited: Span) {
        let patience = &mut self.patience[class.index()];
        if patience.is_tried_by(waited) {
            patience.waited(waited, self.shares.weight_of_staying(self.now, client));
        }
    }

    /// How long clients of this class wait, as far as is known.
    pub(super) fn patience(&self, class: ClassId) -> Span {
        self.patience[class.index()].span(self.config.limits.deadlines.class)
    }

    /// Remembers that a client was refused; in shadow mode it was not, and does not come back for that.
    pub(super) fn note_refusal(&mut self, now: Time, client: u64, session: SessionHint) {
        if !self.shadow() {
            self.shares.refused(now, client, session);
        }
    }

    /// Refuses a held request.
    pub(super) fn reject(&mut self, key: Key, reason: Reason) {
        let held = *self.store.get(key);
        self.stats.of(held.class).rejected[reason.index()] += 1;
        self.note_refusal(self.now, held.client, held.session);
        if self.shadow() {
            self.store.put(key, Position::Settled, held.since);
        } else {
            self.lose(key);
            let waits = self.store.waits(key, self.now);
            self.forget(key);
            let ticket = self.ticket(self.now, held.session, held.class, reason);
            self.decide(Output::Reject(held.id, reason, ticket), waits);
        }
    }

    pub(super) fn decide(&mut self, output: Output, waits: Waits) {
        self.outputs.push_back((output, waits));
    }

    pub(super) fn forget(&mut self, key: Key) {
        self.settle(key, Fate::Served);
        let held = self.store.remove(key);
        self.clients.give_back(held.client);
    }

    /// Refuses requests that have waited past their stage's deadline.
    pub(super) fn expire(&mut self, now: Time) {
        if now < self.deadline_not_before {
            return;
        }
        for queue in self.layout.every() {
            while let Some(key) = self.store.head(queue) {
                if self.deadline(queue).is_none_or(|deadline| deadline > now) {
                    break;
                }
                self.still_there(key);
                let stage_over = self.store.get(key).since + self.stage_deadline(queue) <= now;
                let held_back = self.layout.stage(queue) == Stage::Discard;
                let reason = if held_back && !stage_over { Reason::Admission } else { Reason::Deadline };
                self.reject(key, reason);
            }
        }
        // Whatever joins a queue from now on cannot expire before the shortest deadline, unless by what it
        // has waited before: a period more or less does not matter there.
        let joining = now + self.config.limits.deadlines.shortest().min(self.config.period);
        self.deadline_not_before = self.first_deadline().map_or(joining, |first| first.min(joining));
    }

    /// When the request at the head of a queue has waited too long: heads have waited longest. In a
    /// class queue that is also when its client is about to give up, who is rather told, and while it is held
    /// back, when there is no second chance left; one that matters more may still take the place of another.
    pub(super) fn deadline(&self, queue: QueueId) -> Option<Time> {
        let held = self.store.get(self.store.head(queue)?);
        let mut longest = self.stage_deadline(queue);
        if let Some(class) = held.demoted_to.or(held.class) {
            let in_all = match self.layout.stage(queue) {
                Stage::Class if held.begins() && self.admits_sessions(class) => match held.session {
                    // Visitors who were called wait in their order.
                    SessionHint::Visitor(_) => self.second_chance(class),
                    _ => self.wait_at_door(class),
                },
                Stage::Class => self.patience(class),
                Stage::Discard if class == self.config.last_class() => self.second_chance(class),
                Stage::Discard | Stage::Acceptor | Stage::Pending => Span::MAX,
            };
            longest = longest.min(in_all.saturating_sub(held.waits.total()));
        }
        Some(held.since + longest)
    }

    pub(super) fn stage_deadline(&self, queue: QueueId) -> Span {
        let deadlines = &self.config.limits.deadlines;
        match self.layout.stage(queue) {
            Stage::Acceptor => deadlines.acceptor,
            Stage::Pending => deadlines.pending,
            Stage::Discard => deadlines.discard,
            Stage::Class => deadlines.class,
        }
    }

    pub(super) fn first_deadline(&self) -> Option<Time> {
        self.layout.every().filter_map(|queue| self.deadline(queue)).min()
    }

    /// When the request at the head of a class queue may take any place: after half of its
    /// deadline, if no request has left the server all the while. Something long is in there, and
    /// what was admitted is not left to spoil behind it.
    pub(super) fn overdue_at(&self, queue: QueueId) -> Option<Time> {
        let since = self.store.get(self.store.head(queue)?).since;
        (self.places.given_back() <= since).then(|| since + self.config.limits.deadlines.class / 2)
    }

    pub(super) fn waiting(&self) -> u32 {
        self.store.waiting_in_all()
    }

    pub(super) fn express(&self) -> u32 {
        self.config.knobs.express(self.places.settled())
    }
}
