//! Stages 7 and 8: from the class queues into the server, and out of it.

use units::{ClassId, RequestId, Time};

use super::policy::Policy;
use super::refill::{Next, Refill};
use crate::fairness::rank::Rank;
use crate::overtaking::MIN_INSIDE;
use crate::prospects::lengths::Fate;
use crate::protocol::{Output, PAUSE, Pause, SessionHint};
use crate::scheduler::Ready;
use crate::store::{Held, Key, Position};
use crate::waits::Stage;

/// How many that wait in a class are looked at for a short one.
const MAX_LOOKED_AT: usize = 16;

impl Policy {
    /// Fills the server's free places.
    pub(super) fn dispatch(&mut self, now: Time, how: Refill) {
        self.places.watch(now);
        let some_wait = |policy: &Self| {
            policy.store.waiting(Stage::Class) > 0 || policy.store.waiting(Stage::Discard) > 0
        };
        if some_wait(self) {
            self.places.stall(now, MIN_INSIDE);
        }
        while some_wait(self) && self.places.free(self.express()) > 0 {
            self.refill(now, how);
            let Some(Ready { class, request, .. }) = self.next_ready(now) else { break };
            self.serve(now, class, request);
        }
        let waiting = self.store.waiting(Stage::Class) + self.store.waiting(Stage::Discard);
        self.places.crowd(now, waiting);
        while self.places.has_spare() {
            let Some((class, key)) = self.first_unlike() else { break };
            if self.store.stage(key) == Some(Stage::Discard) {
                self.join(now, key, class);
            }
            self.serve(now, class, Next { key, aside: false });
        }
    }

    /// Sends a request of a class queue to the server.
    fn serve(&mut self, now: Time, class: ClassId, request: Next) {
        self.scheduler.charge(class);
        self.controllers[class.index()].left();
        let held = self.store.get(request.key);
        let Held { rank, session, class: own, .. } = *held;
        let begins = held.begins();
        self.stats.of(own).dispatched += 1;
        if matches!(session, SessionHint::Visitor(_)) {
            self.rooms[class.index()].let_in();
        }
        self.shares.served(now, class, session);
        self.count_against_floor(class, rank);
        if begins {
            self.doors[class.index()].pass(now);
        }
        self.begin(now, request);
        let held = *self.store.get(request.key);
        if rank.goes_ahead() {
            self.has_waited(class, held.client, held.waits.total());
        }
        if !self.shadow() {
            self.decide(Output::Dispatch(held.id), held.waits);
        }
    }

    /// The first that is not of the kinds that seem to idle in the server, of the most important class.
    fn first_unlike(&self) -> Option<(ClassId, Key)> {
        const MAX_LOOKED_AT: usize = 4096;
        self.layout.all().find_map(|class| {
            let waiting = self.layout.admitted(class).chain(self.layout.held_back(class));
            let mut keys = waiting.flat_map(|queue| self.store.iter(queue)).take(MAX_LOOKED_AT);
            Some((class, keys.find(|key| !self.costs.is_suspect(self.store.get(*key).kind))?))
        })
    }

    /// The request of a class to serve next: whose turn comes first, or in overload who belongs to a
    /// session that has begun, because the work on a session is lost when the rest of it is not
    /// done (Web2K section 1.3). New sessions have a floor nevertheless.
    fn head_of(&self, class: ClassId) -> Option<Key> {
        let turn_of = |rank| self.store.next_turn(self.layout.class(class, rank));
        let first_of = |rank| turn_of(rank).map(|(key, _)| key);
        let earliest = |ranks: &[Rank]| {
            let turns = ranks.iter().filter_map(|rank| turn_of(*rank));
            turns.min_by_key(|(_, turn)| *turn).map(|(key, _)| key)
        };
        let newest = || self.admits_sessions(class).then(|| self.newest_at_door(class)).flatten();
        let new = || newest().or_else(|| first_of(Rank::New));
        let (floor, door) = (&self.floors[class.index()], &self.doors[class.index()]);
        if self.admits_sessions(class) {
            let due = (floor.is_due() || door.is_open(self.now)).then(new).flatten();
            // Visitors who were called have been let in already.
            let idle = || new().filter(|key| self.is_visitor(*key) || door.is_open_for_idle(self.now));
            let again = || first_of(Rank::Again).filter(|_| door.is_open(self.now));
            return due
                .or_else(|| first_of(Rank::Existing))
                .or_else(idle)
                .or_else(|| first_of(Rank::Excess))
                .or_else(again);
        }
        let due = floor.is_due().then(new).flatten();
        due.or_else(|| {
            if !self.controllers[class.index()].is_overloaded() {
                earliest(&Rank::ALL)
            } else {
                // Excess takes its turns beside those who begin.
                let others = || earliest(&[Rank::New, Rank::Excess]);
                first_of(Rank::Existing).or_else(others).or_else(|| first_of(Rank::Again))
            }
        })
    }

