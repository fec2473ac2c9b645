//! [`Format`]: the text formats that scrapers read.

use std::borrow::Cow;
use std::fmt::Write as _;

use catalogue::Kind;

use crate::{Family, Metrics, Number, Sample, Value};

/// A text format of metrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Prometheus' text exposition format, version 0.0.4.
    Prometheus,
    /// OpenMetrics 1.0.0: families of counters go without `_total`, base units are told, and the end is marked.
    OpenMetrics,
}

impl Format {
    /// Its type for HTTP.
    pub const fn content_type(self) -> &'static str {
        match self {
            Self::Prometheus => "text/plain; version=0.0.4; charset=utf-8",
            Self::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
        }
    }

    /// Numbers that are not counts: OpenMetrics as canonical numbers, Prometheus as short as may be.
    fn real(self, number: f64) -> String {
        match self {
            Self::Prometheus => number.to_string(),
            Self::OpenMetrics if number.is_infinite() => {
                if number > 0.0 { "+Inf" } else { "-Inf" }.to_owned()
            }
            Self::OpenMetrics if number != 0.0 && !(1e-6..1e21).contains(&number.abs()) => {
                format!("{number:e}")
            }
            Self::OpenMetrics if number.fract() == 0.0 => format!("{number:.1}"),
            Self::OpenMetrics => number.to_string(),
        }
    }

    fn number(self, number: Number) -> String {
        match number {
            Number::Whole(count) => count.to_string(),
            Number::Real(number) => self.real(number),
        }
    }
}

impl Metrics {
    /// As scrapers read it.
    pub fn text(&self, format: Format) -> String {
        let mut text = String::new();
        for family in self.families() {
            family.write(format, &mut text);
        }
        if format == Format::OpenMetrics {
            text += "# EOF\n";
        }
        text
    }
}

impl Family {
    // Writing to a String cannot fail.
    fn write(&self, format: Format, text: &mut String) {
        let kind = self.metric.exposed_kind();
        let base = self.name.strip_suffix("_total").filter(|_| kind == Kind::Counter);
        let name = base.filter(|_| format == Format::OpenMetrics).unwrap_or(&self.name);
        let _ = writeln!(text, "# HELP {name} {}\n# TYPE {name} {}", self.help, kind.name());
        if let Some(unit) = self.metric.unit_in_name().and_then(|unit| unit.word())
            && format == Format::OpenMetrics
        {
            let _ = writeln!(text, "# UNIT {name} {unit}");
        }
        for sample in &self.samples {
            self.write_sample(format, sample, text);
        }
    }

    fn write_sample(&self, format: Format, sample: &Sample, text: &mut String) {
        let mut line = |suffix: &str, bound: Option<&str>, value: &str| {
            let _ = write!(text, "{}{suffix}", self.name);
            let bound = bound.map(|bound| ("le", bound));
            // The two libraries that wrote these formats before put the bound of a bucket at opposite ends.
            let (first, last) = if format == Format::OpenMetrics { (bound, None) } else { (None, bound) };
            let own = self.metric.labels().iter().copied().zip(sample.labels.iter().map(String::as_str));
            let mut separator = '{';
            for (name, value) in first.into_iter().chain(own).chain(last) {
                let _ = write!(text, "{separator}{name}=\"{}\"", escaped(value));
                separator = ',';
            }
            let end = if separator == ',' { "}" } else { "" };
            let _ = writeln!(text, "{end} {value}");
        };
        let histogram = match &sample.value {
            Value::Number(number) => return line("", None, &format.number(*number)),
            Value::Histogram(histogram) => histogram,
        };
        let (sum, count) = (format.real(histogram.sum), histogram.count().to_string());
        if format == Format::OpenMetrics {
            line("_sum", None, &sum);
            line("_count", None, &count);
        }
        let mut up_to = 0;
        for (bound, count) in histogram.bounds.iter().zip(&histogram.counts) {
            up_to += count;
            line("_bucket", Some(&format.real(*bound)), &up_to.to_string());
        }
        line("_bucket", Some("+Inf"), &count);
        if format == Format::Prometheus {
            line("_sum", None, &sum);
            line("_count", None, &count);
        }
    }
}

