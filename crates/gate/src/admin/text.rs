//! Metrics as they are gathered, and Prometheus' text exposition format, version 0.0.4.

use std::fmt::{Display, Write as _};

use crate::stages::{BOUNDS, Histogram};

/// Metrics being gathered.
#[derive(Debug, Default)]
pub(crate) struct Text(Vec<Family>);

/// Label names and values of one sample.
pub(super) type Labels<'a> = &'a [(&'a str, &'a str)];

/// What a metric is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Counter,
    Gauge,
    Histogram,
}

/// One metric.
#[derive(Debug)]
pub(crate) struct Family {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) help: String,
    pub(crate) samples: Vec<Sample>,
}

/// One value of a metric.
#[derive(Debug)]
pub(crate) struct Sample {
    pub(crate) labels: Vec<(String, String)>,
    pub(crate) value: Value,
}

#[derive(Debug)]
pub(crate) enum Value {
    /// As it is written.
    Number(String),
    Histogram(Box<Histogram>),
}

impl Text {
    /// Begins a counter; its name ends in `_total`.
    pub(super) fn counter(&mut self, name: &'static str, help: &str) -> &mut Family {
        self.family(name, Kind::Counter, help)
    }

    pub(super) fn gauge(&mut self, name: &'static str, help: &str) -> &mut Family {
        self.family(name, Kind::Gauge, help)
    }

    pub(super) fn histogram(&mut self, name: &'static str, help: &str) -> &mut Family {
        self.family(name, Kind::Histogram, help)
    }

    pub(crate) fn families(&self) -> &[Family] {
        &self.0
    }

    /// As Prometheus reads it.
    pub(super) fn finish(self) -> String {
        let mut text = String::new();
        for family in &self.0 {
            family.write(&mut text);
        }
        text
    }

    fn family(&mut self, name: &'static str, kind: Kind, help: &str) -> &mut Family {
        let at = self.0.len();
        self.0.push(Family { name, kind, help: help.to_owned(), samples: Vec::new() });
        &mut self.0[at]
    }
}

impl Family {
    pub(super) fn sample(&mut self, labels: Labels<'_>, value: impl Display) -> &mut Self {
        self.add(labels, Value::Number(value.to_string()))
    }

    /// A histogram's buckets, sum and count.
    pub(super) fn buckets(&mut self, labels: Labels<'_>, histogram: &Histogram) -> &mut Self {
        self.add(labels, Value::Histogram(Box::new(histogram.clone())))
    }

    fn add(&mut self, labels: Labels<'_>, value: Value) -> &mut Self {
        let labels = labels.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        self.samples.push(Sample { labels, value });
        self
    }

    fn write(&self, text: &mut String) {
        let (name, kind) = (self.name, self.kind.name());
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
                    for (bound, count) in BOUNDS.iter().zip(&histogram.buckets) {
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
        // Values are names of ours, so there is nothing to escape.
        let _ = write!(text, "{separator}{name}=\"{value}\"");
        separator = ',';
    }
    let end = if separator == ',' { "}" } else { "" };
    let _ = writeln!(text, "{end} {value}");
}
