//! What can go wrong with the upstream, and what the client and the operator are told.

use std::cell::Cell;
use std::io;
use std::net::SocketAddr;

use http::StatusCode;
use http1::response::Malformed;
use units::{Span, Time};

use crate::clients::incoming::BrokenOff;
use crate::runtime::log::say;

/// Why there is no response from the upstream.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error("cannot connect: {0}")]
    Connect(io::Error),
    #[error("no connection within the connect timeout")]
    ConnectTimeout,
    #[error("no response within the timeout")]
    Timeout,
    #[error("no valid response: {0}")]
    Broken(h2::Error),
    #[error("the connection broke off: {0}")]
    Lost(io::Error),
    #[error("no valid response: {0}")]
    Malformed(Malformed),
    /// While the client was still sending.
    #[error("no response within the timeout, and the request has not come to its end either")]
    Unfinished,
    #[error("it wants to speak another protocol")]
    Upgrade,
    #[error("it broke off in the middle of a response")]
    CutShort,
    #[error("there is no server")]
    NoServer,
    /// Of its request.
    #[error("the client broke off: {0}")]
    Client(BrokenOff),
    #[error("the request's host \"{0}\" is none that HTTP/2 could carry")]
    Host(String),
}

impl Failure {
    /// RFC 9110 sections 15.6.3 and 15.6.5.
    pub(crate) fn status(&self) -> StatusCode {
        match self {
            Self::Connect(_) | Self::NoServer => StatusCode::BAD_GATEWAY,
            Self::Broken(_) | Self::Lost(_) | Self::Malformed(_) | Self::Upgrade | Self::CutShort => {
                StatusCode::BAD_GATEWAY
            }
            Self::ConnectTimeout | Self::Timeout | Self::Unfinished => StatusCode::GATEWAY_TIMEOUT,
            Self::Host(_) | Self::Client(_) => StatusCode::BAD_REQUEST,
        }
    }

    /// The name in the metrics and the access log.
    pub(crate) fn name(&self) -> &'static str {
        Failures::KINDS[self.kind()]
    }

    /// What the client is told.
    pub(crate) fn why(&self) -> &'static str {
        match self {
            Self::Connect(_) | Self::ConnectTimeout | Self::NoServer => {
                "The server behind this gate cannot be reached.\n"
            }
            Self::Timeout | Self::Unfinished => "The server behind this gate did not answer in time.\n",
            Self::Malformed(Malformed::Size | Malformed::Fields) => {
                "The head of the server's answer is larger than this gate passes on.\n"
            }
            Self::Malformed(_) | Self::Upgrade => {
                "The server behind this gate gave an answer that is not HTTP.\n"
            }
            Self::Broken(why) if why.is_library() => {
                "The server behind this gate gave an answer that is not HTTP.\n"
            }
            Self::Broken(_) | Self::Lost(_) | Self::CutShort => {
                "The server behind this gate broke off before it had answered.\n"
            }
            Self::Client(_) => "The request broke off.\n",
            Self::Host(_) => "The request's Host is none.\n",
        }
    }

    /// The name in the metrics; position in [`Failures::KINDS`].
    const fn kind(&self) -> usize {
        match self {
            Self::Connect(_) | Self::NoServer => 0,
            Self::ConnectTimeout => 1,
            Self::Timeout | Self::Unfinished => 2,
            Self::Broken(_) | Self::Lost(_) | Self::Malformed(_) => 3,
            Self::Upgrade | Self::CutShort | Self::Host(_) | Self::Client(_) => 3,
        }
    }

    /// Whether it says something about the server. A client that breaks off must not be able to
    /// make a good server look bad, nor must a lack of our own descriptors or ports.
    pub(crate) fn is_the_servers(&self) -> bool {
        match self {
            Self::Connect(why) => is_the_other_sides(why),
            Self::Broken(_) if self.is_enough_of_this_connection() => false,
            Self::Broken(why) => why.is_remote() || why.is_library() || why.is_io(),
            Self::ConnectTimeout | Self::Timeout | Self::Upgrade | Self::CutShort => true,
            Self::Lost(_) | Self::Malformed(_) => true,
            Self::Unfinished | Self::Host(_) | Self::Client(_) | Self::NoServer => false,
        }
    }
}

impl Failure {
    /// Whether the server, or the connection to it, went away instead of answering. An answer
    /// that cannot be understood is an answer: asking again would get another.
    pub(crate) fn is_broken_off(&self) -> bool {
        matches!(self, Self::Lost(_) | Self::Broken(_))
    }

    /// Whether the server says that it has not looked at the request, which may then be sent
    /// again whatever it is (RFC 9113 section 8.7).
    pub(crate) fn is_unprocessed(&self) -> bool {
        let Self::Broken(why) = self else { return false };
        why.is_remote() && (why.is_go_away() || why.reason() == Some(h2::Reason::REFUSED_STREAM))
    }

    /// Whether the server takes no more of this connection for now. Node.js says so while it holds 10 MB for a connection,
    /// of one large response for instance.
    pub(crate) fn is_enough_of_this_connection(&self) -> bool {
        matches!(self, Self::Broken(why) if why.is_remote() && why.reason() == Some(h2::Reason::ENHANCE_YOUR_CALM))
    }

    /// Whether the connection has broken, and not one of the requests that it carries.
    pub(crate) fn is_of_the_connection(&self) -> bool {
        matches!(self, Self::Broken(why) if why.is_io())
    }
}

fn is_the_other_sides(why: &io::Error) -> bool {
    use io::ErrorKind::{
        ConnectionAborted, ConnectionRefused, ConnectionReset, HostUnreachable, InvalidData,
        NetworkUnreachable, TimedOut, UnexpectedEof,
    };
    matches!(
        why.kind(),
        ConnectionAborted
            | ConnectionRefused
            | ConnectionReset
            | HostUnreachable
            | InvalidData
            | NetworkUnreachable
            | TimedOut
            | UnexpectedEof
    )
}

/// Counts requests without a response.
#[derive(Debug, Default)]
pub(crate) struct Failures([Cell<u64>; Failures::KINDS.len()]);

impl Failures {
    pub(crate) const KINDS: [&str; 4] = ["connect", "connect-timeout", "timeout", "broken"];

    pub(crate) fn count(&self, failure: &Failure) {
        let count = &self.0[failure.kind()];
        count.set(count.get() + 1);
    }

    /// How many of each of [`Failures::KINDS`].
    pub(crate) fn counts(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        Self::KINDS.into_iter().zip(self.0.iter().map(Cell::get))
    }
}

/// Tells the operator of failures without flooding the log.
#[derive(Debug, Default)]
pub(crate) struct Told {
    last: Cell<Time>,
    untold: Cell<u64>,
}

impl Told {
    const PAUSE: Span = Span::from_secs(1);

    pub(crate) fn tell(&self, failure: &Failure, server: SocketAddr, now: Time) {
        if now.since(self.last.get()) < Self::PAUSE {
            self.untold.set(self.untold.get() + 1);
            return;
        }
        self.last.set(now);
        match self.untold.take() {
            0 => say!("upstream {server}: {failure}"),
            more => {
                say!("upstream {server}: {failure} ({more} failures more since the last line)")
            }
        }
    }
}
