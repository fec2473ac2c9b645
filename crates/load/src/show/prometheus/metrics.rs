//! What Prometheus is told of a [`Glance`].
//!
//! Counters are of the measuring window, as the summary is: the last scrape is what the summary
//! says, as far as it was seen.

use std::fmt;
use std::sync::{Arc, PoisonError};

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric, NoLabelSet, text};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::{Registry, Unit};
use record::{Histogram, RequestError};
use units::{Rate, Span, Time};

use super::super::glance::{Glance, Latencies, Setting, Stage};
use super::Board;

pub(super) const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Upper ends of the buckets of latency, us: from what a server on the same machine takes to the
/// longest patience.
const BOUNDS_US: [u64; 21] = [
    10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000,
    1_000_000, 2_000_000, 5_000_000, 10_000_000, 20_000_000, 60_000_000,
];

/// All metrics of a run.
#[derive(Debug)]
pub(super) struct Metrics(Registry);

impl Metrics {
    pub(super) fn new(setting: Setting, board: Board) -> Self {
        let mut registry = Registry::default();
        registry.register_collector(Box::new(Run { setting, board }));
        Self(registry)
    }

    /// The exposition, in OpenMetrics' text format.
    pub(super) fn text(&self) -> Result<String, fmt::Error> {
        let mut written = String::new();
        text::encode(&mut written, &self.0)?;
        Ok(written)
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
        let glance = glance.unwrap_or_else(|| Arc::new(Glance::default()));
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
    fn work(&mut self, glance: &Glance, sessions: bool) -> fmt::Result {
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

    fn connections(&mut self, glance: &Glance) -> fmt::Result {
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

    fn progress(&mut self, glance: &Glance, setting: &Setting) -> fmt::Result {
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

    fn generator(&mut self, glance: &Glance) -> fmt::Result {
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
