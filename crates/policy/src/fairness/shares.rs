//! [`Shares`]: what sessions and clients have had lately, and where that puts their next request.

use alloc::vec;
use alloc::vec::Vec;

use units::{ClassId, SessionId, Span, Time};

use super::pauses::Pauses;
use super::rank::Rank;
use super::recent::{Epoch, Recent};
use crate::prospects::lengths::{Fate, Lengths};
use crate::prospects::progress::Progress;
use crate::prospects::prospect::Prospect;
use crate::protocol::{KnownSession, SessionHint};
use crate::table::Table;

/// So many requests a browser has at once; no session or client is held to less.
const AT_ONCE: u32 = 6;
/// The part of what the server does that one session gets ahead of others: one in so many.
const SESSION_PART: u32 = 10;
/// The same for all that comes from one client, where others want the rest.
const CLIENT_PART: u32 = 2;
/// Sessions and clients that are remembered, for each request that can be held, and at most.
const REMEMBERED: usize = 4;
const MAX_REMEMBERED: usize = 1 << 16;

#[derive(Debug, Clone, Copy, Default)]
struct SessionShare {
    /// Requests that went ahead of others.
    ahead: Recent,
    /// The same since it began, or came back after a long time.
    requests: u32,
    /// Whether it has begun: before, the same number is that of a place in the waiting room.
    has_begun: bool,
}

/// Where a request stands among those of its class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Standing {
    pub(crate) rank: Rank,
    /// What serving its session promises, by how far it has come.
    pub(crate) prospect: Prospect,
    /// Whether its client was refused and asks again, where it is known which client that is.
    pub(crate) is_retry: bool,
    /// Whether what becomes of it tells something of how long sessions are.
    pub(crate) is_followed: bool,
}

impl Standing {
    fn new(rank: Rank) -> Self {
        Self { rank, prospect: Prospect::NONE, is_retry: false, is_followed: false }
    }
}

/// Within this time after a refusal a client asks again: clients are told to wait for some seconds, and people try once
/// more on their own.
const COMES_BACK: Span = Span::from_secs(60);

/// One is nearly alone beside one request of others in so many.
const OTHERS: u32 = 32;
/// It tells again after this.
const MAY_TELL_AGAIN: Span = Span::from_millis(250);

#[derive(Debug, Clone, Copy, Default)]
struct ClientShare {
    came: Recent,
    /// Of these, requests that went ahead of others.
    ahead: Recent,
    /// Requests that it gave up.
    given_up: Recent,
    /// Of those, the ones that told something.
    told: Recent,
    /// How many of those in the last quarter of a second, and since when that is.
    told_then: u32,
    told_since: Time,
    /// Requests without a session that were refused, and for which it has not come back.
    refused: u32,
    /// When the last of them was.
    refused_at: Time,
    /// When a session of it was there.
    session_at: Option<Time>,
}

impl ClientShare {
    /// A request of it comes, of so many that `came` lately while so many were `served`. Gives whether it is within what it may have
    /// ahead of others.
    ///
    /// A client may have what the others leave; if they want all, a part. Whether a client is many users, as
    /// behind an address translator, or one with many sessions cannot be told. Without others it does not matter.
    fn comes_within(&mut self, epoch: Epoch, came: u32, served: u32) -> bool {
        self.came.add(epoch);
        let others = came.saturating_sub(self.came.count(epoch));
        // Others may come in twice the number before they are held up.
        let left = served.saturating_sub(others.saturating_mul(2));
        others == 0 || self.ahead.count(epoch) < AT_ONCE.max(served / CLIENT_PART).max(left)
    }

    /// When a request was refused that comes again now, without a session; of one that was refused longer ago than `memory` this is
    /// none.
    ///
    /// A client of which more were refused than a browser asks for at once, or that has sessions beside, is many users, and which
    /// of them comes is not known.
    fn take_refusal(&mut self, now: Time, memory: Span) -> Option<Time> {
        let is_recent = |at: Time| now.since(at) <= memory;
        if !is_recent(self.refused_at) {
            self.refused = 0;
        }
        let is_one_user = self.refused <= AT_ONCE && !self.session_at.is_some_and(is_recent);
        let refused_at = (self.refused > 0 && is_one_user).then_some(self.refused_at);
        self.refused = self.refused.saturating_sub(1);
        refused_at
    }
}

