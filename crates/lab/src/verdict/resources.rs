//! All resources that a verdict can name.

use record::search::Resource;

/// All that are looked for. Which is the cause of which, the order of [`Resource`] itself says.
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
