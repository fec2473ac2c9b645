//! What can go wrong with the upstream, and what the client and the operator are told.

use std::cell::Cell;
use std::io;

use http::StatusCode;
use units::{Span, Time};

/// Why there is no response from the upstream.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error("cannot connect: {0}")]
    Connect(io::Error),
    #[error("no connection within the connect timeout")]
    ConnectTimeout,
    #[error("no response within the timeout")]
    Timeout,
    #[error("no valid response: {}", cause(.0))]
    Broken(hyper::Error),
    #[error("it wants to speak another protocol")]
    Upgrade,
}

/// hyper's errors say little on top; the cause says what happened.
fn cause(error: &hyper::Error) -> String {
    match std::error::Error::source(error) {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}

impl Failure {
    /// RFC 9110 sections 15.6.3 and 15.6.5.
    pub(crate) fn status(&self) -> StatusCode {
        match self {
            Self::Connect(_) | Self::Broken(_) | Self::Upgrade => StatusCode::BAD_GATEWAY,
            Self::ConnectTimeout | Self::Timeout => StatusCode::GATEWAY_TIMEOUT,
        }
    }

    /// The name in the metrics; position in [`Failures::KINDS`].
    const fn kind(&self) -> usize {
        match self {
            Self::Connect(_) => 0,
            Self::ConnectTimeout => 1,
            Self::Timeout => 2,
            Self::Broken(_) | Self::Upgrade => 3,
        }
    }
}

/// Counts failures, and tells the operator of them without flooding the log.
#[derive(Debug, Default)]
pub(crate) struct Failures {
    counts: [Cell<u64>; Failures::KINDS.len()],
    told: Cell<Time>,
    untold: Cell<u64>,
}

impl Failures {
    pub(crate) const KINDS: [&str; 4] = ["connect", "connect-timeout", "timeout", "broken"];
    const PAUSE: Span = Span::from_secs(1);

    /// Counts and logs a failure.
    pub(crate) fn note(&self, failure: &Failure, upstream: &str, now: Time) {
        let count = &self.counts[failure.kind()];
        count.set(count.get() + 1);
        if now.since(self.told.get()) < Self::PAUSE {
            self.untold.set(self.untold.get() + 1);
            return;
        }
        self.told.set(now);
        match self.untold.take() {
            0 => eprintln!("gate: upstream {upstream}: {failure}"),
            more => {
                eprintln!("gate: upstream {upstream}: {failure} ({more} failures more since the last line)")
            }
        }
    }

    /// How many of each of [`Failures::KINDS`].
    pub(crate) fn counts(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        Self::KINDS.into_iter().zip(self.counts.iter().map(Cell::get))
    }
}
