//! Rates, means and demands, by the names that they have in the record.

use std::collections::BTreeMap;

use catalogue::Metric;
use catalogue::watch::requests as metrics;
use record::{Clock, PhaseName, Quantiles};
use serde::Serialize;
use stats::MeanEstimate;
use stats::RatioSums;
use units::{Bytes, Span};

use super::distribution::Distribution;
use super::parts::Parts;
use super::tally::{Counts, OfClass, Sums, Tally};
use crate::counts::{Protocols, Statuses};

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
    /// Connections per second whose first request is of this class: as large a part of the rate as of those that were
    /// followed.
    pub connections: f64,
    /// A request's system calls that read.
    pub reads: f64,
    /// That write.
    pub writes: f64,
    /// Blocks of 512 bytes read from disks for it.
    pub blocks: f64,
    /// And of files that were changed, which go to disks later.
    pub blocks_written: f64,
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
    /// Bytes that are of no response that was counted: of another protocol, or of responses that had begun before
    /// counting did; none where requests are not counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other_bytes: Option<u64>,
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
            (metrics::BLOCKS_WRITTEN, self.blocks_written),
            (metrics::BYTES_RATE, self.bytes_rate),
            (metrics::CONNECTIONS, self.connections),
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
        let others = self.other_bytes.filter(|_| !self.is_counted && why.is_empty() && self.uncounted == 0.0);
        if let Some(others) = others.filter(|bytes| *bytes > 0) {
            why.push(format!("{} of responses that had begun before", Bytes(others)));
        }
        // Less is not shown.
        if self.uncounted >= 0.05 {
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
        all.filter(|(_, rates)| rates.count > 0 || rates.rate > 0.0).collect()
    }

    /// None when nothing was watched.
    pub(crate) fn waits(&self) -> Option<Waits> {
        let counted =
            self.counted_in_full().map(|(all, time)| all.protocols.counted() as f64 / time.as_secs_f64());
        let is_known = self.stood_for > Span::ZERO || self.has_no_windows && counted.is_some();
        is_known.then(|| Waits {
            connections: counted.unwrap_or(self.estimated_connections / self.stood_for.as_secs_f64()),
            accept: Quantiles::of(&self.accept_wait),
            read: Quantiles::of(&self.read_wait),
        })
    }

    pub(crate) fn followed(&self) -> Followed {
        Followed {
            watched: self.watched.as_secs_f64(),
            is_counted: self.counted_in_full().is_some_and(|(counted, _)| counted.is_whole())
                && self.not_counted_for() == Span::ZERO,
            uncounted: self.not_counted_for().as_secs_f64(),
            other_bytes: self.counted.as_ref().map(|(counted, _)| counted.others()),
            protocols: self.counted.as_ref().map(|(counted, _)| counted.protocols),
            status: self.counted_in_full().map(|(counted, _)| counted.statuses()),
            counts: self.counts,
        }
    }
}

fn rates(class: &OfClass, parts: &Parts<'_>, is_of_all: bool) -> Rates {
    let Sums { requests, first, used, .. } = class.sums;
    // Of none it is not known, which is not a number.
    let each = |sum: f64| sum / requests as f64;
    let [counted, counted_bytes] = parts.counted();
    let [by_requests, by_bytes] = &parts.sample.by_window;
    let (rate, rate_ci) = parts.rate(counted, parts.sample.requests, by_requests, 1.0);
    // Of none it is not known how large it would be.
    let size = if requests > 0 { class.sums.bytes_sent as f64 / requests as f64 } else { f64::INFINITY };
    let (bytes_rate, bytes_rate_ci) = parts.rate(counted_bytes, parts.sample.bytes, by_bytes, size);
    let clocks = |phase: PhaseName| {
        let quantiles = |clock| Quantiles::of(&class.durations(phase, clock).histogram);
        (phase.name(), Clocks { cpu: quantiles(Clock::Cpu), elapsed: quantiles(Clock::Elapsed) })
    };
    Rates {
        count: if parts.counted.is_some() { counted } else { requests },
        followed: requests,
        rate,
        bytes_rate,
        ci: RateIntervals { rate: rate_ci, bytes_rate: bytes_rate_ci },
        status: parts.counted.unwrap_or_default().statuses,
        connections: rate * each(first as f64),
        reads: each(used.reads as f64),
        writes: each(used.writes as f64),
        blocks: each(used.disk_bytes as f64 / 512.0),
        blocks_written: each(used.disk_written as f64 / 512.0),
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

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::float_cmp, reason = "a panic is how a test fails")]
mod tests {
    use units::Time;

