//! Rates, means and demands, by the names that they have in the record.

use std::collections::BTreeMap;

use catalogue::Metric;
use catalogue::watch::requests as metrics;
use record::{Clock, PhaseName, Quantiles};
use serde::Serialize;
use stats::MeanEstimate;
use stats::RatioSums;
use units::Span;

use super::tally::{Counts, OfClass, Sums, Tally};

/// Requests of one class.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Rates {
    /// Requests that were followed.
    pub count: u64,
    /// Requests per second.
    pub rate: f64,
    /// Bytes per second that were handed to the kernel for them, headers included.
    pub bytes_rate: f64,
    /// A request's system calls that read.
    pub reads: f64,
    /// That write.
    pub writes: f64,
    /// Blocks of 512 bytes read from disks for it.
    pub blocks: f64,
    /// From when it could be read to when the last of its response had been handed to the kernel.
    pub duration: Quantiles,
    /// Durations by phase and clock.
    pub phases: BTreeMap<&'static str, Clocks>,
    /// Processor time of a request in user mode, s.
    pub cpu_user: f64,
    /// In the kernel, without soft interrupts, s.
    pub cpu_kernel: f64,
    /// In soft interrupts that came while its thread ran, whomever they served, s.
    pub cpu_soft_interrupt: f64,
    /// Asleep until a disk had answered, s.
    pub disk_wait: f64,
}

/// Durations of one phase.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Clocks {
    /// Processor time, without interrupts.
    pub cpu: Quantiles,
    /// Time that passed.
    pub elapsed: Quantiles,
}

/// What one request of a class needs of each resource, with what is known of how sure that is (95 %).
/// Waiting for processors is not in it (the paper's section 2.2).
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Demands {
    /// Processor time in user mode, s.
    pub cpu_user: MeanEstimate,
    /// In the kernel, without soft interrupts, s.
    pub cpu_kernel: MeanEstimate,
    /// In soft interrupts that came while its thread ran, s.
    pub cpu_soft_interrupt: MeanEstimate,
    /// Asleep until a disk had answered, its queue included, s.
    pub disk: MeanEstimate,
    /// Bytes for the network.
    pub network: MeanEstimate,
}

/// What belongs to no class.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Waits {
    /// Connections per second that were established and had a request.
    pub connections: f64,
    /// From when a connection was established to when the server accepted it.
    pub accept: Quantiles,
    /// From when a request could have been read to when its first bytes were.
    pub read: Quantiles,
}

/// What the tally is of.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Followed {
    /// Seconds in which requests that began were followed.
    pub watched: f64,
    /// Requests that are in no class, or might be.
    #[serde(flatten)]
    pub counts: Counts,
}

impl Rates {
    /// Its figures.
    pub(crate) fn figures(&self) -> impl Iterator<Item = (Metric, f64)> {
        let figures = [
            (metrics::BLOCKS, self.blocks),
            (metrics::BYTES_RATE, self.bytes_rate),
            (metrics::COUNT, self.count as f64),
            (metrics::CPU_KERNEL, self.cpu_kernel),
            (metrics::CPU_SOFT_INTERRUPT, self.cpu_soft_interrupt),
            (metrics::CPU_USER, self.cpu_user),
            (metrics::DISK_WAIT, self.disk_wait),
            (metrics::RATE, self.rate),
            (metrics::READS, self.reads),
            (metrics::WRITES, self.writes),
        ];
        figures.into_iter()
    }
}

impl Waits {
    /// Its figures.
    pub(crate) fn figures(&self) -> impl Iterator<Item = (Metric, f64)> {
        let Self { accept, read, .. } = self;
        let figures = [
            (metrics::WAITS_CONNECTIONS, self.connections),
            (metrics::ACCEPT_COUNT, accept.count as f64),
            (metrics::ACCEPT_MAX, accept.max),
            (metrics::ACCEPT_MEAN, accept.mean),
            (metrics::ACCEPT_P50, accept.p50),
            (metrics::ACCEPT_P90, accept.p90),
            (metrics::ACCEPT_P99, accept.p99),
            (metrics::ACCEPT_P999, accept.p999),
            (metrics::READ_COUNT, read.count as f64),
            (metrics::READ_MAX, read.max),
            (metrics::READ_MEAN, read.mean),
            (metrics::READ_P50, read.p50),
            (metrics::READ_P90, read.p90),
            (metrics::READ_P99, read.p99),
            (metrics::READ_P999, read.p999),
        ];
        figures.into_iter()
    }
}

