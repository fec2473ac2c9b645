//! [`Request`]: what a gate knows of a request that is over.

use policy::Kind;
use units::{Span, Time};

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

/// What a gate knows of a request that is over.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Request {
    /// When it came.
    pub arrived: Time,
    /// Whose it was; `None` without a session.
    pub session: Option<u64>,
    /// Whether a session began with it, or would have.
    pub began: bool,
    /// What it asked for.
    pub kind: Kind,
    /// Its class, from 0, the most important; `None` where it was refused before that was known.
    pub class: Option<usize>,
    /// How long it waited to be sent to the server, or to be refused.
    pub waited: Span,
    /// How long it was in the server.
    pub served: Span,
    /// The part of `served` that was its own, had the server divided itself evenly among the requests inside.
    pub share: Span,
    /// What became of it.
    pub fate: Fate,
    /// How many requests like it this one stands for.
    pub weight: f64,
}

impl Request {
    /// When it was over.
    pub(super) fn ended(&self) -> Time {
        self.arrived + self.waited + self.served
    }

    /// From its arrival to its end.
    pub(super) fn response(&self) -> Span {
        self.waited + self.served
    }
}
