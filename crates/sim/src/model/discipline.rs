//! [`Discipline`]: how processors are divided between requests.

use std::fmt;
use std::str::FromStr;

use units::Span;

/// How processors are divided between the requests that have a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Discipline {
    /// All at once, at the same speed: round robin with a quantum of nearly nothing.
    #[default]
    Sharing,
    /// In turn, each for so long at most.
    RoundRobin(Span),
    /// First come, first served, each to its end.
    FirstCome,
}

/// No discipline has this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no such discipline: {0:?}; expected ps, fcfs or rr:QUANTUM, as in rr:10ms")]
pub struct DisciplineError(String);

impl fmt::Display for Discipline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sharing => f.write_str("ps"),
            Self::RoundRobin(quantum) => write!(f, "rr:{quantum}"),
            Self::FirstCome => f.write_str("fcfs"),
        }
    }
}

impl FromStr for Discipline {
    type Err = DisciplineError;

    fn from_str(text: &str) -> Result<Self, DisciplineError> {
        match (text, text.split_once(':')) {
            ("ps", _) => Ok(Self::Sharing),
            ("fcfs", _) => Ok(Self::FirstCome),
            (_, Some(("rr", quantum))) => {
                quantum.parse().map(Self::RoundRobin).map_err(|_| DisciplineError(text.to_owned()))
            }
            _ => Err(DisciplineError(text.to_owned())),
        }
    }
}
