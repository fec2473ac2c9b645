//! Stages 5 and 6: admission, and a second chance for those refused.

use units::{ClassId, Span, Time};

use super::policy::Policy;
use super::refill::Refill;
use crate::config::{Admission, Config};
use crate::fairness::rank::Rank;
use crate::prospects::prospect::Prospect;
use crate::protocol::{Reason, SessionHint};
use crate::store::{Held, Key, Position, QueueId};
use crate::waits::Stage;

impl Policy {
    /// Admits a request whose class is known, or holds it back.
    pub(super) fn admit(&mut self, now: Time, key: Key) {
        let class = self.rank(now, key);
        let rank = self.store.get(key).rank;
        let queued = self.queued(class);
        let was_called = self.was_called(key);
        let controller = &mut self.controllers[class.index()];
        // Those who were called are as many as there is room for: a draw would only put them out of order.
        let admits = controller.admits(rank, queued, &mut self.rng)
            || (was_called && controller.readmits(rank, queued));
        if !admits && !self.may_wait_inside(key, class) {
            self.hold_back(now, key, class, Reason::Admission);
        } else if !self.make_class_room(class)
            && !self.displace_peer(key, self.layout.class(class, rank))
            && !self.displace_at_door(key, class)
        {
            self.hold_back(now, key, class, Reason::QueueFull);
        } else {
            self.join(now, key, class);
        }
    }

    /// Finds out where a request stands among those of its class; gives the class that it waits in. What a
    /// session that has raised itself has beyond its share waits among those that matter least: what it did to
    /// be raised anybody can do.
    fn rank(&mut self, now: Time, key: Key) -> ClassId {
        let class = self.class_of(key);
        let last = self.config.last_class();
        let held = self.store.get_mut(key);
        let asked = (held.session, held.client);
        let standing = self.shares.rank(now, class, asked, self.config.retry_after);
        (held.rank, held.is_followed) = (standing.rank, standing.is_followed);
        // Visitors count when they come for the first time.
        let is_back = matches!(held.session, SessionHint::Visitor(visit) if visit.told.is_some());
        if standing.rank == Rank::New && !standing.is_retry && !is_back {
            self.crowd.came(class);
        }
        // What is small holds no client up, and its user goes on to read: the next page is asked for when those who
        // are farther read.
        let is_small = self.config.admission == Admission::Sessions
            && standing.rank == Rank::Existing
            && self.costs.is_small(self.store.get(key).kind);
        let promised = if is_small { Prospect::FIRST } else { standing.prospect };
        let held = self.store.get_mut(key);
        held.promised = promised;
        let has_raised_itself = matches!(held.session, SessionHint::Known(session) if session.is_raised);
        if has_raised_itself && held.rank == Rank::Excess {
            held.demoted_to = Some(last);
        }
        let class = self.class_of(key);
        self.store.get_mut(key).prospect = self.prospect(class, promised);
        class
    }

    /// What counts of what a request's session promises: what is small always goes first.
    pub(super) fn prospect(&self, class: ClassId, promised: Prospect) -> Prospect {
        if promised == Prospect::FIRST || self.admits_sessions(class) { promised } else { Prospect::NONE }
    }

    /// Whether a request waits in the queue of its class whatever room that has: where sessions are admitted, all but
    /// visitors, who wait in the order of the waiting room.
    fn may_wait_inside(&self, key: Key, class: ClassId) -> bool {
        self.admits_sessions(class) && !self.is_visitor(key)
    }

    /// Whether sessions of a class are admitted, rather than requests: where it is known how long they are, and most cannot be
    /// finished.
    pub(super) fn admits_sessions(&self, class: ClassId) -> bool {
        self.crowd.is_dense(class)
    }

    pub(super) fn join(&mut self, now: Time, key: Key, class: ClassId) {
        let Held { rank, class: own, .. } = *self.store.get(key);
        self.controllers[class.index()].joined(rank);
        self.stats.of(own).admitted += 1;
        if self.queued(class) == 0 {
            self.scheduler.woke(class);
        }
        self.store.enqueue(key, self.layout.class(class, rank), now);
    }

    fn hold_back(&mut self, now: Time, key: Key, class: ClassId, reason: Reason) {
        let limits = self.config.limits;
        let full = self.store.waiting(Stage::Discard) >= limits.discard_queues;
        let held = *self.store.get(key);
        let queue = self.layout.discard(class, held.rank);
        let no_room = full && !self.displace_held_back(class) && !self.displace_peer(key, queue);
        if limits.discard_periods == 0 || no_room {
            self.refuse_or_displace(now, key, class, reason);
            return;
        }
        self.stats.of(held.class).held_back += u64::from(held.held_back == 0);
        self.store.enqueue(key, queue, now);
    }

    /// The last resort before a request is refused: while anybody less important waits, admitted
    /// or held back, that one is refused instead.
    fn refuse_or_displace(&mut self, now: Time, key: Key, class: ClassId, reason: Reason) {
        if self.displace_admitted(class) || self.displace_excess(key, class) {
            self.join(now, key, class);
        } else if !self.displace_held_back(class) {
            self.reject(key, reason);
        } else if self.has_class_room() {
            self.join(now, key, class);
        } else {
            self.stay_held_back(key, class);
        }
    }

