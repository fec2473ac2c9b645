//! [`Sessions`]: requests put together to the sessions that they belong to.

use std::collections::HashMap;

use units::{Span, Time};

use super::quantile::quantile;
use super::request::{Fate, Request};

/// The sessions of some minutes whose beginning was seen.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    pub(super) all: Vec<Session>,
    /// By class: who is silent for longer has left.
    silences: Vec<Span>,
    now: Time,
}

/// A session, or somebody who wanted to begin one.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Session {
    /// Not known of some who were refused.
    pub(super) class: Option<usize>,
    pub(super) weight: f64,
    /// In the order of their arrival.
    pub(super) requests: Vec<Request>,
}

/// How far a session is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// Its last request was served, and its user has left.
    Completed,
    /// A request was refused, or its client gave up.
    Lost,
    /// Its user may come back.
    UnderWay,
}

impl Session {
    /// When it began.
    pub(super) fn began(&self) -> Time {
        self.requests.first().map_or(Time::ZERO, |first| first.arrived)
    }

    /// When its last response was over.
    pub(super) fn ended(&self) -> Time {
        self.requests.iter().map(Request::ended).max().unwrap_or(Time::ZERO)
    }

    /// The pause before each request from the second on: none where the response to one before was still to come.
    pub(super) fn pauses(&self) -> impl Iterator<Item = Option<Span>> + '_ {
        let mut ended = self.requests.first().map_or(Time::ZERO, Request::ended);
        self.requests.iter().skip(1).map(move |request| {
            let pause = (request.arrived >= ended).then(|| request.arrived.since(ended));
            ended = ended.max(request.ended());
            pause
        })
    }
}

impl Sessions {
    /// No user is taken for gone sooner.
    const SHORTEST_SILENCE: Span = Span::from_secs(1);
    /// So many times as long as all but one in a hundred pauses.
    const LONGER: f64 = 1.5;

    /// The sessions of `requests`, of so many classes, as they are `now`.
    pub(super) fn of(requests: &[Request], classes: usize, now: Time) -> Self {
        let mut by_session: HashMap<u64, Vec<Request>> = HashMap::new();
        let mut all = Vec::new();
        for request in requests {
            match request.session {
                Some(session) => by_session.entry(session).or_default().push(*request),
                None => all.push(vec![*request]),
            }
        }
        all.extend(by_session.into_values());
        let session = |mut requests: Vec<Request>| {
            requests.sort_by_key(|request| request.arrived);
            let first = *requests.first().filter(|first| first.began)?;
            // Who was refused and has come back is served in the end, or not.
            let last = requests.len() - 1;
            let mut place = 0;
            requests.retain(|request| {
                place += 1;
                request.fate == Fate::Served || place > last
            });
            let known = requests.iter().find_map(|request| request.class);
            Some(Session { class: first.class.or(known), weight: first.weight, requests })
        };
        let mut all: Vec<Session> = all.into_iter().filter_map(session).collect();
        // The order of a hash map is another in each run.
        all.sort_by_key(|session| {
            (session.began(), session.requests.first().and_then(|first| first.session))
        });
        let silences = (0..classes).map(|class| silence(&all, class)).collect();
        Self { all, silences, now }
    }

    /// How far a session is.
    pub(super) fn state(&self, session: &Session) -> State {
        let silence = session.class.and_then(|class| self.silences.get(class)).copied();
        if session.requests.last().is_some_and(|last| last.fate != Fate::Served) {
            State::Lost
        } else if self.now.since(session.ended()) > silence.unwrap_or(Self::SHORTEST_SILENCE) {
            State::Completed
        } else {
            State::UnderWay
        }
    }

    /// Those that began before have ended, but for few.
    pub(super) fn settled(&self) -> Time {
        let took = self
            .all
            .iter()
            .filter(|session| session.requests.len() > 1 && self.state(session) == State::Completed)
            .map(|session| session.ended().since(session.began()));
        let long = quantile(&mut took.collect::<Vec<_>>(), 0.95).unwrap_or_default();
        let silence = self.silences.iter().copied().max().unwrap_or(Self::SHORTEST_SILENCE);
        Time::ZERO + self.now.since(Time::ZERO).saturating_sub(long + silence)
    }
}

/// Who of a class is silent for so long has left.
fn silence(sessions: &[Session], class: usize) -> Span {
    let of_class = sessions.iter().filter(|session| session.class == Some(class));
    let mut pauses: Vec<Span> =
        of_class.flat_map(|session| session.pauses().flatten().collect::<Vec<_>>()).collect();
    let long = quantile(&mut pauses, 0.99).unwrap_or_default();
    long.mul_f64(Sessions::LONGER) + Sessions::SHORTEST_SILENCE
}
