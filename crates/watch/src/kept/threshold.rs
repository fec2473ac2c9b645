//! [`Threshold`]: a figure that is out of the ordinary.

use std::fmt;
use std::str::FromStr;

use catalogue::Metric;
use catalogue::watch::figures;
use config::did_you_mean;
use units::Span;

use crate::figures::Figure;

/// A figure, by its name in the record, and what it must not be: `kernel.run_queue>8`, `listen_queue.waiting{80}>100`,
/// `requests.rate{0-50k}<10`, `waits.accept.p99>50ms`, `kernel.cpu_idle<5%`.
#[derive(Debug, Clone, PartialEq)]
pub struct Threshold {
    metric: Metric,
    /// Any, where none is given.
    label: Option<String>,
    is_above: bool,
    bound: f64,
    text: String,
}

/// Why a text is not a threshold.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadThreshold {
    /// There is neither `<` nor `>`.
    #[error("\"{0}\" has neither < nor >; write a figure and a bound, such as 'kernel.run_queue>8'")]
    NoBound(String),
    /// Nothing goes by that name.
    #[error("there is no figure \"{0}\"{1}; docs/metrics.md has their names, such as kernel.run_queue")]
    NoFigure(String, String),
    /// The bound cannot be read.
    #[error("\"{0}\" is no bound; write a number, a time such as 50ms, or a share such as 5%")]
    BadBound(String),
}

impl Threshold {
    /// What is out of the ordinary, in words, if anything is.
    pub(crate) fn is_crossed<'a>(&self, all: impl IntoIterator<Item = &'a Figure>) -> Option<String> {
        let is_meant = |figure: &&Figure| {
            figure.metric == self.metric && self.label.as_ref().is_none_or(|label| *label == figure.label)
        };
        let is_out = |figure: &&Figure| {
            if self.is_above { figure.value > self.bound } else { figure.value < self.bound }
        };
        let found = all.into_iter().filter(is_meant).find(is_out)?;
        let label = if found.label.is_empty() { String::new() } else { format!("{{{}}}", found.label) };
        Some(format!("{}{label} is {}, and {} was asked for", found.metric, found.value, self.text))
    }
}

impl fmt::Display for Threshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text.fmt(f)
    }
}

/// In the unit of the record: seconds, shares from 0 to 1.
fn bound(text: &str) -> Option<f64> {
    let text = text.trim();
    if let Some(percent) = text.strip_suffix('%') {
        return percent.trim().parse::<f64>().ok().map(|percent| percent / 100.0);
    }
    let plain = text.parse::<f64>().ok();
    plain.or_else(|| text.parse::<Span>().ok().map(Span::as_secs_f64)).filter(|bound| bound.is_finite())
}

impl FromStr for Threshold {
    type Err = BadThreshold;

    fn from_str(text: &str) -> Result<Self, BadThreshold> {
        let at = text.find(['<', '>']).ok_or_else(|| BadThreshold::NoBound(text.to_owned()))?;
        let (what, rest) = text.split_at(at);
        let (what, label) = match what.trim().split_once('{') {
            Some((what, label)) => (what.trim(), Some(label.trim_end_matches('}').to_owned())),
            None => (what.trim(), None),
        };
        let metric = figures::all().find(|metric| metric.name() == what).ok_or_else(|| {
            let names = figures::all().map(Metric::name);
            let meant = did_you_mean(what, names).map(|meant| format!(" (did you mean {meant}?)"));
            BadThreshold::NoFigure(what.to_owned(), meant.unwrap_or_default())
        })?;
        let after = rest[1..].trim_start_matches('=');
        let bound = bound(after).ok_or_else(|| BadThreshold::BadBound(after.trim().to_owned()))?;
        Ok(Self { metric, label, is_above: rest.starts_with('>'), bound, text: text.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use catalogue::watch::{connections, kernel, requests};

    use super::*;

    fn figure(metric: Metric, label: &str, value: f64) -> Figure {
        Figure { metric, label: label.to_owned(), value }
    }

    #[test]
    fn what_is_out_of_the_ordinary_is_told() {
        let figures = [
            figure(kernel::RUN_QUEUE, "", 9.0),
            figure(connections::WAITING, "80", 3.0),
            figure(connections::WAITING, "443", 30.0),
            figure(requests::ACCEPT_P99, "", 0.07),
            figure(kernel::CPU_IDLE, "", 0.04),
        ];
        for (text, expected) in [
            ("kernel.run_queue>8", Some("kernel.run_queue is 9, and kernel.run_queue>8 was asked for")),
            ("kernel.run_queue > 9", None),
            ("kernel.run_queue<9", None),
            ("listen_queue.waiting{80}>10", None),
            (
                "listen_queue.waiting>10",
                Some("listen_queue.waiting{443} is 30, and listen_queue.waiting>10 was asked for"),
            ),
            (
                "waits.accept.p99>=50ms",
                Some("waits.accept.p99 is 0.07, and waits.accept.p99>=50ms was asked for"),
            ),
            ("waits.accept.p99>70ms", None),
            ("kernel.cpu_idle<5%", Some("kernel.cpu_idle is 0.04, and kernel.cpu_idle<5% was asked for")),
            ("requests.rate<10", None),
        ] {
            let threshold: Threshold = text.parse().unwrap();
            assert_eq!(threshold.is_crossed(&figures).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn what_is_none_is_told_what_to_write() {
        for (text, part) in [
            ("kernel.run_queue", "has neither < nor >"),
            ("kernel.run_que>8", "did you mean kernel.run_queue?"),
            ("kernel.run_queue>", "\"\" is no bound"),
            ("kernel.run_queue>many", "\"many\" is no bound"),
        ] {
            let said = text.parse::<Threshold>().unwrap_err().to_string();
            assert!(said.contains(part), "{said}");
        }
    }
}