    /// To the end of its discard queue, so that each is looked at once; it keeps its time of
    /// entry, and the order with it.
    fn stay_held_back(&mut self, key: Key, class: ClassId) {
        let held = self.store.get(key);
        let (queue, since) = (self.layout.discard(class, held.rank), held.since);
        if held.position == Position::Queue(queue) {
            self.store.pass_over(key);
        } else {
            self.store.enqueue(key, queue, since);
        }
    }

    /// Admits held-back requests as soon as their class's queue has run low, so that no place goes
    /// to another request, or to none, for the want of a period's end.
    pub(super) fn refill(&mut self, now: Time, how: Refill) {
        if self.store.waiting(Stage::Discard) == 0 {
            return;
        }
        for queue in self.layout.discards() {
            while let Some((key, _)) = self.store.next_turn(queue) {
                let class = self.class_of(key);
                let rank = self.store.get(key).rank;
                let has_room = self.controllers[class.index()].has_room(rank, self.queued(class));
                let is_place = match how {
                    Refill::Displacing => has_room && self.make_class_room(class),
                    Refill::WhereRoomIs => has_room && self.has_class_room(),
                };
                if !is_place {
                    break;
                }
                self.join(now, key, class);
            }
        }
    }

    fn has_class_room(&self) -> bool {
        self.store.waiting(Stage::Class) < self.config.limits.class_queues
    }

    /// Whether there is room in the class queues, after displacing if need be.
    fn make_class_room(&mut self, class: ClassId) -> bool {
        self.has_class_room() || self.displace_admitted(class)
    }

    /// Makes room among the admitted: see [`Policy::displace`].
    fn displace_admitted(&mut self, class: ClassId) -> bool {
        let layout = self.layout;
        self.displace(self.classes_below(class).rev().flat_map(move |class| layout.admitted(class).rev()))
    }

    /// Makes room among the held-back: see [`Policy::displace`].
    fn displace_held_back(&mut self, class: ClassId) -> bool {
        let layout = self.layout;
        self.displace(self.classes_below(class).rev().flat_map(move |class| layout.held_back(class).rev()))
    }

    /// Refuses a request of the first of `queues` that holds one, if classes differ at all: of who holds most
    /// the newest. The queues of the least important come first. Whether there is room now.
    pub(super) fn displace(&mut self, mut queues: impl Iterator<Item = QueueId>) -> bool {
        if !self.config.knobs.differentiates() {
            return false;
        }
        let newest = |queue| self.store.longest_flow(queue).map(|(key, _)| key).or(self.store.tail(queue));
        let victim = queues.find_map(newest);
        if let Some(victim) = victim {
            self.reject(victim, Reason::Displaced);
        }
        victim.is_some()
    }

    /// Makes room for a request among those of its class, beside which it would wait in `queue`: of excess the
    /// newest of who holds most gives way to others, and where that is not enough, who holds more than the
    /// request's own session or client would. So one who fills the queue gives way himself.
    fn displace_peer(&mut self, key: Key, queue: QueueId) -> bool {
        let held = self.store.get(key);
        let own = self.store.length_of_flow(queue, held.flow()) + 1;
        let victim = Rank::ALL.into_iter().rev().find_map(|rank| {
            let beside = QueueId(queue.0 + rank.index() - held.rank.index());
            let (victim, length) = self.store.longest_flow(beside)?;
            let gives_way = length > own || (!rank.goes_ahead() && held.rank < rank);
            gives_way.then_some(victim)
        });
        if let Some(victim) = victim {
            self.reject(victim, Reason::Displaced);
        }
        victim.is_some()
    }

    /// Makes room for a request among those of its class that do not go ahead of others, if any waits that matters less.
    fn displace_excess(&mut self, key: Key, class: ClassId) -> bool {
        let own = self.store.get(key).rank;
        let behind = Rank::ALL.into_iter().rev().filter(|rank| !rank.goes_ahead() && *rank > own);
        let longest = |rank| self.store.longest_flow(self.layout.class(class, rank));
        let Some((victim, _)) = behind.filter_map(longest).next() else { return false };
        self.reject(victim, Reason::Displaced);
        true
    }

    /// Makes room for a request of a class: of the new sessions at its door the oldest, who has the least prospect.
    fn displace_at_door(&mut self, key: Key, class: ClassId) -> bool {
        let goes_ahead = self.store.get(key).rank.goes_ahead();
        let oldest = self.store.head(self.layout.class(class, Rank::New));
        let Some(oldest) = oldest.filter(|_| self.admits_sessions(class) && goes_ahead) else { return false };
        self.reject(oldest, Reason::Displaced);
        true
    }

    pub(super) fn classes_below(&self, class: ClassId) -> impl DoubleEndedIterator<Item = ClassId> + use<> {
        self.layout.all().filter(move |other| *other > class)
    }

