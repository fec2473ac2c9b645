//! What Prometheus and OpenTelemetry are told of a [`Snapshot`]: every figure that the record has, under the
//! same name, and of requests counters and histograms since the start.

use catalogue::watch::own;
use record::{Clock, PhaseName};
use stats::Histogram;
use telemetry::{Buckets, Metrics};
use units::Span;

use crate::requests::Tally;
use crate::snapshot::{Snapshot, Totals};

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

/// All metrics of a look.
pub(super) fn gather(snapshot: &Snapshot, totals: Option<&Totals>) -> Metrics {
    let mut metrics = Metrics::default();
    figures(&mut metrics, snapshot);
    if let Some(totals) = totals {
        requests(&mut metrics, totals);
    }
    let overhead = &snapshot.overhead;
    metrics.family(own::OVERHEAD_CPU).sample(&[], overhead.cpu);
    metrics.family(own::OVERHEAD_DUTY).sample(&[], overhead.duty);
    metrics.family(own::AGE).sample(&[], snapshot.age.as_secs_f64());
    metrics
}

/// A gauge for each metric of the record; figures of one metric follow each other.
fn figures(metrics: &mut Metrics, snapshot: &Snapshot) {
    let mut figures = snapshot.latest.figures();
    figures.sort_by_key(|figure| figure.metric);
    for figures in figures.chunk_by(|one, other| one.metric == other.metric) {
        let metric = figures[0].metric;
        let gauge = metrics.family(metric).described(format!("{metric} of the record: the last look."));
        for figure in figures {
            match metric.labels() {
                [] => gauge.sample(&[], figure.value),
                _ => gauge.sample(&[&figure.label], figure.value),
            };
        }
    }
}

fn requests(metrics: &mut Metrics, Totals { classes, tally }: &Totals) {
    counted(metrics, classes, tally);
    let classes = || classes.iter().map(String::as_str).zip(&tally.classes);
    let followed = metrics.family(own::FOLLOWED);
    for (name, class) in classes() {
        followed.sample(&[name], class.sums.requests);
    }
    let counts = tally.counts;
    let untold = metrics.family(own::NOT_COUNTED);
    for (reason, count) in [
        ("unfinished", counts.unfinished),
        ("unanswered", counts.unanswered),
        ("unparsed", counts.unparsed),
        ("lost", counts.lost),
        ("crowded", counts.crowded),
    ] {
        untold.sample(&[reason], count);
    }
    let durations = metrics.family(own::DURATION);
    for (name, class) in classes() {
        durations.buckets(&[name], buckets(&class.duration));
    }
    let phases = metrics.family(own::PHASE);
    for (name, class) in classes() {
        for (phase, clock) in PhaseName::ALL.iter().flat_map(|phase| Clock::ALL.map(|clock| (*phase, clock)))
        {
            let labels = [name, phase.name(), clock.name()];
            phases.buckets(&labels, buckets(&class.durations(phase, clock).histogram));
        }
    }
    metrics.family(own::ACCEPT_WAIT).buckets(&[], buckets(&tally.accept_wait));
}

/// How many requests there were: every one, or what windows stand for.
fn counted(metrics: &mut Metrics, names: &[String], tally: &Tally) {
    let all = tally.counted_in_full().map(|(counted, _)| counted);
    let of_class = |at: usize| all.and_then(|all| all.classes.get(at)).copied().unwrap_or_default();
    let classes = || names.iter().map(String::as_str).zip(&tally.classes).enumerate();
    let requests = metrics.family(own::REQUESTS);
    for (at, (name, class)) in classes() {
        let estimated = class.estimated_requests;
        requests.sample(&[name], if all.is_some() { of_class(at).requests as f64 } else { estimated });
    }
    let bytes = metrics.family(own::RESPONSE_BYTES);
    for (at, (name, class)) in classes() {
        let estimated = class.estimated_bytes;
        bytes.sample(&[name], if all.is_some() { of_class(at).bytes as f64 } else { estimated });
    }
    let responses = metrics.family(own::RESPONSES);
    for (at, (name, _)) in classes().filter(|_| all.is_some()) {
        for (status, count) in of_class(at).statuses.all() {
            responses.sample(&[name, status], count);
        }
    }
    let by_protocol = metrics.family(own::BY_PROTOCOL);
    if let Some((counted, _)) = &tally.counted {
        for (protocol, count) in counted.protocols.all() {
            by_protocol.sample(&[protocol], count);
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

    #[test]
    fn every_figure_and_every_request_is_told() {
        let text = gather(&samples::snapshot(2), Some(&samples::totals(2))).text(Format::Prometheus);
        for (sample, expected) in [
            ("headworks_watch_kernel_context_switches", 2000.0),
            ("headworks_watch_processes_cpu{program=\"apache2\"}", 0.9),
            ("headworks_watch_network_received_bytes{interface=\"lo\"}", 1e6),
            ("headworks_watch_connections{state=\"ESTAB\"}", 32.0),
            ("headworks_watch_listen_queue_waiting{port=\"80\"}", 24.0),
            ("headworks_watch_requests_rate{class=\"50k-500k\"}", 10.0),
            ("headworks_watch_requests_total{class=\"0-50k\"}", 190.0),
            ("headworks_watch_followed_total{class=\"500k-\"}", 0.0),
            ("http_server_request_duration_seconds_count{class=\"0-50k\"}", 190.0),
            ("http_server_request_duration_seconds_bucket{class=\"0-50k\",le=\"0.002\"}", 0.0),
            ("http_server_request_duration_seconds_bucket{class=\"0-50k\",le=\"0.005\"}", 190.0),
            ("headworks_watch_phase_seconds_count{class=\"50k-500k\",phase=\"log\",clock=\"cpu\"}", 10.0),
            ("headworks_watch_accept_wait_seconds_bucket{le=\"0.0005\"}", 200.0),
            ("headworks_watch_overhead_cpu", 0.008),
        ] {
            let said = value(&text, sample);
            assert!((said - expected).abs() <= 1e-9 * expected, "{sample}: {said}");
        }
        let seconds = value(&text, "http_server_request_duration_seconds_sum{class=\"0-50k\"}");
        assert!((seconds / (190.0 * 0.0021) - 1.0).abs() < 1e-3, "{seconds}");
        // No metric twice, which Prometheus refuses.
        let mut names: Vec<_> = text.lines().filter(|line| line.starts_with("# TYPE ")).collect();
        names.sort_unstable();
        let all = names.len();
        names.dedup();
        assert_eq!(names.len(), all);
    }

    /// Families besides the gauges that repeat the record.
    #[test]
    fn each_metric_is_documented() {
        let page = include_str!("../../../../docs/watch.md");
        let metrics = gather(&samples::snapshot(1), Some(&samples::totals(1)));
        let own = metrics.families().iter().filter(|family| !family.help.contains(" of the record: "));
        for family in own {
            let row = page.lines().find(|row| row.starts_with(&format!("| `{}` |", family.name)));
            assert!(row.is_some(), "docs/watch.md does not have {}", family.name);
        }
    }
}