    /// The new session that has come last; none where they wait in the order of a waiting room.
    fn newest_at_door(&self, class: ClassId) -> Option<Key> {
        let newest = self.store.tail(self.layout.class(class, Rank::New));
        newest.filter(|key| !self.is_visitor(*key))
    }

    pub(super) fn is_visitor(&self, key: Key) -> bool {
        matches!(self.store.get(key).session, SessionHint::Visitor(_))
    }

    /// When a session may begin that has a place, if any waits for that.
    pub(super) fn door_opens(&self) -> Time {
        if self.places.free(0) == 0 {
            return Time::NEVER;
        }
        let opens = self.layout.all().filter(|class| self.admits_sessions(*class)).map(|class| {
            let (door, [new, again]) = (&self.doors[class.index()], self.waiting_to_begin(class));
            match (new, again) {
                (0, 0) => Time::NEVER,
                (0, _) => door.opens(),
                _ => door.opens_for_idle(),
            }
        });
        opens.min().unwrap_or(Time::NEVER)
    }

    /// A request of a class is served, of that rank, while new sessions wait in the class or not.
    fn count_against_floor(&mut self, class: ClassId, rank: Rank) {
        let share = self.config.limits.new_session_share;
        // Where sessions are admitted, one that begins has the rest of its requests served as well.
        let brings = self.shares.requests_of_session(class).filter(|_| self.admits_sessions(class));
        let floor = &mut self.floors[class.index()];
        if self.store.length(self.layout.class(class, Rank::New)) > 0 {
            floor.earn(1.0 / brings.unwrap_or(1.0).max(1.0), share);
        }
        if rank == Rank::New {
            floor.spend();
        }
    }

    /// How many sessions of a class wait to begin, and of those who are back before they were to.
    pub(super) fn waiting_to_begin(&self, class: ClassId) -> [u32; 2] {
        [Rank::New, Rank::Again].map(|rank| self.store.length(self.layout.class(class, rank)))
    }

    /// Puts a request into the server.
    pub(super) fn begin(&mut self, now: Time, request: Next) {
        let Next { key, aside } = request;
        self.store.put(key, Position::InService, now);
        self.store.get_mut(key).inside = self.overtaking.begin(self.places.taken());
        self.places.take(now);
        let begun = self.costs.begin(now, self.class_of(key), self.store.get(key).kind, aside);
        self.store.get_mut(key).begun = begun;
    }

    /// The class to serve next and its request: among those that wait and for which a place is open.
    fn next_ready(&self, now: Time) -> Option<Ready<Next>> {
        let express = self.express();
        self.scheduler.pick(self.layout.all().filter_map(|class| self.candidate(now, class, express)))
    }

    /// What a class would send to the server next. The window is for all; the express places on top of it
    /// are for the more important, in proportion, and for requests that are stuck behind something long.
    ///
    /// An important request takes an express place so that it need not wait for those that matter
    /// less. Among themselves they are no more than the window, but for those that are short beside them.
    fn candidate(&self, now: Time, class: ClassId, express: u32) -> Option<Ready<Next>> {
        let head = Next { key: self.head_of(class)?, aside: false };
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
        if self.costs.in_turn(class) < self.in_turn_at_most(class) {
            return ready(head, true);
        }
        ready(Next { key: self.first_short(now, class)?, aside: true }, true)
    }

    /// How many requests at least as important as `class` may be inside whose turn it was. If there are more of
    /// them than the server can do at once, it is they for whom the window is to be found.
    fn in_turn_at_most(&self, class: ClassId) -> u32 {
        let settled = self.places.settled();
        let waiting: u32 = (0..=class.0).map(|class| self.queued(ClassId(class))).sum();
        if self.costs.in_turn(class) + waiting <= settled { settled } else { self.places.size() }
    }

    /// The first of the next requests of a class that is short beside those at least as important that are
    /// inside the server. Who becomes short while something long stays inside is seen at the next input.
    fn first_short(&self, now: Time, class: ClassId) -> Option<Key> {
        let short = self.costs.short_below(now, class);
        let waiting = self.layout.admitted(class).flat_map(|queue| self.store.iter(queue));
        waiting.take(MAX_LOOKED_AT).find(|key| self.costs.expected(self.store.get(*key).kind) < short)
    }

