//! [`Visit`] and [`Ticket`]: what a visitor's token says, and what the visitor is told.

use units::{SessionId, Span, Time};

/// A visit of somebody without a session: one that begins, or comes back from the waiting room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Visit {
    /// The session that begins when the visitor is let in: however often a token is used, it is one session.
    pub id: SessionId,
    /// When the visitor first came.
    pub first: Time,
    /// What it was told last; `None` for one that comes for the first time.
    pub told: Option<Told>,
}

/// What a visitor was told when it was last there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Told {
    /// When that was.
    pub at: Time,
    /// Its place, from 1.
    pub place: u32,
    /// After how many seconds to come back.
    pub seconds: u16,
}

impl Visit {
    /// Somebody who comes for the first time.
    pub const fn begin(id: SessionId, now: Time) -> Self {
        Self { id, first: now, told: None }
    }
}

impl Told {
    /// When the visitor was to come back.
    pub(crate) fn due(&self) -> Time {
        self.at + self.interval()
    }

    pub(super) fn interval(&self) -> Span {
        Span::from_secs(u64::from(self.seconds))
    }
}

/// What a refused visitor is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ticket {
    /// For its token: what it was told just now included.
    pub visit: Visit,
    /// The place, from 1: it counts those with earlier first visits who are expected to come. It never rises.
    pub place: u32,
    /// After how many seconds to come back, at least 1. Who comes later or sooner loses nothing.
    pub seconds: u16,
    /// About how long it takes until it is let in, by the measured outflow; `None` while too little was measured.
    pub wait: Option<Span>,
    /// Visitors that wait, of the whole room.
    pub waiting: u32,
}
