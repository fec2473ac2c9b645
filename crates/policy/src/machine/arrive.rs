//! Stages 1 to 4: from the client's connection to a class.

use units::{ClassId, RequestId, Time};

use super::policy::Policy;
use super::refill::Next;
use crate::kind::Kind;
use crate::protocol::{KnownSession, Output, Reason, SessionHint};
use crate::store::{Held, Key, Position};
use crate::waits::{Stage, Waits};

impl Policy {
    pub(super) fn arrived(
        &mut self,
        now: Time,
        id: RequestId,
        session: SessionHint,
        client: u64,
        kind: Kind,
    ) {
        if self.store.contains(id) {
            self.stats.unknown_ids += 1;
            return;
        }
        let session = match session {
            SessionHint::New | SessionHint::Visitor(_) => session,
            SessionHint::Known(known) => {
                SessionHint::Known(KnownSession { class: known.class.min(self.config.last_class()), ..known })
            }
        };
        let known = session.class();
        self.acceptor.arrived();
        self.scan.arrived(self.is_important(known));
        if let Some(class) = known {
            let counters = self.stats.of(Some(class));
            counters.arrived += 1;
            counters.existing += 1;
        }
        if let Some(reason) = self.turned_away(known, client) {
            self.refuse_at_the_door(now, id, (session, client), reason);
            return;
        }
        let key = self.store.insert(Held::arriving(id, client, session, kind, now));
        self.store.enqueue(key, self.layout.acceptor(known), now);
        if self.shadow() {
            self.decide(Output::Dispatch(id), Waits::default());
        }
    }

    /// A request is in the server already: it is counted there, whether or not there is a place.
    pub(super) fn begun(
        &mut self,
        now: Time,
        id: RequestId,
        (session, client): (SessionHint, u64),
        (kind, class): (Kind, ClassId),
    ) {
        if self.store.contains(id) || self.store.is_full() {
            self.stats.unknown_ids += 1;
            return;
        }
        let class = class.min(self.config.last_class());
        let session = match session {
            SessionHint::New | SessionHint::Visitor(_) => session,
            SessionHint::Known(known) => SessionHint::Known(KnownSession { class, ..known }),
        };
        let is_known = session.class().is_some();
        let counters = self.stats.of(Some(class));
        counters.arrived += 1;
        counters.existing += u64::from(is_known);
        counters.dispatched += 1;
        // A client that has more than its share already is in there nevertheless.
        self.clients.took(client);
        let key = self.store.insert(Held::arriving(id, client, session, kind, now));
        self.store.get_mut(key).class = Some(class);
        self.scheduler.charge(class);
        self.shares.served(now, class, session);
        self.begin(now, Next { key, aside: false });
    }

    /// Why a request cannot even wait, after making room for an important one if need be.
    fn turned_away(&mut self, known: Option<ClassId>, client: u64) -> Option<Reason> {
        if !self.clients.take(client) {
            return Some(Reason::ClientShare);
        }
        let queued = self.store.waiting(Stage::Acceptor);
        let full = queued >= self.config.limits.acceptor_queue || self.store.is_full();
        let reason = if self.pressure.refuses(known, self.config.last_class()) {
            Reason::Pressure
        } else if full {
            Reason::AcceptorFull
        } else {
            return None;
        };
        // In shadow mode a victim would keep its slot until the server is done with it.
        if self.displace_arrival(known) && !self.store.is_full() {
            return None;
        }
        self.clients.give_back(client);
        Some(reason)
    }

    /// In shadow mode even this request goes to the server, but there is no room to follow it.
    fn refuse_at_the_door(
        &mut self,
        now: Time,
        id: RequestId,
        (session, client): (SessionHint, u64),
        reason: Reason,
    ) {
        self.stats.of(session.class()).rejected[reason.index()] += 1;
        self.note_refusal(now, client, session);
        let output = if self.shadow() {
            Output::Dispatch(id)
        } else {
            self.shares.lost(session);
            Output::Reject(id, reason, self.ticket(now, session, None, reason))
        };
        self.decide(output, Waits::default());
    }

    /// Makes room among the arrivals not yet processed that are less important than `known`: see
    /// [`Policy::displace`].
    fn displace_arrival(&mut self, known: Option<ClassId>) -> bool {
        let mine = self.layout.acceptor(known);
        self.displace(self.layout.acceptors().rev().take_while(move |queue| queue.0 > mine.0))
    }

    /// Ends a cycle: processes up to `m` requests (Web2K section 3.1).
    pub(super) fn cycle(&mut self, now: Time) {
        for _ in 0..self.acceptor.end_cycle() {
            // A driver that is slow to classify is not handed more than it can take.
            if self.classifying >= self.config.limits.burst || !self.process_one(now) {
                break;
            }
        }
    }

    /// Scans up to `k` arrivals for a known important one and processes it; failing that, one
    /// pending request, existing sessions first (Web2K section 3.2). False when none waits.
    fn process_one(&mut self, now: Time) -> bool {
        for _ in 0..self.scan.k() {
            let Some(key) = self.oldest_arrival() else { break };
            let held = *self.store.get(key);
            if self.is_important(held.class) {
                self.admit(now, key);
                return true;
            }
            let pending = self.layout.pending(held.is_known());
            if self.store.length(pending) < self.config.limits.pending_queue {
                self.store.enqueue(key, pending, now);
            } else {
                self.reject(key, Reason::PendingFull);
            }
        }
        let mut pendings = self.layout.pendings();
        let Some(key) = pendings.find_map(|queue| self.store.head(queue)) else { return false };
        let held = *self.store.get(key);
        if held.is_known() {
            self.admit(now, key);
        } else {
            self.store.put(key, Position::Classifying, now);
            self.classifying += 1;
            self.decide(Output::Classify(held.id), held.waits);
        }
        true
    }

    pub(super) fn classified(&mut self, now: Time, id: RequestId, class: ClassId) {
        let key = self.store.key(id).filter(|key| self.store.get(*key).position == Position::Classifying);
        let Some(key) = key else {
            self.stats.unknown_ids += 1;
            return;
        };
        self.classifying -= 1;
        let class = class.min(self.config.last_class());
        self.store.get_mut(key).class = Some(class);
        self.stats.of(Some(class)).arrived += 1;
        if self.has_to_wait_outside(now, key, class) {
            self.reject(key, Reason::WaitingRoom);
        } else {
            self.admit(now, key);
        }
    }

    /// The first arrival not yet processed. The acceptor queue is kept by known class, so that
    /// the least important can be found when room is needed; the order is that of arrival.
    fn oldest_arrival(&self) -> Option<Key> {
        let heads = self.layout.acceptors().filter_map(|queue| self.store.head(queue));
        heads.min_by_key(|key| self.store.get(*key).sequence)
    }

    /// Known to be of a class above the least important one.
    fn is_important(&self, known: Option<ClassId>) -> bool {
        known.is_some_and(|class| class < self.config.last_class())
    }
}
