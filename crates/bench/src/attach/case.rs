//! [`Case`]: which server, and what is asked of it.

use std::fmt;

use crate::generators::ask::Reuse;
use crate::servers::site::Content;

/// The file that is asked for, in bytes.
pub(super) const SIZE: usize = 1024;
/// Connections that the generator keeps busy.
pub(super) const CONNECTIONS: u32 = 64;

/// The server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Nginx,
    Apache,
}

impl Kind {
    pub(super) fn content(self) -> Content<'static> {
        match self {
            Self::Nginx => Content::Nginx,
            Self::Apache => Content::ApacheEvent,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Nginx => "nginx",
            Self::Apache => "apache",
        }
    }
}

/// How many may be in the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Window {
    /// More than there are.
    Open,
    /// One: all others wait.
    One,
}

impl Window {
    /// As configurations have it.
    pub(super) fn places(self) -> u32 {
        match self {
            Self::Open => 4 * CONNECTIONS,
            Self::One => 1,
        }
    }
}

/// One cell of the comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Case {
    pub(super) kind: Kind,
    pub(super) reuse: Reuse,
    pub(super) window: Window,
}

impl Case {
    pub(super) fn all() -> Vec<Self> {
        let mut cases = Vec::new();
        for kind in [Kind::Nginx, Kind::Apache] {
            for window in [Window::Open, Window::One] {
                for reuse in [Reuse::KeepAlive, Reuse::Close] {
                    cases.push(Self { kind, reuse, window });
                }
            }
        }
        cases
    }

    /// As a table has it.
    pub(super) fn title(self) -> String {
        let reuse = match self.reuse {
            Reuse::KeepAlive => "keep-alive",
            Reuse::Close => "a connection per request",
        };
        match self.window {
            Window::Open => format!("{}, {reuse}", self.kind.name()),
            Window::One => format!("{}, {reuse}, one at a time", self.kind.name()),
        }
    }
}

/// As in `--only` and in the raw results: `nginx/keep-alive/open`.
impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reuse = match self.reuse {
            Reuse::KeepAlive => "keep-alive",
            Reuse::Close => "close",
        };
        let window = match self.window {
            Window::Open => "open",
            Window::One => "one",
        };
        write!(f, "{}/{reuse}/{window}", self.kind.name())
    }
}
