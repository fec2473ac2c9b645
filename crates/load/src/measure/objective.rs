//! [`Objective`]: what a run is to achieve, such as `p99<50ms`.

use std::fmt;
use std::str::FromStr;

use record::ObjectiveResult;
use units::{Rate, Ratio, Span};

use crate::measure::aggregate::Aggregate;
use crate::measure::percentile::Percentile;
use crate::measure::phase::Phase;

/// A bound on a figure of the summary.
#[derive(Debug, Clone, PartialEq)]
pub struct Objective {
    text: String,
    figure: Figure,
    comparison: Comparison,
    /// In the unit of the summary: seconds, a share, or a rate per second.
    bound: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Figure {
    Latency(Phase, Statistic),
    Errors,
    /// Statuses of 400 and above among the responses.
    Failed,
    Completed,
    Rate,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Statistic {
    Mean,
    Min,
    Max,
    Percentile(Percentile),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparison {
    Below,
    AtMost,
    Above,
    AtLeast,
}

/// What a run has, so that something is measured of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunFeatures {
    /// Connections may be encrypted.
    pub has_tls: bool,
    /// Names are looked up for each connection.
    pub looks_up: bool,
    /// Requests may have bodies.
    pub has_bodies: bool,
    /// Requests belong to sessions.
    pub has_sessions: bool,
}

/// A text that is not an objective.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "\"{0}\" is not an objective; write a figure, a comparison and a bound, such as p99<50ms, errors<=1% or rate>=100 \
     (figures: mean, min, max and percentiles such as p95 or p99.99, of a phase ({phases}) as in \
     processing.p95; errors, failed, completed; rate)",
    phases = Phase::ALL.map(Phase::name).join(", ")
)]
pub struct ObjectiveError(String);

