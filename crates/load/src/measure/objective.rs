//! [`Objective`]: what a run is to achieve, such as `p99<50ms`.

use std::fmt;
use std::str::FromStr;

use record::{ObjectiveResult, Quantiles, Summary};
use units::{Rate, Ratio, Span};

/// A bound on a figure of the summary.
#[derive(Debug, Clone, PartialEq)]
pub struct Objective {
    text: String,
    figure: Figure,
    comparison: Comparison,
    /// In the unit of the summary: seconds, a share, or a rate per second.
    bound: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Figure {
    Mean,
    Min,
    P50,
    P90,
    P95,
    P99,
    P999,
    Max,
    Errors,
    Rate,
}

const FIGURES: [(&str, Figure); 10] = [
    ("mean", Figure::Mean),
    ("min", Figure::Min),
    ("p50", Figure::P50),
    ("p90", Figure::P90),
    ("p95", Figure::P95),
    ("p99", Figure::P99),
    ("p999", Figure::P999),
    ("max", Figure::Max),
    ("errors", Figure::Errors),
    ("rate", Figure::Rate),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparison {
    Below,
    AtMost,
    Above,
    AtLeast,
}

/// A text that is not an objective.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is not an objective; write a figure, a comparison and a bound, such as p99<50ms, errors<=1% or rate>=100 (figures: {figures})", figures = FIGURES.map(|(name, _)| name).join(", "))]
pub struct ObjectiveError(String);

impl FromStr for Objective {
    type Err = ObjectiveError;

    fn from_str(text: &str) -> Result<Self, ObjectiveError> {
        let error = || ObjectiveError(text.to_owned());
        let at = text.find(['<', '>']).ok_or_else(error)?;
        let (name, rest) = text.split_at(at);
        let (comparison, bound) = [
            ("<=", Comparison::AtMost),
            (">=", Comparison::AtLeast),
            ("<", Comparison::Below),
            (">", Comparison::Above),
        ]
        .into_iter()
        .find_map(|(sign, comparison)| Some((comparison, rest.strip_prefix(sign)?.trim())))
        .ok_or_else(error)?;
        let (_, figure) = FIGURES.into_iter().find(|(known, _)| *known == name.trim()).ok_or_else(error)?;
        let bound = match figure {
            Figure::Errors => bound.parse::<Ratio>().map(Ratio::as_f64),
            Figure::Rate => bound.parse::<Rate>().map(Rate::as_f64),
            _ => bound.parse::<Span>().map(Span::as_secs_f64),
        };
        Ok(Self { text: text.to_owned(), figure, comparison, bound: bound.map_err(|_| error())? })
    }
}

impl fmt::Display for Objective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Objective {
    /// Holds the figure against the bound. What was not measured is not met.
    pub(crate) fn judge(&self, summary: &Summary) -> ObjectiveResult {
        let measured = self.measured(summary);
        let met = measured.is_some_and(|measured| match self.comparison {
            Comparison::Below => measured < self.bound,
            Comparison::AtMost => measured <= self.bound,
            Comparison::Above => measured > self.bound,
            Comparison::AtLeast => measured >= self.bound,
        });
        ObjectiveResult { objective: self.text.clone(), measured, met }
    }

    fn measured(&self, summary: &Summary) -> Option<f64> {
        let latency = |figure: fn(&Quantiles) -> f64| {
            let total = &summary.latency.total;
            (total.count > 0).then(|| figure(total))
        };
        match self.figure {
            Figure::Mean => latency(|q| q.mean),
            Figure::Min => latency(|q| q.min),
            Figure::P50 => latency(|q| q.p50),
            Figure::P90 => latency(|q| q.p90),
            Figure::P95 => latency(|q| q.p95),
            Figure::P99 => latency(|q| q.p99),
            Figure::P999 => latency(|q| q.p999),
            Figure::Max => latency(|q| q.max),
            Figure::Errors => {
                (summary.requests > 0).then(|| summary.errors.total() as f64 / summary.requests as f64)
            }
            Figure::Rate => (summary.duration > 0.0).then_some(summary.rate.achieved),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn met(text: &str, summary: &Summary) -> bool {
        text.parse::<Objective>().unwrap().judge(summary).met
    }

    #[test]
    fn objectives_are_held_against_the_summary() {
        let mut summary = Summary { requests: 200, duration: 1.0, ..Summary::default() };
        summary.latency.total = Quantiles { p99: 0.05, count: 198, ..Quantiles::default() };
        summary.errors.timeout = 2;
        summary.rate.achieved = 198.0;
        assert!(met("p99<=50ms", &summary));
        assert!(!met("p99<50ms", &summary));
        assert!(met("p99 < 51ms", &summary));
        assert!(met("errors<=1%", &summary));
        assert!(!met("errors<0.5%", &summary));
        assert!(met("rate>100", &summary));
        assert!(!met("rate>=1k", &summary));
    }

    #[test]
    fn what_was_not_measured_is_not_met() {
        for objective in ["p99<50ms", "errors<1%", "rate>=0"] {
            assert!(!met(objective, &Summary::default()), "{objective}");
        }
    }

    #[test]
    fn what_is_no_objective_is_refused() {
        for text in ["", "p99", "p98<50ms", "p99=50ms", "p99<", "p99<fast", "errors<2", "<50ms"] {
            let error = text.parse::<Objective>().unwrap_err().to_string();
            assert!(error.contains("p99<50ms"), "{error}");
        }
    }
}
