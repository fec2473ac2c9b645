//! Prometheus' text exposition format, version 0.0.4.

use std::fmt::{Display, Write as _};

use crate::stages::{BOUNDS, Histogram};

/// Metrics being written.
#[derive(Debug, Default)]
pub(super) struct Text(String);

/// Label names and values of one sample.
pub(super) type Labels<'a> = &'a [(&'a str, &'a str)];

impl Text {
    /// Begins a counter; its name ends in `_total`.
    pub(super) fn counter(&mut self, name: &'static str, help: &str) -> Family<'_> {
        self.family(name, "counter", help)
    }

    pub(super) fn gauge(&mut self, name: &'static str, help: &str) -> Family<'_> {
        self.family(name, "gauge", help)
    }

    pub(super) fn histogram(&mut self, name: &'static str, help: &str) -> Family<'_> {
        self.family(name, "histogram", help)
    }

    pub(super) fn finish(self) -> String {
        self.0
    }

    fn family(&mut self, name: &'static str, kind: &str, help: &str) -> Family<'_> {
        // Writing to a String cannot fail; so below.
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
        Family { text: &mut self.0, name }
    }
}

/// One metric, to which samples are added.
#[derive(Debug)]
pub(super) struct Family<'a> {
    text: &'a mut String,
    name: &'static str,
}

impl Family<'_> {
    pub(super) fn sample(&mut self, labels: Labels<'_>, value: impl Display) -> &mut Self {
        self.line("", labels, None, value);
        self
    }

    /// A histogram's buckets, sum and count.
    pub(super) fn buckets(&mut self, labels: Labels<'_>, histogram: &Histogram) -> &mut Self {
        let mut below = 0;
        for (bound, count) in BOUNDS.iter().zip(&histogram.buckets) {
            below += count;
            self.line("_bucket", labels, Some(&bound.to_string()), below);
        }
        self.line("_bucket", labels, Some("+Inf"), histogram.count());
        self.line("_sum", labels, None, histogram.sum);
        self.line("_count", labels, None, histogram.count());
        self
    }

    fn line(&mut self, suffix: &str, labels: Labels<'_>, bound: Option<&str>, value: impl Display) {
        let _ = write!(self.text, "{}{suffix}", self.name);
        let bound = bound.map(|bound| ("le", bound));
        let mut separator = '{';
        for (name, value) in labels.iter().copied().chain(bound) {
            // Values are names of ours, so there is nothing to escape.
            let _ = write!(self.text, "{separator}{name}=\"{value}\"");
            separator = ',';
        }
        let end = if separator == ',' { "}" } else { "" };
        let _ = writeln!(self.text, "{end} {value}");
    }
}
