//! `capacity.json`: what a search for the capacity found.
//!
//! ```text
//! OUT/capacity.json            [`SearchResult`]
//! OUT/environment.json         the machine
//! OUT/probes/04-rate-120/      a run directory of the load generator for each probe
//! OUT/watch/                   that of the monitor, where the server is on this machine
//! ```

use std::collections::BTreeMap;
use std::path::Path;

use serde::de::IntoDeserializer as _;
use serde::de::value::StrDeserializer;
use serde::{Deserialize, Serialize};

use crate::{Error, files};

const INDEX: &str = "capacity.json";

/// Where the monitor's run is, beside the probes or, of a test at a given load, below its run.
pub const WATCH: &str = "watch";

/// What was found.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct SearchResult {
    /// The capacity; nothing when the search ended before there was one.
    pub capacity: Option<Capacity>,
    /// What it rests on, and what stands in the way of knowing it better.
    pub basis: Vec<String>,
    /// What sets it.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// Whether it is what a crowd of clients gets in all, a closed loop, rather than the highest rate that was kept up
    /// with.
    #[serde(default)]
    pub is_of_crowd: bool,
    /// After how long it ended, s, before the ends of the interval were as near and as certain as they should be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_early: Option<f64>,
    /// How throughput grows with clients, where closed loops were asked.
    pub scalability: Option<Scalability>,
    /// What was found when what may be the bottleneck was relieved.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reliefs: Vec<Relief>,
    /// All probes in the order in which they were made.
    pub probes: Vec<ProbeResult>,
}

/// What became of the capacity when there was more of a resource, or less was asked of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Relief {
    /// Which.
    pub resource: Resource,
    /// What was changed, such as `cgroup.cpu=0.66`; nothing where there is nothing to change.
    pub settings: Vec<String>,
    /// In words: what was changed, or why nothing was.
    pub said: String,
    /// Without it.
    pub before: Capacity,
    /// With it; nothing where nothing was changed, or no capacity was found.
    pub after: Option<Capacity>,
    /// Where the search is, below the directory of the experiment.
    pub directory: Option<String>,
}

impl Relief {
    /// So many times as much at least.
    pub const MORE: f64 = 1.15;

    /// How many times as much was carried.
    pub fn times(&self) -> Option<f64> {
        self.after.as_ref().map(|after| after.rate / self.before.rate)
    }

    /// Whether that says that it was the bottleneck: more was carried, by more than is not known of both; nothing where it
    /// was not tried.
    pub fn holds(&self) -> Option<bool> {
        let (after, times) = (self.after.as_ref()?, self.times()?);
        Some(times >= Self::MORE && after.ci[0] > self.before.ci[1])
    }
}

/// The highest rate that the server keeps up with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Capacity {
    /// Per second: the geometric mean of the interval; of a crowd what it got.
    pub rate: f64,
    /// From the highest rate up to which the server kept up with all, to the lowest from which it did with none; of a
    /// crowd the 95 % confidence interval.
    pub ci: [f64; 2],
    /// `requests/s`, or `sessions/s` of a workload that has them.
    pub unit: String,
}

/// One probe.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProbeResult {
    /// Clients of a closed loop, each with one request at a time.
    pub clients: Option<u32>,
    /// Offered, per second; of a closed loop nothing.
    pub offered: Option<f64>,
    /// Good responses per second, or completed sessions.
    pub achieved: f64,
    /// Latency of requests in the median, s.
    pub p50: f64,
    /// Its 99th percentile, s.
    pub p99: f64,
    /// Why the server did not keep up.
    pub behind: Option<String>,
    /// Why the generator's figures are its own, not the server's.
    pub not_valid: Option<String>,
    /// The share of arrivals by which what waits has grown, or could have and not be told from chance.
    pub blind: f64,
    /// How near resources were to their ends, 1 being there, by their names; what was not looked at is left out.
    #[serde(default)]
    pub used: BTreeMap<String, f64>,
    /// Its record, below the directory of the search.
    pub directory: String,
}

