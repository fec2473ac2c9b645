//! What went on between two samples, by the names that it has in the record.

use std::collections::BTreeMap;

use catalogue::Metric;
use catalogue::watch::limits as metrics;
use serde::Serialize;

use super::control_groups::io_used;
use super::sample::{self, Sample};
use super::threads::Threads;

/// How near to its end everything is.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Rates {
    /// By number: the share of the time in which the processor did something.
    pub processors: BTreeMap<usize, f64>,
    /// By name.
    pub programs: BTreeMap<String, Program>,
    /// By name.
    pub disks: BTreeMap<String, Disk>,
    /// By interface, what waits in front of it.
    pub queues: BTreeMap<String, Queue>,
    /// All of the network namespace.
    pub sockets: Sockets,
    /// Connections from here by the port that they go to, at the second sample.
    pub outgoing: BTreeMap<u16, u64>,
}

/// All processes of one program.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Program {
    /// Processors that they may run on.
    pub processors: usize,
    /// How busy these were in the mean, with whatever program, from 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub processors_busy: Option<f64>,
    /// Of the process that has used up most: descriptors that are open, over those that may be.
    pub descriptors: f64,
    /// What their threads do at the second sample.
    #[serde(flatten)]
    pub threads: Threads,
    /// Processors that their control group's quota is worth.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_quota: Option<f64>,
    /// The share of the quota's periods in which they had to stop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_throttled: Option<f64>,
    /// Memory of their control group, over what it may have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_used: Option<f64>,
    /// Pages per second that it had to give up and needed again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_refaults: Option<f64>,
    /// What disks did for it, over what they may; of the limit that is nearest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub io_used: Option<f64>,
}

/// A disk.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Disk {
    /// The share of the time in which a request was under way.
    pub busy: f64,
    /// Requests under way, in the mean.
    pub requests: f64,
}

/// What waits in front of an interface.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Queue {
    /// At the second sample.
    pub waiting_bytes: u64,
    /// Packets per second for which there was no room.
    pub drops: f64,
    /// How often per second something had to wait for the interface's rate, of those that have one.
    pub overlimits: f64,
}

/// As in [`super::sockets::Sockets`]: sockets at the second sample, and what TCP counts per second.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Sockets {
    pub unaccepted: u64,
    pub room: u64,
    pub unread: u64,
    pub unsent_bytes: u64,
    pub time_wait: u64,
    /// Local ports in use at most, over those that there are.
    pub ports_used: f64,
    pub listen_overflows: f64,
    pub listen_drops: f64,
    pub syn_queue_full: f64,
    pub retransmits: f64,
    pub syn_retransmits: f64,
}

impl Program {
    /// Its figures, as far as they are known.
    pub(crate) fn figures(&self) -> impl Iterator<Item = (Metric, f64)> {
        let figures = [
            (metrics::PROGRAM_CPU_QUOTA, self.cpu_quota),
            (metrics::PROGRAM_CPU_THROTTLED, self.cpu_throttled),
            (metrics::PROGRAM_DESCRIPTORS, Some(self.descriptors)),
            (metrics::PROGRAM_DISK, Some(f64::from(self.threads.disk))),
            (metrics::PROGRAM_EVENT, Some(f64::from(self.threads.event))),
            (metrics::PROGRAM_IO_USED, self.io_used),
            (metrics::PROGRAM_LOCK, Some(f64::from(self.threads.lock))),
            (metrics::PROGRAM_MEMORY_REFAULTS, self.memory_refaults),
            (metrics::PROGRAM_MEMORY_USED, self.memory_used),
            (metrics::PROGRAM_OTHER, Some(f64::from(self.threads.other))),
            (metrics::PROGRAM_PEER, Some(f64::from(self.threads.peer))),
            (metrics::PROGRAM_PROCESSORS, Some(self.processors as f64)),
            (metrics::PROGRAM_PROCESSORS_BUSY, self.processors_busy),
            (metrics::PROGRAM_RUNNING, Some(f64::from(self.threads.running))),
            (metrics::PROGRAM_SLEEP, Some(f64::from(self.threads.sleep))),
        ];
        figures.into_iter().filter_map(|(metric, value)| Some((metric, value?)))
    }
}

impl Disk {
    /// Its figures.
    pub(crate) fn figures(&self) -> impl Iterator<Item = (Metric, f64)> {
        let figures = [(metrics::DISK_BUSY, self.busy), (metrics::DISK_REQUESTS, self.requests)];
        figures.into_iter()
    }
}

impl Queue {
    /// Its figures.
    pub(crate) fn figures(&self) -> impl Iterator<Item = (Metric, f64)> {
        let figures = [
            (metrics::QUEUE_DROPS, self.drops),
            (metrics::QUEUE_OVERLIMITS, self.overlimits),
            (metrics::QUEUE_WAITING, self.waiting_bytes as f64),
        ];
        figures.into_iter()
    }
}

