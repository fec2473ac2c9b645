//! [`Fault`]: what can go wrong between a console and a gate.

use std::time::Duration;

/// What went wrong, where, and how to mend it.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Fault {
    /// Nothing is there, or nothing leads there.
    #[error(
        "{place}: no gate answers there: {why}; a gate says at its start where it is (\"admin on http://..\"): give \
         that, as http://HOST:PORT, unix:PATH or ssh://HOST[/HOST:PORT]"
    )]
    Unreachable {
        /// Where it was looked for.
        place: String,
        /// What the system said, or ssh.
        why: String,
    },
    /// It took too long.
    #[error("{place}: no answer within {} s", limit.as_secs_f64())]
    Silent {
        /// Where it was asked.
        place: String,
        /// How long it was waited for.
        limit: Duration,
    },
    /// The connection broke while something was said.
    #[error("{place}: the connection broke: {why}")]
    Broken {
        /// Where to.
        place: String,
        /// How.
        why: String,
    },
    /// Something is there, and it is not the admin interface of a gate.
    #[error(
        "{place}: this is not the admin interface of a gate: {why}; a gate says at its start where that is (\"admin on \
         http://..\")"
    )]
    NoGate {
        /// Where it was asked.
        place: String,
        /// What it said instead.
        why: String,
    },
    /// 401: without a token, or with a wrong one.
    #[error(
        "{place}: the gate wants a token ({why}); give one of its token-file with --token-file FILE, or in HEADWORKS_TOKEN"
    )]
    Unauthorized {
        /// Where it was asked.
        place: String,
        /// What the gate said.
        why: String,
    },
    /// 403: this token may not, or this way of asking.
    #[error(
        "{place}: the gate does not allow it: {why}; give another token with --token-file FILE, or in HEADWORKS_TOKEN"
    )]
    Forbidden {
        /// Where it was asked.
        place: String,
        /// What the gate said.
        why: String,
    },
    /// The gate understood and said no.
    #[error("{why}")]
    Refused {
        /// The status.
        status: u16,
        /// What the gate said.
        why: String,
    },
}

impl Fault {
    /// Whether the user can mend it with other options.
    pub fn is_usage(&self) -> bool {
        matches!(self, Self::Unauthorized { .. } | Self::Forbidden { .. })
    }

    /// Whether what was asked for may have been done, although no answer says so.
    pub(crate) fn is_unclear(&self) -> bool {
        matches!(self, Self::Silent { .. } | Self::Broken { .. } | Self::NoGate { .. })
    }

    /// Whether the gate does not have what was asked for, as an older one.
    pub(crate) fn is_unknown(&self) -> bool {
        matches!(self, Self::Refused { status: 404 | 405, .. })
    }
}
