//! What to do about a bottleneck.

use record::search::Resource;

/// What to do when it is the bottleneck.
pub(super) const fn next(resource: Resource) -> &'static str {
    match resource {
        Resource::None => "Offer more, to find what breaks first.",
        Resource::AcceptQueue => {
            "Lengthen the listen queue (the server's backlog, and net.core.somaxconn, which bounds it)."
        }
        Resource::SynQueue => {
            "Lengthen the SYN queue (net.ipv4.tcp_max_syn_backlog, and the server's backlog)."
        }
        Resource::WorkerLimit => {
            "Give the server more workers (MaxRequestWorkers, worker_connections), or have each held for less time (keep-alive, buffering in front)."
        }
        Resource::ServerCpu => "Make requests cheaper (caching, logging, modules), or add processors.",
        Resource::BackEnd => "Look at what the server asks: measure it by itself.",
        Resource::Serialization => {
            "Find the lock that workers wait for, and hold it for less time; neither more processors nor more workers help."
        }
        Resource::Disk => {
            "Read less from the disk (more memory for its cache, smaller content), or get a faster one."
        }
        Resource::Memory => {
            "Give the server more memory: what it reads does not fit, so that it is read again and again."
        }
        Resource::CpuQuota => "Raise the quota of the control group (cpu.max); processors are idle.",
        Resource::Network => "Send less (compression, caching at clients), or get a faster link.",
        Resource::FdLimit => "Raise the limit of descriptors (ulimit -n, LimitNOFILE, worker_rlimit_nofile).",
        Resource::EphemeralPorts => {
            "Keep connections open, widen net.ipv4.ip_local_port_range, or use more addresses."
        }
        Resource::Client => "Give the generator processors of its own, more threads, or another machine.",
        Resource::Alternating => "Lift one of them, and measure again.",
    }
}
