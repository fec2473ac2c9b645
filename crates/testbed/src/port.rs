//! Free ports.

use std::collections::VecDeque;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use crate::error::Error;

/// How often a server is started anew because another program took its port first.
const MAX_ATTEMPTS: usize = 3;

/// Ports that were found last are not found again: what asked for them has yet to listen.
const MAX_REMEMBERED: usize = 64;

static FOUND: Mutex<VecDeque<u16>> = Mutex::new(VecDeque::new());

/// Loopback addresses that no program listens on at this moment, all different, and different from those
/// that this process found just before.
///
/// # Errors
/// When no port is free.
pub fn free_addresses<const N: usize>() -> io::Result<[SocketAddr; N]> {
    let mut found = FOUND.lock().unwrap_or_else(PoisonError::into_inner);
    // Held until all are found, so that the kernel gives another one each time.
    let mut listeners = Vec::with_capacity(N);
    let mut addresses = [SocketAddr::from((Ipv4Addr::LOCALHOST, 0)); N];
    for address in &mut addresses {
        loop {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
            *address = listener.local_addr()?;
            listeners.push(listener);
            if !found.contains(&address.port()) {
                break;
            }
        }
        found.push_back(address.port());
        if found.len() > MAX_REMEMBERED {
            found.pop_front();
        }
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

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a panic is how a test reports")]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn ports_are_different_from_those_found_just_before() {
        let found: BTreeSet<_> =
            (0..16).flat_map(|_| free_addresses::<4>().unwrap()).map(|address| address.port()).collect();
        assert_eq!(found.len(), 64);
    }
}
