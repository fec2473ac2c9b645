//! What the machine has: free ports, open descriptors, and room for one who measures.

use std::fs;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// A loopback address nobody listens on at this moment. For servers that cannot be given port 0,
/// and for connections that must be refused.
pub fn free_address() -> SocketAddr {
    let [address] = free_addresses();
    address
}

/// Several such addresses, all different: a port that was let go may be the next one found.
pub(crate) fn free_addresses<const N: usize>() -> [SocketAddr; N] {
    let listeners: [TcpListener; N] = std::array::from_fn(|_| {
        TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port on 127.0.0.1")
    });
    listeners.map(|listener| listener.local_addr().expect("a bound socket has an address"))
}

/// Held by who measures, one at a time in this process: two load generators would be in each other's way.
pub fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How many descriptors the process `pid` has open, for tests that nothing leaks.
pub fn open_descriptors(pid: u32) -> usize {
    fs::read_dir(format!("/proc/{pid}/fd")).expect("the process runs and is ours").count()
}

/// Follows the process `pid` to its end and gives the most memory that it had resident, in bytes,
/// but for what it took in its last moments.
pub fn follow_memory(pid: u32) -> u64 {
    let mut most = 0;
    while let Some(bytes) = peak_memory(pid) {
        most = bytes;
        thread::sleep(Duration::from_millis(5));
    }
    most
}

/// `None` when the process has ended: proc(5) has no such line then.
fn peak_memory(pid: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.trim().parse().ok().map(|kib: u64| kib * 1024)
}