/// What the bottleneck is.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Verdict {
    /// Nothing where the server was not looked at, and the generator could have done more.
    pub bottleneck: Option<Resource>,
    /// How likely it is that it is this, from 0 to 1; see [`Self::candidates`].
    pub confidence: f64,
    /// What it may be, the likeliest first, and what was looked at and is not.
    #[serde(default)]
    pub candidates: Vec<Candidate>,
    /// From which load on resources are at their end, in order.
    pub onset: Vec<Onset>,
    /// Sentences with figures.
    pub evidence: Vec<String>,
    /// What to do.
    pub next: Vec<String>,
}

/// When a resource comes to its end.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Onset {
    /// Which.
    pub resource: Resource,
    /// From this load on, per second.
    pub rate: f64,
}

/// A resource that may be the bottleneck, or that was looked at and is not.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// Which.
    pub name: Resource,
    /// How likely it is that this is the bottleneck, from 0 to 1; what all have together is less than 1 by what is
    /// left for that it is something else.
    pub probability: f64,
    /// Sentences that speak for it.
    #[serde(rename = "for")]
    pub supports: Vec<String>,
    /// Sentences that speak against it.
    #[serde(rename = "against")]
    pub contradicts: Vec<String>,
}

/// What can be the bottleneck, by the names that scripts rely on.
/// Where several are at their end at the same load, what comes later here keeps what comes before it waiting: a full
/// accept queue is a consequence of workers that are taken, and those of a lock, a disk or a processor; and who waits
/// for a processor holds locks and connections to others for longer. What comes later can also be what is behind it: a
/// processor that is full of handshakes, or that another program takes. A generator that comes to its end together with
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
    KeptConnections,
    Alternating,
    BackEnd,
    Serialization,
    ApplicationLock,
    ApplicationPool,
    EventLoop,
    NameLookup,
    Disk,
    Memory,
    ServerCpu,
    Tls,
    GarbageCollection,
    OtherProgram,
    Steal,
    CpuQuota,
    Network,
    PacketLoss,
    FdLimit,
    RateLimit,
    EphemeralPorts,
}

/// What [`ProbeResult::used`] tells of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "their names say it")]
pub enum Used {
    Processors,
    Quota,
    Memory,
    DiskLimit,
    Disk,
    Descriptors,
    ListenQueue,
    Generator,
}

impl Used {
    const ALL: [Self; 8] = [
        Self::Processors,
        Self::Quota,
        Self::Memory,
        Self::DiskLimit,
        Self::Disk,
        Self::Descriptors,
        Self::ListenQueue,
        Self::Generator,
    ];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Processors => "processors of the server",
            Self::Quota => "quota of processor time",
            Self::Memory => "memory of the control group",
            Self::DiskLimit => "disk limit of the control group",
            Self::Disk => "disk",
            Self::Descriptors => "descriptors",
            Self::ListenQueue => "listen queue",
            Self::Generator => "generator",
        }
    }

    /// By its name; nothing where that is of none.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|used| used.name() == name)
    }

    /// Whether twice as many requests use twice as much of it (the utilisation law).
    pub const fn is_proportional(self) -> bool {
        matches!(self, Self::Processors | Self::Quota | Self::DiskLimit | Self::Disk)
    }

    /// What is at its end when there is no more of it.
    pub const fn resource(self) -> Resource {
        match self {
            Self::Processors => Resource::ServerCpu,
            Self::Quota => Resource::CpuQuota,
            Self::Memory => Resource::Memory,
            Self::DiskLimit | Self::Disk => Resource::Disk,
            Self::Descriptors => Resource::FdLimit,
            Self::ListenQueue => Resource::AcceptQueue,
            Self::Generator => Resource::Client,
        }
    }
}

