//! [`Level`]: all that was seen at one load, from every viewpoint.

use std::collections::BTreeMap;
use std::path::Path;

use catalogue::Metric;
use catalogue::watch::{limits, processes};
use record::search::{ProbeResult, Used};
use record::{RunDirectory, Samples, Summary};
use units::Time;

use super::log::Refused;
use super::stalled::{Seen, is_of_a_moment, known, looks_key, seen_while, values};
use super::stalls::Stalls;
use crate::error::Error;

/// Connections that were made on the server's machine, by the port that they lead to.
pub(super) const OUTGOING: Metric = limits::OUTGOING;

/// How many per second find a queue full.
pub(super) const LISTEN_QUEUE: Metric = limits::LISTEN_OVERFLOWS;
pub(super) const SYN_QUEUE: Metric = limits::SYN_QUEUE_FULL;

/// A run of the generator, and what samples say of the time of its measuring window.
#[derive(Debug, Clone, Default)]
pub(crate) struct Level {
    /// What arrived per second: what was offered, or what a closed loop achieved.
    pub(crate) rate: f64,
    /// Whether it was offered, whatever became of it, rather than asked for by a closed loop.
    pub(crate) is_open: bool,
    /// Whether it was more than the server keeps up with; a closed loop never is.
    pub(crate) is_behind: bool,
    /// Whether the generator kept up.
    pub(crate) is_valid: bool,
    pub(crate) summary: Summary,
    /// Whether it was asked over TLS.
    pub(super) is_tls: bool,
    /// The most descriptors that a process of the server had open at any level, over those that it may.
    pub(super) descriptors: f64,
    /// Whether it is but a part of the lowest load that was too much.
    pub(super) is_light: bool,
    /// Of what arrived at all such loads, the shares that found each queue full.
    pub(super) overflowing_before: BTreeMap<Metric, f64>,
    /// What the server's log says that it was refused, at whatever level.
    pub(crate) refused: Refused,
    /// By metric and label, in the course of the window.
    pub(super) samples: Seen,
    /// When it stood still, and what was seen in the looks in which it did.
    pub(super) stalled: Option<(Stalls, Seen)>,
    /// Whether these are the samples of such looks alone.
    pub(super) is_stalled: bool,
}

/// Who answers this share of what is offered keeps up with it.
const KEPT_UP: f64 = 0.95;
/// More requests are not read one by one.
const MOST_READ: u64 = 300_000;

impl Level {
    /// Reads the generator's run, and of the samples those of the same time.
    pub(crate) fn read(directory: &Path, probe: &ProbeResult, samples: &Samples) -> Result<Self, Error> {
        let run = RunDirectory::open(directory)?;
        let (info, summary) = (run.info()?, run.summary()?);
        let mut moments = samples.moments_during(&info);
        // The generator's own connections, where something stands in front of the server that is watched.
        let asked = asked_port(&info.command).unwrap_or_default();
        moments.retain(|(metric, label), _| *metric != OUTGOING || *label != asked);
        let mut level = Self {
            rate: probe.offered.unwrap_or(probe.achieved),
            is_open: probe.offered.is_some(),
            is_behind: probe.behind.is_some(),
            is_valid: probe.not_valid.is_none(),
            summary,
            is_tls: info.command.iter().any(|word| word.starts_with("https://")),
            descriptors: 0.0,
            is_light: false,
            overflowing_before: BTreeMap::new(),
            refused: Refused::default(),
            samples: values(&moments, &|_| true),
            stalled: None,
            is_stalled: false,
        };
        if level.is_only_late() && level.summary.requests <= MOST_READ {
            let looks = moments.get(&looks_key());
            let looks: Vec<Time> = looks.into_iter().flatten().map(|(at, _)| *at).collect();
            let found = Stalls::find(&run, &looks)?;
            level.stalled = found.map(|stalls| {
                let seen = seen_while(&stalls, &moments);
                (stalls, seen)
            });
        }
        Ok(level)
    }

    /// Whether it keeps up with all that comes, but not in time.
    pub(super) fn is_only_late(&self) -> bool {
        self.is_behind && self.summary.rate.achieved >= KEPT_UP * self.rate
    }

