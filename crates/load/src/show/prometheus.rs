//! What Prometheus is told of a [`Snapshot`].
//!
//! Counters are of the measuring window, as the summary is: the last scrape is what the summary
//! says, as far as it was seen.

use std::fmt;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric, NoLabelSet, text};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::{Registry, Unit};
use record::RequestError;
use units::{Rate, Span, Time};

use stats::Histogram;
use telemetry::{Endpoint, Page};
use tui::give_way;

use super::snapshot::{Latencies, Setting, Snapshot, Stage};

const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Upper ends of the buckets of latency, us: from what a server on the same machine takes to the
/// longest patience.
const BOUNDS_US: [u64; 21] = [
    10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000,
    1_000_000, 2_000_000, 5_000_000, 10_000_000, 20_000_000, 60_000_000,
];

/// The last snapshot, for scrapers.
type Board = Arc<Mutex<Option<Arc<Snapshot>>>>;

/// The endpoint, and the last look that it tells.
#[derive(Debug)]
pub(super) struct Metrics {
    board: Board,
    endpoint: Endpoint,
}

impl Metrics {
    /// Answers scrapers from now on.
    pub(super) fn serve(setting: Setting, endpoint: Endpoint) -> Self {
        let board = Board::default();
        let mut registry = Registry::default();
        registry.register_collector(Box::new(Run { setting, board: Arc::clone(&board) }));
        let endpoint = endpoint.serve(give_way, move || {
            let mut written = String::new();
            text::encode(&mut written, &registry)?;
            Ok(Page { content_type: CONTENT_TYPE, text: written })
        });
        Self { board, endpoint }
    }

    pub(super) fn see(&self, glance: Arc<Snapshot>) {
        *self.board.lock().unwrap_or_else(PoisonError::into_inner) = Some(glance);
    }

    /// Where scrapers find them.
    pub(super) fn address(&self) -> SocketAddr {
        self.endpoint.address()
    }
}

#[derive(Debug)]
struct Run {
    setting: Setting,
    board: Board,
}

impl Collector for Run {
    fn encode(&self, encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let glance = self.board.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut exposition = Exposition(encoder);
        exposition.gauge(
            "headworks_load_info",
            "What is measured.",
            [(
                &[
                    ("target", &*self.setting.target),
                    ("load", &self.setting.load),
                    ("version", env!("CARGO_PKG_VERSION")),
                ][..],
                1.0,
            )],
        )?;
        let glance = glance.unwrap_or_else(|| Arc::new(Snapshot::default()));
        exposition.work(&glance, self.setting.sessions)?;
        exposition.latency(&glance.whole.latency)?;
        exposition.connections(&glance)?;
        exposition.progress(&glance, &self.setting)?;
        exposition.generator(&glance)
    }
}

type Labels<'a> = &'a [(&'a str, &'a str)];

struct Exposition<'a>(DescriptorEncoder<'a>);

