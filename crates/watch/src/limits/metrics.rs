//! What went on between two samples, by the names that it has in the record.

use std::collections::{BTreeMap, BTreeSet};

use catalogue::Metric;
use catalogue::watch::limits as metrics;
use serde::Serialize;

use units::Span;

use super::control_groups::io_used;
use super::others;
use super::sample::{self, Sample};
use super::threads::{ThreadTimes, Threads};
use super::turns::Sending;
use crate::profile::{FREQUENCY, Spent};

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
    /// Connections from here by the port or path that they go to, at the second sample.
    pub outgoing: BTreeMap<String, u64>,
    /// Of these, the ones on which something is awaited.
    pub outgoing_awaited: BTreeMap<String, u64>,
    /// Of these ports and paths, connections that wait to be accepted there.
    pub outgoing_unaccepted: BTreeMap<String, u64>,
    /// The same where parts of the server are asked.
    pub parts_unaccepted: BTreeMap<String, u64>,
    /// Processors that other programs used, of those that the watched ones may run on; of the few that used most.
    pub others: BTreeMap<String, f64>,
    /// The same of programs that the watched ones connect to.
    pub behind: BTreeMap<String, f64>,
    /// Of all that these used, the share that went to libraries of cryptography, for handshakes and what has no name there.
    pub behind_cryptography: BTreeMap<String, f64>,
}

/// All processes of one program.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Program {
    /// Whether it is watched because it is a part of the server.
    #[serde(skip)]
    pub is_part: bool,
    /// Processors that their threads used; of those alone that are there all the time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub used: Option<f64>,
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
    /// Threads that were ready to run and waited for a processor, in the mean.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept_waiting: Option<f64>,
    /// Processors that the busiest of their threads used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub busiest: Option<f64>,
    /// Processors that were used to collect garbage, by the names of threads or of functions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub collector: Option<f64>,
    /// Processors that were used for handshakes of TLS, by the names of functions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handshakes: Option<f64>,
    /// Processors that were used in libraries of cryptography for something else, or for what has no name there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cryptography: Option<f64>,
    /// The share of the time in which the hypervisor had their processors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stolen: Option<f64>,
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
    pub idle: u64,
    pub owed: u64,
    pub unattended: u64,
    /// Whether all is known that the programs connect to.
    pub knows_outgoing: bool,
    /// The share of the time with something to send in which the receiver's window was full; of no such time nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window_limited: Option<f64>,
    /// Bytes per second that were sent on connections that are there, and of these what was sent again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sent_bytes: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sent_again_bytes: Option<f64>,
    pub time_wait: u64,
    /// Local ports in use at most, over those that there are.
    pub ports_used: f64,
    pub listen_overflows: f64,
    pub listen_drops: f64,
    pub syn_queue_full: f64,
    pub segments: f64,
    pub retransmits: f64,
    pub syn_retransmits: f64,
}

impl Program {
    /// Its figures, as far as they are known.
    pub(crate) fn figures(&self) -> impl Iterator<Item = (Metric, f64)> {
        let figures = [
            (metrics::PROGRAM_PART, self.used.filter(|_| self.is_part)),
            (metrics::PROGRAM_BUSIEST, self.busiest),
            (metrics::PROGRAM_COLLECTOR, self.collector),
            (metrics::PROGRAM_CRYPTOGRAPHY, self.cryptography),
            (metrics::PROGRAM_HANDSHAKES, self.handshakes),
            (metrics::PROGRAM_KEPT_WAITING, self.kept_waiting),
            (metrics::PROGRAM_STOLEN, self.stolen),
            (metrics::PROGRAM_CPU_QUOTA, self.cpu_quota),
            (metrics::PROGRAM_CPU_THROTTLED, self.cpu_throttled),
            (metrics::PROGRAM_DESCRIPTORS, Some(self.descriptors)),
            (metrics::PROGRAM_DISK, Some(f64::from(self.threads.disk))),
            (metrics::PROGRAM_EVENT, Some(f64::from(self.threads.event))),
            (metrics::PROGRAM_FUTEX, Some(f64::from(self.threads.futex))),
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
            (metrics::OUTGOING_KNOWN, f64::from(u8::from(self.knows_outgoing))),
            (metrics::SOCKETS_IDLE, self.idle as f64),
            (metrics::SOCKETS_OWED, self.owed as f64),
            (metrics::SOCKETS_UNATTENDED, self.unattended as f64),
            (metrics::SOCKETS_ROOM, self.room as f64),
            (metrics::SOCKETS_SEGMENTS, self.segments),
            (metrics::SYN_QUEUE_FULL, self.syn_queue_full),
            (metrics::SYN_RETRANSMITS, self.syn_retransmits),
            (metrics::SOCKETS_TIME_WAIT, self.time_wait as f64),
            (metrics::SOCKETS_UNACCEPTED, self.unaccepted as f64),
            (metrics::SOCKETS_UNREAD, self.unread as f64),
            (metrics::SOCKETS_UNSENT, self.unsent_bytes as f64),
        ];
        let known = [
            (metrics::SOCKETS_WINDOW_LIMITED, self.window_limited),
            (metrics::SOCKETS_SENT, self.sent_bytes),
            (metrics::SOCKETS_SENT_AGAIN, self.sent_again_bytes),
        ];
        figures.into_iter().chain(known.into_iter().filter_map(|(metric, value)| Some((metric, value?))))
    }
}

