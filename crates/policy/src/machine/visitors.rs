//! Visitors: sessions that begin, who wait outside while others do who came before them.

use units::{ClassId, Time};

use super::policy::Policy;
use crate::fairness::rank::Rank;
use crate::protocol::{Reason, SessionHint};
use crate::store::Key;
use crate::waiting_room::visit::Ticket;

impl Policy {
    /// Whether a request is one of a visitor whose turn has not come.
    pub(super) fn has_to_wait_outside(&mut self, now: Time, key: Key, class: ClassId) -> bool {
        let SessionHint::Visitor(visit) = self.store.get(key).session else { return false };
        if self.shadow() {
            return false;
        }
        let room = &mut self.rooms[class.index()];
        let visit = room.honoured(visit, now);
        let waits = room.holds(&visit);
        let held = self.store.get_mut(key);
        held.session = SessionHint::Visitor(visit);
        // Who does not wait is counted when it is ranked.
        if waits && visit.told.is_none() && self.shares.came(now, held.client) {
            self.crowd.came(class);
        }
        waits
    }

    /// Whether a request is one of a visitor who has waited and was called.
    pub(super) fn was_called(&self, key: Key) -> bool {
        let held = self.store.get(key);
        matches!(held.session, SessionHint::Visitor(visit) if visit.told.is_some()) && held.rank == Rank::New
    }

    /// What a refused request's sender is told if it is a visitor. One whose class is not known waits for the last.
    pub(super) fn ticket(
        &mut self,
        now: Time,
        session: SessionHint,
        class: Option<ClassId>,
        reason: Reason,
    ) -> Option<Ticket> {
        let SessionHint::Visitor(visit) = session else { return None };
        let was_called = class.is_some() && reason != Reason::WaitingRoom;
        let class = class.unwrap_or_else(|| self.config.last_class());
        let room = &mut self.rooms[class.index()];
        let visit = room.honoured(visit, now);
        Some(room.refuse(visit, now, was_called, &mut self.rng))
    }
}
