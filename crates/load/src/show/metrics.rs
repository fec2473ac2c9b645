//! What scrapers and a collector are told of a [`Snapshot`].
//!
//! Counters are of the measuring window, as the summary is: the last scrape is what the summary
//! says, as far as it was seen.

use std::sync::Arc;

use catalogue::load as metric;
use record::RequestError;
use stats::Histogram;
use telemetry::otlp::{Collector, Origin};
use telemetry::{Buckets, Endpoint, Format, Metrics, Publisher, Source};
use tui::give_way;
use units::{Rate, Span, Time};

use super::snapshot::{Latencies, Setting, Snapshot, Stage};

/// What the generator is called at a collector, and how scrapers are answered.
const SOURCE: Source = Source {
    origin: Origin { service: "headworks-load", scope: "headworks.load" },
    format: Format::OpenMetrics,
    prepare: give_way,
};

/// Upper ends of the buckets of latency, us: from what a server on the same machine takes to the
/// longest patience.
const BOUNDS_US: [u64; 21] = [
    10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000,
    1_000_000, 2_000_000, 5_000_000, 10_000_000, 20_000_000, 60_000_000,
];
/// Upper ends of the buckets of latency, s.
const BOUNDS: [f64; BOUNDS_US.len()] = [
    1e-5, 2e-5, 5e-5, 1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0,
    10.0, 20.0, 60.0,
];

/// Tells scrapers and a collector from now on.
pub(super) fn publish(
    setting: Setting,
    endpoint: Option<Endpoint>,
    collector: Option<Collector>,
) -> Publisher<Arc<Snapshot>> {
    Publisher::start(SOURCE, endpoint, collector, move |snapshot: Option<&Arc<Snapshot>>| match snapshot {
        Some(snapshot) => gather(&setting, snapshot),
        None => gather(&setting, &Snapshot::default()),
    })
}

fn gather(setting: &Setting, snapshot: &Snapshot) -> Metrics {
    let mut metrics = Metrics::default();
    let labels = [&*setting.target, &*setting.load, env!("CARGO_PKG_VERSION")];
    metrics.family(metric::INFO).sample(&labels, 1.0);
    work(&mut metrics, snapshot, setting.sessions);
    latency(&mut metrics, &snapshot.whole.latency);
    connections(&mut metrics, snapshot);
    progress(&mut metrics, snapshot, setting);
    generator(&mut metrics, snapshot);
    metrics
}

fn work(metrics: &mut Metrics, snapshot: &Snapshot, sessions: bool) {
    let whole = &snapshot.whole;
    metrics.family(metric::REQUESTS).sample(&[], whole.requests);
    let responses = metrics.family(metric::RESPONSES);
    for (status, count) in &whole.status {
        responses.sample(&[&status.to_string()], *count);
    }
    let errors = metrics.family(metric::ERRORS);
    for kind in RequestError::ALL.into_iter().filter(|kind| *kind != RequestError::Censored) {
        errors.sample(&[kind.name()], whole.errors.get(kind));
    }
    metrics.family(metric::CENSORED).sample(&[], whole.censored);
    metrics.family(metric::DONE).sample(&[], whole.done_inside);
    metrics.family(metric::BYTES).sample(&[], whole.bytes);
    let running = metrics.family(metric::RUNNING);
    if sessions {
        running.described("Sessions under way.");
    }
    running.sample(&[], snapshot.running as f64);
}

fn latency(metrics: &mut Metrics, phases: &Latencies) {
    let family = metrics.family(metric::LATENCY);
    for (name, histogram) in Latencies::NAMES.into_iter().zip(phases.histograms()) {
        family.buckets(&[name], buckets(histogram));
    }
}

fn connections(metrics: &mut Metrics, snapshot: &Snapshot) {
    let whole = &snapshot.whole;
    metrics.family(metric::CONNECTIONS_OPENED).sample(&[], whole.opened);
    metrics.family(metric::CONNECTIONS_REUSED).sample(&[], whole.reused);
    metrics.family(metric::CONNECT_TIMEOUTS).sample(&[], whole.connect_timeouts);
    metrics.family(metric::SYN_RETRANSMITS).sample(&[], whole.syn_retransmits);
    metrics.family(metric::CONNECTIONS_OPEN).sample(&[], snapshot.connections as f64);
}

fn progress(metrics: &mut Metrics, snapshot: &Snapshot, setting: &Setting) {
    let now = snapshot.stage(setting.window);
    let stages = metrics.family(metric::STAGE);
    for stage in Stage::ALL {
        stages.sample(&[stage.name()], flag(stage == now));
    }
    let elapsed = snapshot.now.since(Time::ZERO);
    metrics.family(metric::ELAPSED).sample(&[], elapsed.as_secs_f64());
    metrics.family(metric::WINDOW).sample(&[], setting.window.length().as_secs_f64());
    if let Some(offered) = snapshot.offered.map(Rate::as_f64) {
        metrics.family(metric::OFFERED).sample(&[], offered);
    }
    if let Some(level) = snapshot.level {
        metrics.family(metric::LEVEL).sample(&[level.unit], level.value);
    }
}

fn generator(metrics: &mut Metrics, snapshot: &Snapshot) {
    let generator = &snapshot.generator;
    metrics.family(metric::CPU).sample(&[], generator.cpu);
    metrics.family(metric::LAG_P99).sample(&[], generator.lag_p99.as_secs_f64());
    metrics.family(metric::LAG_MAX).sample(&[], generator.lag_max.as_secs_f64());
    metrics.family(metric::VALID).sample(&[], flag(generator.why_invalid.is_empty()));
}

fn flag(is_set: bool) -> f64 {
    f64::from(u8::from(is_set))
}