/// Most values are names of ours, but not those of programs, interfaces and URLs.
fn escaped(value: &str) -> Cow<'_, str> {
    if !value.contains(['\\', '"', '\n']) {
        return Cow::Borrowed(value);
    }
    Cow::Owned(value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}

#[cfg(test)]
mod tests {
    use catalogue::{gate, load};

    use super::*;
    use crate::Buckets;

    #[test]
    fn text_is_what_prometheus_reads() {
        let mut metrics = Metrics::default();
        metrics.family(gate::LAST_RESORT).sample(&[], 3_u64);
        metrics.family(gate::CLASS_QUEUE).sample(&["a\\b\"c\nd"], 0.5);
        let buckets = Buckets { bounds: &[0.1, 1.0], counts: vec![1, 2, 4], sum: 9.5 };
        metrics.family(gate::REQUEST).described("Of c.").buckets(&["small", "total"], buckets);
        let expected = r#"# HELP headworks_gate_last_resort_total Requests sent although no server was up.
# TYPE headworks_gate_last_resort_total counter
headworks_gate_last_resort_total 3
# HELP headworks_gate_class_queue Requests in the class queue.
# TYPE headworks_gate_class_queue gauge
headworks_gate_class_queue{class="a\\b\"c\nd"} 0.5
# HELP headworks_gate_request_seconds Of c.
# TYPE headworks_gate_request_seconds histogram
headworks_gate_request_seconds_bucket{class="small",stage="total",le="0.1"} 1
headworks_gate_request_seconds_bucket{class="small",stage="total",le="1"} 3
headworks_gate_request_seconds_bucket{class="small",stage="total",le="+Inf"} 7
headworks_gate_request_seconds_sum{class="small",stage="total"} 9.5
headworks_gate_request_seconds_count{class="small",stage="total"} 7
"#;
        assert_eq!(metrics.text(Format::Prometheus), expected);
    }

    #[test]
    fn open_metrics_names_units_and_marks_the_end() {
        let mut metrics = Metrics::default();
        metrics.family(load::BYTES).sample(&[], 3_u64);
        metrics.family(load::LAG_MAX).sample(&[], 5e-7).sample(&[], 21e-6).sample(&[], 12.0);
        let buckets = Buckets { bounds: &[1e-5, 1.0], counts: vec![1, 2, 4], sum: 9.0 };
        metrics.family(load::LATENCY).buckets(&["total"], buckets);
        let expected = r#"# HELP headworks_load_bytes Bytes of response bodies.
# TYPE headworks_load_bytes counter
# UNIT headworks_load_bytes bytes
headworks_load_bytes_total 3
# HELP headworks_load_lag_max_seconds How late the generator was at most.
# TYPE headworks_load_lag_max_seconds gauge
# UNIT headworks_load_lag_max_seconds seconds
headworks_load_lag_max_seconds 5e-7
headworks_load_lag_max_seconds 0.000021
headworks_load_lag_max_seconds 12.0
# HELP headworks_load_latency_seconds Latency of requests, in all and by phase.
# TYPE headworks_load_latency_seconds histogram
# UNIT headworks_load_latency_seconds seconds
headworks_load_latency_seconds_sum{phase="total"} 9.0
headworks_load_latency_seconds_count{phase="total"} 7
headworks_load_latency_seconds_bucket{le="0.00001",phase="total"} 1
headworks_load_latency_seconds_bucket{le="1.0",phase="total"} 3
headworks_load_latency_seconds_bucket{le="+Inf",phase="total"} 7
# EOF
"#;
        assert_eq!(metrics.text(Format::OpenMetrics), expected);
    }
}