impl Sockets {
    /// Its figures.
    pub(crate) fn figures(&self) -> impl Iterator<Item = (Metric, f64)> {
        let figures = [
            (metrics::LISTEN_DROPS, self.listen_drops),
            (metrics::LISTEN_OVERFLOWS, self.listen_overflows),
            (metrics::SOCKETS_PORTS_USED, self.ports_used),
            (metrics::RETRANSMITS, self.retransmits),
            (metrics::SOCKETS_ROOM, self.room as f64),
            (metrics::SYN_QUEUE_FULL, self.syn_queue_full),
            (metrics::SYN_RETRANSMITS, self.syn_retransmits),
            (metrics::SOCKETS_TIME_WAIT, self.time_wait as f64),
            (metrics::SOCKETS_UNACCEPTED, self.unaccepted as f64),
            (metrics::SOCKETS_UNREAD, self.unread as f64),
            (metrics::SOCKETS_UNSENT, self.unsent_bytes as f64),
        ];
        figures.into_iter()
    }
}

/// What went on between two samples. Disks, interfaces and processors that are not in both are left out.
pub fn rates(programs: &[String], before: &Sample, after: &Sample) -> Rates {
    let length = after.uptime.saturating_sub(before.uptime);
    let seconds = length.as_secs_f64();
    let rate = |before: u64, after: u64| after.saturating_sub(before) as f64 / seconds;
    let processors = after.processors.iter().filter_map(|(number, (busy, all))| {
        let (busy_before, all_before) = before.processors.get(number)?;
        let all = all.saturating_sub(*all_before).as_secs_f64();
        (all > 0.0).then(|| (*number, busy.saturating_sub(*busy_before).as_secs_f64() / all))
    });
    let processors: BTreeMap<usize, f64> = processors.collect();
    let busy = |number: &usize| processors.get(number).copied();
    let of_program = |(before, after): (&sample::Program, &sample::Program)| {
        let (cpu, memory) = (after.group.cpu, after.group.memory);
        let throttled = before.group.cpu.zip(cpu).map(|(before, after)| {
            let periods = after.periods.saturating_sub(before.periods).max(1);
            after.throttled.saturating_sub(before.throttled) as f64 / periods as f64
        });
        Program {
            processors: after.processors.len(),
            processors_busy: stats::mean(after.processors.iter().filter_map(&busy)),
            descriptors: after.descriptors,
            threads: after.threads,
            cpu_quota: cpu.map(|cpu| cpu.processors),
            cpu_throttled: throttled,
            memory_used: memory.map(|memory| memory.used_bytes as f64 / memory.limit_bytes.max(1) as f64),
            memory_refaults: before
                .group
                .memory
                .zip(memory)
                .map(|(before, after)| rate(before.refaults, after.refaults)),
            io_used: io_used(&before.group.io, &after.group.io, length),
        }
    };
    let disks = after.disks.iter().filter_map(|(name, after)| {
        let before = before.disks.get(name)?;
        let busy = after.busy.saturating_sub(before.busy).as_secs_f64() / seconds;
        let requests = after.waited.saturating_sub(before.waited).as_secs_f64() / seconds;
        Some((name.clone(), Disk { busy, requests }))
    });
    let queues = after.queues.iter().filter_map(|(name, after)| {
        let before = before.queues.get(name)?;
        let [drops, overlimits] =
            [rate(before.drops, after.drops), rate(before.overlimits, after.overlimits)];
        Some((name.clone(), Queue { waiting_bytes: after.waiting_bytes, drops, overlimits }))
    });
    Rates {
        programs: programs
            .iter()
            .cloned()
            .zip(before.programs.iter().zip(&after.programs).map(of_program))
            .collect(),
        processors,
        disks: disks.collect(),
        queues: queues.collect(),
        outgoing: after.sockets.outgoing.clone(),
        sockets: sockets(&before.sockets, &after.sockets, rate),
    }
}

/// What went on between two samples of all sockets; `rate` is of two sums, per second.
fn sockets(
    before: &super::sockets::Sockets,
    after: &super::sockets::Sockets,
    rate: impl Fn(u64, u64) -> f64,
) -> Sockets {
    let count = (&before.counters, &after.counters);
    Sockets {
        unaccepted: after.unaccepted,
        room: after.room,
        unread: after.unread,
        unsent_bytes: after.unsent_bytes,
        time_wait: after.time_wait,
        ports_used: after.ports_used as f64 / after.ports.max(1) as f64,
        listen_overflows: rate(count.0.listen_overflows, count.1.listen_overflows),
        listen_drops: rate(count.0.listen_drops, count.1.listen_drops),
        syn_queue_full: rate(count.0.syn_queue_full, count.1.syn_queue_full),
        retransmits: rate(count.0.retransmits, count.1.retransmits),
        syn_retransmits: rate(count.0.syn_retransmits, count.1.syn_retransmits),
    }
}
