//! What Prometheus and OpenTelemetry are told of a [`Snapshot`]: the figures that the record has, those per second
//! as totals, and of requests counters and histograms since the start.

use std::collections::BTreeMap;
use std::sync::Arc;

use catalogue::Metric;
use catalogue::watch::own;
use record::{Clock, PhaseName};
use stats::Histogram;
use telemetry::{Buckets, Metrics, Number};
use units::Span;

use crate::figures::Figure;
use crate::requests::OfClass;
use crate::snapshot::{Setting, Snapshot, Totals};

/// Upper ends of the buckets of durations, us: from what a small file takes to what users do not wait for.
const BOUNDS_US: [u64; 19] = [
    10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000,
    1_000_000, 2_000_000, 5_000_000, 10_000_000,
];
/// Upper ends of the buckets of durations, s.
const BOUNDS: [f64; BOUNDS_US.len()] = [
    1e-5, 2e-5, 5e-5, 1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0,
    10.0,
];

/// What is told of one look after the other.
#[derive(Debug, Default)]
pub(super) struct Told {
    server: String,
    port: String,
    sums: Sums,
    last: Arc<Metrics>,
}

impl Told {
    pub(super) fn of(setting: &Setting) -> Self {
        Self { server: setting.server.clone(), port: setting.port.clone(), ..Self::default() }
    }

    /// All metrics with a look more.
    pub(super) fn take(&mut self, snapshot: &Snapshot, totals: Option<&Totals>) -> Arc<Metrics> {
        let mut figures = snapshot.latest.figures();
        figures.sort_by_key(|figure| figure.metric);
        self.sums.add(snapshot.age, &figures);
        let mut metrics = Metrics::default();
        gauges(&mut metrics, &figures);
        self.sums.tell(&mut metrics);
        if let Some(totals) = totals {
            Requests { metrics: &mut metrics, told: self, totals }.gather();
        }
        own_costs(&mut metrics, snapshot);
        // A response that goes on becomes one of another class, and what was an estimate is counted later.
        metrics.rise_from(&self.last);
        self.last = Arc::new(metrics);
        Arc::clone(&self.last)
    }
}

/// Totals since the watch began of what is recorded per second, by metric and label.
#[derive(Debug, Default)]
struct Sums {
    totals: BTreeMap<(Metric, String), f64>,
    until: Span,
}

impl Sums {
    /// Takes in a look: its rates are those of the time since the look before.
    fn add(&mut self, age: Span, figures: &[Figure]) {
        let seconds = age.saturating_sub(self.until).as_secs_f64();
        self.until = age;
        for Figure { metric, label, value } in figures {
            if let Some(factor) = metric.per_second() {
                let total = self.totals.entry((*metric, label.clone())).or_default();
                *total += value.max(0.0) * factor * seconds;
            }
        }
    }

    fn tell(&self, metrics: &mut Metrics) {
        for ((metric, label), total) in &self.totals {
            sample(metrics, *metric, label, *total);
        }
    }
}

/// A gauge for each metric of the record that is not per second.
fn gauges(metrics: &mut Metrics, figures: &[Figure]) {
    for Figure { metric, label, value } in figures {
        if metric.exposed().is_some() && metric.per_second().is_none() {
            sample(metrics, *metric, label, *value);
        }
    }
}

fn sample(metrics: &mut Metrics, metric: Metric, label: &str, value: f64) {
    let labels: &[&str] = if metric.labels().is_empty() { &[] } else { &[label] };
    metrics.family(metric).sample(labels, value);
}

fn own_costs(metrics: &mut Metrics, snapshot: &Snapshot) {
    let (overhead, age) = (&snapshot.overhead, snapshot.age.as_secs_f64());
    metrics.family(own::OVERHEAD_CPU).sample(&[], overhead.cpu * age);
    metrics.family(own::OVERHEAD_DUTY).sample(&[], overhead.duty);
    metrics.family(own::AGE).sample(&[], age);
}

/// What is told of requests, all of it with the server's name and port.
struct Requests<'a> {
    metrics: &'a mut Metrics,
    told: &'a Told,
    totals: &'a Totals,
}