impl Exposition<'_> {
    fn work(&mut self, glance: &Snapshot, sessions: bool) -> fmt::Result {
        let whole = &glance.whole;
        self.count("headworks_load_requests", "Requests begun in the measuring window.", whole.requests)?;
        let status: Vec<(String, u64)> =
            whole.status.iter().map(|(code, count)| (code.to_string(), *count)).collect();
        let status: Vec<([(&str, &str); 1], u64)> =
            status.iter().map(|(code, count)| ([("status", &**code)], *count)).collect();
        self.counter(
            "headworks_load_responses",
            "Complete responses, by status.",
            None,
            status.iter().map(|(labels, count)| (&labels[..], *count)),
        )?;
        let errors = RequestError::ALL.into_iter().filter(|kind| *kind != RequestError::Censored);
        let errors: Vec<([(&str, &str); 1], u64)> =
            errors.map(|kind| ([("kind", kind.name())], whole.errors.get(kind))).collect();
        self.counter(
            "headworks_load_errors",
            "Requests without a complete response, by kind.",
            None,
            errors.iter().map(|(labels, count)| (&labels[..], *count)),
        )?;
        self.count(
            "headworks_load_censored",
            "Requests cut off, whose latency is longer than recorded.",
            whole.censored,
        )?;
        let done = "Sessions completed, or without sessions responses received, inside the window.";
        self.count("headworks_load_done", done, whole.done_inside)?;
        self.counter(
            "headworks_load",
            "Bytes of response bodies.",
            Some(&Unit::Bytes),
            [(&[][..], whole.bytes)],
        )?;
        let running = if sessions { "Sessions under way." } else { "Requests under way." };
        self.gauge("headworks_load_running", running, [(&[][..], glance.running as f64)])
    }

    fn latency(&mut self, phases: &Latencies) -> fmt::Result {
        let mut family = self.0.encode_descriptor(
            "headworks_load_latency",
            "Latency of requests, in all and by phase.",
            Some(&Unit::Seconds),
            MetricType::Histogram,
        )?;
        for (name, histogram) in Latencies::NAMES.into_iter().zip(phases.histograms()) {
            family.encode_family(&[("phase", name)])?.encode_histogram::<NoLabelSet>(
                histogram.sum().as_secs_f64(),
                histogram.count(),
                &buckets(histogram),
                None,
            )?;
        }
        Ok(())
    }

    fn connections(&mut self, glance: &Snapshot) -> fmt::Result {
        let whole = &glance.whole;
        self.count("headworks_load_connections_opened", "Connections established.", whole.opened)?;
        self.count(
            "headworks_load_connections_reused",
            "Requests sent on a connection that had carried one.",
            whole.reused,
        )?;
        self.count(
            "headworks_load_connect_timeouts",
            "Connections that did not come about in time.",
            whole.connect_timeouts,
        )?;
        self.count("headworks_load_syn_retransmits", "SYNs sent again.", whole.syn_retransmits)?;
        self.gauge(
            "headworks_load_connections_open",
            "Connections open now.",
            [(&[][..], glance.connections as f64)],
        )
    }

    fn progress(&mut self, glance: &Snapshot, setting: &Setting) -> fmt::Result {
        let now = glance.stage(setting.window);
        let stages = Stage::ALL.map(|stage| ([("stage", stage.name())], f64::from(u8::from(stage == now))));
        let stages = stages.iter().map(|(labels, is)| (&labels[..], *is));
        self.gauge("headworks_load_stage", "1 for the stage of the run.", stages)?;
        self.seconds("headworks_load_elapsed", "Since the run began.", glance.now.since(Time::ZERO))?;
        self.seconds("headworks_load_window", "Length of the measuring window.", setting.window.length())?;
        if let Some(offered) = glance.offered.map(Rate::as_f64) {
            self.gauge(
                "headworks_load_offered_per_second",
                "What the schedule wants now.",
                [(&[][..], offered)],
            )?;
        }
        if let Some(level) = glance.level {
            self.gauge(
                "headworks_load_level",
                "Where the ramp is.",
                [(&[("unit", level.unit)][..], level.value)],
            )?;
        }
        Ok(())
    }

    fn generator(&mut self, glance: &Snapshot) -> fmt::Result {
        let generator = &glance.generator;
        self.gauge(
            "headworks_load_client_cpu_ratio",
            "Share of a processor that the generator uses.",
            [(&[][..], generator.cpu)],
        )?;
        self.seconds(
            "headworks_load_lag_p99",
            "How late the generator is, 99th percentile.",
            generator.lag_p99,
        )?;
        self.seconds("headworks_load_lag_max", "How late the generator was at most.", generator.lag_max)?;
        let valid = f64::from(u8::from(generator.why_invalid.is_empty()));
        self.gauge(
            "headworks_load_valid",
            "1 when the figures so far are the server's, not the generator's.",
            [(&[][..], valid)],
        )
    }

    fn count(&mut self, name: &str, help: &str, value: u64) -> fmt::Result {
        self.counter(name, help, None, [(&[][..], value)])
    }

    fn seconds(&mut self, name: &str, help: &str, value: Span) -> fmt::Result {
        let family = self.0.encode_descriptor(name, help, Some(&Unit::Seconds), MetricType::Gauge)?;
        ConstGauge::new(value.as_secs_f64()).encode(family)
    }

    fn counter<'a>(
        &mut self,
        name: &str,
        help: &str,
        unit: Option<&Unit>,
        samples: impl IntoIterator<Item = (Labels<'a>, u64)>,
    ) -> fmt::Result {
        let mut family = self.0.encode_descriptor(name, help, unit, MetricType::Counter)?;
        for (labels, value) in samples {
            let counter = ConstCounter::new(value);
            if labels.is_empty() {
                return counter.encode(family);
            }
            counter.encode(family.encode_family(&labels)?)?;
        }
        Ok(())
    }

    fn gauge<'a>(
        &mut self,
        name: &str,
        help: &str,
        samples: impl IntoIterator<Item = (Labels<'a>, f64)>,
    ) -> fmt::Result {
        let mut family = self.0.encode_descriptor(name, help, None, MetricType::Gauge)?;
        for (labels, value) in samples {
            let gauge = ConstGauge::new(value);
            if labels.is_empty() {
                return gauge.encode(family);
            }
            gauge.encode(family.encode_family(&labels)?)?;
        }
        Ok(())
    }
}

/// Per bucket, not up to it: the encoder adds them up.
fn buckets(histogram: &Histogram) -> Vec<(f64, u64)> {
    let mut before = 0;
    let bounds = BOUNDS_US.into_iter().map(Span::from_micros);
    let ends = bounds.map(|bound| (bound.as_secs_f64(), histogram.count() - histogram.count_above(bound)));
    ends.chain([(f64::INFINITY, histogram.count())])
        .map(|(bound, up_to)| (bound, up_to - std::mem::replace(&mut before, up_to)))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use testkit::Raw;

    use super::super::samples;
    use super::*;

    fn serve() -> Metrics {
        let endpoint = Endpoint::bind("127.0.0.1:0".parse().unwrap()).unwrap();
        Metrics::serve(samples::setting(), endpoint)
    }

    fn scrape(metrics: &Metrics) -> String {
        let response = Raw::connect(metrics.address()).get("/metrics").response();
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
        let metrics = serve();
        assert_eq!(parse(&scrape(&metrics))["headworks_load_requests_total"], 0.0);
        metrics.see(Arc::new(samples::trouble(12)));
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

    #[test]
    fn each_metric_is_documented() {
        let page = include_str!("../../../../docs/live.md");
        let metrics = serve();
        metrics.see(Arc::new(samples::trouble(12)));
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
