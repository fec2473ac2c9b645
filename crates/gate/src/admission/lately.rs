//! [`Lately`]: the requests of the last minutes, for who wants to know what the same load would do under other
//! settings.

use std::collections::VecDeque;

use policy::Kind;
use units::{ClassId, SessionId, Span, Time};

/// A request that was held by the policy, and what became of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Past {
    /// When it came.
    pub arrived: Time,
    /// Whose it was; [`None`] without a session.
    pub session: Option<SessionId>,
    /// Whether a session began with it, or would have.
    pub began: bool,
    /// What it asked for.
    pub kind: Kind,
    /// Its class, unless it was refused before that was known.
    pub class: Option<ClassId>,
    /// How long it waited to be sent to the server, or to be refused.
    pub waited: Span,
    /// How long it was in the server.
    pub served: Span,
    /// The part of `served` that was its own, had the server divided itself evenly among the requests inside.
    pub share: Span,
    /// What became of it.
    pub fate: Fate,
    /// How many requests like it this one stands for: a power of two.
    pub weight: u32,
}

/// What became of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It was served.
    Served,
    /// It was refused.
    Refused,
    /// Its client went away before.
    GaveUp,
}

/// The requests of the last minutes, all of them or those of a share of the sessions, so that a bounded memory holds some minutes at any rate.
#[derive(Debug)]
pub(crate) struct Lately {
    requests: VecDeque<Past>,
    most: usize,
    /// Of sessions one in two to the power of so many is kept.
    thinned: u32,
    /// When that was changed.
    changed: Time,
    /// All that ended later is remembered, or its share of sessions.
    since: Time,
}

impl Lately {
    /// About 5 MB.
    const MOST: usize = 1 << 16;
    /// What is older is forgotten.
    const LONGEST: Span = Span::from_secs(600);
    /// More is not thinned out for than so much.
    const ENOUGH: Span = Span::from_secs(180);
    const MOST_THINNED: u32 = 20;

    /// Remembers from now on.
    pub(crate) fn beginning(now: Time) -> Self {
        Self::with_room(Self::MOST, now)
    }

    fn with_room(most: usize, now: Time) -> Self {
        Self { requests: VecDeque::new(), most, thinned: 0, changed: now, since: now }
    }

    /// A request is over.
    pub(crate) fn add(&mut self, now: Time, past: Past) {
        while self.requests.front().is_some_and(|first| first.ended() + Self::LONGEST < now) {
            self.forget();
        }
        if self.requests.len() >= self.most {
            self.make_room(now);
        } else if self.thinned > 0
            && self.requests.len() < self.most / 3
            && now.since(self.changed) >= Self::ENOUGH
        {
            // There is room for twice as many, and some more.
            (self.thinned, self.changed) = (self.thinned - 1, now);
        }
        if is_kept(&past, self.thinned) {
            self.requests.push_back(Past { weight: 1 << self.thinned, ..past });
        }
    }

    /// They do not all fit: the oldest go where there are enough minutes, otherwise every other session.
    fn make_room(&mut self, now: Time) {
        if now.since(self.since) >= Self::ENOUGH || self.thinned == Self::MOST_THINNED {
            self.forget();
            return;
        }
        (self.thinned, self.changed) = (self.thinned + 1, now);
        self.requests = self.alike(self.thinned).collect();
        if self.requests.len() >= self.most {
            self.forget();
        }
    }

    /// The oldest.
    fn forget(&mut self) {
        if let Some(first) = self.requests.pop_front() {
            self.since = self.since.max(first.ended());
        }
    }

    /// Those that are left if so few sessions are kept.
    fn alike(&self, thinned: u32) -> impl Iterator<Item = Past> {
        let kept = self.requests.iter().filter(move |past| is_kept(past, thinned));
        kept.map(move |past| Past { weight: 1 << thinned, ..*past })
    }

