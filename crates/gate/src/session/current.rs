//! [`CurrentSession`]: a request's session, in the class that it has by now.

use std::cell::Cell;

use policy::{KnownSession, Session};
use units::Time;

use crate::admission::decision::{Basis, Known};

/// A request's session.
#[derive(Debug)]
pub(crate) struct CurrentSession {
    pub(crate) session: Session,
    /// Whether its cookie must go out.
    pub(crate) write: bool,
    /// Why it is of its class.
    pub(crate) basis: Basis,
    /// Rules that raise it if the response has the status that they ask for, counted from 0.
    pub(crate) raises: Vec<usize>,
}

impl CurrentSession {
    /// The session without its cookie, unless it has come to another class: that goes out whatever it costs.
    pub(crate) fn unwritten(self) -> Self {
        let write = self.write && matches!(self.basis, Basis::Operator | Basis::Rule(_) | Basis::Raise(_));
        Self { write, ..self }
    }

    pub(crate) fn new(session: Session, write: bool, basis: Basis) -> Self {
        Self { session, write, basis, raises: Vec::new() }
    }

    /// What the policy is to know.
    pub(crate) fn known(&self, now: Time) -> Known {
        // What an operator has set is not of the session's own doing.
        let is_raised = matches!(self.basis, Basis::Raised | Basis::Raise(_));
        let session = KnownSession { is_raised, ..self.session.known(now) };
        Known { session, basis: self.basis }
    }
}

/// How often a session was raised, and by what.
#[derive(Debug, Default)]
pub(crate) struct Raises {
    rule: Cell<u64>,
    back_end: Cell<u64>,
}

impl Raises {
    /// A session has its cookie of a higher class.
    pub(crate) fn count(&self, by_back_end: bool) {
        let count = if by_back_end { &self.back_end } else { &self.rule };
        count.set(count.get() + 1);
    }

    pub(crate) fn counts(&self) -> [(&'static str, u64); 2] {
        [("rule", self.rule.get()), ("back-end", self.back_end.get())]
    }
}
