//! [`sign`]: of each resource its own.

use record::search::Resource;

use super::bounds::BUSY;
use super::sign::Sign;
use super::{behind, connections, event_loop, generator, network, processors, refusals, tls, waits};
use crate::verdict::alternating;
use crate::verdict::level::Level;
use crate::verdict::resources::RESOURCES;

/// Whether the resource is at its end at `level`; `light` is a level far below.
pub(crate) fn sign(resource: Resource, level: &Level, light: &Level) -> Option<Sign> {
    match resource {
        Resource::Client => generator::client(level),
        Resource::EphemeralPorts => {
            generator::ephemeral_ports(level).or_else(|| generator::ports_to_back_end(level, light))
        }
        Resource::FdLimit => connections::fd_limit(level),
        Resource::Network => network::network(level, light),
        Resource::PacketLoss => network::packet_loss(level),
        Resource::CpuQuota => processors::cpu_quota(level),
        Resource::Steal => processors::steal(level),
        Resource::OtherProgram => processors::other_program(level),
        Resource::GarbageCollection => processors::garbage_collection(level, light),
        Resource::Tls => tls::handshakes(level, light),
        Resource::None => None,
        Resource::Memory => waits::memory(level, light),
        Resource::Disk => waits::disk(level, light),
        Resource::NameLookup => behind::name_lookup(level, light),
        Resource::EventLoop => event_loop::event_loop(level, light),
        Resource::ApplicationPool => waits::application_pool(level, light),
        Resource::ApplicationLock => waits::application_lock(level, light),
        Resource::Serialization => waits::serialization(level, light),
        Resource::BackEnd => behind::back_end(level, light),
        Resource::ServerCpu => processors::server_cpu(level),
        Resource::RateLimit => refusals::rate_limit(level, light),
        Resource::KeptConnections => connections::kept_connections(level),
        Resource::WorkerLimit => connections::worker_limit(level, light),
        Resource::SynQueue => connections::syn_queue(level),
        Resource::AcceptQueue => connections::accept_queue(level),
        Resource::Alternating => in_turns(level, light),
    }
}

/// Where nothing is at its end all the time, but what only waits for others.
fn in_turns(level: &Level, light: &Level) -> Option<Sign> {
    let mut others = RESOURCES.into_iter().filter(|resource| *resource > Resource::Alternating);
    if others.any(|resource| sign(resource, level, light).is_some()) {
        return None;
    }
    alternating::indicator(level, light, BUSY).map(Sign::sure)
}
