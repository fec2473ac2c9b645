//! All resources that a verdict can name.

use record::search::Resource;

/// In the order in which they keep each other waiting: a later one is the cause of an earlier one.
pub(super) const RESOURCES: [Resource; 14] = [
    Resource::Client,
    Resource::EphemeralPorts,
    Resource::FdLimit,
    Resource::Network,
    Resource::CpuQuota,
    Resource::Memory,
    Resource::Disk,
    Resource::Serialization,
    Resource::BackEnd,
    Resource::ServerCpu,
    Resource::Alternating,
    Resource::WorkerLimit,
    Resource::SynQueue,
    Resource::AcceptQueue,
];
