//! [`Address`]: where a server listens.

use std::fmt;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Where a server listens: `127.0.0.1:8080`, `[::1]:8080` or `unix:/path`.
///
/// ```
/// let address: origin::Address = "[::1]:8080".parse()?;
/// assert_eq!(address.tcp(), Some("[::1]:8080".parse()?));
/// let address: origin::Address = "unix:/run/origin.sock".parse()?;
/// assert_eq!(address.to_string(), "unix:/run/origin.sock");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// A TCP port; port 0 takes a free one.
    Tcp(SocketAddr),
    /// A Unix socket of this path, which the server makes and removes.
    Unix(PathBuf),
}

/// A text that names no [`Address`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not an address; write 127.0.0.1:8080, [::1]:8080 or unix:/path")]
pub struct NoAddress;

impl Address {
    /// The address and port, unless it is a Unix socket.
    pub fn tcp(&self) -> Option<SocketAddr> {
        match self {
            Self::Tcp(address) => Some(*address),
            Self::Unix(_) => None,
        }
    }

    /// The path of the Unix socket, if it is one.
    pub fn unix(&self) -> Option<&Path> {
        match self {
            Self::Tcp(_) => None,
            Self::Unix(path) => Some(path),
        }
    }
}

impl FromStr for Address {
    type Err = NoAddress;

    fn from_str(text: &str) -> Result<Self, NoAddress> {
        match text.strip_prefix("unix:") {
            Some("") => Err(NoAddress),
            Some(path) => Ok(Self::Unix(path.into())),
            None => text.parse().map(Self::Tcp).map_err(|_| NoAddress),
        }
    }
}

impl From<SocketAddr> for Address {
    fn from(address: SocketAddr) -> Self {
        Self::Tcp(address)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => address.fmt(f),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}
