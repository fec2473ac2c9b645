//! Free ports.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::Path;
use std::sync::atomic::{AtomicU16, Ordering};
use std::{io, process};

use crate::error::Error;

/// How often a server is started anew because another program took its port first.
const MAX_ATTEMPTS: usize = 3;

/// Ports are found below those that Linux gives to clients (32,768 on, ip-sysctl, `ip_local_port_range`):
/// a client of anything would take one between the look and the start of the server.
const FIRST: u16 = 10_000;

/// How many ports a process finds before it begins anew, and how many such blocks there are: processes
/// side by side have others.
const BLOCK: u16 = 200;
const BLOCKS: u16 = 110;

/// How many ports this process has looked at.
static LOOKED_AT: AtomicU16 = AtomicU16::new(0);

/// Loopback addresses that no program listens on at this moment, all different, and different from those
/// that this process found just before.
///
/// # Errors
/// When no port is free.
pub fn free_addresses<const N: usize>() -> io::Result<[SocketAddr; N]> {
    let mut addresses = [SocketAddr::from((Ipv4Addr::LOCALHOST, 0)); N];
    for address in &mut addresses {
        *address = free_address()?;
    }
    Ok(addresses)
}

fn free_address() -> io::Result<SocketAddr> {
    let [.., high, low] = process::id().to_be_bytes();
    let block = u16::from_be_bytes([high, low]) % BLOCKS;
    let mut refused = None;
    for _ in 0..BLOCK {
        let port = FIRST + block * BLOCK + LOOKED_AT.fetch_add(1, Ordering::Relaxed) % BLOCK;
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        match TcpListener::bind(address) {
            Ok(_) => return Ok(address),
            Err(error) => refused = Some(error),
        }
    }
    Err(refused.unwrap_or_else(|| io::ErrorKind::AddrInUse.into()))
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

    #[test]
    fn no_client_of_anything_is_given_a_port_that_was_found() {
        let range = std::fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").unwrap();
        let [first, last] =
            [0, 1].map(|at| range.split_whitespace().nth(at).unwrap().parse::<u16>().unwrap());
        let [found] = free_addresses().unwrap();
        assert!(!(first..=last).contains(&found.port()) || first < FIRST + BLOCK * BLOCKS, "{found}");
    }
}
