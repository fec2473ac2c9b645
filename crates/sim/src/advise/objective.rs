//! [`Objective`]: what a server is to achieve, such as `p90<1s` or `premium:p90<500ms`.

use std::fmt;
use std::str::FromStr;

use stats::MeanEstimate;
use units::{Ratio, Span};

use crate::outcome::{GateClassOutcome, Outcome};

/// An upper bound on a figure of an outcome, or of one of a gate's classes in it.
#[derive(Debug, Clone, PartialEq)]
pub struct Objective {
    text: String,
    /// `None` for all requests.
    class: Option<String>,
    figure: Figure,
    /// In seconds, or a share.
    bound: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Figure {
    Mean,
    P50,
    P90,
    P95,
    P99,
    P999,
    Rejected,
    Lost,
}

const FIGURES: [(&str, Figure); 8] = [
    ("mean", Figure::Mean),
    ("p50", Figure::P50),
    ("p90", Figure::P90),
    ("p95", Figure::P95),
    ("p99", Figure::P99),
    ("p99.9", Figure::P999),
    ("rejected", Figure::Rejected),
    ("lost", Figure::Lost),
];

/// A text that is not an objective.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is not an objective; write a figure, < or <=, and a bound above 0, such as p90<1s or rejected<5%, and behind a gate perhaps one of its classes before that, such as premium:p90<1s (figures: {figures})", figures = FIGURES.map(|(name, _)| name).join(", "))]
pub struct ObjectiveError(String);

impl FromStr for Objective {
    type Err = ObjectiveError;

    fn from_str(text: &str) -> Result<Self, ObjectiveError> {
        let error = || ObjectiveError(text.to_owned());
        let (name, bound) = text.split_once('<').ok_or_else(error)?;
        // What is estimated is never exactly its bound.
        let bound = bound.strip_prefix('=').unwrap_or(bound).trim();
        let (class, name) = match name.rsplit_once(':') {
            Some((class, name)) => (Some(class.trim().to_owned()), name),
            None => (None, name),
        };
        if class.as_ref().is_some_and(String::is_empty) {
            return Err(error());
        }
        let (_, figure) = FIGURES.into_iter().find(|(known, _)| *known == name.trim()).ok_or_else(error)?;
        let bound = match figure {
            Figure::Rejected | Figure::Lost => bound.parse::<Ratio>().map(Ratio::as_f64),
            _ => bound.parse::<Span>().map(Span::as_secs_f64),
        };
        let bound = bound.ok().filter(|bound| *bound > 0.0).ok_or_else(error)?;
        Ok(Self { text: text.to_owned(), class, figure, bound })
    }
}

impl fmt::Display for Objective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Objective {
    /// The paper's: 95 % of what could be served is, and the rest is rejected (sections 3 and 4).
    pub(super) fn rejected_at_most_five_percent() -> Self {
        Self { text: "rejected<5%".to_owned(), class: None, figure: Figure::Rejected, bound: 0.05 }
    }

    /// The same where clients give up, or come back.
    pub(super) fn lost_at_most_five_percent() -> Self {
        Self { text: "lost<5%".to_owned(), class: None, figure: Figure::Lost, bound: 0.05 }
    }

    /// Whether it says how many need not be served.
    pub(super) fn is_about_rejection(&self) -> bool {
        matches!(self.figure, Figure::Rejected | Figure::Lost)
    }

    /// The class of a gate that it is about; `None` for all requests.
    pub(crate) fn class(&self) -> Option<&str> {
        self.class.as_deref()
    }

    /// The caller has seen to it that there is such a class.
    pub(crate) fn figure(&self, outcome: &Outcome) -> MeanEstimate {
        let (latency, rejected) = match self.of_class(outcome) {
            Some(class) => (&class.latency, class.turned_away),
            None => (&outcome.latency, outcome.rejected),
        };
        match self.figure {
            Figure::Mean => latency.mean,
            Figure::P50 => latency.p50,
            Figure::P90 => latency.p90,
            Figure::P95 => latency.p95,
            Figure::P99 => latency.p99,
            Figure::P999 => latency.p999,
            Figure::Rejected => rejected,
            // Where clients neither give up nor come back, who is rejected is lost.
            Figure::Lost => outcome.lost.filter(|_| self.class.is_none()).unwrap_or(rejected),
        }
    }

    fn of_class<'a>(&self, outcome: &'a Outcome) -> Option<&'a GateClassOutcome> {
        outcome.gate.iter().find(|class| Some(&class.name) == self.class.as_ref())
    }

    /// Whether it is about a class that no request was of.
    pub(super) fn is_about_nothing(&self, outcome: &Outcome) -> bool {
        self.of_class(outcome).is_some_and(|class| class.turned_away.mean.is_nan())
    }

    /// Whether the whole of the confidence interval is below the bound.
    pub(crate) fn is_surely_met(&self, outcome: &Outcome) -> bool {
        self.figure(outcome).ci[1] < self.bound
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_objective_is_refused() {
        for text in [
            "p90<1s",
            "rejected<=5%",
            "mean < 20ms",
            "p99<2s",
            "p50<1ms",
            "premium:p90<1s",
            "p95<1s",
            "p99.9<3s",
            "lost<1%",
        ] {
            assert_eq!(text.parse::<Objective>().unwrap().to_string(), text);
        }
        for text in [
            "",
            "p90",
            "p97<1s",
            "p90>1s",
            "p90<0",
            "p90<1",
            "rejected<1s",
            "rejected<120%",
            "<5%",
            ":p90<1s",
        ] {
            let error = text.parse::<Objective>().unwrap_err().to_string();
            assert!(error.contains("p90<1s"), "{error}");
        }
    }
}
