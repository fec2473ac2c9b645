//! Sessions: what a token carries and when it holds (Web2K section 2, "session management").
//!
//! Sealing a token into a cookie is the driver's work; when it expires, when it is issued
//! again and what happens to its class are decisions, so they are made here, where the
//! simulator finds them too.

use units::{ClassId, SessionId, Span, Time};

use crate::protocol::KnownSession;
use crate::waiting_room::visit::Visit;

/// What a session token says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Session {
    /// Which session.
    pub id: SessionId,
    /// The class that all its requests share.
    pub class: ClassId,
    /// When the session began.
    pub issued: Time,
    /// When this token was written; later requests are not in it until it is issued again.
    pub last_seen: Time,
    /// Whether the class was raised during the session.
    pub raised: bool,
}

/// How long sessions last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionLimits {
    /// Without a request.
    pub idle: Span,
    /// In all.
    pub absolute: Span,
}

impl Default for SessionLimits {
    fn default() -> Self {
        Self { idle: Span::from_secs(30 * 60), absolute: Span::from_secs(12 * 3600) }
    }
}

impl SessionLimits {
    /// When a token is renewed: so long after its session was seen last.
    pub fn renewal(&self) -> Span {
        self.idle / 4
    }

    /// Whether a place in the waiting room holds at `now`. It ends like a session: when its visitor has not come for
    /// as long, counted from when it was to come, or first came too long ago. One from the future does not hold.
    pub fn keep_place(&self, visit: &Visit, now: Time) -> bool {
        visit.told.is_none_or(|told| {
            let in_order = visit.first <= told.at && told.at <= now;
            in_order && now < told.due() + self.idle && now.since(visit.first) < self.absolute
        })
    }
}

/// Whether a token holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionStatus {
    /// It holds.
    Valid,
    /// It holds, and a new one should go out with the response.
    Renew,
    /// It does not; the request is one of a new session.
    Expired,
}

impl Session {
    /// A session that begins now.
    pub const fn begin(id: SessionId, class: ClassId, now: Time) -> Self {
        Self { id, class, issued: now, last_seen: now, raised: false }
    }

    /// Whether the token holds at `now`. One from the future does not.
    pub fn status(&self, now: Time, limits: &SessionLimits) -> SessionStatus {
        let idle = now.since(self.last_seen);
        let in_order = self.issued <= self.last_seen && self.last_seen <= now;
        if !in_order || idle >= limits.idle || now.since(self.issued) >= limits.absolute {
            SessionStatus::Expired
        } else if idle >= limits.renewal() {
            SessionStatus::Renew
        } else {
            SessionStatus::Valid
        }
    }

    /// What the policy is told of a request of this session.
    pub fn known(&self, now: Time) -> KnownSession {
        let Self { id, class, raised, .. } = *self;
        KnownSession { id, class, idle: now.since(self.last_seen), is_raised: raised }
    }

    /// The session with a class that the rules give it by what its client sends by now. A class is only ever
    /// raised. True when it changed.
    pub fn promote(&mut self, class: ClassId) -> bool {
        let higher = class < self.class;
        if higher {
            self.class = class;
            // It is not of the session's own doing any more.
            self.raised = false;
        }
        higher
    }

    /// The session with a class the back-end asked for. A class is only ever raised: a purchase
    /// begun as premium ends as premium. True when it changed.
    pub fn raise(&mut self, class: ClassId) -> bool {
        let higher = class < self.class;
        if higher {
            self.class = class;
            self.raised = true;
        }
        higher
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::waiting_room::visit::Told;

    #[test]
    fn tokens_are_renewed_and_expire() {
        let limits = SessionLimits { idle: Span::from_secs(100), absolute: Span::from_secs(1000) };
        let session = Session::begin(SessionId(1), ClassId(1), Time::ZERO);
        let mut seen = session;
        seen.last_seen = Time::ZERO + Span::from_secs(990);
        for (session, seconds, status) in [
            (session, 0, SessionStatus::Valid),
            (session, 24, SessionStatus::Valid),
            (session, 25, SessionStatus::Renew),
            (session, 100, SessionStatus::Expired),
            (seen, 999, SessionStatus::Valid),
            (seen, 1000, SessionStatus::Expired),
            (seen, 10, SessionStatus::Expired),
        ] {
            let now = Time::ZERO + Span::from_secs(seconds);
            assert_eq!(session.status(now, &limits), status, "after {seconds} s");
        }
    }

    #[test]
    fn a_place_ends_like_a_session() {
        let limits = SessionLimits { idle: Span::from_secs(100), absolute: Span::from_secs(1000) };
        let at = |seconds| Time::ZERO + Span::from_secs(seconds);
        let visit = |told| Visit {
            told: Some(Told { at: at(told), place: 1, seconds: 60 }),
            ..Visit::begin(SessionId(1), at(10))
        };
        for (told, now, holds) in [
            (10, 169, true),
            (10, 170, false),
            (900, 1009, true),
            (900, 1010, false),
            (30, 20, false),
            (5, 20, false),
        ] {
            assert_eq!(limits.keep_place(&visit(told), at(now)), holds, "told after {told} s, at {now} s");
        }
        assert!(limits.keep_place(&Visit::begin(SessionId(1), at(10)), at(10)));
    }

    #[test]
    fn a_raised_class_stays_raised() {
        let mut session = Session::begin(SessionId(1), ClassId(1), Time::ZERO);
        assert!(session.raise(ClassId(0)));
        assert!(!session.raise(ClassId(1)));
        assert_eq!((session.class, session.raised), (ClassId(0), true));
        let mut session = Session::begin(SessionId(1), ClassId(2), Time::ZERO);
        assert!(session.raise(ClassId(1)) && session.promote(ClassId(0)));
        assert_eq!((session.class, session.raised), (ClassId(0), false));
        assert!(!session.promote(ClassId(1)));
    }
}
