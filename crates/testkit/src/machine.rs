//! What the machine has: free ports, open descriptors, and room for one who measures.

use std::net::SocketAddr;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::thread;
use std::time::Duration;

use testbed::account;

/// A loopback address that no program listens on at this moment. For servers that cannot be given port 0,
/// and for connections that must be refused.
pub fn free_address() -> SocketAddr {
    let [address] = free_addresses();
    address
}

/// Several such addresses, all different.
pub(crate) fn free_addresses<const N: usize>() -> [SocketAddr; N] {
    testbed::free_addresses().expect("free ports on 127.0.0.1")
}

/// The machine, as who measures holds it against the other tests of this process.
#[derive(Debug)]
#[must_use = "it is held until it is dropped"]
pub enum Machine {
    /// By one test only.
    Alone(RwLockWriteGuard<'static, ()>),
    /// By all tests that share it.
    Shared(RwLockReadGuard<'static, ()>),
}

static MACHINE: RwLock<()> = RwLock::new(());

impl Machine {
    /// For who takes much of a processor: two load generators would be in each other's way.
    pub fn alone() -> Self {
        Self::Alone(MACHINE.write().unwrap_or_else(PoisonError::into_inner))
    }

    /// For who measures what waits, and leaves the processors idle: beside others that do.
    pub fn shared() -> Self {
        Self::Shared(MACHINE.read().unwrap_or_else(PoisonError::into_inner))
    }
}

/// How many descriptors the process `pid` has open, for tests that nothing leaks.
pub fn open_descriptors(pid: u32) -> usize {
    account::descriptors(pid).expect("the process runs and is ours")
}

/// Follows the process `pid` to its end and gives the most memory that it had resident, in bytes,
/// but for what it took in its last moments.
pub fn follow_memory(pid: u32) -> u64 {
    let mut most = 0;
    while let Ok(bytes) = account::peak_resident(pid) {
        most = bytes;
        thread::sleep(Duration::from_millis(5));
    }
    most
}