fn buckets(histogram: &Histogram) -> Buckets {
    let mut before = 0;
    let ends = BOUNDS_US.map(|bound| histogram.count() - histogram.count_above(Span::from_micros(bound)));
    let counts = ends.into_iter().chain([histogram.count()]);
    let counts = counts.map(|up_to| up_to - std::mem::replace(&mut before, up_to)).collect();
    Buckets { bounds: &BOUNDS, counts, sum: histogram.sum().as_secs_f64() }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::time::Duration;

    use testkit::Raw;

    use super::super::samples;
    use super::*;

    type Served = Publisher<Arc<Snapshot>>;

    fn serve() -> Served {
        let endpoint = Endpoint::bind("127.0.0.1:0".parse().unwrap()).unwrap();
        publish(samples::setting(), Some(endpoint), None)
    }

    fn scrape(metrics: &Served) -> String {
        let response = Raw::connect(metrics.address().unwrap()).get("/metrics").response();
        assert_eq!(response.status, 200, "{}", response.head);
        assert!(response.header("content-type").unwrap().starts_with("application/openmetrics-text"));
        response.text().to_owned()
    }

    /// Reads OpenMetrics' text strictly: samples only after TYPE of their family, no sample twice,
    /// the end marked.
    fn parse(text: &str) -> BTreeMap<String, f64> {
        let (mut family, mut kind) = ("", "");
        let mut samples = BTreeMap::new();
        let text = text.strip_suffix("# EOF\n").expect("the end is marked");
        for line in text.lines() {
            if let Some(described) = line.strip_prefix("# TYPE ") {
                (family, kind) = described.split_once(' ').unwrap();
                continue;
            }
            if line.starts_with("# HELP ") || line.starts_with("# UNIT ") {
                continue;
            }
            let (name, value) = line.rsplit_once(' ').unwrap();
            let suffix = name.split('{').next().unwrap().strip_prefix(family);
            let allowed: &[&str] = match kind {
                "counter" => &["_total"],
                "gauge" => &[""],
                "histogram" => &["_bucket", "_sum", "_count"],
                other => panic!("{other} in {line}"),
            };
            assert!(
                suffix.is_some_and(|suffix| allowed.contains(&suffix)),
                "{line} is no {kind} of {family}"
            );
            assert_eq!(samples.insert(name.to_owned(), value.parse().unwrap()), None, "{line} twice");
        }
        samples
    }

    #[test]
    fn a_scrape_says_what_the_last_look_saw() {
        let mut metrics = serve();
        assert_eq!(parse(&scrape(&metrics))["headworks_load_requests_total"], 0.0);
        metrics.see(Duration::from_secs(12), Arc::new(samples::trouble(12)));
        let samples = parse(&scrape(&metrics));
        for (name, value) in [
            ("headworks_load_requests_total", 20_000.0),
            ("headworks_load_responses_total{status=\"200\"}", 19_500.0),
            ("headworks_load_responses_total{status=\"503\"}", 60.0),
            ("headworks_load_errors_total{kind=\"timeout\"}", 40.0),
            ("headworks_load_errors_total{kind=\"body\"}", 0.0),
            ("headworks_load_bytes_total", 20_275_200.0),
            ("headworks_load_connections_opened_total", 64.0),
            ("headworks_load_syn_retransmits_total", 2.0),
            ("headworks_load_latency_seconds_count{phase=\"total\"}", 19_800.0),
            ("headworks_load_latency_seconds_bucket{le=\"+Inf\",phase=\"total\"}", 19_800.0),
            ("headworks_load_latency_seconds_bucket{le=\"0.0001\",phase=\"connect\"}", 61.0),
            ("headworks_load_latency_seconds_bucket{le=\"0.0002\",phase=\"connect\"}", 64.0),
            ("headworks_load_stage{stage=\"measuring\"}", 1.0),
            ("headworks_load_stage{stage=\"warm-up\"}", 0.0),
            ("headworks_load_offered_per_second", 2000.0),
            ("headworks_load_level{unit=\"requests/s\"}", 3000.0),
            ("headworks_load_client_cpu_ratio", 0.97),
            ("headworks_load_lag_p99_seconds", 21e-6),
            ("headworks_load_valid", 0.0),
        ] {
            assert_eq!(samples.get(name), Some(&value), "{name}");
        }
        let sum = samples["headworks_load_latency_seconds_sum{phase=\"connect\"}"];
        assert!((sum - 64.0 * 71.5e-6).abs() < 1e-12, "{sum}");
    }

    /// The whole page, so that what scrapers see does not change unnoticed.
    #[test]
    fn the_page_is_as_it_was() {
        let setting = samples::setting();
        let page = gather(&setting, &samples::trouble(12)).text(Format::OpenMetrics);
        insta::assert_snapshot!(page.replace(env!("CARGO_PKG_VERSION"), "VERSION"));
    }

    #[test]
    fn each_metric_is_documented() {
        let page = include_str!("../../../../docs/live.md");
        let mut metrics = serve();
        metrics.see(Duration::from_secs(12), Arc::new(samples::trouble(12)));
        for line in scrape(&metrics).lines() {
            let Some((family, kind)) = line.strip_prefix("# TYPE ").and_then(|line| line.split_once(' '))
            else {
                continue;
            };
            let name = if kind == "counter" { format!("{family}_total") } else { family.to_owned() };
            let row = page.lines().find(|row| row.starts_with('|') && row.contains(&format!("`{name}`")));
            let row = row.unwrap_or_else(|| panic!("docs/live.md does not have {name}"));
            assert!(row.contains(&format!("| {kind} |")), "{row}");
        }
    }
}
