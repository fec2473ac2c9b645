//! [`Address`]: what a target's name stands for.

use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::path::PathBuf;

use crate::error::Error;
use crate::settings::target::{Target, Via};

/// What can be connected to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Address {
    Inet(SocketAddr),
    Unix(PathBuf),
}

impl Address {
    /// The first address that the host's name stands for; waits for the resolver.
    ///
    /// # Errors
    /// When the name stands for no address.
    pub(crate) fn of(target: &Target) -> Result<Self, Error> {
        let (host, port) = match target.place() {
            Via::Host(host, port) => (host, port),
            Via::Unix(path) => return Ok(Self::Unix(path)),
        };
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        if let Ok(address) = bare.parse::<IpAddr>() {
            return Ok(Self::Inet(SocketAddr::new(address, port)));
        }
        let failed = |source| Error::Resolve { host: host.clone(), source };
        let mut addresses = (bare, port).to_socket_addrs().map_err(failed)?;
        addresses.next().map(Self::Inet).ok_or_else(|| failed(io::Error::other("the name has no address")))
    }
}