impl<'a> Requests<'a> {
    /// Names of classes with what is known of them.
    fn classes(&self) -> impl Iterator<Item = (&'a str, &'a OfClass)> + use<'a> {
        self.totals.classes.iter().map(String::as_str).zip(&self.totals.tally.classes)
    }

    /// With the labels that all that is told of requests begins with.
    fn labels<'l>(told: &'l Told, own: &[&'l str]) -> Vec<&'l str> {
        [&[&*told.server, &*told.port], own].concat()
    }

    fn sample(&mut self, metric: Metric, labels: &[&str], value: impl Into<Number>) {
        self.metrics.family(metric).sample(&Self::labels(self.told, labels), value);
    }

    fn buckets(&mut self, metric: Metric, labels: &[&str], histogram: &Histogram) {
        self.metrics.family(metric).buckets(&Self::labels(self.told, labels), buckets(histogram));
    }

    fn gather(mut self) {
        self.counted();
        self.used();
        let tally = &self.totals.tally;
        let counts = tally.counts;
        for (reason, count) in [
            ("unfinished", counts.unfinished),
            ("unanswered", counts.unanswered),
            ("unparsed", counts.unparsed),
            ("lost", counts.lost),
            ("crowded", counts.crowded),
        ] {
            self.sample(own::NOT_COUNTED, &[reason], count);
        }
        for (name, class) in self.classes() {
            self.buckets(own::DURATION, &[name], &class.duration);
        }
        for (name, class) in self.classes() {
            for (phase, clock) in
                PhaseName::ALL.iter().flat_map(|phase| Clock::ALL.map(|clock| (*phase, clock)))
            {
                let labels = [name, phase.name(), clock.name()];
                self.buckets(own::PHASE, &labels, &class.durations(phase, clock).histogram);
            }
        }
        self.buckets(own::ACCEPT_WAIT, &[], &tally.accept_wait);
        self.buckets(own::READ_WAIT, &[], &tally.read_wait);
        self.sample(own::FOLLOWED_TIME, &[], tally.watched.as_secs_f64());
    }

    /// How many requests there were: every one, or what windows stand for.
    fn counted(&mut self) {
        let tally = &self.totals.tally;
        let all = tally.counted_in_full().map(|(counted, _)| counted);
        let of_class = |at: usize| all.and_then(|all| all.classes.get(at)).copied().unwrap_or_default();
        for ((name, _), parts) in self.classes().zip(tally.parts()) {
            let [requests, bytes] = parts.totals();
            self.sample(own::REQUESTS, &[name], requests);
            self.sample(own::RESPONSE_BYTES, &[name], bytes);
        }
        for (at, (name, _)) in self.classes().enumerate().filter(|_| all.is_some()) {
            for (status, count) in of_class(at).statuses.all() {
                self.sample(own::RESPONSES, &[name, status], count);
            }
        }
        if let Some((counted, _)) = &tally.counted {
            for (protocol, count) in counted.protocols.all() {
                self.sample(own::BY_PROTOCOL, &[protocol], count);
            }
        }
    }

    /// What requests that were followed have used.
    fn used(&mut self) {
        for (name, class) in self.classes() {
            let used = class.sums.used;
            self.sample(own::FOLLOWED, &[name], class.sums.requests);
            self.sample(own::READS, &[name], used.reads);
            self.sample(own::WRITES, &[name], used.writes);
            self.sample(own::DISK_READ, &[name], used.disk_bytes);
            self.sample(own::DISK_WRITTEN, &[name], used.disk_written);
            self.sample(own::DISK_WAIT, &[name], used.disk_wait.as_secs_f64());
            for (mode, time) in
                [("user", used.user), ("kernel", used.kernel), ("soft_interrupt", used.soft_interrupt)]
            {
                self.sample(own::CPU, &[name, mode], time.as_secs_f64());
            }
        }
    }
}

fn buckets(histogram: &Histogram) -> Buckets {
    let mut before = 0;
    let bounds = BOUNDS_US.into_iter().map(Span::from_micros);
    let ends = bounds.map(|bound| histogram.count() - histogram.count_above(bound));
    let counts = ends.chain([histogram.count()]);
    let counts = counts.map(|up_to| up_to - std::mem::replace(&mut before, up_to)).collect();
    Buckets { bounds: &BOUNDS, counts, sum: histogram.sum().as_secs_f64() }
}

