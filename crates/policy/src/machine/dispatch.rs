//! Stages 7 and 8: from the class queues into the server, and out of it.

use units::{ClassId, RequestId, Time};

use super::Policy;
use crate::Output;
use crate::scheduler::Ready;
use crate::store::{Key, Place};

/// How many of a class queue are looked at for a short one.
const LOOKED_AT: usize = 16;

/// How held-back requests get into class queues that are full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refill {
    /// In place of less important ones, which are refused.
    Displacing,
    /// Not at all: what an operator changes costs nobody who waits the place.
    WhereRoomIs,
}

impl Policy {
    /// Fills the server's free places.
    pub(super) fn dispatch(&mut self, now: Time, how: Refill) {
        self.places.watch(now);
        while self.places() > self.places.taken() {
            self.refill(now, how);
            let Some(Ready { class, request: key, .. }) = self.next(now) else { return };
            self.scheduler.charge(class);
            self.controllers[class.index()].left();
            self.stats.of(Some(class)).dispatched += 1;
            self.begin(now, key);
            let held = *self.store.get(key);
            self.patience[class.index()].waited(held.waits.total());
            if !self.shadow() {
                self.decide(Output::Dispatch(held.id), held.waits);
            }
        }
    }

    /// The request of a class to serve next: who came first, or in overload who belongs to a
    /// session that has begun, because the work on a session is lost when the rest of it is not
    /// done (Web2K section 1.3).
    fn next_of(&self, class: ClassId) -> Option<Key> {
        let mut heads = self.layout.admitted(class).filter_map(|queue| self.store.head(queue));
        if self.controllers[class.index()].is_overloaded() {
            heads.next()
        } else {
            heads.min_by_key(|key| (self.store.get(*key).since, self.store.get(*key).sequence))
        }
    }

    /// Puts a request into the server.
    pub(super) fn begin(&mut self, now: Time, key: Key) {
        self.store.put(key, Place::InService, now);
        self.places.take(now);
        let begun = self.costs.begin(now, self.class_of(key), self.store.get(key).kind);
        self.store.get_mut(key).begun = begun;
    }

    /// The class to serve next and its request: among those that wait and for which a place is open.
    fn next(&self, now: Time) -> Option<Ready<Key>> {
        let express = self.express();
        self.scheduler.pick(self.layout.all().filter_map(|class| self.candidate(now, class, express)))
    }

    /// What a class would send to the server next. The window is for all; the express places on top of it
    /// are for the more important, in proportion, and for whoever is stuck behind something long.
    ///
    /// An important request takes an express place so that it need not wait for those that matter
    /// less. Among themselves they are no more than the window, unless one is short beside those inside.
    fn candidate(&self, now: Time, class: ClassId, express: u32) -> Option<Ready<Key>> {
        let head = self.next_of(class)?;
        let ready = |request, open| Some(Ready { class, request, open });
        let last = self.config.last_class();
        let on_top = express * u32::from(last.0 - class.0) / u32::from(last.0).max(1);
        let overdue = |queue| self.overdue_at(queue).is_some_and(|at| at <= now);
        if self.places.free(0) > 0 || self.layout.admitted(class).any(overdue) {
            return ready(head, true);
        }
        if self.places.free(on_top) == 0 {
            return ready(head, false);
        }
        if self.costs.as_important(class) < self.places.size() {
            return ready(head, true);
        }
        match self.short(now, class) {
            Some(short) => ready(short, true),
            None => ready(head, false),
        }
    }

    /// The first of the next requests of a class that is short beside those at least as important that are
    /// inside the server.
    fn short(&self, now: Time, class: ClassId) -> Option<Key> {
        let short = self.costs.short(now, class);
        let mut waiting = self.layout.admitted(class).flat_map(|queue| self.store.first(queue, LOOKED_AT));
        waiting.find(|key| self.costs.expected(self.store.get(*key).kind) < short)
    }

    pub(super) fn finished(&mut self, now: Time, id: RequestId) {
        let Some(key) = self.store.key(id) else {
            // In shadow mode the server also gets those there was no room to follow.
            self.stats.unknown_ids += u64::from(!self.shadow());
            return;
        };
        let held = *self.store.get(key);
        match held.place {
            Place::InService => {
                self.places.give_back(now, held.since);
                self.costs.end(now, self.class_of(key), held.kind, held.begun);
            }
            // The server answered before its turn would have come.
            _ if self.shadow() => {}
            _ => {
                self.stats.unknown_ids += 1;
                return;
            }
        }
        self.stats.of(held.class).finished += 1;
        self.forget(key);
    }
}
