//! [`DecisionDetails`]: the class of a request, the reason for it, and the decision about the request.

use std::fmt;

use policy::{KnownSession, Reason, SessionHint, Ticket, Visit, Waits};
use units::ClassId;

/// The class of a request, the reason for it, and the decision about the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DecisionDetails {
    /// `None` when it was refused before its class was looked for.
    pub(crate) class: Option<ClassId>,
    /// Why the request is of that class.
    pub(crate) basis: Basis,
    /// Why it was refused, if it was.
    pub(crate) refused: Option<Reason>,
    /// How long it waited in each stage for the decision.
    pub(crate) waits: Waits,
    /// Its place in the waiting room, if it was refused and has one.
    pub(crate) ticket: Option<Ticket>,
}

/// Who asks, as far as tokens say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Caller {
    /// A client without a session.
    Stranger,
    /// A client without a session, which may have waited before; if it is refused it gets a place.
    Visitor(Visit),
    /// Somebody with a session.
    Known(Known),
}

impl Caller {
    /// What the policy is told.
    pub(crate) fn hint(self) -> SessionHint {
        match self {
            Self::Stranger => SessionHint::New,
            Self::Visitor(visit) => SessionHint::Visitor(visit),
            Self::Known(known) => SessionHint::Known(known.session),
        }
    }

    /// The session, if there is one.
    pub(crate) fn known(self) -> Option<Known> {
        match self {
            Self::Known(known) => Some(known),
            Self::Stranger | Self::Visitor(_) => None,
        }
    }

    /// The visit, if it is one.
    pub(crate) fn visit(self) -> Option<Visit> {
        match self {
            Self::Visitor(visit) => Some(visit),
            Self::Stranger | Self::Known(_) => None,
        }
    }
}

/// Why a request is of its class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Basis {
    /// Not looked for yet.
    Unknown,
    /// Its session's token says so.
    Session,
    /// Its session's token says so, and the session was raised to it before.
    Raised,
    /// An operator set the class of its session.
    Operator,
    /// This rule was the first to match, counted from 0.
    Rule(usize),
    /// The request itself raises its session by this rule, counted from 0.
    Raise(usize),
    /// No rule matched.
    Last,
}

impl fmt::Display for Basis {
    /// As it stands in headers and logs; rules are counted from 1.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => f.write_str("unknown"),
            Self::Session => f.write_str("session"),
            Self::Raised => f.write_str("raised"),
            Self::Operator => f.write_str("operator"),
            Self::Rule(index) => write!(f, "rule {}", index + 1),
            Self::Raise(index) => write!(f, "raise {}", index + 1),
            Self::Last => f.write_str("none"),
        }
    }
}

/// The session of a request, and why it is of its class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Known {
    pub(crate) session: KnownSession,
    pub(crate) basis: Basis,
}

impl DecisionDetails {
    /// Of a request that is not held.
    pub(crate) const UNKNOWN: Self =
        Self { class: None, basis: Basis::Unknown, refused: None, waits: Waits::ZERO, ticket: None };
}
