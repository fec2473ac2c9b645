//! What is asked of each proxy, and how much of it.

use std::fmt;

use super::protocol::Protocol;
use crate::generators::ask::Reuse;

/// Bytes of the files that are fetched.
pub(super) const SIZES: [usize; 2] = [1024, 102_400];
/// Connections that the generator keeps busy.
pub(super) const CONNECTIONS: u32 = 64;
/// And where they are refused: the gate does so at the end of a period, so that few clients are refused seldom.
pub(super) const REFUSED_CONNECTIONS: u32 = 8000;

/// One cell of the comparison at saturation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Case {
    pub(super) size: usize,
    pub(super) reuse: Reuse,
    pub(super) protocol: Protocol,
    pub(super) answer: Answer,
}

/// What becomes of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Answer {
    /// The server answers them.
    Served,
    /// The proxy tells the client that there is no room.
    Refused,
}

impl Case {
    /// What latency is measured at, and what a quick run begins with.
    pub(super) const FIRST: Self =
        Self { size: SIZES[0], reuse: Reuse::KeepAlive, protocol: Protocol::Http1, answer: Answer::Served };

    /// Requests that find no room.
    pub(super) const REFUSED: Self = Self { answer: Answer::Refused, ..Self::FIRST };

    /// What is asked for.
    pub(super) fn path(self) -> String {
        match self.answer {
            Answer::Served => format!("/{}", self.size),
            Answer::Refused => "/delay?before=60s&bytes=10".to_owned(),
        }
    }

    /// How many connections the generator keeps busy.
    pub(super) fn connections(self) -> u32 {
        match self.answer {
            Answer::Served => CONNECTIONS,
            Answer::Refused => REFUSED_CONNECTIONS,
        }
    }

    /// As a heading has it.
    pub(super) fn title(self) -> String {
        let reuse = match self.reuse {
            Reuse::KeepAlive => "keep-alive",
            Reuse::Close => "a connection per request",
        };
        let protocol = match self.protocol {
            Protocol::Http1 => "",
            Protocol::Tls => ", TLS",
            Protocol::Http2 => ", HTTP/2 over TLS",
        };
        match self.answer {
            Answer::Served => format!("{} KiB, {reuse}{protocol}", self.size / 1024),
            Answer::Refused => format!("refused, {reuse}{protocol}"),
        }
    }
}

/// As in `--only` and in the raw results: `1k/keep-alive/tls`.
impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reuse = match self.reuse {
            Reuse::KeepAlive => "keep-alive",
            Reuse::Close => "close",
        };
        let protocol = match self.protocol {
            Protocol::Http1 => "http1",
            Protocol::Tls => "tls",
            Protocol::Http2 => "http2",
        };
        match self.answer {
            Answer::Served => write!(f, "{}k/{reuse}/{protocol}", self.size / 1024),
            Answer::Refused => write!(f, "refused/{reuse}/{protocol}"),
        }
    }
}
