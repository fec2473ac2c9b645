//! [`ListenAddress`]: where a listener stands.

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Where a listener stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ListenAddress {
    /// Address and port.
    Tcp(SocketAddr),
    /// A Unix socket of that path.
    Unix(PathBuf),
}

impl ListenAddress {
    /// Whether the kernel is to choose the port.
    pub fn is_free_port(&self) -> bool {
        matches!(self, Self::Tcp(address) if address.port() == 0)
    }

    /// The port, where the kernel is not to choose it.
    pub fn port(&self) -> Option<u16> {
        match self {
            Self::Tcp(address) => Some(address.port()).filter(|port| *port > 0),
            Self::Unix(_) => None,
        }
    }

    /// Whether it is all of IPv6, and `other` is of IPv4 and has the same port.
    pub fn leaves_v4_to(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Tcp(all), Self::Tcp(other)) if !self.is_free_port() => {
                all.is_ipv6() && other.is_ipv4() && all.port() == other.port()
            }
            _ => false,
        }
    }
}

impl fmt::Display for ListenAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => address.fmt(f),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}