    pub(super) fn finished(&mut self, now: Time, id: RequestId) {
        let Some(key) = self.store.key(id) else {
            // In shadow mode the server also gets those there was no room to follow.
            self.stats.unknown_ids += u64::from(!self.shadow());
            return;
        };
        let held = *self.store.get(key);
        match held.position {
            Position::InService => {
                self.resumed -= u32::from(held.resumed);
                // In shadow mode the server has had it for longer, among others than are known here.
                let kind = (!self.shadow() && !held.stuck).then_some(held.kind);
                let (work, is_familiar) = (self.costs.work_of(held.kind), self.costs.is_familiar(held.kind));
                let cost = self.costs.end(now, self.class_of(key), kind, held.begun);
                if kind.is_some() && is_familiar && !held.aborted {
                    self.places.observe(now, held.since, cost, work);
                }
                self.places.give_back(now, held.since, self.costs.work_of(held.kind));
                if !held.stuck {
                    let took = now.since(held.since);
                    self.overtaking.end(now, took);
                    if took < MIN_INSIDE {
                        self.costs.idled(held.kind, false);
                    }
                }
            }
            Position::Streaming => {
                self.streaming -= 1;
                if held.idles {
                    self.overtaking.over();
                    let is_soon = now.since(held.since) < MIN_INSIDE;
                    if is_soon && !held.aborted {
                        self.costs.idled(held.kind, false);
                    }
                } else if !held.aborted && self.costs.is_stream(held.kind) && now.since(held.since) < PAUSE {
                    // It was over before anyone could have taken it for a stream.
                    self.costs.streams(held.kind, false);
                }
            }
            // The server answered before its turn would have come.
            _ if self.shadow() => {}
            _ => {
                self.stats.unknown_ids += 1;
                return;
            }
        }
        self.stats.of(held.class).finished += 1;
        if let Some(class) = held.class
            && !held.aborted
        {
            self.shares.answered(class, held.session);
        }
        self.forget(key);
    }

    /// The server does nothing for a request that it has: it goes on without a place, if there is room for another
    /// such.
    pub(super) fn released(&mut self, now: Time, id: RequestId, pause: Pause) {
        let Some(key) = self.store.key(id) else {
            self.stats.unknown_ids += u64::from(!self.shadow());
            return;
        };
        let held = *self.store.get(key);
        match held.position {
            Position::InService => {
                match pause {
                    Pause::Response => self.costs.streams(held.kind, true),
                    Pause::Head { overtaken: true } => self.costs.idled(held.kind, true),
                    Pause::Upload | Pause::Taking | Pause::Head { overtaken: false } => {}
                }
                if !self.may_release() {
                    self.store.get_mut(key).stuck = true;
                    return;
                }
                if let Pause::Head { overtaken } = pause {
                    self.overtaking.release(overtaken);
                    self.store.get_mut(key).idles = true;
                }
                self.places.give_back(now, held.since, self.costs.work_of(held.kind));
                self.resumed -= u32::from(held.resumed);
                // What it took of the server is less than the time that it was inside.
                self.costs.end(now, self.class_of(key), None, held.begun);
            }
            Position::Streaming => return,
            // In shadow mode its turn would come when the server has nothing more to do for it.
            _ if self.shadow() && self.may_release() => {}
            _ => return,
        }
        // The end of events, and of waiting for some, is not what a user waits for.
        if matches!(pause, Pause::Response | Pause::Head { .. }) {
            self.settle(key, Fate::Served);
        }
        self.store.put(key, Position::Streaming, now);
        self.store.get_mut(key).resumed = false;
        self.streaming += 1;
    }

    /// The server works on a request that was released: it takes a place, even if none is free, because
    /// nothing could keep the server from it.
    pub(super) fn resumed(&mut self, now: Time, id: RequestId) {
        let Some(key) = self.store.key(id) else {
            self.stats.unknown_ids += u64::from(!self.shadow());
            return;
        };
        let held = *self.store.get(key);
        if held.position == Position::Streaming {
            self.streaming -= 1;
            if held.idles {
                self.overtaking.over();
                self.store.get_mut(key).idles = false;
            }
            self.begin(now, Next { key, aside: false });
            self.store.get_mut(key).resumed = true;
            self.resumed += 1;
        }
    }

    /// Whether a request that has not been answered idles in the server: it waits for something to happen.
    pub(crate) fn idles(&self, now: Time, id: RequestId) -> bool {
        let held = self.store.key(id).map(|key| self.store.get(key));
        let inside = held.filter(|held| held.position == Position::InService);
        inside.is_some_and(|held| {
            !self.costs.is_quick(held.kind) && self.overtaking.idles(now, held.inside, held.since)
        })
    }

    /// Nothing comes out of the server, and this one has been inside for so long: the next of its kind may be as it is.
    pub(crate) fn suspect(&mut self, now: Time, id: RequestId) {
        let Some(key) = self.store.key(id) else { return };
        let held = self.store.get(key);
        if self.places.spare() > 0
            && held.position == Position::InService
            && now.since(held.since) >= MIN_INSIDE
        {
            self.costs.suspect(held.kind);
        }
    }

    /// Whether one that has just been dispatched is likely to, and may do so without a place.
    pub(crate) fn may_idle(&self, id: RequestId) -> bool {
        let is_known = |key| self.costs.does_idle(self.store.get(key).kind);
        self.overtaking.may_idle() && self.may_release() && self.store.key(id).is_some_and(is_known)
    }

    /// Whether requests of this kind have been released before: the response to the next is likely to stream as well.
    pub(crate) fn streams(&self, id: RequestId) -> bool {
        self.store.key(id).is_some_and(|key| self.costs.is_stream(self.store.get(key).kind))
    }
}
