//! Rates, means and demands, by the names that they have in the record.

use std::collections::BTreeMap;

use catalogue::Metric;
use catalogue::watch::requests as metrics;
use record::{Clock, PhaseName, Quantiles};
use serde::Serialize;
use stats::MeanEstimate;
use stats::RatioSums;
use units::Span;

use super::distribution::Distribution;
use super::tally::{Counts, Estimated, OfClass, Sums, Tally};
use crate::counts::{self, Counted, Protocols, Statuses};

/// Requests of one class.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Rates {
    /// Requests that were counted: all of them, or, where [not all can be](Followed::is_counted), those that were
    /// followed.
    pub count: u64,
    /// Those of them of which more is known than that they were: what is below `status` is of them.
    pub followed: u64,
    /// Requests per second.
    pub rate: f64,
    /// Bytes per second that were handed to the kernel for them, headers included.
    pub bytes_rate: f64,
    /// Where both are with 95 % confidence; the same twice where every request was counted.
    pub ci: RateIntervals,
    /// By the first digit of the status; nothing where it is not known.
    pub status: Statuses,
    /// A request's system calls that read.
    pub reads: f64,
    /// That write.
    pub writes: f64,
    /// Blocks of 512 bytes read from disks for it.
    pub blocks: f64,
    /// From when it could be read to when the last of its response had been handed to the kernel.
    pub duration: Distribution,
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

/// From where to where rates are.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RateIntervals {
    /// Requests per second; null for what is not bounded.
    pub rate: [f64; 2],
    /// Bytes per second.
    pub bytes_rate: [f64; 2],
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
    /// Connections per second that had a request, or, where every request is counted, a response.
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
    /// Whether rates are of all requests, counted one by one, rather than an estimate.
    #[serde(rename = "counted")]
    pub is_counted: bool,
    /// Seconds in which requests were not counted, since that would have cost more than the budget: of them, rates are
    /// estimates.
    pub uncounted: f64,
    /// Connections that first sent something, by protocol; none where requests are not counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocols: Option<Protocols>,
    /// Responses of all classes by status; none where requests are not counted. In a time in which responses left a
    /// class for another, the sum over the classes that are left can be more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<Statuses>,
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
    /// Why rates are estimates, if they are, in words.
    pub(crate) fn not_counted(&self) -> Vec<String> {
        let others =
            self.protocols.filter(|_| !self.is_counted).map(Protocols::uncounted).unwrap_or_default();
        let mut why = Vec::new();
        if !others.is_empty() {
            why.push(format!("connections {}", others.join(", ")));
        }
        if self.uncounted > 0.0 {
            why.push(format!("{:.1} s, for it would cost more than the budget", self.uncounted));
        }
        why
    }

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
        let is_of_all = self.is_of_all();
        let all = names.iter().zip(&self.classes).zip(self.parts());
        let all = all.map(|((name, class), parts)| (name.clone(), rates(class, &parts, is_of_all)));
        all.filter(|(_, rates)| rates.count > 0).collect()
    }

    /// Of what the figures of each class are made.
    pub(crate) fn parts(&self) -> impl Iterator<Item = Parts<'_>> {
        let counted = self.counted_in_full();
        self.classes.iter().enumerate().map(move |(at, class)| match counted {
            Some((all, time)) => Parts {
                counted: Some(all.classes.get(at).copied().unwrap_or_default()),
                time,
                estimated: &class.uncounted,
                estimated_for: self.uncounted_for,
            },
            None => Parts {
                counted: None,
                time: Span::ZERO,
                estimated: &class.estimated,
                estimated_for: self.stood_for,
            },
        })
    }

    /// All requests of the time in which they were counted, if every one was; not of the time besides, if
    /// [there was some](Self::uncounted_for).
    pub(crate) fn counted_in_full(&self) -> Option<(&Counted, Span)> {
        let (counted, time) = self.counted.as_ref()?;
        (counted.is_whole() && *time > Span::ZERO).then_some((counted, *time))
    }

    /// None when nothing was watched.
    pub(crate) fn waits(&self) -> Option<Waits> {
        let counted =
            self.counted_in_full().map(|(all, time)| all.protocols.counted() as f64 / time.as_secs_f64());
        (self.stood_for > Span::ZERO).then(|| Waits {
            connections: counted.unwrap_or(self.estimated_connections / self.stood_for.as_secs_f64()),
            accept: Quantiles::of(&self.accept_wait),
            read: Quantiles::of(&self.read_wait),
        })
    }

    pub(crate) fn followed(&self) -> Followed {
        Followed {
            watched: self.watched.as_secs_f64(),
            is_counted: self.counted_in_full().is_some() && self.uncounted_for == Span::ZERO,
            uncounted: self.uncounted_for.as_secs_f64(),
            protocols: self.counted.as_ref().map(|(counted, _)| counted.protocols),
            status: self.counted_in_full().map(|(counted, _)| counted.statuses()),
            counts: self.counts,
        }
    }
}

/// Of what the figures of a class are made: requests that were counted, in so long a time, and estimates of as long a time
/// as they stand for.
pub(crate) struct Parts<'tally> {
    counted: Option<counts::OfClass>,
    time: Span,
    estimated: &'tally Estimated,
    estimated_for: Span,
}

impl Parts<'_> {
    /// Requests and bytes that were counted.
    fn counted(&self) -> [u64; 2] {
        self.counted.unwrap_or_default().seen()
    }

    /// Requests and bytes in all.
    pub(crate) fn totals(&self) -> [f64; 2] {
        let [requests, bytes] = self.counted().map(|sum| sum as f64);
        [requests + self.estimated.requests, bytes + self.estimated.bytes]
    }
}

fn rates(class: &OfClass, parts: &Parts<'_>, is_of_all: bool) -> Rates {
    let Sums { requests, used, .. } = class.sums;
    // Of none it is not known, which is not a number.
    let each = |sum: f64| sum / requests as f64;
    let [counted, counted_bytes] = parts.counted();
    let seconds = (parts.time + parts.estimated_for).as_secs_f64();
    let per_second = |sum: f64| if seconds > 0.0 { sum / seconds } else { 0.0 };
    let [rate, bytes_rate] = parts.totals().map(per_second);
    let interval = |counted: u64, sums: &RatioSums| {
        if parts.counted.is_some() && parts.estimated_for == Span::ZERO {
            return [per_second(counted as f64); 2];
        }
        let estimated = |end: f64| end.max(0.0) * parts.estimated_for.as_secs_f64();
        sums.estimate().ci.map(|end| per_second(counted as f64 + estimated(end)))
    };
    let [by_requests, by_bytes] = &parts.estimated.by_window;
    let clocks = |phase: PhaseName| {
        let quantiles = |clock| Quantiles::of(&class.durations(phase, clock).histogram);
        (phase.name(), Clocks { cpu: quantiles(Clock::Cpu), elapsed: quantiles(Clock::Elapsed) })
    };
    Rates {
        count: if parts.counted.is_some() { counted } else { requests },
        followed: requests,
        rate,
        bytes_rate,
        ci: RateIntervals {
            rate: interval(counted, by_requests),
            bytes_rate: interval(counted_bytes, by_bytes),
        },
        status: parts.counted.unwrap_or_default().statuses,
        reads: each(used.reads as f64),
        writes: each(used.writes as f64),
        blocks: each(used.disk_bytes as f64 / 512.0),
        duration: if is_of_all {
            Distribution::of_all(&class.duration)
        } else {
            Distribution::of_windows(&class.duration, &class.duration_by_window)
        },
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