impl Followed {
    /// Its figures.
    pub(crate) fn figures(&self) -> impl Iterator<Item = (Metric, f64)> {
        let figures = [
            (metrics::CROWDED, self.counts.crowded as f64),
            (metrics::LOST, self.counts.lost as f64),
            (metrics::UNANSWERED, self.counts.unanswered as f64),
            (metrics::UNFINISHED, self.counts.unfinished as f64),
            (metrics::UNPARSED, self.counts.unparsed as f64),
            (metrics::WATCHED, self.watched),
        ];
        figures.into_iter()
    }
}

impl Tally {
    /// By class; classes without requests are left out.
    pub(crate) fn rates(&self, names: &[String]) -> BTreeMap<String, Rates> {
        let seconds = self.stood_for.as_secs_f64();
        let seen = names.iter().zip(&self.classes).filter(|(_, class)| class.sums.requests > 0);
        seen.map(|(name, class)| (name.clone(), rates(class, seconds))).collect()
    }

    /// None when nothing was watched.
    pub(crate) fn waits(&self) -> Option<Waits> {
        (self.stood_for > Span::ZERO).then(|| Waits {
            connections: self.estimated_connections / self.stood_for.as_secs_f64(),
            accept: Quantiles::of(&self.accept_wait),
            read: Quantiles::of(&self.read_wait),
        })
    }

    pub(crate) fn followed(&self) -> Followed {
        Followed { watched: self.watched.as_secs_f64(), counts: self.counts }
    }
}

fn rates(class: &OfClass, seconds: f64) -> Rates {
    let Sums { requests, used, .. } = class.sums;
    let each = |sum: f64| sum / requests as f64;
    let clocks = |phase: PhaseName| {
        let quantiles = |clock| Quantiles::of(&class.durations(phase, clock).histogram);
        (phase.name(), Clocks { cpu: quantiles(Clock::Cpu), elapsed: quantiles(Clock::Elapsed) })
    };
    Rates {
        count: requests,
        rate: class.estimated_requests / seconds,
        bytes_rate: class.estimated_bytes / seconds,
        reads: each(used.reads as f64),
        writes: each(used.writes as f64),
        blocks: each(used.disk_bytes as f64 / 512.0),
        duration: Quantiles::of(&class.duration),
        phases: PhaseName::ALL.into_iter().map(clocks).collect(),
        cpu_user: each(used.user.as_secs_f64()),
        cpu_kernel: each(used.kernel.as_secs_f64()),
        cpu_soft_interrupt: each(used.soft_interrupt.as_secs_f64()),
        disk_wait: each(used.disk_wait.as_secs_f64()),
    }
}

/// Sums over intervals or windows of what requests of one class needed.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Needs([RatioSums; 5]);

impl Needs {
    /// Adds an interval or a window, which stands for so many of its length.
    pub(super) fn add(&mut self, sums: &Sums, weight: f64) {
        if sums.requests == 0 {
            return;
        }
        let needs = [
            sums.used.user.as_secs_f64(),
            sums.used.kernel.as_secs_f64(),
            sums.used.soft_interrupt.as_secs_f64(),
            sums.used.disk_wait.as_secs_f64(),
            sums.bytes_sent as f64,
        ];
        for (ratio, need) in self.0.iter_mut().zip(needs) {
            ratio.add(need * weight, sums.requests as f64 * weight);
        }
    }

    pub(super) fn demands(&self) -> Demands {
        let [cpu_user, cpu_kernel, cpu_soft_interrupt, disk, network] = self.0.map(|ratio| ratio.estimate());
        Demands { cpu_user, cpu_kernel, cpu_soft_interrupt, disk, network }
    }
}