    /// Ends all periods that are over at `now`; false when none is. After a long silence only a
    /// few matter: the estimates have forgotten the rest.
    pub(super) fn end_periods(&mut self, now: Time) -> bool {
        const REMEMBERED: u64 = 16;
        let period = self.config.period;
        if now < self.period_ends {
            return false;
        }
        if self.period_ends == Time::ZERO {
            self.period_ends = now + period;
            return false;
        }
        let missed = now.since(self.period_ends).as_nanos() / period.as_nanos() + 1;
        let used = self.places.used(now);
        // A server that hangs says nothing of what it can do.
        let hangs = self.places.taken() > 0 && self.places.given_back() + period <= now;
        for _ in 0..missed.min(REMEMBERED) {
            self.end_period(if hangs { None } else { Some(used) });
        }
        self.period_ends += period * missed;
        true
    }

    /// Ends a period in which that part of the places was used; nothing, where nothing came out of the server.
    fn end_period(&mut self, used: Option<f64>) {
        self.scan.end_period(self.config.knobs);
        for class in self.layout.all() {
            let queued = self.queued(class);
            let Config { period, gains, limits, .. } = &self.config;
            let (period, floor) = (*period, limits.new_session_share);
            self.shares.conclude(self.now, class);
            let session_room = self.doors[class.index()].lot();
            let controller = &mut self.controllers[class.index()];
            controller.end_period(period, *gains, queued, floor);
            // Those who are held back come first.
            let held_back = self.store.length(self.layout.discard(class, Rank::New));
            let room = session_room.unwrap_or(controller.room_for_new()) - f64::from(held_back);
            let idle = queued == 0 && held_back == 0 && self.places.free(0) > 0;
            self.rooms[class.index()].end_period(self.now, period, room.max(0.0), idle);
        }
        if let Some(used) = used {
            self.learn_capacity(used);
        }
        self.retarget();
    }

    /// Gives held-back requests the first chance of the new period; those that have had all
    /// their chances are refused, and those who have waited long enough.
    pub(super) fn reconsider(&mut self, now: Time) {
        for queue in self.layout.discards() {
            self.readmit(now, queue);
            for _ in 0..self.store.length(queue) {
                let Some(key) = self.store.head(queue) else { break };
                let class = self.class_of(key);
                let late = self.store.waits(key, now).total() > self.second_chance(class);
                let held = self.store.get_mut(key);
                held.held_back += 1;
                if late || held.held_back >= self.config.limits.discard_periods {
                    self.refuse_or_displace(now, key, class, Reason::Admission);
                } else {
                    self.stay_held_back(key, class);
                }
            }
        }
    }

    /// Admits those held back in a queue, in their turns, as far as the share of their class goes.
    fn readmit(&mut self, now: Time, queue: QueueId) {
        while let Some((key, _)) = self.store.next_turn(queue) {
            let class = self.class_of(key);
            let rank = self.store.get(key).rank;
            let queued = self.queued(class);
            if !self.controllers[class.index()].readmits(rank, queued) || !self.make_class_room(class) {
                break;
            }
            self.join(now, key, class);
        }
    }

    /// Target lengths follow the speed at which the class is served: what counts for a user is
    /// the wait, and by Little's law wait times speed is the length. A wait that users do not
    /// sit out is of no use to them.
    pub(super) fn retarget(&mut self) {
        for class in self.layout.all() {
            let outflow = self.controllers[class.index()].outflow();
            let target = self.target(class, outflow);
            self.controllers[class.index()].set_target(target);
        }
    }

    /// Target length of a class queue that `outflow` requests leave in a period.
    pub(super) fn target(&self, class: ClassId, outflow: f64) -> f64 {
        /// Fewer would leave the server idle between two periods.
        const MIN_REQUESTS: f64 = 4.0;
        let limits = &self.config.limits;
        let longest = f64::from(limits.class_queues) / 2.0;
        if let Some(length) = self.config.classes[class.index()].target_queue {
            return f64::from(length).min(longest);
        }
        let wait = self.config.knobs.target_wait(self.patience(class));
        let periods = wait.as_secs_f64() / self.config.period.as_secs_f64();
        (outflow * periods).max(MIN_REQUESTS).min(longest.max(1.0))
    }

    /// How long a request of a class may have waited in all to be held back any longer: its client would
    /// hardly sit out the class queue as well, or favour is on fast responses. At least a period.
    pub(super) fn second_chance(&self, class: ClassId) -> Span {
        let patience = self.patience(class);
        let wait = match self.config.classes[class.index()].target_queue {
            Some(_) => patience / 2,
            None => self.config.knobs.target_wait(patience),
        };
        wait.max(self.config.period)
    }

    /// How long a session of a class may wait to begin, where sessions are admitted and the newest goes first. At least a period.
    pub(super) fn wait_at_door(&self, class: ClassId) -> Span {
        match self.config.classes[class.index()].target_queue {
            Some(_) => self.second_chance(class),
            None => self.config.knobs.wait_at_door(self.patience(class)).max(self.config.period),
        }
    }

    /// The class that a request past classification waits in.
    pub(super) fn class_of(&self, key: Key) -> ClassId {
        let held = self.store.get(key);
        held.demoted_to.or(held.class).unwrap_or_else(|| self.config.last_class())
    }
}
