//! [`Resources`]: what a server and its load generator may have of the machine.

use units::{Bytes, Ratio};

/// What a test is set up on.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Resources {
    /// Networks of their own for server and generator, and the link between them; else the machine's.
    pub network: Option<Link>,
    /// What the server may have of the machine.
    pub server: Limits,
    /// What the generator may have of it.
    pub generator: Limits,
    /// The most descriptors that a process of the server may have open.
    pub descriptors: Option<u64>,
}

/// The network between generator and server.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Link {
    /// Bits per second in either direction.
    pub rate: Option<u64>,
    /// The share of packets that are lost in either direction, at the end where they arrive.
    pub loss: Option<Ratio>,
    /// Of the server's network.
    pub sysctls: Vec<Sysctl>,
    /// Of the generator's network.
    pub generator_sysctls: Vec<Sysctl>,
}

/// A setting of the kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sysctl {
    /// Such as `net.ipv4.tcp_syncookies`.
    pub name: String,
    /// Its value as it is written to the kernel.
    pub value: String,
}

/// A share of the machine.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Limits {
    /// Processors, also parts of one.
    pub cpu: Option<f64>,
    /// Memory, the page cache of files included.
    pub memory: Option<Bytes>,
    /// Read from the disk, per second.
    pub read_bytes: Option<Bytes>,
    /// Written to the disk, per second.
    pub write_bytes: Option<Bytes>,
    /// Read operations per second.
    pub reads: Option<u64>,
    /// Write operations per second.
    pub writes: Option<u64>,
}

impl Limits {
    /// Whether nothing is limited.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