/// What sessions and clients have had lately.
#[derive(Debug)]
pub(crate) struct Shares {
    sessions: Sessions,
    clients: Table<ClientShare>,
    came: Recent,
    served: Recent,
}

/// What sessions have had lately, and how long they pause and last.
#[derive(Debug)]
struct Sessions {
    shares: Table<SessionShare>,
    /// Of each class.
    pauses: Vec<Pauses>,
    lengths: Lengths,
}

impl Shares {
    /// For so many classes, and `room` requests that can be held.
    pub(crate) fn new(classes: usize, room: usize) -> Self {
        let remembered = (room * REMEMBERED).min(MAX_REMEMBERED);
        Self {
            sessions: Sessions {
                shares: Table::new(remembered),
                pauses: vec![Pauses::UNKNOWN; classes],
                lengths: Lengths::new(classes),
            },
            clients: Table::new(remembered),
            came: Recent::default(),
            served: Recent::default(),
        }
    }

    /// A request comes that need not be ranked. Gives whether it is within what its client may have ahead of others.
    pub(crate) fn came(&mut self, now: Time, client: u64) -> bool {
        let epoch = Epoch::of(now);
        self.came.add(epoch);
        let (came, served) = (self.came.count(epoch), self.served.count(epoch));
        self.clients.see(client, now).1.comes_within(epoch, came, served)
    }

    /// Where a request stands that comes now, of a class.
    ///
    /// Who was refused was asked to stay away for `retry_after` at least.
    pub(crate) fn rank(
        &mut self,
        now: Time,
        class: ClassId,
        (session, client): (SessionHint, u64),
        retry_after: Span,
    ) -> Standing {
        let epoch = Epoch::of(now);
        self.came.add(epoch);
        let (came, served) = (self.came.count(epoch), self.served.count(epoch));
        let (_, client) = self.clients.see(client, now);
        let is_within = client.comes_within(epoch, came, served);
        let refused_at = match session {
            SessionHint::New => client.take_refusal(now, COMES_BACK.max(retry_after * 2)),
            SessionHint::Visitor(_) => None,
            SessionHint::Known(_) => {
                client.session_at = Some(now);
                None
            }
        };
        let is_early = refused_at.is_some_and(|at| now.since(at) < retry_after);
        let standing = match session {
            SessionHint::Known(session) if is_within => {
                self.sessions.rank((now, epoch), class, session, served)
            }
            SessionHint::Visitor(visit) if is_within && visit.told.is_some() => {
                Standing::new(self.sessions.rank_of_visitor((now, epoch), visit.id, served))
            }
            SessionHint::New if is_within && is_early => Standing::new(Rank::Again),
            SessionHint::New | SessionHint::Visitor(_) if is_within => Standing::new(Rank::New),
            SessionHint::Known(session) => self.sessions.beside(now, session.id),
            _ => Standing::new(Rank::Excess),
        };
        if standing.rank.goes_ahead() {
            client.ahead.add(epoch);
        }
        Standing { is_retry: refused_at.is_some(), ..standing }
    }

    /// A request was sent to the server.
    pub(crate) fn served(&mut self, now: Time, class: ClassId, session: SessionHint) {
        self.served.add(Epoch::of(now));
        if matches!(session, SessionHint::Known(_)) {
            self.sessions.lengths.sent(class);
        }
    }

    /// The server is done with a request whose client was still there.
    pub(crate) fn answered(&mut self, class: ClassId, session: SessionHint) {
        if !matches!(session, SessionHint::Known(_)) {
            self.sessions.lengths.began(class);
        }
    }

    /// A request was refused: its client may ask again.
    pub(crate) fn refused(&mut self, now: Time, client: u64, session: SessionHint) {
        if matches!(session, SessionHint::New) {
            let (_, client) = self.clients.see(client, now);
            client.refused = client.refused.saturating_add(1);
            client.refused_at = now;
        }
    }

    /// A request was refused before it could wait: if its session does not come back, that is why.
    pub(crate) fn lost(&mut self, session: SessionHint) {
        if let SessionHint::Known(session) = session {
            self.sessions.lengths.lost(session.id);
        }
    }

