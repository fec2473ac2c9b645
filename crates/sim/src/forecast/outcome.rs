//! [`outcome`]: what came of the sessions that began in some time.

use units::{Span, Time};

use super::quantile::quantile;
use super::request::{Fate, Request};
use super::sessions::{Session, Sessions, State};

/// What came of the sessions that began in some time.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// From when on they began.
    pub from: Time,
    /// Until when: those that began later may still be under way.
    pub to: Time,
    /// By class.
    pub classes: Vec<ClassOutcome>,
}

/// What came of the sessions of one class.
#[derive(Debug, Clone, PartialEq)]
pub struct ClassOutcome {
    /// Sessions that began per second, or would have.
    pub starts: f64,
    /// Sessions completed per second.
    pub completed: f64,
    /// The share of them; `None` where none has ended.
    pub completion: Option<f64>,
    /// How many have ended, of which that is the share.
    pub sessions: u64,
    /// From a request to its answer: median; `None` where none was answered.
    pub p50: Option<Span>,
    /// 95th percentile.
    pub p95: Option<Span>,
}

/// What came of the sessions of `requests`, of so many classes, that began from `since` on, as it is known `now`.
pub fn outcome(requests: &[Request], classes: usize, now: Time, since: Time) -> Outcome {
    let sessions = Sessions::of(requests, classes, now);
    let first = sessions.all.first().map_or(now, Session::began);
    let from = since.max(first).min(now);
    let to = sessions.settled().max(from);
    let seconds = to.since(from).as_secs_f64();
    let class = |class| {
        let counted = |session: &&Session| {
            session.class == Some(class) && session.began() >= from && session.began() < to
        };
        let (mut began, mut completed, mut lost, mut ended) = (0.0, 0.0, 0.0, 0);
        for session in sessions.all.iter().filter(counted) {
            began += session.weight;
            let state = sessions.state(session);
            ended += u64::from(state != State::UnderWay);
            match state {
                State::Completed => completed += session.weight,
                State::Lost => lost += session.weight,
                State::UnderWay => {}
            }
        }
        // Of those that are under way as many are completed as of the others.
        let completion = (completed + lost > 0.0).then(|| completed / (completed + lost));
        let is_answered = |request: &&Request| {
            request.class == Some(class) && request.fate == Fate::Served && request.arrived >= from
        };
        let mut responses: Vec<Span> = requests.iter().filter(is_answered).map(Request::response).collect();
        let rate = |number: f64| if seconds > 0.0 { number / seconds } else { 0.0 };
        ClassOutcome {
            starts: rate(began),
            completed: rate(began * completion.unwrap_or_default()),
            completion,
            sessions: ended,
            p50: quantile(&mut responses, 0.5),
            p95: quantile(&mut responses, 0.95),
        }
    };
    Outcome { from, to, classes: (0..classes).map(class).collect() }
}
