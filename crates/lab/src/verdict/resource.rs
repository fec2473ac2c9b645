//! [`Resource`]: what can be the bottleneck.

use serde::{Deserialize, Serialize};

/// What can be the bottleneck, by the names that scripts rely on.
/// Where several are at their end at the same load, what comes later here keeps what comes before it waiting: a full
/// accept queue is a consequence of workers that are taken, and those of a lock, a disk or a processor; and who waits
/// for a processor holds locks and connections to others for longer. A generator that comes to its end together with
/// the server has found the server's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "as the lab's documentation has them")]
pub enum Resource {
    None,
    Client,
    AcceptQueue,
    SynQueue,
    WorkerLimit,
    BackEnd,
    Serialization,
    Disk,
    Memory,
    ServerCpu,
    CpuQuota,
    Network,
    FdLimit,
    EphemeralPorts,
    Alternating,
}

impl Resource {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::AcceptQueue => "accept-queue",
            Self::SynQueue => "syn-queue",
            Self::WorkerLimit => "worker-limit",
            Self::ServerCpu => "server-cpu",
            Self::BackEnd => "back-end",
            Self::Serialization => "serialization",
            Self::Disk => "disk",
            Self::Memory => "memory",
            Self::CpuQuota => "cpu-quota",
            Self::Network => "network",
            Self::FdLimit => "fd-limit",
            Self::EphemeralPorts => "ephemeral-ports",
            Self::Client => "client",
            Self::Alternating => "alternating",
        }
    }

    /// Whether it is one of the generator, not of the server.
    pub(crate) const fn is_generators(self) -> bool {
        matches!(self, Self::Client | Self::EphemeralPorts)
    }

    /// What to do when it is the bottleneck.
    pub(crate) const fn next(self) -> &'static str {
        match self {
            Self::None => "Offer more, to find what breaks first.",
            Self::AcceptQueue => {
                "Lengthen the listen queue (the server's backlog, and net.core.somaxconn, which bounds it)."
            }
            Self::SynQueue => {
                "Lengthen the SYN queue (net.ipv4.tcp_max_syn_backlog, and the server's backlog)."
            }
            Self::WorkerLimit => {
                "Give the server more workers (MaxRequestWorkers, worker_connections), or have each held for less time (keep-alive, buffering in front)."
            }
            Self::ServerCpu => "Make requests cheaper (caching, logging, modules), or add processors.",
            Self::BackEnd => "Look at what the server asks: measure it by itself.",
            Self::Serialization => {
                "Find the lock that workers wait for, and hold it for less time; neither more processors nor more workers help."
            }
            Self::Disk => {
                "Read less from the disk (more memory for its cache, smaller content), or get a faster one."
            }
            Self::Memory => {
                "Give the server more memory: what it reads does not fit, so that it is read again and again."
            }
            Self::CpuQuota => "Raise the quota of the control group (cpu.max); processors are idle.",
            Self::Network => "Send less (compression, caching at clients), or get a faster link.",
            Self::FdLimit => "Raise the limit of descriptors (ulimit -n, LimitNOFILE, worker_rlimit_nofile).",
            Self::EphemeralPorts => {
                "Keep connections open, widen net.ipv4.ip_local_port_range, or use more addresses."
            }
            Self::Client => "Give the generator processors of its own, more threads, or another machine.",
            Self::Alternating => "Lift one of them, and measure again.",
        }
    }
}
