//! Stages 7 and 8: from the class queues into the server, and out of it.

use units::{ClassId, RequestId, Time};

use super::Policy;
use crate::Output;
use crate::scheduler::Ready;
use crate::store::{Key, Place};

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
        let express = self.express();
        while self.places.free(express) > 0 {
            self.refill(now, how);
            let Some(class) = self.next_class(now, express) else { return };
            let Some(key) = self.next_of(class) else { return };
            self.scheduler.charge(class);
            self.controllers[class.index()].left();
            self.places.take(now);
            self.stats.of(Some(class)).dispatched += 1;
            self.store.put(key, Place::InService, now);
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

    /// The class to serve next: one that waits and for which a place is open.
    fn next_class(&self, now: Time, express: u32) -> Option<ClassId> {
        let waiting = self.layout.all().filter(|class| self.queued(*class) > 0);
        self.scheduler.pick(waiting.map(|class| Ready { class, open: self.is_open(now, class, express) }))
    }

    /// Whether a class may take a place: the window is for all, the places on top of it for the
    /// more important, in proportion, and for whoever is stuck behind something long.
    fn is_open(&self, now: Time, class: ClassId, express: u32) -> bool {
        let last = self.config.last_class();
        let on_top = if last.0 == 0 { 0 } else { express * u32::from(last.0 - class.0) / u32::from(last.0) };
        let overdue = |queue| self.overdue_at(queue).is_some_and(|at| at <= now);
        self.places.free(on_top) > 0 || self.layout.admitted(class).any(overdue)
    }

    pub(super) fn finished(&mut self, now: Time, id: RequestId) {
        let Some(key) = self.store.key(id) else {
            // In shadow mode the server also gets those there was no room to follow.
            self.stats.unknown_ids += u64::from(!self.shadow());
            return;
        };
        let held = *self.store.get(key);
        match held.place {
            Place::InService => self.places.give_back(now, held.since),
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
