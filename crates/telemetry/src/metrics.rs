//! [`Metrics`]: as they are gathered, and Prometheus' text exposition format, version 0.0.4.

use std::borrow::Cow;
use std::fmt::{Display, Write as _};

/// The type of [`Metrics::text`] for HTTP.
pub const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Metrics being gathered.
#[derive(Debug, Default)]
pub struct Metrics(Vec<Family>);

/// Label names and values of one sample.
type Labels<'a> = &'a [(&'a str, &'a str)];

/// What a metric is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A total since the start.
    Counter,
    /// What is now.
    Gauge,
    /// Observations in buckets since the start.
    Histogram,
}

/// One metric.
#[derive(Debug)]
pub struct Family {
    /// For Prometheus, and for OpenTelemetry unless it has another.
    pub name: Cow<'static, str>,
    /// OpenTelemetry's name where its conventions have one.
    pub convention: Option<&'static str>,
    /// What it is.
    pub kind: Kind,
    /// What it says, in a sentence.
    pub help: Cow<'static, str>,
    /// Its values.
    pub samples: Vec<Sample>,
}

/// One value of a metric.
#[derive(Debug)]
pub struct Sample {
    /// Names and values of its labels.
    pub labels: Vec<(String, String)>,
    /// The value.
    pub value: Value,
}

/// A number or a histogram.
#[derive(Debug)]
pub enum Value {
    /// As it is written.
    Number(String),
    /// Observations.
    Histogram(Buckets),
}

/// Observations in buckets.
#[derive(Debug, Clone, PartialEq)]
pub struct Buckets {
    /// Upper ends, in rising order; they belong to their buckets.
    pub bounds: &'static [f64],
    /// Observations in each bucket, the last above all bounds.
    pub counts: Vec<u64>,
    /// Of all observations.
    pub sum: f64,
}

impl Buckets {
    /// Observations.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }
}

impl Metrics {
    /// Begins a counter; its name ends in `_total`.
    pub fn counter(
        &mut self,
        name: impl Into<Cow<'static, str>>,
        help: impl Into<Cow<'static, str>>,
    ) -> &mut Family {
        self.family(name.into(), Kind::Counter, help.into())
    }

    /// Begins a gauge.
    pub fn gauge(
        &mut self,
        name: impl Into<Cow<'static, str>>,
        help: impl Into<Cow<'static, str>>,
    ) -> &mut Family {
        self.family(name.into(), Kind::Gauge, help.into())
    }

    /// Begins a histogram.
    pub fn histogram(
        &mut self,
        name: impl Into<Cow<'static, str>>,
        help: impl Into<Cow<'static, str>>,
    ) -> &mut Family {
        self.family(name.into(), Kind::Histogram, help.into())
    }

    /// What has been gathered.
    pub fn families(&self) -> &[Family] {
        &self.0
    }

    /// As Prometheus reads it.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for family in &self.0 {
            family.write(&mut text);
        }
        text
    }

    fn family(&mut self, name: Cow<'static, str>, kind: Kind, help: Cow<'static, str>) -> &mut Family {
        let at = self.0.len();
        self.0.push(Family { name, convention: None, kind, help, samples: Vec::new() });
        &mut self.0[at]
    }
}

impl Family {
    /// Gives it the name that OpenTelemetry's conventions have for it.
    pub fn as_convention(&mut self, name: &'static str) -> &mut Self {
        self.convention = Some(name);
        self
    }

    /// Adds a value.
    pub fn sample(&mut self, labels: Labels<'_>, value: impl Display) -> &mut Self {
        self.add(labels, Value::Number(value.to_string()))
    }

    /// Adds a histogram.
    pub fn buckets(&mut self, labels: Labels<'_>, buckets: Buckets) -> &mut Self {
        self.add(labels, Value::Histogram(buckets))
    }

    fn add(&mut self, labels: Labels<'_>, value: Value) -> &mut Self {
        let labels = labels.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        self.samples.push(Sample { labels, value });
        self
    }

    fn write(&self, text: &mut String) {
        let (name, kind) = (&self.name, self.kind.name());
        // Writing to a String cannot fail; so below.
        let _ = writeln!(text, "# HELP {name} {}\n# TYPE {name} {kind}", self.help);
        for Sample { labels, value } in &self.samples {
            let mut line = |suffix: &str, bound: Option<&str>, value: &dyn Display| {
                let labels = labels.iter().map(|(name, value)| (name.as_str(), value.as_str()));
                write_line(text, (name, suffix), labels.chain(bound.map(|bound| ("le", bound))), value);
            };
            match value {
                Value::Number(number) => line("", None, number),
                Value::Histogram(histogram) => {
                    let mut below = 0;
                    for (bound, count) in histogram.bounds.iter().zip(&histogram.counts) {
                        below += count;
                        line("_bucket", Some(&bound.to_string()), &below);
                    }
                    line("_bucket", Some("+Inf"), &histogram.count());
                    line("_sum", None, &histogram.sum);
                    line("_count", None, &histogram.count());
                }
            }
        }
    }
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Histogram => "histogram",
        }
    }
}

fn write_line<'a>(
    text: &mut String,
    (name, suffix): (&str, &str),
    labels: impl Iterator<Item = (&'a str, &'a str)>,
    value: &dyn Display,
) {
    let _ = write!(text, "{name}{suffix}");
    let mut separator = '{';
    for (name, value) in labels {
        let _ = write!(text, "{separator}{name}=\"{}\"", escaped(value));
        separator = ',';
    }
    let end = if separator == ',' { "}" } else { "" };
    let _ = writeln!(text, "{end} {value}");
}

/// Most values are names of ours, but not those of programs and interfaces.
fn escaped(value: &str) -> Cow<'_, str> {
    if !value.contains(['\\', '"', '\n']) {
        return Cow::Borrowed(value);
    }
    Cow::Owned(value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_what_prometheus_reads() {
        let mut metrics = Metrics::default();
        metrics.counter("a_total", "Of a.").sample(&[], 3);
        metrics.gauge("b", "Of b.").sample(&[("name", "a\\b\"c\nd")], 0.5);
        let buckets = Buckets { bounds: &[0.1, 1.0], counts: vec![1, 2, 4], sum: 9.5 };
        metrics.histogram("c", "Of c.").buckets(&[("class", "small")], buckets);
        let expected = r#"# HELP a_total Of a.
# TYPE a_total counter
a_total 3
# HELP b Of b.
# TYPE b gauge
b{name="a\\b\"c\nd"} 0.5
# HELP c Of c.
# TYPE c histogram
c_bucket{class="small",le="0.1"} 1
c_bucket{class="small",le="1"} 3
c_bucket{class="small",le="+Inf"} 7
c_sum{class="small"} 9.5
c_count{class="small"} 7
"#;
        assert_eq!(metrics.text(), expected);
    }
}
