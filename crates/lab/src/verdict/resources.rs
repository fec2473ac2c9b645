//! All resources that a verdict can name.

use record::search::Resource;

/// All that are looked for. Which is the cause of which, the order of [`Resource`] itself says.
pub(super) const RESOURCES: [Resource; 25] = [
    Resource::Client,
    Resource::EphemeralPorts,
    Resource::RateLimit,
    Resource::FdLimit,
    Resource::PacketLoss,
    Resource::Network,
    Resource::CpuQuota,
    Resource::Steal,
    Resource::OtherProgram,
    Resource::GarbageCollection,
    Resource::Tls,
    Resource::ServerCpu,
    Resource::Memory,
    Resource::Disk,
    Resource::NameLookup,
    Resource::EventLoop,
    Resource::ApplicationPool,
    Resource::ApplicationLock,
    Resource::Serialization,
    Resource::BackEnd,
    Resource::Alternating,
    Resource::KeptConnections,
    Resource::WorkerLimit,
    Resource::SynQueue,
    Resource::AcceptQueue,
];