    /// Since when requests are remembered, and these, in the order in which they ended. All stand for as many.
    pub(crate) fn all(&self, now: Time) -> (Time, Vec<Past>) {
        let oldest = Time::ZERO + now.since(Time::ZERO).saturating_sub(Self::LONGEST);
        let thinned = self.requests.iter().map(|past| past.weight.trailing_zeros()).max().unwrap_or_default();
        (self.since.max(oldest), self.alike(thinned).collect())
    }
}

impl Past {
    fn ended(&self) -> Time {
        self.arrived + self.waited + self.served
    }
}

/// Whether it is of those that are kept, of which all requests of a session are, or none.
fn is_kept(past: &Past, thinned: u32) -> bool {
    let whose = past.session.map_or(past.arrived.as_nanos(), |session| session.0);
    // Fibonacci hashing (Knuth, The Art of Computer Programming 3, section 6.4).
    let scattered = whose.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    thinned == 0 || scattered >> (64 - thinned) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn past(millis: u64, session: u64) -> Past {
        Past {
            arrived: Time::ZERO + Span::from_millis(millis),
            session: Some(SessionId(session)),
            began: false,
            kind: Kind::default(),
            class: None,
            waited: Span::ZERO,
            served: Span::ZERO,
            share: Span::ZERO,
            fate: Fate::Served,
            weight: 1,
        }
    }

    fn after(most: usize, rate: u64, seconds: u64, sessions: u64) -> Lately {
        let mut lately = Lately::with_room(most, Time::ZERO);
        for number in 0..seconds * rate {
            let past = past(number * 1000 / rate, number % sessions + 1);
            lately.add(past.arrived, past);
        }
        lately
    }

    #[test]
    fn all_are_kept_where_there_is_room() {
        let lately = after(10_000, 10, 300, 50);
        assert_eq!((lately.requests.len(), lately.thinned), (3000, 0));
    }

    #[test]
    fn what_is_old_is_forgotten() {
        let lately = after(10_000, 1, 2000, 50);
        assert!((600..=602).contains(&lately.requests.len()), "{}", lately.requests.len());
        let (since, _) = lately.all(Time::ZERO + Span::from_secs(2000));
        assert!(since >= Time::ZERO + Span::from_secs(1398), "{since:?}");
    }

    #[test]
    fn of_many_sessions_some_are_kept_whole_and_stand_for_the_others() {
        let lately = after(1000, 100, 300, 1000);
        assert!(lately.thinned > 0 && lately.requests.len() <= 1000);
        let first = lately.requests.front().unwrap().arrived;
        assert!(first <= Time::ZERO + Span::from_secs(120), "minutes are remembered: {first:?}");
        let mut of_session = std::collections::BTreeMap::<_, Vec<Time>>::new();
        for past in &lately.requests {
            assert!(past.weight >= 2);
            of_session.entry(past.session).or_default().push(past.arrived);
        }
        for times in of_session.values() {
            assert!(times.windows(2).all(|pair| pair[1].since(pair[0]) == Span::from_secs(10)), "{times:?}");
        }
    }

    #[test]
    fn when_fewer_come_again_all_of_them_are_kept() {
        let mut lately = after(1000, 1000, 60, 1_000_000);
        let most = lately.thinned;
        assert!(most > 3 && lately.requests.len() <= 1000);
        for number in 0..4000 {
            let past = past(60_000 + 1000 * number, number);
            lately.add(past.arrived, past);
            assert!(lately.thinned <= most && lately.requests.len() <= 1000);
            let (_, all) = lately.all(past.arrived);
            assert!(all.iter().all(|past| past.weight == all[0].weight), "they stand for as many");
        }
        assert_eq!((lately.thinned, lately.requests.back().unwrap().weight), (0, 1));
    }

    #[test]
    fn a_request_that_took_an_hour_does_not_make_the_others_old() {
        let mut lately = after(1000, 1, 4000, 10);
        let now = Time::ZERO + Span::from_secs(4000);
        let long = Past { served: Span::from_secs(3600), ..past(400_000, 1) };
        lately.add(now, long);
        let (since, all) = lately.all(now);
        assert!(since >= Time::ZERO + Span::from_secs(3399) && all.len() > 590, "{since:?}");
    }
}