#[cfg(test)]
mod tests {
    use telemetry::Format;

    use super::super::samples;
    use super::*;

    fn value(text: &str, sample: &str) -> f64 {
        let line = text.lines().find_map(|line| line.strip_prefix(sample)?.strip_prefix(' '));
        line.unwrap_or_else(|| panic!("no {sample} in {text}")).parse().unwrap()
    }

    /// Two looks, as they are told.
    fn told() -> Arc<Metrics> {
        let setting = Setting { server: "apache2".to_owned(), port: "80".to_owned(), ..Setting::default() };
        let mut told = Told::of(&setting);
        told.take(&samples::snapshot(1), Some(&samples::totals(1)));
        told.take(&samples::snapshot(2), Some(&samples::totals(2)))
    }

    #[test]
    fn every_figure_and_every_request_is_told() {
        let text = told().text(Format::Prometheus);
        const OF: &str = "server=\"apache2\",port=\"80\"";
        for (sample, expected) in [
            // 1000 in the first second, and 2000 in the other.
            ("headworks_watch_kernel_context_switches_total", 3000.0),
            ("headworks_watch_kernel_cpu_user_ratio", 0.2),
            ("headworks_watch_processes_cpu_seconds_total{program=\"apache2\"}", 1.8),
            ("headworks_watch_processes_memory_bytes{program=\"apache2\"}", f64::from(50 << 20)),
            ("headworks_watch_network_received_bytes_total{interface=\"lo\"}", 2e6),
            ("headworks_watch_connections{state=\"ESTAB\"}", 32.0),
            ("headworks_watch_listen_queue_waiting{port=\"80\"}", 24.0),
            ("headworks_watch_listen_queue_drops_total{port=\"80\"}", 8.0),
            ("headworks_watch_requests_total{@,class=\"0-50k\"}", 190.0),
            ("headworks_watch_followed_total{@,class=\"500k-\"}", 0.0),
            ("headworks_watch_followed_writes_total{@,class=\"0-50k\"}", 3.0 * 190.0),
            ("headworks_watch_followed_cpu_seconds_total{@,class=\"50k-500k\",mode=\"user\"}", 10.0 * 130e-6),
            ("http_server_request_duration_seconds_count{@,class=\"0-50k\"}", 190.0),
            ("http_server_request_duration_seconds_bucket{@,class=\"0-50k\",le=\"0.002\"}", 0.0),
            ("http_server_request_duration_seconds_bucket{@,class=\"0-50k\",le=\"0.005\"}", 190.0),
            ("headworks_watch_phase_seconds_count{@,class=\"50k-500k\",phase=\"log\",clock=\"cpu\"}", 10.0),
            ("headworks_watch_accept_wait_seconds_bucket{@,le=\"0.0005\"}", 200.0),
            ("headworks_watch_read_wait_seconds_count{@}", 200.0),
            ("headworks_watch_overhead_cpu_seconds_total", 0.016),
        ] {
            let said = value(&text, &sample.replace('@', OF));
            assert!((said - expected).abs() <= 1e-9 * expected, "{sample}: {said}");
        }
        let seconds =
            value(&text, &format!("http_server_request_duration_seconds_sum{{{OF},class=\"0-50k\"}}"));
        assert!((seconds / (190.0 * 0.0021) - 1.0).abs() < 1e-3, "{seconds}");
        // No metric twice, which Prometheus refuses.
        let mut names: Vec<_> = text.lines().filter(|line| line.starts_with("# TYPE ")).collect();
        names.sort_unstable();
        let all = names.len();
        names.dedup();
        assert_eq!(names.len(), all);
    }

    /// Families besides those that say what the record says.
    #[test]
    fn each_metric_is_documented() {
        let page = include_str!("../../../../docs/watch.md");
        let metrics = told();
        for family in metrics.families().iter().filter(|family| family.metric.sampled().is_none()) {
            let row = page.lines().find(|row| row.starts_with(&format!("| `{}` |", family.name)));
            assert!(row.is_some(), "docs/watch.md does not have {}", family.name);
        }
    }
}