impl Resource {
    /// By its name; nothing where that is of none.
    pub fn named(name: &str) -> Option<Self> {
        let name: StrDeserializer<'_, serde::de::value::Error> = name.into_deserializer();
        Self::deserialize(name).ok()
    }

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
            Self::KeptConnections => "kept-connections",
            Self::ApplicationLock => "application-lock",
            Self::ApplicationPool => "application-pool",
            Self::EventLoop => "event-loop",
            Self::NameLookup => "name-lookup",
            Self::Tls => "tls",
            Self::GarbageCollection => "garbage-collection",
            Self::OtherProgram => "other-program",
            Self::Steal => "steal",
            Self::PacketLoss => "packet-loss",
            Self::RateLimit => "rate-limit",
        }
    }

    /// What it is, in words that can follow "the limit is".
    pub const fn described(self) -> &'static str {
        match self {
            Self::None => "nothing",
            Self::AcceptQueue => "the listen queue, of connections that wait to be accepted",
            Self::SynQueue => "the SYN queue, of connections that are not established yet",
            Self::WorkerLimit => "the number of workers",
            Self::ServerCpu => "the server's processors",
            Self::BackEnd => "what stands behind the server",
            Self::Serialization => "a lock that workers wait for",
            Self::Disk => "what can be had of the disk",
            Self::Memory => "the server's memory",
            Self::CpuQuota => "the server's quota of processor time",
            Self::Network => "the network",
            Self::FdLimit => "the number of descriptors that a process may have",
            Self::EphemeralPorts => "the number of local ports of those who connect",
            Self::Client => "the load generator",
            Self::Alternating => "one resource at one time and another at another",
            Self::KeptConnections => "workers that are held by connections on which nothing is asked",
            Self::ApplicationLock => "a lock within the application",
            Self::ApplicationPool => "a pool of connections within the application",
            Self::EventLoop => "a thread that serves many connections, one request after the other",
            Self::NameLookup => "looking up names",
            Self::Tls => "handshakes of TLS",
            Self::GarbageCollection => "collecting garbage",
            Self::OtherProgram => "another program on the server's processors",
            Self::Steal => "the hypervisor, which gives the processors to others",
            Self::PacketLoss => "the network, which loses packets",
            Self::RateLimit => {
                "a limit of rates or of requests that the server or something in front of it keeps to"
            }
        }
    }

    /// Whether it is one of the generator, not of the server.
    pub const fn is_generators(self) -> bool {
        matches!(self, Self::Client | Self::EphemeralPorts)
    }
}

/// How throughput grows with the number of clients.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Scalability {
    /// λ: requests per second of a single client.
    pub alone: f64,
    /// σ: the share of the work for which clients wait for each other.
    pub contention: f64,
    /// κ: what each pair of clients costs to be kept in agreement.
    pub coherence: f64,
}

impl Scalability {
    /// Requests per second with so many clients.
    pub fn rate(&self, clients: f64) -> f64 {
        let others = clients - 1.0;
        self.alone * clients / (1.0 + self.contention * others + self.coherence * clients * others)
    }

    /// The number of clients with which throughput is highest; nothing where it only ever grows.
    pub fn peak(&self) -> Option<f64> {
        (self.coherence > 0.0).then(|| ((1.0 - self.contention).max(0.0) / self.coherence).sqrt().max(1.0))
    }
}

impl SearchResult {
    /// Reads what the search in `directory` found.
    ///
    /// # Errors
    /// [`Error::NotARecord`] when there was none; otherwise when it cannot be read.
    pub fn load(directory: &Path) -> Result<Self, Error> {
        if !Self::is_in(directory) {
            return Err(Error::NotARecord { path: directory.to_owned(), missing: INDEX });
        }
        files::read_json(&directory.join(INDEX))
    }

    /// In a sentence, that there was no time to know it better.
    pub fn early(&self) -> Option<String> {
        let after = self.ended_early?;
        Some(format!("The search ended after {after:.0} s; it is known less well than was asked for."))
    }

    /// Writes it into `directory`.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn save(&self, directory: &Path) -> Result<(), Error> {
        files::write_json(&directory.join(INDEX), self)
    }

    /// Whether `directory` holds a search.
    pub(crate) fn is_in(directory: &Path) -> bool {
        directory.join(INDEX).is_file()
    }
}