    /// What was seen while it stood still, at all of these levels together, as one of the lowest rate among them; how often
    /// that was, and how long. Nothing where it did not.
    pub(super) fn while_stalled(levels: &[&Self]) -> Option<(Stalls, Self)> {
        let mut all = levels.iter().filter_map(|level| Some((level, level.stalled.as_ref()?)));
        let (first, (stalls, seen)) = all.next()?;
        let mut pooled = Self { samples: seen.clone(), is_stalled: true, ..(**first).clone() };
        let mut whole = stalls.clone();
        for (level, (stalls, seen)) in all {
            pooled.rate = pooled.rate.min(level.rate);
            whole.add(stalls);
            for (key, values) in seen {
                pooled.samples.entry(key.clone()).or_default().extend(values);
            }
        }
        pooled.samples = known(pooled.samples);
        Some((whole, pooled))
    }

    /// How near what was looked at was to its end, 1 being there.
    pub(crate) fn used(&self) -> BTreeMap<String, f64> {
        let share =
            |of: Used, used: Option<f64>| Some((of.name().to_owned(), used.filter(|used| used.is_finite())?));
        let of_programs = |used: Metric, most: Metric| {
            let shares = self.labels(used).filter_map(|program| {
                let most = self.mean_of(most, program);
                (most > 0.0).then(|| self.mean_of(used, program) / most)
            });
            shares.reduce(f64::max)
        };
        let room = self.most(limits::SOCKETS_ROOM).filter(|room| *room > 0.0);
        let shares = [
            share(Used::Processors, of_programs(processes::CPU, limits::PROGRAM_PROCESSORS)),
            share(Used::Quota, of_programs(processes::CPU, limits::PROGRAM_CPU_QUOTA)),
            share(Used::Memory, self.highest(limits::PROGRAM_MEMORY_USED)),
            share(Used::DiskLimit, self.highest(limits::PROGRAM_IO_USED)),
            share(Used::Disk, self.highest(limits::DISK_BUSY)),
            share(Used::Descriptors, self.highest(limits::PROGRAM_DESCRIPTORS)),
            share(
                Used::ListenQueue,
                self.mean(limits::SOCKETS_UNACCEPTED).zip(room).map(|(used, room)| used / room),
            ),
            share(Used::Generator, Some(self.summary.client.cpu)),
        ];
        shares.into_iter().flatten().collect()
    }

    /// Labels of a metric.
    pub(crate) fn labels(&self, metric: Metric) -> impl Iterator<Item = &str> {
        let of_metric = self.samples.keys().filter(move |(name, _)| *name == metric);
        of_metric.map(|(_, label)| &**label)
    }

    /// In the course of the window.
    pub(super) fn values(&self, metric: Metric, label: &str) -> &[f64] {
        let key = (metric.into(), label.to_owned());
        self.samples.get(&key).map_or(&[], |values| values)
    }

    /// The mean of a metric; of one with labels, the sum of all labels' means.
    pub(crate) fn mean(&self, metric: Metric) -> Option<f64> {
        self.labels(metric).map(|label| self.mean_of(metric, label)).reduce(|sum, mean| sum + mean)
    }

    pub(crate) fn mean_of(&self, metric: Metric, label: &str) -> f64 {
        stats::mean(self.values(metric, label).iter().copied()).unwrap_or(0.0)
    }

    /// The highest mean that any label has.
    pub(crate) fn highest(&self, metric: Metric) -> Option<f64> {
        self.labels(metric).map(|label| self.mean_of(metric, label)).reduce(f64::max)
    }

    /// The mean over all looks of what has no sample where it is absent.
    pub(crate) fn mean_of_looks(&self, metric: Metric, label: &str) -> f64 {
        if self.is_stalled && !is_of_a_moment(&metric.into()) {
            return self.mean_of(metric, label);
        }
        let looks = self.values(limits::SOCKETS_UNREAD, "").len();
        stats::mean_with_absent(self.values(metric, label).iter().copied(), looks)
    }

    /// The highest value that any label had.
    pub(crate) fn most(&self, metric: Metric) -> Option<f64> {
        self.labels(metric).flat_map(|label| self.values(metric, label).iter().copied()).reduce(f64::max)
    }

    /// The share of samples that are above nothing; of the label that has most of them.
    pub(crate) fn standing(&self, metric: Metric) -> f64 {
        self.labels(metric).map(|label| self.standing_of(metric, label)).fold(0.0, f64::max)
    }