    /// A request [is followed](Standing::is_followed), and needs nothing more.
    pub(crate) fn settled(&mut self, now: Time, session: SessionHint, fate: Fate) {
        if let SessionHint::Known(session) = session {
            self.sessions.lengths.settled(now, session.id, fate);
        }
    }

    /// Makes something of what was learnt of the sessions of a class.
    pub(crate) fn conclude(&mut self, now: Time, class: ClassId) {
        self.sessions.lengths.conclude(now, class);
    }

    /// Periods are `longer` times as long from now on.
    pub(crate) fn rescale(&mut self, longer: f64) {
        self.sessions.lengths.rescale(longer);
    }

    /// A period is over in which the server worked.
    pub(crate) fn end_period(&mut self, class: ClassId) {
        self.sessions.lengths.end_period(class);
    }

    /// Requests of a class that are served in a period for sessions that are lost, on average.
    pub(crate) fn wasted(&self, class: ClassId) -> f64 {
        self.sessions.lengths.wasted(class)
    }

    /// How many requests a session of a class has, on average, as soon as that is known.
    pub(crate) fn requests_of_session(&self, class: ClassId) -> Option<f64> {
        self.sessions.lengths.requests(class)
    }

    /// Whether it is known how long sessions of a class are, so that some are nearer to their ends than others.
    pub(crate) fn are_lengths_known(&self, class: ClassId) -> bool {
        self.sessions.lengths.are_known(class)
    }

    /// Whether a client that gives up a request now says something of others: not if it has given up as many as
    /// a browser has at once, so that one that leaves with all it has counts for no more. One that is nearly alone may be many users,
    /// and tells as much again each quarter of a second.
    pub(crate) fn tells_by_giving_up(&mut self, now: Time, client: u64) -> bool {
        let epoch = Epoch::of(now);
        let came = self.came.count(epoch);
        let (_, client) = self.clients.see(client, now);
        let others = came.saturating_sub(client.came.count(epoch));
        let is_alone = others <= AT_ONCE.max(came / OTHERS);
        client.given_up.add(epoch);
        if now.since(client.told_since) >= MAY_TELL_AGAIN {
            (client.told_since, client.told_then) = (now, 0);
        }
        let told = if is_alone { client.told_then } else { client.told.count(epoch) };
        let tells = told < AT_ONCE;
        if tells {
            client.told.add(epoch);
            client.told_then += 1;
        }
        tells
    }

    /// What it counts for that a client has not given up: as much less as of those that it gave up fewer counted. So of an address
    /// that many users share both are heard alike.
    pub(crate) fn weight_of_staying(&mut self, now: Time, client: u64) -> f64 {
        let epoch = Epoch::of(now);
        let (_, client) = self.clients.see(client, now);
        let [told, given_up] =
            [&mut client.told, &mut client.given_up].map(|count| count.count(epoch).max(1));
        f64::from(told) / f64::from(given_up)
    }
}

impl Sessions {
    /// Of a request that is more than its session or client may have ahead of others.
    fn beside(&mut self, now: Time, session: SessionId) -> Standing {
        Standing { is_followed: self.lengths.came_beside(now, session), ..Standing::new(Rank::Excess) }
    }

    /// Where a request of a session stands, while `served` requests were served lately.
    fn rank(
        &mut self,
        (now, epoch): (Time, Epoch),
        class: ClassId,
        session: KnownSession,
        served: u32,
    ) -> Standing {
        let (seen, share) = self.shares.see(session.id.0, now);
        if share.ahead.count(epoch) >= AT_ONCE.max(served / SESSION_PART) {
            return self.beside(now, session.id);
        }
        share.ahead.add(epoch);
        let has_begun = core::mem::replace(&mut share.has_begun, true);
        let seen = seen.filter(|_| has_begun).map(|seen| now.since(seen));
        // The token is not written with each response, so it may be older than the last request.
        let pause = seen.map_or(session.idle, |seen| seen.min(session.idle));
        let pauses = &mut self.pauses[class.index()];
        let rank = if pause <= pauses.longest() { Rank::Existing } else { Rank::New };
        if let Some(pause) = seen {
            pauses.learn(pause);
        }
        share.requests = if rank == Rank::Existing { share.requests.saturating_add(1) } else { 0 };
        let progress = Progress::after(share.requests);
        self.lengths.look(now);
        let first_pause = seen.is_none().then_some(session.idle);
        let is_followed = self.lengths.came(now, class, session.id, progress, first_pause);
        Standing { prospect: self.lengths.prospect(class, progress), is_followed, ..Standing::new(rank) }
    }

