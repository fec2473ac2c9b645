//! [`Schedule`]: how long probes take, by how long one client alone waits for a response.

use units::{Rate, Span};

use super::options::SearchOptions;
use super::probe;
use crate::load::backlog::Counted;
use crate::load::generator::Offer;
use crate::spec::crowd::Crowd;

/// A closed loop shows what it does sooner than an open one.
const CLOSED: Span = Span::from_secs(1);
const LIGHT: Span = Span::from_millis(1500);
/// Over the time that one alone takes: warm-up, to open connections and fill caches; the shortest window; how
/// long what is under way is followed at the end.
const WARMUP: u64 = 3;
pub(super) const WINDOW: u64 = 10;
const DRAIN: u64 = 3;
const MIN_WARMUP: Span = Span::from_millis(300);
const MIN_DRAIN: Span = Span::from_secs(1);
/// However slow the server is.
const MAX_LENGTH: Span = Span::from_secs(20);
/// A server is at rest when a client alone gets this share of the responses that it got at first.
const AT_REST: f64 = 0.7;
/// A look whether it is at rest takes so many times the time that one alone takes; the last response may come just
/// after it.
const AGAIN: u64 = 5;
const LOOK: Span = Span::from_millis(100);

/// A probe that is to be made.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ProbePlan {
    pub(crate) offer: Offer,
    pub(crate) warmup: Span,
    /// The measuring window.
    pub(crate) length: Span,
    /// For how long what is under way is followed then.
    pub(crate) drain: Span,
    pub(crate) counted: Counted,
}

/// How it is known that the server is at rest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct RestPlan {
    /// A client alone, again and again.
    pub(crate) look: ProbePlan,
    /// What it achieves per second then.
    pub(crate) enough: f64,
}

/// Times of a search.
#[derive(Debug, Default)]
pub(super) struct Schedule {
    /// What a client alone achieves per second, once that is known.
    alone: Option<f64>,
    counted: Counted,
}

impl Schedule {
    pub(super) fn know(&mut self, alone: f64, counted: Counted) {
        (self.alone, self.counted) = (Some(alone), counted);
    }

    pub(super) fn counted(&self) -> Counted {
        self.counted
    }

    /// One client, until it is known how long a response takes; `again` where that takes long.
    pub(super) fn alone(&self, again: bool) -> ProbePlan {
        self.plan(Offer::Closed(1), if again { MAX_LENGTH / 2 } else { CLOSED }, None)
    }

    /// Whether the first look at a client alone had too few responses, at this rate per second.
    pub(super) fn is_too_slow(achieved: f64) -> bool {
        achieved * CLOSED.as_secs_f64() < WINDOW as f64
    }

    /// So many clients, each with one request or session after the other.
    pub(super) fn closed(&self, clients: u32) -> ProbePlan {
        self.plan(Offer::Closed(clients), CLOSED.max(self.times(WINDOW)), None)
    }

    /// So many clients for a given time.
    pub(super) fn crowd(&self, crowd: Crowd) -> ProbePlan {
        self.plan(Offer::Closed(crowd.clients.get()), crowd.hold, crowd.warmup)
    }

    /// So many per second, whatever becomes of them.
    pub(super) fn open(&self, rate: Rate, search: &SearchOptions) -> ProbePlan {
        let length = match &search.ramp {
            Some(ramp) => ramp.longest_hold(),
            None => probe::length(rate, search.precision).max(self.times(WINDOW)),
        };
        self.plan(Offer::Rate(rate), length, None)
    }

    /// Less than the server can do, to see what it does then.
    pub(super) fn light(&self, rate: Rate) -> ProbePlan {
        self.plan(Offer::Rate(rate), LIGHT.max(self.times(WINDOW)), None)
    }

    /// Until the server serves a client alone as it did before.
    pub(super) fn rest(&self) -> Option<RestPlan> {
        let look = LOOK.max(self.times(AGAIN));
        let look = ProbePlan { warmup: Span::ZERO, ..self.plan(Offer::Closed(1), look, None) };
        Some(RestPlan { look, enough: self.alone? * AT_REST })
    }

    fn plan(&self, offer: Offer, length: Span, warmup: Option<Span>) -> ProbePlan {
        ProbePlan {
            offer,
            warmup: warmup.unwrap_or_else(|| MIN_WARMUP.max(self.times(WARMUP))),
            length,
            drain: MIN_DRAIN.max(self.times(DRAIN)),
            counted: self.counted,
        }
    }

    /// A multiple of the time that one alone takes.
    fn times(&self, multiple: u64) -> Span {
        let alone = self.alone.map_or(Span::ZERO, |rate| Span::from_secs_f64(1.0 / rate));
        (alone * multiple).min(MAX_LENGTH)
    }
}
