//! [`StopWhen`]: when a run ends before its time, such as `p99<500ms for 10s`.

use std::fmt;
use std::str::FromStr;

use units::Span;

use crate::measure::objective::{Objective, ObjectiveError};

/// The run ends when an objective has been missed for a time.
#[derive(Debug, Clone, PartialEq)]
pub struct StopWhen {
    /// `None` for whichever of the run's objectives.
    pub(crate) objective: Option<Objective>,
    /// For how long without a break.
    pub(crate) span: Span,
}

/// Where nothing else is said: as long as one look at the run.
const SPAN: Span = Span::from_secs(1);

/// A text that does not say when.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StopWhenError {
    /// The time cannot be read.
    #[error(
        "\"{0}\" is no length of time such as 10s; write a time, or an objective and a time as in 'p99<500ms for 10s'"
    )]
    Span(String),
    /// It would be over before the run is looked at.
    #[error("{0} is shorter than the second after which a run is looked at; write 1s or more")]
    Short(Span),
    /// The objective cannot be read.
    #[error(transparent)]
    Objective(#[from] ObjectiveError),
}

impl StopWhen {
    /// Its own objective, where it has one.
    pub fn objective(&self) -> Option<&Objective> {
        self.objective.as_ref()
    }

    /// Whether it is about the run's objectives rather than one of its own.
    pub fn needs_objectives(&self) -> bool {
        self.objective.is_none()
    }
}

impl FromStr for StopWhen {
    type Err = StopWhenError;

    /// `10s`, `p99<500ms`, `p99<500ms for 10s`; also what is to be avoided, as in `p99>=500ms for 10s`, which means what the second does.
    fn from_str(text: &str) -> Result<Self, StopWhenError> {
        let span = |text: &str| {
            let span = text.trim().parse::<Span>().ok().filter(|span| !span.is_zero());
            let span = span.ok_or_else(|| StopWhenError::Span(text.trim().to_owned()))?;
            if span < SPAN { Err(StopWhenError::Short(span)) } else { Ok(span) }
        };
        let words: Vec<&str> = text.split_whitespace().collect();
        match words.iter().position(|word| *word == "for") {
            Some(place) => {
                let (objective, rest) = words.split_at(place);
                let rest = rest.get(1..).unwrap_or_default();
                Ok(Self { span: span(&rest.join(""))?, objective: Some(goal(&objective.join(""))?) })
            }
            None if text.contains(['<', '>']) => Ok(Self { span: SPAN, objective: Some(goal(text)?) }),
            None => Ok(Self { span: span(text)?, objective: None }),
        }
    }
}

/// The goal that is missed where what `text` says is so, or is not.
fn goal(text: &str) -> Result<Objective, ObjectiveError> {
    let objective: Objective = text.trim().parse()?;
    Ok(if objective.is_goal() { objective } else { objective.opposite() })
}

impl fmt::Display for StopWhen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.objective {
            Some(objective) => write!(f, "{objective} for {}", self.span),
            None => self.span.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_read_as_people_write_it() {
        for (text, shown) in [
            ("10s", "10s"),
            ("p99<500ms for 10s", "p99<500ms for 10s"),
            (" errors < 5%  for  2 s", "errors<5% for 2s"),
            ("rate>=100", "rate>=100 for 1s"),
            ("p99>500ms for 10s", "p99<=500ms for 10s"),
            ("rate < 100 for 5s", "rate>=100 for 5s"),
            ("completed<=50%", "completed>50% for 1s"),
        ] {
            assert_eq!(text.parse::<StopWhen>().unwrap().to_string(), shown, "{text}");
        }
        for (text, why) in [
            ("", "length of time"),
            ("0s", "length of time"),
            ("p99<1s for", "length of time"),
            ("p99<1s for ever", "length of time"),
            ("soon", "length of time"),
            ("300ms", "300ms is shorter"),
            ("p99<1s for 999 ms", "999ms is shorter"),
            ("wait.p99<1s for 3s", "of a phase (total, queued, dns"),
            ("p99 for 3s", "not an objective"),
            ("fast<1s for 3s", "not an objective"),
        ] {
            let error = text.parse::<StopWhen>().unwrap_err().to_string();
            assert!(error.contains(why), "{text}: {error}");
        }
    }
}