    /// The rank of a request with a place in the waiting room: of those with the same place, who may be many with one token,
    /// no more go ahead than of a session.
    fn rank_of_visitor(&mut self, (now, epoch): (Time, Epoch), id: SessionId, served: u32) -> Rank {
        let (_, share) = self.shares.see(id.0, now);
        if share.ahead.count(epoch) >= AT_ONCE.max(served / SESSION_PART) {
            return Rank::Excess;
        }
        share.ahead.add(epoch);
        Rank::New
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::waiting_room::visit::{Told, Visit};

    const CLASS: ClassId = ClassId(0);
    const RETRY_AFTER: Span = Span::from_secs(5);

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    fn session(id: u64, idle: u64) -> SessionHint {
        let idle = Span::from_secs(idle);
        SessionHint::Known(KnownSession { id: SessionId(id), class: CLASS, idle, is_raised: false })
    }

    /// Of a hundred requests, how many are of which rank.
    fn ranks(shares: &mut Shares, mut next: impl FnMut(u64) -> (SessionHint, u64)) -> [u32; Rank::COUNT] {
        let mut counts = [0; Rank::COUNT];
        for number in 0..100 {
            let (session, client) = next(number);
            counts[shares.rank(at(number), CLASS, (session, client), RETRY_AFTER).rank.index()] += 1;
        }
        counts
    }

    /// A request of each of so many clients.
    fn ranks_at(shares: &mut Shares, millis: u64, clients: u64) {
        for client in 1..=clients {
            shares.rank(at(millis), CLASS, (SessionHint::New, client), RETRY_AFTER);
        }
    }

    fn after_serving(requests: u32) -> Shares {
        let mut shares = Shares::new(1, 100);
        (0..requests).for_each(|_| shares.served(at(0), CLASS, SessionHint::New));
        shares
    }

    #[test]
    fn one_session_gets_what_a_browser_has_at_once_or_a_tenth() {
        let hog = |_| (session(1, 0), 1);
        assert_eq!(ranks(&mut after_serving(10), hog), [6, 0, 94, 0]);
        assert_eq!(ranks(&mut after_serving(200), hog), [20, 0, 80, 0]);
    }

    #[test]
    fn a_place_that_many_use_counts_as_one_session() {
        let told = Some(Told { at: at(0), place: 1, seconds: 2 });
        let copied =
            |number| (SessionHint::Visitor(Visit { told, ..Visit::begin(SessionId(1), at(0)) }), number);
        assert_eq!(ranks(&mut after_serving(40), copied), [0, 6, 94, 0]);
        let own =
            |number| (SessionHint::Visitor(Visit { told, ..Visit::begin(SessionId(number), at(0)) }), number);
        assert_eq!(ranks(&mut after_serving(40), own), [0, 100, 0, 0]);
    }

    #[test]
    fn sessions_of_one_address_are_many_users_until_others_come() {
        let alone = |number| (session(number, 0), 1);
        assert_eq!(ranks(&mut after_serving(40), alone), [100, 0, 0, 0]);
        let beside =
            |number| if number % 2 == 0 { (session(number, 0), 1) } else { (SessionHint::New, number) };
        let [existing, new, excess, _] = ranks(&mut after_serving(40), beside);
        assert_eq!(new, 50, "who begins, each from an address of its own");
        assert!((15..35).contains(&existing), "{existing} of sessions, {excess} beyond");
    }

    #[test]
    fn a_client_without_sessions_is_one() {
        let beside = |number| (SessionHint::New, if number % 10 == 0 { number } else { 1 });
        let [_, new, excess, _] = ranks(&mut after_serving(40), beside);
        assert!(new < 60 && excess > 40, "{new} {excess}");
    }

    #[test]
    fn a_session_is_under_way_for_as_long_as_users_pause() {
        let mut shares = Shares::new(1, 100);
        let mut rank = |seconds: u64, id, idle| {
            shares
                .rank(Time::ZERO + Span::from_secs(seconds), CLASS, (session(id, idle), id), RETRY_AFTER)
                .rank
        };
        assert_eq!([rank(0, 1, 30), rank(0, 2, 600)], [Rank::Existing, Rank::New]);
        // It has just been here; its token does not say so yet.
        assert_eq!(rank(5, 2, 605), Rank::Existing);
        for page in 0..1000 {
            rank(10 + 3 * page, 1, 0);
        }
        assert_eq!([rank(4000, 3, 15), rank(4000, 4, 25)], [Rank::Existing, Rank::New], "pauses of 3 s");
    }

    #[test]
    fn a_session_that_was_a_visitor_is_followed_from_its_first_request_on() {
        let mut shares = Shares::new(1, 100);
        let told = Some(Told { at: at(0), place: 1, seconds: 2 });
        let visitor = SessionHint::Visitor(Visit { told, ..Visit::begin(SessionId(1), at(0)) });
        shares.rank(at(0), CLASS, (visitor, 1), RETRY_AFTER);
        let standing = shares.rank(at(9000), CLASS, (session(1, 1), 1), RETRY_AFTER);
        assert_eq!(
            (standing.is_followed, standing.rank),
            (true, Rank::Existing),
            "it has waited, and read for a second"
        );
    }

    #[test]
    fn who_was_refused_and_asks_again_is_told_from_who_is_new() {
        let mut shares = Shares::new(1, 100);
        let asks = |shares: &mut Shares, millis, client| {
            let standing = shares.rank(at(millis), CLASS, (SessionHint::New, client), RETRY_AFTER);
            (standing.is_retry, standing.rank)
        };
        let (fresh, early, late) = ((false, Rank::New), (true, Rank::Again), (true, Rank::New));
        assert_eq!(asks(&mut shares, 0, 1), fresh);
        shares.refused(at(0), 1, SessionHint::New);
        assert_eq!([asks(&mut shares, 500, 2), asks(&mut shares, 500, 1)], [fresh, early]);
        assert_eq!(asks(&mut shares, 600, 1), fresh, "once for each refusal");
        shares.refused(at(700), 1, SessionHint::New);
        shares.refused(at(700), 3, SessionHint::New);
        assert_eq!([asks(&mut shares, 5699, 1), asks(&mut shares, 5700, 3)], [early, late]);
        shares.refused(at(6000), 1, SessionHint::New);
        assert_eq!(asks(&mut shares, 100_000, 1), fresh, "that was long ago");
    }

    #[test]
    fn of_an_address_of_many_users_it_is_not_known_who_asks_again() {
        let is_retry = |shares: &mut Shares, client| {
            shares.rank(at(1000), CLASS, (SessionHint::New, client), RETRY_AFTER).is_retry
        };
        let mut shares = Shares::new(1, 100);
        (0..7).for_each(|_| shares.refused(at(0), 1, SessionHint::New));
        assert!(!is_retry(&mut shares, 1), "more than a browser asks for at once");
        shares.refused(at(0), 2, SessionHint::New);
        shares.rank(at(900), CLASS, (session(5, 0), 2), RETRY_AFTER);
        assert!(!is_retry(&mut shares, 2), "somebody there has a session");
    }

    #[test]
    fn a_client_that_leaves_with_all_it_has_counts_as_a_few() {
        let mut shares = Shares::new(1, 100);
        let mut told = |millis, others| {
            ranks_at(&mut shares, millis, others);
            let told = (0..100).filter(|_| shares.tells_by_giving_up(at(millis), 1)).count();
            (told, shares.weight_of_staying(at(millis), 1))
        };
        assert_eq!(told(0, 10), (6, 0.06));
        assert_eq!(told(1000, 10), (0, 0.03));
        assert_eq!(told(2000, 10), (0, 0.02));
        assert_eq!(told(8000, 10), (6, 0.06));
        // One that is alone may be many users, and tells as much again.
        assert_eq!([told(20_000, 1), told(20_100, 1), told(20_300, 1)], [(6, 0.06), (0, 0.03), (6, 0.04)]);
        assert!(shares.tells_by_giving_up(at(20_000), 2));
    }
}