    use super::*;
    use crate::counts::{self, Counted};

    /// A class of which so many were counted in a second.
    fn counted(requests: u64) -> Tally {
        let mut counted = Counted::default();
        counted.classes.push(counts::OfClass { requests, ..counts::OfClass::default() });
        Tally { counted: Some((counted, Span::from_secs(1))), ..Tally::new(1) }
    }

    /// A window of a tenth of a second with ten requests, which stands for two seconds.
    fn window(uncounted: Span) -> Tally {
        let mut window = Tally::new(1);
        window.watched_from = Time::ZERO;
        window.watch_to(Time::ZERO + Span::from_millis(100));
        window.classes[0].sums.requests = 10;
        window.stand_for(Span::from_secs(2), uncounted);
        window
    }

    fn rates(tally: &Tally) -> Rates {
        tally.rates(&["all".to_owned()])["all"].clone()
    }

    #[test]
    fn windows_stand_for_what_was_not_counted() {
        let mut tally = counted(200);
        tally.add(&window(Span::from_secs(1)));
        let rates = rates(&tally);
        assert_eq!((rates.count, rates.rate, rates.ci.rate[1]), (200, 150.0, f64::INFINITY));
        assert!((100.0..=150.0).contains(&rates.ci.rate[0]), "one window has no spread: {:?}", rates.ci);
        assert_eq!((tally.followed().is_counted, tally.followed().uncounted), (false, 1.0));
        assert_eq!(tally.parts().next().unwrap().totals()[0], 300.0);
    }

    /// It ended before a window could say anything of it, or one has only of the time in which all were counted.
    #[test]
    fn of_what_no_window_stands_for_yet_it_is_said_that_it_is_not_known() {
        let mut unseen = counted(200);
        unseen.unseen_for = Span::from_secs(1);
        let alone = rates(&unseen);
        assert_eq!((alone.rate, alone.ci.rate), (200.0, [100.0, f64::INFINITY]));
        assert_eq!((unseen.followed().is_counted, unseen.followed().uncounted), (false, 1.0));
        unseen.add(&window(Span::ZERO));
        assert_eq!(rates(&unseen).rate, 150.0);
        assert_eq!(
            unseen.parts().next().unwrap().totals()[0],
            200.0,
            "it is told when a window stands for it"
        );
        let blind = Tally { is_beyond_windows: true, ..unseen };
        assert_eq!(rates(&blind).ci.rate, [100.0, f64::INFINITY], "streams that share a connection");
    }

    /// Of a class that windows have not seen, or of which they have seen as many by chance.
    #[test]
    fn few_requests_are_not_known_exactly() {
        let windows = |requests: [u64; 3]| {
            let mut tally = counted(200);
            for requests in requests {
                let mut window = window(Span::from_secs(1));
                window.classes[0].sums.requests = requests;
                window.stand_for(Span::from_secs(2), Span::from_secs(1));
                tally.add(&window);
            }
            rates(&tally).ci.rate
        };
        let [low, high] = windows([0; 3]);
        assert!(
            low == 50.0 && (55.0..70.0).contains(&high),
            "0 to 13 per second in 3 of 4 s: {low} to {high}"
        );
        let [low, high] = windows([10; 3]);
        assert!(low < 110.0 && high > 135.0, "30 or so in 0.3 s: {low} to {high}");
    }

    #[test]
    fn a_class_that_was_only_seen_while_nothing_was_counted_is_there() {
        let mut tally = counted(0);
        tally.add(&window(Span::from_secs(1)));
        assert_eq!((rates(&tally).count, rates(&tally).followed, rates(&tally).rate), (0, 10, 50.0));
    }
}