impl FromStr for Figure {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        match text {
            "errors" => return Ok(Self::Errors),
            "failed" => return Ok(Self::Failed),
            "completed" => return Ok(Self::Completed),
            "rate" => return Ok(Self::Rate),
            _ => {}
        }
        let phase = text.split_once('.').and_then(|(phase, rest)| Some((Phase::named(phase)?, rest)));
        let (phase, statistic) = phase.unwrap_or((Phase::Total, text));
        let statistic = match statistic {
            "mean" => Statistic::Mean,
            "min" => Statistic::Min,
            "max" => Statistic::Max,
            percentile if percentile.starts_with('p') => {
                Statistic::Percentile(percentile.parse().map_err(|_| ())?)
            }
            _ => return Err(()),
        };
        Ok(Self::Latency(phase, statistic))
    }
}

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
        let figure: Figure = name.trim().parse().map_err(|()| error())?;
        let bound = match figure {
            Figure::Errors | Figure::Failed | Figure::Completed => bound.parse::<Ratio>().map(Ratio::as_f64),
            Figure::Rate => bound.parse::<Rate>().map(Rate::as_f64),
            Figure::Latency(..) => bound.parse::<Span>().map(Span::as_secs_f64),
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
    /// Whether it is a goal rather than what users fear: little latency and few errors, or much work.
    pub(crate) fn is_goal(&self) -> bool {
        let upper = matches!(self.comparison, Comparison::Below | Comparison::AtMost);
        upper != matches!(self.figure, Figure::Completed | Figure::Rate)
    }

    /// Whether it is about how long responses take, so that none at all misses it.
    pub(crate) fn is_of_responses(&self) -> bool {
        matches!(self.figure, Figure::Latency(Phase::Total | Phase::Processing, _))
    }

    /// Why nothing will be measured of it in such a run, if so.
    pub fn why_never(&self, run: &RunFeatures) -> Option<&'static str> {
        match self.figure {
            Figure::Latency(Phase::Tls, _) if !run.has_tls => {
                Some("there is no TLS; give a URL with https://")
            }
            Figure::Latency(Phase::Dns, _) if !run.looks_up => {
                Some("the name is looked up once; give --lookup")
            }
            Figure::Latency(Phase::Sending, _) if !run.has_bodies => {
                Some("no request has a body; give --body or a workload")
            }
            Figure::Completed if !run.has_sessions => {
                Some("there are no sessions; give a workload of sessions")
            }
            _ => None,
        }
    }

    /// Met where this one is not.
    pub(crate) fn opposite(&self) -> Self {
        let (comparison, sign, opposite) = match self.comparison {
            Comparison::Below => (Comparison::AtLeast, "<", ">="),
            Comparison::AtMost => (Comparison::Above, "<=", ">"),
            Comparison::Above => (Comparison::AtMost, ">", "<="),
            Comparison::AtLeast => (Comparison::Below, ">=", "<"),
        };
        Self { text: self.text.replacen(sign, opposite, 1), comparison, ..*self }
    }

    /// Holds the figure against the bound; `rate` is the work done per second, where there was time for any. What was
    /// not measured is not met.
    pub(crate) fn judge(&self, figures: &Aggregate, rate: Option<f64>) -> ObjectiveResult {
        let measured = self.measured(figures, rate);
        let met = measured.is_some_and(|measured| match self.comparison {
            Comparison::Below => measured < self.bound,
            Comparison::AtMost => measured <= self.bound,
            Comparison::Above => measured > self.bound,
            Comparison::AtLeast => measured >= self.bound,
        });
        ObjectiveResult { objective: self.text.clone(), measured, met }
    }

    fn measured(&self, figures: &Aggregate, rate: Option<f64>) -> Option<f64> {
        let share = |part: u64, whole: u64| (whole > 0).then(|| part as f64 / whole as f64);
        match self.figure {
            Figure::Latency(phase, statistic) => {
                let histogram = Some(figures.phases.of(phase)).filter(|histogram| histogram.count() > 0)?;
                let latency = match statistic {
                    Statistic::Mean => histogram.mean(),
                    Statistic::Min => histogram.min(),
                    Statistic::Max => histogram.max(),
                    Statistic::Percentile(percentile) => percentile.of(histogram),
                };
                Some(latency.as_secs_f64())
            }
            Figure::Errors => share(figures.errors.total(), figures.requests),
            Figure::Failed => {
                let failed = figures.status.range(400..).map(|(_, count)| count).sum();
                share(failed, figures.responses)
            }
            Figure::Completed => {
                let (completed, lost) = figures.session_ends();
                share(completed, completed + lost)
            }
            Figure::Rate => rate,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(text: &str, figures: &Aggregate) -> ObjectiveResult {
        text.parse::<Objective>().unwrap().judge(figures, (figures.requests > 0).then_some(198.0))
    }

    #[test]
    fn objectives_are_held_against_what_was_measured() {
        let mut figures = Aggregate::default();
        (figures.requests, figures.responses) = (200, 100);
        let mut record = |phase, millis| figures.phases.of_mut(phase).record(Span::from_millis(millis));
        (1..=1000).for_each(|millis| record(Phase::Total, millis));
        record(Phase::Processing, 3);
        figures.errors.timeout = 2;
        figures.status.extend([(200, 97), (404, 2), (500, 1)]);
        for (text, met) in [
            ("p98<=982ms", true),
            ("p98<970ms", false),
            ("p99.9 < 1s", true),
            ("p9999<1ms", false),
            ("mean<501ms", true),
            ("min>=1ms", true),
            ("max<1s", false),
            ("processing.p50<4ms", true),
            ("processing.max<2ms", false),
            ("errors<=1%", true),
            ("errors<0.5%", false),
            ("failed<=3%", true),
            ("failed<3%", false),
            ("rate>100", true),
            ("rate>=1k", false),
        ] {
            assert_eq!(judge(text, &figures).met, met, "{text}: {:?}", judge(text, &figures));
        }
    }

    #[test]
    fn what_was_not_measured_is_not_met() {
        for objective in ["p99<50ms", "errors<1%", "failed<1%", "completed>=0%", "rate>=0", "connect.p50<1s"]
        {
            assert!(!judge(objective, &Aggregate::default()).met, "{objective}");
        }
    }

    #[test]
    fn what_is_no_objective_is_refused() {
        for text in [
            "",
            "p99",
            "p101<50ms",
            "p99=50ms",
            "p99<",
            "p99<fast",
            "errors<2",
            "<50ms",
            "99<1s",
            "body.p99<1s",
            "processing<1s",
            "p0<1s",
        ] {
            let error = text.parse::<Objective>().unwrap_err().to_string();
            assert!(error.contains("p99<50ms"), "{error}");
        }
    }
}
