//! Free ports.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::Path;

use crate::error::Error;

/// How often a server is started anew because another program took its port first.
const MAX_ATTEMPTS: usize = 3;

/// Loopback addresses that no program listens on at this moment, all different: a port that was let
/// go may be the next one found.
///
/// # Errors
/// When no port is free.
pub fn free_addresses<const N: usize>() -> io::Result<[SocketAddr; N]> {
    let mut listeners = Vec::with_capacity(N);
    for _ in 0..N {
        listeners.push(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?);
    }
    let mut addresses = [SocketAddr::from((Ipv4Addr::LOCALHOST, 0)); N];
    for (address, listener) in addresses.iter_mut().zip(&listeners) {
        *address = listener.local_addr()?;
    }
    Ok(addresses)
}

/// A port of the loopback interface that no program listens on at this moment.
///
/// # Errors
/// When no port is free.
pub fn free_port() -> Result<u16, Error> {
    let [address] = free_addresses().map_err(Error::io("find a free port on", Path::new("127.0.0.1")))?;
    Ok(address.port())
}

/// Starts something on a free port, again when `is_taken` says of the error that another program took
/// the port in between.
///
/// # Errors
/// Those of `start`.
pub fn retried<T, E>(mut start: impl FnMut() -> Result<T, E>, is_taken: impl Fn(&E) -> bool) -> Result<T, E> {
    for _ in 1..MAX_ATTEMPTS {
        match start() {
            Err(error) if is_taken(&error) => {}
            other => return other,
        }
    }
    start()
}
