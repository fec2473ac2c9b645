//! What becomes of requests, as far as it tells how long sessions are.

use units::ClassId;

use super::policy::Policy;
use crate::fairness::rank::Rank;
use crate::prospects::lengths::Fate;
use crate::store::{Key, Position};

impl Policy {
    /// A request needs nothing more that its user waits for.
    pub(super) fn settle(&mut self, key: Key, fate: Fate) {
        let now = self.now;
        let held = self.store.get_mut(key);
        if core::mem::take(&mut held.is_followed) {
            self.shares.settled(now, held.session, fate);
        }
    }

    /// A request is refused, or given up because it waited. What a session has beyond its share it can do without.
    pub(super) fn lose(&mut self, key: Key) {
        let held = *self.store.get(key);
        if held.rank == Rank::Excess {
            self.settle(key, Fate::Left);
        } else if held.is_followed {
            self.settle(key, Fate::Lost);
        } else {
            self.shares.lost(held.session);
        }
    }

    /// Why the client of a request has left: because it waited, or for a reason of its own.
    pub(super) fn fate_of_aborted(&self, key: Key) -> Fate {
        let held = self.store.get(key);
        let has_waited = |class: ClassId| self.patience[class.index()].is_tried_by(held.waits.total());
        match held.position {
            _ if self.shadow() => Fate::Left,
            Position::Queue(_) => Fate::Lost,
            Position::InService
                if held.waits.total() > self.now.since(held.since) && has_waited(self.class_of(key)) =>
            {
                Fate::Lost
            }
            _ => Fate::Left,
        }
    }
}
