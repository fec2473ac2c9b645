//! What the machine has: free ports, open descriptors.

use std::fs;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};

/// A loopback address nobody listens on at this moment. For servers that cannot be given port 0,
/// and for connections that must be refused.
pub fn free_address() -> SocketAddr {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
        .and_then(|listener| listener.local_addr())
        .expect("a free port on 127.0.0.1")
}

/// How many descriptors the process `pid` has open, for tests that nothing leaks.
pub fn open_descriptors(pid: u32) -> usize {
    fs::read_dir(format!("/proc/{pid}/fd")).expect("the process runs and is ours").count()
}
