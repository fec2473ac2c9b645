//! Stages 5 and 6: admission, and a second chance for those refused.

use units::{ClassId, Span, Time};

use super::Policy;
use crate::Reason;
use crate::store::Key;

impl Policy {
    /// Admits a request whose class is known, or holds it back.
    pub(super) fn admit(&mut self, now: Time, key: Key) {
        let held = *self.store.get(key);
        let class = self.class_of(key);
        let queued = self.queued(class);
        if !self.controllers[class.index()].admits(held.existing, queued, &mut self.rng) {
            self.hold_back(now, key, class, Reason::Admission);
        } else if !self.make_class_room(class) {
            self.hold_back(now, key, class, Reason::QueueFull);
        } else {
            self.join(now, key, class);
        }
    }

    fn join(&mut self, now: Time, key: Key, class: ClassId) {
        let existing = self.store.get(key).existing;
        self.controllers[class.index()].joined(existing);
        self.stats.of(Some(class)).admitted += 1;
        if self.queued(class) == 0 {
            self.scheduler.woke(class);
        }
        self.store.enqueue(key, self.layout.class(class, existing), now);
    }

    fn hold_back(&mut self, now: Time, key: Key, class: ClassId, reason: Reason) {
        let limits = self.config.limits;
        let full = self.store.lengths(self.layout.discards()) >= limits.discard_queues;
        if limits.discard_periods == 0 || (full && !self.displace_held_back(class)) {
            self.refuse_or_displace(now, key, class, reason);
            return;
        }
        let held = self.store.get(key);
        self.stats.of(Some(class)).held_back += u64::from(held.held_back == 0);
        let queue = self.layout.discard(class, held.existing);
        self.store.enqueue(key, queue, now);
    }

    /// The last resort before a request is refused: while anybody less important waits, admitted
    /// or held back, that one is refused instead.
    fn refuse_or_displace(&mut self, now: Time, key: Key, class: ClassId, reason: Reason) {
        if self.displace_admitted(class) {
            self.join(now, key, class);
        } else if !self.displace_held_back(class) {
            self.reject(key, reason);
        } else if self.has_class_room() {
            self.join(now, key, class);
        } else {
            let held = self.store.get(key);
            let (queue, since) = (self.layout.discard(class, held.existing), held.since);
            self.store.enqueue(key, queue, since);
        }
    }

    /// Admits held-back requests as soon as their class's queue has run low, so that no place goes
    /// to somebody else, or to nobody, for the want of a period's end.
    pub(super) fn refill(&mut self, now: Time) {
        for queue in self.layout.discards() {
            while let Some(key) = self.store.head(queue) {
                let class = self.class_of(key);
                let existing = self.store.get(key).existing;
                let has_room = self.controllers[class.index()].has_room(existing, self.queued(class));
                if !has_room || !self.make_class_room(class) {
                    break;
                }
                self.join(now, key, class);
            }
        }
    }

    fn has_class_room(&self) -> bool {
        self.store.lengths(self.layout.class_queues()) < self.config.limits.class_queues
    }

    /// Whether there is room in the class queues, after displacing if need be.
    fn make_class_room(&mut self, class: ClassId) -> bool {
        self.has_class_room() || self.displace_admitted(class)
    }

    /// Refuses the newest admitted request of the least important class below `class`.
    fn displace_admitted(&mut self, class: ClassId) -> bool {
        let below = self.classes_below(class);
        let mut queues = below.rev().flat_map(|class| self.layout.admitted(class).rev());
        let victim = queues.find_map(|queue| self.store.tail(queue));
        self.displace(victim)
    }

    /// Refuses the newest held-back request of the least important class below `class`.
    fn displace_held_back(&mut self, class: ClassId) -> bool {
        let below = self.classes_below(class);
        let mut queues = below.rev().flat_map(|class| self.layout.held_back(class).rev());
        let victim = queues.find_map(|queue| self.store.tail(queue));
        self.displace(victim)
    }

    fn displace(&mut self, victim: Option<Key>) -> bool {
        let differentiates = self.config.knobs.differentiates();
        match victim {
            Some(victim) if differentiates => {
                self.reject(victim, Reason::Displaced);
                true
            }
            _ => false,
        }
    }

    fn classes_below(&self, class: ClassId) -> impl DoubleEndedIterator<Item = ClassId> + use<> {
        self.layout.all().filter(move |other| *other > class)
    }

    /// Ends all periods that are over at `now`. After a long silence only a few matter: the
    /// estimates have forgotten the rest.
    pub(super) fn end_periods(&mut self, now: Time) {
        const REMEMBERED: u64 = 16;
        let period = self.config.period;
        if now < self.period_ends {
            return;
        }
        if self.period_ends == Time::ZERO {
            self.period_ends = now + period;
            return;
        }
        let missed = now.since(self.period_ends).as_nanos() / period.as_nanos() + 1;
        for _ in 0..missed.min(REMEMBERED) {
            self.end_period();
        }
        self.period_ends += period * missed;
        self.expire(now);
        self.reconsider(now);
    }

    fn end_period(&mut self) {
        self.scan.end_period(self.config.knobs);
        for class in self.layout.all() {
            let queued = self.queued(class);
            self.controllers[class.index()].end_period(self.config.period, self.config.gains, queued);
        }
        self.retarget();
    }

    /// Gives held-back requests the first chance of the new period; those that have had all
    /// their chances are refused.
    fn reconsider(&mut self, now: Time) {
        for queue in self.layout.discards() {
            for _ in 0..self.store.length(queue) {
                let Some(key) = self.store.head(queue) else { break };
                let class = self.class_of(key);
                let held = self.store.get_mut(key);
                held.held_back += 1;
                let (existing, spent) = (held.existing, held.held_back >= self.config.limits.discard_periods);
                let since = held.since;
                let queued = self.queued(class);
                if self.controllers[class.index()].readmits(existing, queued) && self.make_class_room(class) {
                    self.join(now, key, class);
                } else if spent {
                    self.refuse_or_displace(now, key, class, Reason::Admission);
                } else {
                    // To the end, so that each is looked at once; it keeps its time of entry,
                    // and the order with it.
                    self.store.enqueue(key, queue, since);
                }
            }
        }
    }

    /// Target lengths follow the speed at which the class is served: what counts for a user is
    /// the wait, and by Little's law wait times speed is the length.
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
        const SHORTEST: f64 = 4.0;
        let limits = &self.config.limits;
        let longest = f64::from(limits.class_queues) / 2.0;
        if let Some(length) = self.config.classes[class.index()].target_queue {
            return f64::from(length).min(longest);
        }
        let wait: Span = self.config.knobs.target_wait(limits.deadlines.class);
        let periods = wait.as_secs_f64() / self.config.period.as_secs_f64();
        (outflow * periods).max(SHORTEST).min(longest.max(1.0))
    }

    /// The class of a request past classification.
    pub(super) fn class_of(&self, key: Key) -> ClassId {
        self.store.get(key).class.unwrap_or_else(|| self.config.last_class())
    }
}
