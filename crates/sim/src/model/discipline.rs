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
    /// Last come, first served, whatever was under way, which goes on later where it was.
    LastCome,
    /// Those that need least until their end, likewise (Schrage, "A proof of the optimality of the shortest remaining
    /// processing time discipline", 1968).
    ShortestRemaining,
    /// By class, those of the model's first before those of its second, likewise; within a class first come, first served.
    Priority,
}

/// No discipline has this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no such discipline: {0:?}; expected ps, fcfs, lcfs, srpt, priority or rr:QUANTUM, as in rr:10ms")]
pub struct DisciplineError(String);

impl fmt::Display for Discipline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sharing => f.write_str("ps"),
            Self::RoundRobin(quantum) => write!(f, "rr:{quantum}"),
            Self::FirstCome => f.write_str("fcfs"),
            Self::LastCome => f.write_str("lcfs"),
            Self::ShortestRemaining => f.write_str("srpt"),
            Self::Priority => f.write_str("priority"),
        }
    }
}

impl FromStr for Discipline {
    type Err = DisciplineError;

    fn from_str(text: &str) -> Result<Self, DisciplineError> {
        match (text, text.split_once(':')) {
            ("ps", _) => Ok(Self::Sharing),
            ("fcfs", _) => Ok(Self::FirstCome),
            ("lcfs", _) => Ok(Self::LastCome),
            ("srpt", _) => Ok(Self::ShortestRemaining),
            ("priority", _) => Ok(Self::Priority),
            (_, Some(("rr", quantum))) => {
                quantum.parse().map(Self::RoundRobin).map_err(|_| DisciplineError(text.to_owned()))
            }
            _ => Err(DisciplineError(text.to_owned())),
        }
    }
}