/// What went on between two samples. Disks, interfaces and processors that are not in both are left out.
pub fn rates(programs: &[String], before: &Sample, after: &Sample) -> Rates {
    let length = after.uptime.saturating_sub(before.uptime);
    let seconds = length.as_secs_f64();
    let rate = |before: u64, after: u64| after.saturating_sub(before) as f64 / seconds;
    let shares = after.processors.iter().filter_map(|(number, after)| {
        let before = before.processors.get(number)?;
        let share = |before: Span, after: Span, all: f64| after.saturating_sub(before).as_secs_f64() / all;
        let all = after.all.saturating_sub(before.all).as_secs_f64();
        (all > 0.0).then(|| {
            (*number, (share(before.busy, after.busy, all), share(before.stolen, after.stolen, all)))
        })
    });
    let processors: BTreeMap<usize, (f64, f64)> = shares.collect();
    let of_program = |(before, after)| program(before, after, seconds, &processors);
    let parts = after.parts.iter().filter_map(|(name, after)| {
        let before = before.parts.get(name)?;
        Some((name.clone(), Program { is_part: true, ..of_program((before, after)) }))
    });
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
    let theirs: BTreeSet<usize> =
        after.programs.iter().flat_map(|program| &program.processors).copied().collect();
    let [behind, others] = others::used((before.uptime, &before.others), &after.others, &theirs, length);
    let cryptography = after.behind.iter().filter_map(|(name, after)| {
        let before = before.behind.get(name).copied().unwrap_or_default();
        let of = |spent: &Spent| spent.handshaking + spent.encrypting;
        let all = after.all.saturating_sub(before.all);
        let share = of(after).saturating_sub(of(&before)) as f64 / all as f64;
        (all >= FEWEST_SAMPLES).then(|| (name.clone(), share))
    });
    Rates {
        behind_cryptography: cryptography.collect(),
        behind,
        others: most(others),
        programs: programs
            .iter()
            .cloned()
            .zip(before.programs.iter().zip(&after.programs).map(of_program))
            .chain(parts)
            .collect(),
        processors: processors.into_iter().map(|(number, (busy, _))| (number, busy)).collect(),
        disks: disks.collect(),
        queues: queues.collect(),
        outgoing: after.sockets.outgoing.clone(),
        outgoing_awaited: after.sockets.outgoing_awaited.clone(),
        outgoing_unaccepted: after.sockets.outgoing_unaccepted.clone(),
        parts_unaccepted: after.sockets.parts_unaccepted.clone(),
        sockets: sockets(&before.sockets, &after.sockets, rate),
    }
}

/// What went on in a program; of each processor how busy it was, and how much of its time the hypervisor had.
fn program(
    before: &sample::Program,
    after: &sample::Program,
    seconds: f64,
    processors: &BTreeMap<usize, (f64, f64)>,
) -> Program {
    let rate = |before: u64, after: u64| after.saturating_sub(before) as f64 / seconds;
    let busy = |number: &usize| processors.get(number).map(|(busy, _)| *busy);
    let stolen = |number: &usize| processors.get(number).map(|(_, stolen)| *stolen);
    let (cpu, memory) = (after.group.cpu, after.group.memory);
    let throttled = before.group.cpu.zip(cpu).map(|(before, after)| {
        let periods = after.periods.saturating_sub(before.periods).max(1);
        after.throttled.saturating_sub(before.throttled) as f64 / periods as f64
    });
    let [used, kept_waiting, busiest, threads] = times(&before.times, &after.times, seconds);
    let spent = before.spent.zip(after.spent);
    let sampled = |of: fn(&Spent) -> u64| {
        let (before, after) = spent.as_ref()?;
        Some(of(after).saturating_sub(of(before)) as f64 / (FREQUENCY as f64 * seconds))
    };
    let functions = sampled(|spent| spent.collecting);
    let collector = [threads, functions].into_iter().flatten().reduce(f64::max);
    Program {
        is_part: false,
        used,
        processors: after.processors.len(),
        kept_waiting,
        busiest,
        collector,
        handshakes: sampled(|spent| spent.handshaking),
        cryptography: sampled(|spent| spent.encrypting),
        stolen: stats::mean(after.processors.iter().filter_map(&stolen)),
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
        io_used: io_used(&before.group.io, &after.group.io, Span::from_secs_f64(seconds)),
    }
}