    pub(crate) fn standing_of(&self, metric: Metric, label: &str) -> f64 {
        let values = self.values(metric, label);
        values.iter().filter(|value| **value > 0.0).count() as f64 / values.len().max(1) as f64
    }

    /// Of connections to what stands behind the server, those on which an answer is awaited, in the mean; nothing where that
    /// was not known in most looks.
    pub(super) fn known_to_await(&self, to: &str) -> Option<f64> {
        const MOST: f64 = 0.75;
        let [looks, known] =
            [OUTGOING, limits::OUTGOING_AWAITED].map(|metric| self.values(metric, to).len() as f64);
        let of_connections = self.mean_of(limits::OUTGOING_AWAITED, to) / self.mean_of(OUTGOING, to);
        (looks > 0.0 && known >= MOST * looks).then(|| of_connections * self.mean_of_looks(OUTGOING, to))
    }

    /// Those here and at another level, or all connections at both: what is known of one is not compared with what is guessed
    /// of the other.
    pub(super) fn awaited_beside(&self, other: &Self, to: &str) -> [f64; 2] {
        let known = [self, other].map(|level| level.known_to_await(to));
        match known {
            [Some(here), Some(there)] => [here, there],
            _ => [self, other].map(|level| level.mean_of_looks(OUTGOING, to)),
        }
    }

    /// Whether the server has connections to anything, which it may wait for, or it is not known whether it has.
    pub(super) fn may_ask(&self) -> bool {
        let is_known = self.mean(limits::OUTGOING_KNOWN).is_some_and(|known| known >= 0.99);
        !is_known || self.labels(OUTGOING).any(|to| self.mean_of_looks(OUTGOING, to) >= 0.5)
    }

    /// How long a request is in the server, s: what comes after its first byte is the network's as well.
    pub(super) fn in_server(&self) -> f64 {
        self.summary.latency.processing.mean
    }

    /// The share of requests that got no response, or one that says that the server failed.
    pub(super) fn failed(&self) -> f64 {
        (self.summary.errors.total() + self.refusals()) as f64 / self.summary.requests.max(1) as f64
    }

    /// Responses per second without those that say that the server failed.
    pub(super) fn served(&self) -> f64 {
        let Summary { responses, rate, .. } = &self.summary;
        rate.achieved * (1.0 - self.refusals() as f64 / (*responses).max(1) as f64)
    }

    fn refusals(&self) -> u64 {
        self.summary.status.range(500..).map(|(_, count)| count).sum()
    }

    /// The share of what arrives that finds a queue full.
    pub(super) fn overflowing(&self, queue: Metric) -> f64 {
        self.mean(queue).unwrap_or_default() / self.rate.max(f64::MIN_POSITIVE)
    }

    /// Whether the server was looked at.
    pub(crate) fn is_watched(&self) -> bool {
        !self.samples.is_empty()
    }

    #[cfg(test)]
    pub(crate) fn with(mut self, metric: Metric, label: &str, values: &[f64]) -> Self {
        self.samples.insert((metric.into(), label.to_owned()), values.to_vec());
        self
    }
}

/// The port that a generator with this command line asks.
fn asked_port(command: &[String]) -> Option<String> {
    let after_scheme = |word: &'_ String| {
        let schemes = ["http://", "https://"];
        schemes.into_iter().find_map(|scheme| word.strip_prefix(scheme)).map(str::to_owned)
    };
    let url = command.iter().find_map(after_scheme)?;
    let authority = url.split('/').next()?;
    let (_, port) = authority.rsplit_once(':').filter(|(_, port)| !port.ends_with(']'))?;
    Some(port.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_port_that_was_asked_is_known() {
        let port = |url: &str| asked_port(&["headworks".to_owned(), "load".to_owned(), url.to_owned()]);
        assert_eq!(port("http://127.0.0.1:8080/a:b").as_deref(), Some("8080"));
        assert_eq!(port("http://[::1]:81").as_deref(), Some("81"));
        assert_eq!(port("https://127.0.0.1:8443/").as_deref(), Some("8443"));
        assert_eq!([port("http://[::1]/"), port("http://localhost"), port("unix:/x")], [None, None, None]);
    }
}
