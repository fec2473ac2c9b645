//! Stages 7 and 8: from the class queues into the server, and out of it.

use units::{ClassId, RequestId, Time};

use super::Policy;
use crate::Output;
use crate::scheduler::Ready;
use crate::store::Place;

impl Policy {
    /// Fills the server's free places.
    pub(super) fn dispatch(&mut self, now: Time) {
        while self.places.free() > 0 {
            let Some(class) = self.next_class() else { return };
            let Some(key) = self.store.head(self.layout.class(class)) else { return };
            self.scheduler.charge(class);
            self.controllers[class.index()].left();
            self.places.take(now);
            self.stats.of(Some(class)).dispatched += 1;
            self.store.put(key, Place::InService, now);
            if !self.shadow() {
                self.outputs.push_back(Output::Dispatch(self.store.get(key).id));
            }
        }
    }

    /// The class to serve next: one that waits and for which a place is open.
    fn next_class(&self) -> Option<ClassId> {
        let size = self.places.size();
        let reserve = self.config.knobs.reserve(size);
        let (last, free) = (self.config.last_class(), self.places.free());
        let waiting = self.layout.all().filter(|class| self.store.length(self.layout.class(*class)) > 0);
        self.scheduler.pick(waiting.map(|class| {
            let kept = reserve_against(class, last, reserve);
            Ready { class, open: free > kept }
        }))
    }

    pub(super) fn finished(&mut self, now: Time, id: RequestId) {
        let Some(key) = self.store.key(id) else {
            self.stats.unknown_ids += 1;
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

/// Places a class must leave free: all of `reserve` for the last class, none for the first, and
/// between them in proportion.
fn reserve_against(class: ClassId, last: ClassId, reserve: u32) -> u32 {
    if last.0 == 0 { 0 } else { reserve * u32::from(class.0) / u32::from(last.0) }
}