/// Of threads that are in both: all, those kept waiting, the busiest, and those that collect garbage, in threads and
/// processors; nothing where the kernel does not tell.
fn times(before: &ThreadTimes, after: &ThreadTimes, seconds: f64) -> [Option<f64>; 4] {
    let passed = after.iter().filter_map(|(number, after)| {
        let before = before.get(number)?;
        let passed = |before: Span, after: Span| after.saturating_sub(before).as_secs_f64() / seconds;
        let (ran, waited) = (passed(before.ran, after.ran), passed(before.kept_waiting, after.kept_waiting));
        Some((ran, waited, after.is_collector))
    });
    let passed: Vec<(f64, f64, bool)> = passed.collect();
    let collectors = passed.iter().filter(|(.., is_collector)| *is_collector).map(|(ran, ..)| *ran);
    [
        passed.iter().map(|(ran, ..)| *ran).reduce(|sum, ran| sum + ran),
        passed.iter().map(|(_, waited, _)| *waited).reduce(|sum, waited| sum + waited),
        passed.iter().map(|(ran, ..)| *ran).reduce(f64::max),
        collectors.reduce(|sum, ran| sum + ran),
    ]
}

/// Of fewer samples chance decides what they are of.
const FEWEST_SAMPLES: u64 = 5;

/// So many programs at most are told of, of those that are not watched.
const MAX_OTHERS: usize = 5;

/// Those that used most.
fn most(programs: BTreeMap<String, f64>) -> BTreeMap<String, f64> {
    let mut programs: Vec<(String, f64)> = programs.into_iter().collect();
    programs.sort_by(|one, other| other.1.total_cmp(&one.1));
    programs.into_iter().take(MAX_OTHERS).collect()
}

/// What was sent between two looks on the connections that are there at the second.
fn sent(before: &super::sockets::Sockets, after: &super::sockets::Sockets) -> Sending {
    let mut sent = Sending::default();
    for (cookie, now) in &after.sending {
        // One that was not there before has begun since; unless it is not known what was.
        let Some(then) =
            before.sending.get(cookie).copied().or_else(|| before.is_listed.then(Sending::default))
        else {
            continue;
        };
        sent.busy += now.busy.saturating_sub(then.busy);
        sent.limited += now.limited.saturating_sub(then.limited);
        sent.bytes += now.bytes.saturating_sub(then.bytes);
        sent.bytes_again += now.bytes_again.saturating_sub(then.bytes_again);
    }
    sent
}

/// What went on between two samples of all sockets; `rate` is of two sums, per second.
fn sockets(
    before: &super::sockets::Sockets,
    after: &super::sockets::Sockets,
    rate: impl Fn(u64, u64) -> f64,
) -> Sockets {
    let count = (&before.counters, &after.counters);
    let sent = sent(before, after);
    let per_second = |bytes: u64| (after.has_bytes && before.is_listed).then(|| rate(0, bytes));
    Sockets {
        unaccepted: after.unaccepted,
        room: after.room,
        unread: after.unread,
        unsent_bytes: after.unsent_bytes,
        idle: after.idle,
        owed: after.owed,
        unattended: after.unattended,
        knows_outgoing: after.knows_outgoing,
        window_limited: (sent.busy > 0).then(|| sent.limited as f64 / sent.busy as f64),
        sent_bytes: per_second(sent.bytes),
        sent_again_bytes: per_second(sent.bytes_again),
        time_wait: after.time_wait,
        ports_used: after.ports_used as f64 / after.ports.max(1) as f64,
        listen_overflows: rate(count.0.listen_overflows, count.1.listen_overflows),
        listen_drops: rate(count.0.listen_drops, count.1.listen_drops),
        syn_queue_full: rate(count.0.syn_queue_full, count.1.syn_queue_full),
        segments: rate(count.0.segments, count.1.segments),
        retransmits: rate(count.0.retransmits, count.1.retransmits),
        syn_retransmits: rate(count.0.syn_retransmits, count.1.syn_retransmits),
    }
}
